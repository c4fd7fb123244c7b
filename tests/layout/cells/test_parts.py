"""Parts of cells: runs of rows, what a key selects, and windows that unroll other modes."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import LayoutError, OutOfBoundsError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape
from tests.support.layout.cells import absolute, cell_layouts
from tests.support.layout.parts_of_cells import jagged_shapes
from tests.support.layout.trees import check_layout


@given(cell_layouts(), st.data())
def test_a_window_may_unroll_other_modes_than_its_layout(layout, data):
    shape = layout.shape
    if not shape.size:
        return
    deeper = Shape.jagged([shape.chip(k) for k in rows_of(shape)], rank=shape.rank)
    moved = deeper.translate_by((shape.origin_at(()), *[0] * (shape.rank - 1)))
    assert moved == shape
    first = data.draw(st.sampled_from(rows_of(shape)))
    region = moved.slice_outer(first, first + 1)
    check_layout(layout.window(region), {i: p for i, p in absolute(layout).items() if i[0] == first})


def rows_of(shape):
    return range(shape.origin_at(()), shape.origin_at(()) + shape.extent(0))


@pytest.mark.parametrize("order", list(itertools.permutations(range(2))))
def test_one_position_of_every_row_is_a_layout_over_a_box(order):
    grid = Layout.packed(Shape.from_cells((3,), [(2, 3), (2, 4), (2, 5)]), order=order)
    assert grid[:, 1, 2].shape == Shape(3)
    assert grid[:, 1, 2].to_numpy().tolist() == [int(grid[k].to_numpy()[1, 2]) for k in range(3)]
    assert Layout(Shape.jagged([2, 2, 2]))[:, 1].strides == (2,)


DEEP = [[[1], [2, 3]], [], [[], [0, 2]]]


@given(jagged_shapes(), st.data())
def test_rows_and_cells_of_a_packed_layout_are_views_that_start_at_zero(shape, data):
    layout = Layout(shape, offset=5)
    number, first = shape.extent(0), shape.origin_at(())
    expected = {i: layout.offset_of(i) for i in shape.indices()}
    bounds = st.none() | st.integers(-7, 7)
    key = slice(data.draw(bounds), data.draw(bounds))
    rows = range(*key.indices(number))
    part = layout[key]
    assert part.to_numpy().tolist() == [p for i, p in expected.items() if i[0] - first in rows]
    assert part.shape.origin_at(()) == 0
    assert part.shape.extent(0) == len(rows)
    relative = {i: tuple(k - shape.origin_at(i[:m]) for m, k in enumerate(i)) for i in expected}
    assert list(part.shape.indices()) == [
        (i[0] - rows.start, *i[1:]) for i in relative.values() if i[0] in rows
    ]
    for row in range(number):
        inner = layout[row]
        assert inner == layout[row - number]
        assert inner.to_numpy().ravel().tolist() == [p for i, p in expected.items() if i[0] - first == row]
        assert list(inner.shape.indices()) == [i[1:] for i in relative.values() if i[0] == row]
    with pytest.raises(OutOfBoundsError, match="mode 0"):
        layout[number]


def test_cells_of_deeper_packed_layouts():
    layout = Layout(Shape.jagged(DEEP))
    places = np.arange(8)
    assert layout[0].shape == Shape.jagged([[1], [2, 3]])
    assert layout[0, 1].shape == Shape.jagged([2, 3])
    assert layout[0, 1].to_numpy().tolist() == places[1:6].tolist()
    assert (layout[0, 1, 1].shape, layout[0, 1, 1].offset) == (Shape(3), 3)
    assert layout[0, 1, 1, ::-2].to_numpy().tolist() == [5, 3]
    assert layout[2, 1, 1, -1].to_numpy().tolist() == 7
    assert layout[-1, -1, 1:].shape == Shape.jagged([2])
    assert layout[2, 1, 1, None].shape == Shape(1, 2)
    assert layout[1].shape == Shape.jagged([], rank=3)


def test_an_ellipsis_stands_for_whole_modes_of_a_packed_layout():
    layout = Layout(Shape.jagged([3, 1, 2]))
    assert layout[...] == layout[:] == layout[:, :] == layout[()] == layout[..., :] == layout[:, ...]
    assert layout[2, ...] == layout[2, :] == layout[2]
    assert layout[..., 2, 1] == layout[2, ..., 1] == layout[2, 1, ...] == layout[2, 1]


def test_a_window_of_a_packed_layout_is_a_part_of_its_shape_and_keeps_its_origin():
    layout = Layout(Shape.jagged([3, 1, 2], origin=(4, 1)), offset=10)
    region = layout.shape[5:]
    part = layout.window(region)
    assert part.shape == region
    assert part.shape.origin == (5, 1)
    assert part.offset_of((5, 1)) == layout.offset_of((5, 1)) == 13
    assert layout.window(layout.shape[5:5]).bounds() == (0, -1)
    cut = layout.window(layout.shape[4:5, 2:3])
    assert (cut.shape.origin, cut.offset_of((4, 2))) == ((4, 2), 11)
    with pytest.raises(LayoutError, match="part of it"):
        layout.window(Shape(1, 1, origin=(4, 1)))
    with pytest.raises(LayoutError, match=r"\(3, 3\|1\|2\).* is a part of it .*jagged shape \(1, 1, 2"):
        layout.window(Shape.jagged([[2]]))
    for outside in (layout.shape.translate_by((1, 0)), Shape.jagged([3, 2], origin=(4, 1))):
        with pytest.raises(OutOfBoundsError):
            layout.window(outside)
