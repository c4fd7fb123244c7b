"""Laws of layouts over jagged shapes, against nested lists of NumPy arrays."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, LayoutError, OutOfBoundsError, RankError, StepError
from tensorwrapper.layout import Layout
from tensorwrapper.layout._layout import wrap_layout
from tensorwrapper.layout.cells._blocked import Blocked, Packed
from tensorwrapper.shape import Shape, Tiling
from tests.support.layout.cells import JAGGED, absolute, cell_layouts
from tests.support.layout.parts_of_cells import jagged_shapes
from tests.support.layout.trees import assert_extents, check_layout, expanded, places_in, select, tree_of

SLICES = st.builds(
    slice,
    st.none() | st.integers(-4, 4),
    st.none() | st.integers(-4, 4),
    st.none() | st.integers(-3, 3).filter(bool) | st.just(2**80),
)
ITEMS = st.one_of(SLICES, SLICES, st.just(slice(None)), st.integers(-3, 2), st.none())


@st.composite
def keys(draw, rank):
    items = draw(st.lists(ITEMS, max_size=rank + 1))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


# Where the constructors put the elements.


def by_cell(shape, places):
    """Index to offset, from one array of offsets per cell."""
    found = {}
    for (prefix, cell), table in zip(shape.cells(), places, strict=True):
        for index in cell.indices():
            relative = tuple(i - o for i, o in zip(index, cell.origin, strict=True))
            found[prefix + index] = int(table[relative])
    return found


@given(JAGGED, st.integers(1, 5), st.integers(-5, 5), st.data())
def test_packed_cells_follow_one_another_from_multiple_to_multiple(shape, alignment, offset, data):
    width = shape.rank - shape.outer_rank
    order = data.draw(st.permutations(range(width)))
    layout = Layout.packed(shape, order=order, alignment=alignment, offset=offset)
    places, place = [], 0
    for _, cell in shape.cells():
        # The slowest mode first makes a row-major array of the cell.
        lying = np.arange(place, place + cell.size).reshape([cell.extents[m] for m in order[::-1]])
        places.append(offset + lying.transpose(np.argsort(order[::-1])))
        place += -(-cell.size // alignment) * alignment
    check_layout(layout, by_cell(shape, places))
    assert layout.shape == shape
    if alignment == 1:
        assert layout.padding == 0
        assert layout == Layout(shape, order=order, offset=offset)


@given(JAGGED, st.data())
def test_cells_lie_where_a_table_says(shape, data):
    cells = [cell for _, cell in shape.cells()]
    count, width = len(cells), shape.rank - shape.outer_rank
    row = st.lists(st.integers(-4, 4), min_size=width, max_size=width)
    starts = data.draw(st.lists(st.integers(-50, 50), min_size=count, max_size=count))
    strides = [data.draw(row)] * count if data.draw(st.booleans()) else [data.draw(row) for _ in cells]
    table = np.array(strides, dtype=np.int64).reshape(count, width)
    layout = Layout.from_block_offsets(shape, np.array(starts, dtype=np.int64), strides=table)
    places = [
        start + sum(np.ix_(*[d * np.arange(n) for d, n in zip(steps, cell.extents, strict=True)]))
        for start, steps, cell in zip(starts, strides, cells, strict=True)
    ]
    check_layout(layout, by_cell(shape, places))
    assert isinstance(layout.implementation, Packed) == layout.is_contiguous


# What every layout over a jagged shape does.


@given(cell_layouts())
def test_offsets_lead_back_to_all_indices_that_have_them(layout):
    homes = check_layout(layout, absolute(layout))
    least, greatest = layout.bounds()
    for place in range(least - 2, greatest + 3):
        if place in homes:
            assert wrap_layout(layout).indices_of(place) == homes[place]
        else:
            for ask in (
                layout.index_of,
                lambda k: layout.indices_of(k, 9),
                lambda k: layout.indices_at(np.array([k])),
            ):
                with pytest.raises((OutOfBoundsError, LayoutError)):
                    ask(place)
    asked = np.array(list(homes), dtype=np.int64)
    try:
        found = wrap_layout(layout).indices_at(asked[:, np.newaxis])
    except LayoutError:
        assert isinstance(layout, Blocked)
        return
    assert found.shape == (len(asked), 1, layout.shape.rank)
    assert list(map(tuple, found[:, 0].tolist())) == [homes[place][0] for place in homes]


@given(cell_layouts(), st.data())
def test_a_chain_of_keys_is_that_of_nested_lists(layout, data):
    for _ in range(3):
        shape = layout.shape
        if shape.kind != "jagged":
            return
        key = data.draw(keys(shape.rank))
        try:
            expected = select(tree_of(layout), expanded(key, shape.rank))
        except IndexError as error:
            with pytest.raises(RankError if "too many" in str(error) else IndexError):
                layout.at(key)
            return
        layout = layout.at(key)
        assert_extents(expected, layout.shape)
        check_layout(layout, places_in(expected))


@given(cell_layouts(), st.data())
def test_a_window_is_any_part_that_the_shape_gives(layout, data):
    for _ in range(2):
        box = layout.shape.as_smooth()
        ends = [
            sorted(data.draw(st.tuples(*[st.integers(o, o + n)] * 2)))
            for o, n in zip(box.origin, box.extents, strict=True)
        ]
        region = layout.shape.slice([a for a, _ in ends], [b for _, b in ends], clip=True)
        before = {index: layout.offset_of(index) for index in region.indices()}
        layout = layout.window(region)
        assert layout.shape == region
        check_layout(layout, before)


@given(cell_layouts(), st.data())
def test_indices_outside_have_no_place(layout, data):
    index = data.draw(st.tuples(*[st.integers(-6, 8)] * layout.shape.rank))
    if index in layout.shape:
        return
    with pytest.raises(OutOfBoundsError):
        layout.offset_of(index)
    with pytest.raises(OutOfBoundsError, match="is not in"):
        layout.offsets_of([index])


@given(cell_layouts(), st.data())
def test_layouts_of_cells_are_values(layout, data):
    if data.draw(st.booleans()):
        layout = layout.at(data.draw(st.tuples(SLICES, SLICES)))
    used = copy.copy(layout)
    hash(used)
    assert isinstance(used.is_injective, bool)
    for again in (pickle.loads(pickle.dumps(used)), copy.deepcopy(used)):
        assert again == layout
        assert hash(again) == hash(layout)
        assert type(again) is type(layout)
        if isinstance(again, Blocked):
            assert not again.starts.flags.writeable
            assert not again.strides.flags.writeable
    assert pickle.dumps(used) == pickle.dumps(layout)
    assert len(repr(wrap_layout(layout))) < len(repr(layout.shape)) + 200


# What is packed or a box is said to be so.


@given(JAGGED, st.integers(-5, 5))
def test_a_table_that_says_no_more_than_packed_is_packed(shape, offset):
    offsets = offset + shape.implementation.rows.cell_offsets()[:-1]
    made = Layout.from_block_offsets(shape, offsets)
    assert isinstance(made.implementation, Packed)
    assert not shape.size or made == Layout(shape, offset=offset)
    twice = made[...].reverse().reverse()
    assert isinstance(twice.implementation, Packed)


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


def test_one_cell_of_a_huge_shape_is_found_without_the_others():
    triangle = Layout(Shape.triangular(10**9))
    assert triangle[-1].shape == Shape(10**9)
    assert triangle[-1].offset == 10**9 * (10**9 - 1) // 2
    assert triangle[5, 3].offset == 18
    tiles = Layout(Tiling.make_uniform((10**9, 10**9), 10**3).shape)
    assert tiles[10**5, 3].offset == 10**5 * 10**12 + 3 * 10**6
    assert tiles[7 : 10**5].offset == 7 * 10**12


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


SIZES = st.lists(st.integers(0, 3), max_size=4)


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


@given(st.lists(SIZES, min_size=1, max_size=3))
def test_is_contiguous_is_exact_for_packed_boxes_in_any_order(sizes):
    tiling = Tiling(*sizes)
    for order in itertools.permutations(range(tiling.rank)):
        under = Layout(tiling.elements, order=order)
        places = list(brute(tiling, under).values())
        assert under.as_tiled(tiling).is_contiguous == (places == sorted(places))


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
