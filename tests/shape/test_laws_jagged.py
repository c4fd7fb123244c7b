"""What constructors make, against trees of Python tuples that know nothing of columns.

All else that a jagged shape can do is compared with its extents and origins by the contract, in
``tests/testing``; here these are compared with what was asked for. A tree of rank r is
``(origin, children)``; the children of the last mode are ``None``.
"""

import copy
import itertools
import pickle
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.shape import Jagged, JaggedView, Shape, Tiled

ORIGINS = st.integers(-3, 3)


class Case(NamedTuple):
    """A shape and the tree it must agree with."""

    shape: Shape
    tree: tuple


def box_tree(extents, origin):
    if not extents:
        return None
    return origin[0], (box_tree(extents[1:], origin[1:]),) * extents[0]


def indices_of(tree, prefix=()) -> Iterator[tuple[int, ...]]:
    if tree is None:
        yield prefix
        return
    origin, children = tree
    for k, child in enumerate(children):
        yield from indices_of(child, (*prefix, origin + k))


def tree_of(shape):
    """The tree of a shape, asked for one prefix at a time."""

    def under(prefix):
        if len(prefix) == shape.rank:
            return None
        origin = shape.origin_at(prefix)
        return origin, tuple(under((*prefix, origin + k)) for k in range(shape.extent_at(prefix)))

    return under(())


@st.composite
def boxes(draw, rank, origins):
    extents = tuple(draw(st.lists(st.integers(0, 3), min_size=rank, max_size=rank)))
    origin = tuple(draw(st.lists(origins, min_size=rank, max_size=rank)))
    return Case(Shape.smooth(extents, origin=origin), box_tree(extents, origin))


@st.composite
def stacks(draw, depth, leaf_rank, origins):
    """Values: `depth` unrolled modes above boxes, each node with an origin of its own."""
    children = boxes(leaf_rank, origins) if depth == 1 else stacks(depth - 1, leaf_rank, origins)
    cases = draw(st.lists(children, max_size=3))
    rank = depth + leaf_rank
    start = draw(origins)
    shape = Shape.jagged([c.shape for c in cases], rank=rank, origin=(start, *[0] * (rank - 1)))
    return Case(shape, (start, tuple(c.tree for c in cases)))


@st.composite
def views(draw, values):
    """Windows on a parent: a run of rows, or what is left under a pinned row."""
    case = draw(values)
    origin, children = case.tree
    low = draw(st.integers(origin, origin + len(children)))
    high = draw(st.integers(low, origin + len(children)))
    shape, rows = case.shape[low:high], children[low - origin : high - origin]
    if rows and draw(st.booleans()):
        row = draw(st.integers(low, high - 1))
        if shape[row].kind == "jagged":
            return Case(shape[row], rows[row - low])
    return Case(shape, (low, rows))


@st.composite
def tilings(draw):
    sizes = draw(st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=2))
    start = tuple(draw(st.lists(ORIGINS, min_size=len(sizes), max_size=len(sizes))))

    def grid(modes, extents):
        if not modes:
            return box_tree(extents, (0,) * len(extents))
        (first, tiles), rest = modes[0], modes[1:]
        return first, tuple(grid(rest, (*extents, n)) for n in tiles)

    tree = grid(list(zip(start, sizes, strict=True)), ())
    return Case(Shape.tiled(*sizes, origin=start + (0,) * len(sizes)), tree)


@st.composite
def evens(draw):
    """Cells that are all alike, and so stored once: a box with mode 0 unrolled, or with one more mode."""
    case = draw(st.integers(1, 3).flatmap(lambda rank: boxes(rank, ORIGINS)))
    if case.shape.rank > 1 and draw(st.booleans()):
        return Case(case.shape.as_jagged(), case.tree)
    count = draw(st.integers(1, 3))
    return Case(Shape.jagged([case.shape] * count), (0, (case.tree,) * count))


@st.composite
def slices_of_offsets(draw):
    """Offsets as a slice leaves them: they start above 0 and end before the next level does."""
    lists = draw(st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=3))
    head, tail = draw(st.lists(st.integers(0, 3), max_size=2)), draw(st.lists(st.integers(0, 3), max_size=2))
    upper = list(itertools.accumulate(map(len, lists), initial=len(head)))
    lower = itertools.accumulate([*head, *itertools.chain(*lists), *tail], initial=draw(st.integers(0, 3)))
    tree = (0, tuple((0, tuple((0, (None,) * n) for n in row)) for row in lists))
    return Case(Shape.from_offsets(upper, list(lower)), tree)


def values():
    depths = st.tuples(st.integers(1, 3), st.integers(1, 3), st.sampled_from([ORIGINS, st.just(0)]))
    return st.one_of(depths.flatmap(lambda args: stacks(*args)), evens(), slices_of_offsets())


def cases():
    return st.one_of(values(), views(values()), tilings(), views(tilings()))


@given(cases())
def test_every_prefix_has_the_extent_and_origin_of_the_tree(case):
    assert case.shape.kind == "jagged"
    assert tree_of(case.shape) == case.tree


@given(cases())
def test_indices_are_those_of_the_tree_in_lexicographic_order(case):
    expected = list(indices_of(case.tree))

    assert list(case.shape.indices()) == expected == sorted(expected)


@given(cases())
def test_arrays_cannot_be_changed_through_a_shape_or_its_twins(case):
    twins = (case.shape, copy.deepcopy(case.shape), pickle.loads(pickle.dumps(case.shape)))
    shifted = case.shape.translate_by((1,) * case.shape.rank)
    for columns in [s.implementation.rows.columns for s in (*twins, shifted, shifted.copy())]:
        arrays = [columns.leaf, *columns.splits, *columns.origins, *columns.leaf_origins]
        assert not any(a.flags.writeable for a in arrays if isinstance(a, np.ndarray))


@given(cases())
def test_a_table_of_cells_has_one_row_per_outer_index(case):
    shape, table = case.shape, case.shape.cell_table()
    volumes = np.multiply.reduce(table.extents, axis=1).tolist()

    assert table.indices.tolist() == [list(index) for index in shape.outer().indices()]
    assert table.offsets.tolist() == [0, *itertools.accumulate(volumes)]
    for index, extents, origins in zip(table.indices, table.extents, table.origins, strict=True):
        assert shape.element(index) == Shape.smooth(extents, origin=origins)


@given(cases())
def test_a_copy_is_detached_and_a_pickle_keeps_the_class(case):
    assert type(case.shape.copy().implementation) in {Jagged, Tiled}
    assert type(pickle.loads(pickle.dumps(case.shape)).implementation) is type(case.shape.implementation)


@pytest.mark.slow
def test_every_representation_is_drawn():
    held = set()

    @given(cases())
    def look(case):
        held.add(type(case.shape.implementation))

    look()
    assert held == {Jagged, JaggedView, Tiled}
