"""The two header frames: every byte of them, and what is refused before anything else is read."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.wire import Limits
from tensorwrapper.wire.frames._header import (
    Header,
    make_header,
    pack_coordinates,
    pack_prefix,
    unpack_header,
)

LIMITS = Limits()
ORIGINS = bytes(range(24))
NUMBERS = st.integers(0, 2**64 - 1)
FORMS = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=4)


def unpack(prefix, coordinates=ORIGINS, limits=LIMITS):
    return unpack_header(memoryview(prefix), memoryview(coordinates), limits)


@given(FORMS, st.integers(0, 8), st.text(st.characters(codec="utf-8")), st.tuples(NUMBERS, NUMBERS, NUMBERS))
def test_what_is_packed_is_unpacked(form, level, label, coordinates):
    header = make_header(form, level, label, coordinates)

    assert header == Header(form, level, label, *coordinates)
    assert unpack(pack_prefix(header.label, header.form, header.level), pack_coordinates(header)) == header


def test_every_byte_is_where_the_format_says():
    header = make_header("AB", 3, "é", (1, 2**63, 2**64 - 1))

    assert pack_prefix(header.label, header.form, header.level) == b"ZIO3AB  \xc3\xa9"
    assert pack_coordinates(header) == b"\1" + bytes(14) + b"\x80" + b"\xff" * 8
    assert unpack(b"ZIO3AB  \xc3\xa9", struct.pack("<3Q", 7, 8, 9)) == Header("AB", 3, "é", 7, 8, 9)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("TENSO", 0, "", (0, 0, 0)), "at most four printable ASCII characters, not 'TENSO'"),
        (("é", 0, "", (0, 0, 0)), "printable ASCII"),
        (("\n", 0, "", (0, 0, 0)), "printable ASCII"),
        ((b"TENS", 0, "", (0, 0, 0)), "printable ASCII"),
        (("TENS", 9, "", (0, 0, 0)), "a level is 0 to 8, not 9"),
        (("TENS", -1, "", (0, 0, 0)), "a level is 0 to 8, not -1"),
        (("TENS", 1.5, "", (0, 0, 0)), "level"),
        (("TENS", True, "", (0, 0, 0)), "level"),
        (("TENS", 0, "", (-1, 0, 0)), "origin is an unsigned 64-bit integer, not -1"),
        (("TENS", 0, "", (0, 2**64, 0)), "granule is an unsigned 64-bit integer"),
        (("TENS", 0, "", (0, 0, "1")), "seqno"),
    ],
)
def test_what_does_not_fit_is_not_written(arguments, text):
    with pytest.raises(LocalProtocolError, match=text) as caught:
        make_header(*arguments)

    assert caught.value.reason == "frame"


def test_a_label_that_no_encoding_has_is_not_written():
    with pytest.raises(LocalProtocolError, match="not valid Unicode"):
        pack_prefix("\ud800")


@pytest.mark.parametrize(
    ("prefix", "coordinates", "reason", "text"),
    [
        (b"", ORIGINS, "frame", "frame 0 has 0 bytes; a prefix has at least 8"),
        (b"ZIO0TEN", ORIGINS, "frame", "frame 0 has 7 bytes"),
        (b"zio0TENS", ORIGINS, "frame", "starts with b'zio', not with b'ZIO'"),
        (b"ZIO9TENS", ORIGINS, "frame", "the level is '9', not a digit from 0 to 8"),
        (b"ZIO\xb2TENS", ORIGINS, "frame", "the level is"),
        (b"ZIO0TENS", ORIGINS[:-1], "frame", "frame 1 has 23 bytes; coordinates have 24"),
        (b"ZIO0TENS", ORIGINS + b"\0", "frame", "frame 1 has 25 bytes"),
        (b"ZIO0TEN\xff", ORIGINS, "frame", "is not ASCII"),
        (b"ZIO0TENS\xff", ORIGINS, "header", "the label is not UTF-8"),
        (b"ZIO0TENS\xed\xa0\x80", ORIGINS, "header", "the label is not UTF-8"),
    ],
)
def test_what_is_malformed_is_refused(prefix, coordinates, reason, text):
    with pytest.raises(RemoteProtocolError, match=text) as caught:
        unpack(prefix, coordinates)

    assert caught.value.reason == reason


def test_a_label_may_be_as_long_as_the_limit_and_no_longer():
    limits = Limits(label_bytes=5)

    assert unpack(b"ZIO0TENS" + b"x" * 5, limits=limits).label == "xxxxx"
    with pytest.raises(RemoteProtocolError, match="the label has 6 bytes; at most 5 are allowed") as caught:
        # Not looked at: not even whether it is text.
        unpack(b"ZIO0TENS" + b"\xff" * 6, limits=limits)
    assert caught.value.reason == "limit"


@given(st.binary(max_size=20), st.binary(min_size=22, max_size=26))
def test_any_bytes_are_a_header_or_are_refused(prefix, coordinates):
    try:
        header = unpack(prefix, coordinates)
    except RemoteProtocolError as error:
        assert error.reason in {"frame", "header"}  # noqa: PT017 - what is not refused is right
        return
    assert pack_prefix(header.label, header.form, header.level) == prefix
    assert pack_coordinates(header) == coordinates
