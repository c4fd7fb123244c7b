"""Types of elements on the way, and strings."""

import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, RemoteProtocolError, RequestRefusedError
from tensorwrapper.remote.protocol._elements import (
    bytes_of,
    dtype_of,
    dtype_text,
    fill_bytes,
    fill_of,
    pack_strings,
    unpack_strings,
)


@pytest.mark.parametrize("name", ["?", "i1", "u8", "f2", "<f4", ">f8", "c16", "M8[ms]", "m8[3s]"])
def test_a_type_is_called_the_same_on_every_machine(name):
    dtype = np.dtype(name)

    assert dtype_of(dtype_text(dtype)) == dtype.newbyteorder("=")


def test_strings_have_a_type_too():
    for own in (np.dtypes.StringDType(), np.dtypes.StringDType(na_object=None)):
        assert dtype_of(dtype_text(own)) == own


@pytest.mark.parametrize("dtype", ["O", "S3", "f8,i4", "V8"])
def test_what_does_not_travel_is_refused(dtype):
    with pytest.raises(ConversionError, match="cannot send"):
        dtype_text(np.dtype(dtype))


@pytest.mark.parametrize("text", ["object", "O", "<f3", "|M8[x]", "", "<M8[s((]", "<M8[s((]),),]", "<M8[0s]"])
def test_no_other_type_is_believed(text):
    with pytest.raises(RemoteProtocolError):
        dtype_of(text)


def test_strings_are_lengths_and_bytes():
    texts = np.array(["a", "", "héllo"], dtype=np.dtypes.StringDType())
    lengths, data = pack_strings(texts, 100)

    assert bytes(data) == "ahéllo".encode()
    assert unpack_strings(lengths, data, 3, texts.dtype).tolist() == texts.tolist()
    assert bytes_of(np.array([1, 2], "u1")) == b"\1\2"
    with pytest.raises(RequestRefusedError, match="too many"):
        pack_strings(texts, 3)


@pytest.mark.parametrize(
    ("lengths", "data", "count"),
    [(b"\1\0\0\0", b"ab", 1), (b"\1\0\0", b"a", 1), (b"\1\0\0\0", b"\xff", 1), (b"", b"a", 0)],
)
def test_strings_that_disagree_are_refused(lengths, data, count):
    with pytest.raises(RemoteProtocolError):
        unpack_strings(memoryview(lengths), memoryview(data), count, np.dtype(np.dtypes.StringDType()))


def test_strings_that_are_missing_stay_so():
    texts = np.array(["a", None, "", None], dtype=np.dtypes.StringDType(na_object=None))
    lengths, data = pack_strings(texts, 100)

    assert unpack_strings(lengths, data, 4, texts.dtype).tolist() == ["a", None, "", None]
    with pytest.raises(RemoteProtocolError, match="contradicts"):
        unpack_strings(lengths, data, 4, np.dtype(np.dtypes.StringDType()))


@pytest.mark.parametrize("dtype", [">f8", "<f8", ">i2", "|i1", "?", ">c8", ">M8[D]", "<m8[s]"])
def test_a_fill_travels_little_endian_whatever_its_order_of_bytes(dtype):
    fill = np.ones((), "i8").astype(dtype)
    raw = fill_bytes(fill, fill.dtype)
    assert raw == fill.astype(fill.dtype.newbyteorder("<")).tobytes()
    for own in (fill.dtype, fill.dtype.newbyteorder("=")):
        assert fill_of(raw, own) == fill
        with pytest.raises(RemoteProtocolError, match="not an element"):
            fill_of(raw + b"\0", own)


def test_a_fill_that_is_no_truth_is_refused():
    with pytest.raises(RemoteProtocolError, match="neither 0 nor 1"):
        fill_of(b"\2", np.dtype(bool))
