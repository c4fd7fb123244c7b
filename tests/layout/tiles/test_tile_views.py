"""Tiles that lie one after the other, or anywhere, are tiles as those of a box seen through a tiling."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import LayoutError, OutOfBoundsError

SIZES = st.lists(st.integers(0, 3), min_size=1, max_size=3)


def tile_major(tiling: tw.Tiling[Any], x: "np.ndarray[Any, Any]") -> tw.Tensor[Any]:
    """Return the elements of a box tile after tile: what a loop over the tiles puts together."""
    parts = [np.asarray(tw.as_tensor(x).window(tiling.tile(k))).ravel() for k in tiling.grid.indices()]
    flat = np.concatenate(parts) if parts else x.ravel()
    return tw.from_buffer(flat, tiling.shape)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[tw.Tensor[Any], tw.Tensor[Any]]:
    """Return tiles that lie one after the other, and the same seen in a box; both permuted and cut alike."""
    sizes = draw(st.lists(SIZES, min_size=1, max_size=3))
    tiling = tw.Tiling(*sizes)
    x = np.arange(tiling.elements.size, dtype=np.float64).reshape(tiling.elements.extents)
    alone, seen = tile_major(tiling, x), tw.as_tensor(x).tiled(tiling)
    rank = len(sizes)
    for _ in range(draw(st.integers(0, 3))):
        change = draw(st.sampled_from(["permute", "slice"]))
        if change == "permute":
            order = draw(st.permutations(range(rank)))
            both = (*order, *[rank + k for k in order])
            alone, seen = alone.permute(both), seen.permute(both)
        else:
            grid = seen.tiling.grid.extents
            firsts = [draw(st.integers(0, max(n - 1, 0))) for n in grid]
            stops = [
                draw(st.integers(first + 1, max(n, first + 1))) for first, n in zip(firsts, grid, strict=True)
            ]
            key = tuple([slice(*ends) for ends in zip(firsts, stops, strict=True)])
            alone, seen = alone[key], seen[key]
    return alone, seen


@given(pairs())
def test_tiles_alone_are_what_tiles_of_a_box_are(pair: tuple[tw.Tensor[Any], tw.Tensor[Any]]) -> None:
    alone, seen = pair
    assert alone.shape == seen.shape
    assert alone.tolist() == seen.tolist()
    sizes = [[own[own > 0].tolist() for own in map(np.diff, t.tiling.marks)] for t in (alone, seen)]
    assert sizes[0] == sizes[1]
    box = alone.untiled()
    assert box.shape.extents == seen.untiled().shape.extents
    assert np.array_equal(np.asarray(box), np.asarray(seen.untiled()))
    for number in seen.tiling.grid.indices():
        one, other = alone.tile(number), seen.tile(number)
        assert one.tolist() == other.tolist()
        assert one.shape == other.shape
        if one.size:
            assert np.shares_memory(one.to_numpy(), alone.buffer.memory)
    chosen = [t.select_tiles(lambda *modes: sum(modes) % 2 == 0) for t in (alone, seen)]
    assert chosen[0].shape == chosen[1].shape
    assert chosen[0].tolist() == chosen[1].tolist()
    view = sel.as_view(alone)
    assert view.tiling == alone.tiling
    assert np.array_equal(np.asarray(view.untiled()), np.asarray(box))
    assert view.select_tiles(lambda *modes: sum(modes) % 2 == 0).tolist() == chosen[0].tolist()


@pytest.mark.parametrize("change", [lambda t: t[1:, :, ::2], lambda t: t[::-1], lambda t: t[0]])
def test_what_is_cut_within_tiles_has_no_tiling(change: Callable[[Any], Any]) -> None:
    t = change(tile_major(tw.Tiling([1, 2], [3, 2]), np.arange(15.0).reshape(3, 5)))
    with pytest.raises(LayoutError, match=r"tiled\(tiling\) makes one of a box"):
        t.untiled()


def test_a_grid_that_was_moved_counts_from_there() -> None:
    tiling = tw.Tiling([1, 2], [3, 2])
    t = tile_major(tiling, np.arange(15.0).reshape(3, 5)).translate_to((5, 6, 0, 0))
    assert t.tile((6, 7)).tolist() == [[8.0, 9.0], [13.0, 14.0]]
    assert t.tile((6, 7)).shape == tw.Shape(2, 2, origin=(1, 3))
    assert t.select_tiles([(6, 7)]).tolist() == [[[8.0, 9.0], [13.0, 14.0]]]
    with pytest.raises(OutOfBoundsError):
        t.tile((0, 0))


def test_writes_through_a_tile_are_seen_in_the_box() -> None:
    t = tile_major(tw.Tiling([1, 2], [3, 2]), np.zeros((3, 5)))
    t.tile((1, 1))[...] = 7
    assert np.asarray(t.untiled())[1:, 3:].tolist() == [[7.0, 7.0], [7.0, 7.0]]
    assert np.asarray(t.untiled()).sum() == 28.0
