"""What reads memory: by its strides, or by the places that a layout says; windows, parts and points."""

import numpy as np
import pytest

from tensorwrapper import Layout, Shape, as_tensor
from tensorwrapper.selection.runners._leaves import AddressedLeaf, MemoryLeaf, leaf_of

N = 24
FLAT = np.arange(N)
LAYOUTS = {
    "strides": (Layout(Shape(4, 6)).permute(1, 0), MemoryLeaf),
    "a rotation": (Layout(Shape(4, 6)).rotate([1, 2]), AddressedLeaf),
    "a table": (Layout(Shape(4, 6)).gather(0, [3, 0, 1]), AddressedLeaf),
    "away from zero": (Layout(Shape(4, 6)).window(Shape(2, 3, origin=(1, 2))).rotate([0, 1]), AddressedLeaf),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_windows_parts_and_points_are_those_of_the_array(name):
    layout, kind = LAYOUTS[name]
    expected = FLAT[layout.to_numpy()]

    leaf = leaf_of(layout, as_tensor(FLAT).buffer)

    assert isinstance(leaf, kind)
    assert leaf.extents == expected.shape
    window = (slice(1, 2), slice(0, 3))
    out = np.empty((1, 3), dtype=FLAT.dtype)
    leaf.fill(window, out)
    assert np.array_equal(out, expected[window])
    assert np.array_equal(leaf.part(window), expected[window])
    places = (np.array([1, 0]), np.array([2, 0]))
    assert np.array_equal(leaf.points(places), expected[places])
