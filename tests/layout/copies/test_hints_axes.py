"""Hints from axis maps: strides of any kind, rotations, repetitions, cycles."""

import tracemalloc

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.testing import smooth_shapes
from tests.support.layout.blocks import blocks, depths, runs
from tests.support.layout.hints import check, is_one_run, nested


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


def test_large_layouts_without_a_rule_stay_on_the_safe_side():
    tiling = Tiling.make_uniform((2048, 2048), 100)
    hints = Layout.nested(Layout.tiled(tiling), layers=(1, 1)).hints()
    assert (hints.whole.runs, hints.whole.is_one_run) == (1, True)
    rows = hints.layers[0]
    assert (rows.count, rows.least, rows.greatest) == (2048, 2048, 2048)
    assert (rows.runs, rows.is_one_run, rows.alignment) == (2**22, False, 1)


@st.composite
def turned(draw):
    """Cycles of every form: turned, repeated, held, cut, with a step."""
    layout = Layout(
        Shape(draw(st.integers(1, 7)), draw(st.integers(1, 3))),
        strides=draw(st.sampled_from([(3, 1), (1, 7), (-2, 1), (1, 1), (0, 2)])),
    )
    for _ in range(draw(st.integers(1, 4))):
        match draw(st.sampled_from(["rotate", "repeat", "each", "cut"])):
            case "rotate":
                layout = layout.rotate([draw(st.integers(-3, 3)), draw(st.integers(-1, 1))])
            case "repeat" if layout.shape.extent(0) < 30:
                layout = layout.repeat([draw(st.integers(1, 3)), 1])
            case "each" if layout.shape.extent(0) < 30:
                layout = layout.repeat_each(0, draw(st.integers(1, 3)))
            case _:
                layout = layout[draw(st.integers(0, 1)) :: draw(st.sampled_from([1, 2, 3]))]
    return layout


@settings(max_examples=300)
@given(turned())
def test_w4_hints_of_cycles_are_formulas(layout):
    check(layout[:, 0])
    offsets = layout.to_numpy().ravel()
    assert layout.hints().row_runs == (offsets.size > 0) + np.count_nonzero(np.diff(offsets) != 1)


def test_w4_hints_of_long_cycles_take_no_memory():
    long = Layout(Shape(10**12, 5))
    tracemalloc.start()
    hints = long.rotate((3, 0)).hints()
    assert (hints.row_runs, hints.whole.runs, hints.whole.alignment) == (2, 1, 0)
    assert hints.order == (1, 0)
    hints = long.rotate((3, 0))[:-7].hints()
    assert (hints.row_runs, hints.whole.runs) == (2, 2)
    hints = long.repeat((3, 1)).repeat_each(0, 4).hints()
    assert hints.row_runs == 9 * 10**12 + 3
    assert hints.whole.runs == 1
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()
