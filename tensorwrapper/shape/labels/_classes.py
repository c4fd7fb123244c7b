"""Roles of the labels in a product of two: traced, summed, free, or common to all three."""

from typing import final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LabelError
from tensorwrapper.shape.labels._labels_text import Labels, LabelsLike, to_labels


@final
@frozen
class IndexClasses:
    """The labels of ``left * right``, sorted by their occurrence.

    A *trace* label occurs in one operand only and is summed there. A *dummy* label occurs in both operands
    and is summed. A *free* label occurs in the result and one operand, a *batch* label in all three. Repeated
    labels count once.

    Examples
    --------
    >>> c = classify_indices("i,b,k", "b,k,l", "b,i,m")
    >>> c.left_trace, c.right_trace, c.left_free, c.right_free, c.batch
    (('l',), ('m',), ('k',), ('i',), ('b',))
    """

    result: tuple[str, ...]
    """The labels of the result."""
    left: tuple[str, ...]
    """The labels of the left operand, each once."""
    right: tuple[str, ...]
    """The labels of the right operand, each once."""

    @property
    def left_trace(self) -> tuple[str, ...]:
        """Labels of the left operand alone."""
        return _select(self.left, (self.right, False), (self.result, False))

    @property
    def right_trace(self) -> tuple[str, ...]:
        """Labels of the right operand alone."""
        return _select(self.right, (self.left, False), (self.result, False))

    @property
    def left_dummy(self) -> tuple[str, ...]:
        """Labels of both operands that are summed, in the order of the left."""
        return _select(self.left, (self.right, True), (self.result, False))

    @property
    def right_dummy(self) -> tuple[str, ...]:
        """Labels of both operands that are summed, in the order of the right."""
        return _select(self.right, (self.left, True), (self.result, False))

    @property
    def left_free(self) -> tuple[str, ...]:
        """Labels of the left operand and the result, in the order of the left."""
        return _select(self.left, (self.right, False), (self.result, True))

    @property
    def right_free(self) -> tuple[str, ...]:
        """Labels of the right operand and the result, in the order of the right."""
        return _select(self.right, (self.left, False), (self.result, True))

    @property
    def batch(self) -> tuple[str, ...]:
        """Labels of all three, in the order of the result."""
        return _select(self.result, (self.left, True), (self.right, True))

    @property
    def left_batch(self) -> tuple[str, ...]:
        """Labels of all three, in the order of the left."""
        return _select(self.left, (self.right, True), (self.result, True))

    @property
    def right_batch(self) -> tuple[str, ...]:
        """Labels of all three, in the order of the right."""
        return _select(self.right, (self.left, True), (self.result, True))

    # The orders in which the product is one of matrices, or (with batch labels) of stacks of them. Traces
    # are summed before.

    @property
    def left_order(self) -> tuple[str, ...]:
        """The left operand as matrices: batch and free labels in the order of the result, then dummies.

        Examples
        --------
        >>> c = classify_indices("j,i,l", "k,i", "j,k,l")
        >>> c.left_order, c.right_order, c.matrix_order
        (('i', 'k'), ('k', 'j', 'l'), ('i', 'j', 'l'))
        """
        return self.batch + _select(self.result, (self.left, True), (self.right, False)) + self.left_dummy

    @property
    def right_order(self) -> tuple[str, ...]:
        """The right operand as matrices: batch labels, dummies as in `left_order`, free labels."""
        return self.batch + self.left_dummy + _select(self.result, (self.left, False))

    @property
    def matrix_order(self) -> tuple[str, ...]:
        """The result as the product of matrices gives it: batch labels, then those of either operand."""
        left = _select(self.result, (self.left, True), (self.right, False))
        return self.batch + left + _select(self.result, (self.left, False))


def _select(names: tuple[str, ...], *wanted: tuple[tuple[str, ...], bool]) -> tuple[str, ...]:
    """Return those of `names` that each of the other terms has, or has not."""
    return tuple([name for name in names if all((name in term) is has for term, has in wanted)])


def classify_indices(result: LabelsLike, left: LabelsLike, right: LabelsLike) -> IndexClasses:
    """Return what each label of ``left * right`` is for.

    Raises
    ------
    LabelError
        If the result has a label that no operand has, or one twice.

    Examples
    --------
    >>> c = classify_indices("i,k", "i,j", "j,k")
    >>> c.left_free, c.left_dummy, c.right_free
    (('i',), ('j',), ('k',))
    """
    wanted, mine, theirs = to_labels(result), to_labels(left), to_labels(right)
    check_result(wanted, (*mine.distinct, *theirs.distinct))
    return IndexClasses(wanted.names, mine.distinct, theirs.distinct)


def check_result(result: Labels, known: tuple[str, ...]) -> None:
    """Raise if the result has a label that is not `known`, or one twice."""
    if result.has_repeats:
        name = next(name for name in result.distinct if len(result.places(name)) > 1)
        raise LabelError(f"the label {name!r} is repeated in the result '{result}'")
    for name in result.names:
        if name not in known:
            there = ",".join(dict.fromkeys(known))
            raise LabelError(f"{name!r} of the result '{result}' is none of the labels '{there}'")
