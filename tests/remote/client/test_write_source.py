"""Assignments to tensors at a server."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    OutcomeUnknownError,
    ReadOnlyError,
    RequestRefusedError,
    SizeOverflowError,
    VersionChangedError,
)
from tensorwrapper.remote.client import _write_source
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.selection import Runs

SERVER = """
    import sys, time
    import numpy as np
    import tensorwrapper as tw

    with tw.serve({"x": np.zeros(4)}, sys.argv[1], writable=True) as server:
        print(server.address, flush=True)
        time.sleep(300)
"""


def start(address="tcp://127.0.0.1:*"):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVER), address], stdout=subprocess.PIPE, text=True
    )
    return process, process.stdout.readline().strip()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ((1, slice(None, None, 2)), 5),
        (([2, 0], slice(1, 3)), [[1, 2], [3, 4]]),
        ((slice(None, None, -1), 0), [1, 2, 3]),
        (np.arange(12).reshape(3, 4) % 5 == 0, 7),
        ((), 3),
    ],
)
def test_keys_write_as_they_do_to_an_array(key, value):
    x = np.arange(12.0).reshape(3, 4)
    expected = x.copy()
    expected[key] = value
    with tw.serve({"x": x}, writable=True) as server, tw.connect(server.address) as remote:
        there = remote["x"]
        old = there[0]
        there[key] = value

        assert np.array_equal(x, expected)
        assert np.array_equal(there.compute(), expected)
        assert there.version == remote["x"].version
        with pytest.raises(VersionChangedError):
            old.compute()


def test_rows_and_tiles_are_written_to():
    rows, tiles = (
        tw.jagged([[1, 2], [], [3, 4, 5]]),
        tw.as_tensor(np.zeros((4, 4))).tiled(tw.Tiling([1, 3], [2, 2])),
    )
    with (
        tw.serve({"rows": rows, "tiles": tiles}, writable=True) as server,
        tw.connect(server.address) as remote,
    ):
        there = remote["rows"]
        there[2, ::2] = [7, 8]
        remote["tiles"].assign((), 2.0)

        assert there.tolist() == rows.tolist() == [[1, 2], [], [7, 4, 8]]
        assert float(np.add.reduce(tiles, axis=None)) == 32


def test_strings_and_sparse_tensors_are_written_to():
    words = tw.strings(["one", "two", "three", "four"]).reshape((2, 2))
    sparse = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(5, 6))
    given = {"words": words, "sparse": sparse}
    with tw.serve(given, writable=True) as server, tw.connect(server.address) as remote:
        texts, there = remote["words"], remote["sparse"]
        texts[:, 1] = ["", "a longer text, \N{GREEK SMALL LETTER PI}"]
        assert texts.tolist() == words.tolist() == [["one", ""], ["three", "a longer text, π"]]
        assert there[2].compute().to_dense().tolist() == [0, 0, 0, 7, 0, 0]
        there[1:3, ::3] = [[1, 0], [2, 3]]
        there[0, 1] = 0
        dense = np.zeros((5, 6))
        dense[1:3, ::3] = [[1, 0], [2, 3]]
        assert sparse.to_dense().tolist() == dense.tolist()
        assert there.compute().to_dense().tolist() == remote["sparse"].compute().to_dense().tolist()
        assert there.compute().to_dense().tolist() == dense.tolist()


def test_one_string_is_written_and_a_null_where_it_has_a_place():
    words = tw.strings([["a", "b"], ["c", "d"]])
    some = tw.strings(["a", None, "c"])
    with (
        tw.serve({"words": words, "some": some}, writable=True) as server,
        tw.connect(server.address) as remote,
    ):
        remote["words"][1, 0] = "longer"
        remote["some"][0] = None
        remote["some"][1:] = ["", None]
        assert remote["words"].tolist() == words.tolist() == [["a", "b"], ["longer", "d"]]
        assert remote["some"].tolist() == some.tolist() == [None, "", None]
        for key, value in [((0, 0), None), (0, ["x", None])]:
            with pytest.raises(ConversionError, match="null"):
                remote["words"][key] = value
        assert remote["words"].tolist() == [["a", "b"], ["longer", "d"]]


def test_strings_that_are_none_are_refused_and_change_nothing():
    words = tw.strings(["one", "two"])
    with tw.serve({"words": words}, writable=True) as server, tw.connect(server.address) as remote:
        connection, there = remote._connections.here(), remote["words"]
        for lengths, texts in [([1, 1], b"\xff\xfe"), ([1, 9], b"ab"), ([1], b"a")]:
            asked = ev.AskWrite(
                "words",
                "",
                connection.client,
                "string",
                (Runs(0, 2),),
                memoryview(np.array(lengths, "<u4").tobytes()),
                memoryview(texts),
            )
            with pytest.raises(RequestRefusedError, match="write: "):
                connection.ask(asked)
        assert there.tolist() == ["one", "two"]


def test_a_write_may_depend_on_the_version():
    x = np.zeros(3)
    with tw.serve({"x": x}, writable=True) as server, tw.connect(server.address) as remote:
        ours, theirs = remote["x"], remote["x"]
        ours.assign(0, 1, if_unchanged=True)
        ours.assign(1, 2, if_unchanged=True)
        with pytest.raises(VersionChangedError):
            theirs.assign(0, 9, if_unchanged=True)
        theirs.assign(2, 3)
        assert x.tolist() == [1, 2, 3]


def test_what_is_not_to_be_written_to_says_so(monkeypatch):
    with tw.serve({"x": np.zeros(3)}) as server, tw.connect(server.address) as remote:
        assert remote["x"].is_readonly
        with pytest.raises(ReadOnlyError):
            remote["x"][0] = 1
    with tw.serve({"x": np.zeros(3)}, writable=True) as server, tw.connect(server.address) as remote:
        there = remote["x"]
        assert not there.is_readonly
        with pytest.raises(ReadOnlyError):
            there.astype("f4")[0] = 1
        with pytest.raises(ReadOnlyError):
            there[[0, 0]] = 1
        monkeypatch.setattr(_write_source, "_MOST", 16)
        with pytest.raises(SizeOverflowError, match="one atomic request"):
            there[...] = 1
        there[:2] = 1
        assert there.tolist() == [1, 1, 0]
    with pytest.raises(ConversionError, match="security"):
        tw.serve({"x": [1]}, writable={"x": ["somebody"]})


def test_writes_of_many_are_each_a_whole():
    x = np.zeros(1000)
    with tw.serve({"x": x}, writable=True, threads=2) as server:
        mixed = []

        def work(number):
            with tw.connect(server.address) as remote:
                there = remote["x"]
                for _ in range(10):
                    there[...] = number
                    with contextlib.suppress(VersionChangedError):
                        found = np.unique(np.asarray(remote["x"].compute()))
                        if len(found) != 1:
                            mixed.append(found)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert mixed == []


def test_nobody_knows_of_a_write_when_the_server_ended_within_it():
    process, address = start()
    with tw.connect(address, timeout=20) as remote:
        there = remote["x"]
        process.send_signal(signal.SIGSTOP)
        # Its other threads go on until the one that takes the signal has its turn.
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        started = []
        end = threading.Timer(0.5, process.kill)
        begin = threading.Timer(1.0, lambda: started.append(start(address)))
        end.start()
        begin.start()
        with pytest.raises(OutcomeUnknownError):
            there[0] = 1
        begin.join()
        again, _ = started[0]
        assert remote["x"].tolist() == [0, 0, 0, 0]
        again.kill()
        again.communicate()
        process.communicate()


def test_a_write_that_names_the_version_is_sent_again_and_never_done_twice():
    process, address = start()
    with tw.connect(address, timeout=20) as remote:
        there = remote["x"]
        process.kill()
        process.communicate()
        again, _ = start(address)
        with pytest.raises(VersionChangedError):
            there.assign(0, 1, if_unchanged=True)
        assert remote["x"].tolist() == [0, 0, 0, 0]
        again.kill()
        again.communicate()


@pytest.mark.parametrize("writable", [False, True])
def test_no_part_that_came_is_written_to_in_place_of_the_server(writable):
    """Few rows, and entries, are memory once they came: to write there would tell the server nothing."""
    tensors = {
        "rows": tw.jagged([[1, 2], [3], [4, 5, 6]]),
        "sparse": tw.sparse(np.array([[0, 1], [1, 0]]), np.array([1.0, 2.0]), tw.Shape(2, 2)),
        "tiles": tw.as_tensor(np.arange(16.0).reshape(4, 4)).tiled(tw.Tiling([1, 3], [2, 2])),
        "box": tw.as_tensor(np.arange(4.0)),
    }
    with tw.serve(tensors, writable=writable) as server, tw.connect(server.address) as remote:
        for name, tensor in tensors.items():
            before = tensor.tolist()
            for key in (0, slice(0, 2), slice(None)):
                for part in (remote[name][key], remote[name].view()[key]):
                    assert part.is_readonly
                    with pytest.raises(ReadOnlyError):
                        part.assign(7)
                    with pytest.raises(ReadOnlyError):
                        part[...] = 7
                    computed = part.compute()
                    assert not computed.is_readonly
                    computed[...] = 7
            assert tensor.tolist() == remote[name].compute().tolist() == before
