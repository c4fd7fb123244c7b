"""Tables of cells that users give: what is checked, what is kept, and how large cells may be."""

import itertools
import re
import tracemalloc

import numpy as np
import pytest

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import (
    ConversionError,
    LayoutError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.layout.cells._blocked import Blocked, Packed
from tensorwrapper.layout.cells._parts import PlacedRows
from tests.support.cases import case
from tests.support.layout.trees import check_layout

ROWS = Shape.jagged([3, 0, 2])
PAIRS = Shape.from_cells((2,), [(2, 3), (1, 4)])
TOP = 2**63 - 1


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Layout.from_block_offsets(ROWS, [0, 1]), RankError, "3 cells, each with one .* shape (2,)"),
        (lambda: Layout.from_block_offsets(ROWS, [[0, 1, 2]]), RankError, "not offsets of shape (1, 3)"),
        (lambda: Layout.from_block_offsets(ROWS, 5), RankError, "shape ()"),
        (lambda: Layout.from_block_offsets(ROWS, [0.0, 1.0, 2.0]), ConversionError, "block offsets"),
        (lambda: Layout.from_block_offsets(ROWS, [True, False, True]), ConversionError, "block offsets"),
        (lambda: Layout.from_block_offsets(ROWS, [0, 0, 2**63]), SizeOverflowError, "block offsets"),
        (lambda: Layout.from_block_offsets(PAIRS, [0, 9], strides=[1]), RankError, "shape (2,) or (2, 2)"),
        (lambda: Layout.from_block_offsets(PAIRS, [0, 9], strides=[[1, 1]]), RankError, "not (1, 2)"),
        (lambda: Layout.from_block_offsets(PAIRS, [0, 9], strides=[1.5, 1]), ConversionError, "strides"),
        (lambda: Layout.from_block_offsets(PAIRS, [0, 9], strides=[2, 1], order="F"), LayoutError, "either"),
        (lambda: Layout.from_block_offsets(PAIRS, [0, 9], order=(0,)), RankError, "permutation"),
        (lambda: Layout.from_block_offsets(Shape(2, 3), [0, 3]), LayoutError, "smooth shape (2, 3)"),
        (lambda: Layout.packed(ROWS, alignment=0), LayoutError, "positive number of elements, not 0"),
        (lambda: Layout.packed(ROWS, alignment=1.5), ConversionError, "alignment"),
        (lambda: Layout.packed(PAIRS, order=(2, 0, 1)), RankError, "modes 0 to 1"),
        (lambda: Layout.packed(ROWS, alignment=2**62), SizeOverflowError, "leave 64 bits"),
        (lambda: Layout.padded(ROWS, order=(0,)), RankError, "modes 0 to 1"),
        (lambda: Layout.padded(Shape.nested(ROWS, layers=(1, 1))), LayoutError, "flatten()"),
        (lambda: Layout(Shape(2)).repeat([2]).padding, LayoutError, "share places"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, text):
    with pytest.raises(error, match=re.escape(text).replace(r"\.\*", ".*")):
        call()


@pytest.mark.parametrize(
    ("shape", "starts", "strides", "fits"),
    [
        (Shape.jagged([2]), [TOP - 1], [1], True),
        (Shape.jagged([2]), [TOP], [1], False),
        (Shape.jagged([2]), [-TOP], [1], True),
        (Shape.jagged([2]), [-TOP], [-1], False),
        (Shape.jagged([2, 2]), [-(2**62), 2**62 - 3], [1], True),
        (Shape.jagged([2, 2]), [-(2**62), 2**62], [1], False),
        (Shape.jagged([1, 1]), [0, 1], [TOP], True),
        (Shape.jagged([3]), [0], [2**62], False),
        (Shape.jagged([3]), [-(2**62)], [2**62], False),
        (Shape.jagged([0, 1]), [TOP, 0], [TOP], True),
        (Shape.from_cells((1,), [(0, 9)]), [TOP], [TOP, TOP], True),
    ],
)
def test_offsets_that_leave_64_bits_are_refused_exactly(shape, starts, strides, fits):
    if not fits:
        with pytest.raises(SizeOverflowError, match="leave 64 bits"):
            Layout.from_block_offsets(shape, starts, strides=strides)
        return
    layout = Layout.from_block_offsets(shape, starts, strides=strides)
    places = [
        start + sum(k * step for k, step in zip(index, strides, strict=True))
        for start, (_, cell) in zip(starts, shape.cells(), strict=True)
        for index in np.ndindex(cell.extents)
    ]
    assert layout.to_numpy().tolist() == places
    assert layout.bounds() == ((min(places), max(places)) if places else (0, -1))
    assert [layout.index_of(place) for place in places] == list(shape.indices())


def test_what_has_no_element_may_lie_anywhere():
    empty, far = Shape.jagged([0, 0]), 2**70
    for layout in (
        Layout(empty, offset=far),
        Layout.padded(empty, offset=far),
        Layout(Shape(2, 0), offset=far).as_tiled(Tiling([1, 1], [0])),
    ):
        part = layout[::-1].reverse()
        assert part.bounds() == (0, -1)
        assert part.to_numpy().tolist() == []
        assert part.is_injective


def test_what_stands_for_an_empty_cell_is_of_no_account():
    layout = Layout.from_block_offsets(ROWS, [7, 10**18, 0])
    assert layout == Layout.from_block_offsets(ROWS, [7, -5, 0])
    assert hash(layout) == hash(Layout.from_block_offsets(ROWS, [7, -5, 0]))
    assert layout.bounds() == (0, 9)
    assert layout.offset == 7


def test_a_table_is_copied_and_may_be_of_any_integer_type():
    starts, strides = np.array([7, 0, 0], dtype=">u2"), np.array([[1], [1], [2]], dtype=np.int8)
    layout = Layout.from_block_offsets(ROWS, starts, strides=strides)
    starts[:] = 99
    strides[:] = 99
    assert layout.to_numpy().tolist() == [7, 8, 9, 0, 2]
    for array in (layout.implementation.starts, layout.implementation.strides):
        assert array.dtype == np.int64
        assert not array.flags.writeable


def test_strides_that_are_alike_are_kept_once():
    shape = Shape.jagged(np.arange(1000) % 7)
    layout = Layout.from_block_offsets(shape, np.arange(1000) * 10, strides=np.full((1000, 1), 2))
    assert not layout.implementation.strides.strides[0]
    assert layout == Layout.from_block_offsets(shape, np.arange(1000) * 10, strides=[2])
    assert not layout[::-1].implementation.strides.strides[0]


def test_cells_that_interleave_are_told_apart():
    columns = Layout.from_block_offsets(Shape.jagged([4, 4, 4]), [0, 1, 2], strides=[3])
    assert columns.is_injective
    assert columns.is_exhaustive
    assert columns.index_of(7) == (1, 2)
    assert columns.indices_at(np.arange(12)).tolist() == [[k % 3, k // 3] for k in range(12)]
    shared = Layout.from_block_offsets(Shape.jagged([4, 4]), [0, 3], strides=[3])
    assert not shared.is_injective
    assert shared.indices_of(6) == [(0, 2), (1, 1)]
    assert shared.indices_at([6]).tolist() == [[0, 2]]
    with pytest.raises(OutOfBoundsError, match="offset 1"):
        shared.index_of(1)


@pytest.mark.parametrize("extents", [(2, 2), (2, 4), (3, 2), (1, 3)])
def test_modes_of_one_cell_may_overlap(extents):
    for strides in itertools.product(range(-5, 6), repeat=2):
        with case(strides):
            check_that_it_may_overlap(extents, strides)


def check_that_it_may_overlap(extents, strides):
    layout = Layout.from_block_offsets(Shape.from_cells((1,), [extents]), [0], strides=strides)
    homes = check_layout(layout, {(0, *k): int(np.dot(k, strides)) for k in np.ndindex(extents)})
    try:
        found = layout.indices_at(list(homes))
    except LayoutError:
        return
    assert [tuple(index) for index in found.tolist()] == [indices[0] for indices in homes.values()]


def test_the_order_of_a_cell_is_that_of_its_own_modes():
    layout = Layout(PAIRS, order="F")
    assert layout.to_numpy().tolist() == [0, 2, 4, 1, 3, 5, 6, 7, 8, 9]
    assert layout == Layout(PAIRS, order=(0, 1)) == Layout.packed(PAIRS, order="F")
    assert isinstance(Layout(PAIRS, order=(1, 0)).implementation, Packed)
    assert isinstance(Layout(Shape.jagged([3, 1]), order="F").implementation, Packed)


def test_a_box_is_one_cell():
    box = Shape(2, 3)
    assert Layout.packed(box, order="F", alignment=8, offset=1) == Layout(box, order="F", offset=1)
    assert Layout.padded(box, order="F") == Layout(box, order="F")


def test_memory_is_that_of_the_cells_however_large_they_are():
    side = 10**8
    tracemalloc.start()
    layout = Layout.packed(Shape.from_cells((9,), [(side, side)] * 9), order="F", alignment=64)
    part = layout[::2, ::-3, 1:].reverse(2)
    assert part.shape.size > 10**16
    assert part.is_injective
    last = (4, part.shape.extent(1) - 1, 0)
    place = part.offset_of(last)
    assert part.index_of(place) == last
    assert part.offsets_of([last, (0, 0, 0)]).tolist() == [place, part.offset]
    assert part.indices_at([place]).tolist() == [list(last)]
    padded = Layout.padded(Shape.from_cells((2,), [(side, side), (side, 1)]))
    assert padded[:, 5:, 0].offset_of((1, 7)) == side * side + 12 * side
    assert padded.padding == side * (side - 1) - side + 1
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_million_rows_take_no_step_in_python_each():
    lengths = np.arange(10**6) % 5
    shape = Shape.jagged(lengths)
    layout = Layout(shape)
    firsts = layout[:, ::-1]
    assert isinstance(firsts.implementation, Blocked)
    assert firsts.shape == shape
    rows = np.flatnonzero(lengths)
    ends = shape.splits(1)[rows + 1]
    assert np.array_equal(firsts.offsets_of(np.stack([rows, 0 * rows], axis=1)), ends - 1)
    taken = layout.gather(0, np.arange(10**6)[::-1])
    assert taken.offset_of((0, 0)) == shape.size - 4
    assert taken.index_of(0) == (999_998, 0)
    assert taken.is_injective


def test_parts_of_a_grid_of_tiles_keep_their_kinds():
    view = Layout(Shape(4, 6)).as_tiled(Tiling([1, 3], [2, 4]))
    assert view[0, :, 0].shape == Shape.jagged([2, 4])
    assert view[0, 1, 0].shape == Shape(4)
    assert view[:, 0, 0, 0].shape == Shape(2)
    assert view[:, 0, 0, 0].strides == (6,)
    assert view[::-1].shape == Shape.tiled([3, 1], [2, 4])


def test_the_cells_of_a_tiled_view_lie_where_the_box_does_also_away_from_zero():
    tiling = Tiling([1, 3], [2, 1], origin=(5, -2))
    held = Layout(tiling.elements).as_tiled(tiling).implementation
    assert PlacedRows.of(held).starts.tolist() == [0, 2, 3, 5]
