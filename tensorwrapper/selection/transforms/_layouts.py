"""Layouts of nodes: boxes that begin at zero, whose modes are numbered."""

from typing import Any

from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import wrap_layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.typing import Extents

__all__ = ["box", "unnamed_layout"]


def box(extents: Extents) -> Shape:
    """Return the shape with these extents and origin zero."""
    return wrap(make_smooth(extents, (0,) * len(extents)))


def unnamed_layout(layout: Layout[Any]) -> Layout[Any]:
    """Return a layout without names of modes; the same layout if unnamed."""
    return layout if (held := layout.implementation).names is None else wrap_layout(held.unnamed())
