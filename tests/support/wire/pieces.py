"""Tensors of every kind cut into blocks, sent, and put together again."""

import numpy as np
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.testing import (
    jagged_shapes,
    nested_shapes,
    smooth_shapes,
    tiled_shapes,
    triangular_shapes,
    views,
)
from tensorwrapper.wire import decode, encode

MUCH = 2**22


DTYPES = ["?", "u1", "<i4", ">i4", "f8", "c16", "M8[ns]"]


shapes = st.one_of(
    smooth_shapes(),
    jagged_shapes(),
    tiled_shapes(),
    nested_shapes(),
    triangular_shapes(),
    views(jagged_shapes()),
    views(tiled_shapes()),
)


def filled(shape, dtype="f8"):
    return tw.from_buffer(np.arange(1, shape.size + 1).astype(dtype), shape)


@st.composite
def tensors(draw):
    """A tensor of any kind, of numbers, sparse or strings, as it was made or through a layout."""
    shape = draw(shapes)
    held = draw(st.sampled_from(["numbers", "numbers", "reversed", "tiled", "sparse", "strings", "bytes"]))
    if held == "tiled" and shape.kind == "smooth" and shape.rank:
        marks = [draw(st.integers(0, n)) for n in shape.extents]
        tiling = Tiling(*[[a, n - a] for a, n in zip(marks, shape.extents, strict=True)], origin=shape.origin)
        return filled(shape, draw(st.sampled_from(DTYPES))).tiled(tiling)
    if held == "sparse":
        kept = draw(st.lists(st.booleans(), min_size=shape.size, max_size=shape.size))
        addresses = np.flatnonzero(kept)
        fill = draw(st.sampled_from([0.0, -0.0, 7.5, float("nan")]))
        buffer = tw.buffer.Sparse(addresses, addresses + 0.5, shape.size, fill_value=fill)
        return tw.from_buffer(buffer, shape)
    if held in ("strings", "bytes"):
        text = st.text(max_size=3) if held == "strings" else st.binary(max_size=3)
        item = st.one_of(text, st.none()) if draw(st.booleans()) else text
        items = draw(st.lists(item, min_size=shape.size, max_size=shape.size))
        return tw.from_buffer(tw.strings(items).buffer, shape)
    tensor = filled(shape, draw(st.sampled_from(DTYPES)))
    return tensor.reverse(shape.rank - 1) if held == "reversed" and shape.rank else tensor


def sent(blocks, **options):
    return decode([bytes(frame) for frame in encode([*blocks], **options)])


def put_together(assembler, blocks, per_message=1):
    done = {}
    for start in range(0, len(blocks), per_message):
        done |= assembler.add(sent(blocks[start : start + per_message]))
    return done


def assert_same(got, want):
    assert got.shape == want.shape
    assert got.shape.kind == want.shape.kind
    assert str(got.shape) == str(want.shape)
    if want.shape.kind == "nested":
        assert got.shape.layers == want.shape.layers
    assert got.dtype == (want.dtype if want.dtype.kind in "TO" else want.dtype.newbyteorder("<"))
    assert got.tolist() == want.tolist() or got.array_equal(want, equal_nan=True)
    assert got.buffer.nullable == want.buffer.nullable
    fill = want.buffer.fill_value
    assert (got.buffer.fill_value is None) == (fill is None)
    if fill is not None:
        assert got.buffer.fill_value.tobytes() == fill.tobytes()
        assert got.nnz == want.nnz


def rows_of(lengths):
    return filled(Shape.jagged(lengths), "i4")
