"""Shapes in layers of every kind, and their prefixes."""

from hypothesis import strategies as st

from tensorwrapper.shape import Shape
from tensorwrapper.testing import nested_shapes

VALUES = nested_shapes(max_rank=4)


def over_a_view(shape):
    """The same layers over a window on columns that hold more."""
    flat = shape.flatten()
    return Shape.nested(Shape.jagged([flat, flat])[1] if flat.rank else flat, layers=shape.layers)


SHAPES = st.one_of(VALUES, VALUES.map(over_a_view))


def prefixes(shape, modes, prefix=()):
    """All prefixes of `modes` indices, asked for one after the other."""
    if len(prefix) == modes:
        return [prefix]
    start = shape.origin_at(prefix)
    nodes = range(start, start + shape.extent_at(prefix))
    return [p for k in nodes for p in prefixes(shape, modes, (*prefix, k))]
