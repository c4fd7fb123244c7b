"""A snapshot is all that was served at one moment, and stays that."""

import threading
import time

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    RequestRefusedError,
    TensorNameError,
    VersionChangedError,
)
from tensorwrapper.remote import ServeLimits


@pytest.fixture
def server():
    with tw.serve({"x": np.zeros(4), "rows": tw.jagged([[1], [2, 3]])}, writable=True, threads=2) as found:
        yield found


@pytest.fixture
def remote(server):
    with tw.connect(server.address) as found:
        yield found


def test_what_is_replaced_or_removed_is_there_still(server, remote):
    with remote.snapshot() as then:
        server.replace("x", np.ones(7))
        server.remove("rows")
        server.replace("new", [1])

        assert sorted(then) == ["rows", "x"]
        assert len(then) == 2
        assert "new" not in then
        assert then["x"].tolist() == [0] * 4
        assert then["rows"][1].tolist() == [2, 3]
        assert remote["x"].tolist() == [1] * 7
        with pytest.raises(TensorNameError):
            then["new"]
        kept = then["x"]
    with pytest.raises(VersionChangedError):
        kept.tolist()
    with pytest.raises(ConversionError, match="closed"):
        then["x"]
    then.close()
    assert then.closed


def test_what_is_edited_in_place_is_not_kept_and_says_so(remote):
    with remote.snapshot() as then:
        view = then["x"][1:]
        remote["x"][0] = 5
        with pytest.raises(VersionChangedError):
            view.compute()
        with pytest.raises(VersionChangedError, match="edited"):
            then["x"]
        assert "x" in then
        assert then["rows"].tolist() == [[1], [2, 3]]


def test_tensors_of_a_snapshot_are_of_one_moment(server, remote):
    stop = threading.Event()

    def change():
        number = 0
        # A thread that never rests may keep Python's lock from all others.
        while not stop.wait(0.0005):
            number += 1
            server.replace("x", np.full(50, number))

    writer = threading.Thread(target=change)
    writer.start()
    try:
        for _ in range(40):
            with remote.snapshot() as then:
                first, second = then["x"], then["x"]
                assert first.version == second.version
                values = np.asarray(first.compute())
                assert np.array_equal(values, second.compute())
                assert len(np.unique(values)) == 1
    finally:
        stop.set()
        writer.join()


def test_a_server_says_how_it_is(remote):
    health = remote.health()
    assert health["draining"] == health["waiting"] == 0
    assert health["tensors"] == 2
    assert health["threads"] == 2


def test_health_is_answered_while_all_threads_are_busy():
    release, running = threading.Event(), threading.Event()

    class Slow:
        shape, dtype, version = tw.Shape(4), np.dtype("f8"), ""

        def read(self, _selections, out):
            running.set()
            release.wait(20)
            self.count = len(out)
            return self

        def completed(self):
            return iter(range(self.count))

        def cancel(self):
            pass

        def cost(self, selection):
            return selection.size * 8

    with tw.serve({"slow": Slow()}) as server, tw.connect(server.address) as remote:
        readers = []

        def read():
            with tw.connect(server.address) as own:
                own["slow"].compute()

        for _ in range(4):
            readers.append(threading.Thread(target=read))
            readers[-1].start()
        try:
            assert running.wait(10)
            until = time.monotonic() + 10
            # A read that is long leaves its place, so how many of the four run is not said.
            while (health := remote.health())["running"] + health["waiting"] < 4 and time.monotonic() < until:
                pass
            assert health["running"] + health["waiting"] == 4
            assert health["running"] >= 2
        finally:
            release.set()
            for thread in readers:
                thread.join()


def test_one_client_leaves_snapshots_to_others():
    with (
        tw.serve({"x": [1, 2]}, limits=ServeLimits(client_snapshots=2)) as server,
        tw.connect(server.address) as greedy,
        tw.connect(server.address) as other,
    ):
        kept = [greedy.snapshot() for _ in range(2)]
        with pytest.raises(RequestRefusedError, match=r"already has 2 snapshots.*the server's"):
            greedy.snapshot()
        with other.snapshot() as then:
            assert then["x"].tolist() == [1, 2]
        for own in kept:
            own.close()
        greedy.snapshot().close()


@pytest.mark.parametrize("name", ["\ud800", "x\udfff", "x" * 1025, "", "\n"])
def test_names_that_no_request_can_say_are_those_of_no_tensor(name):
    """Halves of characters ended with an error of Unicode, and each request after them, too."""
    with tw.serve({"x": [1, 2]}) as server, tw.connect(server.address) as remote:
        with remote.snapshot() as then:
            assert name not in remote
            assert name not in then
        with pytest.raises(TensorNameError):
            remote[name]
        assert remote["x"].tolist() == [1, 2]
