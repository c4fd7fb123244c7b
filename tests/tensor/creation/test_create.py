"""Tensors with new memory: shapes of every kind, layouts, numbers and functions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    LayoutError,
    SizeOverflowError,
    TensorWrapperError,
)
from tensorwrapper.testing import jagged_shapes, smooth_shapes, tiled_shapes

ANY = st.one_of(smooth_shapes(max_rank=3), jagged_shapes(max_rank=3), tiled_shapes())


@given(ANY)
def test_zeros_and_full_have_the_shape_and_one_number(shape):
    t = tw.zeros(shape)
    assert (t.shape, t.dtype, t.is_readonly) == (shape, np.dtype(np.float64), False)
    assert not t.elements().any()
    u = tw.full(shape, 7, dtype="i2")
    assert (u.shape, u.dtype) == (shape, np.dtype("i2"))
    assert (u.elements() == 7).all()
    assert tw.empty(shape, dtype="c8").elements().shape == (shape.size,)


@given(ANY)
def test_a_function_gets_every_block_where_it_lies(shape):
    def fill(block):
        indices = block.indices().to_numpy().reshape(*block.extents, block.rank)
        return (indices * 10 ** np.arange(block.rank)).sum(axis=-1)

    t = tw.full(shape, fill, dtype="i8")
    wanted = []
    if shape.kind == "nested":
        blocks = [cell for _, cell in shape.cells()]
    elif shape.kind == "jagged" and shape.rank == 2 * shape.outer_rank > 2 and shape.raggedness != "ragged":
        moves = [-start for start in shape.outer().origin] + [0] * shape.outer_rank
        blocks = list(Tiling.from_shape(shape.translate_by(moves)).tiles())
    else:
        blocks = list(shape.blocks())
    for block in blocks:
        wanted += fill(block).reshape(-1).tolist()
    assert t.elements().tolist() == wanted


def test_s6_every_block_has_its_absolute_origin():
    def origins(shape):
        seen = []
        tw.full(shape, lambda block: seen.append((block.origin, block.extents)) or 0)
        return seen

    assert origins(Shape.tiled([1, 3], [2, 2])) == [
        ((0, 0), (1, 2)),
        ((0, 2), (1, 2)),
        ((1, 0), (3, 2)),
        ((1, 2), (3, 2)),
    ]
    assert origins(Shape.jagged([2, 3], origin=(4, 7))) == [((4, 7), (1, 2)), ((5, 7), (1, 3))]
    assert origins(Shape.triangular(3, "upper")) == [((k, k), (1, 3 - k)) for k in range(3)]
    assert origins(Shape.jagged([Shape(1, 2, origin=(5, 6))], origin=(3, 0, 0))) == [((3, 5, 6), (1, 1, 2))]
    assert origins(Shape.from_cells((1, 1, 1), [(2,)])) == [((0, 0, 0, 0), (1, 1, 1, 2))]
    rows = tw.full(Shape.jagged([2, 3]), lambda block: block.indices().to_numpy()[:, 1], dtype="i8")
    assert rows.tolist() == [[0, 1], [0, 1, 2]]


def test_a_box_is_filled_tile_by_tile():
    tiling = Tiling([2, 1], [1, 3], origin=(5, 5))
    seen = []

    def fill(block):
        seen.append(block)
        return sum(block.origin)

    t = tw.full(tiling.elements, fill, tiling=tiling, dtype="i8")
    assert seen == list(tiling.tiles())
    assert t.tolist() == [[10, 11, 11, 11], [10, 11, 11, 11], [12, 13, 13, 13]]


def test_a_layout_says_where_elements_lie():
    shape = Shape(2, 3)
    t = tw.zeros(shape, layout=Layout(shape, order="F"))
    t[0] = [1, 2, 3]
    assert t.buffer.flat.tolist() == [1, 0, 2, 0, 3, 0]
    assert np.asarray(t).flags.f_contiguous
    padded = tw.full(shape, 4.0, layout=Layout(shape, strides=(4, 1), offset=1))
    assert padded.buffer.size == 8
    once = tw.full((3, 3), 1, layout=Layout(Shape(1, 3)).broadcast(Shape(3, 3)))
    assert once.is_readonly
    assert once.buffer.size == 3


@pytest.mark.parametrize(
    ("rows", "columns", "diagonal"),
    [(3, None, 0), (2, 4, 1), (4, 2, -1), (3, 3, 5), (3, 3, -5), (0, 0, 0), (0, 2, 1)],
)
def test_eye_is_numpys(rows, columns, diagonal):
    assert tw.eye(rows, columns, diagonal=diagonal).tolist() == np.eye(rows, columns, diagonal).tolist()


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: tw.zeros((2,), dtype="O"), DTypeError, "object"),
        (
            lambda: tw.zeros((2,), layout=Layout(Shape(3))),
            ConversionError,
            "not over",
        ),
        (lambda: tw.empty((3,), layout=Layout(Shape(3), strides=(-1,))), LayoutError, "offset -2"),
        (lambda: tw.empty((2**40, 2**40)), BufferSizeError, "address space"),
        (lambda: tw.full((2,), 300, dtype="u1"), SizeOverflowError, "300"),
        (lambda: tw.full((2,), 1.0, tiling=Tiling([1, 1])), ConversionError, "for functions"),
        (lambda: tw.full((3,), lambda _: 0, tiling=Tiling([1, 1])), ConversionError, "no blocks"),
        (
            lambda: tw.full((2,), lambda _: [1, 2, 3]),
            ExtentMismatchError,
            "extents .3,. for the block",
        ),
        (lambda: tw.eye(2.0), ConversionError, "integer"),
    ],
)
def test_what_cannot_be_made_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    "shape", [Shape(2, 3), Shape(), Shape(0), Shape.jagged([2, 0, 1]), Shape(2, origin=(5,))]
)
@pytest.mark.parametrize("text", ["aé", "", b"x\xff"])
def test_a_text_fills_any_shape_as_strings_do(shape, text):
    made = tw.full(shape, text)
    assert made.shape == shape
    assert list(made.elements()) == [text] * shape.size
    assert made.dtype == tw.strings([text]).dtype == tw.full(shape, text, dtype=made.dtype).dtype
    if shape.size > 1:
        made[(0,) * shape.rank] = text * 2
        assert list(made.elements()) == [text * 2] + [text] * (shape.size - 1)


def test_what_a_text_does_not_fill_says_why():
    with pytest.raises(ConversionError, match="no layout with a text"):
        tw.full((2,), "a", layout=Layout((2,), order="F"))
    with pytest.raises(ConversionError, match="a tiling is for functions"):
        tw.full((2,), "a", tiling=tw.Tiling([1, 1]))
    with pytest.raises(TensorWrapperError):
        tw.full((2,), "a", dtype="i8")
    with pytest.raises(TensorWrapperError):
        tw.full((2**60,), "a")
