"""Cells, tiles and rows of a view are named without reading them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import OutOfBoundsError
from tests.support.selection.counting_source import CountingSource


def test_parts_of_a_view_are_named_without_reading():
    source = CountingSource(np.arange(12).reshape(3, 4))
    tiles = sel.as_view(source).tiled(tw.Tiling([1, 2], [2, 2]))
    rows = sel.as_view(source).unflatten([1, 2])
    assert tiles.tiling == tw.Tiling([1, 2], [2, 2])
    assert (rows.row_lengths().tolist(), rows.local_index(1).tolist()) == ([1, 2], [[0], [0, 1]])
    assert rows.element((1,)).plan().bytes_read == 64
    assert tiles.tile((1, 0)).shape == tw.Shape(2, 2, origin=(1, 0))
    assert source.calls == 0
    assert tiles.tile((1, 0)).compute().tolist() == [[4, 5], [8, 9]]
    assert source.nbytes == 32
    assert rows.element((1,)).compute().tolist() == [[4, 5, 6, 7], [8, 9, 10, 11]]
    with pytest.raises(tw.errors.LayoutError, match="tiled"):
        _ = rows.tiling


def test_tiles_are_selected_without_reading_and_sent():
    array = np.arange(100 * 100.0).reshape(100, 100)
    source = CountingSource(array)
    tiles = sel.as_view(source).tiled(tw.Tiling([30, 70], [50, 50]))
    chosen = tiles.select_tiles([(1, 1), (0, 0)])
    assert chosen.plan().bytes_read == (70 * 50 + 30 * 50) * 8
    assert source.calls == 0
    expected = tw.as_tensor(array).tiled(tw.Tiling([30, 70], [50, 50])).select_tiles([(1, 1), (0, 0)])
    text = sel.to_json(chosen)
    assert sel.from_json(text, sources={"0": tw.as_tensor(array)}).compute().array_equal(expected)
    mask = [[True, False], [False, True]]
    assert sel.to_json(tiles.select_tiles(mask)) == sel.to_json(tiles.select_tiles([(0, 0), (1, 1)]))
    assert chosen.compute().array_equal(expected)
    assert source.nbytes == (70 * 50 + 30 * 50) * 8
    joined = sel.concat([array[:40], array[40:]]).tiled(tw.Tiling([30, 70], [50, 50]))
    assert joined.select_tiles([(1, 1), (0, 0)]).compute().array_equal(expected)
    with pytest.raises(tw.errors.OutOfBoundsError):
        tiles.select_tiles([(2, 0)])
    with pytest.raises(tw.errors.SelectionError, match="2 numbers"):
        sel.from_json(
            text.replace('"select_tiles",[1,1,0,0]', '"select_tiles",[1,1,0]'), sources={"0": array}
        )


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(-3, 3), st.booleans())
def test_tiles_of_a_grid_that_was_moved_are_those_of_the_tensor(sizes, first, window):
    tensor = tw.as_tensor(np.arange(2 * sum(sizes)).reshape(-1, 2)).tiled(tw.Tiling(sizes, [1, 1]))
    if window:
        tensor = tensor.window(tensor.shape[len(sizes) // 2 :])
    tensor = tensor.translate_to((first, 0, 0, 0))
    view = sel.as_view(tensor)
    for number in ((k, m) for k in range(first - 1, first + len(sizes) + 1) for m in range(2)):
        try:
            expected = tensor.tile(number)
        except OutOfBoundsError:
            with pytest.raises(OutOfBoundsError):
                view.tile(number)
            continue
        assert view.tile(number).shape == expected.shape
        assert view.tile(number).tolist() == expected.tolist()
