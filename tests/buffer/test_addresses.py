"""New elements lie without gaps, and the addresses of a read are one array however they come."""

import numpy as np
import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper.buffer._addresses import all_addresses, packed_layout


@pytest.mark.parametrize(
    "shape",
    [Shape(), Shape(0, 3), Shape(2, 3, origin=(5, -1)), Shape(2, 3).named("a", "b"), Shape.jagged([2, 0, 1])],
)
def test_the_packed_layout_is_that_of_the_shape(shape):
    found = packed_layout(shape)

    assert found == Layout(shape)
    assert found.shape == shape
    assert found.to_numpy().reshape(-1).tolist() == list(range(shape.size)) or shape.kind == "jagged"


def test_batches_of_any_shape_become_one_row_of_addresses():
    table = np.arange(6).reshape(2, 3)

    assert all_addresses(iter([])).tolist() == []
    assert np.shares_memory(all_addresses(iter([table])), table)
    assert all_addresses(iter([table, np.array([9])])).tolist() == [0, 1, 2, 3, 4, 5, 9]
