"""Tensors over shapes of every kind, sent and compared with what arrives."""

import numpy as np
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import wire


def filled(shape, dtype="f8"):
    """A tensor over `shape` whose elements all differ, as far as the type can tell."""
    return tw.from_buffer(np.arange(1, shape.size + 1).astype(dtype), shape)


def sent(*tensors, **options):
    frames = wire.encode(tensors, **options)
    return wire.decode([bytes(frame) for frame in frames]).tensors


def described(*tensors):
    return wire.decode(wire.encode(tensors)).label_object["TENS"]["tensors"]


def assert_same(got, want):
    assert got.shape == want.shape
    assert want.shape == got.shape
    assert hash(got.shape) == hash(want.shape)
    assert (got.dtype, got.size) == (want.dtype.newbyteorder("<"), want.size)
    assert got.is_readonly
    assert got.elements().tolist() == want.elements().tolist()
    assert got.tolist() == want.tolist()
    if want.shape.kind == "smooth":
        return
    ours, theirs = got.shape.cell_table(), want.shape.cell_table()
    for column in ("indices", "extents", "origins", "offsets"):
        assert getattr(ours, column).tolist() == getattr(theirs, column).tolist()
    for (i, a), (j, b) in zip(got.cells(), want.cells(), strict=True):
        assert (i, a.shape, a.tolist()) == (j, b.shape, b.tolist())


EXTENTS = st.integers(0, 4)


ORIGINS = st.integers(-5, 5)
