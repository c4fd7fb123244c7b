"""Nested shapes, values and views, and the facade over any kind keep every law of a shape."""

from tensorwrapper.shape import Shape
from tensorwrapper.testing import ShapeContract, nested_shapes, shapes

VALUES = nested_shapes(max_rank=3)


def window(shape):
    """The same layers over a view."""
    flat = shape.flatten()
    return Shape.nested(Shape.jagged([flat, flat])[1] if flat.rank else flat, layers=shape.layers)


class TestNested(ShapeContract):
    def shapes(self):
        return VALUES


class TestNestedView(ShapeContract):
    def shapes(self):
        return VALUES.map(window)


class TestShape(ShapeContract):
    def shapes(self):
        return shapes()
