"""TF_STRING buffers as TensorFlow 2.3 wrote them, and what its reader says to buffers that are wrong."""

import numpy as np
import pytest

from tensorwrapper.buffer import (
    StringData,
    decode_tf_string,
    decode_tf_strings,
    encode_tf_string,
    encode_tf_strings,
    tf_string_size,
    write_tf_string,
)
from tensorwrapper.errors import BufferSizeError, ConversionError, ExtentError, ReadOnlyError, StringDataError


def table(*offsets):
    return b"".join(offset.to_bytes(8, "little") for offset in offsets)


VECTORS = {
    "scalar": (["foobar"], "0000000000000000 06 666f6f626172"),
    "two": (
        ["foobar", "yorkie is so cute"],
        "0000000000000000 0700000000000000 06666f6f626172 11 796f726b696520697320736f2063757465",
    ),
    "two by two": (
        ["a", "bc", "", "def"],
        "0000000000000000 0200000000000000 0500000000000000 0600000000000000 0161 026263 00 03646566",
    ),
    "all empty": (["", "", ""], "0000000000000000 0100000000000000 0200000000000000 000000"),
    "no elements": ([], ""),
}


@pytest.mark.parametrize("name", VECTORS)
def test_encode_writes_what_tensorflow_writes(name):
    items, text = VECTORS[name]

    assert encode_tf_strings(StringData.from_list(items)).tobytes() == bytes.fromhex(text)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", VECTORS)
def test_decode_reads_what_tensorflow_writes(name, strict):
    items, text = VECTORS[name]
    buffer = bytes.fromhex(text)

    assert decode_tf_strings(buffer, len(items), strict=strict).to_list() == [i.encode() for i in items]
    assert decode_tf_strings(buffer, len(items), strict=strict, encoding="utf-8").to_list() == items


SIZES = [
    (0, 1, "00"),
    (1, 2, "01"),
    (127, 128, "7f"),
    (128, 130, "8001"),
    (300, 302, "ac02"),
    (16383, 16385, "ff7f"),
    (16384, 16387, "808001"),
    (2097151, 2097154, "ffff7f"),
    (2097152, 2097156, "80808001"),
]


@pytest.mark.parametrize(("length", "size", "head"), SIZES)
def test_the_size_of_one_element(length, size, head):
    value = b"x" * length

    assert tf_string_size(length) == size
    assert encode_tf_string(value) == bytes.fromhex(head) + value
    assert decode_tf_string(encode_tf_string(value)) == value


@pytest.mark.parametrize("length", [length for length, _, _ in SIZES])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_long_lengths_among_short_ones(length, place):
    items = [b"a", b"", b"bcd"]
    items[place] = b"y" * length
    buffer = encode_tf_strings(StringData.from_list(items))

    assert buffer.tobytes() == reference(items)
    assert len(buffer) == 24 + sum(tf_string_size(len(item)) for item in items)
    assert decode_tf_strings(buffer, 3).to_list() == items


def reference(items):
    """TF_STRING by the rules, one element at a time."""
    offsets, data = [], b""
    for item in items:
        offsets.append(len(data))
        length = len(item)
        while length >= 0x80:
            data += bytes([length & 0x7F | 0x80])
            length >>= 7
        data += bytes([length]) + item
    return table(*offsets) + data


TOO_SHORT = "too short to hold number of elements"
OUT_OF_RANGE = "element {} out of range"
INVALID = "invalid string encoding or truncated src buffer"

REFUSED = {
    "no bytes": (b"", 1, TOO_SHORT),
    "no table, a raw string": (b"foobar", 1, TOO_SHORT),
    "seven bytes": (bytes(7), 1, TOO_SHORT),
    "a table cut short": (table(0, 1)[:15], 2, TOO_SHORT),
    "a table for one of two": (table(0), 2, TOO_SHORT),
    "more elements than 64 bits count": (table(0), 2**70, TOO_SHORT),
    "an offset at the end of the data": (table(2) + b"\1a", 1, OUT_OF_RANGE.format(0)),
    "an empty element without its zero": (table(0), 1, OUT_OF_RANGE.format(0)),
    "an offset beyond the data": (table(0, 9) + b"\1a\1b", 2, OUT_OF_RANGE.format(1)),
    "only the encoded string, taken for an offset": (b"\x10yorkie is so cute", 1, OUT_OF_RANGE.format(0)),
    "an offset of 2**64 - 1": (table(2**64 - 1) + b"\1a", 1, OUT_OF_RANGE.format(0)),
    "an offset of 2**63": (table(2**63) + b"\1a", 1, OUT_OF_RANGE.format(0)),
    "a varint cut short": (table(0) + b"\x80", 1, INVALID),
    "a varint of eleven bytes": (table(0) + b"\x80" * 10 + b"\0", 1, INVALID),
    "a varint beyond 64 bits": (table(0) + b"\xff" * 9 + b"\2", 1, INVALID),
    "a varint of 2**64 - 1": (table(0) + b"\xff" * 9 + b"\1", 1, INVALID),
    "a varint of 2**63": (table(0) + b"\x80" * 9 + b"\1", 1, INVALID),
    "32 bytes announced, 6 there": (table(0) + b"\x20foobar", 1, INVALID),
    "an offset into the text": (table(6) + b"\x06foobar", 1, INVALID),
    "one byte too few": (table(0) + b"\x06fooba", 1, INVALID),
    "the second of two cut short": (table(0, 2) + b"\1a\2b", 2, INVALID),
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", REFUSED)
def test_what_leaves_the_buffer_is_refused(name, strict):
    buffer, count, message = REFUSED[name]

    with pytest.raises(StringDataError, match=message):
        decode_tf_strings(buffer, count, strict=strict)


def test_the_first_wrong_element_is_the_one_that_is_named():
    data = b"\1a\x7fb\1c"
    with pytest.raises(StringDataError, match="element 1, at byte 2"):
        decode_tf_strings(table(0, 2, 99) + data, 3)
    with pytest.raises(StringDataError, match="element 1 out of range"):
        decode_tf_strings(table(0, 99, 2) + data, 3)


TOLERATED = {
    "two elements that share an offset": (table(0, 0) + b"\1a", [b"a", b"a"], "element 1 is at byte 0"),
    "elements that overlap": (table(0, 1) + b"\2\1a", [b"\1a", b"a"], "element 1 is at byte 1"),
    "offsets that descend": (table(2, 0) + b"\1a\1b", [b"b", b"a"], "element 0 is at byte 2"),
    "a gap": (table(0, 3) + b"\1a?\1b", [b"a", b"b"], "element 1 is at byte 3"),
    "a gap at the start": (table(1) + b"?\1a", [b"a"], "element 0 is at byte 1"),
    "bytes at the end": (table(0) + b"\1a??", [b"a"], "2 bytes follow"),
    "bytes after no elements": (b"??", [], "2 bytes follow"),
    "a length in two bytes": (table(0) + b"\x82\0ab", [b"ab"], "shortest form"),
    "a length in ten bytes": (table(0) + b"\x82" + b"\x80" * 8 + b"\0ab", [b"ab"], "shortest form"),
}


@pytest.mark.parametrize("name", TOLERATED)
def test_what_tensorflow_accepts_is_accepted_unless_strict(name):
    buffer, items, message = TOLERATED[name]

    assert decode_tf_strings(buffer, len(items), strict=False).to_list() == items
    with pytest.raises(StringDataError, match=message):
        decode_tf_strings(buffer, len(items))


@pytest.mark.parametrize("item", [b"a\0b", b"\0", b"\xff\xfe", b"\x80"])
def test_any_byte_is_an_element(item):
    assert decode_tf_strings(encode_tf_strings(StringData.from_list([item])), 1).to_list() == [item]


# Lengths that no shortest varint can explain: offsets that lie 129 (or so) apart are not canonical.
@pytest.mark.parametrize("apart", [129, 16386, 2097155])
def test_distances_that_no_length_explains(apart):
    for size in (1, 2, 3, 4):
        length = apart - size
        data = (encode_tf_string(b"x" * length) + b"?")[:apart] + b"\0"
        with pytest.raises(StringDataError):
            decode_tf_strings(table(0, apart) + data, 2)


YORKIE = [
    "foobar and yorkie are good friends",
    "yorkie are working hard for tensorflow",
    "beep boop",
    "héllo",
]


@pytest.mark.parametrize("text", YORKIE)
def test_text_survives_a_round_trip(text):
    buffer = encode_tf_strings(StringData.from_list([text]))

    assert decode_tf_strings(buffer, 1, encoding="utf-8").to_list() == [text]
    assert decode_tf_string(encode_tf_string(text)).decode() == text


def test_a_next_offset_of_zero_is_not_missing():
    buffer = table(2, 0) + b"\1a\x03bcd"

    assert decode_tf_strings(buffer, 2, strict=False).to_list() == [b"bcd", b"a"]


def test_a_long_element_takes_no_stack():
    long = b"z" * 10_000_000

    assert decode_tf_strings(encode_tf_strings(StringData.from_list([long])), 1).item(0) == long


SINGLE = {
    "no bytes": (b"", INVALID),
    "a varint cut short": (b"\x80", INVALID),
    "a varint of eleven bytes": (b"\x80" * 10 + b"\0", INVALID),
    "too few bytes": (b"\x06foo", INVALID),
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", SINGLE)
def test_single_elements_that_are_refused(name, strict):
    buffer, message = SINGLE[name]

    with pytest.raises(StringDataError, match=message):
        decode_tf_string(buffer, strict=strict)


def test_a_single_element_with_bytes_behind_it():
    assert decode_tf_string(b"\x02abc", strict=False) == b"ab"
    with pytest.raises(StringDataError, match="1 bytes follow"):
        decode_tf_string(b"\x02abc")


def test_a_destination_that_is_too_small():
    small, large = bytearray(6), bytearray(9)

    with pytest.raises(BufferSizeError, match=r"dst_len \(6\) too small to encode a 6-byte string"):
        write_tf_string("foobar", small)
    assert small == bytes(6)
    assert write_tf_string("foobar", large) == 7
    assert large == b"\x06foobar\0\0"


def test_a_destination_that_cannot_be_written():
    with pytest.raises(ReadOnlyError, match="bytes"):
        write_tf_string("a", b"    ")
    with pytest.raises(StringDataError, match="int"):
        write_tf_string("a", 4)


def test_nulls_are_refused_until_filled():
    words = StringData.from_list(["a", None, "b"])

    with pytest.raises(ConversionError, match="element 1 is a null"):
        encode_tf_strings(words)
    assert decode_tf_strings(encode_tf_strings(words.fill_null("")), 3).to_list() == [b"a", b"", b"b"]


def test_text_that_is_not_utf8_is_refused_if_text_is_asked_for():
    buffer = encode_tf_strings(StringData.from_list([b"a", b"\xff"]))

    assert decode_tf_strings(buffer, 2).item(1) == b"\xff"
    with pytest.raises(StringDataError, match="element 1 is not UTF-8"):
        decode_tf_strings(buffer, 2, encoding="utf-8")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "nonsense", ""])
def test_other_encodings_are_refused(encoding):
    with pytest.raises(ConversionError, match="utf-8"):
        decode_tf_strings(b"", 0, encoding=encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf8", "UTF-8"])
def test_other_names_of_utf8(encoding):
    assert decode_tf_strings(table(0) + b"\2\xc3\xa9", 1, encoding=encoding).to_list() == ["é"]


def test_a_negative_number_of_elements():
    with pytest.raises(ExtentError, match="count"):
        decode_tf_strings(b"", -1)


def test_the_bytes_are_not_copied():
    buffer = np.frombuffer(table(0, 2) + b"\1a\2bc", dtype=np.uint8)

    for strict in (True, False):
        assert np.shares_memory(decode_tf_strings(buffer, 2, strict=strict).data, buffer)
    assert np.shares_memory(decode_tf_strings(buffer, 2, encoding="utf-8").data, buffer)


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8)])
def test_any_buffer_is_read(make):
    assert decode_tf_strings(make(table(0) + b"\1a"), 1).to_list() == [b"a"]


def test_a_buffer_that_is_not_aligned():
    buffer = memoryview(b"?" + table(0, 2) + b"\1a\2bc")[1:]

    assert decode_tf_strings(buffer, 2).to_list() == [b"a", b"bc"]


def test_what_is_no_buffer():
    with pytest.raises(StringDataError, match="str"):
        decode_tf_strings("text", 1)
    with pytest.raises(StringDataError, match="contiguous"):
        decode_tf_strings(memoryview(bytes(32))[::2], 1)
