"""Rows that two jagged shapes share: intervals are intersected at every level."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, align
from tensorwrapper.testing import shapes

JAGGED = shapes(["jagged"])


def numbered(shape, start=0):
    return tw.from_buffer(np.arange(start, start + shape.size), shape)


def elements_by_index(t, order=None):
    """Every element by its index, with the modes of the index in another order."""
    modes = order or tuple(range(t.rank))
    flat = t.elements().tolist()
    return {
        tuple(index[mode] for mode in modes): value
        for index, value in zip(t.shape.indices(), flat, strict=True)
    }


def check(plan, tensors, orders=None):
    """Compare with the common indices, one by one."""
    orders = orders or [None] * len(tensors)
    known = [elements_by_index(t, order) for t, order in zip(tensors, orders, strict=True)]
    common = set(known[0]).intersection(*known[1:])
    indices = list(plan.shape.indices())
    assert set(indices) == common
    assert indices == sorted(indices)
    taken = plan.take(*tensors)
    for values, elements in zip(taken, known, strict=True):
        assert values.tolist() == [elements[index] for index in indices]


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
