"""Elements of every supported type, in every byte order and at every address, are never misread."""

import pickle

import ml_dtypes
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.errors import DTypeError

NATIVE = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g", "c8", "c16", "G"]
TIMES = ["M8[ns]", "M8[D]", "m8[s]"]
SMALL = [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


def numbers(dtype):
    base = np.arange(24).reshape(4, 6) % 16
    return (
        base.astype(np.int64).view("M8[s]").astype(dtype)
        if np.dtype(dtype).kind == "M"
        else base.astype(dtype)
    )


@pytest.mark.parametrize(
    "dtype", [*NATIVE, *TIMES, *SMALL, *[">" + d for d in NATIVE[2:] if d not in {"i1", "u1"}], ">M8[s]"]
)
def test_elements_are_read_and_written_as_what_they_are(dtype):
    x = numbers(dtype)
    t = tw.as_tensor(x)
    assert t.dtype == x.dtype
    wanted = x.tolist()
    assert t.tolist() == wanted
    assert np.asarray(t).dtype == x.dtype
    assert t.permute((1, 0)).copy().tolist() == x.T.tolist()
    assert t[1:, ::-2].tolist() == x[1:, ::-2].tolist()
    assert tw.as_tensor(x.T[::-1]).tolist() == x.T[::-1].tolist()
    assert t.rotate((1, 0)).tolist() == np.roll(x, 1, axis=0).tolist()
    assert t[[2, 0]].tolist() == x[[2, 0]].tolist()
    assert (
        t.tiled(Tiling([1, 3], [2, 4])).to_padded(fill_value=0)[1, 0, :3, :2].tolist() == x[1:, :2].tolist()
    )
    assert t.tiled(Tiling([1, 3], [2, 4])).elements().tolist()[:2] == wanted[0][:2]
    assert pickle.loads(pickle.dumps(t)).tolist() == wanted
    u = tw.zeros(Shape.jagged([6, 6]), dtype=x.dtype)
    u[0] = x[1]
    u[1].assign(t[0])
    assert u.tolist() == [wanted[1], wanted[0]]
    assert f", {t.dtype}, " in repr(t)
    assert t.array_equal(tw.as_tensor(x.copy(), copy=True))


@pytest.mark.parametrize("dtype", ["f8", ">f8", "i4", "M8[s]", ml_dtypes.bfloat16])
def test_elements_at_odd_addresses_are_no_others(dtype):
    x = numbers(dtype)
    memory = bytearray(1) + bytearray(x.tobytes())
    odd = np.ndarray(x.shape, x.dtype, buffer=memory, offset=1)
    assert odd.itemsize == 1 or not odd.flags.aligned
    t = tw.as_tensor(odd)
    assert np.shares_memory(np.asarray(t), odd)
    assert t.permute((1, 0))[::2].tolist() == x.T[::2].tolist()
    assert t.copy().tolist() == x.tolist()
    assert np.asarray(t.copy()).flags.aligned
    t[0, 0] = x[3, 3]
    assert odd[0, 0] == x[3, 3]


@pytest.mark.parametrize(
    "dtype", ["O", "S3", "U2", "V4", [("a", "i4"), ("b", "f8")], np.dtype("i4,i4"), np.dtypes.StringDType()]
)
def test_what_is_no_number_is_refused_by_name(dtype):
    with pytest.raises(DTypeError, match="not supported: allowed are"):
        tw.zeros((2,), dtype=dtype)
    with pytest.raises(DTypeError, match="not supported: allowed are"):
        tw.as_tensor(np.zeros(2, dtype))
