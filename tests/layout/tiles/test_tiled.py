"""Parts of tiles and sets of tiles, as views: against nested lists of NumPy views of each tile."""

import itertools
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    JaggedModeError,
    LayoutError,
    OutOfBoundsError,
    RankError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.layout.tiles._tiled import TiledStrided
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.testing import tilings
from tests.support.layout.cells import absolute
from tests.support.layout.trees import assert_extents, check_layout, expanded, places_in, select, tree_of

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


SIZES = st.lists(st.integers(0, 3), max_size=4)


@st.composite
def tiled_layouts(draw):
    """A strided layout of any kind, a tiling of its box (empty tiles too), and the tiled view."""
    sizes = draw(st.lists(SIZES, min_size=1, max_size=3))
    origin = draw(st.lists(st.integers(-3, 3), min_size=len(sizes), max_size=len(sizes)))
    tiling = Tiling(*sizes, origin=origin)
    shape, rank = tiling.elements, tiling.rank
    match draw(st.sampled_from(["order", "strides", "slice"])):
        case "order":
            ascend = draw(st.lists(st.booleans(), min_size=rank, max_size=rank))
            under = Layout(shape, order=draw(st.permutations(range(rank))), ascend=ascend)
        case "strides":
            strides = draw(st.lists(st.integers(-7, 7), min_size=rank, max_size=rank))
            under = Layout(shape, strides=strides, offset=draw(st.integers(-9, 9)))
        case _:
            wide = Shape(*[2 * n + 1 for n in shape.extents])
            steps = draw(st.lists(st.sampled_from([1, 2, -1, -2]), min_size=rank, max_size=rank))
            ends = [
                slice(0, n * s, s) if s > 0 else slice(n * -s, 0, s)
                for n, s in zip(shape.extents, steps, strict=True)
            ]
            part = Layout(wide)[tuple(ends)]
            under = Layout(shape, strides=part.strides, offset=part.offset)
    return tiling, under, under.as_tiled(tiling)


def brute(tiling, under, first=None):
    """The offset of every tiled index in row-major order, from marks and elements."""
    first = first or (0,) * tiling.rank
    grid = itertools.product(*[range(p.count) for p in tiling.partitions])
    return {
        (*[k + f for k, f in zip(number, first, strict=True)], *inner): under.offset_of(
            [o + e for o, e in zip(tiling.tile(number).origin, inner, strict=True)]
        )
        for number in grid
        for inner in itertools.product(*map(range, tiling.tile(number).extents))
    }


def check(layout, expected):
    places = list(expected.values())
    assert list(layout.shape.indices()) == list(expected)
    assert [layout.offset_of(i) for i in expected] == places
    assert layout.to_numpy().tolist() == places
    table = np.array(list(expected), dtype=np.int64).reshape(len(places), layout.shape.rank)
    assert layout.offsets_of(table).tolist() == places
    assert layout.bounds() == ((min(places), max(places)) if places else (0, -1))
    assert layout.is_injective == (len(set(places)) == len(places))
    first = layout.offset
    assert layout.is_contiguous == (places == list(range(first, first + len(places))))
    found = {}
    for index, place in expected.items():
        found.setdefault(place, index)
    assert {place: layout.index_of(place) for place in found} == found


@given(tiled_layouts())
def test_a_tiled_view_has_the_places_of_its_elements(made):
    tiling, under, layout = made
    assert layout.is_tiled
    assert not layout.is_strided
    assert layout.shape == tiling.shape
    check(layout, brute(tiling, under))


@given(tiled_layouts(), st.data())
def test_a_box_of_tiles_is_a_view_and_its_numbers_start_at_zero(made, data):
    tiling, under, layout = made
    ends = [sorted(data.draw(st.tuples(*[st.integers(0, p.count)] * 2))) for p in tiling.partitions]
    part = layout[tuple(slice(a, b) for a, b in ends)]
    runs = [p.marks[a : b + 1] for p, (a, b) in zip(tiling.partitions, ends, strict=True)]
    check(part, brute(Tiling.from_marks(*runs), under))
    assert part == layout[(*[slice(a, b) for a, b in ends], ...)]


@given(tiled_layouts(), st.data())
def test_a_window_of_tiles_keeps_the_numbers_of_the_grid(made, data):
    tiling, under, layout = made
    rank = tiling.rank
    for _ in range(2):
        grid = layout.shape.outer()
        ends = [
            sorted(data.draw(st.tuples(*[st.integers(o, o + n)] * 2)))
            for o, n in zip(grid.origin, grid.extents, strict=True)
        ]
        region = layout.shape[tuple([slice(a, b) for a, b in ends] + [slice(None)] * rank)]
        layout = layout.window(region)
        assert layout.shape.is_congruent(region)
        expected = brute(tiling, under)
        assert {i: layout.offset_of(i) for i in region.indices()} == {
            i: expected[i] for i in region.indices()
        }
    order = data.draw(st.permutations(range(rank)))
    turned = layout.permute((*order, *[m + rank for m in order]))
    assert turned.shape == layout.shape.permute((*order, *[m + rank for m in order]))
    for index in layout.shape.indices():
        outer, inner = index[:rank], index[rank:]
        moved = (*[outer[m] for m in order], *[inner[m] for m in order])
        assert turned.offset_of(moved) == layout.offset_of(index)


@given(tiled_layouts())
def test_single_tiles_are_strided_views_that_start_at_zero(made):
    tiling, under, layout = made
    for number in tiling.grid.indices():
        tile = tiling.tile(number)
        part = layout[number]
        assert part.shape == Shape(*tile.extents)
        assert part.is_strided
        assert np.array_equal(part.to_numpy(), under.window(tile).to_numpy())
        assert part == layout[(*number, ...)] == layout[(..., *number, *[slice(None)] * tiling.rank)]
        negative = tuple(k - p.count for k, p in zip(number, tiling.partitions, strict=True))
        assert layout[negative] == part
        turned = layout[(*number, slice(None, None, -1))]
        assert np.array_equal(turned.to_numpy(), part.to_numpy()[::-1])


@given(tiled_layouts())
def test_tiled_views_are_values(made):
    _, _, layout = made
    again = pickle.loads(pickle.dumps(layout))
    assert again == layout
    assert hash(again) == hash(layout)
    assert again.shape == layout.shape
    assert layout[()] == layout[...] == layout


def test_what_a_tiled_view_refuses():
    tiling = Tiling([1, 2], [2, 1])
    layout = Layout(tiling.elements).as_tiled(tiling)
    for key in ((0, 2), (2, 0), (0, 0, 1), (0, 0, 0, 2), (slice(None), slice(None), 1), (2, None)):
        with pytest.raises(OutOfBoundsError):
            layout[key]
    for call in (
        lambda: layout.offset_of((0, 0, 1, 0)),
        lambda: layout.offset_of((0, 2, 0, 0)),
        lambda: layout.offsets_of([[0, 0, 0, 0], [0, 0, 0, 2]]),
        lambda: layout.index_of(9),
    ):
        with pytest.raises(OutOfBoundsError):
            call()
    with pytest.raises(OutOfBoundsError, match=r"position 9 .*mode 2 under the prefix \(0, 1\)"):
        layout[0, -1, 9]
    with pytest.raises(OutOfBoundsError, match=r"position -2 .*mode 3 .*prefix \(0, 1\), .* extent 1"):
        layout[0, :, :, -2]
    with pytest.raises(LayoutError, match=r"part of it .*\(2, 1\|2\)"):
        layout.window(Shape.jagged([1, 2]))
    with pytest.raises(RankError):
        layout.offset_of((0, 0))
    with pytest.raises(RankError):
        layout[0, 0, 0, 0, 0]
    with pytest.raises(LayoutError, match="needs a"):
        layout.as_tiled(tiling)
    with pytest.raises(JaggedModeError, match="rotate moves whole rows along mode 0"):
        layout.rotate((0, 1, 0, 0))
    with pytest.raises(JaggedModeError, match="mode 2 before"):
        layout.permute((2, 0, 1, 3))
    with pytest.raises(LayoutError, match="part of it"):
        layout.window(Shape(1, 1))
    with pytest.raises(OutOfBoundsError):
        layout.window(Shape.tiled([2], [1]))


def test_offsets_of_narrow_tile_numbers_do_not_wrap():
    tiling = Tiling([100] * 100, [100] * 100)
    layout = Layout(tiling.elements).as_tiled(tiling)
    index = np.array([[99, 99, 99, 99]], dtype=np.uint8)
    assert layout.offsets_of(index).tolist() == [9999 * 10_000 + 9999]


def test_memory_is_the_sum_of_the_tiles_per_mode_not_their_product():
    sizes = np.full(2000, 3)
    tracemalloc.start()
    tiling = Tiling(sizes, sizes)
    layout = Layout(tiling.elements).as_tiled(tiling)
    assert layout.bounds() == (0, 6000**2 - 1)
    assert layout.offset_of((1999, 1999, 2, 2)) == 6000**2 - 1
    assert layout.index_of(6000 * 3 + 3) == (1, 1, 0, 0)
    assert layout[10:, 5:1000].shape.size == 1990 * 3 * 995 * 3
    assert layout[7, 8].offset == 21 * 6000 + 24
    assert not layout.is_contiguous
    assert layout.is_injective
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 4 million tiles would need 32 MB for one number each; 2 * 2001 marks need 32 kB.
    assert peak < 1_000_000
    assert sum(marks.nbytes for marks in tiling.marks) == 2 * 2001 * 8


@pytest.mark.parametrize("grid_origin", [(0, 0), (3, -1)])
def test_a_tile_by_plain_numbers_is_that_of_the_general_way(grid_origin):
    under = Layout(Shape(7, 5, origin=(2, -1))).permute((1, 0)).reverse(0)
    tiling = Tiling([1, 0, 4], [3, 4], origin=(-1, 2))
    held = TiledStrided(tiling, under.implementation, grid_origin)
    for number in itertools.product(range(-5, 6), repeat=2):
        places = tuple(k - start for k, start in zip(number, grid_origin, strict=True))
        try:
            expected = held.under.window(tiling.tile(places))
        except OutOfBoundsError:
            with pytest.raises(OutOfBoundsError):
                held.tile(number)
        else:
            assert held.tile(number) == expected
        boxed = tuple(np.int64(k) for k in number)
        try:
            general = held.at(boxed)
        except OutOfBoundsError:
            with pytest.raises(OutOfBoundsError):
                held.at(number)
        else:
            assert held.at(number) == general
