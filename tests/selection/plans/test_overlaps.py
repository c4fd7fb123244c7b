"""Selections of one source that share elements are one: each element is read once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.plans._reads import without_overlaps
from tests.support.selection.counting_source import CountingSource

X = np.arange(240.0).reshape(12, 20)


def check(source, view, expected, nbytes):
    plan = view.plan()
    assert plan.bytes_read == nbytes
    np.testing.assert_array_equal(np.asarray(view), expected)
    assert source.nbytes == nbytes
    assert source.calls == (1 if nbytes else 0)


def test_overlapping_steps_are_read_once():
    source = CountingSource(np.arange(1000))
    v = sel.as_view(source)
    expected = np.concatenate([source.array[::2], source.array[::4]])
    check(source, tw.concat([v[::2], v[::4]]), expected, 4000)


@pytest.mark.parametrize("abilities", [("runs",), ()])
@pytest.mark.parametrize(
    ("keys", "count"),
    [
        ([np.s_[0:12:2, 0:6], np.s_[1:12:2, 0:6]], 72),
        ([np.s_[0:12:2], np.s_[0:12:3]], 160),
        ([np.s_[:, ::2], np.s_[:, 1::2]], 240),
        ([np.s_[:6:2, ::5], np.s_[4::2, ::5]], 24),
        ([np.s_[0:8:3, 0:10:3], np.s_[0:8:2, 0:10:2]], 12 + 20 - 4),
        ([np.s_[3, ::3], np.s_[::3, 3]], 7 + 4 - 1),
    ],
)
def test_boxes_that_overlap_read_their_union(keys, count, abilities):
    source = CountingSource(X, abilities=abilities)
    v = sel.as_view(source)
    flat = [v[as_key(key)].reshape((-1,)) for key in keys]
    expected = np.concatenate([X[as_key(key)].reshape(-1) for key in keys])
    check(source, sel.concat(flat), expected, 8 * count)


def as_key(key):
    return key if isinstance(key, tuple) else (key,)


def test_a_box_among_rows_is_asked_for_once():
    source = CountingSource(np.arange(12).reshape(3, 4))
    x = sel.as_view(source)
    view = sel.concat([x, tw.jagged([[7], [], [8, 9, 10]]), x[:, 1:], x[::2]])
    assert sum(own.nbytes for own in view.plan().reads if own.source is source) == 96
    assert view[2:6].compute().tolist() == [[8, 9, 10, 11], [7], [], [8, 9, 10]]
    assert view.compute().tolist()[6:] == [[1, 2, 3], [5, 6, 7], [9, 10, 11], [0, 1, 2, 3], [8, 9, 10, 11]]
    assert source.nbytes == 32 + 96


def test_a_source_for_which_it_costs_more_is_asked_as_before():
    class Even(CountingSource):
        def cost(self, selection):
            modes = getattr(selection, "modes", ())
            return selection.size * 8 * (1 if all(isinstance(mode, range) for mode in modes) else 9)

    source = Even(np.arange(100))
    v = sel.as_view(source)
    view = sel.concat([v[::7], v[::11]])
    assert view.plan().bytes_read == 8 * (15 + 10)
    np.testing.assert_array_equal(np.asarray(view), [*range(0, 100, 7), *range(0, 100, 11)])
    assert source.nbytes == 8 * (15 + 10)


@given(
    st.lists(
        st.tuples(*[st.tuples(st.integers(0, 11), st.integers(1, 12), st.integers(1, 4)) for _ in range(2)]),
        min_size=1,
        max_size=7,
    ),
    st.booleans(),
)
def test_any_boxes_read_their_union(boxes, knows_runs):
    keys = [tuple(slice(a, a + n, s) for a, n, s in box) for box in boxes]
    source = CountingSource(X, abilities=("runs",) if knows_runs else ())
    v = sel.as_view(source)
    view = sel.concat([v[key].reshape((-1,)) for key in keys])
    needed = np.zeros(X.shape, dtype=bool)
    for key in keys:
        needed[key] = True
    expected = np.concatenate([X[key].reshape(-1) for key in keys])
    np.testing.assert_array_equal(np.asarray(view), expected)
    assert source.nbytes == view.plan().bytes_read
    # The box around two costs no more than they do, and may have what neither has.
    assert needed.sum() * 8 <= source.nbytes <= sum([X[key].nbytes for key in set_of(keys)])


def set_of(keys):
    distinct = {tuple(own.indices(n) for own, n in zip(key, X.shape, strict=True)): key for key in keys}
    return distinct.values()


def test_many_selections_that_share_nothing_stay_as_they_are():
    source = CountingSource(np.arange(3000))
    v = sel.as_view(source)
    view = sel.concat([v[k : k + 20 : 2] for k in range(0, 3000, 30)])
    (read,) = view.plan().reads
    assert len(read.selections) == 100
    groups = [(own, []) for own in read.selections]
    assert [id(own) for own, _ in without_overlaps(source, groups)] == [id(own) for own, _ in groups]


def test_many_rows_that_overlap_are_runs():
    rows = tw.jagged([list(range(k % 5)) for k in range(200)])
    source = CountingSource(rows)
    v = sel.as_view(source)
    view = sel.concat([v[k : k + 3, ::2] for k in range(197)])
    sizes = [-(-(k % 5) // 2) for k in range(199)]
    assert view.plan().bytes_read == 8 * sum(sizes)
    assert view.compute().tolist() == [row[::2] for k in range(197) for row in rows.tolist()[k : k + 3]]
    assert source.nbytes == 8 * sum(sizes)


def test_a_mask_that_is_elsewhere_is_no_key():
    source = CountingSource(np.arange(12).reshape(3, 4) % 2 == 0)
    x = sel.as_view(np.arange(12).reshape(3, 4))
    for where in (x, x.vindex):
        with pytest.raises(tw.errors.ConversionError, match="compute"):
            where[sel.as_view(source)]
    row = sel.as_view(source)[0]
    with pytest.raises(tw.errors.ConversionError, match="compute"):
        x.oindex[:, row]
    assert source.calls == 0
    assert x[sel.as_view(source.array)].tolist() == list(range(0, 12, 2))


def test_a_mask_in_memory_is_not_counted():
    mask = sel.as_view(np.arange(6) % 2 == 0)
    assert sel.where(mask, np.arange(6), -1).plan().bytes_read == 24
    assert sel.where(mask, mask, True).plan().bytes_read == 3
