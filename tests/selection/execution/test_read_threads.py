"""Sources that any thread may read are read beside one another, and beside steps that need none of them."""

import threading
import time

import numpy as np
import pytest

from tensorwrapper import selection as sel
from tensorwrapper.errors import ComputationCancelledError
from tests.support.selection.counting_source import CountingSource

X = np.arange(40_000.0).reshape(200, 200)
ABLE = ("runs", "threads")


class Meeting(CountingSource):
    """A source that delivers when as many threads as the barrier says are reading."""

    barrier = None
    error = None

    def deliver(self, selection, target):
        if self.barrier is not None:
            self.barrier.wait(10)
        if self.error is not None:
            raise self.error
        super().deliver(selection, target)


def test_sources_are_read_at_the_same_time():
    barrier = threading.Barrier(3)
    sources = [Meeting(X + k, abilities=ABLE) for k in range(3)]
    for source in sources:
        source.barrier = barrier
    found = sel.concat(sources).compute()
    np.testing.assert_array_equal(found, np.concatenate([X, X + 1, X + 2]))


def test_local_steps_are_written_meanwhile():
    source, written = Meeting(X, abilities=ABLE), threading.Event()
    source.deliver = lambda selection, target: (
        written.wait(10),
        CountingSource.deliver(source, selection, target),
    )
    done = []

    def progress(count, _):
        done.append(count)
        written.set()

    found = sel.concat([source, X]).compute(progress=progress)
    np.testing.assert_array_equal(found, np.concatenate([X, X]))
    assert done == [X.nbytes, 2 * X.nbytes]


def test_an_error_in_a_thread_is_raised():
    source = Meeting(X, abilities=ABLE)
    source.error = OSError("the line is dead")
    with pytest.raises(OSError, match="the line is dead"):
        sel.concat([source, X]).compute()
    assert not [thread for thread in threading.enumerate() if thread.name == "tensorwrapper-read"]


def test_cancelled_reads_write_no_more():
    cancel = threading.Event()
    source, slow = Meeting(X, abilities=ABLE), Meeting(X, abilities=ABLE)

    def deliver(selection, target):
        cancel.set()
        time.sleep(0.05)
        CountingSource.deliver(slow, selection, target)

    slow.deliver = deliver
    with pytest.raises(ComputationCancelledError):
        sel.concat([source, slow, source]).compute(cancel=cancel)
    assert not [thread for thread in threading.enumerate() if thread.name == "tensorwrapper-read"]


def test_others_are_read_by_the_thread_that_computes():
    seen = []

    class Own(CountingSource):
        def deliver(self, selection, target):
            seen.append(threading.current_thread())
            super().deliver(selection, target)

    sel.concat([Own(X), Own(X), X]).compute()
    assert {*seen} == {threading.current_thread()}
