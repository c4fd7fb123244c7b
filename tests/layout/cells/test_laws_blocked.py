"""Laws of layouts over jagged shapes, against nested lists of NumPy arrays."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cells import JAGGED, absolute, cell_layouts
from support.trees import assert_extents, check_layout, expanded, places_in, select, tree_of

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import LayoutError, OutOfBoundsError, RankError
from tensorwrapper.layout._layout import wrap_layout
from tensorwrapper.layout.cells._blocked import Blocked, Packed
from tensorwrapper.layout.cells._padded import Padded

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


@given(JAGGED, st.integers(-5, 5), st.data())
def test_padded_elements_lie_at_their_places_in_the_box(shape, offset, data):
    order = data.draw(st.permutations(range(shape.rank)))
    layout = Layout.padded(shape, order=order, offset=offset)
    box = Layout(shape.as_smooth(), order=order, offset=offset)
    homes = check_layout(layout, {index: box.offset_of(index) for index in shape.indices()})
    assert layout.is_injective
    assert layout.padding == layout.span - shape.size
    for place in range(offset - 1, offset + box.span + 1):
        if place not in homes:
            with pytest.raises(OutOfBoundsError, match="no element"):
                layout.index_of(place)


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
            for ask in (layout.index_of, layout.indices_of, lambda k: layout.indices_at(np.array([k]))):
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
def test_a_window_may_unroll_other_modes_than_its_layout(layout, data):
    shape = layout.shape
    if not shape.size:
        return
    deeper = Shape.jagged([shape.chip(k) for k in rows_of(shape)], rank=shape.rank)
    moved = deeper.translate_by((shape.origin_at(()), *[0] * (shape.rank - 1)))
    assert moved == shape
    first = data.draw(st.sampled_from(rows_of(shape)))
    region = moved.slice_outer(first, first + 1)
    check_layout(layout.window(region), {i: p for i, p in absolute(layout).items() if i[0] == first})


def rows_of(shape):
    return range(shape.origin_at(()), shape.origin_at(()) + shape.extent(0))


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


def test_rows_of_one_length_make_padded_rows_a_packed_layout():
    layout = Layout.padded(Shape.jagged([2, 2, 2]))
    assert layout.is_contiguous
    assert layout.padding == 0
    assert isinstance(Layout.padded(Shape.jagged([3, 1, 2]))[1:].implementation, Padded)
    assert isinstance(Layout.padded(Shape.triangular(4, "upper"))[1:].implementation, Blocked)


@pytest.mark.parametrize("order", list(itertools.permutations(range(2))))
def test_one_position_of_every_row_is_a_layout_over_a_box(order):
    grid = Layout.packed(Shape.from_cells((3,), [(2, 3), (2, 4), (2, 5)]), order=order)
    assert grid[:, 1, 2].shape == Shape(3)
    assert grid[:, 1, 2].to_numpy().tolist() == [int(grid[k].to_numpy()[1, 2]) for k in range(3)]
    assert Layout(Shape.jagged([2, 2, 2]))[:, 1].strides == (2,)
