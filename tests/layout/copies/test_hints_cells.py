"""Hints of what lies in tables of cells: layers, rows and padded rows."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.testing import jagged_shapes, nested_shapes
from tests.support.layout.blocks import orders_of
from tests.support.layout.hints import check, nested


@given(nested_shapes(), st.data())
def test_hints_of_nested_shapes(shape, data):
    layout = Layout(shape, orders=data.draw(orders_of(shape)), offset=data.draw(st.integers(-9, 9)))
    hints = check(layout)
    assert all(hint.is_one_run for hint in (hints.whole, *hints.layers))


@given(jagged_shapes(), st.data())
def test_hints_of_selections_of_jagged_shapes(shape, data):
    layout = Layout(shape, offset=3)[:: data.draw(st.sampled_from([1, 2, -1]))]
    if shape.rank == 2:
        layout = layout[:, :: data.draw(st.sampled_from([1, 2, -1]))]
    check(nested(data, layout))
    check(layout)


def test_hints_of_padded_rows():
    hints = check(Layout.nested(Layout.padded(Shape.jagged([3, 1, 2])), layers=(1, 1)))
    assert (hints.whole.runs, hints.layers[0].runs, hints.layers[0].alignment) == (2, 3, 3)
    hints = check(
        Layout.nested(Layout.padded(Shape.jagged([3, 1, 2]), order="F"), layers=(1, 1)), exact=False
    )
    assert (hints.layers[0].is_one_run, hints.order) == (False, (0, 1))


def test_order_of_jagged_shapes_says_which_cells_are_neighbours():
    tiles = Shape.nested(Shape.tiled([4, 6], [5, 5]), layers=(2, 2))
    for orders in itertools.product([(1, 0), (0, 1)], repeat=2):
        assert Layout(tiles, orders=orders).hints().orders == orders
    assert Layout(Shape(10, 10)).as_tiled(Tiling([4, 6], [5, 5])).hints().order[:2] == (3, 1)


def test_a_layer_that_is_not_one_run_says_so():
    columns = Layout.nested(Layout(Shape(4, 3), order="F"), layers=(1, 1)).hints().layers[0]
    assert (columns.count, columns.greatest, columns.runs, columns.is_one_run) == (4, 3, 12, False)


def test_tiles_do_not_cut_the_blocks_of_layers():
    shape = Shape.nested(Shape(10, 20, 30), layers=(1, 2))
    for orders in (["C", "C"], ["C", "F"]):
        hints = Layout(shape, orders=orders).hints()
        assert hints.tiling(600).chunks == ((1,) * 10, (20,), (30,))
        assert hints.tiling(1300).chunks == ((2,) * 5, (20,), (30,))
    assert hints.tiling(599).chunks == ((1,) * 10, (20,), (15, 15))
