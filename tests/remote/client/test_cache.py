"""What was read is not asked again, as far as the cache reaches, and never of another version."""

import threading

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ExtentError, VersionChangedError
from tensorwrapper.remote.client._cache import Cache
from tensorwrapper.remote.protocol._events import AskRead, Elements
from tensorwrapper.selection import Outer, Runs

X = np.arange(10_000.0).reshape(100, 100)


def ask(*selections, version="1", name="x", dtype=None):
    return AskRead(name, version, dtype, selections)


def answer(count):
    return Elements("1", (memoryview(bytes(count)),))


def test_an_answer_is_found_by_all_that_says_what_it_is():
    cache, kept = Cache(2**20), answer(10)
    cache.keep(ask(Outer([range(3), [1, 4]]), Runs([1, 5])), kept)

    assert cache.find(ask(Outer([range(3), [1, 4]]), Runs([1, 5]))) is kept
    for other in (
        ask(Outer([range(3), [1, 5]]), Runs([1, 5])),
        ask(Outer([range(0, 6, 2), [1, 4]]), Runs([1, 5])),
        ask(Outer([range(3), [1, 4]]), Runs([1, 5], [1, 2])),
        ask(Outer([range(3), [1, 4]]), Runs([1, 5]), version="2"),
        ask(Outer([range(3), [1, 4]]), Runs([1, 5]), name="y"),
        ask(Outer([range(3), [1, 4]]), Runs([1, 5]), dtype="<f4"),
        ask(Outer([range(3), [1, 4]])),
    ):
        assert cache.find(other) is None


def test_it_keeps_so_many_bytes_and_forgets_what_was_not_used():
    cache = Cache(8000)
    for number in range(10):
        cache.keep(ask(Runs(number, 1)), answer(1000))
        cache.find(ask(Runs(0, 1)))
        assert cache.nbytes <= 8000
    assert cache.find(ask(Runs(0, 1))) is not None
    assert cache.find(ask(Runs(1, 1))) is None
    assert cache.find(ask(Runs(9, 1))) is not None
    before = cache.nbytes
    cache.keep(ask(Runs(9, 1)), answer(1000))
    cache.keep(ask(Runs(99, 1)), answer(5000))
    assert cache.nbytes == before
    assert cache.find(ask(Runs(99, 1))) is None
    none = Cache(0)
    none.keep(ask(Runs(0, 1)), answer(0))
    assert none.find(ask(Runs(0, 1))) is None


def test_what_was_read_is_not_read_again():
    with tw.serve({"x": X.copy()}, writable=True) as server:
        with tw.connect(server.address, cache_bytes=2**20) as remote:
            there = remote["x"]
            for _ in range(3):
                assert np.array_equal(there[3:5, ::7].compute(), X[3:5, ::7])
            assert remote.counters.messages_sent == 3
            found = []
            thread = threading.Thread(target=lambda: found.append(there[3:5, ::7].compute().tolist()))
            thread.start()
            thread.join()
            assert found == [X[3:5, ::7].tolist()]
            old = there[3:5, ::7]
            there[3, 0] = -1
            assert there[3:5, ::7].compute()[0, 0].item() == -1
            assert np.array_equal(old.compute(), X[3:5, ::7])
            with pytest.raises(VersionChangedError):
                old[0, :2].compute()
        with tw.connect(server.address) as remote:
            there = remote["x"]
            there[3].compute(), there[3].compute()
            assert remote.counters.messages_sent == 4
        with pytest.raises(ExtentError):
            tw.connect(server.address, cache_bytes=-1)
