"""Rows that two jagged shapes share: intervals are intersected at every level."""

from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Shape, align
from tests.support.tensor.aligned_tensors import JAGGED, check, numbered


@given(JAGGED, st.data())
def test_a_shape_meets_its_parts_where_they_lie(shape, data):
    first = data.draw(st.integers(0, shape.extent(0))) + shape.origin_at(())
    part = shape[first:]
    check(align(shape, part), [numbered(shape), numbered(part, 50)])


def test_cells_that_meet_nothing_are_left_out_or_empty():
    left, right = Shape.jagged([3, 1, 2]), Shape.jagged([2, 2], origin=(2, 1))
    plan = align(left, right)

    assert plan.shape == Shape.jagged([1], origin=(2, 1))
    assert plan.cells.tolist() == [[2, 0]]
    assert align(left, Shape.jagged([1], origin=(9, 0))).shape.size == 0
