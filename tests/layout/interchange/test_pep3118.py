"""The buffer protocol: PEP 3118."""

import array
import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import ConversionError, DTypeError, LayoutError
from tests.support.layout.strided import array_of, strided_layouts


@given(strided_layouts(), st.sampled_from([np.int16, np.float64, ">i4", "c8", "?", "S3"]))
def test_the_fields_are_those_of_numpys_buffers(layout, dtype):
    layout = Layout(layout.shape, strides=layout.strides, offset=layout.offset)
    view = memoryview(np.empty(0, dtype))
    info = layout.to_buffer_info(dtype)
    assert (info.format, info.itemsize, info.shape) == (view.format, view.itemsize, layout.shape.extents)
    memory = np.arange(info.itemsize * (layout.bounds()[1] + 1)).astype(np.uint8)
    made = np.ndarray(info.shape, dtype, buffer=memory, offset=info.offset, strides=info.strides)
    assert made.tobytes() == memory.view(f"V{info.itemsize}")[layout.to_numpy()].tobytes()


@given(strided_layouts())
def test_a_memoryview_is_read(layout):
    given_array = array_of(layout)
    found = Layout.from_memoryview(memoryview(given_array))
    low = layout.bounds()[0]
    assert np.array_equal(found.layout.to_numpy(), layout.to_numpy() - low)
    assert found.byte_offset == (2 * (low - layout.offset) if given_array.size else 0)
    assert (found.dtype, found.address, found.is_readonly) == (np.dtype(np.int16), None, False)


@pytest.mark.parametrize(
    "dtype",
    [
        "?",
        "b",
        "B",
        "h",
        "H",
        "i",
        "I",
        "l",
        "L",
        "q",
        "Q",
        "e",
        "f",
        "d",
        "g",
        "F",
        "D",
        "G",
        "S1",
        "S5",
        "U1",
        "U4",
    ],
)
@pytest.mark.parametrize("order", ["<", ">"])
def test_every_format_that_numpy_writes_is_read(dtype, order):
    # NumPy exports its long doubles in the order of the machine only.
    values = np.zeros(2, np.dtype(dtype).newbyteorder("=" if dtype in "gG" else order))
    assert Layout.from_memoryview(memoryview(values)).dtype == values.dtype


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_every_array_of_the_standard_library_is_read(code):
    values = array.array(code, [1, 2, 3])
    found = Layout.from_memoryview(memoryview(values))
    assert (found.layout, found.dtype.itemsize, found.dtype.kind) == (
        Layout(Shape(3)),
        values.itemsize,
        np.dtype(code).kind,
    )


def test_nested_ctypes_arrays_are_read():
    values = (ctypes.c_double * 3 * 2)()
    assert Layout.from_memoryview(memoryview(values)).layout == Layout(Shape(2, 3))


def test_bytes_are_read_only():
    assert Layout.from_memoryview(memoryview(b"abc")).is_readonly


def with_suboffsets():
    """A view of rows that are reached through pointers, as only C makes them."""
    testbuffer = pytest.importorskip("_testbuffer")
    return memoryview(testbuffer.ndarray([1, 2, 3, 4], shape=[2, 2], format="i", flags=testbuffer.ND_PIL))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (with_suboffsets, ConversionError, "suboffsets"),
        (lambda: np.zeros(3), ConversionError, "memoryview is needed"),
        (lambda: memoryview(np.zeros(2, "i4,f8")), DTypeError, "not a single number"),
        (lambda: memoryview(np.zeros(2, "V4")), DTypeError, "several numbers"),
        (lambda: memoryview(np.zeros(3, "i4,i2")["f0"]), LayoutError, "stride of mode 0 .* is 6 bytes"),
        (lambda: memoryview(np.array([None])), DTypeError, "bytes"),
        (lambda: memoryview((ctypes.py_object * 2)()), DTypeError, "bytes"),
    ],
)
def test_what_no_layout_can_say_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        Layout.from_memoryview(make())


def test_a_released_view_is_refused():
    view = memoryview(b"abc")
    view.release()
    with pytest.raises(ConversionError, match="released"):
        Layout.from_memoryview(view)


def test_datetimes_have_no_format():
    with pytest.raises(DTypeError, match="no word for"):
        Layout(Shape(2)).to_buffer_info("M8[s]")
    with pytest.raises(DTypeError, match="as bytes"):
        Layout(Shape(2)).to_buffer_info(object)
