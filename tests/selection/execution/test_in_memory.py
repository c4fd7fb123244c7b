"""Rows of what is in memory are written block by block, with no table of their elements."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.execution._write_in_memory import is_in_memory
from tensorwrapper.selection.jagged._flatten import in_order
from tests.selection.expressions.test_unary import calls_counted
from tests.support.selection.counting_source import CountingSource

ROWS = 300_000
SPLITS = np.arange(ROWS + 1) // 2 * 8  # Every other row is empty.
ALTERNATING = tw.from_buffer(np.arange(int(SPLITS[-1])) * 1.0, tw.Shape.from_offsets(SPLITS))
MIB = 2**20


def peak_of(view):
    """Return the bytes that computing a view takes beside its elements."""
    view[:1].compute()  # What is loaded on first use is no part of it.
    tracemalloc.start()
    result = view.compute()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most - result.nbytes


ONE_EACH = np.arange(float(ROWS))
WRITTEN = {
    "pad_rows": lambda v: v.pad_rows(8),
    "clipped": lambda v: v.pad_rows(3, clip=True),
    "concat": lambda v: sel.concat([v, v], mode=1),
    "stack": lambda v: sel.stack([v, v], mode=1),
    "interleave": lambda v: sel.interleave([v, v]),
    "minimum": lambda v: sel.minimum(v, ONE_EACH),
    "broadcast": lambda v: sel.as_view(ONE_EACH).broadcast(v.shape),
    "where": lambda v: sel.where(sel.as_view(v.copy() > 5)[::-1], v[::-1], 0.0),
}


@pytest.mark.parametrize("make", WRITTEN.values(), ids=WRITTEN)
def test_many_short_rows_take_no_table_of_their_elements(make):
    view = make(sel.as_view(ALTERNATING))
    view.shape  # noqa: B018 - its splits, and the pieces, are the view's own
    assert is_in_memory(in_order(view._expression))
    splits = 0 if view.shape.is_box else 8 * (view.shape.extent(0) + 1)
    assert peak_of(view) < splits + 6 * MIB


KEYS = {
    "turned": np.s_[::-1],
    "every other row": np.s_[::2],
    "each backwards": np.s_[:, ::-1],
    "the first of each": np.s_[:, :1],
    "but the first of each": np.s_[::-1, 1:],
    "from anywhere": np.arange(0, 2 * ROWS, 2),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_selected_rows_take_their_splits_and_where_they_begin(key):
    joined = sel.concat([ALTERNATING, ALTERNATING])
    joined.shape  # noqa: B018 - what is selected from was there before
    tracemalloc.start()
    view = joined[key]
    held, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    count = view.shape.extent(0) + 1
    assert held < 17 * count + MIB
    assert most < held + 17 * count * isinstance(key, np.ndarray) + 3 * MIB
    if not isinstance(key, np.ndarray | tuple):
        assert held < 8 * count + MIB // 4, "where rows begin is what the shape has already"
    assert peak_of(view) < 8 * count + 6 * MIB
    np.testing.assert_array_equal(view.compute().elements(), joined.compute()[key].elements())


@pytest.mark.parametrize("make", WRITTEN.values(), ids=WRITTEN)
def test_both_ways_give_the_same(make, monkeypatch):
    some = tw.jagged([[3.0, 9.0], [], [7.0], [1.0, 2.0, 4.0]] * 50)
    monkeypatch.setitem(globals(), "ONE_EACH", np.arange(200.0))
    view = make(sel.as_view(some))
    normal = view.normal_form()
    found = view.compute()
    assert found.elements().tolist() == view._make(normal).elements().tolist()
    assert found.shape == view.shape


def test_what_is_elsewhere_is_left_to_the_plan():
    source = CountingSource(tw.jagged([[3.0, 9.0], [], [7.0]]))
    view = sel.as_view(source).pad_rows(2)
    assert not is_in_memory(in_order(view._expression))
    assert view.compute().tolist() == [[3, 9], [0, 0], [7, 0]]


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=1, max_size=12), st.data())
def test_windows_of_what_is_put_together_are_those_of_lists(rows, data):
    tensor = tw.jagged(rows, dtype="i8")
    v = sel.as_view(tensor)
    made = data.draw(
        st.sampled_from(
            [
                (
                    sel.concat([v, v[::-1], v], mode=1),
                    [r + s + r for r, s in zip(rows, rows[::-1], strict=True)],
                ),
                (sel.concat([v, v[::-1], v]), rows + rows[::-1] + rows),
                (sel.interleave([v, v]), [r for r in rows for _ in range(2)]),
                (v.pad_rows(3, fill_value=7), [r + [7] * (3 - len(r)) for r in rows]),
                (sel.maximum(v, 4), [[max(x, 4) for x in r] for r in rows]),
                (v.astype("f4")[::-1], rows[::-1]),
            ]
        )
    )
    view, lists = made
    low = data.draw(st.integers(0, len(lists)))
    high = data.draw(st.integers(low, len(lists)))
    assert view[low:high].compute().tolist() == lists[low:high]
    assert view[low:high, ::-1].compute().tolist() == [row[::-1] for row in lists[low:high]]
    assert sel.concat([view[low:high], view]).compute().tolist() == lists[low:high] + lists


def test_a_slice_of_many_parts_looks_at_those_that_it_meets():
    counts = []
    for parts in (500, 2000):
        view = sel.concat([tw.jagged([[k], [k, k]]) for k in range(parts)])
        view[:1].compute()
        with calls_counted() as calls:
            assert view[801:804].compute().tolist() == [[400, 400], [401], [401, 401]]
        counts.append(calls[0])
    assert counts[1] < counts[0] * 1.1


def test_what_is_used_by_several_is_made_by_the_normal_form():
    v = sel.as_view(tw.jagged([[1, 5], [], [3]]))
    both = sel.maximum(v, 2)
    view = sel.concat([both, both[::-1]])
    assert not is_in_memory(in_order(view._expression))
    assert view.compute().tolist() == [[2, 5], [], [3], [3], [], [2, 5]]


def test_progress_and_cancel_are_heard():
    done = []
    view = sel.concat([ALTERNATING, ALTERNATING], mode=1)
    view.compute(progress=lambda some, _: done.append(some))
    assert done[-1] == view.nbytes

    class Stop:
        def is_set(self):
            return True

    with pytest.raises(tw.errors.ComputationCancelledError):
        view.compute(cancel=Stop())


@pytest.mark.parametrize("width", [1, 4])
def test_positions_are_held_once_as_steps_and_as_places(width):
    lines = np.arange(float(ROWS * width)).reshape(-1, width) if width > 1 else np.arange(float(ROWS))
    joined = sel.concat([lines, lines])
    key = np.random.default_rng(0).integers(0, 2 * ROWS, ROWS)
    joined[key[:100]].compute()
    tracemalloc.start()
    view = joined[key]
    held, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < key.nbytes + MIB // 4
    assert most < key.nbytes + MIB // 4
    assert peak_of(view) < 16 * MIB
    np.testing.assert_array_equal(view.compute(), np.concatenate([lines, lines])[key])


def test_points_of_two_modes_take_three_arrays_of_their_number_on_the_way():
    box = np.arange(float(ROWS)).reshape(-1, 100)
    view = sel.concat([box, box])
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, len(box), ROWS), rng.integers(0, 100, ROWS)
    view[i[:9], j[:9]].compute()
    tracemalloc.start()
    points = view[i, j]
    held, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < i.nbytes + MIB // 4
    assert most < 3 * i.nbytes + MIB // 2
    np.testing.assert_array_equal(points.compute(), box[i, j])
