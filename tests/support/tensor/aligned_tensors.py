"""Jagged tensors that meet."""

import numpy as np

import tensorwrapper as tw
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
