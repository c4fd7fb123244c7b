"""One strided view, and what every neighbour has to be told of it: the table of bridges."""

import sys

import numpy as np
import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import BufferSizeError, DTypeError, LayoutError

# Shape n, strides s in elements, offset o, origin m, elements of w bytes.
EXTENTS, STRIDES, OFFSET, ORIGIN, WIDTH = (3, 2), (-8, 3), 20, (5, -1), 8
VIEW = Layout(Shape(*EXTENTS, origin=ORIGIN), strides=STRIDES, offset=OFFSET)
BYTES = tuple(step * WIDTH for step in STRIDES)
MEMORY = np.arange(24.0)


def test_numpy():
    array = np.ndarray(EXTENTS, "f8", MEMORY, OFFSET * WIDTH, BYTES)
    assert array.ravel().tolist() == VIEW.to_numpy().ravel().tolist() == [20, 23, 12, 15, 4, 7]


def test_array_interface():
    fields = VIEW.to_array_interface("f8", nbytes=MEMORY.nbytes)
    assert (fields.shape, fields.strides, fields.offset) == (EXTENTS, BYTES, OFFSET * WIDTH)
    written = fields.to_dict(1 << 20, MEMORY.nbytes, is_readonly=True)
    assert written["data"] == ((1 << 20) + OFFSET * WIDTH, True)
    assert written["version"] == 3
    # Without gaps and in row-major order there are no strides.
    assert Layout(Shape(3, 2)).to_array_interface("f8").strides is None


def test_pep_3118():
    info = VIEW.to_buffer_info("f8", nbytes=MEMORY.nbytes)
    assert (info.format, info.itemsize, info.shape) == ("d", WIDTH, EXTENTS)
    assert (info.strides, info.offset) == (BYTES, OFFSET * WIDTH)


def test_dlpack():
    fields = VIEW.to_dltensor("f8", nbytes=MEMORY.nbytes)
    assert (fields.shape, fields.strides, fields.byte_offset) == (EXTENTS, STRIDES, OFFSET * WIDTH)
    assert (fields.code, fields.bits, fields.lanes) == (2, 64, 1)


def test_halide():
    buffer = VIEW.to_halide()
    assert buffer.dims == ((-1, 2, 3), (5, 3, -8))
    assert buffer.offset == OFFSET
    assert buffer.lost.is_exact


@pytest.mark.parametrize(
    ("array", "shape", "strides"),
    [
        (np.zeros((3, 3)), (3, 3), None),
        (np.zeros((3, 3)).T, (3, 3), (8, 24)),
        (np.zeros((3, 4))[::-2], (2, 4), (-64, 8)),
    ],
)
def test_dtype_next(array, shape, strides):
    """Its descriptor has shape, strides in bytes and the byte order apart: all of them are there."""
    found = Layout.from_array_interface(array)
    fields = found.layout.to_array_interface(found.dtype)
    assert (fields.shape, fields.strides) == (shape, strides)
    assert fields.typestr == {"little": "<f8", "big": ">f8"}[sys.byteorder]
    # The whole length, also where a mode goes down.
    low, high = np.lib.array_utils.byte_bounds(array)
    assert (found.address, found.nbytes) == (low, high - low)


def test_dtype_next_refusals():
    with pytest.raises(BufferSizeError, match="address 0"):
        Layout.from_array_interface({"shape": (3,), "typestr": "<f8", "data": (0, False)})
    with pytest.raises(LayoutError, match="no multiple of the 8 bytes"):
        Layout.from_array_interface(np.zeros(3, "f8,i4")["f0"])


def test_the_array_api_has_a_shape_and_no_strides():
    assert VIEW.losses("array_api").lost == ("origin", "offset", "strides")
    assert Layout(Shape(2, 3)).losses("array_api").is_exact


def test_cutes_text_has_no_origin():
    assert VIEW.losses("cute").refused == ("origin",)
    plain = Layout(Shape(*EXTENTS), strides=STRIDES, offset=OFFSET)
    assert plain.losses("cute").is_exact
    assert Layout.parse(str(plain)) == plain


def test_strings_and_times_go_where_they_can():
    assert VIEW.to_array_interface("<M8[ns]").typestr == "<M8[ns]"
    assert VIEW.to_buffer_info("S3").strides == (-24, 9)
    with pytest.raises(DTypeError):
        VIEW.to_buffer_info("M8[ns]")
    with pytest.raises(DTypeError):
        VIEW.to_dltensor("S3")
    with pytest.raises(DTypeError, match="typestr"):
        VIEW.to_array_interface("i4,i4")
