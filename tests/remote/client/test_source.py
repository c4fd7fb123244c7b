"""A tensor at a server keeps the contract of sources."""

import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, RemoteProtocolError
from tensorwrapper.remote.client._source import elements_of
from tensorwrapper.testing import SourceContract

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


def test_a_source_does_not_travel_and_says_where_it_is(served):
    source = served["x"].as_source()

    assert "tcp://" in repr(source)
    with pytest.raises(ConversionError, match="connect"):
        pickle.dumps(source)


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
