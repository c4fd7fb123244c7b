"""Rows of a layout counted as one and dealt anew: what changes is the shape."""

import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import RankError


def test_the_first_mode_counts_on_in_none():
    with pytest.raises(RankError, match="mode 0 has no mode before it"):
        Layout(Shape(2, 3)).merge_rows(0)


def test_layers_are_dropped():
    nested = Layout(Shape.nested(Shape(2, 3), layers=(1, 1)))

    assert nested.merge_rows(1).shape == Shape(6)
