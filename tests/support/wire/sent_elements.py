"""Elements of every kind, sent and compared with what arrives."""

import numpy as np

from tensorwrapper import wire


def sent(*tensors, **options):
    return wire.decode([bytes(frame) for frame in wire.encode(tensors, **options)]).tensors


def assert_same(got, want):
    little = want.dtype.newbyteorder("<") if want.dtype.kind not in "TO" else want.dtype
    assert (got.shape, got.dtype, got.is_sparse) == (want.shape, little, want.is_sparse)
    assert got.is_readonly
    assert got.tolist() == want.tolist()
    if want.is_sparse:
        assert got.coords().tolist() == want.coords().tolist()
        assert np.array_equal(got.values(), want.values(), equal_nan=want.dtype.kind in "fc")
        assert got.buffer.fill_value.tobytes() == want.buffer.fill_value.astype(got.dtype).tobytes()


WORDS = [["a", "bcd"], ["", "h\u00e9llo"]]
