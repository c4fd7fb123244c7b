"""Parts of tiles and sets of tiles, as views: against nested lists of NumPy views of each tile."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cells import absolute
from support.trees import assert_extents, check_layout, expanded, places_in, select, tree_of

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import RankError
from tensorwrapper.layout._layout import wrap_layout
from tensorwrapper.layout.cells._blocked import Blocked
from tensorwrapper.layout.tiles._tiled import tiles_as_blocked
from tensorwrapper.testing import tilings

SLICES = st.builds(
    slice,
    st.none() | st.integers(-4, 4),
    st.none() | st.integers(-4, 4),
    st.none() | st.integers(-3, 3).filter(bool),
)
ITEMS = st.one_of(SLICES, st.just(slice(None)), st.just(slice(None)), st.integers(-2, 2), st.none())
TILINGS = tilings(max_rank=2)


@st.composite
def tiled_views(draw):
    """A tiled view of a box, its grid numbered from anywhere."""
    tiling = draw(TILINGS)
    rank = tiling.rank
    if draw(st.booleans()):
        under = Layout(tiling.elements, order=draw(st.permutations(range(rank))), offset=3)
    else:
        strides = draw(st.lists(st.integers(-7, 7), min_size=rank, max_size=rank))
        under = Layout(tiling.elements, strides=strides)
    view = under.as_tiled(tiling)
    grid = tiling.grid
    firsts = [draw(st.integers(0, n)) for n in grid.extents]
    region = view.shape[tuple([slice(k, n) for k, n in zip(firsts, grid.extents, strict=True)])]
    return view.window(region)


@given(tiled_views(), st.data())
def test_every_key_of_a_tiled_view_is_that_of_nested_lists_of_tiles(view, data):
    rank = view.shape.rank
    key = tuple(data.draw(st.lists(ITEMS, max_size=rank + 1)))
    try:
        items = expanded(key, rank)
        # Tile numbers form a box, where a position must exist even if there is no tile to look at.
        outer = [place for place, item in enumerate(items) if item is not None][rank // 2 - 1]
        assert np.empty(view.shape.outer().extents)[tuple(items[: outer + 1])].ndim >= 0
        expected = select(tree_of(view), items)
    except IndexError as error:
        with pytest.raises(RankError if "too many" in str(error) else IndexError):
            view[key]
        return
    part = view[key]
    assert_extents(expected, part.shape)
    check_layout(part, places_in(expected))


@given(tiled_views(), st.data())
def test_a_window_may_cut_through_tiles(view, data):
    box = view.shape.as_smooth()
    ends = [
        sorted(data.draw(st.tuples(*[st.integers(o, o + n)] * 2)))
        for o, n in zip(box.origin, box.extents, strict=True)
    ]
    region = view.shape.slice([a for a, _ in ends], [b for _, b in ends], clip=True)
    part = view.window(region)
    assert part.shape == region
    check_layout(part, {index: view.offset_of(index) for index in region.indices()})


@given(tiled_views(), st.data())
def test_any_tiles_in_any_order_are_a_view_of_where_they_lie(view, data):
    held, grid = view.implementation, view.shape.outer()
    some = data.draw(st.lists(st.integers(0, grid.size - 1), max_size=5)) if grid.size else []
    numbers = grid.indices_at(np.array(some, dtype=np.int64))
    part = wrap_layout(tiles_as_blocked(held, numbers))
    expected = {}
    for row, number in enumerate(map(tuple, numbers.tolist())):
        tile = held.tile(number)
        for index in tile.shape.indices():
            expected[row, *index] = tile.offset_of(index)
    assert part.shape.extent(0) == len(some)
    check_layout(part, expected)


@given(tiled_views(), st.data())
def test_modes_of_a_tiled_view_may_be_permuted_reversed_and_gathered_by_themselves(view, data):
    rank = view.shape.rank // 2
    before = absolute(view)
    inner = data.draw(st.permutations(range(rank, 2 * rank)))
    outer = data.draw(st.permutations(range(rank)))
    turned = view.permute((*outer, *inner))
    moved = {tuple(index[m] for m in (*outer, *inner)): place for index, place in before.items()}
    check_layout(turned, dict(sorted(moved.items())))
    assert absolute(view.reverse(0).reverse(0)) == before
    assert absolute(view.reverse().reverse()) == before
    count = view.shape.extent(0)
    positions = data.draw(st.lists(st.integers(-count, max(count - 1, -count)), max_size=4 if count else 0))
    expected = [tree_of(view)[k] for k in positions]
    check_layout(view.gather(0, positions)[...], places_in(expected))


def test_parts_of_tiles():
    x = np.arange(36).reshape(6, 6)
    view = Layout(Shape(6, 6)).as_tiled(Tiling([1, 3, 2], [4, 2]))
    row = view[1, :, 1, :]
    assert row.shape == Shape.jagged([4, 2])
    assert row.to_numpy().tolist() == x[2].tolist()
    assert row[1].strides == (1,)
    first = view[:, :, 0, 0]
    assert first.shape == Shape.jagged([2, 2, 2])
    assert first.to_numpy().reshape(3, 2).tolist() == x[[0, 1, 4]][:, [0, 4]].tolist()
    assert view[:, 0, -1, -1].to_numpy().tolist() == x[[0, 3, 5], 3].tolist()
    assert view[::-1, 0, 0, ::3].to_numpy().tolist() == x[[4, 1, 0]][:, [0, 3]].ravel().tolist()


def test_tiles_of_a_large_view_are_known_not_to_overlap():
    sizes = np.full(500, 3)
    tiling = Tiling(sizes, sizes)
    numbers = np.argwhere(np.arange(500)[:, np.newaxis] >= np.arange(500))
    for order in ("C", "F"):
        view = Layout(tiling.elements, order=order).as_tiled(tiling)
        lower = tiles_as_blocked(view.implementation, numbers)
        assert lower.shape.size > 2**20
        assert lower.is_injective
        assert lower.at(slice(None, None, -2)).is_injective
        twice = tiles_as_blocked(view.implementation, np.concatenate([numbers, numbers[:1]]))
        assert isinstance(twice, Blocked)
        assert not twice.is_injective
