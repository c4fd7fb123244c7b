"""Where the result of several views lies: the origin that they agree on, mode by mode, as of ufuncs."""

from collections.abc import Sequence
from typing import cast

from tensorwrapper._value_class import evolve
from tensorwrapper.errors import ExtentMismatchError, JaggedModeError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import new_row_major, wrap_layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.sources._asking import is_source
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import GivenShape, UnplacedShape
from tensorwrapper.tensor.lowlevel import TensorCommon
from tensorwrapper.typing import Extents, Index

__all__ = ["at_origin", "given_shape", "joint_origin", "joint_origin_of_rows", "lies_at", "origin_of_rows"]


def given_shape(given: object, part: Expression) -> GivenShape:
    """Return the shape of an operand for `fit_operands`: lists and arrays of other libraries lie nowhere."""
    if part.is_box:
        placed = any(part.origin)
        if not placed and part.layout.implementation.names is None and not isinstance(given, TensorCommon):
            return part.shape if is_source(given) else part.extents
    placed = isinstance(given, TensorCommon) or is_source(given)
    return part.shape if placed or any(origin_of_rows(part.shape) or ()) else UnplacedShape(part.shape)


def lies_at(given: object, part: Expression) -> Index | None:
    """Return the origin of what was given; None of lists and arrays, which lie nowhere."""
    origin = part.origin if part.is_box else origin_of_rows(part.shape)
    if not origin or any(origin):
        return origin
    return origin if isinstance(given, TensorCommon) or is_source(given) else None


def joint_origin(
    extents: Extents,
    parts: Sequence[tuple[Extents, Index | None]],
    what: str,
    *,
    mode: int | None = None,
) -> Index:
    """Return the origin of a result: of each mode the one that all parts have which reach it unstretched.

    Parameters
    ----------
    extents
        Of the result.
    parts
        Extents and origin of each, aligned at the last mode.
    what
        What is done with them, for the error.
    mode
        The one along which they follow one another: the first part says where it starts.

    Raises
    ------
    ExtentMismatchError
        If a mode starts elsewhere in two parts.
    """
    rank = len(extents)
    found: list[int | None] = [None] * rank
    for number, (own, origin) in enumerate(parts):
        if origin is None:
            continue
        for m, (extent, start) in enumerate(zip(own, origin, strict=True), rank - len(own)):
            if m == mode:
                if not number:
                    found[m] = start
            elif extent == extents[m]:  # else stretched: its one index stands for all
                if found[m] not in (None, start):
                    raise ExtentMismatchError(
                        f"{what}: mode {m} starts at {cast('int', found[m])} in one operand and at {start} "
                        f"in operand {number}; v[...] of each starts at zero and combines by position"
                    )
                found[m] = start
    return tuple([start or 0 for start in found])


def origin_of_rows(shape: Shape) -> Index | None:
    """Return the first index of rows; None if a mode of them starts here and there, so that it is none."""
    try:
        origin: Index = shape.origin
    except JaggedModeError:
        return None
    return origin


def joint_origin_of_rows(
    rank: int, parts: Sequence[Expression], places: Sequence[Index | None], what: str, mode: int | None = None
) -> Index:
    """Return the origin of rows put together: as `joint_origin`."""
    known = [
        ((1,) * rank, origin) for part, origin in zip(parts, places, strict=True) if part.shape.rank == rank
    ]
    return joint_origin((1,) * rank, known, what, mode=mode)


def at_origin(view: Expression, origin: Index) -> Expression:
    """Return the view of a whole node, whose names it keeps, at an origin."""
    if not any(origin):
        return view
    if not view.is_box:
        return evolve(view, layout=Layout(view.shape.translate_to(origin)))
    held = view.layout.implementation
    moved = new_row_major(view.extents, origin)
    return evolve(view, layout=wrap_layout(moved, held.names))
