"""From offsets to indices, also where 64 bits do not hold the distance."""

import pytest

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import OutOfBoundsError


@pytest.mark.parametrize(
    "layout",
    [
        Layout.tiled(Tiling([4], [3, 4]), alignment=8, offset=1 - 2**63),
        Layout.packed(Shape.jagged([2, 3]), alignment=4, offset=200 - 2**63),
    ],
    ids=["tile-major", "cells"],
)
def test_no_element_is_found_where_the_distance_from_the_first_leaves_64_bits(layout: Layout) -> None:
    with pytest.raises(OutOfBoundsError, match=r"no element of .* lies at offset 1000"):
        layout.indices_at([1000])
