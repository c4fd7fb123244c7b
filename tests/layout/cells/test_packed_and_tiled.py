"""Packed layouts of jagged shapes, tiled views of strided layouts, and tile-major storage."""

import itertools
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    JaggedModeError,
    LayoutError,
    OutOfBoundsError,
    RankError,
    StepError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling

DEEP = [[[1], [2, 3]], [], [[], [0, 2]]]

# Packed layouts of jagged shapes.


@st.composite
def jagged_shapes(draw):
    """Rows of lengths, of boxes, or of rows; sometimes tiled; at any place."""
    sort = draw(st.sampled_from(["lengths", "boxes", "deep", "tiled", "slice"]))
    extents = st.integers(0, 3)
    rows = draw(st.lists(extents, min_size=1, max_size=5))
    origin = draw(st.integers(-3, 3))
    if sort == "tiled":
        return Shape.tiled(draw(st.lists(extents, max_size=3)), rows, origin=(origin, 0, 0, 0))
    if sort == "boxes":
        rank = draw(st.integers(1, 3))
        n = len(rows)
        table = draw(st.lists(st.lists(extents, min_size=rank, max_size=rank), min_size=n, max_size=n))
        starts = [[draw(st.integers(-2, 2)) for _ in range(rank)] for _ in range(n)]
        return Shape.from_cells((n,), table, origins=starts).translate_by((origin, *[0] * rank))
    if sort == "deep":
        deep = [[draw(st.lists(extents, max_size=3)) for _ in range(n)] for n in rows]
        return Shape.jagged(deep, rank=4, origin=(origin, 0, 1, 0))
    shape = Shape.jagged(rows, origin=(origin, 2))
    return shape if sort == "lengths" else shape[origin + len(rows) // 2 :]


@given(jagged_shapes(), st.integers(0, 20))
def test_a_packed_offset_is_the_ordinal(shape, offset):
    layout = Layout(shape, offset=offset)
    indices = list(shape.indices())
    places = list(range(offset, offset + len(indices)))
    assert [layout.offset_of(i) for i in indices] == places
    assert [layout.index_of(k) for k in places] == indices
    assert layout.offsets_of(shape.indices().to_numpy()).tolist() == places
    assert layout.to_numpy().tolist() == places
    assert layout.bounds() == ((offset, offset + len(indices) - 1) if indices else (0, -1))
    assert layout.span == len(indices)
    assert layout.is_contiguous
    assert layout.is_injective
    assert not layout.is_strided
    assert not layout.is_tiled
    for outside in (offset - 1, offset + len(indices)):
        with pytest.raises(OutOfBoundsError, match="no element"):
            layout.index_of(outside)


@given(jagged_shapes(), st.data())
def test_rows_and_cells_of_a_packed_layout_are_views_that_start_at_zero(shape, data):
    layout = Layout(shape, offset=5)
    number, first = shape.extent(0), shape.origin_at(())
    expected = {i: layout.offset_of(i) for i in shape.indices()}
    bounds = st.none() | st.integers(-7, 7)
    key = slice(data.draw(bounds), data.draw(bounds))
    rows = range(*key.indices(number))
    part = layout[key]
    assert part.to_numpy().tolist() == [p for i, p in expected.items() if i[0] - first in rows]
    assert part.shape.origin_at(()) == 0
    assert part.shape.extent(0) == len(rows)
    relative = {i: tuple(k - shape.origin_at(i[:m]) for m, k in enumerate(i)) for i in expected}
    assert list(part.shape.indices()) == [
        (i[0] - rows.start, *i[1:]) for i in relative.values() if i[0] in rows
    ]
    for row in range(number):
        inner = layout[row]
        assert inner == layout[row - number]
        assert inner.to_numpy().ravel().tolist() == [p for i, p in expected.items() if i[0] - first == row]
        assert list(inner.shape.indices()) == [i[1:] for i in relative.values() if i[0] == row]
    with pytest.raises(OutOfBoundsError, match="mode 0"):
        layout[number]


def test_cells_of_deeper_packed_layouts():
    layout = Layout(Shape.jagged(DEEP))
    places = np.arange(8)
    assert layout[0].shape == Shape.jagged([[1], [2, 3]])
    assert layout[0, 1].shape == Shape.jagged([2, 3])
    assert layout[0, 1].to_numpy().tolist() == places[1:6].tolist()
    assert (layout[0, 1, 1].shape, layout[0, 1, 1].offset) == (Shape(3), 3)
    assert layout[0, 1, 1, ::-2].to_numpy().tolist() == [5, 3]
    assert layout[2, 1, 1, -1].to_numpy().tolist() == 7
    assert layout[-1, -1, 1:].shape == Shape.jagged([2])
    assert layout[2, 1, 1, None].shape == Shape(1, 2)
    assert layout[1].shape == Shape.jagged([], rank=3)


def test_one_cell_of_a_huge_shape_is_found_without_the_others():
    triangle = Layout(Shape.triangular(10**9))
    assert triangle[-1].shape == Shape(10**9)
    assert triangle[-1].offset == 10**9 * (10**9 - 1) // 2
    assert triangle[5, 3].offset == 18
    tiles = Layout(Tiling.make_uniform((10**9, 10**9), 10**3).shape)
    assert tiles[10**5, 3].offset == 10**5 * 10**12 + 3 * 10**6
    assert tiles[7 : 10**5].offset == 7 * 10**12


def test_an_ellipsis_stands_for_whole_modes_of_a_packed_layout():
    layout = Layout(Shape.jagged([3, 1, 2]))
    assert layout[...] == layout[:] == layout[:, :] == layout[()] == layout[..., :] == layout[:, ...]
    assert layout[2, ...] == layout[2, :] == layout[2]
    assert layout[..., 2, 1] == layout[2, ..., 1] == layout[2, 1, ...] == layout[2, 1]


@pytest.mark.parametrize(
    ("key", "error"),
    [
        ((slice(None),) * 3, RankError),
        ((0, 0, 0), RankError),
        ((Ellipsis, Ellipsis), RankError),
        ((0, 3), IndexError),
        ((slice(None), 1), IndexError),
        ((slice(None), -2), IndexError),
        (slice(0, 2, 0), StepError),
        ((slice(None), slice(None, None, 0)), StepError),
        ((slice(None), slice("a")), ConversionError),
        ((slice(None), [0]), ConversionError),
        ((slice(None), True), ConversionError),
        ((slice(None), 0.0), ConversionError),
        (3, IndexError),
        (-4, IndexError),
    ],
)
def test_keys_that_do_not_fit_a_packed_layout_are_refused(key, error):
    with pytest.raises(error):
        Layout(Shape.jagged([3, 1, 2]))[key]


@pytest.mark.parametrize(
    ("key", "where"),
    [
        ((1, 2), r"mode 1 under the prefix \(1,\)"),
        ((-1, 9), r"mode 1 under the prefix \(2,\)"),
        (3, "mode 0"),
        ((slice(1, None), 1), r"position 1 .*mode 1 under the prefix \(1,\), which has extent 1"),
        ((slice(None, None, -1), -3), r"mode 1 under the prefix \(2,\), which has extent 2"),
    ],
)
def test_a_position_outside_a_row_names_the_mode_of_the_layout(key, where):
    with pytest.raises(OutOfBoundsError, match=where):
        Layout(Shape.jagged([3, 1, 2]))[key]


def test_a_window_of_a_packed_layout_is_a_part_of_its_shape_and_keeps_its_origin():
    layout = Layout(Shape.jagged([3, 1, 2], origin=(4, 1)), offset=10)
    region = layout.shape[5:]
    part = layout.window(region)
    assert part.shape == region
    assert part.shape.origin == (5, 1)
    assert part.offset_of((5, 1)) == layout.offset_of((5, 1)) == 13
    assert layout.window(layout.shape[5:5]).bounds() == (0, -1)
    cut = layout.window(layout.shape[4:5, 2:3])
    assert (cut.shape.origin, cut.offset_of((4, 2))) == ((4, 2), 11)
    with pytest.raises(LayoutError, match="part of it"):
        layout.window(Shape(1, 1, origin=(4, 1)))
    with pytest.raises(LayoutError, match=r"\(3, 3\|1\|2\).* is a part of it .*jagged shape \(1, 1, 2"):
        layout.window(Shape.jagged([[2]]))
    for outside in (layout.shape.translate_by((1, 0)), Shape.jagged([3, 2], origin=(4, 1))):
        with pytest.raises(OutOfBoundsError):
            layout.window(outside)


# Tiled views.

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


@given(st.lists(SIZES, min_size=1, max_size=3))
def test_is_contiguous_is_exact_for_packed_boxes_in_any_order(sizes):
    tiling = Tiling(*sizes)
    for order in itertools.permutations(range(tiling.rank)):
        under = Layout(tiling.elements, order=order)
        places = list(brute(tiling, under).values())
        assert under.as_tiled(tiling).is_contiguous == (places == sorted(places))


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
        assert layout.shape == region
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
    with pytest.raises(LayoutError, match="needs a"):
        layout.rotate((1, 0, 0, 0))
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


# Storage that keeps tiles together.


def test_the_packed_layout_of_a_tiled_shape_is_tile_major_storage():
    layout = Layout(Tiling([2, 2], [2, 2]).shape)
    element = {}
    for t0, t1, e0, e1 in layout.shape.indices():
        element[2 * t0 + e0, 2 * t1 + e1] = layout.offset_of((t0, t1, e0, e1))
    flat = [element[i, j] for i in range(4) for j in range(4)]
    assert flat == [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]
    assert not layout.is_tiled
    assert layout.is_contiguous


def test_tile_major_storage_gives_rows_of_tiles_and_single_tiles():
    layout = Layout(Shape.tiled([1, 2], [2, 3]))
    assert (layout[1, 0].shape, layout[1, 0].offset, layout[1, 0].strides) == (Shape(2, 2), 5, (2, 1))
    assert layout[1:].to_numpy().tolist() == list(range(5, 15))
    assert layout[1].to_numpy().tolist() == list(range(5, 15))
    assert layout[1, 1:].to_numpy().tolist() == list(range(9, 15))
