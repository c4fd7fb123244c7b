"""Labels: the names that stand for modes in an expression, as text and as a sequence."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final, overload

import attrs

from tensorwrapper._tokenizer import quoted
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ConversionError, LabelError, LayerError

_KNOWN = 1024  # label texts remembered: programs use few, and use them again and again


def _distinct_of(labels: "Labels") -> tuple[str, ...]:
    return tuple(dict.fromkeys(labels.names))


_DISTINCT: Any = attrs.Factory(_distinct_of, takes_self=True)


@final
@value_class(repr=False)
class Labels(Sequence[str]):
    """Labels of modes in order, one per mode; ``;`` between them splits the modes into layers.

    A label is a Python identifier in any script, and case-sensitive. Blanks around labels are ignored. The
    empty text has no labels. One label may be repeated for several modes.

    Examples
    --------
    >>> labels = Labels.parse("i, atom, k")
    >>> labels, len(labels), labels[1], str(labels)
    (Labels('i,atom,k'), 3, 'atom', 'i,atom,k')
    >>> Labels.parse("i,j;m").layers
    (2, 1)
    """

    names: tuple[str, ...]
    """One label per mode."""
    layers: tuple[int, ...] | None = None
    """Number of labels in each layer, from the outermost; ``None`` if not given."""
    distinct: tuple[str, ...] = attrs.field(init=False, eq=False, default=_DISTINCT)
    """Each label once, in order of first appearance."""

    if TYPE_CHECKING:

        def __init__(self, names: tuple[str, ...], layers: tuple[int, ...] | None = None) -> None: ...

    @classmethod
    def parse(cls, text: str) -> "Labels":
        """Return the labels that a text has.

        Raises
        ------
        LabelError
            If a label is missing or no identifier.
        """
        return to_labels(text)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        return self.names[place]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __str__(self) -> str:
        if self.layers is None:
            return ",".join(self.names)
        names = iter(self.names)
        return ";".join([",".join([next(names) for _ in range(count)]) for count in self.layers])

    def __repr__(self) -> str:
        return f"Labels({str(self)!r})"

    def __attrs_post_init__(self) -> None:
        for name in self.names:
            if not name.isidentifier():
                raise LabelError(f"a label is an identifier, not {quoted(name)}")
        layers = self.layers
        if layers is not None and (len(layers) < 2 or sum(layers) != len(self.names) or min(layers) < 0):
            raise LayerError(f"{layers} does not deal {len(self.names)} labels into two layers or more")

    # Asked of one or two sequences of labels; layers do not count.

    @property
    def has_repeats(self) -> bool:
        """Return True if a label is repeated."""
        return len(self.distinct) < len(self.names)

    def places(self, label: str) -> tuple[int, ...]:
        """Return every mode that a label stands for, possibly none."""
        return tuple([mode for mode, name in enumerate(self.names) if name == label])

    def is_permutation(self, other: "LabelsLike") -> bool:
        """Tell whether the other has the same labels, each as often."""
        return Counter(self.names) == Counter(to_labels(other).names)

    def permutation(self, other: "LabelsLike") -> tuple[int, ...]:
        """Return for each of these labels its place in `other`.

        Raises
        ------
        LabelError
            If the other has not the same labels, or one of them is repeated.

        Examples
        --------
        >>> Labels.parse("i,j,k").permutation("k,i,j")
        (1, 2, 0)
        """
        theirs = to_labels(other)
        if self.has_repeats or not self.is_permutation(theirs):
            raise LabelError(f"the labels '{self}' are not a permutation of '{theirs}', each label once")
        return tuple([theirs.names.index(name) for name in self.names])

    def concatenation(self, other: "LabelsLike") -> "Labels":
        """Return these labels, then those of the other; repeats are kept, layers are not."""
        return Labels(self.names + to_labels(other).names)

    def intersection(self, other: "LabelsLike") -> "Labels":
        """Return each of these labels, once, that the other has too."""
        theirs = set(to_labels(other).names)
        return Labels(tuple([name for name in self.distinct if name in theirs]))

    def difference(self, other: "LabelsLike") -> "Labels":
        """Return each of these labels, once, that the other has not."""
        theirs = set(to_labels(other).names)
        return Labels(tuple([name for name in self.distinct if name not in theirs]))

    def is_hadamard_product(self, left: "LabelsLike", right: "LabelsLike") -> bool:
        """Tell whether ``left * right`` with these labels multiplies element by element.

        All three have the same labels, each once.

        Examples
        --------
        >>> Labels.parse("i,j").is_hadamard_product("j,i", "i,j")
        True
        """
        terms = (self, to_labels(left), to_labels(right))
        return not any(t.has_repeats for t in terms) and all(self.is_permutation(t) for t in terms)

    def is_contraction(self, left: "LabelsLike", right: "LabelsLike") -> bool:
        """Tell whether ``left * right`` with these labels sums over all labels that both have, and has some.

        No label is repeated. A label of one side alone may be summed too.

        Examples
        --------
        >>> Labels.parse("i,k").is_contraction("i,j", "j,k"), Labels.parse("i").is_contraction("i", "i")
        (True, False)
        """
        mine, theirs = to_labels(left), to_labels(right)
        if any(t.has_repeats for t in (self, mine, theirs)):
            return False
        common = set(mine.names) & set(theirs.names)
        return bool(common) and not common & set(self.names)


LabelsLike: TypeAlias = str | Labels
"""Labels as a text or as `Labels`."""


def to_labels(labels: LabelsLike) -> Labels:
    """Return labels given as text or as such."""
    given = cast("object", labels)
    if isinstance(given, str):
        return _parse(given)
    if isinstance(given, Labels):
        return given
    raise ConversionError(f'labels are text such as "i,j", not of type {type(given).__name__}')


@lru_cache(maxsize=_KNOWN)
def _parse(text: str) -> Labels:
    parts = [_parse_layer(part, text) for part in text.split(";")]
    names = tuple([name for part in parts for name in part])
    return Labels(names, tuple(map(len, parts)) if len(parts) > 1 else None)


def _parse_layer(part: str, text: str) -> list[str]:
    if not part.strip():
        return []
    names = [name.strip() for name in part.split(",")]
    for place, name in enumerate(names):
        if not name.isidentifier():
            what = f"label {place} is empty" if not name else f"{quoted(name)} is not an identifier"
            raise LabelError(f"{what} in {quoted(text)}: labels are names with commas between them")
    return names
