"""What string data is made from, and what is refused: offsets, ranges, bitmaps and text that is none."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer import StringData, count_copies
from tensorwrapper.errors import (
    ConversionError,
    OutOfBoundsError,
    StringDataError,
    TensorWrapperError,
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


WRONG_OFFSETS = {
    "none": ([], "at least one"),
    "a negative first": ([-1, 1], "first is -1"),
    "descending": ([0, 3, 2], "element 1 would reach from 3 to 2"),
    "beyond the data": ([0, 2, 4, 5], "element 1 reaches beyond its 3 bytes"),
    "the only one beyond the data": ([4], "the last offset is 4"),
    "far beyond": ([0, 2**63 - 1], "beyond its 3 bytes"),
    "64 bits without a sign": (np.array([0, 2**64 - 1], "u8"), "18446744073709551615"),
}


@pytest.mark.parametrize("name", WRONG_OFFSETS)
def test_offsets_that_are_no_offsets(name):
    offsets, message = WRONG_OFFSETS[name]

    with pytest.raises(StringDataError, match=message):
        StringData.from_offsets(offsets, b"abc", "binary")


WRONG_RANGES = {
    "a negative start": ([0, -1], [1, 1], "element 1 would reach from byte -1 to byte 1"),
    "a stop before its start": ([2], [1], "from byte 2 to byte 1"),
    "a stop beyond the data": ([2], [4], "from byte 2 to byte 4"),
    "an empty element beyond the data": ([4], [4], "from byte 4 to byte 4"),
    "a length beyond 64 bits": ([-(2**63)], [2**63 - 1], "element 0"),
    "another number of stops": ([0, 1], [1], "2 starts and 1 stops"),
}


@pytest.mark.parametrize("name", WRONG_RANGES)
def test_ranges_that_are_no_ranges(name):
    starts, stops, message = WRONG_RANGES[name]

    with pytest.raises(StringDataError, match=message):
        StringData.from_ranges(starts, stops, b"abc", "binary")


@pytest.mark.parametrize(
    "offsets", [[0.0, 1.0], [True, False], ["a"], [[0, 1]], [[0], [1, 2]], [2**70], 3, None]
)
def test_offsets_that_are_no_row_of_integers(offsets):
    with pytest.raises(ConversionError, match="row of integers"):
        StringData.from_offsets(offsets, b"abc", "binary")


@pytest.mark.parametrize("kind", ["text", "UTF8", None, 1])
def test_kinds_that_are_none(kind):
    with pytest.raises(StringDataError, match="'utf8' or 'binary'"):
        StringData.from_offsets([0], b"", kind)


@pytest.mark.parametrize("data", ["abc", 3, None, memoryview(b"abcdef")[::2]])
def test_data_that_is_no_buffer(data):
    with pytest.raises(StringDataError, match="contiguous buffer"):
        StringData.from_offsets([0], data, "binary")


NOT_UTF8 = {
    "a byte that is never text": (b"a\xffb", [0, 1, 3], 1, "invalid start byte"),
    "a character cut by the end": (b"ab\xc3", [0, 1, 3], 1, "unexpected end of data"),
    "a character cut by an offset": ("aé".encode(), [0, 2, 3], 0, "unexpected end of data"),
    "a character shared by two": ("é".encode(), [0, 1, 2], 0, "unexpected end of data"),
    "a character cut by an empty element": ("é".encode(), [0, 1, 1, 2], 0, "unexpected end of data"),
    "a start within a character": ("éa".encode(), [1, 2, 3], 0, "invalid start byte"),
    "an end within a character": ("aé".encode(), [0, 1, 2], 1, "unexpected end of data"),
    "a surrogate": (b"a\xed\xa0\x80", [0, 1, 4], 1, "invalid continuation byte"),
    "more bytes than needed": (b"\xc0\x80", [0, 2], 0, "invalid start byte"),
    "beyond the last character": (b"\xf4\x90\x80\x80", [0, 4], 0, "invalid continuation byte"),
    "the first of two": (b"\xc3" + b"a\xff", [0, 1, 3], 0, "unexpected end of data"),
}


@pytest.mark.parametrize("name", NOT_UTF8)
def test_text_that_is_not_utf8(name):
    data, offsets, element, reason = NOT_UTF8[name]

    with pytest.raises(StringDataError, match=f"element {element} is not UTF-8: {reason}"):
        StringData.from_offsets(offsets, data, "utf8")
    with pytest.raises(StringDataError, match=f"element {element} is not UTF-8"):
        StringData.from_ranges(offsets[:-1], offsets[1:], data, "utf8")
    as_bytes = StringData.from_offsets(offsets, data, "binary")
    with pytest.raises(StringDataError, match=f"element {element} is not UTF-8"):
        as_bytes.as_utf8()


def test_what_lies_between_elements_and_under_nulls_need_not_be_text():
    data = b"\xffa\xc3\xff" + "é".encode()

    assert StringData.from_ranges([1, 4], [2, 6], data, "utf8").to_list() == ["a", "é"]
    marked = StringData.from_offsets([0, 1, 2, 4, 6], data, "utf8", validity=b"\x0a")
    assert marked.to_list() == [None, "a", None, "é"]
    assert marked.lengths().tolist() == [0, 1, 0, 2]


def test_an_empty_element_may_lie_within_a_character():
    assert StringData.from_ranges([0, 1, 0], [2, 1, 2], "é".encode(), "utf8").to_list() == ["é", "", "é"]


CHUNK = 2**18


@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("character", ["é", "日", "😀"])
def test_characters_across_the_batches_that_are_checked(character, shift):
    text = "a" * shift + character * (CHUNK // 2)
    data = text.encode()
    strings = StringData.from_offsets([0, len(data)], data, "utf8")

    assert strings.item(0) == text
    assert strings.take([0, 0]).to_list() == [text, text]
    with pytest.raises(StringDataError, match=f"element 0 is not UTF-8: .* at byte {len(data) - shift} of"):
        StringData.from_ranges([shift], [len(data) + 1], data + b"\xff", "utf8")


@given(st.lists(st.binary(max_size=4), max_size=8))
def test_text_is_what_python_decodes(items):
    strings = StringData.from_list(items, kind="binary")
    try:
        expected = [item.decode() for item in items]
    except UnicodeDecodeError:
        first = next(k for k, item in enumerate(items) if item.decode(errors="replace").encode() != item)
        for order in (strings, strings.take(range(len(items)))):
            with pytest.raises(StringDataError, match=f"element {first} "):
                order.as_utf8()
    else:
        assert strings.as_utf8().to_list() == expected


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


@pytest.mark.parametrize("position", [-1, 3, 2**70])
def test_positions_that_are_none(position):
    strings = StringData.from_list(["a", "b", "c"])

    with pytest.raises(OutOfBoundsError, match="of 3 elements"):
        strings.item(position)
    if position < 2**63:
        with pytest.raises(OutOfBoundsError, match=r"position -?\d+ \(number 1\)"):
            strings.take([0, position])


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (2, 1), (0, 4), (4, 4)])
def test_slices_that_are_none(start, stop):
    with pytest.raises(OutOfBoundsError, match="3 elements"):
        StringData.from_list(["a", "b", "c"]).slice(start, stop)


@pytest.mark.parametrize("position", [True, 1.0, "1", None])
def test_positions_that_are_no_integers(position):
    with pytest.raises(ConversionError):
        StringData.from_list(["a"]).item(position)


def test_parts_of_two_kinds_or_none():
    with pytest.raises(ConversionError, match=r"binary.*utf8"):
        StringData.concat([StringData.from_list(["a"]), StringData.from_list([b"a"])])
    with pytest.raises(ConversionError, match="none"):
        StringData.concat([])


@given(
    st.lists(st.integers(-2, 12), max_size=6),
    st.binary(max_size=10),
    st.sampled_from(["utf8", "binary"]),
    st.none() | st.binary(max_size=2),
    st.integers(-1, 9),
)
def test_arbitrary_offsets_give_strings_or_an_error_of_ours(offsets, data, kind, validity, first):
    try:
        strings = StringData.from_offsets(offsets, data, kind, validity=validity, validity_offset=first)
    except TensorWrapperError:
        return
    assert len(strings.to_list()) == len(offsets) - 1


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
