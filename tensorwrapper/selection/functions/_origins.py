"""Origin of the result of several views: the one that they agree on, mode by mode, as for ufuncs."""

from collections.abc import Sequence
from typing import cast

from tensorwrapper._value_class import evolve
from tensorwrapper.errors import ExtentMismatchError, JaggedModeError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import new_row_major, wrap_layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.sources._read_source import is_source
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes, names_of
from tensorwrapper.tensor.lowlevel import TensorCommon
from tensorwrapper.typing import Extents, Index

__all__ = [
    "at_origin",
    "at_shape",
    "given_shapes",
    "joint_origin",
    "lie_at_zero",
    "lies_at",
    "origin_of_rows",
]


def lie_at_zero(parts: Sequence[Expression]) -> bool:
    """Return True if all parts count from zero in every mode, and none names a mode: most do."""
    for part in parts:
        if part.layout.implementation.names is not None:
            return False
        origin = part.origin if part.is_box else origin_of_rows(part.shape)
        if origin is None or any(origin):
            return False
    return True


def given_shapes(given: Sequence[object], parts: Sequence[Expression]) -> list[OperandShapes.Given]:
    """Return the shapes of operands, as `OperandShapes.fit` takes them: lists and arrays lie nowhere."""
    if lie_at_zero(parts):
        return [part.extents if part.is_box else part.shape for part in parts]
    return [_given_shape(item, part) for item, part in zip(given, parts, strict=True)]


def _given_shape(given: object, part: Expression) -> OperandShapes.Given:
    if _is_placed(given) or any(origin_of_rows(part.shape) or ()):
        return part.shape
    if part.is_box and part.layout.implementation.names is None:
        return part.extents
    return OperandShapes.Unplaced(part.shape)


def lies_at(given: object, part: Expression) -> Index | None:
    """Return the origin of an operand; None for lists and arrays."""
    origin = part.origin if part.is_box else origin_of_rows(part.shape)
    if not origin or any(origin):
        return origin
    return origin if _is_placed(given) else None


def _is_placed(given: object) -> bool:
    """Return True if an operand has indices, as tensors and sources do."""
    return isinstance(given, TensorCommon) or is_source(given) or hasattr(type(given), "as_source")


def joint_origin(
    extents: Extents,
    parts: Sequence[tuple[Extents, Index | None]],
    what: str,
    *,
    mode: int | None = None,
) -> Index:
    """Return the origin of a result: for each mode that of the parts that are not broadcast along it.

    Parameters
    ----------
    extents
        Of the result.
    parts
        Extents and origin of each, aligned at the last mode.
    what
        Name of the operation, for the error.
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
            elif extent == extents[m]:  # else broadcast from one index
                if found[m] not in (None, start):
                    raise ExtentMismatchError(
                        f"{what}: mode {m} starts at {cast('int', found[m])} in one operand and at {start} "
                        f"in operand {number}; v[...] of each starts at zero and combines by position"
                    )
                found[m] = start
    return tuple([start or 0 for start in found])


def origin_of_rows(shape: Shape) -> Index | None:
    """Return the first index of rows; None if a mode has no single origin."""
    try:
        origin: Index = shape.origin
    except JaggedModeError:
        return None
    return origin


def at_origin(view: Expression, origin: Index) -> Expression:
    """Return the view of a whole node, whose names it keeps, at an origin."""
    if not any(origin):
        return view
    if not view.is_box:
        return evolve(view, layout=Layout(view.shape.translate_to(origin)))
    held = view.layout.implementation
    moved = new_row_major(view.extents, origin)
    return evolve(view, layout=wrap_layout(moved, held.names))


def at_shape(view: Expression, shape: Shape) -> Expression:
    """Return the rows of a whole node at the indices of a shape that has as many, with its names."""
    origin = origin_of_rows(shape)
    if origin is not None and not any(origin) and names_of(shape) is None:
        return view
    return evolve(view, layout=Layout(shape))
