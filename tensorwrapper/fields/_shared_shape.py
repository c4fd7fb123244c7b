"""The shape that fields share: it is found, fields are checked against it, equal shapes become one object."""

from typing import Any

import numpy as np

from tensorwrapper.errors import ExtentMismatchError, RankError
from tensorwrapper.fields._field import Field, Fields, is_plain, layout_of, needs_box, over, with_layout
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import mode_text
from tensorwrapper.typing import IntArray


def leading(shape: Shape[Any], modes: int) -> Shape[Any]:
    """Return the shape of the first modes: of all of them the same object."""
    return shape if modes == shape.rank else shape.leading(modes)


def _agree(one: Shape[Any], other: Shape[Any], modes: int) -> bool:
    return one is other or leading(one, modes) == leading(other, modes)


def _longest(shapes: list[Shape[Any]]) -> int:
    """Return how many leading modes all shapes have in common."""
    distinct = list({id(shape): shape for shape in shapes}.values())
    first, most = distinct[0], min([shape.rank for shape in distinct])
    return next((k for k in range(most, 0, -1) if all(_agree(first, own, k) for own in distinct[1:])), 0)


def common_shape(fields: Fields) -> Shape[Any]:
    """Return the shape that fields share.

    The longest leading shape of the jagged fields is taken if it is jagged and each other field has leading
    modes of it. Else it is the longest leading shape of all fields.

    Raises
    ------
    RankError
        If a field has no modes.
    ExtentMismatchError
        If two fields differ in the first mode.
    """
    for name, field in fields.items():
        if not field.rank:
            raise RankError(f"a field has at least one mode, and {name!r} is a single element")
    boxes = [field.shape for field in fields.values() if field.shape.is_box or needs_box(field)]
    ragged = [field.shape for field in fields.values() if not (field.shape.is_box or needs_box(field))]
    only_boxes = any(map(needs_box, fields.values()))
    if ragged and not only_boxes:
        found = leading(ragged[0], _longest(ragged)) if _longest(ragged) else None
        if (
            found is not None
            and not found.is_box
            and all(own.rank <= found.rank and _agree(found, own, own.rank) for own in boxes)
        ):
            return found
    first, *others = fields
    shapes = boxes + ragged
    modes = _longest(shapes)
    if not modes:
        for name in others:
            if not _agree(fields[first].shape, fields[name].shape, 1):
                raise _mismatch(name, fields[name].shape, fields[first].shape, 1, f"the field {first!r}")
    own = fields[first].shape
    while modes > 1 and only_boxes and not leading(own, modes).is_box:
        modes -= 1
    return shape_among(fields, leading(own, modes))


def shape_among(fields: Fields, shape: Shape[Any]) -> Shape[Any]:
    """Return the equal shape that a field has, so that both are one object; else the shape."""
    return next((own.shape for own in fields.values() if own.shape == shape), shape)


def check_field(name: str, field: Field, shape: Shape[Any]) -> None:
    """Raise unless a field starts with a shape, or has the shape of its leading modes.

    Raises
    ------
    ExtentMismatchError
        If it has other extents, origins, names or layers in one of these modes.
    """
    # A single element, as one row has it of a prefix field, agrees in no modes with any shape.
    modes = min(field.rank, shape.rank)
    if modes and field.shape is not shape and not _agree(field.shape, shape, modes):
        raise _mismatch(name, field.shape, shape, modes, "the records")
    if needs_box(field) and not shape.is_box:
        raise ExtentMismatchError(
            f"the field {name!r} is sparse or tiled, and has fields beside it over boxes, not over {shape}"
        )


def _mismatch(
    name: str, given: Shape[Any], wanted: Shape[Any], modes: int, whose: str
) -> ExtentMismatchError:
    """Return the error for a field that differs from a shape in one of these modes."""
    mode = next(m for m in range(modes) if not _agree(given, wanted, m + 1))
    mine, theirs = [_lengths(shape, mode) for shape in (given, wanted)]
    if len(mine) == len(theirs) and (mine != theirs).any():
        place = int(np.argmax(mine != theirs))
        prefix = tuple(leading(wanted, mode).indices_at(np.array([place]))[0].tolist()) if mode else ()
        return ExtentMismatchError(
            f"the field {name!r} has extent {mine.item(place)} in {mode_text(mode, prefix)}, {whose} "
            f"{theirs.item(place)}"
        )
    texts = [leading(shape, mode + 1) for shape in (given, wanted)]
    return ExtentMismatchError(f"the field {name!r} begins with {texts[0]!r}, {whose} with {texts[1]!r}")


def _lengths(shape: Shape[Any], mode: int) -> IntArray:
    """Return the extents of a mode under all prefixes."""
    if not mode:
        return np.array([shape.extent(0)])
    return shape.flatten().as_jagged().lengths(mode)


def with_rows(fields: Fields, shape: Shape[Any]) -> dict[str, Field]:
    """Return the fields with each box as rows of one length, if the shape has rows of this length.

    A new first mode turns one number for each row into a box.
    """
    return {name: _as_rows(field, shape) for name, field in fields.items()}


def _as_rows(field: Field, shape: Shape[Any]) -> Field:
    wanted = leading(shape, min(field.rank, shape.rank))
    if field.rank < 2 or wanted.is_box or not field.shape.is_box:
        return field
    for _ in range(wanted.rank - 1):
        field = field.flatten(1)
    for mode in range(wanted.rank - 1, 0, -1):
        field = field.unflatten(wanted.lengths(mode), 0)
    return field


def share(fields: Fields) -> dict[str, Field]:
    """Return fields of which those of equal shapes have one shape object, and those of equal layouts one.

    Objects are compared before values. O(fields), and one comparison of values for each object.
    """
    shapes: dict[tuple[int, int, bool], list[Shape[Any]]] = {}
    layouts: dict[int, list[Layout[Any]]] = {}
    return {name: _shared(field, shapes, layouts) for name, field in fields.items()}


def _shared(
    field: Field, shapes: dict[tuple[int, int, bool], list[Shape[Any]]], layouts: dict[int, list[Layout[Any]]]
) -> Field:
    """Return a field under the shape and the layout that an earlier one has, if they are equal."""
    shape = field.shape
    known = shapes.setdefault((shape.rank, shape.size, shape.is_box), [])
    same = next((own for own in known if own is shape or own == shape), None)
    if same is None:
        known.append(same := shape)
    elif same is not shape and is_plain(shape):
        field = over(field, same)
    mine, alike = layout_of(field), layouts.setdefault(id(same), [])
    layout = next((own for own in alike if own is mine or own == mine), None)
    if layout is None:
        alike.append(mine)
    return field if layout is None or layout is mine else with_layout(field, layout)
