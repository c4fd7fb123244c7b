"""``__array_interface__``, there and back, and against those who lie."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    ExtentError,
    LayoutError,
    RankError,
    SizeOverflowError,
)
from tests.support.layout.strided import array_of, strided_layouts


class Exporter:
    """Whoever has an array interface."""

    def __init__(self, fields, owner):
        self.__array_interface__ = fields
        self.owner = owner


@given(strided_layouts(), st.sampled_from(["<i2", ">f8", "<c16", "?", "<M8[s]", "S3"]))
def test_numpy_reads_what_is_written(layout, typestr):
    dtype = np.dtype(typestr)
    count = layout.bounds()[1] + 1
    memory = np.arange(count * dtype.itemsize).astype(np.uint8)
    fields = layout.to_array_interface(dtype, nbytes=memory.nbytes)
    address = memory.__array_interface__["data"][0]
    read = np.asarray(Exporter(fields.to_dict(address, memory.nbytes), memory))
    assert (read.shape, read.dtype) == (layout.shape.extents, dtype)
    assert read.tobytes() == memory.view(f"V{dtype.itemsize}")[layout.to_numpy()].tobytes()


@given(strided_layouts(), st.integers(0, 3))
def test_what_numpy_writes_is_read(layout, room):
    array = array_of(layout, room=room)
    found = Layout.from_array_interface(array)
    low = layout.bounds()[0]
    assert found.layout.shape == Shape(*layout.shape.extents)
    assert np.array_equal(found.layout.to_numpy(), layout.to_numpy() - low)
    assert (found.dtype, found.nbytes) == (array.dtype, 2 * layout.span)
    assert found.address == array.__array_interface__["data"][0] + found.byte_offset
    if array.size:
        assert found.address == array.base.__array_interface__["data"][0] + 2 * low


@given(strided_layouts(origins=False))
def test_there_and_back_is_the_same_layout_if_the_report_says_so(layout):
    fields = layout.to_array_interface("<i4")
    memory = bytes(4 * (layout.bounds()[1] + 1))
    found = Layout.from_array_interface(
        {
            "shape": fields.shape,
            "typestr": "<i4",
            "strides": fields.strides,
            "data": memory,
            "offset": fields.offset,
        }
    )
    shift, rest = divmod(found.byte_offset, 4)
    assert not rest
    back = Layout(found.layout.shape, strides=found.layout.strides, offset=found.layout.offset + shift)
    assert (back == layout) == fields.lost.is_exact
    assert np.array_equal(back.to_numpy(), layout.to_numpy())


def test_a_written_interface_is_checked_against_its_memory():
    fields = Layout(Shape(3), offset=1).to_array_interface("<i4")
    assert fields.to_dict(64, 16, is_readonly=True)["data"] == (68, True)
    with pytest.raises(BufferSizeError, match="bytes 4 to 16 of a memory of 12"):
        fields.to_dict(64, 12)
    with pytest.raises(BufferSizeError, match="address 0"):
        Layout(Shape(3)).to_array_interface("<i4").to_dict(0, 12)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"shape": None}, ConversionError, "tuple of integers"),
        ({"shape": (True,)}, ConversionError, "bool"),
        ({"shape": (2.0,)}, ConversionError, "integer"),
        ({"shape": iter((2,))}, ConversionError, "tuple of integers"),
        ({"shape": (-1,)}, ExtentError, "negative"),
        ({"shape": (1,) * 65}, RankError, "64 modes"),
        ({"shape": (2**62,)}, SizeOverflowError, "64 bits"),
        ({"strides": (4, 4)}, RankError, "2 strides for 1 modes"),
        ({"strides": (6,)}, LayoutError, "stride of mode 0 .* is 6 bytes, no multiple of the 4"),
        ({"strides": (2**63,)}, SizeOverflowError, "64 bits"),
        ({"strides": 4}, ConversionError, "tuple of integers"),
        ({"typestr": "O"}, DTypeError, "typestr"),
        ({"typestr": "|O8"}, DTypeError, "typestr"),
        ({"typestr": "<f3"}, DTypeError, "not a type of elements"),
        ({"typestr": "|V0"}, DTypeError, "described"),
        ({"typestr": "(9,)f8"}, DTypeError, "typestr"),
        ({"typestr": 8}, DTypeError, "typestr"),
        ({"typestr": None}, DTypeError, "typestr"),
        ({"version": 2}, ConversionError, "version 3"),
        ({"mask": np.zeros(2)}, ConversionError, "mask"),
        ({"data": (64,)}, ConversionError, "address"),
        ({"data": (64, np.zeros(2))}, ConversionError, "read-only"),
        ({"data": ("x", False)}, ConversionError, "address"),
        ({"data": (0, False)}, BufferSizeError, "address 0"),
        ({"data": (-4, False)}, SizeOverflowError, "64 bits"),
        ({"data": (2**64 - 4, False)}, SizeOverflowError, "64 bits"),
        ({"data": (64, False), "offset": 4}, ConversionError, "no offset"),
        ({"data": "text"}, ConversionError, "not a buffer"),
        ({"data": memoryview(bytes(64))[::2]}, ConversionError, "several pieces"),
        ({"data": bytes(7)}, BufferSizeError, "bytes 0 to 8 of a memory of 7"),
        ({"data": bytes(8), "offset": -4}, BufferSizeError, "bytes -4 to 4"),
    ],
)
def test_a_bad_field_is_refused(change, error, text):
    with pytest.raises(error, match=text):
        Layout.from_array_interface({"shape": (2,), "typestr": "<i4", "data": (64, False), **change})


def test_a_range_goes_with_an_address_only():
    with pytest.raises(ConversionError, match="range of its own"):
        Layout.from_array_interface({"shape": (2,), "typestr": "<i4", "data": bytes(8)}, within=(0, 8))
    with pytest.raises(ConversionError, match="address and a number of bytes"):
        Layout.from_array_interface({"shape": (2,), "typestr": "<i4", "data": (64, True)}, within=(0,))
    with pytest.raises(ConversionError, match="no __array_interface__"):
        Layout.from_array_interface(5)


def test_fields_without_data_are_a_layout_without_memory():
    found = Layout.from_array_interface({"shape": (2, 3), "typestr": "<f8"})
    assert (found.layout, found.address, found.byte_offset) == (Layout(Shape(2, 3)), None, 0)


@pytest.mark.parametrize("extents", [*itertools.product((0, 1, 3), repeat=2), (), (1, 1, 1)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts_without_gaps_come_back_in_one_form(extents, order):
    array = np.zeros(extents, order=order)
    found = Layout.from_array_interface(array).layout
    if array.flags.c_contiguous:
        assert found == Layout(Shape(*extents))
    else:
        assert found == Layout(Shape(*extents), order="F")
