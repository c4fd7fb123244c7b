"""Shapes with labels on their modes, and sums and products of them: the shapes of tensor expressions.

Shapes are computed on access. An expression is a tree of four final classes, whose leaves are labelled
shapes.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, count
from numbers import Number
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar, cast, final, overload

import attrs
import numpy as np

from tensorwrapper._error_text import brief, counted
from tensorwrapper._tokenizer import quoted
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LabelError, LayerError, RankError
from tensorwrapper.shape._shape_base import ShapeBase
from tensorwrapper.shape.boxes._smooth import Smooth
from tensorwrapper.shape.kinds._nested import NestedCommon, flat_of, make_nested
from tensorwrapper.shape.labels._classes import check_result
from tensorwrapper.shape.labels._join import Operand, hidden_label, join_shapes
from tensorwrapper.shape.labels._labels_text import Labels, LabelsLike, to_labels
from tensorwrapper.shape.labels._ranges import (
    Layering,
    check_same,
    deal_result,
    layering_of,
    merge_layerings,
)

_Scalar: TypeAlias = complex | np.number[Any]
_ShapeT = TypeVar("_ShapeT", bound=ShapeBase[Any])
ShapeT_co = TypeVar("ShapeT_co", bound=ShapeBase[Any], covariant=True)


class _Scope(NamedTuple):
    """The role of a term's labels in the terms around it."""

    kept: Collection[str]
    """Labels of the result, and of other factors."""
    renamed: Mapping[str, str]
    """Other names of labels that a term around this one sums on its own."""
    numbers: Iterator[int]
    """Where the number of the next scope comes from."""


_NOTHING: Mapping[str, str] = {}


class ShapeExpression(ABC, Generic[ShapeT_co]):
    """Abstract: `labels` and what evaluation asks of a term. The class of all expressions of shapes.

    A label stands for one mode of the whole expression: wherever it occurs, extents and origins must agree.
    Expressions never change; they are hashable, and equal if they are written alike.
    """

    __slots__ = ()

    # NumPy's numbers leave products to the methods below instead of making arrays of objects.
    __array_ufunc__: ClassVar[None] = None

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The labels that a result may have, in order of first appearance."""

    @abstractmethod
    def _required(self) -> AbstractSet[str]:
        """Return the labels that occur once, which are summed only at the end."""

    @abstractmethod
    def _mentioned(self) -> AbstractSet[str]:
        """Return all labels of all leaves."""

    @abstractmethod
    def _collect(self, scope: _Scope, into: list[Operand]) -> None:
        """Add the leaves, from left to right, with their labels as `scope` renames them."""

    @abstractmethod
    def _layering(self) -> Layering | None:
        """Return the layer of each label."""

    @abstractmethod
    def _leaf(self) -> ShapeT_co:
        """Return the shape of the first leaf."""

    @abstractmethod
    def _signed(self) -> "Iterator[tuple[str, LabeledShape[ShapeT_co]]]":
        """Return an iterator over the leaves, each with its sign."""

    def shape(self, labels: LabelsLike) -> ShapeT_co:
        """Return the shape of the result, its modes in the order of `labels`.

        All other labels are summed. A label that occurs twice in an operand selects the diagonal, or is a
        trace if it is summed. With ``;`` between labels the result has layers.

        O(labels) for boxes and tilings, O(prefixes) array operations if jagged modes are combined, O(1) for
        an order that keeps the leading modes of a jagged operand.

        Parameters
        ----------
        labels
            The labels of the result, each once: ``"i,j"``.

        Raises
        ------
        ExtentMismatchError
            If two modes with one label differ in extent or origin; the text names the label and both.
        JaggedModeError
            If a label of the result depends on one that comes after it or is summed.
        LabelError
            If a label does not exist, or is repeated.
        LayerError
            If layers do not fit.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> a, b = Shape(10, 20), Shape(20, 30)
        >>> (a("i,j") * b("j,k")).shape("k,i"), a("i,j").shape("j")
        (Shape(30, 10), Shape(20))
        """
        result = to_labels(labels)
        names = result.names
        check_result(result, self.labels)
        leaves: list[Operand] = []
        self._collect(_Scope(names, _NOTHING, count()), leaves)
        flat = join_shapes(leaves, names)
        layers = deal_result(result, self._layering())
        return self._leaf()._wrap(flat if layers is None else make_nested(flat, layers))

    def to_svg(self) -> str:
        """Return a picture, as SVG: a row for each operand, a column for each label, extents where they meet.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> (Shape(10, 20)("i,j") * Shape(20, 30)("j,k")).to_svg().startswith("<svg")
        True
        """
        from tensorwrapper.shape.pictures._labels import LabeledOperand, draw_labels  # noqa: PLC0415

        leaves = self._signed()
        operands = [
            LabeledOperand(sign, leaf._leaf().implementation, leaf.text.names) for sign, leaf in leaves
        ]
        return draw_labels(operands, title=f"the labels of {brief(self)}").to_svg()

    @overload
    def __mul__(self, other: "ShapeExpression[ShapeT_co]") -> "ShapeProduct[ShapeT_co]": ...
    @overload
    def __mul__(self, other: _Scalar) -> "ScaledShape[ShapeT_co]": ...
    def __mul__(self, other: "ShapeExpression[ShapeT_co] | _Scalar") -> "ShapeExpression[ShapeT_co]":
        if isinstance(other, ShapeExpression):
            return _product_of(self, other)
        return ScaledShape(self, other) if _is_number(other) else NotImplemented

    def __rmul__(self, other: _Scalar) -> "ScaledShape[ShapeT_co]":
        return ScaledShape(self, other) if _is_number(other) else NotImplemented

    @overload
    def __truediv__(self, other: "ShapeExpression[ShapeT_co]") -> "ShapeProduct[ShapeT_co]": ...
    @overload
    def __truediv__(self, other: _Scalar) -> "ScaledShape[ShapeT_co]": ...
    def __truediv__(self, other: "ShapeExpression[ShapeT_co] | _Scalar") -> "ShapeExpression[ShapeT_co]":
        if isinstance(other, ShapeExpression):
            factors, divided = _factors(self)
            return ShapeProduct((*factors, other), divided=(*divided, True))
        return ScaledShape(self, other, divided=True) if _is_number(other) else NotImplemented

    def __neg__(self) -> "ScaledShape[ShapeT_co]":
        return ScaledShape(self, -1)

    def __add__(self, other: "ShapeExpression[ShapeT_co]") -> "ShapeSum[ShapeT_co]":
        return _sum_of(self, other, negative=False) if _is_expression(other) else NotImplemented

    def __sub__(self, other: "ShapeExpression[ShapeT_co]") -> "ShapeSum[ShapeT_co]":
        return _sum_of(self, other, negative=True) if _is_expression(other) else NotImplemented


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Number)


def _is_expression(value: object) -> bool:
    return isinstance(value, ShapeExpression)


def _product_of(left: ShapeExpression[_ShapeT], right: ShapeExpression[_ShapeT]) -> "ShapeProduct[_ShapeT]":
    factors, divided = _factors(left)
    more, others = _factors(right)
    flags = (*divided, *others)
    return ShapeProduct((*factors, *more), divided=flags if any(flags) else ())


def _factors(
    term: ShapeExpression[_ShapeT],
) -> tuple[tuple[ShapeExpression[_ShapeT], ...], tuple[bool, ...]]:
    """Return the factors of a term, and by which of them it is divided."""
    if type(term) is not ShapeProduct:
        return (term,), (False,)
    product = cast("ShapeProduct[_ShapeT]", term)
    return product.factors, product.divided or (False,) * len(product.factors)


def _sum_of(
    left: ShapeExpression[_ShapeT], right: ShapeExpression[_ShapeT], *, negative: bool
) -> "ShapeSum[_ShapeT]":
    if isinstance(left, ShapeSum):
        return ShapeSum((*left.terms, right), (*left.negative, negative))
    return ShapeSum((left, right), (False, negative))


@final
@frozen(repr=False)
class LabeledShape(ShapeExpression[ShapeT_co], Generic[ShapeT_co]):
    """A shape with a label for each of its modes, to combine it with others as tensors are combined.

    Made by calling a shape with labels: identifiers with commas between them, one for each mode. Labels of a
    nested shape may have ``;`` between its layers. Labelled shapes can be added, subtracted, multiplied, and
    scaled by numbers; ``shape(labels)`` of the result is the shape of such a tensor expression. Labels are
    separate from names of modes: a shape may have different labels in every term, and the result is unnamed.

    Raises
    ------
    RankError
        If the number of labels differs from that of modes.
    LabelError
        If a label is not an identifier.
    LayerError
        If the text has layers, but not those of the shape.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> a, rows = Shape(10, 20), Shape.jagged([10, 20])
    >>> a("i,j"), a("i,j").operand, a("i,j").labels
    (Shape(10, 20)('i,j'), Shape(10, 20), ('i', 'j'))
    >>> (a("i,j") * a("k,j")).shape("i,k"), (a("i,j") + a("i,j")).shape("j,i")
    (Shape(10, 10), Shape(20, 10))
    >>> (rows("i,j") * rows("i,k")).shape("i,j,k") == Shape.jagged([Shape(10, 10), Shape(20, 20)])
    True
    """

    operand: ShapeT_co
    """The shape."""
    text: Labels
    """Its labels, one for each mode."""

    @property
    def labels(self) -> tuple[str, ...]:
        return self.text.distinct

    def _required(self) -> AbstractSet[str]:
        once = Counter(self.text.names)
        return {name for name in once if once[name] == 1}

    def _mentioned(self) -> AbstractSet[str]:
        return set(self.text.names)

    def _collect(self, scope: _Scope, into: list[Operand]) -> None:
        implementation, names, renamed = self.operand.implementation, self.text.names, scope.renamed
        if renamed:
            names = tuple([renamed.get(name, name) for name in names])
        # The common case, without the price of an isinstance check on an abstract class.
        into.append((implementation if type(implementation) is Smooth else flat_of(implementation), names))

    def _layering(self) -> Layering | None:
        implementation = self.operand.implementation
        if type(implementation) is Smooth or not isinstance(implementation, NestedCommon):
            return None
        return layering_of(self.text.names, implementation.layers)

    def _leaf(self) -> ShapeT_co:
        return self.operand

    def _signed(self) -> "Iterator[tuple[str, LabeledShape[ShapeT_co]]]":
        yield "", self

    def __repr__(self) -> str:
        return f"{self.operand!r}({str(self.text)!r})"


@final
@frozen(repr=False)
class ScaledShape(ShapeExpression[ShapeT_co], Generic[ShapeT_co]):
    """An expression times a number, or divided by one: its shape is that of the expression.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> 2 * Shape(10, 20)("i,j"), (Shape(10, 20)("i,j") / 2).shape("j,i")
    (2 * Shape(10, 20)('i,j'), Shape(20, 10))
    """

    term: ShapeExpression[ShapeT_co]
    """The expression."""
    number: _Scalar
    """The number."""
    divided: bool = attrs.field(default=False, kw_only=True)
    """Whether the expression is divided by the number."""

    @property
    def labels(self) -> tuple[str, ...]:
        return self.term.labels

    def _required(self) -> AbstractSet[str]:
        return self.term._required()

    def _mentioned(self) -> AbstractSet[str]:
        return self.term._mentioned()

    def _collect(self, scope: _Scope, into: list[Operand]) -> None:
        self.term._collect(scope, into)

    def _layering(self) -> Layering | None:
        return self.term._layering()

    def _leaf(self) -> ShapeT_co:
        return self.term._leaf()

    def _signed(self) -> "Iterator[tuple[str, LabeledShape[ShapeT_co]]]":
        return self.term._signed()

    def __repr__(self) -> str:
        if self.divided:
            return f"{_in_product(self.term)} / {self.number}"
        return f"{self.number} * {_in_product(self.term)}"


@final
@frozen(repr=False)
class ShapeProduct(ShapeExpression[ShapeT_co], Generic[ShapeT_co]):
    """A product of expressions: element-wise, contracted or outer, as the labels of the result say.

    Dividing by an expression is multiplying by it with each of its elements inverted: the shape is the same.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> a = Shape(10, 20, 30)
    >>> product = a("i,j,k") * a("i,j,l")
    >>> product.shape("k,l"), product.shape("i,j,k,l"), product.labels
    (Shape(30, 30), Shape(10, 20, 30, 30), ('i', 'j', 'k', 'l'))
    """

    factors: tuple[ShapeExpression[ShapeT_co], ...]
    """The factors of a product, which are not products, and the divisors."""
    divided: tuple[bool, ...] = attrs.field(default=(), kw_only=True)
    """Flags of the factors that are divisors; empty if there are none."""

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(chain.from_iterable([factor.labels for factor in self.factors])))

    def _required(self) -> AbstractSet[str]:
        counts = Counter([name for factor in self.factors for name in factor.labels])
        once = [name for factor in self.factors for name in factor._required()]
        return {name for name in once if counts[name] == 1}

    def _mentioned(self) -> AbstractSet[str]:
        return {name for factor in self.factors for name in factor._mentioned()}

    def _collect(self, scope: _Scope, into: list[Operand]) -> None:
        for place, factor in enumerate(self.factors):
            inner = scope
            if type(factor) is not LabeledShape:
                others = [other.labels for k, other in enumerate(self.factors) if k != place]
                inner = _Scope({*scope.kept, *chain(*others)}, scope.renamed, scope.numbers)
            factor._collect(inner, into)

    def _layering(self) -> Layering | None:
        nested = [layering for factor in self.factors if (layering := factor._layering()) is not None]
        return merge_layerings(nested) if nested else None

    def _leaf(self) -> ShapeT_co:
        return self.factors[0]._leaf()

    def _signed(self) -> "Iterator[tuple[str, LabeledShape[ShapeT_co]]]":
        divided = self.divided or (False,) * len(self.factors)
        return _with_signs(self.factors, ["/" if by else "*" for by in divided])

    def __repr__(self) -> str:
        signs = [" / " if by else " * " for by in self.divided[1:]] or [" * "] * (len(self.factors) - 1)
        first, *rest = map(_in_product, self.factors)
        return first + "".join([sign + text for sign, text in zip(signs, rest, strict=True)])


@final
@frozen(repr=False)
class ShapeSum(ShapeExpression[ShapeT_co], Generic[ShapeT_co]):
    """A sum or difference of expressions with the same labels.

    A label that occurs twice in a term, such as the summed label of a product, may be missing in the others.
    Then every term sums it separately, and extents must agree only within the term.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> a, b, c = Shape(10, 20), Shape(20, 10), Shape(10, 10)
    >>> (a("i,j") - b("j,i")).shape("i,j"), (a("i,j") * b("j,k") + c("i,k")).shape("k,i")
    (Shape(10, 20), Shape(10, 10))
    """

    terms: tuple[ShapeExpression[ShapeT_co], ...]
    """What is added."""
    negative: tuple[bool, ...]
    """Flags of the subtracted terms."""

    def __attrs_post_init__(self) -> None:
        required = self._required()
        for place, term in enumerate(self.terms):
            missing = [name for name in required if name not in term.labels]
            if missing:
                raise LabelError(
                    f"term {place} of a sum, with the labels '{','.join(term.labels)}', has no label "
                    f"{min(missing)!r}, which another term has: terms have the same labels"
                )

    @property
    def labels(self) -> tuple[str, ...]:
        first, *rest = [term.labels for term in self.terms]
        return tuple([name for name in first if all(name in names for names in rest)])

    def _required(self) -> AbstractSet[str]:
        return {name for term in self.terms for name in term._required()}

    def _mentioned(self) -> AbstractSet[str]:
        return {name for term in self.terms for name in term._mentioned()}

    def _collect(self, scope: _Scope, into: list[Operand]) -> None:
        common = {*self.labels} & {*scope.kept, *self._required()}
        for term in self.terms:
            # Labels summed within a term are independent of those of other terms.
            number = next(scope.numbers)
            hidden = {name: hidden_label(name, number) for name in term._mentioned() - common}
            term._collect(_Scope(common, {**scope.renamed, **hidden}, scope.numbers), into)

    def _layering(self) -> Layering | None:
        return check_same([term._layering() for term in self.terms], self.labels)

    def _leaf(self) -> ShapeT_co:
        return self.terms[0]._leaf()

    def _signed(self) -> "Iterator[tuple[str, LabeledShape[ShapeT_co]]]":
        return _with_signs(self.terms, ["-" if minus else "+" for minus in self.negative])

    def __repr__(self) -> str:
        signs = ["-" if minus else "+" for minus in self.negative]
        rest = [f" {sign} {_in_sum(term)}" for sign, term in zip(signs[1:], self.terms[1:], strict=True)]
        return f"{self.terms[0]!r}{''.join(rest)}"


def _with_signs(
    parts: Sequence[ShapeExpression[_ShapeT]], signs: Sequence[str]
) -> Iterator[tuple[str, LabeledShape[_ShapeT]]]:
    """Return an iterator over the leaves of all parts, each with its sign but the first."""
    for place, (part, sign) in enumerate(zip(parts, signs, strict=True)):
        first, *rest = part._signed()
        yield (sign if place else first[0]), first[1]
        yield from rest


def _in_product(term: ShapeExpression[Any]) -> str:
    return repr(term) if isinstance(term, LabeledShape) else f"({term!r})"


def _in_sum(term: ShapeExpression[Any]) -> str:
    return f"({term!r})" if isinstance(term, ShapeSum) else repr(term)


def label_shape(shape: _ShapeT, labels: LabelsLike) -> LabeledShape[_ShapeT]:
    """Return a shape with labels, if there is one for each mode and they are in the layers of the modes."""
    names = to_labels(labels)
    implementation = shape.implementation
    if len(names.names) != implementation.rank:
        given, there = len(names.names), implementation.rank
        raise RankError(
            f"{counted(given, 'label')}, {quoted(str(names))}, {'is' if given == 1 else 'are'} given for "
            f"{counted(there, 'mode')}: a shape has one label per mode"
        )
    if names.layers is not None and names.layers != implementation.layers:
        raise LayerError(
            f"the labels '{names}' are in layers of {names.layers} modes, but the "
            f"{implementation.kind} shape has {implementation.layers}: Shape.nested gives layers"
        )
    return LabeledShape(shape, names)
