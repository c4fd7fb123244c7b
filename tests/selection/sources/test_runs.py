"""Runs of elements are values, and sources of every kind are asked for them in one request."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, OutOfBoundsError
from tensorwrapper.selection import Outer, Runs
from tests.support.selection.counting_source import CountingSource, SlowSource

numbers = st.sets(st.integers(0, 60)).map(sorted)


@given(numbers, numbers)
def test_runs_are_the_sets_of_their_numbers(one, other):
    a, b = Runs(one), Runs(other)
    assert a.numbers().tolist() == one
    assert a.size == len(one)
    assert len(a.starts) == len([n for n in one if n - 1 not in one])
    assert (a == b) == (one == other)
    both = a.union(b)
    assert both.numbers().tolist() == sorted({*one, *other})
    assert both.places(np.array(one, "i8")).tolist() == [sorted({*one, *other}).index(n) for n in one]
    box = a.bounding_box().numbers().tolist()
    assert box == (list(range(one[0], one[-1] + 1)) if one else [])


def runs_or_error(*given):
    try:
        return Runs(*given)
    except OutOfBoundsError as error:
        return str(error)


@given(
    st.lists(st.one_of(st.integers(-3, 30), st.integers(2**63 - 3, 2**63 - 1)), max_size=20), st.booleans()
)
def test_single_elements_are_what_runs_of_one_element_are(numbers, in_order):
    array = np.array(sorted(set(numbers)) if in_order else numbers, dtype=np.int64)
    # With lengths that are given there is no short way.
    short, long = runs_or_error(array), runs_or_error(array, np.ones(len(array), np.int64))
    assert short == long
    if isinstance(short, Runs):
        assert short.numbers().tolist() == long.numbers().tolist() == array.tolist()
        assert (short.size, short.nbytes) == (long.size, long.nbytes)
        assert pickle.loads(pickle.dumps(short)) == short
        array[:] = 0
        assert short == long


@given(st.lists(st.integers(0, 4), max_size=8), st.data())
def test_runs_of_rows_tell_which_rows(lengths, data):
    splits = np.cumsum([0, *lengths])
    chosen = [k for k in range(len(lengths)) if data.draw(st.booleans())]
    runs = Runs(np.array([n for k in chosen for n in range(splits[k], splits[k + 1])], "i8"))
    first, count = runs.rows(splits)
    rows = [r for a, n in zip(first.tolist(), count.tolist(), strict=True) for r in range(a, a + n)]
    filled = [k for k in range(len(lengths)) if lengths[k]]
    assert [r for r in rows if lengths[r]] == [k for k in chosen if k in filled]


def test_a_part_of_a_row_is_no_row():
    assert Runs([1], [2]).rows(np.array([0, 3, 5])) is None


def test_they_pickle_and_copy_read_only():
    runs = Runs([3, 9], 2)
    for other in (pickle.loads(pickle.dumps(runs)), copy.deepcopy(runs)):
        assert other == runs
        assert hash(other) == hash(runs)
        assert not other.starts.flags.writeable
    assert runs != Outer([[3, 4, 9, 10]])


@pytest.mark.parametrize(
    ("starts", "lengths"), [([3, 1], 1), ([1, 1], 1), ([0, 1], 2), ([-1], 1), ([2], -1), ([2**63 - 1], 2)]
)
def test_runs_ascend_from_zero_and_are_apart(starts, lengths):
    with pytest.raises(OutOfBoundsError):
        Runs(starts, lengths)


@pytest.mark.parametrize("given", [[1.5], [True], "ab", [[1, 2]]])
def test_they_are_integers(given):
    with pytest.raises(ConversionError):
        Runs(given)


# Sources that are no boxes.

A = tw.jagged([[1, 2], [3], [], [4, 5, 6]])
D = tw.jagged([[[1, 2], [3]], [], [[], [4, 5, 6]]])
T = tw.tensor.from_buffer(np.arange(20), tw.Shape.tiled([1, 3], [2, 2, 1]))
TRI = tw.tensor.from_buffer(np.arange(10), tw.Shape.triangular(4))
MASK = tw.jagged([[True, False], [True], [], [False, True, True]])
POSITIONS = tw.jagged([[-1], [0, 0], [], []])

# name: tensor, view, bytes that are read
ROWS = {
    "all": (A, lambda v: v, 48),
    "rows": (A, lambda v: v[3:0:-2], 32),
    "no rows": (A, lambda v: v[2:2], 0),
    "reversed inside": (A, lambda v: v[:, ::-1], 48),
    "first": (A, lambda v: v[:, :1], 24),
    "tails' firsts": (A, lambda v: v[:, -2:][:, :1], 24),
    "an element": (A, lambda v: v[3, -1], 8),
    "rows again": (A, lambda v: v[[3, 3, -1]], 24),
    "mask of rows": (A, lambda v: v[[True, False, True, True]], 40),
    "mask": (A, lambda v: v[MASK], 32),
    "positions": (A, lambda v: v[POSITIONS], 16),
    "flat": (A, lambda v: v.flatten()[1:4], 24),
    "joined": (A, lambda v: sel.concat([v, v[::-1]]), 48),
    "joined inside": (A, lambda v: sel.concat([v, v[:, ::-1]], mode=1)[:, 1:-1], 24),
    "padded": (A, lambda v: sel.pad_rows(v, 2)[:, :2], 40),
    "cast": (A, lambda v: v[:1].astype("f8"), 16),
    "least": (A, lambda v: sel.minimum(v, v), 48),
    "rotated": (A, lambda v: v.rotate((1, 0)), 48),
    "deep": (D, lambda v: v[:, :, 1:], 24),
    "deep row": (D, lambda v: v[2, 1], 24),
    "tile row": (T, lambda v: v[0:1], 40),
    "tile column": (T, lambda v: v[:, 1:2], 64),
    "a tile": (T, lambda v: v[1, 2], 24),
    "inside tiles": (T, lambda v: v[:, :, :1], 80),
    "triangle": (TRI, lambda v: v[1:3], 40),
    "column": (TRI, lambda v: v[:, 0], 32),
}


@pytest.mark.parametrize("source", [CountingSource, SlowSource])
@pytest.mark.parametrize("name", ROWS)
def test_a_source_of_rows_is_read_once_and_only_what_is_wanted(source, name):
    tensor, make, nbytes = ROWS[name]
    away = source(tensor)
    view = make(sel.as_view(away))
    assert (view.plan().bytes_read, away.calls) == (nbytes, 0)
    found, expected = view.compute(), make(sel.as_view(tensor)).compute()
    assert found.shape == expected.shape
    assert found.tolist() == expected.tolist()
    assert (away.nbytes, away.calls) == (nbytes, int(nbytes > 0))


def test_rows_keep_their_origin_and_lead_back_to_it():
    tensor = tw.tensor.from_buffer(np.array([1, 2, 3]), tw.Shape.jagged([2, 0, 1], origin=(5, -1)))
    view = sel.as_view(CountingSource(tensor))
    assert view.shape == tensor.shape
    assert view.tolist() == tensor.tolist()
    (group,) = view.route_many([(7, -1), (5, 0)])
    assert group.indices.tolist() == [[7, -1], [5, 0]]
    assert group.read().tolist() == [3, 2]
    assert view[2:].route((0, 0)).index == (7, -1)


def test_rows_are_written_by_name():
    source = CountingSource(A)
    view = sel.as_view(source)[1:].flatten()[::-1]
    read = sel.from_json(sel.to_json(view), sources={"0": source})
    assert read.tolist() == [6, 5, 4, 3]


def test_several_sources_of_rows_are_one_view():
    sources = [CountingSource(A) for _ in range(100)]
    view = sel.concat(sources)[7:9]
    assert view.compute().tolist() == [[4, 5, 6], [1, 2]]
    assert [source.calls for source in sources] == [0, 1, 1] + [0] * 97


# Points of boxes.

X = np.arange(240.0).reshape(12, 20)


@pytest.mark.parametrize("abilities", [(), ("runs",)])
def test_ten_thousand_points_are_one_request(abilities):
    rng = np.random.default_rng(0)
    array = np.arange(300 * 400, dtype="f4").reshape(300, 400)
    source = CountingSource(array, abilities=abilities)
    rows, columns = rng.integers(0, 300, 10_000), rng.integers(0, 400, 10_000)
    view = sel.as_view(source).vindex[rows, columns]
    plan = view.plan()
    distinct = len({*zip(rows.tolist(), columns.tolist(), strict=True)})
    assert plan.bytes_read == 4 * distinct
    (wanted,) = plan.reads[0].selections
    assert wanted.nbytes <= 16 * distinct
    np.testing.assert_array_equal(np.asarray(view.compute()), array[rows, columns])
    assert source.calls == 1
    assert source.nbytes <= 1.05 * 4 * distinct


@pytest.mark.parametrize("abilities", [(), ("runs",)])
def test_points_with_whole_modes_beside_them_are_runs(abilities):
    array = np.arange(40 * 50 * 6).reshape(40, 50, 6)
    source = CountingSource(array, abilities=abilities)
    rows, columns = [3, 39, 7, 3], [49, 0, 20, 48]
    view = sel.as_view(source).vindex[rows, columns]
    (wanted,) = view.plan().reads[0].selections
    assert (wanted.size, len(wanted.starts)) == (24, 3)
    np.testing.assert_array_equal(np.asarray(view.compute()), array[rows, columns])
    assert source.nbytes == 24 * 8


def test_a_box_of_points_stays_a_box():
    source = CountingSource(X, abilities=("runs",))
    assert sel.as_view(source)[2:5, ::3].plan().reads[0].selections == (
        Outer([range(2, 5), range(0, 20, 3)]),
    )


@given(st.integers(0, 2**61), st.integers(0, 40), st.integers(1, 2**50), st.integers(0, 9))
def test_evenly_spaced_runs_are_those_of_their_arrays(first, count, step, length):
    starts = range(first, first + count * step, step)
    if count > 1 and length > step:
        with pytest.raises(OutOfBoundsError, match="no element twice"):
            Runs.evenly(starts, length)
        return
    runs, arrays = Runs.evenly(starts, length), Runs(np.array(starts, np.int64), length)
    seen = runs.count, runs.size, runs.stop, runs.nbytes, runs.extents, repr(runs)
    assert seen == (
        len(arrays.starts),
        arrays.size,
        int(arrays.ends[-1]) if arrays.size else 0,
        arrays.nbytes,
        arrays.extents,
        repr(arrays),
    )
    assert runs == arrays
    assert hash(runs) == hash(arrays)
    assert pickle.loads(pickle.dumps(runs)) == arrays
    assert runs.numbers().tolist() == arrays.numbers().tolist()
    assert not runs.starts.flags.writeable


def test_evenly_spaced_runs_take_no_memory_until_somebody_wants_their_arrays():
    tracemalloc.start()
    try:
        runs = Runs.evenly(range(0, 2**40, 4), 3)
        assert (runs.count, runs.size, runs.stop) == (2**38, 3 * 2**38, 2**40 - 1)
        assert runs.nbytes == 8 * 2**38 + 8
        assert tracemalloc.get_traced_memory()[1] < 2**16
    finally:
        tracemalloc.stop()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        runs.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("starts", "length"), [(range(-1, 4), 1), (range(3), -1), (range(2**63 - 2, 2**63 + 2, 2), 1)]
)
def test_evenly_spaced_runs_that_leave_the_numbers_are_refused(starts, length):
    with pytest.raises(OutOfBoundsError, match="start at 0 or more"):
        Runs.evenly(starts, length)
