"""Arrays of Dask, both ways: tiles, layers and memory become chunks, and views stay unread."""

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, interop
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, ExtentError

X = np.arange(900.0).reshape(30, 30)
TILES = Tiling([5, 15, 10], [30])
sizes = st.lists(st.integers(0, 4), min_size=1, max_size=4)


def computed(array):
    return array.compute(scheduler="sync")


class Untouched:
    """A lazy array that counts what is read of it."""

    def __init__(self, array):
        self.array, self.read = array, 0
        self.shape, self.dtype = array.shape, array.dtype

    def __getitem__(self, key):
        part = self.array[key]
        self.read += part.size
        return part

    def __dask_tokenize__(self):
        return "Untouched"


def test_tiles_are_chunks():
    tiled = tw.as_tensor(X).tiled(TILES)

    assert tiled.to_dask().chunks == ((5, 15, 10), (30,))
    assert np.array_equal(computed(tiled.to_dask()), X)
    assert sel.as_view(X).tiled(TILES).to_dask().chunks == ((5, 15, 10), (30,))


@given(sizes, sizes, st.booleans(), st.booleans())
def test_any_tiles_there_and_back(a, b, lazy, moved):
    tiling = Tiling(a, b, origin=(3, -2) if moved else None)
    x = np.arange(sum(a) * sum(b)).reshape(sum(a), sum(b))
    whole = tw.as_tensor(x).translate_to(tiling.origin)
    array = (sel.as_view(whole) if lazy else whole).tiled(tiling).to_dask()

    assert array.chunks == tiling.chunks
    assert array.dtype == x.dtype
    assert np.array_equal(computed(array), x)
    assert [part.shape for part in dask.compute(*array.to_delayed().ravel(), scheduler="sync")] == [
        tile.extents for tile in tiling.tiles()
    ]
    back = interop.from_dask(array)
    assert back.shape == Shape.tiled(a, b)
    assert np.array_equal(back.untiled().to_numpy(), x)


def test_tiles_in_a_row_are_chunks_too():
    tiles = tw.from_buffer(np.arange(8.0), Shape.tiled([1, 3], [2]))
    array = tiles.to_dask()

    assert array.chunks == ((1, 3), (2,))
    assert computed(array).tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert computed(sel.as_view(tiles).to_dask()).tolist() == computed(array).tolist()
    with pytest.raises(ConversionError, match="scatter"):
        tiles.to_dask(chunks=1)


def test_tiles_whose_cells_are_rows_are_chunks_too():
    rows = tw.jagged([[[[1, 2]], [[3]]], [[[4, 5]], [[6]]]])
    for held in (rows, sel.as_view(rows)):
        chunked = held.to_dask()
        assert chunked.chunks == Tiling.from_shape(rows.shape).chunks == ((1, 1), (2, 1))
        assert chunked.compute(scheduler="sync").tolist() == [[1, 2, 3], [4, 5, 6]]


def test_the_memory_of_a_tensor_is_shared():
    array = tw.as_tensor(X).tiled(TILES).to_dask()
    chunks = dict(array.__dask_graph__())

    assert all(np.shares_memory(chunk, X) for chunk in chunks.values())


def test_a_view_is_read_chunk_by_chunk_when_it_is_computed():
    source = Untouched(X)
    view = sel.concat([sel.as_view(source), sel.zeros(Shape(30, 30))], mode=1).tiled(
        Tiling([20, 10], [30, 30])
    )
    array = view.to_dask()
    assert source.read == 0
    assert computed(array.blocks[1, 0]).tolist() == X[20:].tolist()
    assert source.read == 300
    assert computed(array.blocks[0, 1]).sum() == 0
    assert source.read == 300


def test_arrays_of_dask_are_views_and_tensors():
    array = da.from_array(X, chunks=(7, -1)) + 1

    assert sel.as_view(array).shape == Shape(30, 30)
    assert np.array_equal(tw.as_tensor(array).to_numpy(), X + 1)
    view = interop.from_dask(array)
    assert view.tiling == Tiling([7, 7, 7, 7, 2], [30])
    assert np.array_equal(computed(view.to_dask()), X + 1)


def test_what_is_no_array_of_dask_is_refused():
    with pytest.raises(ConversionError, match="as_view"):
        interop.from_dask(X)


def test_more_chunks_than_a_graph_has_are_refused_before_one_is_made():
    with pytest.raises(ExtentError, match=r"4194304 chunks, and a graph has 1048576 at most"):
        sel.full((2**40, 3), 0).to_dask(chunks=(2**18, -1))


@pytest.mark.parametrize(
    "change",
    [lambda t: t.gather(1, [1, 0, 1]), lambda t: t.rotate((1, 2)), lambda t: t.gather(0, [2, 2])[::-1]],
)
def test_what_lies_in_no_strides_is_read_by_the_tasks(change):
    tensor = change(tw.as_tensor(np.arange(12.0).reshape(3, 4)))
    with dask.config.set(scheduler="sync"):
        made = tensor.to_dask(chunks=(2, -1))
        assert made.chunks[0] == ((2, 1) if len(tensor) == 3 else (2,))
        assert np.array_equal(made.compute(), np.asarray(tensor))
