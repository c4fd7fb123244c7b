"""What a layout says about memory, against looking at every offset."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ExtentError, JaggedModeError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.testing import jagged_shapes, nested_shapes, smooth_shapes, tilings
from tests.support.blocks import blocks, depths, orders_of, runs


def is_one_run(offsets):
    """Whether a block is one run; one that repeats its elements is if its places are."""
    return runs(offsets) <= 1


def check_block(hint, found, *, exact):
    sizes = [len(offsets) for offsets in found.values()]
    filled = [offsets for offsets in found.values() if offsets]
    counted = sum(map(runs, filled))
    assert hint.count == len(found)
    assert (hint.least, hint.greatest) == (min(sizes, default=0), max(sizes, default=0))
    assert hint.alignment == functools.reduce(math.gcd, map(min, filled), 0)
    assert hint.runs == counted if exact else hint.runs >= counted
    assert hint.is_one_run == all(map(is_one_run, filled))
    assert all(type(n) is int for n in (hint.count, hint.least, hint.greatest, hint.runs, hint.alignment))


def check(layout, *, exact=True):
    hints = layout.hints()
    shape = layout.shape
    offsets = [layout.offset_of(index) for index in shape.indices()]
    assert hints.shape == shape
    assert sorted(hints.order) == list(range(shape.rank))
    assert hints.row_runs == sum(b != a + 1 for a, b in itertools.pairwise(offsets)) + bool(offsets)
    assert hints.row_run == (len(offsets) // hints.row_runs if offsets else 0)
    check_block(hints.whole, blocks(layout, 0), exact=exact)
    assert len(hints.layers) == len(shape.layers)
    for hint, depth in zip(hints.layers, depths(shape), strict=True):
        check_block(hint, blocks(layout, depth), exact=exact)
    return hints


@st.composite
def layers(draw, rank):
    marks = sorted(draw(st.lists(st.integers(0, rank), max_size=2)))
    return [b - a for a, b in itertools.pairwise([0, *marks, rank])]


def nested(data, layout):
    return Layout.nested(layout, layers=data.draw(layers(layout.shape.rank)))


@given(nested_shapes(), st.data())
def test_hints_of_nested_shapes(shape, data):
    layout = Layout(shape, orders=data.draw(orders_of(shape)), offset=data.draw(st.integers(-9, 9)))
    hints = check(layout)
    assert all(hint.is_one_run for hint in (hints.whole, *hints.layers))


@given(smooth_shapes(max_rank=3, max_extent=4), st.data())
def test_orders_of_smooth_layers_make_the_layout_again(flat, data):
    shape = Shape.nested(flat, layers=data.draw(layers(flat.rank)))
    layout = Layout(shape, orders=data.draw(orders_of(shape)))
    again = Layout(shape, orders=layout.hints().orders)
    assert again.to_numpy().tolist() == layout.to_numpy().tolist()


@given(smooth_shapes(max_rank=3, max_extent=4), st.data())
def test_hints_of_any_strides_bound_the_runs(shape, data):
    strides = data.draw(st.lists(st.integers(-9, 9), min_size=shape.rank, max_size=shape.rank))
    layout = nested(data, Layout(shape, strides=strides, offset=data.draw(st.integers(-9, 9))))
    hints = layout.hints()
    for hint, depth in zip([hints.whole, *hints.layers], [0, *depths(layout.shape)], strict=True):
        found = [offsets for offsets in blocks(layout, depth).values() if offsets]
        assert hint.runs >= sum(map(runs, found))
        if hint.is_one_run:
            assert all(map(is_one_run, found))
        elif layout.is_injective:
            assert not all(map(is_one_run, found))


@given(smooth_shapes(max_rank=3, max_extent=4), st.data())
def test_hints_of_slices_permutations_and_reversals(shape, data):
    layout = Layout(shape, order=data.draw(st.permutations(range(shape.rank))), offset=4)
    steps = st.sampled_from([1, 2, -1, -2])
    layout = layout[tuple(slice(None, None, data.draw(steps)) for _ in range(shape.rank))]
    layout = layout.permute(data.draw(st.permutations(range(shape.rank))))
    check(nested(data, layout))


@given(smooth_shapes(max_rank=3, max_extent=3), st.data())
def test_hints_of_rotations_repetitions_and_gathers(shape, data):
    layout = Layout(shape, offset=4)
    layout = layout.rotate([data.draw(st.integers(0, 2)) for _ in range(shape.rank)])
    layout = layout.repeat([data.draw(st.integers(1, 2)) for _ in range(shape.rank)])
    if shape.rank and shape.size:
        mode = data.draw(st.integers(0, shape.rank - 1))
        places = st.lists(st.integers(0, shape.extents[mode] - 1), min_size=1, max_size=3)
        layout = layout.gather(mode, data.draw(places))
    check(nested(data, layout))


@given(jagged_shapes(), st.data())
def test_hints_of_selections_of_jagged_shapes(shape, data):
    layout = Layout(shape, offset=3)[:: data.draw(st.sampled_from([1, 2, -1]))]
    if shape.rank == 2:
        layout = layout[:, :: data.draw(st.sampled_from([1, 2, -1]))]
    check(nested(data, layout))
    check(layout)


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


def test_hints_of_padded_rows():
    hints = check(Layout.nested(Layout.padded(Shape.jagged([3, 1, 2])), layers=(1, 1)))
    assert (hints.whole.runs, hints.layers[0].runs, hints.layers[0].alignment) == (2, 3, 3)
    hints = check(
        Layout.nested(Layout.padded(Shape.jagged([3, 1, 2]), order="F"), layers=(1, 1)), exact=False
    )
    assert (hints.layers[0].is_one_run, hints.order) == (False, (0, 1))


@pytest.mark.parametrize(
    "text", ["((2,2),4):((1,8),2)", "(4,8):(1,4)", "S<1,0,2> o 0 o (4,4):(4,1)", "S<2,0,2> o 0 o (4,2):(1,4)"]
)
@pytest.mark.parametrize("order", ["lex", "colex"])
def test_hints_of_layouts_with_nested_modes_and_swizzles(text, order):
    check(Layout.parse(text, order=order))


# Facts by hand.


def test_runs_of_a_box_are_merged_modes_with_packed_strides():
    """views.md 4.5: a run is the product of the trailing modes that follow one another."""
    box = Layout(Shape(4, 5, 6, 7))
    for part, run in [
        (box, 840),
        (box[1:3], 420),
        (box[:, :3], 126),
        (box[:, :, 2:4], 14),
        (box[..., :2], 2),
    ]:
        assert part.hints().row_run == run
        assert part.hints().row_runs == part.shape.size // run
        assert part.hints().whole.runs == part.hints().row_runs
    assert box[..., ::2].hints().row_run == 1


def test_order_is_that_of_the_strides():
    assert Layout(Shape(2, 3, 4)).hints().order == (2, 1, 0)
    assert Layout(Shape(2, 3, 4), order=(1, 2, 0)).hints().order == (1, 2, 0)
    assert Layout(Shape(2, 3, 4)).reverse(1).hints().order == (2, 1, 0)
    assert Layout(Shape(3, 1)).hints().order == (1, 0)
    assert Layout(Shape(4, 4)).rotate((1, 1)).hints().order == (1, 0)


def test_order_of_jagged_shapes_says_which_cells_are_neighbours():
    tiles = Shape.nested(Shape.tiled([4, 6], [5, 5]), layers=(2, 2))
    for orders in itertools.product([(1, 0), (0, 1)], repeat=2):
        assert Layout(tiles, orders=orders).hints().orders == orders
    assert Layout(Shape(10, 10)).as_tiled(Tiling([4, 6], [5, 5])).hints().order[:2] == (3, 1)


def test_a_layer_that_is_not_one_run_says_so():
    columns = Layout.nested(Layout(Shape(4, 3), order="F"), layers=(1, 1)).hints().layers[0]
    assert (columns.count, columns.greatest, columns.runs, columns.is_one_run) == (4, 3, 12, False)


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


def test_large_layouts_without_a_rule_stay_on_the_safe_side():
    tiling = Tiling.make_uniform((2048, 2048), 100)
    hints = Layout.nested(Layout.tiled(tiling), layers=(1, 1)).hints()
    assert (hints.whole.runs, hints.whole.is_one_run) == (1, True)
    rows = hints.layers[0]
    assert (rows.count, rows.least, rows.greatest) == (2048, 2048, 2048)
    assert (rows.runs, rows.is_one_run, rows.alignment) == (2**22, False, 1)


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


def test_tiles_do_not_cut_the_blocks_of_layers():
    shape = Shape.nested(Shape(10, 20, 30), layers=(1, 2))
    for orders in (["C", "C"], ["C", "F"]):
        hints = Layout(shape, orders=orders).hints()
        assert hints.tiling(600).chunks == ((1,) * 10, (20,), (30,))
        assert hints.tiling(1300).chunks == ((2,) * 5, (20,), (30,))
    assert hints.tiling(599).chunks == ((1,) * 10, (20,), (15, 15))


def test_what_cannot_be_tiled_is_refused():
    hints = Layout(Shape.jagged([3, 1])).hints()
    with pytest.raises(JaggedModeError, match="partition_by_volume"):
        hints.tiling(10)
    with pytest.raises(ExtentError, match="not 0"):
        Layout(Shape(3)).hints().tiling(0)
    with pytest.raises(ConversionError):
        Layout(Shape(3)).hints().tiling(2.5)  # type: ignore[arg-type]
    assert Layout(Shape()).hints().tiling(np.int8(3)).chunks == ()
