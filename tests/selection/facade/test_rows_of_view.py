"""Rows and tiles of a view are reduced a part at a time, and read one by one."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel


@pytest.mark.parametrize("block", [8, 100, 1 << 26])
def test_rows_and_tiles_are_reduced_in_turns(monkeypatch, block):
    monkeypatch.setattr("tensorwrapper.selection.facade._computed_rows._BLOCK", block)
    rows = tw.jagged([[1, 2, 3], [], [4, 5], [6] * 20, [7]])
    view = sel.concat([rows, rows[::-1]])
    expected = view.compute()
    assert view.rows().reduce(np.add).array_equal(expected.rows().reduce(np.add))
    assert view.reduce_tiles(np.add).array_equal(expected.reduce_tiles(np.add))
    assert view.reduce_tiles(np.linalg.norm).array_equal(expected.reduce_tiles(np.linalg.norm))
    deep = sel.concat([tw.jagged([[[1], [2, 3]], []]), tw.jagged([[[4, 5, 6]]])])
    assert deep.rows().reduce(np.add).tolist() == [[1, 5], [], [15]]
    assert [row.tolist() for row in deep.rows()] == [[1], [2, 3], [4, 5, 6]]
    tiles = sel.concat([np.arange(12).reshape(3, 4), np.arange(4)[None]]).tiled(tw.Tiling([1, 3], [2, 2]))
    assert tiles.reduce_tiles(np.add).array_equal(tiles.compute().reduce_tiles(np.add))
    box = sel.concat([np.arange(24).reshape(2, 3, 4), np.zeros((1, 3, 4), "i8")])
    assert box.rows().reduce(np.add).array_equal(box.compute().rows().reduce(np.add))
    assert box.rows()[-2].tolist() == [0, 0, 0, 0]
    with pytest.raises(tw.errors.OutOfBoundsError, match="9 rows"):
        box.rows()[9]
