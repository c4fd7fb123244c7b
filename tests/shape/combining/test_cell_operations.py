"""Cells of two shapes that belong together, against a loop over the cells."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import ConversionError, ExtentMismatchError, JaggedModeError, RankError
from tensorwrapper.shape import match_cells


@st.composite
def pairs_of_rows(draw):
    """Two shapes of cells over rows that overlap, of the same extents where both have a cell."""
    starts = draw(st.tuples(st.integers(-2, 2), st.integers(-2, 2)))
    counts = draw(st.tuples(st.integers(0, 4), st.integers(0, 4)))
    extents = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=9, max_size=9))
    made = [
        Shape.from_cells((n,), np.array(extents[a + 2 : a + 2 + n]).reshape(n, 2)).translate_by((a, 0, 0))
        for a, n in zip(starts, counts, strict=True)
    ]
    return made[0], made[1]


def numbered_cells(shape):
    """Return the ordinals of every cell as an array of its extents, by the indices that lead to it."""
    table = shape.cell_table()
    return {
        tuple(index): np.arange(start, start + np.prod(extents, dtype=int)).reshape(extents)
        for index, start, extents in zip(
            table.indices.tolist(), table.offsets.tolist(), table.extents.tolist(), strict=False
        )
    }


@given(pairs_of_rows())
def test_cells_meet_by_their_indices(given_):
    left, right = given_
    plan = match_cells(left, right)
    mine, theirs = numbered_cells(left), numbered_cells(right)
    common = [index for index in mine if index in theirs]

    assert plan.cells.tolist() == [[list(mine).index(i), list(theirs).index(i)] for i in common]
    for pair, index in enumerate(common):
        run = slice(plan.offsets[pair], plan.offsets[pair + 1])
        assert plan.left[run].tolist() == mine[index].reshape(-1).tolist()
        assert plan.right[run].tolist() == theirs[index].reshape(-1).tolist()
    assert plan.offsets[-1] == len(plan.left) == len(plan.right)


@given(pairs_of_rows())
def test_cells_meet_by_their_numbers_wherever_they_lie(given_):
    left = given_[0]
    plan = match_cells(left, left.translate_by((7, 1, -2)), by="number")

    assert plan.left.tolist() == plan.right.tolist() == list(range(left.size))
    assert plan.cells.tolist() == [[k, k] for k in range(left.extent(0))]


@given(pairs_of_rows())
def test_what_align_finds_without_origins_is_found_by_index(given_):
    left, right = given_
    plan, peer = match_cells(left, right), tw.align(left, right)
    ones = [tw.from_buffer(np.arange(shape.size), shape) for shape in (left, right)]
    a, b = peer.take(*ones)

    assert (plan.left.tolist(), plan.right.tolist()) == (a.tolist(), b.tolist())


def test_the_energy_of_blocks_needs_no_loop():
    extents = [(2, 3), (1, 4), (3, 3)]
    left = Shape.from_cells((3,), extents)
    right = Shape.from_cells((3,), [(b, a) for a, b in extents])
    rng = np.random.default_rng(0)
    x, y = rng.random(left.size), rng.random(right.size)
    plan = match_cells(left, right, order=(0, 2, 1))
    products = x[plan.left] * y[plan.right]
    by_hand = [
        np.trace(x[a.reshape(-1)].reshape(a.shape) @ y[b.reshape(-1)].reshape(b.shape))
        for a, b in zip(numbered_cells(left).values(), numbered_cells(right).values(), strict=True)
    ]

    assert np.allclose(np.add.reduceat(products, plan.offsets[:-1]), by_hand)


def test_tiles_meet_the_transposed_tiles_across_the_diagonal():
    tiled = Shape.tiled([1, 2], [1, 2])
    plan = match_cells(tiled, tiled, order=(1, 0, 3, 2))

    assert plan.cells.tolist() == [[0, 0], [1, 2], [2, 1], [3, 3]]
    assert plan.left.tolist() == list(range(9))
    assert plan.right.tolist() == [0, 3, 4, 1, 2, 5, 7, 6, 8]


@pytest.mark.parametrize(
    ("left", "right", "options", "error", "match"),
    [
        ([(1, 2), (3, 4)], [(1, 2), (4, 3)], {}, ExtentMismatchError, r"cell \(1,\).*\(3, 4\).*\(4, 3\)"),
        ([(1, 2)], [(1, 2), (4, 3)], {"by": "number"}, ExtentMismatchError, "1 on the left and 2"),
        ([(1, 2)], [(1, 2, 3)], {"by": "number"}, RankError, "other numbers of modes"),
        ([(1, 2)], [(1, 2)], {"by": "name"}, ConversionError, "not by 'name'"),
        ([(1, 2)], [(1, 2)], {"order": (2, 0, 1)}, JaggedModeError, "takes a mode of cells"),
    ],
)
def test_refusals_say_which_cell(left, right, options, error, match):
    shapes = [Shape.from_cells((len(cells),), cells) for cells in (left, right)]
    with pytest.raises(error, match=match):
        match_cells(*shapes, **options)


def test_a_match_is_compared_by_what_made_it():
    shape = Shape.from_cells((2,), [(2, 2), (1, 1)])

    assert match_cells(shape, shape) == match_cells(shape, shape.copy())
    assert match_cells(shape, shape) != match_cells(shape, shape, by="number")
    assert match_cells(shape, shape) != match_cells(shape, shape, order=(0, 2, 1))
    assert repr(match_cells(shape, shape)) == "<CellMatch by index: 5 elements in 2 pairs of cells>"


def test_cells_without_elements_meet_whatever_extents_are_stored():
    left, right = Shape.jagged([Shape(0, 3), Shape(1, 2)]), Shape.jagged([Shape(0, 0), Shape(1, 2)])
    plan = match_cells(left, right)
    assert left != right
    assert left.is_congruent(right)
    assert plan.cells.tolist() == [[0, 0], [1, 1]]
    assert plan.offsets.tolist() == [0, 0, 2]
    with pytest.raises(ExtentMismatchError, match=r"cell \(0,\) .*\(0, 3\).*\(1, 1\)"):
        match_cells(left, Shape.jagged([Shape(1, 1), Shape(1, 2)]))
