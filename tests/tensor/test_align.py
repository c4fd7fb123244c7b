"""Alignment of jagged tensors: the elements that have the same index in each."""

import copy
import pickle

import numpy as np
import pytest
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Alignment, Shape, Tiling, align
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ConversionError, ExtentMismatchError, JaggedModeError, LayoutError, RankError
from tests.support.tensor.aligned_tensors import JAGGED, check, numbered


@given(st.lists(JAGGED, min_size=2, max_size=3))
def test_elements_meet_by_their_indices(drawn):
    drawn = [shape for shape in drawn if shape.rank == drawn[0].rank]
    if len(drawn) < 2:
        drawn = [drawn[0], drawn[0]]
    tensors = [numbered(shape, 100 * k) for k, shape in enumerate(drawn)]

    check(align(*tensors), tensors)
    check(align(*drawn), tensors)


def test_boxes_in_cells_meet_by_their_origins():
    left = Shape.from_cells((2,), [(2, 3), (4, 1)], origins=[(0, 0), (5, 5)])
    right = Shape.from_cells((3,), [(2, 2), (2, 2), (1, 1)], origins=[(1, 1), (8, 5), (0, 0)])
    plan = align(left, right)

    assert plan.shape == Shape.from_cells((2,), [(1, 2), (1, 1)], origins=[(1, 1), (8, 5)])
    assert plan.cells.tolist() == [[0, 0], [1, 1]]
    check(plan, [numbered(left), numbered(right)])


def test_rows_meet_cells_and_boxes_and_tiles():
    rows = Shape.jagged([[2, 3], [1], [2, 2, 2]])
    cells = Shape.from_cells((3,), [(2, 2), (1, 3), (2, 1)])
    box = Shape(2, 2, 2, origin=(1, 0, 0))

    for others in ([cells], [box], [cells, box]):
        check(align(rows, *others), [numbered(shape, 20 * k) for k, shape in enumerate([rows, *others])])
    tiled = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(Tiling([1, 2], [2, 1]))
    other = numbered(Shape.tiled([1, 2], [1, 2]), 50)
    check(align(tiled, other), [tiled, other])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4))
def test_cells_take_part_transposed(cells):
    shape = Shape.from_cells((len(cells),), np.array(cells, dtype=np.int64).reshape(-1, 2))
    t, u = numbered(shape), numbered(shape.permute((0, 2, 1)), 100)
    plan = align(t, u, orders=[None, (0, 2, 1)])

    assert plan.shape.same_elements(shape)
    check(plan, [t, u], [None, (0, 2, 1)])
    check(align(t, t, orders=[None, (0, 2, 1)]), [t, t], [None, (0, 2, 1)])


def test_a_plan_serves_all_tensors_of_its_shapes_and_copies_only_what_it_must():
    shape = Shape.from_cells((2,), [(2, 2), (3, 3)])
    plan = align(shape, shape, orders=[None, (0, 2, 1)])
    for start in (0, 7):
        t = numbered(shape, start)
        with count_copies() as count:
            straight, transposed = plan.take(t, t)
        assert np.shares_memory(straight, t.elements())
        assert (count.nbytes, count.copies) == (t.nbytes, 1)
        assert transposed.tolist() == [x for _, cell in t.cells() for x in cell.to_numpy().T.ravel().tolist()]


def test_parts_of_memory_take_part_as_their_own_elements():
    t = tw.jagged([[1, 2, 3], [4], [5, 6]])
    part = t[1:, ::-1]
    first, second = align(t[1:], part).take(t[1:], part)

    assert (first.tolist(), second.tolist()) == ([4, 5, 6], [4, 6, 5])


def test_what_does_not_align_is_refused():
    jagged, box = Shape.jagged([1, 2]), Shape(2, 2)
    with pytest.raises(RankError, match="two or more shapes are aligned, not 1"):
        align(jagged)
    with pytest.raises(RankError, match=r"ranks \[2, 3\]"):
        align(jagged, Shape(1, 2, 3))
    with pytest.raises(JaggedModeError, match="at least one operand must be jagged"):
        align(box, box)
    with pytest.raises(ConversionError, match="1 orders for 2 operands"):
        align(jagged, box, orders=[None])
    with pytest.raises((JaggedModeError, LayoutError)):
        align(jagged, jagged, orders=[(1, 0), None])
    plan = align(jagged, jagged)
    with pytest.raises(ConversionError, match="1 tensors are given, but 2 shapes were aligned"):
        plan.take(numbered(jagged))
    with pytest.raises(ExtentMismatchError, match="tensor 1 has the shape"):
        plan.take(numbered(jagged), numbered(Shape.jagged([2, 1])))


def test_a_view_is_told_how_it_is_aligned():
    rows = tw.jagged([[1, 2], [3]])
    view = tw.selection.as_view(rows)
    with pytest.raises(ConversionError, match=r"not a View: `v\.shape` .* `v\.compute\(\)`"):
        align(view, rows)
    assert align(view.shape, rows) == align(view.compute(), rows)


def test_a_plan_is_a_value():
    shape = Shape.from_cells((2,), [(2, 2), (3, 3)])
    plan = align(shape, shape, orders=[None, (0, 2, 1)])
    same = align(numbered(shape), shape, orders=[(0, 1, 2), (0, 2, 1)])

    assert plan == same
    assert hash(plan) == hash(same)
    assert plan != align(shape, shape)
    assert plan != "plan"
    assert tokenize(plan) == tokenize(same)
    for back in (pickle.loads(pickle.dumps(plan)), copy.copy(plan), copy.deepcopy(plan)):
        assert isinstance(back, Alignment)
        assert back == plan
        assert [x.tolist() for x in back.take(*[numbered(shape)] * 2)] == [
            x.tolist() for x in plan.take(*[numbered(shape)] * 2)
        ]
    assert repr(plan) == "<Alignment of 2 shapes: 13 elements in 2 cells>"
    assert not plan.cells.flags.writeable
