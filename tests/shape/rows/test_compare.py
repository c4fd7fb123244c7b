"""Rows with more modes unrolled have the same indices; rows are compared however many are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.shape import Rows
from tensorwrapper.shape.rows._compare import same_rows, unroll

boxes = st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=1, max_size=4)
starts = st.integers(-2, 2)


def rows_of(extents, origins=(0, 0), first=0):
    """Rows of one unrolled mode, with a box of rank 2 under each index."""
    return Rows.of_lengths(np.array(extents, dtype=np.int64), first=first, origins=[list(origins)])


def indices(rows):
    return [rows.index(n) for n in range(rows.size)]


@given(boxes, st.tuples(starts, starts), starts)
def test_unrolled_rows_have_the_same_indices_in_the_same_order(extents, origins, first):
    rows = rows_of(extents, origins, first)
    for outer in (1, 2):
        deeper = unroll(rows, outer)
        assert deeper.outer_rank == outer
        assert deeper.rank == rows.rank
        assert indices(deeper) == indices(rows)
        assert same_rows(rows, deeper, origins=False)
        assert same_rows(deeper, rows, origins=False)


@given(boxes, boxes, st.tuples(starts, starts))
def test_rows_are_the_same_exactly_if_every_box_is(left, right, origins):
    a, b = rows_of(left), unroll(rows_of(right), 2)
    assert same_rows(a, b, origins=False) == _alike(left, right)
    # Rows have nothing behind an empty mode, which equals cells that store 0 there.
    says_no_more = all(m or not n for m, n in left)
    assert same_rows(a, b, origins=True) == (_alike(left, right) and says_no_more)
    assert same_rows(a, rows_of(right), origins=True) == (left == right)
    there = rows_of(left, origins)
    assert same_rows(rows_of(left), there, origins=False)


def _alike(left, right):
    """An extent that no index leads to does not tell boxes apart."""
    return len(left) == len(right) and all(
        a == b or (a[0] == b[0] == 0) for a, b in zip(left, right, strict=True)
    )


def test_what_is_unrolled_already_is_returned_as_it_is():
    rows = rows_of([(1, 2), (2, 0)])
    assert unroll(rows, 1) is rows
