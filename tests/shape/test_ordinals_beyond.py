"""Ordinals that 64 bits do not hold are refused as what they are, and not as ordinals outside the shape."""

import pytest

from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.shape import Shape


@pytest.mark.parametrize(
    "shape",
    [
        Shape.tiled([2**40, 2**40], [2**40]),
        Shape(2**40, 2**40),
        Shape.triangular(2**40),
        Shape.from_uniform(2**40, 2**40),
    ],
)
def test_an_ordinal_beyond_64_bits_is_not_said_to_be_outside(shape):
    assert shape.index(2**63 + 5) in shape
    with pytest.raises(SizeOverflowError, match="64 bits"):
        shape.indices_at([2**63 + 5])
