"""Every cell permuted at once, against a loop over the cells."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import JaggedModeError, LayerError, RankError
from tensorwrapper.shape import permute_cells
from tensorwrapper.testing import jagged_shapes, tiled_shapes


@st.composite
def grids_of_cells(draw):
    """A shape of cells of any extents over a grid."""
    outer, inner = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    grid = draw(st.lists(st.integers(0, 3), min_size=outer, max_size=outer))
    n = int(np.prod(grid))
    extents = draw(
        st.lists(st.lists(st.integers(0, 3), min_size=inner, max_size=inner), min_size=n, max_size=n)
    )
    return Shape.from_cells(grid, np.array(extents, dtype=np.int64).reshape(n, inner))


def transposed_by_hand(shape):
    """Return the elements of all cells, each numbered in the shape and transposed by NumPy."""
    table = shape.cell_table()
    blocks = [
        np.arange(start, start + np.prod(extents, dtype=int)).reshape(extents).T.reshape(-1)
        for start, extents in zip(table.offsets.tolist(), table.extents.tolist(), strict=False)
    ]
    return [number for block in blocks for number in block.tolist()]


@given(st.one_of(grids_of_cells(), jagged_shapes(), tiled_shapes()))
def test_every_cell_is_transposed(shape):
    plan = permute_cells(shape)

    assert plan.places.tolist() == transposed_by_hand(shape)
    assert plan.shape == shape.permute(plan.order)
    assert plan.cells.tolist() == list(range(len(shape.cell_table().extents)))


@given(grids_of_cells(), st.data())
def test_any_order_moves_elements_as_it_moves_indices(shape, data):
    outer = shape.outer_rank
    front = data.draw(st.permutations(range(outer)))
    order = [*front, *data.draw(st.permutations(range(outer, shape.rank)))]
    plan = permute_cells(shape, order)
    moved = [tuple(index[mode] for mode in order) for index in shape.indices()]

    assert [moved[place] for place in plan.places.tolist()] == list(plan.shape.indices())
    cells = shape.cell_table().indices[plan.cells][:, front]
    assert cells.tolist() == plan.shape.cell_table().indices.tolist()


@given(grids_of_cells())
def test_the_inverse_leads_back(shape):
    plan = permute_cells(shape)

    assert plan.places[plan.inverse().places].tolist() == list(range(shape.size))
    assert plan.inverse().shape == shape
    assert plan.inverse().inverse() == plan


@given(st.one_of(grids_of_cells(), tiled_shapes()))
def test_the_layouts_of_shapes_agree(shape):
    plan = permute_cells(shape)

    assert plan.places.tolist() == Layout(shape).permute(plan.order).to_numpy().tolist()


def test_the_blocks_of_a_matrix_change_places_when_tiles_do():
    tiled = Shape.tiled([1, 2], [2, 3])
    plan = permute_cells(tiled, (1, 0, 3, 2))

    assert plan.cells.tolist() == [0, 2, 1, 3]
    assert plan.shape == Shape.tiled([2, 3], [1, 2])
    assert plan.places.tolist() == [0, 1, 5, 7, 6, 8, 2, 3, 4, 9, 12, 10, 13, 11, 14]


def test_the_cells_of_nested_shapes_are_their_elements():
    nested = Shape.nested(Shape(2, 2, 3), layers=(1, 2))
    expected = np.arange(12).reshape(2, 2, 3).transpose(0, 2, 1).reshape(-1)

    assert permute_cells(nested).places.tolist() == expected.tolist()
    assert permute_cells(nested).shape.layers == (1, 2)


def test_cells_far_from_the_first_row_are_numbered_from_their_own_shape():
    shape = Shape.from_cells((4,), [(2, 2), (1, 3), (2, 3), (0, 5)])
    part = shape[2:]

    assert permute_cells(part).places.tolist() == [0, 3, 1, 4, 2, 5]


def test_modes_of_cells_stay_in_cells():
    shape = Shape.from_cells((2,), [(2, 2), (2, 2)])
    with pytest.raises(JaggedModeError, match=r"\(1, 0, 2\) takes a mode of cells"):
        permute_cells(shape, (1, 0, 2))
    with pytest.raises(RankError):
        permute_cells(shape, (0, 1))
    with pytest.raises(JaggedModeError, match="one cell"):
        permute_cells((2, 3))


def test_a_plan_is_compared_by_shape_and_order_and_never_changes():
    shape = Shape.from_cells((2,), [(2, 2), (1, 3)])
    plans = [permute_cells(shape, (0, *inner)) for inner in itertools.permutations((1, 2))]

    assert plans[1] == permute_cells(shape)
    assert plans[0] != plans[1]
    assert repr(plans[1]) == "<CellPermutation (0, 2, 1): 7 elements in 2 cells>"
    assert not plans[0].places.flags.writeable
    assert not plans[0].cells.flags.writeable


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1)])
def test_cells_without_elements_take_no_part(order):
    shape = Shape.from_cells((4,), [(0, 2), (2, 0), (0, 0), (1, 2)])

    assert permute_cells(shape, order).places.tolist() == [0, 1]


def test_layers_are_kept_apart():
    with pytest.raises((LayerError, JaggedModeError)):
        permute_cells(Shape.nested(Shape(2, 3, 4), layers=(2, 1)), (0, 2, 1))
