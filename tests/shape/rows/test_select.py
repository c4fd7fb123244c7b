"""Slices and pins of rows, against sets of indices."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.shape import Rows
from tensorwrapper.shape.rows._compare import same_rows
from tensorwrapper.shape.rows._select import select_rows, slice_rows
from tests.support.shape.row_sets import NODES, STARTS, indices, prefixes, rows, span


def listed(selected):
    """The indices of rows, or of a box given by extents and origin."""
    if isinstance(selected, Rows):
        return indices(selected)
    extents, origin = selected
    return list(itertools.product(*[range(o, o + n) for n, o in zip(extents, origin, strict=True)]))


@given(rows(), st.tuples(STARTS, STARTS))
def test_a_slice_of_the_rows_keeps_their_indices(of, bounds):
    low, high = sorted(bounds)
    kept = slice_rows(of, (low, high), (), clip=True)

    assert indices(kept) == [index for index in indices(of) if low <= index[0] < high]
    assert kept.columns is of.columns
    if of.first <= low <= high <= of.first + of.count:
        assert indices(slice_rows(of, (low, high), (), clip=False)) == indices(kept)
    else:
        with pytest.raises(OutOfBoundsError, match=r"is outside \[.*\) of mode 1 under the prefix \(9,\)"):
            slice_rows(of, (low, high), (9,), clip=False)


ENTRIES = st.one_of(st.just((None, None)), st.tuples(STARTS, STARTS).map(lambda p: tuple(sorted(p))))


@given(rows(), st.tuples(ENTRIES, ENTRIES, ENTRIES), NODES)
def test_slices_of_every_mode_keep_the_indices_between_the_bounds(of, entries, nodes):
    kept = select_rows(of, entries, (), clip=True, nodes=nodes)
    if isinstance(kept, Rows):
        assert same_rows(kept, select_rows(of, entries, (), clip=True), origins=True)

    expected = [
        index
        for index in indices(of)
        if all(
            (low is None or low <= i) and (high is None or i < high)
            for i, (low, high) in zip(index, entries, strict=True)
        )
    ]
    assert listed(kept) == expected


@given(rows(), st.integers(1, 2), STARTS, NODES)
def test_a_pinned_mode_is_dropped_or_the_prefix_that_lacks_it_is_named(of, mode, place, nodes):
    entries = [(None, None)] * 3
    entries[mode] = place
    lacking = [prefix for prefix in prefixes(of, mode) if place not in span(of, prefix)]
    try:
        pinned = select_rows(of, tuple(entries), (), clip=False, nodes=nodes)
    except OutOfBoundsError as error:
        said = f"under the prefix {lacking[0][: of.outer_rank]}, so it cannot be pinned"
        assert said in str(error)  # noqa: PT017 - what is not refused is right
        return

    assert not lacking
    assert listed(pinned) == [i[:mode] + i[mode + 1 :] for i in indices(of) if i[mode] == place]


def test_the_prefix_to_blame_is_found_behind_slices_and_pins():
    of = Rows.of_lengths([2, 3], [1, 2, 4, 1, 4], first=5, origins=[[0, 10], 0])
    with pytest.raises(
        OutOfBoundsError, match=r"index 3 is outside \[0, 1\) of mode 2 under the prefix \(6, 11\)"
    ):
        select_rows(of, ((6, 7), (None, None), 3), (), clip=False)
    with pytest.raises(OutOfBoundsError, match=r"slice \[0, 2\) is outside \[0, 1\) of mode 3.*\(8, 5, 0\)"):
        select_rows(of, ((None, None), (None, None), (0, 2)), (8,), clip=False)


def test_a_mode_that_no_index_reaches_leaves_no_slice():
    of = Rows.of_lengths(np.array([[0, 2], [1, 5]]))

    assert listed(select_rows(of, ((None, None), (None, None), (3, 5)), (), clip=False)) == [
        (1, 0, 3),
        (1, 0, 4),
    ]
