"""Columns: what is stored of a jagged tree, read back node by node against nested lists."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.shape.rows._columns import (
    check_int64,
    leaf_offsets,
    moved_origins,
    origins_of,
    tidy_origins,
)
from tensorwrapper.shape.rows._rearrange import build_rows

TOP = 2**63 - 1


@st.composite
def trees(draw):
    """Draw a tree of two unrolled modes over leaves of rank 1 or 2: per row its start and its leaves."""
    width = draw(st.integers(1, 2))
    starts = st.one_of(st.just(4), st.integers(-3, 3))
    leaf = st.tuples(*[st.tuples(st.integers(0, 3), starts)] * width)
    return width, draw(starts), draw(st.lists(st.tuples(starts, st.lists(leaf, max_size=3)), max_size=4))


def columns_of(width, first, rows):
    leaves = [leaf for _, row in rows for leaf in row]
    numbers = np.array(leaves, dtype=np.int64).reshape(len(leaves), width, 2)
    levels = [
        (np.array([len(rows)]), first),
        (
            np.array([len(row) for _, row in rows], dtype=np.int64),
            tidy_origins(np.array([start for start, _ in rows], dtype=np.int64)),
        ),
    ]
    origins = [tidy_origins(numbers[:, mode, 1]) for mode in range(width)]
    return build_rows(levels, numbers[:, :, 0], origins).columns, leaves


@given(trees())
def test_every_node_and_leaf_is_what_was_put_in(tree):
    width, first, rows = tree
    columns, leaves = columns_of(*tree)

    assert (columns.depth, columns.leaf_rank, columns.n_rows, columns.n_leaves) == (
        2,
        width,
        len(rows),
        len(leaves),
    )
    assert columns.origin(0, 0) == first
    end = 0
    for node, (start, row) in enumerate(rows):
        begin, end = end, end + len(row)
        assert columns.children(1, node) == (begin, end)
        assert columns.origin(1, node) == start
    for number, leaf in enumerate(leaves):
        assert columns.leaf_box(number) == tuple(zip(*leaf, strict=True))


@given(trees(), st.data())
def test_runs_of_leaves_are_counted_and_listed(tree, data):
    columns, leaves = columns_of(*tree)
    stop = data.draw(st.integers(0, len(leaves)))
    start = data.draw(st.integers(0, stop))
    volumes = [int(np.prod([extent for extent, _ in leaf])) for leaf in leaves]

    assert columns.elements(start, stop) == sum(volumes[start:stop])
    assert columns.offsets.tolist() == [sum(volumes[:k]) for k in range(len(volumes) + 1)]
    assert columns.leaf_extents(start, stop).tolist() == [[e for e, _ in leaf] for leaf in leaves[start:stop]]
    assert columns.leaf_starts(start, stop).tolist() == [[o for _, o in leaf] for leaf in leaves[start:stop]]
    chosen = data.draw(st.lists(st.integers(0, len(leaves) - 1), max_size=4)) if leaves else []
    for mode in range(columns.leaf_rank):
        found = columns.leaf_extents_at(np.array(chosen, dtype=np.int64), mode)
        expected = [leaves[k][mode][0] for k in chosen]
        assert np.broadcast_to(found, len(chosen)).tolist() == expected


@given(trees())
def test_pickled_columns_are_frozen_and_alike(tree):
    columns, _ = columns_of(*tree)
    copied = pickle.loads(pickle.dumps(columns))

    assert repr(copied) == repr(columns)
    assert copied.even == columns.even
    for array in (*copied.splits, copied.leaf, *[o for o in copied.leaf_origins if not isinstance(o, int)]):
        assert not array.flags.writeable


@given(st.lists(st.integers(-3, 3), max_size=5))
def test_origins_that_agree_are_one_number(numbers):
    found = tidy_origins(np.array(numbers, dtype=np.int64))

    assert isinstance(found, int) == (len(set(numbers)) < 2)
    if numbers:
        assert origins_of(found, 0, len(numbers)).tolist() == numbers
        moved = moved_origins(found, 7, 1)
        assert origins_of(moved, 0, len(numbers)).tolist() == [number + 7 for number in numbers]


def test_what_is_moved_stays_in_64_bits():
    apart = np.array([-1, TOP - 3])
    with pytest.raises(SizeOverflowError, match=f"mode 2 would reach from {TOP + 1} to {TOP + 1}"):
        moved_origins(apart, 4, 2)
    with pytest.raises(SizeOverflowError, match="mode 0 would reach"):
        moved_origins(apart, -TOP, 0)

    assert moved_origins(apart, 3, 2).tolist() == [2, TOP]
    assert not moved_origins(apart, 3, 2).flags.writeable


@pytest.mark.parametrize(("start", "extent"), [(-TOP, 0), (0, TOP), (-TOP, 2 * TOP), (TOP, 0)])
def test_modes_may_reach_to_the_ends_of_64_bits_and_no_further(start, extent):
    check_int64(1, start, extent)
    with pytest.raises(SizeOverflowError, match="the indices of jagged shapes must fit into 64 bits"):
        check_int64(1, start, TOP - start + 1)
    with pytest.raises(SizeOverflowError):
        check_int64(1, -TOP - 1, extent)


def test_elements_before_leaves_may_be_more_than_64_bits_count():
    table = np.array([[2**40, 2**20], [2**40, 2**40], [0, 2**62]], dtype=np.int64)

    assert leaf_offsets(table).tolist() == [0, 2**60, 2**60 + 2**80, 2**60 + 2**80]
    # The bound alone is beyond 64 bits: the numbers are not.
    narrow = leaf_offsets(np.array([[2**40, 1], [1, 2**40]], dtype=np.int64))
    assert (narrow.dtype, narrow.tolist()) == (np.int64, [0, 2**40, 2**41])
