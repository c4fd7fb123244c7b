"""Layouts of cells answer as the table of cells does that they stand for, and as their offsets say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import JaggedModeError, LayoutError, OutOfBoundsError
from tensorwrapper.layout.cells._cell_layout import CellLayout
from tensorwrapper.layout.lowlevel import make_blocked
from tensorwrapper.shape import Shape
from tests.support.layout.cells import cell_layouts


def offsets_of(layout):
    return {index: layout.offset_of(index) for index in layout.shape.indices()}


@given(cell_layouts())
def test_a_layout_is_its_table_of_cells(layout):
    assert isinstance(layout, CellLayout)
    table = layout.as_blocked()

    assert table.shape == layout.shape
    assert offsets_of(table) == offsets_of(layout)
    starts, strides = layout.cell_table()
    assert len(starts) == len(strides)
    assert layout.cell_rank == layout.shape.implementation.rows.columns.leaf_rank


@given(cell_layouts())
def test_each_cell_lies_where_its_elements_lie(layout):
    offsets, found = offsets_of(layout), []
    count = len(layout.shape.implementation.rows.cell_offsets()) - 1
    for number in range(count):
        cell = layout.cell(number)
        found += [cell.offset_of(index) for index in cell.shape.indices()]

    assert found == [*offsets.values()]


@given(cell_layouts())
def test_offsets_lead_back_to_all_indices_that_have_them(layout):
    offsets = offsets_of(layout)
    for offset in set(offsets.values()):
        assert layout.indices_of(offset, len(offsets)) == [i for i, o in offsets.items() if o == offset]
    free = max(offsets.values(), default=0) + 1
    with pytest.raises(OutOfBoundsError):
        layout.indices_of(free, 1)
    if layout.is_injective and offsets:
        try:
            found = layout.indices_at(np.array([*offsets.values()]))
        except LayoutError as error:
            assert "modes of a cell interleave" in str(error)  # noqa: PT017 - what is not refused is right
            return
        assert [tuple(index) for index in found.tolist()] == [*offsets]


@given(cell_layouts(), st.data())
def test_modes_are_reversed_gathered_and_permuted_without_a_copy(layout, data):
    shape, values = layout.shape, [*offsets_of(layout).values()]
    mode = data.draw(st.integers(0, shape.rank - 1))
    back = layout.reverse([mode]).reverse([mode])
    assert [*offsets_of(back).values()] == values

    rows = shape.extent(0)
    places = data.draw(st.lists(st.integers(0, rows - 1), max_size=3)) if rows else []
    picked = layout.gather(0, places)
    expected = []
    for place in places:
        first = shape.as_smooth().origin[0] + place
        expected += [o for index, o in offsets_of(layout).items() if index[0] == first]
    assert [*offsets_of(picked).values()] == expected

    order = tuple(data.draw(st.permutations(range(shape.rank))))
    try:
        moved = layout.permute(order)
    except (JaggedModeError, LayoutError):
        return
    assert offsets_of(moved) == {tuple(i[m] for m in order): o for i, o in offsets_of(layout).items()}


def test_many_tiles_that_are_no_grid_are_told_apart():
    chosen = np.argwhere(np.random.default_rng(1).random((120, 120)) > 0.25)
    shape = Shape.from_cells((len(chosen),), np.full((len(chosen), 2), 10), origins=chosen * 10)
    assert shape.size > 2**20
    for last, first in [(1, 0), (-1, 9)]:
        starts = chosen @ np.array([12_000, 10]) + first
        strides = np.broadcast_to(np.array([1200, last]), chosen.shape)
        assert make_blocked(shape, starts, strides).is_injective
        starts[0] = starts[1] + 5
        assert not make_blocked(shape, starts, strides).is_injective
