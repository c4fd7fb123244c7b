"""Cells, tiles and rows of a view are named without reading them."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.support.selection.counting_source import CountingSource


def test_parts_of_a_view_are_named_without_reading():
    source = CountingSource(np.arange(12).reshape(3, 4))
    tiles = sel.as_view(source).tiled(tw.Tiling([1, 2], [2, 2]))
    rows = sel.as_view(source).unflatten([1, 2])
    assert tiles.tiling == tw.Tiling([1, 2], [2, 2])
    assert (rows.num().tolist(), rows.local_index(1).tolist()) == ([1, 2], [[0], [0, 1]])
    assert rows.element((1,)).plan().bytes_read == 64
    assert tiles.tile((1, 0)).shape == tw.Shape(2, 2, origin=(1, 0))
    assert source.calls == 0
    assert tiles.tile((1, 0)).compute().tolist() == [[4, 5], [8, 9]]
    assert source.nbytes == 32
    assert rows.element((1,)).compute().tolist() == [[4, 5, 6, 7], [8, 9, 10, 11]]
    with pytest.raises(tw.errors.LayoutError, match="tiled"):
        _ = rows.tiling
