"""Laws of jagged shapes, against a tree of Python tuples that knows nothing of columns.

A tree of rank r is ``(origin, children)``; the children of the last mode are ``None``.
"""

import copy
import itertools
import pickle
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tensorwrapper.errors import JaggedModeError, OutOfBoundsError
from tensorwrapper.shape import Jagged, JaggedView, Shape, Tiled, as_shape

ORIGINS = st.integers(-3, 3)


class Case(NamedTuple):
    """A shape, the tree it must agree with, and whether all its extents can be seen in the tree."""

    shape: Shape
    tree: tuple
    exact: bool


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


def nodes_of(tree, mode, prefix=()) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Every prefix of `mode` indices, with extent and origin of the mode that follows."""
    origin, children = tree
    if not mode:
        yield prefix, len(children), origin
        return
    for k, child in enumerate(children):
        yield from nodes_of(child, mode - 1, (*prefix, origin + k))


def tree_of(shape):
    """The tree of a shape, asked for one prefix at a time."""

    def under(prefix):
        if len(prefix) == shape.rank:
            return None
        origin = shape.origin_at(prefix)
        return origin, tuple(under((*prefix, origin + k)) for k in range(shape.extent_at(prefix)))

    return under(())


def moved(tree, offset):
    if tree is None:
        return None
    return tree[0] + offset[0], tuple(moved(child, offset[1:]) for child in tree[1])


def selected(tree, entries, *, clip=False):
    """The tree of the selection; IndexError where a bound or a pin leaves a selected row."""
    if tree is None:
        return None
    (origin, children), entry = tree, entries[0]
    end = origin + len(children)
    if isinstance(entry, int):
        if not origin <= entry < end:
            raise IndexError(entry)
        return selected(children[entry - origin], entries[1:], clip=clip)
    low = origin if entry.start is None else entry.start
    high = end if entry.stop is None else entry.stop
    if clip:
        low = min(max(low, origin), end)
        high = max(min(high, end), low)
    if not origin <= low <= high <= end:
        raise IndexError(entry)
    kept = children[low - origin : high - origin]
    return low, tuple(selected(child, entries[1:], clip=clip) for child in kept)


@st.composite
def boxes(draw, rank, origins):
    extents = tuple(draw(st.lists(st.integers(0, 3), min_size=rank, max_size=rank)))
    origin = tuple(draw(st.lists(origins, min_size=rank, max_size=rank)))
    # An extent that follows an empty mode is kept by a box, and no prefix leads to it.
    exact = all(extents) or not any(extents[extents.index(0) :])
    return Case(Shape.smooth(extents, origin=origin), box_tree(extents, origin), exact)


@st.composite
def stacks(draw, depth, leaf_rank, origins):
    """Values: `depth` unrolled modes above boxes, each node with an origin of its own."""
    children = boxes(leaf_rank, origins) if depth == 1 else stacks(depth - 1, leaf_rank, origins)
    cases = draw(st.lists(children, max_size=3))
    rank = depth + leaf_rank
    start = draw(origins)
    shape = Shape.jagged([c.shape for c in cases], rank=rank, origin=(start, *[0] * (rank - 1)))
    return Case(shape, (start, tuple(c.tree for c in cases)), all(c.exact for c in cases))


@st.composite
def views(draw, values):
    """Windows on a parent: a run of rows, or what is left under a pinned row."""
    case = draw(values)
    origin, children = case.tree
    low = draw(st.integers(origin, origin + len(children)))
    high = draw(st.integers(low, origin + len(children)))
    shape, tree = case.shape[low:high], selected(case.tree, [slice(low, high)] + [slice(None)] * 9)
    if tree[1] and draw(st.booleans()):
        row = draw(st.integers(low, high - 1))
        if shape[row].kind == "jagged":
            return Case(shape[row], selected(tree, [row] + [slice(None)] * 9), case.exact)
    return Case(shape, tree, case.exact)


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
    exact = not any(0 in s for s in sizes[:-1])
    return Case(Shape.tiled(*sizes, origin=start + (0,) * len(sizes)), tree, exact)


def values():
    depths = st.tuples(st.integers(1, 3), st.integers(1, 3), st.sampled_from([ORIGINS, st.just(0)]))
    return depths.flatmap(lambda args: stacks(*args))


def cases():
    return st.one_of(values(), views(values()), tilings(), views(tilings()))


def rebuilt(case):
    """The same shape from lists of rows only: every mode but the last is unrolled."""

    def build(tree, rank):
        origin, children = tree
        if rank == 1:
            return Shape(len(children), origin=(origin,))
        return Shape.jagged(
            [build(c, rank - 1) for c in children], rank=rank, origin=(origin, *[0] * (rank - 1))
        )

    return build(case.tree, case.shape.rank)


@given(cases())
def test_every_prefix_has_the_extent_and_origin_of_the_tree(case):
    assert case.shape.kind == "jagged"
    assert tree_of(case.shape) == case.tree


@given(cases())
def test_indices_are_those_of_the_tree_in_lexicographic_order(case):
    shape, expected = case.shape, list(indices_of(case.tree))
    assert shape.size == len(expected)
    assert list(shape.indices()) == expected == sorted(expected)
    assert shape.indices().to_numpy().tolist() == [list(i) for i in expected]
    assert list(shape.indices(order="F")) == sorted(expected, key=lambda i: i[::-1])


@given(cases())
def test_ordinal_and_index_are_inverse_and_agree_with_their_array_forms(case):
    shape, expected = case.shape, list(indices_of(case.tree))
    assert [shape.index(k) for k in range(len(expected))] == expected
    assert [shape.ordinal(i) for i in expected] == list(range(len(expected)))
    table = np.array(expected, dtype=np.int64).reshape(-1, shape.rank)
    assert shape.ordinals(table).tolist() == list(range(len(expected)))
    assert np.array_equal(shape.indices_at(np.arange(len(expected))), table)
    for outside in (-1, len(expected)):
        with pytest.raises(OutOfBoundsError, match=str(outside)):
            shape.index(outside)
        with pytest.raises(OutOfBoundsError, match=str(outside)):
            shape.indices_at([outside])


@given(cases(), st.data())
def test_membership_is_that_of_the_set(case, data):
    shape, inside = case.shape, set(indices_of(case.tree))
    points = data.draw(st.lists(st.tuples(*[st.integers(-4, 7)] * shape.rank), min_size=1, max_size=20))
    points += list(inside)
    expected = [p in inside for p in points]
    assert [p in shape for p in points] == expected
    assert shape.contains(points).tolist() == expected
    for point in set(points) - inside:
        with pytest.raises(OutOfBoundsError):
            shape.ordinal(point)
        with pytest.raises(OutOfBoundsError):
            shape.ordinals([point])


@given(cases())
def test_modes_are_described_as_the_tree_has_them(case):
    shape = case.shape
    for mode in range(shape.rank):
        nodes = list(nodes_of(case.tree, mode))
        extents = [n for _, n, _ in nodes]
        bounds = (min(extents), max(extents)) if nodes else (0, 0)
        assert shape.extent_bounds(mode) == bounds
        assert shape.is_uniform(mode) == (bounds[0] == bounds[1])
        if bounds[0] == bounds[1]:
            assert shape.extent(mode) == shape.extent(mode - shape.rank) == bounds[0]
        else:
            with pytest.raises(JaggedModeError, match=f"from {bounds[0]} to {bounds[1]}"):
                shape.extent(mode)
            with pytest.raises(JaggedModeError):
                _ = shape.extents
    varies = [len({o for _, _, o in nodes_of(case.tree, m)}) > 1 for m in range(shape.rank)]
    if any(varies):
        with pytest.raises(JaggedModeError, match="origin"):
            _ = shape.origin
    else:
        reached = [next((o for _, _, o in nodes_of(case.tree, m)), None) for m in range(shape.rank)]
        assert all(a in {b, None} for a, b in zip(reached, shape.origin, strict=True))


@given(cases())
def test_a_range_is_a_function_of_its_dependencies_and_of_no_fewer(case):
    for mode in range(case.shape.rank):
        nodes = list(nodes_of(case.tree, mode))

        def decides(modes, nodes=nodes):
            found = {}
            return all(
                found.setdefault(tuple(prefix[m] for m in modes), (n, o)) == (n, o) for prefix, n, o in nodes
            )

        needs = case.shape.dependencies(mode)
        assert decides(needs)
        assert not any(decides([m for m in needs if m != one]) for one in needs)


@given(cases())
def test_the_bounding_box_covers_every_range_that_is_not_empty(case):
    shape = case.shape
    box = shape.as_smooth()
    for mode in range(shape.rank):
        spans = [(o, o + n) for _, n, o in nodes_of(case.tree, mode) if n]
        low, high = (min(a for a, _ in spans), max(b for _, b in spans)) if spans else (0, 0)
        assert box.extents[mode] == high - low
        if spans:
            assert box.origin[mode] == low
    assert shape.padding == box.size - shape.size
    assert all(i in box for i in indices_of(case.tree))


@given(cases(), st.booleans(), st.data())
def test_a_slice_keeps_what_lies_inside_or_names_a_row_that_it_leaves(case, clip, data):
    shape = case.shape
    bounds = st.tuples(st.integers(-4, 5), st.integers(0, 5)).map(lambda b: (b[0], b[0] + b[1]))
    # Bounds of the box itself, so that slices which stay inside are common.
    box = shape.as_smooth()
    pairs = [
        data.draw(st.one_of(bounds, st.just((o, o + n)), st.just((o, o + min(n, 1)))))
        for o, n in zip(box.origin, box.extents, strict=True)
    ]
    first, last = [a for a, _ in pairs], [b for _, b in pairs]
    try:
        expected = selected(case.tree, [slice(a, b) for a, b in pairs], clip=clip)
    except IndexError:
        with pytest.raises(OutOfBoundsError, match="outside"):
            shape.slice(first, last)
        return
    part = shape.slice(first, last, clip=clip)
    assert tree_of(part) == expected
    assert part.kind == "jagged"
    assert list(part.indices()) == [
        i for i in indices_of(case.tree) if all(a <= k < b for a, k, b in zip(first, i, last, strict=True))
    ]


@st.composite
def keys(draw, case):
    """One entry per mode; the first is no pin. Indices are often those of an element."""
    near = draw(st.sampled_from(list(indices_of(case.tree)) or [(0,) * case.shape.rank]))
    entries = []
    for mode, place in enumerate(near):
        bound = st.one_of(st.none(), st.integers(place - 2, place + 2))
        pieces = st.builds(slice, bound, bound).filter(
            lambda s: s.start is None or s.stop is None or s.start <= s.stop
        )
        pins = st.integers(place - 1, place + 1)
        whole = st.just(slice(None))
        entries.append(draw(st.one_of(whole, pieces) if not mode else st.one_of(whole, whole, pins, pieces)))
    return tuple(entries)


@given(cases().flatmap(lambda case: st.tuples(st.just(case), keys(case))))
def test_a_key_selects_what_it_says_under_every_selected_prefix(given_):
    case, key = given_
    try:
        expected = selected(case.tree, key)
    except IndexError:
        with pytest.raises(OutOfBoundsError, match="outside"):
            case.shape[key]
        return
    assert tree_of(case.shape[key]) == expected


@given(cases().filter(lambda c: c.shape.size), st.data())
def test_slices_of_slices_are_slices(case, data):
    keep = data.draw(st.sampled_from(list(indices_of(case.tree))))
    shape = case.shape.slice([k - 1 for k in keep], [k + 2 for k in keep], clip=True)
    twice = shape.slice(keep, [k + 1 for k in keep], clip=True)
    once = case.shape.slice(keep, [k + 1 for k in keep], clip=True)
    assert keep in twice
    assert twice.same_elements(once)


@given(cases(), st.data())
def test_a_chip_is_what_is_left_under_its_prefix(case, data):
    shape = case.shape
    length = data.draw(st.integers(0, shape.rank - 1))
    nodes = [prefix for prefix, _, _ in nodes_of(case.tree, length)]
    assume(nodes)
    prefix = data.draw(st.sampled_from(nodes))
    chip = shape.chip(*prefix)
    assert chip == (shape[prefix] if prefix else shape)
    assert chip.rank == shape.rank - length
    assert tree_of(chip) == selected(case.tree, [*prefix, *[slice(None)] * chip.rank])
    with pytest.raises(OutOfBoundsError, match="-9"):
        shape.chip(*prefix, -9)


@given(cases(), st.data())
def test_translation_moves_every_prefix(case, data):
    shape = case.shape
    offset = data.draw(st.tuples(*[st.integers(-5, 5)] * shape.rank))
    there = shape.translate_by(offset)
    assert tree_of(there) == moved(case.tree, offset)
    assert there.translate_by([-k for k in offset]) == shape
    assert there.is_congruent(shape)
    assert shape.is_congruent(there)
    assert (there == shape) == (tree_of(there) == case.tree)
    try:
        _ = there.origin
    except JaggedModeError:
        return
    # Where no prefix leads to a mode, nothing tells where it lies.
    reached = [m for m in range(shape.rank) if any(True for _ in nodes_of(case.tree, m))]
    back = there.translate_to(offset)
    assert [back.origin[m] for m in reached] == [offset[m] for m in reached]
    assert list(there.offsets()) == [tuple(np.subtract(i, there.origin).tolist()) for i in there.indices()]


@given(cases(), st.data())
def test_a_permutation_is_legal_where_modes_follow_their_dependencies(case, data):
    shape = case.shape
    order = data.draw(st.permutations(range(shape.rank)))
    needs = [shape.dependencies(mode) for mode in range(shape.rank)]
    if any(set(needs[mode]) - set(order[:place]) for place, mode in enumerate(order)):
        with pytest.raises(JaggedModeError, match="depends"):
            shape.permute(order)
        return
    permuted = shape.permute(order)
    expected = sorted(tuple(i[m] for m in order) for i in indices_of(case.tree))
    assert list(permuted.indices()) == expected
    back = permuted.permute([order.index(mode) for mode in range(shape.rank)])
    assert back.same_elements(shape)


@given(cases())
def test_equal_shapes_have_equal_hashes_whatever_their_representation(case):
    shape, other = case.shape, rebuilt(case)
    assert (shape == other) == (other == shape)
    assert shape.same_elements(other)
    if case.exact:
        assert shape == other
        assert hash(shape) == hash(other)
        assert shape.is_congruent(other)
    for same in (shape[...], as_shape(Jagged(shape._held.rows)), shape.copy(), shape[:]):
        assert same == shape
        assert shape == same
        assert hash(same) == hash(shape)


@given(values().flatmap(lambda c: st.tuples(st.just(c), st.one_of(cases(), views(st.just(c))))))
def test_equality_and_same_elements_are_those_of_tree_and_set(pair):
    a, b = pair
    if a.shape == b.shape:
        assert a.tree == b.tree
        assert hash(a.shape) == hash(b.shape)
    elif a.exact and b.exact:
        assert a.tree != b.tree or a.shape.rank != b.shape.rank
    same = a.shape.rank == b.shape.rank and set(indices_of(a.tree)) == set(indices_of(b.tree))
    assert a.shape.same_elements(b.shape) == b.shape.same_elements(a.shape) == same


@given(cases())
def test_a_box_with_the_same_indices_has_the_same_elements(case):
    shape, expected = case.shape, list(indices_of(case.tree))
    columns = list(zip(*expected, strict=True)) or [(0,)] * shape.rank
    low = [min(c) for c in columns]
    extents = [max(c) - a + 1 if expected else 0 for c, a in zip(columns, low, strict=True)]
    box = Shape.smooth(extents, origin=low)
    assert shape.same_elements(box) == box.same_elements(shape) == (box.size == shape.size)
    assert shape != box


@given(cases())
def test_copies_and_pickles_are_equal_and_leave_the_hash_behind(case):
    shape = case.shape
    number = hash(shape)
    for twin in (copy.copy(shape), copy.deepcopy(shape), pickle.loads(pickle.dumps(shape)), shape.copy()):
        assert twin == shape
        assert twin.is_congruent(shape)
        assert hash(twin) == number
    assert pickle.loads(pickle.dumps(shape))._hash is None
    assert type(shape.copy()._held) in {Jagged, Tiled}
    assert type(pickle.loads(pickle.dumps(shape))._held) is type(shape._held)


@given(cases())
def test_arrays_cannot_be_changed_through_a_shape_or_its_twins(case):
    twins = (case.shape, copy.deepcopy(case.shape), pickle.loads(pickle.dumps(case.shape)))
    shifted = case.shape.translate_by((1,) * case.shape.rank)
    for columns in [s._held.rows.columns for s in (*twins, shifted, shifted.copy())]:
        arrays = [columns.leaf, *columns.splits, *columns.origins, *columns.leaf_origins]
        assert not any(a.flags.writeable for a in arrays if isinstance(a, np.ndarray))


@given(cases())
def test_repr_builds_an_equal_shape(case):
    assert eval(repr(case.shape), {"Shape": Shape}).same_elements(case.shape)
    assert eval(repr(case.shape), {"Shape": Shape}) == case.shape


@given(cases())
def test_cells_and_outer_shape_build_the_shape_again(case):
    shape = case.shape
    table = shape.cell_table()
    if shape.outer_rank and shape.outer().size:
        assert Shape.from_cells(shape.outer(), table.extents, origins=table.origins) == shape
    assert table.indices.tolist() == [list(i) for i in shape.outer().indices()]
    assert table.offsets.tolist() == [
        0,
        *itertools.accumulate(np.multiply.reduce(table.extents, axis=1).tolist()),
    ]


def test_every_representation_is_drawn():
    held = set()

    @given(cases())
    def look(case):
        held.add(type(case.shape._held))

    look()
    assert held == {Jagged, JaggedView, Tiled}
