"""Small files of every kind of tensor, for tests of what readers take."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling

DTYPES = ["?", "i1", "u2", "i8", ">i4", "f2", "f4", ">f8", "c8", "c16"]


def tensors_of_every_kind():
    table = np.arange(12.0).reshape(3, 4)
    found = {f"of {dtype}": np.arange(6).reshape(2, 3).astype(dtype) for dtype in DTYPES}
    return found | {
        "times": np.array(["2026-01-01", "NaT"], "M8[s]"),
        "scalar": np.array(2.5),
        "empty": np.zeros((3, 0, 2)),
        "none": np.zeros((0,), "i2"),
        "Fortran": np.asfortranarray(table),
        "reversed": table[::-1, ::2],
        "broadcast": np.broadcast_to(np.arange(3), (2, 3)),
        "origin": tw.as_tensor(table).window(Shape(2, 2, origin=(1, 1))),
        "jagged": tw.jagged([[1, 2, 3], [], [4]]),
        "deeper": tw.jagged([[[1], [2, 3]], [], [[4, 5, 6]]]),
        "jagged with origins": tw.from_buffer(
            np.arange(12.0), Shape.jagged([Shape(2, 3, origin=(1, k)) for k in (0, 4)])
        ),
        "box of tiles": tw.as_tensor(table).tiled(Tiling([1, 2], [3, 0, 1])),
        "tiles": tw.from_buffer(np.arange(12), Tiling([1, 2], [3, 0, 1]).shape),
        "sparse": tw.sparse([[0, 1], [2, 2]], [3.5, 4.5], (3, 4), fill_value=1),
        "sparse and vast": tw.sparse([[0, 1], [2**20, 2]], [3.5, 4.5], (2**31, 2**20))[2**20 :, ::2],
        "text": tw.strings([["a", ""], ["\u00fcber", "\u4f60\u597d"]]),
        "some text": tw.strings(["a", None]),
        "bytes": tw.strings([b"\xff", b""]),
        "\u00fcber \u4f60\u597d": np.arange(3),
    }


def assert_same(got, want):
    want = tw.as_tensor(want)
    assert got.shape == want.shape
    assert got.dtype == (want.dtype.newbyteorder("<") if want.dtype.kind in "biufcmM" else want.dtype)
    assert got.is_readonly
    if want.is_sparse:
        assert (got.nnz, got.fill_value) == (want.nnz, want.fill_value)
        assert got.coords().tolist() == want.coords().tolist()
        assert got.values().tolist() == want.values().tolist()
    else:
        assert got.elements().tolist() == want.elements().tolist()
        assert got.tolist() == want.tolist()
