"""Elements of every kind of memory: byte orders, storage orders, odd addresses, types without a name."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ConversionError
from tensorwrapper.wire import Message, decode, encode
from tests.support.cases import case
from tests.support.wire.labels import described


def unaligned(array):
    room = np.zeros(array.nbytes + 1, np.uint8)
    room[1:] = np.frombuffer(array.tobytes(), np.uint8)
    return room[1:].view(array.dtype).reshape(array.shape)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


BASE = np.arange(24).reshape(2, 3, 4)
DTYPES = [
    *("?", "i1", "u1", "<i2", ">i2", "<u4", ">u4", "<i8", ">i8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"),
    *("<c8", ">c8", "<c16", ">c16", "<M8[s]", ">M8[ns]", "<M8[Y]", "<m8[us]", ">m8[D]"),
    *(np.dtype(t).name for t in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e3m4)),
]
MEMORY = {
    "C order": lambda a: a,
    "Fortran order": np.asfortranarray,
    "permuted": lambda a: a.transpose(1, 0, 2),
    "cycled": lambda a: a.transpose(2, 0, 1),
    "reversed": lambda a: a[::-1, :, ::-1],
    "strided": lambda a: a[:, ::2, 1:],
    "broadcast": lambda a: np.broadcast_to(a[:1], (2, 3, 4)),
    "read-only": read_only,
    "unaligned": unaligned,
    "no elements": lambda a: a[:, :0],
    "rank 0": lambda a: a[1, 2, 3],
    "one element": lambda a: a[:1, 1:2, :1],
}


@pytest.mark.parametrize("layout", ["packed", "keep"])
@pytest.mark.parametrize("make", MEMORY.values(), ids=MEMORY.keys())
def test_every_input_comes_back(make, layout):
    for dtype in DTYPES:
        with case(dtype):
            check_that_it_comes_back(dtype, make, layout)


def check_that_it_comes_back(dtype, make, layout):
    array = np.asarray(make((BASE % 2).astype(dtype) if dtype == "?" else BASE.astype(dtype)))
    frames = encode([array], layout=layout)
    (read,) = decode(frames).tensors
    assert (read.shape.extents, read.dtype) == (array.shape, array.dtype.newbyteorder("<"))
    assert np.array_equal(np.asarray(read).astype(array.dtype), array)
    # Whoever does not know the key `logical` gets numbers of the same size, in order.
    label = described(frames)
    plain = np.frombuffer(frames[2], f"<{label['dtype']}{label['word']}")
    assert (plain.size, plain.dtype.itemsize) == (array.size, array.dtype.itemsize)
    if layout == "packed":
        assert "order" not in label
        assert "ascend" not in label
        little = array.astype(array.dtype.newbyteorder("<"))
        assert bytes(frames[2]) == np.ascontiguousarray(little).tobytes()


@given(
    extents=st.lists(st.integers(0, 3), max_size=4),
    data=st.data(),
)
def test_any_view_is_sent_right(extents, data):
    array = np.arange(np.prod(extents, dtype=int) * 4).reshape(
        [n * 2 if k == 0 else n for k, n in enumerate(extents)] + [2 if extents else 4]
    )
    array = array.transpose(data.draw(st.permutations(range(array.ndim))))
    key = tuple(slice(None, None, data.draw(st.sampled_from([1, -1, 2, -2]))) for _ in range(array.ndim))
    view = array[key]
    for layout in ("packed", "keep"):
        frames = encode([view], layout=layout)
        (read,) = decode(frames).tensors
        assert np.array_equal(np.asarray(read), view)
        assert memoryview(frames[2]).nbytes == view.nbytes


def test_a_window_keeps_its_origin_and_its_order():
    table = tw.as_tensor(np.asfortranarray(np.arange(12.0).reshape(3, 4)))
    column = table.window(Shape(3, 2, origin=(0, 1)))
    with count_copies() as count:
        (read,) = decode(encode([column], layout="keep")).tensors
    assert count.copies == 0
    assert read.shape == Shape(3, 2, origin=(0, 1))
    assert read.tolist() == column.tolist()
    assert read.layout.strides == (1, 3)


def test_views_that_are_no_strides_are_packed():
    t = tw.as_tensor(np.arange(12.0).reshape(3, 4))
    for layout in ("packed", "keep"):
        for view in (t.rotate((1, 0)), t.repeat((2, 1)), t.repeat_each(0, 2), t.gather(0, [2, 0])):
            (read,) = decode(encode([view], layout=layout)).tensors
            assert read.tolist() == view.tolist()


@pytest.mark.parametrize("layout", ["C", "", None, 5, "Keep"])
def test_a_layout_is_packed_or_kept(layout):
    with pytest.raises(ConversionError, match="keep"):
        encode([BASE], layout=layout)
    with pytest.raises(ConversionError, match="keep"):
        Message().append(BASE, layout=layout)
