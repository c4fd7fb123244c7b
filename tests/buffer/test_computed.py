"""Buffers without memory of their own: what they ask of functions, tables and parts, and what they refuse."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.buffer import Dense, constant, count_copies, from_functions, join, look_up
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    OutOfBoundsError,
    SizeOverflowError,
)


def test_a_reader_is_called_once_with_all_addresses_of_a_small_read():
    calls = []

    def read(addresses):
        calls.append(addresses.tolist())
        return addresses

    t = tw.from_buffer(from_functions(12, "i8", read), tw.Shape(3, 4))
    assert calls == []
    assert t[1:, ::2].tolist() == [[4, 6], [8, 10]]
    assert calls == [[4, 6, 8, 10]]


def test_a_huge_computed_tensor_costs_what_is_read_of_it():
    buffer = from_functions(10**18, "i8", lambda address: address)
    t = tw.from_buffer(buffer, tw.Shape(10**9, 10**9))
    with count_copies() as count:
        assert t[-1, -2:].tolist() == [10**18 - 2, 10**18 - 1]
        assert t.permute((1, 0))[3:5, 7].tolist() == [7 * 10**9 + 3, 7 * 10**9 + 4]
    assert count.nbytes == 0


def test_reading_much_goes_in_batches():
    sizes = []

    def read(addresses):
        sizes.append(len(addresses))
        return addresses.astype("i4")

    t = tw.from_buffer(from_functions(3 * 2**20, "i4", read), tw.Shape(3, 2**10, 2**10))
    assert np.array_equal(t.permute((2, 0, 1)).elements()[:5], [0, 1024, 2048, 3072, 4096])
    assert sum(sizes) == 3 * 2**20
    assert max(sizes) <= 2**20


@pytest.mark.parametrize(
    ("read", "error", "text"),
    [
        (lambda a: a[:-1], BufferSizeError, "an array of extents .3,. for 4 addresses"),
        (lambda _: 7, BufferSizeError, "extents .."),
        (lambda a: a * 1.5, DTypeError, "float64 do not go into elements of type int64"),
        (lambda a: [object()] * len(a), DTypeError, "object"),
    ],
)
def test_readers_that_give_something_else_are_refused(read, error, text):
    t = tw.from_buffer(from_functions(4, "i8", read), tw.Shape(4))
    with pytest.raises(error, match=text):
        t.tolist()


def test_errors_of_the_functions_come_through():
    blocks = {}
    t = tw.from_buffer(from_functions(2, "f8", lambda addresses: blocks[addresses[0]]), tw.Shape(2))
    with pytest.raises(KeyError):
        t.tolist()


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: from_functions(-1, "i8", len), BufferSizeError, "not -1"),
        (lambda: from_functions(1.0, "i8", len), ConversionError, "size must be an integer"),
        (lambda: from_functions(1, "O", len), DTypeError, "object"),
        (lambda: from_functions(1, "i8", 3), ConversionError, "needs functions"),
        (lambda: constant("x", 3), DTypeError, "U1"),
        (lambda: constant(300, 3, dtype="u1"), SizeOverflowError, "300"),
        (lambda: constant(1, -3), BufferSizeError, "-3"),
        (lambda: look_up([0, 3], Dense(np.arange(3))), BufferSizeError, "offsets 0 to 3"),
        (lambda: look_up([-1], Dense(np.arange(3))), BufferSizeError, "offsets -1"),
        (lambda: look_up([0.5], Dense(np.arange(3))), ConversionError, "integer"),
        (lambda: look_up([[0]], Dense(np.arange(3))), ConversionError, "flat"),
        (lambda: look_up(np.array([2**63], "u8"), Dense(np.arange(3))), OutOfBoundsError, "int64"),
        (lambda: join([]), BufferSizeError, "needs a buffer"),
        (lambda: join([constant(1, 2), constant(1.0, 2)]), DTypeError, "do not join"),
    ],
)
def test_what_cannot_be_a_buffer_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_boxes_over_functions_are_read_into_arrays_but_are_none():
    t = tw.from_buffer(from_functions(6, "i8", lambda a: a), (2, 3))
    assert np.asarray(t).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert np.asarray(t[:, ::-2], dtype="f4").tolist() == [[2.0, 0.0], [5.0, 3.0]]
    for call in (t.to_numpy, t.as_memoryview, lambda: np.array(t, copy=False)):
        with pytest.raises(ConversionError, match="read them all"):
            call()
    jagged = tw.from_buffer(from_functions(3, "i8", lambda a: a), tw.Shape.jagged([1, 2]))
    with pytest.raises(ConversionError, match="to_padded"):
        np.asarray(jagged)


def test_tensors_over_functions_are_copied_into_memory_when_asked():
    t = tw.from_buffer(from_functions(6, "i8", lambda a: a), tw.Shape.jagged([1, 3, 2]))
    assert t.tolist() == [[0], [1, 2, 3], [4, 5]]
    assert isinstance(t.copy().buffer, Dense)
    assert t.copy().tolist() == t.tolist()
    assert t[1].tolist() == [1, 2, 3]
    assert t.to_padded(fill_value=-1).tolist() == [[0, -1, -1], [1, 2, 3], [4, 5, -1]]
    assert t.reduce_tiles(np.add).tolist() == [0, 6, 9]
    tiled = tw.from_buffer(from_functions(9, "i8", lambda a: a), (3, 3)).tiled(tw.Tiling([1, 2], [2, 1]))
    assert tiled.reduce_tiles(np.add).tolist() == [[1, 2], [20, 13]]
    assert tiled.select_tiles([(1, 0)]).tolist() == [[[3, 4], [6, 7]]]
