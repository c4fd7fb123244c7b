"""Views that choose among views, cell by cell: where, minimum, maximum."""

# pyright: reportOverlappingOverload=false
# To type checkers an int is a float as well, so overloads for ints come before those for floats.

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, overload

import numpy as np

from tensorwrapper._hints import answered
from tensorwrapper.buffer.lowlevel import fit_number
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.layout.lowlevel import new_strided, wrap_layout
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._elementwise import Choosing, Extreme
from tensorwrapper.selection.expressions._expression import Expression, Node, at_zero, whole
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.functions._build import (
    HasJoin,
    Ranked,
    ViewLike,
    as_view,
    at_origin,
    at_shape,
    given_shapes,
    own_join,
    view_of_operand,
)
from tensorwrapper.selection.jagged._rows import put_together_rows
from tensorwrapper.selection.plans._nulls import check_fills, has_nullable
from tensorwrapper.selection.transforms._transform import box
from tensorwrapper.shape.lowlevel import OperandShapes, names_of
from tensorwrapper.tensor.lowlevel import promoted, type_of_extreme
from tensorwrapper.typing import Extents, Rank1, Rank2, Rank3, UnknownRank
from tensorwrapper.typing import ScalarT_co as S

# Python numbers take on the type of the other operand, if it is of their kind.
_I = TypeVar("_I", bound=np.integer[Any])
_F = TypeVar("_F", bound=np.inexact[Any])
_J_co = TypeVar("_J_co", covariant=True)
K = TypeVar("K", Rank1, Rank2, Rank3)

Operand: TypeAlias = "ViewLike | complex"
"""A view, an argument of `as_view`, or a Python number, which takes on the type of the others."""


if TYPE_CHECKING:
    Unranked: TypeAlias = Ranked[S, UnknownRank]


@overload
def where(mask: "Unranked[Any]", x: "Unranked[S]", y: "Unranked[S]") -> View[S]:
    """Return the view of the elements of `x` where the mask is true, and of `y` elsewhere, broadcast."""


@overload
def where(mask: "Ranked[Any, K]", x: "Ranked[S, K]", y: "Ranked[S, K]") -> View[S, K]: ...
@overload
def where(mask: ViewLike, x: complex, y: complex) -> View[Any]: ...
@overload
def where(mask: "Unranked[Any]", x: "Unranked[_I] | int", y: "Unranked[_I] | int") -> View[_I]: ...
@overload
def where(mask: "Unranked[Any]", x: "Unranked[_F] | float", y: "Unranked[_F] | float") -> View[_F]: ...
@overload
def where(mask: "Ranked[Any, K]", x: "Ranked[_I, K] | int", y: "Ranked[_I, K] | int") -> View[_I, K]: ...
@overload
def where(mask: "Ranked[Any, K]", x: "Ranked[_F, K] | float", y: "Ranked[_F, K] | float") -> View[_F, K]: ...
@overload
def where(mask: ViewLike, x: HasJoin[_J_co], y: object) -> _J_co: ...
@overload
def where(mask: ViewLike, x: Operand, y: Operand) -> View[Any]: ...
def where(mask: ViewLike, x: Any, y: Any) -> Any:
    """Return the view of the elements of `x` where the mask is true, and of `y` elsewhere, broadcast.

    Raises
    ------
    DTypeError
        If the mask is not of bools.
    ExtentMismatchError
        If the extents do not broadcast, or a mode starts elsewhere in two operands: as of ufuncs, the result
        keeps the origin that views and tensors agree on.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.where([True, False, True], [1, 2, 3], 0).compute().tolist()
    [1, 0, 3]
    """
    own_way = own_join(x)
    if own_way is not None:
        return own_way("where", [mask, x, y], 0)
    given = as_view(mask)
    if given.dtype != np.bool_:
        raise DTypeError(f"a mask has elements of type bool, not {given.dtype}")
    marks = _number_or_view(given)._expression
    choices = _operands([x, y], "where", nullable=has_nullable(marks))
    return _put_together("where", (mask, x, y), [marks, *choices])


@overload
def minimum(first: "Unranked[_I]", /, *others: "Unranked[_I] | int") -> View[_I]:
    """Return the view of the least element of each cell, broadcast; not-a-number wins, as in NumPy."""


@overload
def minimum(first: "Unranked[_F]", /, *others: "Unranked[_F] | float") -> View[_F]: ...
@overload
def minimum(first: "Ranked[_I, K]", /, *others: "Ranked[_I, K] | int") -> View[_I, K]: ...
@overload
def minimum(first: "Ranked[_F, K]", /, *others: "Ranked[_F, K] | float") -> View[_F, K]: ...
@overload
def minimum(*operands: Operand) -> View[Any]: ...
def minimum(*operands: Operand) -> View[Any]:
    """Return the view of the least element of each cell, broadcast; not-a-number wins, as in NumPy.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.minimum([1, 5, 3], 4, [2, 9, 0]).compute().tolist()
    [1, 4, 0]
    """
    return _extreme("minimum", operands)


@overload
def maximum(first: "Unranked[_I]", /, *others: "Unranked[_I] | int") -> View[_I]:
    """Return the view of the greatest element of each cell, broadcast; not-a-number wins, as in NumPy."""


@overload
def maximum(first: "Unranked[_F]", /, *others: "Unranked[_F] | float") -> View[_F]: ...
@overload
def maximum(first: "Ranked[_I, K]", /, *others: "Ranked[_I, K] | int") -> View[_I, K]: ...
@overload
def maximum(first: "Ranked[_F, K]", /, *others: "Ranked[_F, K] | float") -> View[_F, K]: ...
@overload
def maximum(*operands: Operand) -> View[Any]: ...
def maximum(*operands: Operand) -> View[Any]:
    """Return the view of the greatest element of each cell, broadcast; not-a-number wins, as in NumPy.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.maximum([[1], [5]], [2, 9]).compute().tolist()
    [[2, 9], [5, 9]]
    """
    return _extreme("maximum", operands)


def _extreme(kind: Literal["minimum", "maximum"], operands: tuple[Operand, ...]) -> View[Any]:
    return _put_together(kind, operands, _operands(operands, kind))


def _put_together(
    kind: Literal["where", "minimum", "maximum"], given: Sequence[Operand], parts: list[Expression]
) -> View[Any]:
    """Return the view of an operation on operands, at their common origin."""
    shape, modes = OperandShapes.fit(given_shapes(given, parts), kind)
    masks = 1 if kind == "where" else 0
    check_fills(kind, parts[:masks], parts[masks:])
    if modes is None and not shape.has_layers:
        boxes = [_broadcast(part, shape.extents) for part in parts]
        node: Node = Choosing(tuple(boxes)) if kind == "where" else Extreme.of(kind, boxes)
        return View(at_origin(whole(node, names_of(shape)), shape.origin))
    if modes is None:
        parts = [_broadcast(part, shape.extents) if part.is_box else part for part in parts]
    tiled = _of_tiles(kind, parts)
    if tiled is not None:
        return tiled
    found = put_together_rows(kind, [at_zero(part) for part in parts])
    return View(at_shape(found, shape))


def _of_tiles(kind: Literal["where", "minimum", "maximum"], parts: Sequence[Expression]) -> View[Any] | None:
    """Return the view of an operation on tiles that are cut alike, as tiles; None of all other operands."""
    cuts = [part.layout.implementation.tiled for part in parts if part.shape.rank]
    first = cuts[0]
    if first is None or any(cut is None or cut.tiling != first.tiling for cut in cuts):
        return None
    own = [_box_of(part) for part in parts]
    over_boxes = where(*own) if kind == "where" else _extreme(kind, tuple(own))
    tiled = over_boxes.tiled(first.tiling)
    # The tiles of a grid that was moved are rows.
    alike = all(tiled.shape == part.shape for part in parts if part.shape.rank)
    return tiled if alike else None


def _box_of(part: Expression) -> View[Any]:
    view: View[Any] = View(part)
    return view.untiled() if part.shape.rank else view


def _operands(
    given: "tuple[Operand, ...] | list[Operand]", what: str, *, nullable: bool = False
) -> list[Expression]:
    """Return expressions of one dtype; Python numbers have no dtype, as in NumPy.

    With `nullable`, the type of text has room for nulls.
    """
    if not given:
        raise ConversionError(f"{what} needs at least one view")
    weak = (bool, int, float, complex)
    typed = [not (type(item) in weak or _is_bare_nat(item)) for item in given]
    if not any(typed):
        typed = [type(item) not in weak for item in given]
    views = [
        _number_or_view(view_of_operand(item)) if has_type else None
        for item, has_type in zip(given, typed, strict=True)
    ]
    known = [view.dtype for view in views if view is not None]
    numbers = cast("list[complex]", [item for item in given if type(item) in weak])
    dtype = (promoted if what == "where" else type_of_extreme)(known, what, numbers)
    if nullable and dtype.kind == "T":
        dtype = np.dtypes.StringDType(na_object=None)
    parts: list[Expression] = []
    for item, view in zip(given, views, strict=True):
        if view is None:
            value = fit_number(item, dtype, "a constant")[()]
            parts.append(whole(Filling(box(()), value, dtype)))
        else:
            parts.append((view if view.dtype == dtype else view.astype(dtype))._expression)
    return parts


def _is_bare_nat(item: object) -> bool:
    """Return True for NaT without a unit, which takes on that of the others."""
    if not isinstance(item, np.datetime64 | np.timedelta64):
        return False
    return bool(np.isnat(item)) and np.datetime_data(item.dtype)[0] == "generic"


def _number_or_view(view: View[Any]) -> View[Any]:
    """Return a view, or the number that a sparse one without modes is: it has no fill beside others."""
    return as_view(view.compute().to_dense()) if not view.shape.rank and view.is_sparse else view


def _broadcast(part: Expression, extents: Extents) -> Expression:
    part = at_zero(part)
    if part.extents == extents:
        return part
    given, old = box(extents), part.layout
    if part.extents or old.implementation.strided_box() is None:
        return View._make(part).broadcast(given)._expression
    # Usually one number is broadcast: no mode of it has to fit.
    zeros = (0,) * len(extents)
    layout = wrap_layout(new_strided(extents, zeros, zeros, old.offset))
    return View._make(part)._after(("broadcast", (given,), old.shape), layout)._expression


if not TYPE_CHECKING:
    where = answered(where)
