"""What a layout says about memory, against looking at every offset."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ExtentError, JaggedModeError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape
from tensorwrapper.testing import smooth_shapes, tilings
from tests.support.layout.blocks import orders_of, runs
from tests.support.layout.hints import check, layers, nested


@given(smooth_shapes(max_rank=3, max_extent=4), st.data())
def test_orders_of_smooth_layers_make_the_layout_again(flat, data):
    shape = Shape.nested(flat, layers=data.draw(layers(flat.rank)))
    layout = Layout(shape, orders=data.draw(orders_of(shape)))
    again = Layout(shape, orders=layout.hints().orders)
    assert again.to_numpy().tolist() == layout.to_numpy().tolist()


@given(tilings(max_rank=2), st.data())
def test_hints_of_tiled_views(tiling, data):
    if not tiling.rank:
        return
    order = data.draw(st.permutations(range(tiling.rank)))
    view = Layout(tiling.elements, order=order, offset=2).as_tiled(tiling)
    check(view, exact=False)
    check(nested(data, view), exact=False)


@given(tilings(max_rank=2), st.data())
def test_hints_of_tile_major_storage(tiling, data):
    orders = st.sampled_from(["C", "F"])
    layout = Layout.tiled(
        tiling,
        order=data.draw(orders),
        tile_order=data.draw(orders),
        alignment=data.draw(st.sampled_from([1, 4])),
        offset=8,
    )
    hints = check(nested(data, layout))
    assert hints.tiling(1) == hints.tiles == tiling


@pytest.mark.parametrize(
    "text", ["((2,2),4):((1,8),2)", "(4,8):(1,4)", "S<1,0,2> o 0 o (4,4):(4,1)", "S<2,0,2> o 0 o (4,2):(1,4)"]
)
@pytest.mark.parametrize("order", ["lex", "colex"])
def test_hints_of_layouts_with_nested_modes_and_swizzles(text, order):
    check(Layout.parse(text, order=order))


# Facts by hand.


def test_order_is_that_of_the_strides():
    assert Layout(Shape(2, 3, 4)).hints().order == (2, 1, 0)
    assert Layout(Shape(2, 3, 4), order=(1, 2, 0)).hints().order == (1, 2, 0)
    assert Layout(Shape(2, 3, 4)).reverse(1).hints().order == (2, 1, 0)
    assert Layout(Shape(3, 1)).hints().order == (1, 0)
    assert Layout(Shape(4, 4)).rotate((1, 1)).hints().order == (1, 0)


def test_alignment_is_what_divides_all_starts():
    padded = Layout.nested(Layout(Shape(5, 3), strides=(4, 1), offset=8), layers=(1, 1)).hints()
    assert (padded.layers[0].alignment, padded.whole.alignment) == (4, 8)
    assert Layout(Shape(5)).hints().whole.alignment == 0


def test_hints_of_layouts_beyond_64_bits():
    shape = Shape.nested(Shape(2**40, 2**40, 3), layers=(1, 2))
    hints = Layout(shape).hints()
    assert (hints.whole.runs, hints.row_runs, hints.layers[0].greatest) == (1, 1, 3 * 2**40)
    assert hints.layers[1].runs == 3 * 2**80
    assert Layout(shape).flatten()[:, ::2].hints().whole.runs == 3 * 0 + 2**79
    assert Layout(Shape.triangular(10**12)).hints().whole.runs == 1


def test_hints_are_values():
    hints = Layout(Shape.nested(Shape(2, 3), layers=(1, 1))).hints()
    assert hints == Layout(Shape.nested(Shape(2, 3), layers=(1, 1))).hints()
    assert hash(hints) == hash(Layout(Shape.nested(Shape(2, 3), layers=(1, 1))).hints())
    with pytest.raises(AttributeError):
        hints.row_runs = 3  # type: ignore[misc]


# Tilings for tasks.


@given(smooth_shapes(max_rank=3, max_extent=5), st.integers(1, 40), st.data())
def test_tiles_of_a_layout_without_gaps_are_runs(shape, most, data):
    layout = Layout(shape, order=data.draw(st.permutations(range(shape.rank))))
    tiling = layout.hints().tiling(most)
    assert tiling.elements == shape
    for tile in tiling.tiles():
        assert tile.size <= most
        assert runs(layout.window(tile).to_numpy().ravel().tolist()) <= 1


def test_what_cannot_be_tiled_is_refused():
    hints = Layout(Shape.jagged([3, 1])).hints()
    with pytest.raises(JaggedModeError, match="partition_by_volume"):
        hints.tiling(10)
    with pytest.raises(ExtentError, match="not 0"):
        Layout(Shape(3)).hints().tiling(0)
    with pytest.raises(ConversionError):
        Layout(Shape(3)).hints().tiling(2.5)  # type: ignore[arg-type]
    assert Layout(Shape()).hints().tiling(np.int8(3)).chunks == ()
