"""Parts in memory, one after the other: runs, points and reversals are those of the joined array."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.expressions import _joining
from tensorwrapper.selection.expressions._joining import JoinedRunner
from tensorwrapper.selection.runners import _pieces
from tensorwrapper.selection.runners._pieces import PlacedRunner

any_lengths = st.lists(st.integers(0, 7), min_size=1, max_size=40).filter(any)
even_lengths = st.builds(
    lambda length, count, last: [length] * count + [last],
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(0, 6),
)
lengths = any_lengths | even_lengths


def joined(given):
    arrays = np.split(np.arange(sum(given)) * 3, np.cumsum(given)[:-1])
    asked = []

    def make(number):
        asked.append(number)
        return arrays[number]

    starts = np.concatenate([[0], np.cumsum(given)])
    return JoinedRunner([None] * len(given), make, starts, np.dtype(np.int64)), asked


@given(lengths, st.data())
def test_runs_and_points(given, data):
    runner, _ = joined(given)
    expected = np.arange(sum(given)) * 3
    low = data.draw(st.integers(0, len(expected)))
    high = data.draw(st.integers(low, len(expected)))
    out = np.empty(high - low, dtype=np.int64)
    runner.fill((slice(low, high),), out)
    np.testing.assert_array_equal(out, expected[low:high])
    places = np.array(data.draw(st.lists(st.integers(0, len(expected) - 1))), dtype=np.int64)
    np.testing.assert_array_equal(runner.points((places,)), expected[places])
    assert (runner.extents, runner.dtype) == ((len(expected),), np.int64)


def test_more_parts_than_two_bytes_count():
    runner, _ = joined([1, 2] * 20_000)
    places = np.array([59_999, 0, 30_001, 7, 7])
    np.testing.assert_array_equal(runner.points((places,)), places * 3)


def test_only_parts_that_are_met_are_asked_for_and_each_once():
    runner, asked = joined([3] * 1000)
    out = np.empty(5, dtype=np.int64)
    for _ in range(2):
        runner.fill((slice(1498, 1503),), out)
        runner.points((np.array([2999, 0, 2998]),))
    assert sorted(asked) == [0, 499, 500, 999]


SHARDS = [np.arange(12).reshape(2, 6) + 100 * k for k in range(40)]
WHOLE = np.concatenate(SHARDS)
LINES = [own.reshape(-1)[::2] for own in SHARDS]


@pytest.mark.parametrize(
    "key", [np.s_[:], np.s_[5:71], np.s_[[3, 79, 3, 0]], np.s_[7], np.s_[:0], np.s_[::-1, 1:3]]
)
def test_many_shards_of_a_box(key):
    view = sel.concat(SHARDS)
    for _ in range(2):
        np.testing.assert_array_equal(view[key].compute(), WHOLE[key])


@pytest.mark.parametrize(
    "key", [np.s_[:], np.s_[::-1], np.s_[200:3:-1], np.s_[[9, 239, 9]], np.s_[4:200:7], np.s_[3]]
)
def test_many_shards_in_steps(key):
    view, whole = sel.concat([tw.as_tensor(own) for own in LINES]), np.concatenate(LINES)
    np.testing.assert_array_equal(view[key].compute(), whole[key])
    np.testing.assert_array_equal(view.window(tw.Shape(240)[3:9]).compute(), whole[3:9])


def test_origin_and_names_of_many_shards_are_kept():
    parts = [tw.as_tensor(own).translate_to((5, 1)).named("row", "column") for own in SHARDS]
    found = sel.concat(parts).compute()
    assert found.shape == sel.concat(parts).shape
    assert found.shape.origin == (5, 1)
    assert "names (row, column)" in str(found.shape)


def test_what_is_written_to_a_part_later_is_seen():
    arrays = [own.copy() for own in SHARDS]
    view = sel.concat(arrays)
    view.compute()
    arrays[3][1, 2] = -1
    assert view.compute()[7, 2].item() == -1


@pytest.mark.parametrize("odd", [WHOLE[:1].astype("i4"), sel.zeros((1, 6), dtype="i8"), WHOLE[:2, ::-1]])
def test_shards_of_which_one_is_no_line_go_by_a_plan(odd):
    view = sel.concat([*SHARDS, odd])
    np.testing.assert_array_equal(view.compute(), np.concatenate([WHOLE, np.asarray(odd)]))
    np.testing.assert_array_equal(
        view[::-1][:3].compute(), np.concatenate([WHOLE, np.asarray(odd)])[::-1][:3]
    )


@given(
    st.lists(st.integers(1, 6), min_size=2, max_size=6),
    st.lists(st.lists(st.integers(0, 99), max_size=5), max_size=9),
    st.sampled_from([1, 4, 9, 64]),
    st.integers(0, 3),
)
def test_places_far_apart_are_asked_for_together_and_come_in_their_order(given, batches, most, rows):
    runner, _ = joined(given)
    size = sum(given)
    wanted = [np.array(own, dtype=np.int64) % size for own in batches if own]
    together = list(_pieces._together(iter(wanted), most))
    assert [place for own in together for place in own.tolist()] == [
        place for own in wanted for place in own.tolist()
    ]
    assert all(len(own) <= max(most, *map(len, wanted)) for own in together)
    starts = np.array([place for own in wanted for place in own.tolist()], dtype=np.int64)
    layout = tw.Layout.from_block_offsets(
        tw.Shape.jagged([1] * len(starts), rank=2), np.minimum(starts, size - 1), strides=(1,)
    )
    before, _joining._POINTS, block, _pieces.BLOCK = _joining._POINTS, most, _pieces.BLOCK, rows + 1
    out = np.empty(len(starts), dtype=np.int64)
    try:
        PlacedRunner(runner, layout).fill((slice(0, len(starts)),), out)
    finally:
        _joining._POINTS, _pieces.BLOCK = before, block
    np.testing.assert_array_equal(out, 3 * starts)


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=5),
    st.sampled_from(["f8", ">f4", "i2", "?", "c16", "M8[s]"]),
    st.sampled_from([(4,), (2, 3), (1, 4), (3, 1)]),
    st.data(),
)
def test_rows_of_parts_are_those_of_numpy(counts, kind, row, data):
    """Rows are taken as one element of many bytes where all of each is side by side."""
    raw = np.arange(sum(counts) * math.prod(row)).reshape(-1, *row)
    whole = raw.astype("i8").view("M8[s]") if kind[0] == "M" else raw.astype(kind)
    ends = np.cumsum(counts)[:-1]
    parts = [tw.as_tensor(own) for own in np.split(whole, ends)]
    if data.draw(st.booleans()):
        parts = [sel.as_view(own) for own in parts]
    rows = data.draw(st.lists(st.integers(-len(whole), len(whole) - 1), max_size=200))
    inner = data.draw(st.sampled_from([slice(None), slice(0, 2), slice(1, 3), slice(None, None, -1)]))
    view = sel.concat(parts)[np.array(rows, np.int64)][:, inner]
    wanted = whole[np.array(rows, np.int64)][:, inner]
    assert np.array_equal(view.compute().to_numpy(), wanted)
    out = np.zeros(wanted.shape, whole.dtype.newbyteorder())
    view.compute(out)
    assert np.array_equal(out, wanted)
