"""What string data is made from, and what is refused: offsets, ranges, bitmaps and text that is none."""

import pickle

import numpy as np
import pytest

from tensorwrapper.buffer import StringData, count_copies
from tensorwrapper.errors import (
    ConversionError,
    StringDataError,
)


def test_the_arrays_that_are_given_are_the_arrays_that_are_held():
    offsets, data = np.array([0, 1, 3]), np.frombuffer(b"abc", np.uint8)
    strings = StringData.from_offsets(offsets, data, "utf8")

    for held, given_ in ((strings.offsets, offsets), (strings.starts, offsets), (strings.data, data)):
        assert np.shares_memory(held, given_)
        assert not held.flags.writeable
    assert offsets.flags.writeable


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", ">i4", "u8", ">i8"])
def test_offsets_of_any_integers(dtype):
    assert StringData.from_offsets(np.array([0, 2, 3], dtype), b"abc", "binary").to_list() == [b"ab", b"c"]


def test_offsets_and_ranges_may_have_steps():
    marks = np.array([0, 9, 2, 9, 3])[::2]

    assert StringData.from_offsets(marks, b"abc", "binary").to_list() == [b"ab", b"c"]
    assert StringData.from_ranges(marks[:2], marks[1:], b"abc", "binary").to_list() == [b"ab", b"c"]


@pytest.mark.parametrize(
    "buffer", [b"abc", bytearray(b"abc"), memoryview(b"abc"), np.array([97, 98, 99], "u1")]
)
def test_any_buffer_is_data(buffer):
    assert StringData.from_offsets([0, 1, 3], buffer, "utf8").to_list() == ["a", "bc"]


@pytest.mark.parametrize("data", ["abc", 3, None, memoryview(b"abcdef")[::2]])
def test_data_that_is_no_buffer(data):
    with pytest.raises(StringDataError, match="contiguous buffer"):
        StringData.from_offsets([0], data, "binary")


@pytest.mark.parametrize(
    ("n", "first", "nbytes"), [(1, 0, 0), (8, 0, 0), (9, 0, 1), (8, 1, 1), (1, -1, 1), (1, 2**70, 1)]
)
def test_a_bitmap_that_is_too_short(n, first, nbytes):
    with pytest.raises(StringDataError, match="validity bitmap"):
        StringData.from_offsets([0] * (n + 1), b"", "utf8", validity=bytes(nbytes), validity_offset=first)


@pytest.mark.parametrize("first", range(17))
def test_a_bitmap_may_start_at_any_bit(first):
    marks = np.arange(24) % 3 == 0
    bitmap = np.packbits(marks, bitorder="little")
    strings = StringData.from_offsets([0] * 7, b"", "utf8", validity=bitmap, validity_offset=first)

    assert strings.is_valid().tolist() == marks[first : first + 6].tolist()
    assert strings.slice(2, 5).is_valid().tolist() == marks[first + 2 : first + 5].tolist()
    assert strings.null_count == 4


def test_a_bitmap_without_nulls_is_not_kept():
    assert StringData.from_offsets([0, 1], b"a", "utf8", validity=b"\x01").validity is None


def test_parts_of_two_kinds_or_none():
    with pytest.raises(ConversionError, match=r"binary.*utf8"):
        StringData.concat([StringData.from_list(["a"]), StringData.from_list([b"a"])])
    with pytest.raises(ConversionError, match="none"):
        StringData.concat([])


def test_a_pickle_has_no_more_than_its_elements():
    strings = StringData.from_list(["x" * 1000] * 1000)

    assert len(pickle.dumps(strings.slice(0, 2))) < 3000
    assert len(pickle.dumps(strings.take([5, 7]))) < 3000


def test_elements_that_share_bytes_share_them_after_a_pickle():
    strings = StringData.from_list(["x" * 100_000, "y"]).take([0] * 1000)
    pickled = pickle.dumps(strings)

    assert len(pickled) < 200_000
    assert pickle.loads(pickled) == strings


def test_the_bytes_travel_out_of_band():
    strings = StringData.from_list([b"x" * 1000] * 1000)
    buffers = []
    pickled = pickle.dumps(strings, 5, buffer_callback=buffers.append)
    back = pickle.loads(pickled, buffers=buffers)

    assert len(pickled) < 1000
    assert np.shares_memory(back.data, strings.data)


def test_what_copies_bytes_and_what_does_not():
    strings = StringData.from_list(["ab", "c", None, "é"])
    with count_copies() as free:
        part = strings.slice(1, 4).take([2, 0])
        strings.pack()
        strings.as_binary().as_utf8()
        strings.fill_null("")
        strings.equals(part)
    with count_copies() as paid:
        part.pack()

    assert free.nbytes == 0
    assert paid.nbytes == 3


def test_a_repr_shows_the_first_elements():
    strings = StringData.from_list([str(k) for k in range(10)])

    assert repr(strings) == "StringData(kind='utf8', n=10, ['0', '1', '2', '3', '4', '5', ...])"
    assert repr(strings.slice(0, 1).as_binary()) == "StringData(kind='binary', n=1, [b'0'])"


def test_string_data_is_no_sequence():
    with pytest.raises(TypeError):
        iter(StringData.from_list(["a"]))


def test_other_things_are_not_equal():
    assert StringData.from_list(["a"]) != ["a"]
    assert StringData.from_list([]) != StringData.from_list([], kind="binary")
