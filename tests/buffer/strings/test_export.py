"""Strings go out to Arrow: without a copy, as the type that is asked for."""

import gc

import pyarrow as pa
import pytest

from tensorwrapper.buffer import StringData
from tensorwrapper.errors import ConversionError

TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view()]


BYTES_TYPES = [pa.binary(), pa.large_binary(), pa.binary_view()]


def test_what_goes_out_is_not_copied():
    strings = StringData.from_list(["a", None, "bc"])
    array = pa.array(strings.slice(1, 3))

    assert array.buffers()[2].address == strings.data.ctypes.data
    assert array.buffers()[1].address == strings.offsets.ctypes.data + 8


def test_what_goes_out_lives_on():
    array = pa.array(StringData.from_list(["x" * 1000] * 1000))
    gc.collect()

    assert array.to_pylist() == ["x" * 1000] * 1000


@pytest.mark.parametrize("form", TEXT_TYPES + BYTES_TYPES, ids=str)
def test_another_type_is_asked_for(form):
    array = pa.array(StringData.from_list(["a", None]), type=form)

    assert array.type == form
    assert array.cast(pa.string()).to_pylist() == ["a", None]


def test_a_type_that_strings_are_not():
    with pytest.raises(ConversionError, match="another Arrow type"):
        pa.array(StringData.from_list(["a"]), type=pa.int64())


def test_the_schema_alone():
    assert (
        pa.DataType._import_from_c_capsule(StringData.from_list(["a"]).__arrow_c_schema__())
        == pa.large_string()
    )
    assert (
        pa.DataType._import_from_c_capsule(StringData.from_list([b"a"]).__arrow_c_schema__())
        == pa.large_binary()
    )
