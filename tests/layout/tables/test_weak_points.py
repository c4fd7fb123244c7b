"""Where other libraries of views are weak, or silently wrong: each point is turned round here."""

import tracemalloc

import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, ExtentError, LayoutError, OutOfBoundsError, RankError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.axes._axis import Cycle, Table
from tensorwrapper.shape import Shape

X = Layout(Shape(4, 6))


@pytest.mark.parametrize(
    "layout",
    [
        X[::2],
        X[:, ::-1],
        X[::-1, ::-3],
        X.reverse(),
        X.rotate((0, 2))[:, 1:-1][:, 1:],
        X.repeat((1, 3))[:, 6:12],
        X.repeat_each(0, 2)[::2],
        X.gather(1, [5, 3, 1]),
        X.gather(0, [2]),
        X.pad([(1, 1), (2, 2)], boundary="wrap")[1:-1, 2:-2],
        X.gather(1, [4, 0, 1, 2])[:, 1:],
    ],
)
def test_steps_and_reversal_are_strides_and_no_tables(layout):
    assert layout.is_strided


@pytest.mark.parametrize(
    "layout",
    [
        Layout(Shape(50)).rotate([7])[::3],
        Layout(Shape(50)).rotate([7])[40::-3],
        Layout(Shape(50)).repeat([4])[10:190:7],
        Layout(Shape(50)).repeat_each(0, 4)[::3],
        Layout(Shape(50)).repeat_each(0, 4).reverse(0)[::5],
        Layout(Shape(50)).repeat_each(0, 3).repeat([2]).rotate([11])[::2],
        Layout(Shape(50)).pad([(60, 70)], boundary="wrap")[5::4],
    ],
)
def test_steps_through_turned_and_repeated_modes_are_closed_forms(layout):
    (axis,) = layout.implementation.axes

    assert type(axis) is Cycle


@pytest.mark.parametrize(
    ("view", "error", "text"),
    [
        (lambda: X[4], OutOfBoundsError, "extent 4"),
        (lambda: X[-5], OutOfBoundsError, "extent 4"),
        (lambda: X[0, 6], OutOfBoundsError, "mode 1"),
        (lambda: X[0, 0, 0], RankError, "too many"),
        (lambda: X.gather(1, [0, 6]), OutOfBoundsError, "position 6 is outside mode 1"),
        (lambda: X.gather(1, [0, -7]), OutOfBoundsError, "position -7 is outside mode 1"),
        (lambda: X.rotate((0, 2)).gather(1, [6]), OutOfBoundsError, "position 6"),
        (lambda: X.gather(0, [0, 1]).gather(0, [2]), OutOfBoundsError, "extent 2"),
        (lambda: X.permute((0, 0)), RankError, "permutation"),
        (lambda: X.permute((0, 2)), RankError, "permutation"),
        (lambda: X.permute((0,)), RankError, "permutation"),
        (lambda: X.rotate((1,)), RankError, "one entry per mode"),
        (lambda: X.rotate((1, 2, 3)), RankError, "one entry per mode"),
        (lambda: X.repeat((2,)), RankError, "one entry per mode"),
        (lambda: X.reshape((23,)), ExtentError, "23 elements"),
        (lambda: X.reshape((5, 5)), ExtentError, "25 elements"),
        (lambda: Layout(Shape(2)).broadcast((4,)), LayoutError, "does not broadcast to 4"),
        (lambda: X.broadcast((6,)), LayoutError, "fewer modes"),
        (lambda: X.broadcast((4, 3)), LayoutError, "mode 1"),
        (lambda: X[0.5], ConversionError, "integer"),
        (lambda: X.offset_of((0, -1)), OutOfBoundsError, "is not in"),
    ],
)
def test_both_bounds_of_everything_are_checked(view, error, text):
    with pytest.raises(error, match=text):
        view()


def test_negative_positions_count_from_the_end_and_slices_are_cut():
    assert X[-1] == X[3]
    assert X[2:99] == X[2:4]
    assert X.gather(1, [-1, -6, 2]).to_numpy().tolist() == X.gather(1, [5, 0, 2]).to_numpy().tolist()


def test_what_repeats_whole_cycles_and_what_stretches_have_different_names():
    two = Layout(Shape(2))

    assert two.repeat([2]).to_numpy().tolist() == np.tile([0, 1], 2).tolist()
    assert two.repeat_each(0, 2).to_numpy().tolist() == np.repeat([0, 1], 2).tolist()
    assert two.unsqueeze(1).broadcast((2, 2)).to_numpy().tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize("shift", range(-7, 8))
def test_a_rotation_has_the_sign_of_numpys_roll(shift):
    assert Layout(Shape(5)).rotate([shift]).to_numpy().tolist() == np.roll(np.arange(5), shift).tolist()


@pytest.mark.parametrize(
    "layout",
    [
        X.repeat((1, 2)),
        X.repeat_each(0, 2),
        X.gather(1, [0, 0]),
        X.pad([(0, 0), (1, 0)], boundary="wrap"),
        X.pad([(0, 0), (1, 0)], boundary="edge"),
        Layout(Shape(1, 6)).broadcast((4, 6)),
        Layout(Shape(6)).sliding_window(0, 3),
    ],
)
def test_what_shows_an_element_twice_says_so(layout):
    assert not layout.is_injective
    assert not layout.is_exhaustive


@pytest.mark.parametrize("layout", [X.rotate((1, 2)), X.gather(1, [5, 0, 3]), X.repeat((1, 2))[:, 4:10]])
def test_what_shows_every_element_once_says_so(layout):
    assert layout.is_injective


def test_bounds_hold_for_strides_of_either_sign():
    layout = Layout(Shape(3, 4), strides=(-5, 2), offset=10)

    assert layout.bounds() == (0, 16)
    assert layout.span == 17
    assert layout.rotate((1, 1)).bounds() == (0, 16)
    assert layout.gather(0, [2, 0, 2]).bounds() == (0, 16)


@pytest.mark.parametrize("odd", [0, 1, 7, -3])
def test_a_mode_of_one_position_may_have_any_stride(odd):
    layout = Layout(Shape(4, 1, 6), strides=(6, odd, 1))

    assert layout.is_contiguous
    assert layout.is_exhaustive
    assert layout.is_injective
    assert layout.reshape((24,)).strides == (1,)
    assert layout.merge_modes(0, 2).strides == (1,)


def test_the_way_back_takes_memory_for_the_sum_of_the_extents():
    layout = Layout(Shape(300_000, 300_000)).rotate((3, 5)).repeat((1, 2))
    tracemalloc.start()
    try:
        found = layout.indices_at([0, 10**10])
        assert layout.indices_of(10**10) == [(33336, 100005), (33336, 400005)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert found.tolist() == [[3, 5], [33336, 100005]]
    assert peak < 100_000_000


def test_an_origin_stays_with_its_elements():
    halo = Layout(Shape(4, 4, origin=(-2, 10))).pad([(1, 1), (0, 2)], boundary="edge")

    assert halo.shape == Shape(6, 6, origin=(-3, 10))
    assert halo.offset_of((-2, 10)) == halo.offset_of((-3, 10)) == 0
    assert halo.window(Shape(4, 4, origin=(-2, 10))).strides == (4, 1)


@pytest.mark.parametrize(
    ("layout", "extents", "strides"),
    [
        pytest.param(Layout(Shape(5)).repeat([3]).split_mode(0, (3, 5)), (3, 5), (0, 1), id="whole cycles"),
        pytest.param(
            Layout(Shape(5)).repeat_each(0, 3).split_mode(0, (5, 3)), (5, 3), (1, 0), id="each repeated"
        ),
        pytest.param(Layout(Shape(8)).sliding_window(0, 3), (6, 3), (1, 1), id="windows"),
        pytest.param(Layout(Shape(12)).split_mode(0, (3, 4)), (3, 4), (4, 1), id="blocks"),
        pytest.param(Layout(Shape(4, 6)).diagonal(), (4,), (7,), id="diagonal"),
        pytest.param(
            Layout(Shape(4, 6)).split_mode(1, (3, 2)).split_mode(0, (2, 2)).permute((0, 2, 1, 3)),
            (2, 3, 2, 2),
            (12, 2, 6, 1),
            id="space to depth",
        ),
    ],
)
def test_what_is_strided_with_one_more_mode(layout, extents, strides):
    assert layout.shape.extents == extents
    assert layout.strides == strides


@pytest.mark.parametrize(
    "layout", [X.rotate((0, 1)), X.repeat((1, 2)), X.repeat_each(1, 2), X.gather(1, [0, 2, 1]), X[:, :5]]
)
def test_what_is_no_single_run_does_not_merge(layout):
    with pytest.raises(LayoutError, match="copy"):
        layout.merge_modes(0, 1)


def test_a_table_keeps_its_memory_when_it_is_sliced():
    values = Layout(Shape(100)).gather(0, np.random.default_rng(3).permutation(100))
    (whole,), (part,) = values.implementation.axes, values[10:90:3].implementation.axes

    assert isinstance(part, Table)
    assert np.shares_memory(whole.values, part.values)
