"""Every buffer keeps the contract."""

import functools
import tempfile
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.buffer import Dense, constant, from_functions, join, look_up
from tensorwrapper.testing import BufferContract


class TestDense(BufferContract):
    def buffer(self):
        return Dense(np.arange(13.0))

    def expected(self):
        return np.arange(13.0)


class TestReadOnlyDense(BufferContract):
    def buffer(self):
        flat = np.arange(8).view("M8[s]")
        flat.flags.writeable = False
        return Dense(flat)

    def expected(self):
        return np.arange(8).view("M8[s]")


class TestGrown(BufferContract):
    """A tensor in a file, begun with 5 elements and extended by 1, 3 and 4."""

    def buffer(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.tens"
            with tw.open(path, "a") as f:
                for part in np.split(np.arange(13.0), [5, 6, 9]):
                    f.extend("x", part)
                (tensor,) = f._parts("x")
        return tensor.buffer

    def expected(self):
        return np.arange(13.0)


class TestConstant(BufferContract):
    def buffer(self):
        return constant(2.5, 9)

    def expected(self):
        return np.full(9, 2.5)


def squares(addresses):
    return addresses * addresses


class TestComputed(BufferContract):
    def buffer(self):
        return from_functions(11, np.int64, squares)

    def expected(self):
        return np.arange(11) ** 2


def take(store, addresses):
    return store[addresses]


def put(store, addresses, values):
    store[addresses] = values


class TestFunctionsThatWrite(BufferContract):
    def buffer(self):
        store = np.arange(10, dtype=np.complex64)
        return from_functions(10, "c8", functools.partial(take, store), functools.partial(put, store))

    def expected(self):
        return np.arange(10, dtype=np.complex64)


class TestLookup(BufferContract):
    def buffer(self):
        return look_up([7, 0, 3, 5, 2, 6, 1, 4], Dense(np.arange(10, 18)))

    def expected(self):
        return np.array([17, 10, 13, 15, 12, 16, 11, 14])


class TestLookupWithRepeats(BufferContract):
    def buffer(self):
        return look_up([1, 1, 0, 2], Dense(np.array([True, False, True])))

    def expected(self):
        return np.array([False, False, True, True])


class TestJoined(BufferContract):
    def buffer(self):
        parts = [np.arange(3, dtype="f4"), np.empty(0, "f4"), np.arange(10, 15, dtype="f4")]
        return join([Dense(part) for part in parts])

    def expected(self):
        return np.array([0, 1, 2, 10, 11, 12, 13, 14], dtype="f4")


class TestJoinedKinds(BufferContract):
    def buffer(self):
        return join([constant(4, 2), look_up([1, 0], from_functions(2, np.int64, squares)), constant(9, 3)])

    def expected(self):
        return np.array([4, 4, 1, 0, 9, 9, 9])


@pytest.mark.parametrize("contract", [TestDense, TestJoined])
def test_the_contract_is_not_kept_by_a_buffer_of_other_elements(contract):
    class Wrong(contract):
        __test__ = False

        def expected(self):
            return super().expected()[::-1]

    for law in ("test_reading_gives_the_elements_at_the_addresses", "test_views_over_it_read_as_numpys"):
        with pytest.raises(AssertionError):
            getattr(Wrong(), law)()
