"""A tensor at a server keeps the contract of sources."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, RemoteProtocolError
from tensorwrapper.remote.client._source import elements_of
from tensorwrapper.testing import SourceContract
from tensorwrapper.transport import CurveClient, CurveServer, KeyPair

X = np.arange(60.0).reshape(3, 4, 5)
ROWS = tw.jagged([[1, 2], [], [3, 4, 5]])
WORDS = tw.strings([["a", "bc"], ["", "héllo"]])


@pytest.fixture(autouse=True, scope="module")
def served():
    with tw.serve({"x": X, "rows": ROWS, "words": WORDS}) as server, tw.connect(server.address) as remote:
        OPEN.update(remote=remote)
        yield remote
    OPEN.clear()


OPEN = {}


class TestBox(SourceContract):
    def source(self):
        return OPEN["remote"]["x"].as_source()

    def expected(self):
        return X


class TestRows(SourceContract):
    def source(self):
        return OPEN["remote"]["rows"].as_source()

    def expected(self):
        return ROWS


class TestStrings(SourceContract):
    test_targets_have_any_strides = None

    def source(self):
        return OPEN["remote"]["words"].as_source()

    def expected(self):
        return WORDS


def test_what_is_remote_pickles_and_connects_where_it_is_read(served):
    source = served["x"].as_source()
    assert "tcp://" in repr(source)

    there = pickle.loads(pickle.dumps(served))
    assert sorted(there) == sorted(served)
    views = [served["x"].view(), served["x"][1:, ::2], served["rows"][[1, 0]], served["x"].astype("f4")[:2]]
    for view in views:
        again = pickle.loads(pickle.dumps(view))
        assert again.compute().tolist() == view.compute().tolist()
    tensor = pickle.loads(pickle.dumps(served["rows"]))
    assert (tensor.version, tensor[0].tolist()) == (served["rows"].version, served["rows"][0].tolist())
    there.close()
    assert pickle.loads(pickle.dumps(views[0])).compute().tolist() == X.tolist()


def test_a_view_of_another_process_reads_what_it_needs(served):
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).compute().tolist())"
    view = pickle.dumps(served["x"][1:, ::2])
    done = subprocess.run([sys.executable, "-c", code], input=view, capture_output=True, check=True)
    assert json.loads(done.stdout) == served["x"][1:, ::2].compute().tolist()


def test_a_secret_key_is_not_pickled():
    ours, theirs = KeyPair.make(), KeyPair.make()
    with (
        tw.serve({"x": X}, security=CurveServer(theirs, allow=[ours.public])) as server,
        tw.connect(server.address, security=CurveClient(ours, theirs.public)) as remote,
    ):
        for secret in (remote, remote["x"], remote["x"].as_source(), remote["x"][1:]):
            with pytest.raises(ConversionError, match="secret key"):
                pickle.dumps(secret)


def test_nobody_knows_how_long_strings_are(served):
    with pytest.raises(ConversionError):
        _ = served["words"].plan().bytes_on_wire
    assert served["x"].plan().bytes_received == X.nbytes
    assert sel.as_view(X).plan().bytes_received == sel.as_view(X).plan().bytes_on_wire == 0


@pytest.mark.parametrize(
    ("frames", "dtype", "count"),
    [
        ((b"12345678", b""), "f8", 1),
        ((b"1234567",), "f8", 1),
        ((b"1" * 16,), "f8", 1),
        ((b"\2",), "?", 1),
        ((b"",), "T", 0),
    ],
)
def test_answers_of_other_sizes_are_refused(frames, dtype, count):
    known = np.dtypes.StringDType() if dtype == "T" else np.dtype(dtype)
    with pytest.raises(RemoteProtocolError):
        elements_of(tuple(map(memoryview, frames)), known, count)
