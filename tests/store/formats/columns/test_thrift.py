"""Structures are read as they are written, and refused where they are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats.columns._thrift import read_struct

SPEC = {1: int, 2: bytes, 3: [int], 4: {1: int}, 20: [{1: bytes}]}


def test_what_is_wanted_is_read():
    data = bytes.fromhex("1504 1803616263 192502ff01 1c1503 00 00 99")
    found, end = read_struct(data, 0, SPEC)
    assert found == {1: 2, 2: b"abc", 3: [1, -128], 4: {1: -2}}
    assert data[end:] == b"\x99"
    assert read_struct(data, 0, {})[1] == end


def test_what_is_not_wanted_is_passed_over():
    data = (
        bytes.fromhex("11 17")
        + bytes(8)
        + bytes.fromhex("1b02 83 0161 05 0162 06 13 07 19 21 01 02 55 08 00")
    )
    assert read_struct(data, 0, {10: int})[0] == {10: 4}


@pytest.mark.parametrize("data", ["1d00", "1c" * 40, "15" + "ff" * 12, "1801", "19f5ffffff0f", "150400"])
def test_what_is_none_is_refused(data):
    with pytest.raises((DataFileError, IndexError)):
        read_struct(bytes.fromhex(data), 0, {1: bytes})


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data):
    try:
        found, end = read_struct(data, 0, SPEC)
    except (DataFileError, IndexError):
        return
    assert end <= len(data)
    assert set(found) <= set(SPEC)
