"""Tokens of shapes of many rows: equal ones have equal tokens, whichever form is stored."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper import Shape, Tiling
from tensorwrapper.shape.kinds import _tiled, _triangular
from tensorwrapper.shape.rows import _canonical

token = pytest.importorskip("dask.base").tokenize


@pytest.fixture
def few(monkeypatch):
    """Closed forms are named from three rows on, so that small shapes show what large ones do."""
    for module in (_canonical, _tiled, _triangular):
        monkeypatch.setattr(module, "MOST_ROWS_OF_TOKENS", 2)


SIZES = st.lists(st.integers(0, 3), min_size=1, max_size=4)


@pytest.mark.usefixtures("few")
@settings(max_examples=40)
@given(st.lists(SIZES, min_size=1, max_size=3), st.data())
def test_tiles_and_cells_that_are_equal_have_equal_tokens(sizes, data):
    tiled = Tiling(*sizes).shape
    grid = [len(own) for own in sizes]
    table = np.stack(np.meshgrid(*sizes, indexing="ij"), axis=-1).reshape(-1, len(sizes))
    cells = Shape.from_cells(grid, table)
    made = [tiled, cells, pickle.loads(pickle.dumps(cells)), tiled[:], Shape.concat([tiled[:1], tiled[1:]])]
    other = table.copy()
    place = data.draw(st.integers(0, other.size - 1))
    other.reshape(-1)[place] += 1
    made += [Shape.from_cells(grid, other), tiled.translate_by((1,) * tiled.rank), tiled[1:], cells[1:]]
    for one in made:
        for two in made:
            assert (one == two) == (token(one) == token(two)), (one, two)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("n", range(3, 7))
@pytest.mark.parametrize("half", ["lower", "upper"])
@pytest.mark.parametrize("diagonal", [True, False])
def test_triangles_have_the_tokens_of_their_rows_and_tiles(n, half, diagonal):
    triangle = Shape.triangular(n, half, diagonal=diagonal)
    lengths = [triangle.extent_at((i,)) for i in range(n)]
    made = [triangle, Shape.jagged(lengths), Tiling(lengths).shape]
    made += [Shape.triangular(n + 1, half, diagonal=diagonal), triangle[1:], triangle[: n - 1]]
    made += [
        Shape.concat([triangle[:1], triangle[1:]]),
        triangle.translate_by((1, 0)),
        triangle.translate_by((0, 1)),
    ]
    for one in made:
        for two in made:
            assert (one == two) == (token(one) == token(two)), (one, two)


def test_millions_of_tiles_have_the_tokens_of_equal_cells():
    uneven = np.ones(2**11, dtype=np.int64)
    uneven[[3, 4]] = [0, 2]
    even = np.ones_like(uneven)
    for sizes in ([uneven, uneven[:600]], [even[:600], uneven]):
        tiled = Tiling(*sizes).shape
        table = np.stack(np.meshgrid(*sizes, indexing="ij"), axis=-1).reshape(-1, 2)
        cells = Shape.from_cells([len(own) for own in sizes], table)
        assert cells == tiled
        assert token(cells) == token(tiled)
        table[-1, 0] += 1
        assert token(Shape.from_cells([len(own) for own in sizes], table)) != token(tiled)
    many = np.ones(10**6, dtype=np.int64)
    assert token(Tiling(many, many).shape) == token(Tiling(many.copy(), many).shape)
    many[5] = 2
    assert token(Tiling(many, many).shape) != token(Tiling(many, many[::-1]).shape)
