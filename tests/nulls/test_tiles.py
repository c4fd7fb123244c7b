"""Reductions of tiles and cells that have nulls, against NumPy on their valid elements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.errors import ExtentError
from tests.nulls.test_laws import quietly

FUNCTIONS = {
    "add": (np.add, np.sum),
    "multiply": (np.multiply, np.prod),
    "logical_or": (np.logical_or, np.any),
    "sum": (np.sum, np.sum),
    "median": (np.median, np.median),
    "std": (np.std, np.std),
    "norm": (np.linalg.norm, np.linalg.norm),
}


@st.composite
def cells_with_nulls(draw):
    """A tiled box, or cells of rows, some elements of which are nulls; and the valid ones of each cell."""
    sizes = st.lists(st.integers(0, 3), min_size=1, max_size=3)
    seed = np.random.default_rng(draw(st.integers(0, 99)))
    if draw(st.booleans()):
        tiling = Tiling(draw(sizes), draw(sizes))
        shape = tiling.elements
    else:
        rank = draw(st.integers(1, 2))
        pairs = draw(st.lists(st.tuples(*[st.integers(0, 3)] * rank), min_size=1, max_size=4))
        tiling, shape = None, Shape.from_cells((len(pairs),), pairs)
    values = seed.integers(-3, 4, shape.size).astype(draw(st.sampled_from(["f8", "f4", "i4"])))
    valid = seed.random(shape.size) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    valid = tw.from_buffer(valid, shape)
    tensor = tw.nullable(tw.from_buffer(values, shape), valid)
    tensor = tensor if tiling is None else tensor.tiled(tiling)
    return tensor, [cell.drop_null().elements() for _, cell in tensor.cells()]


@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=st.data())
def test_nulls_are_skipped(name, data):
    function, right = FUNCTIONS[name]
    tensor, cells = data.draw(cells_with_nulls())
    found = quietly(lambda: tensor.reduce_tiles(function))
    expected = quietly(lambda: [right(cell) for cell in cells])
    assert found.shape == tensor.shape.outer()
    assert not found.is_nullable
    assert np.allclose(found.elements(), expected, equal_nan=True)
    lazily = quietly(lambda: sel.as_view(tensor).reduce_tiles(function))
    assert np.array_equal(lazily.elements(), found.elements(), equal_nan=True)


@given(cells_with_nulls())
def test_the_greatest_needs_a_valid_element_or_an_initial_number(case):
    tensor, cells = case
    found = tensor.reduce_tiles(np.maximum, initial=-9)
    assert found.elements().tolist() == [cell.max(initial=-9) for cell in cells]
    if all(map(len, cells)):
        assert tensor.reduce_tiles(np.max).elements().tolist() == [cell.max() for cell in cells]
        return
    for function in (np.maximum, np.max):
        with pytest.raises(ExtentError, match="empty"):
            tensor.reduce_tiles(function)


def test_the_error_names_the_tile_of_nulls():
    tiles = tw.nullable(np.arange(4.0).reshape(2, 2), np.array([[True, True], [False, True]])).tiled(
        Tiling([1, 1], [1, 1])
    )
    with pytest.raises(ExtentError, match=r"tile \(1, 0\) is empty"):
        tiles.reduce_tiles(np.maximum)


def test_what_stands_under_a_null_changes_nothing():
    valid = np.array([[True, False, True], [True, True, True]])
    for under in (np.nan, np.inf, 1e308):
        values = np.where(valid, 1.0, under)
        tiles = tw.nullable(values, valid).tiled(Tiling([2], [2, 1]))
        with np.errstate(all="raise"):
            assert tiles.reduce_tiles(np.add).tolist() == [[3.0, 2.0]]
            assert tiles.reduce_tiles(np.mean).tolist() == [[1.0, 1.0]]


def test_tiles_of_a_server_skip_nulls_there():
    tiles = tw.nullable(np.arange(6.0).reshape(2, 3), np.arange(6).reshape(2, 3) != 1).tiled(
        Tiling([1, 1], [2, 1])
    )
    with tw.serve({"x": tiles}) as server, tw.connect(server.address) as remote:
        assert remote["x"].reduce_tiles(np.add).tolist() == tiles.reduce_tiles(np.add).tolist()
        assert remote.reduce(np.add, remote["x"], "tiles").tolist() == [[0.0, 2.0], [7.0, 5.0]]
