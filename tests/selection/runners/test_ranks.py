"""Elements that a function makes of ranks: the same through any view, as through a table of all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper import selection as sel
from tensorwrapper.selection.expressions._generators import write_ranks

EXTENTS = (3, 4, 5)


def squares(ranks, out):
    found = np.asarray(ranks) ** 2  # a range has one mode, as its target has
    if out is None:
        return found
    out[...] = found
    return out


LAYOUT = Layout(Shape(*EXTENTS))
LAYOUTS = [
    LAYOUT,
    LAYOUT.permute((2, 0, 1)),
    LAYOUT[::-1, 1:],
    LAYOUT.gather(1, [3, 0, 0]),
    LAYOUT.rotate((1, 2, 3)),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=range(len(LAYOUTS)))
@pytest.mark.parametrize("target", ["f8", "i8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_elements_are_the_function_of_the_offsets(layout, target, order):
    expected = layout.to_numpy() ** 2
    out = np.zeros(expected.shape, target, order)
    write_ranks(squares, layout, out, np.dtype("i8"))
    assert out.tolist() == expected.tolist()


@given(st.lists(st.integers(-3, 3), min_size=3, max_size=3), st.integers(0, 2**64 - 1))
def test_views_of_random_numbers_are_parts_of_the_whole(shifts, seed):
    whole = sel.random(EXTENTS, seed=seed)
    table = np.asarray(whole.compute())
    assert np.array_equal(whole.rotate(shifts).compute(), np.roll(table, shifts, (0, 1, 2)))
    assert np.array_equal(whole[::-1, [3, 0, 1]].permute((2, 1, 0)).compute(), table[::-1, [3, 0, 1]].T)
    assert np.array_equal(whole.astype("f4").compute(), table.astype("f4"))


def test_a_box_that_begins_elsewhere_counts_from_its_first_index():
    box = Shape(3, 4, origin=(5, -2))
    assert np.array_equal(sel.random(box, seed=1).compute(), sel.random((3, 4), seed=1).compute())
