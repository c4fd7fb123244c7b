"""Offsets, ranges and positions of strangers are refused where they make no sense."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer import StringData
from tensorwrapper.errors import (
    ConversionError,
    OutOfBoundsError,
    StringDataError,
    TensorWrapperError,
)

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
