"""Elements of what is served: of a tensor and of a view, copied out for each selection."""

import threading
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ComputationCancelledError, RequestRefusedError
from tensorwrapper.remote.served import _element_reader
from tensorwrapper.remote.served._element_reader import ElementReader
from tensorwrapper.selection import Outer, Runs

X = np.arange(12.0).reshape(3, 4)
BOX, RUNS = Outer([[0, 2], range(0, 4, 3)]), Runs([1, 6], [2, 3])


@pytest.mark.parametrize("source", [X, sel.concat([X[:1], X[1:]]), tw.as_tensor(X.T.copy()).permute((1, 0))])
def test_selections_are_copied_out(source):
    out = [np.empty(own.extents) for own in (BOX, RUNS)]
    face = ElementReader(source)
    face.check((BOX, RUNS), 8, 1000)
    face.copy_to((BOX, RUNS), out, None)

    assert out[0].tolist() == [[0, 3], [8, 11]]
    assert out[1].tolist() == [1, 2, 6, 7, 8]
    assert (face.tensor is None) == isinstance(source, sel.View)


def test_a_view_has_no_entries_and_is_not_written_to():
    face = ElementReader(sel.concat([X, X]))
    for refused in (face.stored, lambda: face.store((BOX,), [np.zeros((2, 2))])):
        with pytest.raises(RequestRefusedError):
            refused()


def test_what_is_stored_is_looked_up_again_after_an_edit():
    sparse = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4))
    face = ElementReader(sparse)
    counts, ordinals, values = face.stored_in((BOX, Runs(1, 9)), 9)
    assert (counts, ordinals.tolist(), values.tolist()) == ([1, 1], [11, 1], [7.0, 5.0])
    sparse[0, 1] = 6.0
    face.forget()
    assert face.stored()[1].tolist() == [6.0, 7.0]


def test_a_view_of_sparse_tensors_stores_what_it_has_and_follows_an_edit():
    sparse = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4))
    face = ElementReader(sel.as_view(sparse)[1:], kept=True)
    assert (face.stored()[0].tolist(), face.stored()[1].tolist()) == ([7], [7.0])
    assert not face.is_writable
    with pytest.raises(RequestRefusedError):
        face.store((Runs(0, 1),), [np.zeros(1)])
    sparse[2, 3] = 8.0
    face.forget()
    assert face.stored()[1].tolist() == [8.0]
    assert ElementReader(sel.as_view(sparse)[1:]).tensor is None


def test_views_of_strings_are_read():
    words = sel.as_view(tw.strings([["a", "b"], ["cc", ""]]))[::-1]
    out = np.empty(3, words.dtype)
    ElementReader(words).copy_to((Runs([0, 2], [1, 2]),), [out], None)
    assert out.tolist() == ["cc", "a", "b"]


POSITIONS = st.sets(st.integers(0, 5), max_size=6).map(sorted) | st.builds(
    range, st.integers(0, 3), st.integers(3, 6)
)


@given(
    x=st.lists(st.lists(st.integers(0, 1), min_size=6, max_size=6), min_size=6, max_size=6),
    turned=st.booleans(),
    modes=st.lists(st.tuples(POSITIONS, POSITIONS), max_size=2),
    runs=st.sets(st.integers(0, 36), max_size=6).map(sorted),
    at_a_time=st.sampled_from([1, 3, 2**16]),
)
def test_entries_within_selections_are_those_of_brute_force(x, turned, modes, runs, at_a_time):
    with mock.patch.object(_element_reader, "_SCANNED", at_a_time):
        _compare_entries(x, turned, modes, runs)


def _compare_entries(x, turned, modes, runs):
    array = np.array(x) * np.arange(1, 37).reshape(6, 6)
    sparse = tw.sparse(np.argwhere(array), array[array > 0], (6, 6))
    face = ElementReader(sparse.permute((1, 0)) if turned else sparse)
    array = array.T if turned else array
    pairs = list(zip(runs[::2], runs[1::2], strict=False))
    wanted = [
        *[Outer(own) for own in modes],
        Runs([start for start, _ in pairs], [stop - start for start, stop in pairs]),
        Runs(range(1, 36, 3), 2),
    ]
    numbers = [
        *[[i * 6 + j for i in rows for j in columns] for rows, columns in modes],
        [number for start, stop in pairs for number in range(start, stop)],
        [number for start in range(1, 36, 3) for number in (start, start + 1)],
    ]
    found = [[number for number in own if array.reshape(-1)[number]] for own in numbers]
    right = [number for own in found for number in own]

    counts, ordinals, values = face.stored_in(wanted, 1000)
    assert (counts, ordinals.tolist()) == ([*map(len, found)], right)
    assert values.tolist() == array.reshape(-1)[right].tolist()
    if right:
        with pytest.raises(RequestRefusedError):
            face.stored_in(wanted, len(right) - 1)


def test_entries_of_runs_are_looked_up_and_not_scanned(monkeypatch):
    face = ElementReader(tw.sparse(np.arange(0, 2000, 2)[:, None], np.ones(1000), (2000,)))
    monkeypatch.setattr(np, "flatnonzero", None)
    assert face.stored_in([Runs([0, 100], [10, 4])] * 512, 10_000)[0] == [7] * 512
    # Each of these has all entries: none is collected once they are too many.
    monkeypatch.setattr(np, "repeat", None)
    with pytest.raises(RequestRefusedError, match="too many"):
        face.stored_in([Runs(0, 2000)] * 512, 999)


def test_what_is_refused_of_many_entries_reads_few(monkeypatch):
    """A selection of all modes is one run; of others the entries are read until they are too many."""
    n = 10**5
    face = ElementReader(tw.sparse(np.stack([np.arange(n)] * 2, 1), np.ones(n), (2 * n, 2 * n)))
    read = []
    monkeypatch.setattr(_element_reader, "_SCANNED", 1000)
    within = _element_reader._within
    monkeypatch.setattr(_element_reader, "_within", lambda *given: read.append(1) or within(*given))
    for wanted in (Outer([range(2 * n)] * 2), Runs(0, 4 * n * n)):
        with pytest.raises(RequestRefusedError, match="too many"):
            face.stored_in([wanted], 5000)
    assert not read
    for wanted in (Outer([range(0, 2 * n, 2)] * 2), Runs(range(0, 4 * n * n, 2 * n + 1), 1)):
        read.clear()
        with pytest.raises(RequestRefusedError, match="too many"):
            face.stored_in([wanted], 5000)
        assert len(read) < 20
    stop = threading.Event()
    stop.set()
    with pytest.raises(ComputationCancelledError):
        face.stored_in([Outer([range(2 * n), range(7, 8)])], 5000, stop)
