"""The numbers of the file format: headers, tails, alignment, names."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import _tensor_names
from tensorwrapper._tensor_names import check_name
from tensorwrapper.errors import DataFileError, TensorNameError
from tensorwrapper.store.records._format import (
    ALIGNMENT,
    HEADER_BYTES,
    MAGIC,
    TAIL_BYTES,
    RecordHeader,
    pack_body,
    pack_header,
    pack_tail,
    unpack_header,
    unpack_tail,
)
from tensorwrapper.wire import decode_frames

U64 = st.integers(0, 2**64 - 1)


@given(U64, st.integers(0, 2**16 - 1), U64)
def test_a_header_says_what_was_put_in(length, algorithm, checksum):
    raw = pack_header(length, algorithm, checksum)

    assert len(raw) == HEADER_BYTES
    assert raw[:16] == MAGIC + length.to_bytes(8, "little")
    assert unpack_header(raw) == RecordHeader(length, algorithm, checksum)


@given(st.integers(0, HEADER_BYTES * 8 - 1))
def test_no_bit_of_a_header_can_change(bit):
    raw = bytearray(pack_header(100, 1, 7))
    raw[bit // 8] ^= 1 << bit % 8
    with pytest.raises(DataFileError, match=r"starts with|wrong checksum"):
        unpack_header(bytes(raw))


def test_headers_of_others_are_told_apart():
    whole = pack_header(100, 1, 7)
    with pytest.raises(DataFileError, match="truncated after 31 of the 32 bytes"):
        unpack_header(whole[:31])
    later = whole[:16] + b"\3\0" + whole[18:28]
    with pytest.raises(DataFileError, match="has version 3; supported: 2"):
        unpack_header(later + zlib.crc32(later).to_bytes(4, "little"))


@given(
    st.one_of(st.text("ab./\\\0\x7fé\u0301 ", max_size=4), st.sampled_from([".", "..", "x" * 255, "x" * 256]))
)
def test_plain_names_are_those_that_are_taken_character_by_character(name):
    def outcome():
        try:
            return check_name(name)
        except TensorNameError as error:
            return str(error)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_tensor_names, "_is_plain", lambda _: False)
        expected = outcome()
    assert outcome() == expected


@given(U64)
def test_a_tail_names_where_the_index_starts(start):
    raw = pack_tail(start)

    assert len(raw) == TAIL_BYTES
    assert unpack_tail(raw) == start
    assert unpack_tail(raw[1:]) is unpack_tail(raw[:-1] + b"x") is unpack_tail(b"") is None
    assert unpack_tail(b"\x11" + raw[1:]) is None


@given(st.lists(st.binary(max_size=300), max_size=4), st.binary(max_size=150), st.one_of(st.none(), U64))
def test_data_starts_at_multiples_of_64_and_so_does_the_next_record(parts, prefix, tail):
    frames = [prefix, bytes(24)]
    for part in parts:
        frames += [b"", part]
    pieces = pack_body(frames, tail_of=tail)
    body = b"".join(pieces)
    read = decode_frames(body)

    assert (HEADER_BYTES + len(body)) % ALIGNMENT == 0
    assert [bytes(frame) for frame in read[3 : 3 + 2 * len(parts) : 2]] == parts
    place = HEADER_BYTES
    for k, piece in enumerate(pieces):
        if k >= 4 and k % 4 == 3 and k < 4 + 4 * len(parts):
            assert place % ALIGNMENT == 0
        place += len(piece)
    assert all(not any(frame) for frame in read[2 : 2 + 2 * len(parts) : 2])
    assert unpack_tail(body[-TAIL_BYTES:]) == tail
    assert len(read[-1])


@pytest.mark.parametrize("name", ["a", "é", "a b", "x" * 255, "...", "a.b", "日本"])
def test_names_are_short_texts(name):
    assert check_name(name) == name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (7, "must be text, not 7"),
        ("", "has 0"),
        ("x" * 256, "has 256"),
        ("é" * 128, "has 256"),
        (".", "is a path"),
        ("..", "is a path"),
        ("a/b", "is a path"),
        ("a\\b", "is a path"),
        ("a\0", "control characters"),
        ("a\n", "control characters"),
        ("\ud800", "half a surrogate pair"),
        ("e\u0301", "normal form C"),
    ],
)
def test_what_is_no_name_is_refused(name, text):
    with pytest.raises(TensorNameError, match=text):
        check_name(name)
