"""Views that choose among views, cell by cell: where, minimum, maximum."""

from typing import Any, Literal, TypeAlias, cast, overload

import numpy as np

from tensorwrapper.buffer.lowlevel import fit_number
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError, JaggedModeError
from tensorwrapper.selection._build import Ranked, ViewLike, as_view
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._cellwise import Choosing, Extreme
from tensorwrapper.selection.expressions._dtypes import promoted
from tensorwrapper.selection.expressions._expression import Expression, box, whole
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.typing import Extents, Rank1, Rank2, Rank3, ScalarT_co, UnknownRank

__all__ = ["Operand", "maximum", "minimum", "where"]

Operand: TypeAlias = "ViewLike | complex"
"""A view, what `as_view` takes, or a Python number, which takes on the type of the others."""


@overload
def where(
    mask: "Ranked[Any, UnknownRank]",
    x: "Ranked[ScalarT_co, UnknownRank]",
    y: "Ranked[ScalarT_co, UnknownRank]",
) -> View[ScalarT_co]:
    """Return the view of the elements of `x` where the mask is true, and of `y` elsewhere, broadcast."""


@overload
def where(
    mask: "Ranked[Any, Rank1]", x: "Ranked[ScalarT_co, Rank1]", y: "Ranked[ScalarT_co, Rank1]"
) -> View[ScalarT_co, Rank1]: ...
@overload
def where(
    mask: "Ranked[Any, Rank2]", x: "Ranked[ScalarT_co, Rank2]", y: "Ranked[ScalarT_co, Rank2]"
) -> View[ScalarT_co, Rank2]: ...
@overload
def where(
    mask: "Ranked[Any, Rank3]", x: "Ranked[ScalarT_co, Rank3]", y: "Ranked[ScalarT_co, Rank3]"
) -> View[ScalarT_co, Rank3]: ...
@overload
def where(mask: ViewLike, x: Operand, y: Operand) -> View[Any]: ...
def where(mask: ViewLike, x: Operand, y: Operand) -> View[Any]:
    """Return the view of the elements of `x` where the mask is true, and of `y` elsewhere, broadcast.

    Raises
    ------
    DTypeError
        If the mask is not of bools.
    ExtentMismatchError
        If the extents do not broadcast.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.where([True, False, True], [1, 2, 3], 0).compute().tolist()
    [1, 0, 3]
    """
    given = as_view(mask)
    if given.dtype != np.bool_:
        raise DTypeError(f"a mask has elements of type bool, not {given.dtype}")
    parts = _operands([x, y], "where")
    extents = _common([given.shape.extents, *[part.extents for part in parts]], "where")
    _check_box(given._expression)
    chosen, left, right = [_broadcast(part, extents) for part in (given._expression, *parts)]
    return View(whole(Choosing((chosen, left, right))))


def minimum(*operands: Operand) -> View[Any]:
    """Return the view of the least element of each cell, broadcast; not-a-number wins, as in NumPy.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.minimum([1, 5, 3], 4, [2, 9, 0]).compute().tolist()
    [1, 4, 0]
    """
    return _extreme("minimum", operands)


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
    parts = _operands(operands, kind)
    extents = _common([part.extents for part in parts], kind)
    return View(whole(Extreme.of(kind, [_broadcast(part, extents) for part in parts])))


def _operands(given: "tuple[Operand, ...] | list[Operand]", what: str) -> list[Expression]:
    """Return expressions of one dtype; Python's numbers bring none of their own, as in NumPy."""
    if not given:
        raise ConversionError(f"{what} needs at least one view")
    weak = (bool, int, float, complex)
    views = [None if type(item) in weak else as_view(item) for item in given]
    known = [view.dtype for view in views if view is not None]
    dtype = promoted(known, cast("list[complex]", [item for item in given if type(item) in weak]), what)
    parts: list[Expression] = []
    for item, view in zip(given, views, strict=True):
        if view is None:
            value = fit_number(item, dtype, "a constant")[()]
            parts.append(whole(Filling(box(()), value, dtype)))
        else:
            _check_box(view._expression)
            parts.append(view.astype(dtype)._expression)
    return parts


def _check_box(part: Expression) -> None:
    if part.shape.kind != "smooth":
        raise JaggedModeError(
            f"cells are compared in boxes, not in {part.shape}: to_padded() makes a box of it"
        )


def _common(extents: list[Extents], what: str) -> Extents:
    try:
        return np.broadcast_shapes(*extents)
    except ValueError as error:
        raise ExtentMismatchError(f"{what}: the extents {extents} do not broadcast together") from error


def _broadcast(part: Expression, extents: Extents) -> Expression:
    if part.extents == extents and not any(part.origin):
        return part
    return View(part)[...].broadcast(box(extents))._expression
