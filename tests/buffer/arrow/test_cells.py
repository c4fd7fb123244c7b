"""Tensors of Arrow of several shapes: each is a cell of a jagged tensor, with pyarrow as the writer."""

import json

import numpy as np
import pyarrow as pa
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError

DATA = [[1, 2, 3, 4, 5, 6], [7], []]
SHAPES = [[3, 2], [1, 1], [0, 4]]


def tensors(data, shapes, rank=2, values=None, **said):
    """Return what a file with such tensors gives: pyarrow has no class to make them."""
    values = values or pa.int32()
    storage = pa.struct([("data", pa.list_(values)), ("shape", pa.list_(pa.int32(), rank))])
    rows = [
        None if own is None else {"data": own, "shape": extents}
        for own, extents in zip(data, shapes, strict=True)
    ]
    metadata = {
        b"ARROW:extension:name": b"arrow.variable_shape_tensor",
        b"ARROW:extension:metadata": json.dumps(said).encode(),
    }
    schema = pa.schema([pa.field("x", storage, metadata=metadata)])
    table = pa.Table.from_arrays([pa.array(rows, storage)], schema=schema)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()["x"]


def test_each_tensor_is_a_cell():
    found = tw.as_tensor(tensors(DATA, SHAPES))
    assert found.shape == tw.Shape.from_cells((3,), SHAPES)
    assert found.tolist() == [[[1, 2], [3, 4], [5, 6]], [[7]], []]


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_the_order_and_the_names_of_modes_are_those_that_are_meant(rank):
    rng = np.random.default_rng(rank)
    shapes = rng.integers(0, 4, (5, rank))
    cells = [rng.integers(0, 99, own) for own in shapes]
    order = rng.permutation(rank).tolist()
    names = list("abcd"[:rank])
    given = tensors(
        [own.ravel().tolist() for own in cells], shapes.tolist(), rank, permutation=order, dim_names=names
    )
    found = tw.as_tensor(given)
    assert found.shape.names == (None, *[names[mode] for mode in order])
    for k, own in enumerate(cells):
        assert np.array_equal(np.asarray(found[k]), own.transpose(order))


def test_slices_and_arrays_in_a_row_are_joined():
    column = tensors(DATA, SHAPES)
    joined = pa.chunked_array([column.chunk(0).slice(1), column.chunk(0)])
    assert tw.as_tensor(joined).tolist() == [[[7]], [], [[1, 2], [3, 4], [5, 6]], [[7]], []]
    assert tw.as_tensor(column.chunk(0).slice(3)).shape == tw.Shape.from_cells((0,), np.empty((0, 2), int))


def test_nulls_among_elements_stay_nulls():
    found = tw.as_tensor(tensors([[1, None]], [[1, 2]]))
    assert found.tolist() == [[[1, None]]]


def test_null_tensors_are_refused_or_empty():
    given = tensors([[1, 2], None, [3]], [[1, 2], None, [1, 1]])
    with pytest.raises(ConversionError, match="1 of 3 rows"):
        tw.as_tensor(given)
    assert tw.as_tensor(given, null_rows="empty").tolist() == [[[1, 2]], [], [[3]]]


@pytest.mark.parametrize(
    ("data", "shapes", "said", "text"),
    [
        ([[1, 2]], [[1, 1]], {}, r"tensor 0 .* extents \[1, 1\], and 2 elements"),
        ([[1], [1, 2]], [[1, 1], [-1, -2]], {}, "tensor 1"),
        ([[1], []], [[1, 1], [2**16, 2**16]], {}, "tensor 1"),
        ([[1]], [[1, 1]], {"uniform_shape": [2, None]}, "uniform_shape"),
    ],
)
def test_extents_that_do_not_fit_are_refused(data, shapes, said, text):
    with pytest.raises(ConversionError, match=text):
        tw.as_tensor(tensors(data, shapes, **said))


def test_products_of_extents_do_not_wrap():
    shapes = [[2**16, 2**16, 2**16, 2**16]]
    with pytest.raises(ConversionError, match="tensor 0"):
        tw.as_tensor(tensors([[]], shapes, rank=4))
