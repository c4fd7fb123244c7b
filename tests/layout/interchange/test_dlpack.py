"""DLPack capsules, NumPy's and forged ones."""

import ctypes
import gc
import sys
import weakref

import numpy as np
import pytest
from hypothesis import given

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentError,
    RankError,
    SizeOverflowError,
    TensorWrapperError,
)
from tensorwrapper.layout.interchange._dlpack import _Tensor, _Versioned
from tests.support.layout.strided import array_of, strided_layouts

LEGACY, VERSIONED = b"dltensor", b"dltensor_versioned"
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class Forged:
    """A producer of a capsule over structures of its own, which live as long as it does."""

    def __init__(self, name=LEGACY, *, shape=(2, 3), strides=(3, 1), flags=0, major=1, **fields):
        values = {
            "data": 4096,
            "device_type": 1,
            "device_id": 0,
            "ndim": len(shape or ()),
            "code": 2,
            "bits": 64,
        }
        values |= {"lanes": 1, "byte_offset": 0} | fields
        self.shape = None if shape is None else (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * max(len(strides), 1))(*strides)
        pointer = ctypes.POINTER(ctypes.c_int64)
        tensor = _Tensor(
            shape=ctypes.cast(self.shape, pointer), strides=ctypes.cast(self.strides, pointer), **values
        )
        self.managed = (
            tensor if name == LEGACY else _Versioned(major=major, minor=0, flags=flags, tensor=tensor)
        )
        self.capsule = new_capsule(ctypes.addressof(self.managed), name, None)

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize("version", [None, (1, 0)])
@given(layout=strided_layouts())
def test_numpys_capsules_are_read_and_not_consumed(version, layout):
    array = array_of(layout)
    capsule = array.__dlpack__() if version is None else array.__dlpack__(max_version=version)
    text = repr(capsule)
    found = Layout.from_dlpack(capsule)
    assert repr(capsule) == text
    assert found == Layout.from_dlpack(array)
    low = layout.bounds()[0]
    assert np.array_equal(found.layout.to_numpy(), layout.to_numpy() - low)
    assert (found.dtype, found.device, found.is_readonly, found.is_copied) == (
        array.dtype,
        (1, 0),
        False,
        False,
    )
    if array.size:
        assert found.address == array.base.__array_interface__["data"][0] + 2 * low
    assert np.array_equal(np.from_dlpack(Handing(capsule)), array)


class Handing:
    """Whoever hands out one capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


@given(strided_layouts())
def test_a_capsule_made_of_the_fields_is_numpys_capsule(layout):
    array = array_of(layout, np.float32)
    memory = array if array.base is None else array.base
    fields = layout.to_dltensor("f4", nbytes=memory.nbytes)
    made = Forged(
        shape=fields.shape,
        strides=fields.strides,
        code=fields.code,
        bits=fields.bits,
        lanes=fields.lanes,
        data=memory.__array_interface__["data"][0],
        byte_offset=fields.byte_offset,
    )
    mine, numpys = Layout.from_dlpack(made), Layout.from_dlpack(array)
    assert (mine.layout, mine.dtype, mine.nbytes) == (numpys.layout, numpys.dtype, numpys.nbytes)
    if array.size:
        assert mine.address == numpys.address


def test_the_memory_is_freed_as_if_nobody_had_looked():
    array = np.zeros(5)
    gone = weakref.ref(array)
    count = sys.getrefcount(array)
    Layout.from_dlpack(array)
    capsule = array.__dlpack__()
    Layout.from_dlpack(capsule)
    del capsule
    assert sys.getrefcount(array) == count
    del array
    gc.collect()
    assert gone() is None


def test_a_consumed_capsule_is_refused():
    array = np.zeros(5)
    capsule = array.__dlpack__()
    np.from_dlpack(Handing(capsule))
    with pytest.raises(ConversionError, match="still to be consumed"):
        Layout.from_dlpack(capsule)


def test_read_only_arrays_say_so():
    array = np.zeros(5)
    array.flags.writeable = False
    assert Layout.from_dlpack(array).is_readonly


class Old:
    """A producer from before version 1, whose method has no keywords."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)


def test_an_old_producer_is_asked_in_its_own_way():
    assert Layout.from_dlpack(Old(np.zeros((2, 3)))).layout == Layout(Shape(2, 3))


def test_no_strides_are_row_major():
    assert Layout.from_dlpack(Forged(strides=None)).layout == Layout(Shape(2, 3))


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((1, 3), (77, 1), (3, 1)),
        ((1, 3), (77, 2), (1, 2)),
        ((3, 1), (1, -5), (1, 1)),
        ((0, 3), (77, 77), (3, 1)),
        ((3, 3), (0, -1), (0, -1)),
        ((), (), ()),
    ],
)
def test_strides_that_are_never_stepped_along_have_one_form(shape, strides, expected):
    assert Layout.from_dlpack(Forged(shape=shape, strides=strides)).layout.strides == expected


def test_flags_device_and_offset():
    found = Layout.from_dlpack(Forged(VERSIONED, flags=3, device_type=2, device_id=1, byte_offset=16))
    assert (found.is_readonly, found.is_copied, found.device) == (True, True, (2, 1))
    assert (found.address, found.byte_offset) == (4112, 16)
    # On OpenCL and its kin the pointer is a handle, and no address.
    assert Layout.from_dlpack(Forged(device_type=4, data=1, strides=(-3, 1))).address is None


@pytest.mark.parametrize(
    ("code", "bits", "dtype"),
    [
        *[(0, bits, f"i{bits // 8}") for bits in (8, 16, 32, 64)],
        *[(1, bits, f"u{bits // 8}") for bits in (8, 16, 32, 64)],
        *[(2, bits, f"f{bits // 8}") for bits in (16, 32, 64)],
        *[(5, bits, f"c{bits // 8}") for bits in (64, 128)],
        (6, 8, "?"),
    ],
)
def test_types_are_numpys(code, bits, dtype):
    assert Layout.from_dlpack(Forged(code=code, bits=bits)).dtype == np.dtype(dtype)
    fields = Layout(Shape(2)).to_dltensor(dtype)
    assert (fields.code, fields.bits, fields.lanes) == (code, bits, 1)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"lanes": 2}, DTypeError, "2 lanes"),
        ({"lanes": 0}, DTypeError, "0 lanes"),
        ({"bits": 4, "code": 1}, DTypeError, "4 bits do not fill"),
        ({"name": VERSIONED, "flags": 4, "bits": 4, "code": 1}, DTypeError, "4 bits do not fill"),
        ({"bits": 0}, DTypeError, "0 bits"),
        ({"bits": 24}, DTypeError, "type code 2 with 24 bits"),
        ({"code": 4, "bits": 16}, DTypeError, "type code 4"),
        ({"code": 3}, DTypeError, "type code 3"),
        ({"name": VERSIONED, "major": 2}, ConversionError, "DLPack 2.0 is not known"),
        ({"ndim": -1}, RankError, "64 modes, not -1"),
        ({"ndim": 2**31 - 1}, RankError, "64 modes"),
        ({"shape": None, "ndim": 2}, ConversionError, "no shape"),
        ({"shape": (-1, 2)}, ExtentError, "negative"),
        ({"data": None}, ConversionError, "no memory"),
        ({"data": None, "byte_offset": 64}, ConversionError, "no memory"),
        ({"strides": (-(2**60), 1)}, SizeOverflowError, "64 bits"),
        ({"strides": (-4096, 1)}, SizeOverflowError, "64 bits"),
        ({"strides": (2**62, 2**62)}, SizeOverflowError, "64 bits"),
        ({"byte_offset": 2**64 - 1}, SizeOverflowError, "64 bits"),
    ],
)
def test_what_no_layout_can_say_is_refused(options, error, text):
    with pytest.raises(error, match=text):
        Layout.from_dlpack(Forged(**options))


@given(strided_layouts(reach=2**62))
def test_only_our_errors_come_out(layout):
    try:
        found = Layout.from_dlpack(Forged(shape=layout.shape.extents, strides=layout.strides))
    except TensorWrapperError:
        return
    if found.nbytes:
        assert 0 <= found.address <= found.address + found.nbytes <= 2**64


@pytest.mark.parametrize("dtype", ["M8[s]", "S3", "U2", ">i4", "i4,i4", "V4"])
def test_elements_that_dlpack_has_no_word_for_are_refused(dtype):
    with pytest.raises(DTypeError, match="DLPack has no word"):
        Layout(Shape(2)).to_dltensor(dtype)


def test_what_is_no_producer_is_refused():
    with pytest.raises(ConversionError, match="no __dlpack__"):
        Layout.from_dlpack(5)
    with pytest.raises(ConversionError, match="cannot be exported"):
        Layout.from_dlpack(np.zeros(2, ">i4"))
