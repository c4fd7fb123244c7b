"""Boxes of indices: read from what is given, and as errors write them."""

from typing import Any, TypeAlias

from tensorwrapper.errors import JaggedModeError
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.shape._shape import unnamed_shape
from tensorwrapper.typing import Index

__all__ = ["Box", "as_box", "box_text", "stop_of"]

Box: TypeAlias = Shape[tuple[int, ...]]
"""A smooth shape of any rank."""


def as_box(shape: ShapeLike, what: str) -> Box:
    """Return a smooth shape, without names, of what is given; ``what`` says in the error what it is."""
    box: Shape[Any] = unnamed_shape(shape)
    if box.kind != "smooth":
        raise JaggedModeError(f"{what} must be a box, not {box.kind}: as_smooth() gives the bounding box")
    return box


def stop_of(box: Box) -> Index:
    """Return the index after the last of every mode."""
    return tuple([start + extent for start, extent in zip(box.origin, box.extents, strict=True)])


def box_text(box: Box) -> str:
    """Return the bounds of a box as errors write them.

    Examples
    --------
    >>> box_text(Shape(2, 3, origin=(-1, 0))), box_text(Shape())
    ('[-1:1, 0:3]', '[]')
    """
    return f"[{', '.join([f'{a}:{b}' for a, b in zip(box.origin, stop_of(box), strict=True)])}]"
