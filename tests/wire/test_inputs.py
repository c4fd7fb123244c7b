"""Elements of every kind of memory: byte orders, storage orders, odd addresses, types without a name."""

import itertools
import json

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ConversionError, LocalProtocolError
from tensorwrapper.wire import Message, decode, encode


def described(frames):
    return json.loads(bytes(frames[0])[8:])["TENS"]["tensors"][0]


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
    *("bfloat16", "float8_e4m3fn", "float8_e3m4"),
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
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_input_comes_back(dtype, make, layout):
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


@pytest.mark.parametrize(
    ("dtype", "kind", "word", "logical"),
    [
        ("M8[s]", "i", 8, "datetime64[s]"),
        (">M8[ns]", "i", 8, "datetime64[ns]"),
        ("m8[D]", "i", 8, "timedelta64[D]"),
        ("bfloat16", "u", 2, "bfloat16"),
        ("float8_e4m3fn", "u", 1, "float8_e4m3fn"),
        ("float8_e5m2", "u", 1, "float8_e5m2"),
    ],
)
def test_types_without_a_name_travel_as_integers(dtype, kind, word, logical):
    label = described(encode([np.zeros(2, dtype)]))
    assert label == {"dtype": kind, "logical": logical, "part": 0, "shape": [2], "word": word}


def test_times_that_are_none_stay_so():
    array = np.array(["2020-01-01", "NaT"], "M8[D]")
    (read,) = decode(encode([array])).tensors
    assert np.asarray(read).tolist() == array.tolist()


@pytest.mark.parametrize("dtype", ["int4", "uint2", "float4_e2m1fn", "float6_e2m3fn"])
def test_types_in_which_not_every_byte_is_a_value_are_refused(dtype):
    with pytest.raises(LocalProtocolError) as caught:
        encode([np.zeros(2, getattr(ml_dtypes, dtype))])
    assert caught.value.reason == "unsupported"


def test_jagged_times_come_back():
    rows = tw.from_buffer(np.arange(6).astype(">M8[ms]"), Shape.jagged([3, 1, 2]))
    (read,) = decode(encode([rows])).tensors
    assert (read.dtype, read.shape) == (np.dtype("<M8[ms]"), rows.shape)
    assert read.tolist() == rows.tolist()


KEPT = [
    # Boost's table: how an array of that order is made, and what is said of it.
    ((2, 1, 0), (), None, None),
    ((0, 1, 2), (), [0, 1, 2], None),
    ((2, 0, 1), (), [2, 0, 1], None),
    ((1, 2, 0), (), [1, 2, 0], None),
    ((2, 1, 0), (1,), None, [True, False, True]),
    ((2, 0, 1), (0, 2), [2, 0, 1], [False, True, False]),
]


def stored(order, down, extents=(2, 3, 4)):
    """An array whose modes lie in memory in an order (the fastest first), some of them backwards."""
    slowest_first = order[::-1]
    flat = np.arange(float(np.prod(extents)))
    array = flat.reshape([extents[mode] for mode in slowest_first]).transpose(np.argsort(slowest_first))
    return np.flip(array, down)


@pytest.mark.parametrize(("order", "down", "said", "ascend"), KEPT)
def test_orders_are_kept_as_boost_says_them(order, down, said, ascend):
    array = stored(order, down)
    with count_copies() as count:
        frames = encode([array], layout="keep")
        (read,) = decode(frames).tensors
    assert count.copies == 0
    label = described(frames)
    assert (label.get("order"), label.get("ascend")) == (said, ascend)
    assert read.layout.strides == tuple(s // 8 for s in array.strides)
    assert np.array_equal(np.asarray(read), array)
    assert np.shares_memory(np.frombuffer(frames[2], "<f8"), array)
    assert np.frombuffer(frames[2], "<f8").tolist() == [*range(24)]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("down", [c for r in range(4) for c in itertools.combinations(range(3), r)])
def test_every_permuted_and_reversed_view_leaves_without_a_copy(order, down):
    array = stored(order, down)
    view = tw.as_tensor(array)
    with count_copies() as count:
        (read,) = decode(encode([view], layout="keep")).tensors
    assert count.copies == 0
    assert np.array_equal(np.asarray(read), array)
    built = Message().append(view, layout="keep")
    assert built.tensors[0].tolist() == array.tolist()


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
