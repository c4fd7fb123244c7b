"""What must hold for every tree of selections: each check takes a tree and a random generator.

A new promise of views is one more function here; the tests of trees go through all of them.
"""

import pickle

import numpy as np

from tests.support.selection.as_json import json_texts
from tests.support.selection.brute import elements_of
from tests.support.selection.writes import accumulates, assigns

__all__ = ["CHECKS", "all_indices", "assert_same"]


def assert_same(found, expected):
    """Check extents, elements, and types but for the order of their bytes."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert _native(found.dtype) == _native(expected.dtype)
    np.testing.assert_array_equal(found, expected, strict=False)


def _native(dtype):
    return dtype if dtype.kind == "T" else dtype.newbyteorder("=")


def all_indices(shape):
    """Return all absolute indices of a box in row-major order, one row each."""
    positions = np.indices(shape.extents, dtype=np.int64).reshape(shape.rank, shape.size).T
    return positions + np.array(shape.origin, dtype=np.int64)


def shape_and_type(tree, _rng):
    assert tree.view.shape.extents == tree.array.shape
    assert _native(tree.view.dtype) == _native(tree.array.dtype)


def as_written(tree, _rng):
    assert_same(elements_of(tree.view._expression), tree.array)


def normal_form(tree, _rng):
    normal = tree.view.normal_form()
    assert normal.shape == tree.view.shape
    assert normal.dtype == tree.view.dtype
    assert_same(elements_of(normal), tree.array)
    hash(normal)


def normal_form_of_normal_form(tree, _rng):
    view = tree.view.optimize()
    assert view.shape == tree.view.shape
    again = type(view)(view._expression).normal_form()
    assert again == view.normal_form()
    assert hash(again) == hash(view.normal_form())
    assert_same(elements_of(view.as_written()._expression), tree.array)


def routes(tree, rng):
    indices = all_indices(tree.view.shape)
    out = np.empty(len(indices), dtype=tree.array.dtype)
    met = np.zeros(len(indices), dtype=int)
    groups = tree.view.route_many(indices)
    for group in groups:
        met[group.rows] += 1
        out[group.rows] = group.read()
    assert (met == 1).all()
    assert_same(out.reshape(tree.array.shape), tree.array)
    if len(indices):
        row = rng.randrange(len(indices))
        route = tree.view.route(indices[row].tolist())
        (group,) = [g for g in groups if row in g.rows]
        assert route.source is group.source
        assert route.casts == group.casts
        assert route.index == tuple(group.indices[group.rows == row][0].tolist())


def pickles(tree, _rng):
    if _has_function(tree.view._expression):
        return
    again = pickle.loads(pickle.dumps(tree.view))
    assert again.shape == tree.view.shape
    assert_same(elements_of(again._expression), tree.array)
    assert_same(elements_of(again.normal_form()), tree.array)


def _has_function(view):
    node = view.node
    below = [view.written] if view.written is not None else []
    return hasattr(node, "function") or any(map(_has_function, [*node.operands, *below]))


def compute(tree, _rng):
    assert_same(np.asarray(tree.view.compute()), tree.array)


def blocks(tree, rng):
    limit = tree.view.dtype.itemsize * rng.choice([1, 3, 8, 40, 1 << 20])
    out = np.empty(tree.array.shape, tree.array.dtype)
    met = np.zeros(tree.array.shape, dtype=int)
    origin = tree.view.shape.origin
    for region, block in tree.view.blocks(limit):
        assert block.size * tree.view.dtype.itemsize <= limit
        starts = [a - b for a, b in zip(region.origin, origin, strict=True)]
        own = tuple([slice(a, a + n) for a, n in zip(starts, region.extents, strict=True)])
        out[own] = np.asarray(block)
        met[own] += 1
    assert (met == 1).all()
    assert_same(out, tree.array)


CHECKS = {
    check.__name__: check
    for check in (
        shape_and_type,
        as_written,
        normal_form,
        normal_form_of_normal_form,
        routes,
        pickles,
        compute,
        blocks,
        json_texts,
        assigns,
        accumulates,
    )
}
