"""Sparse buffers: what is stored, merges, fills of every type, and threads."""

import pickle
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.buffer import Sparse, count_copies
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    ExtentError,
    OutOfBoundsError,
    ReadOnlyError,
    SizeOverflowError,
)

NAN, NAT = float("nan"), np.datetime64("NaT", "s")

# Element type, fill, and elements that tests write; the fill is among them.
KINDS = {
    "float32": ("f4", 0, [0, -0.0, 1.5, NAN, -2]),
    "float64, fill 1": ("f8", 1, [0, 1, 2, NAN]),
    "float64, fill NaN": ("f8", NAN, [0, 1, NAN]),
    "big-endian": (">i4", 7, [0, 7, -7, 2**31 - 1]),
    "uint8": ("u1", 0, [0, 1, 255]),
    "bool": ("?", False, [False, True]),
    "bool, fill True": ("?", True, [False, True]),
    "complex": ("c16", 0, [0, 1j, complex(0, NAN), complex(NAN, 0)]),
    "complex, fill NaN": ("c8", complex(NAN, 0), [0, 1j, complex(0, NAN), complex(NAN, 0)]),
    "time": ("M8[s]", np.datetime64(0, "s"), [np.datetime64(0, "s"), np.datetime64(5, "s"), NAT]),
    "time, fill NaT": ("M8[s]", NAT, [np.datetime64(0, "s"), NAT]),
    "duration": ("m8[ms]", np.timedelta64(0, "ms"), [np.timedelta64(0, "ms"), np.timedelta64(-3, "ms")]),
}


def empty(kind, size=20):
    dtype, fill, _ = KINDS[kind]
    return Sparse([], np.empty(0, dtype), size, fill_value=fill)


def elements(buffer):
    return buffer.read(np.arange(buffer.size))


def same(left, right):
    """Equal, and not a number in the same places (and parts)."""
    if left.dtype.kind == "c":
        return same(left.real, right.real) and same(left.imag, right.imag)
    return np.array_equal(left, right, equal_nan=True)


def check_stored(buffer):
    addresses, values = buffer.stored
    assert (np.diff(addresses) > 0).all()
    assert addresses.dtype == np.int64
    assert values.dtype == buffer.dtype
    assert not addresses.flags.writeable
    assert not values.flags.writeable
    assert buffer.nnz == len(addresses) == len(values)
    for value in values:
        assert not same(np.asarray(value), buffer.fill_value)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_any_writes_leave_what_a_dictionary_would_hold(kind, data):
    dtype, fill, choice = KINDS[kind]
    buffer, model = empty(kind), {}
    for _ in range(data.draw(st.integers(1, 4))):
        addresses = data.draw(st.lists(st.integers(0, 19), unique=True))
        values = [data.draw(st.sampled_from(choice)) for _ in addresses]
        buffer.write(np.array(addresses, dtype=np.int64), np.array(values, dtype=dtype))
        model.update(zip(addresses, values, strict=True))
        expected = np.array([model.get(k, fill) for k in range(20)], dtype=dtype)
        assert same(elements(buffer), expected)
        check_stored(buffer)


@given(st.sets(st.integers(0, 19)), st.sets(st.integers(0, 19)), st.sets(st.integers(0, 19)))
def test_replace_forgets_and_writes_at_once(stored, gone, new):
    buffer = Sparse(sorted(stored), np.ones(len(stored)), 20)
    forget = np.array(sorted(gone), dtype=np.int64)
    places = np.array(sorted(new, reverse=True), dtype=np.int64)
    buffer.replace(lambda addresses: np.isin(addresses, forget), places, places + 2.0)
    expected = {k: 1.0 for k in stored if k not in gone} | {k: k + 2.0 for k in new}
    assert dict(zip(*map(np.ndarray.tolist, buffer.stored), strict=True)) == expected
    check_stored(buffer)


@pytest.mark.parametrize(
    ("values", "fill", "addresses", "kept"),
    [
        ([1, 0, 1, 0, 1, 0, 1], 0, [0, 2, 4, 6], [1, 1, 1, 1]),
        ([1, 0, 1, 0, 1, 0, 1], 1, [1, 3, 5], [0, 0, 0]),
        ([0, 2, 0, 4, 0, 6], 0, [1, 3, 5], [2, 4, 6]),
    ],
)
def test_what_differs_from_the_fill_is_stored(values, fill, addresses, kept):
    buffer = Sparse(np.arange(len(values)), np.array(values, dtype="i4"), len(values), fill_value=fill)
    assert buffer.addresses.tolist() == addresses
    assert buffer.stored[1].tolist() == kept
    assert elements(buffer).tolist() == values


def test_values_of_a_small_type_read_back():
    buffer = Sparse(np.arange(6), np.array([255, 254, 0, 1, 2, 3], dtype="u1"), 6)
    assert elements(buffer).tolist() == [255, 254, 0, 1, 2, 3]


def test_zeros_of_either_sign_are_the_fill_and_parts_that_are_no_numbers_are_told_apart():
    assert Sparse([0, 1], [-0.0, 0.0], 2).nnz == 0
    mixed = [complex(NAN, 0), complex(0, NAN), complex(NAN, NAN)]
    assert Sparse([0, 1, 2], np.array(mixed), 3, fill_value=complex(NAN, 0)).addresses.tolist() == [1, 2]


def test_more_addresses_than_memory_has():
    buffer = Sparse([10**18, 3], [2.0, 1.0], 2**63 - 1)
    assert buffer.read(np.array([3, 4, 10**18, 2**63 - 2])).tolist() == [1.0, 0.0, 2.0, 0.0]
    with pytest.raises(SizeOverflowError):
        Sparse([], np.empty(0), 2**63)


def test_many_addresses_in_any_order_are_looked_up():
    rng = np.random.default_rng(3)
    places = np.sort(rng.choice(10**6, 5000, replace=False))
    buffer = Sparse(places, places + 1, 10**6)
    wanted = rng.integers(0, 10**6, (200, 500))
    expected = np.where(np.isin(wanted, places), wanted + 1, 0)
    assert np.array_equal(buffer.read(wanted), expected)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([3], [1.0], 3), BufferSizeError),
        (([-1], [1.0], 3), BufferSizeError),
        (([0, 1], [1.0], 3), BufferSizeError),
        (([[0]], [[1.0]], 3), BufferSizeError),
        (([1, 0, 1], [1.0, 2.0, 3.0], 3), ConversionError),
        (([0.5], [1.0], 3), ConversionError),
        (([2**63], [1.0], 3), OutOfBoundsError),
        (([0], ["a"], 3), DTypeError),
        (([], [], -1), ExtentError),
    ],
)
def test_what_is_no_sparse_buffer_is_refused(arguments, error):
    with pytest.raises(error):
        Sparse(*arguments)


@pytest.mark.parametrize(
    ("fill", "error"),
    [(NAN, ConversionError), (300, SizeOverflowError), (-1, SizeOverflowError), ("a", ConversionError)],
)
def test_a_fill_must_be_an_element(fill, error):
    with pytest.raises(error):
        Sparse([0], np.array([1], dtype="u1"), 2, fill_value=fill)


def test_nothing_that_is_handed_in_or_out_can_change_the_buffer():
    addresses, values = np.array([1, 2]), np.array([5.0, 6.0])
    buffer = Sparse(addresses, values, 4)
    addresses[0], values[:] = 0, 9.0
    assert elements(buffer).tolist() == [0, 5, 6, 0]
    places, numbers = np.array([0, 3]), np.array([1.0, 2.0])
    before = buffer.stored
    buffer.write(places, numbers)
    places[:], numbers[:] = 1, 7.0
    assert elements(buffer).tolist() == [1, 5, 6, 2]
    assert before[1].tolist() == [5, 6]
    empty_one = Sparse([], np.empty(0), 4)
    places, numbers = np.array([0, 3]), np.array([1.0, 2.0])
    empty_one.write(places, numbers)
    places[0], numbers[0] = 1, 7.0
    assert elements(empty_one).tolist() == [1, 0, 0, 2]


def test_a_read_only_side_sees_writes_and_takes_none():
    buffer = Sparse([1], [5.0], 4)
    side = buffer.as_readonly()
    buffer.write(np.array([2]), np.array([6.0]))
    assert elements(side).tolist() == [0, 5, 6, 0]
    assert (not buffer.is_readonly, not side.is_readonly) == (True, False)
    for target in (side, buffer.guarded()):
        with pytest.raises(ReadOnlyError):
            target.write(np.array([0]), np.array([1.0]))
    with pytest.raises(ReadOnlyError):
        side.accumulate(np.array([0]), np.array([1.0]))
    with pytest.raises(ReadOnlyError):
        side.guarded().accumulate(np.array([0]), np.array([1.0]))


def test_sums_go_to_each_address_as_often_as_it_comes():
    buffer = Sparse([1], [5.0], 4)
    buffer.guarded().accumulate(np.array([1, 3, 3, 1]), np.array([-3.0, 1.0, 1.0, -2.0]))
    assert buffer.addresses.tolist() == [3]
    assert elements(buffer).tolist() == [0, 0, 0, 2]
    with pytest.raises(DTypeError):
        buffer.accumulate(np.array([1]), np.array([1j]))


def test_a_write_that_fails_changes_nothing():
    buffer = Sparse([1], [5.0], 4)

    def fail(addresses):
        raise RuntimeError(addresses)

    before = buffer.stored
    with pytest.raises(RuntimeError):
        buffer.replace(fail, np.array([0]), np.array([1.0]))
    assert buffer.stored is before
    buffer.write(np.array([0]), np.array([1.0]))
    assert elements(buffer).tolist() == [1, 5, 0, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickled_buffer_holds_the_same(kind):
    dtype, _, choice = KINDS[kind]
    buffer = empty(kind)
    buffer.write(np.arange(len(choice)), np.array(choice, dtype=dtype))
    back = pickle.loads(pickle.dumps(buffer, 5))
    assert same(elements(back), elements(buffer))
    assert back.dtype == buffer.dtype
    assert same(back.fill_value, buffer.fill_value)
    check_stored(back)
    back.write(np.array([19]), back.fill_value.reshape(1))
    assert pickle.loads(pickle.dumps(buffer.as_readonly())).is_readonly


def test_what_is_copied_is_counted():
    buffer = Sparse(np.arange(100), np.arange(100.0), 1000)
    with count_copies() as count:
        buffer.read(np.arange(50))
    assert count.nbytes == 400


def test_threads_read_whole_writes_while_one_writes():
    # Every write puts one number everywhere: a reader that sees two of them saw half a write.
    size, rounds = 500, 200
    everywhere = np.arange(size)
    buffer = Sparse(everywhere, np.ones(size), size)
    seen, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            addresses, values = buffer.stored
            seen.append(len(np.unique(values)) <= 1 and len(addresses) in (0, size))
            seen.append(len(np.unique(elements(buffer))) == 1)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(rounds):
        buffer.write(everywhere, np.full(size, float(number % 5)))
    stop.set()
    for reader in readers:
        reader.join()
    assert seen
    assert all(seen)


def test_no_write_of_several_threads_is_lost():
    buffer = Sparse([], np.empty(0), 4000)

    def write(first):
        for k in range(first, 4000, 4):
            buffer.write(np.array([k]), np.array([1.0]))
            buffer.accumulate(np.array([k]), np.array([1.0]))

    writers = [threading.Thread(target=write, args=(first,)) for first in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert elements(buffer).tolist() == [2.0] * 4000


def test_elements_beyond_an_address_space_are_refused():
    with pytest.raises(BufferSizeError):
        Sparse([0], [1], 2**62).elements_of(Layout(Shape(2**62)).implementation)
