"""Numbers, types and constants as JSON: what is written is read, and what is none is refused by its path."""

import ml_dtypes
import numpy as np
import pytest

from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, SelectionError
from tensorwrapper.selection.expressions import _fields


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (3, "i8"),
        (2**64 - 1, "u8"),
        (True, "?"),
        (0.1, "f8"),
        (float("inf"), "f4"),
        (1 - 2j, "c16"),
        (np.datetime64("2020-01-01"), "M8[D]"),
        (np.datetime64("NaT"), "M8[s]"),
    ],
)
def test_a_constant_comes_back(value, dtype):
    dtype = np.dtype(dtype)
    value = np.asarray(value, dtype)[()]

    found = _fields.to_value(_fields.json_of_value(value, dtype), dtype, "here")

    assert np.asarray(found, dtype).tobytes() == np.asarray(value, dtype).tobytes()


@pytest.mark.parametrize("name", ["<i4", ">f8", "|b1", "<c16", "<M8[us]", ">m8[10000us]", "<M8[2147483647s]"])
def test_a_type_comes_back(name):
    assert _fields.dtype_name(_fields.to_dtype(name, "here")) == name


OF_ML_DTYPES = [
    np.dtype(kind)
    for kind in vars(ml_dtypes).values()
    if isinstance(kind, type) and issubclass(kind, np.generic)
]
OF_NUMPY = [np.dtype(code) for code in "?bBhHiIlLqQefdgFDG"]
OTHERS = [
    "M8[D]",
    "m8",
    "m8[12345s]",
    ">M8[ns]",
    "U3",
    "S3",
    "V3",
    "i4,f8",
    ">i2",
    "O",
    np.dtypes.StringDType(),
]


@pytest.mark.parametrize("dtype", [*OF_ML_DTYPES, *OF_NUMPY, *map(np.dtype, OTHERS)], ids=str)
def test_a_type_is_read_from_its_name_or_has_none(dtype):
    try:
        name = _fields.dtype_name(dtype)
    except ConversionError:
        assert dtype in OF_ML_DTYPES or dtype.kind in "SV" or dtype.char in "gG"
    else:
        assert _fields.to_dtype(name, "here") == dtype


def test_a_view_of_a_type_without_a_name_is_refused_when_it_is_written():
    view = sel.as_view(np.array([1, 2], ml_dtypes.float8_e5m2))

    for own in (view[::-1], sel.minimum(view, view)):
        with pytest.raises(ConversionError, match="float8_e5m2 have no name in JSON"):
            sel.to_json(own)
    with pytest.raises(ConversionError, match="float8_e5m2 have no name in JSON"):
        sel.to_json(sel.as_view([1.0]).astype(ml_dtypes.float8_e5m2).astype("f8"))


@pytest.mark.parametrize(
    "read",
    [
        lambda: _fields.to_integer(True, "a.b"),
        lambda: _fields.to_integer(1.0, "a.b"),
        lambda: _fields.to_integer(-1, "a.b", 0),
        lambda: _fields.to_integers([1, 2], "a.b", count=3),
        lambda: _fields.to_object([], "a.b"),
        lambda: _fields.to_list({}, "a.b"),
        lambda: _fields.to_dtype("object", "a.b"),
        lambda: _fields.to_value(300, np.dtype("u1"), "a.b"),
        lambda: _fields.to_range({"start": [1], "end": [0]}, "a.b"),
        lambda: _fields.check_keys({"x": 1}, "a.b", {"y"}),
        lambda: _fields.one_key({"x": 1, "y": 2}, "a.b", ["x", "y"]),
    ],
)
def test_what_is_none_is_refused_by_its_path(read):
    with pytest.raises(SelectionError, match=r"a\.b"):
        read()


def test_ranges_come_back():
    assert _fields.to_range({"start": [1, -2], "end": [4, -2]}, "here") == ((1, -2), (3, 0))
