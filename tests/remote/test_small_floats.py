"""bfloat16 and the floats of 8 bits are served as they travel in messages."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError
from tensorwrapper.remote.protocol._elements import dtype_of, dtype_text

ml_dtypes = pytest.importorskip("ml_dtypes")
NAMES = [
    "bfloat16",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
]


def same(found, expected):
    found, expected = np.asarray(found), np.ascontiguousarray(expected)
    assert found.dtype == expected.dtype
    assert np.ascontiguousarray(found).tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_they_are_selected_cast_and_written_as_other_types(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    assert dtype_of(dtype_text(dtype)) == dtype
    x = np.linspace(0.5, 8, 24, dtype="f4").reshape(4, 6).astype(dtype)
    served = {
        "x": x.copy(),
        "turned": tw.as_tensor(x).permute((1, 0)),
        "rows": tw.from_buffer(x.reshape(-1).copy(), tw.Shape.jagged([3, 0, 21])),
        "f": x.astype("f4"),
    }
    with tw.serve(served, writable=True) as server, tw.connect(server.address) as remote:
        there = remote["x"]
        assert there.dtype == dtype
        same(there.compute(), x)
        same(there[1:, ::2].compute(), x[1:, ::2])
        same(there[[0, 1, 3]].compute(), x[[0, 1, 3]])
        same(there.view().vindex[[0, 3], [1, 2]].compute(), x[[0, 3], [1, 2]])
        same(remote["turned"][1:].compute(), x.T[1:])
        same(remote["rows"][2].compute(), x.reshape(-1)[3:])
        same(there.astype("f4").compute(), x.astype("f4"))
        same(remote["f"].astype(dtype).compute(), tw.as_tensor(x.astype("f4")).astype(dtype))
        there[0:1] = x[1:2]
        same(remote["x"][0].compute(), x[1])
        same(remote.reduce(np.maximum, remote["x"], 0), np.maximum.reduce(remote["x"].compute(), axis=0))


def test_types_whose_bytes_are_not_all_values_are_refused_by_name():
    with pytest.raises(ConversionError, match="the tensor 'x': cannot send elements of type int4"):
        tw.serve({"x": np.ones(2, ml_dtypes.int4)})
