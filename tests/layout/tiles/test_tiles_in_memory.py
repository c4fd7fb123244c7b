"""Parts of tile-major storage: whatever is selected of tiles that lie anywhere is a view, as in NumPy."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import LayoutError, OutOfBoundsError, RankError
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.layout.tiles._tile_major import TileMajor
from tensorwrapper.layout.tiles._tiles_in_memory import TilesInMemory
from tensorwrapper.testing import tilings
from tests.support.layout.trees import check_layout, places_in, tree_of

TILINGS = tilings(max_rank=3)
SLICES = st.builds(
    slice,
    st.none() | st.integers(-7, 7),
    st.none() | st.integers(-7, 7),
    st.none() | st.integers(-4, 4).filter(bool) | st.just(-(2**70)),
)
ITEMS = st.one_of(SLICES, SLICES, st.integers(-4, 4), st.none(), st.just(Ellipsis))


@st.composite
def tile_major(draw):
    tiling = draw(TILINGS)
    rank = tiling.rank
    orders = [draw(st.permutations(range(rank))) for _ in range(2)]
    alignment, offset = draw(st.sampled_from([1, 1, 3])), draw(st.integers(-3, 3))
    return Layout.tiled(tiling, order=orders[0], tile_order=orders[1], alignment=alignment, offset=offset)


def in_box(layout, places):
    """Index to offset, from an array of the extents of the shape."""
    origin = layout.shape.origin
    return {tuple(np.add(origin, k).tolist()): int(places[k]) for k in np.ndindex(places.shape)}


@given(tile_major(), st.data())
def test_a_chain_of_parts_is_numpys(layout, data):
    places = layout.to_numpy()
    for _ in range(3):
        rank = places.ndim
        match data.draw(st.sampled_from(["key", "key", "permute", "reverse", "window", "gather"])):
            case "key":
                key = tuple(data.draw(st.lists(ITEMS, max_size=rank + 1)))
                try:
                    places = np.asarray(places[key])
                except IndexError as error:
                    many = "too many" in str(error) or "ellipsis" in str(error)
                    with pytest.raises(RankError if many else IndexError):
                        layout[key]
                    return
                layout = layout[key]
            case "permute":
                order = data.draw(st.permutations(range(rank)))
                layout, places = layout.permute(order), places.transpose(order)
            case "reverse":
                modes = data.draw(st.sets(st.integers(0, rank - 1))) if rank else set()
                if modes:
                    layout, places = layout.reverse(*modes), np.flip(places, tuple(modes))
            case "gather":
                if rank:
                    mode = data.draw(st.integers(0, rank - 1))
                    n = places.shape[mode]
                    order = data.draw(st.permutations(range(n)))
                    chosen = [k - n if k % 2 else k for k in order[: data.draw(st.integers(0, n))]]
                    layout = layout.gather(mode, chosen)
                    places = places.take(np.array(chosen, np.int64), mode)
            case _:
                box = layout.shape
                ends = [sorted(data.draw(st.tuples(*[st.integers(0, n)] * 2))) for n in box.extents]
                firsts = [o + a for o, (a, _) in zip(box.origin, ends, strict=True)]
                lasts = [o + b for o, (_, b) in zip(box.origin, ends, strict=True)]
                region = box.slice(firsts, lasts)
                layout, places = layout.window(region), places[tuple(slice(a, b) for a, b in ends)]
                assert layout.shape == region
        assert layout.shape.extents == places.shape
        check_layout(layout, in_box(layout, places))
        if places.size > 1:
            assert (
                layout.indices_at(places).tolist()
                == layout.shape.indices().to_numpy().reshape(*places.shape, places.ndim).tolist()
            )


@given(tile_major(), st.data())
def test_the_view_by_a_finer_tiling_shows_the_same_elements(layout, data):
    tiling = layout.implementation.tiling
    places = st.tuples(*[st.integers(p.origin, p.origin + p.extent) for p in tiling.partitions])
    points = data.draw(st.lists(places, max_size=3)) if tiling.elements.size else []
    for finer in (tiling, tiling.refine(*points)):
        view = layout.as_tiled(finer)
        assert view.shape == finer.shape
        expected = {}
        for number in finer.grid.indices():
            tile = finer.tile(number)
            for index in tile.indices():
                place = tuple(i - o for i, o in zip(index, tile.origin, strict=True))
                expected[number + place] = layout.offset_of(index)
        assert {index: view.offset_of(index) for index in view.shape.indices()} == expected
        check_layout(view[...], places_in(tree_of(view)))
    part = layout[...].reverse()
    if isinstance(part.implementation, TilesInMemory):
        assert (
            part.as_tiled(part.implementation.tiling).to_numpy().tolist()
            == part.implementation.table.to_numpy().tolist()
        )


@given(tile_major(), st.data())
def test_positions_may_come_twice(layout, data):
    places = layout.to_numpy()
    for mode, n in enumerate(places.shape):
        chosen = np.array(data.draw(st.lists(st.integers(-n, n - 1), max_size=6)) if n else [], np.int64)
        layout, places = layout.gather(mode, chosen), places.take(chosen, mode)
        assert layout.to_numpy().tolist() == places.tolist()
        assert layout.is_injective == (len(np.unique(places)) == places.size)
        assert layout.shape.origin[mode] == 0


@given(tile_major(), st.data())
def test_a_part_in_one_tile_is_strided_and_all_of_it_stays_tile_major(layout, data):
    tiling = layout.implementation.tiling
    filled = [k for k in tiling.grid.indices() if tiling.tile(k).size]
    if filled:
        box = tiling.tile(data.draw(st.sampled_from(filled)))
        assert isinstance(layout.window(box).implementation, Strided) == (box != layout.shape)
    assert isinstance(layout[...].implementation, TileMajor)
    part = layout[::-1] if layout.shape.rank else layout
    again = pickle.loads(pickle.dumps(part))
    assert again == part
    assert hash(again) == hash(part)
    assert len(repr(part)) < 300


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda t: t.window(Shape(2, 2, origin=(3, 0))), OutOfBoundsError, "mode 0"),
        (lambda t: t.window(Shape(4)), LayoutError, "same rank"),
        (lambda t: t[4], OutOfBoundsError, "position 4 .*mode 0"),
        (lambda t: t.as_tiled(Tiling([4], [2, 2])), LayoutError, r"tile 0 of mode 0, \[0, 4\)"),
        (lambda t: t[1:].as_tiled(Tiling([3], [4])), LayoutError, "reaches over several"),
        (lambda t: t.as_tiled(Tiling([2], [2])), LayoutError, "does not cover"),
        (lambda t: t[1:].offset_of((3, 0)), OutOfBoundsError, "3"),
        (lambda t: t[1:].offsets_of([[3, 0]]), OutOfBoundsError, "3"),
        (lambda t: t.gather(1, [0, 4]), OutOfBoundsError, "position 4 is outside mode 1"),
        (lambda t: t[1:].gather(2, [0]), RankError, "mode 2"),
        (lambda t: t.gather(0, [[0]]), RankError, "one axis"),
        (lambda t: t[1:].index_of(1), OutOfBoundsError, "offset 1"),
    ],
)
def test_refusals_say_what_is_allowed(call, error, text):
    with pytest.raises(error, match=text):
        call(Layout.tiled(Tiling([2, 2], [2, 2])))


def test_a_small_part_of_a_huge_grid_looks_at_few_tiles():
    tiling = Tiling.make_uniform((10**9, 10**9), 10**6)
    layout = Layout.tiled(tiling, tile_order="F")
    part = layout[999_999:1_000_001, 5]
    assert part.to_numpy().tolist() == [layout.offset_of((k, 5)) for k in (999_999, 1_000_000)]
    assert part.shape == Shape(2)


@pytest.mark.parametrize(
    "key",
    [
        (slice(None), None),
        (slice(1, None), None, slice(None, None, -1)),
        (..., None),
        (None, slice(None, None, 2), None, slice(1, None)),
        (3, None, slice(None, None, -2)),
        (slice(1, None, 2),),
        (slice(1, None, 2), slice(None, None, 3)),
    ],
)
@pytest.mark.parametrize("widths", [[2, 2], [4]])
@pytest.mark.parametrize("tile_order", ["C", "F"])
def test_keys_of_tiles_of_two_heights(key, tile_order, widths):
    layout = Layout.tiled(Tiling([2, 3], widths), tile_order=tile_order)
    expected = layout.to_numpy()[key]
    assert layout[key].shape.extents == expected.shape
    assert np.array_equal(layout[key].to_numpy(), expected)
    places = [layout[key].offset_of(index) for index in np.ndindex(expected.shape)]
    assert places == expected.ravel().tolist()


def test_tiles_that_lie_as_in_a_box_are_strided():
    for order in itertools.permutations(range(2)):
        column = Layout.tiled(Tiling([2, 2], [4]), order=order)
        assert column[::-1].strides == (-4, 1)
        assert column[:, 1:].strides == (4, 1)
        assert column.as_tiled(Tiling([2, 2], [4])).is_contiguous
