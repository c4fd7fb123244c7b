"""Reads of sources elsewhere: one each, straight into the result where possible, spread as they come."""

import threading

import numpy as np
import pytest

from tensorwrapper import selection as sel
from tensorwrapper.errors import ComputationCancelledError, ConversionError
from tests.support.selection.counting_source import CountingSource, SlowSource

X = np.arange(240.0).reshape(12, 20)


class Watched(CountingSource):
    """Keeps the arrays that were read into."""

    def start(self, selections, out):
        self.targets = list(out)
        return super().start(selections, out)


@pytest.mark.parametrize(
    "view",
    [
        lambda v: v,
        lambda v: v.permute((1, 0)),
        lambda v: v[::-1, ::2],
        lambda v: v[3],
        lambda v: v[:, 4].unsqueeze(0),
        lambda v: v.reshape((3, 4, 20))[1],
    ],
    ids=["whole", "permuted", "reversed", "chip", "new mode", "part"],
)
def test_what_keeps_its_elements_is_read_straight_into_the_result(view):
    source = Watched(X)
    out = np.zeros(view(sel.as_view(X)).shape.extents)
    view(sel.as_view(source)).compute(out)
    assert np.shares_memory(source.targets[0], out)
    np.testing.assert_array_equal(out, np.asarray(view(sel.as_view(X))))


@pytest.mark.parametrize(
    "view",
    [
        lambda v: v.rotate((1, 0)),
        lambda v: v[:1].broadcast((4, 20)),
        lambda v: v.gather(0, [2, 1]).gather(1, [3, 0, 5]),
        lambda v: v.reshape((3, 4, 20)),
    ],
    ids=["rotated", "repeated", "reordered", "split"],
)
def test_what_is_spread_is_read_into_memory_in_between(view):
    source = Watched(X)
    out = np.zeros(view(sel.as_view(X)).shape.extents)
    view(sel.as_view(source)).compute(out)
    np.testing.assert_array_equal(out, np.asarray(view(sel.as_view(X))))
    if len(source.targets) == 1:
        assert not np.shares_memory(source.targets[0], out)


def test_parts_of_several_sources_go_to_their_places_of_one_result():
    sources = [Watched(X), Watched(X + 1000), Watched(X + 2000)]
    out = np.zeros((36, 20))
    sel.interleave(sources).compute(out)
    for number, source in enumerate(sources):
        assert source.targets[0].base is not None
        np.testing.assert_array_equal(out[number::3], source.array)
        assert np.shares_memory(source.targets[0], out)


def test_a_result_of_another_type_is_not_read_into():
    source = Watched(X)
    out = np.zeros((12, 20), "f4")
    sel.as_view(source).compute(out)
    np.testing.assert_array_equal(out, X.astype("f4"))
    assert source.targets[0].dtype == np.float64


def test_late_parts_are_awaited_from_several_sources():
    sources = [SlowSource(X + k) for k in range(3)]
    for source in sources:
        source.gate.clear()
    timer = threading.Timer(0.02, lambda: [source.gate.set() for source in sources[::-1]])
    timer.start()
    view = sel.concat([sources[0], sources[1], sources[2], sources[0]], mode=1)
    expected = np.concatenate([X, X + 1, X + 2, X], 1)
    np.testing.assert_array_equal(np.asarray(view), expected)
    timer.join()


def test_a_cancelled_computation_cancels_the_reads_and_keeps_what_was_written():
    slow, out = SlowSource(X), np.zeros((24, 20))
    slow.gate.clear()
    view = sel.concat([X, slow])
    cancel = threading.Event()
    with pytest.raises(ComputationCancelledError, match="1920 of 3840 bytes"):
        view.compute(out, cancel=cancel, progress=lambda _done, _total: cancel.set())
    assert slow.handles[0].stop.is_set()
    np.testing.assert_array_equal(out[:12], X)
    assert not out[12:].any()


def test_a_computation_that_is_cancelled_before_it_starts_reads_nothing():
    source, cancel = CountingSource(X), threading.Event()
    cancel.set()
    with pytest.raises(ComputationCancelledError):
        sel.as_view(source).compute(cancel=cancel)
    assert source.calls == 0


def test_progress_counts_what_arrives():
    seen = []
    source = CountingSource(X)
    view = sel.concat([X, source, source])
    view.compute(progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1920, 5760), (3840, 5760), (5760, 5760)]


class Broken(CountingSource):
    def start(self, *_):
        raise OSError("the line is dead")


def test_an_error_of_one_source_cancels_the_others():
    slow = SlowSource(X)
    slow.gate.clear()
    with pytest.raises(OSError, match="the line is dead"):
        sel.concat([slow, Broken(X)]).compute()
    assert slow.handles[0].stop.is_set()


class Short(CountingSource):
    def start(self, selections, out):
        handle = super().start(selections, out)
        handle.numbers = handle.numbers[1:]
        return handle


def test_a_source_that_delivers_less_than_was_asked_is_an_error():
    with pytest.raises(ConversionError, match="1 selections have not arrived"):
        sel.as_view(Short(X)).compute()


class Twice(CountingSource):
    def start(self, selections, out):
        handle = super().start(selections, out)
        handle.numbers = [0, 0]
        return handle


def test_a_source_that_delivers_twice_is_an_error():
    with pytest.raises(ConversionError, match="selection 0 arrived twice"):
        sel.as_view(Twice(X)).compute()
