"""New rows out of old ones, against sets of indices: slices, pins, moves, permutations."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tensorwrapper.errors import JaggedModeError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape import Rows
from tensorwrapper.shape.rows._dependencies import dependencies_of, keys_of
from tensorwrapper.shape.rows._rearrange import check_permutation, move_rows, permute_rows
from tensorwrapper.shape.rows._select import select_rows, slice_rows
from tensorwrapper.shape.rows._unroll import same_rows

STARTS = st.integers(-2, 2)
NODES = st.sampled_from([1, 2, 3, 2**16])
"""How many prefixes there are in a window: rows are gone through window after window."""


@st.composite
def rows(draw):
    """Draw rows of rank 3: two unrolled modes over leaves of rank 1, or one over leaves of rank 2."""
    outer = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    first = draw(STARTS)
    if draw(st.booleans()):
        inner = draw(st.lists(st.integers(0, 3), min_size=sum(outer), max_size=sum(outer)))
        origins = [[draw(STARTS) for _ in outer], draw(st.one_of(STARTS, st.just([0] * len(inner))))]
        return Rows.of_lengths(np.array(outer), np.array(inner, dtype=np.int64), first=first, origins=origins)
    table = np.array([(n, draw(st.integers(0, 3))) for n in outer])
    return Rows.of_lengths(table, first=first, origins=[[draw(STARTS), draw(STARTS)]])


def indices(of):
    return [of.index(k) for k in range(of.size)]


def span(of, prefix):
    """The indices of the mode after a prefix."""
    extent, start = of.range_under(prefix)
    return range(start, start + extent)


def prefixes(of, modes):
    """All prefixes of so many indices, also those under which nothing is."""
    found = [()]
    for _ in range(modes):
        found = [(*prefix, i) for prefix in found for i in span(of, prefix)]
    return found


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


@given(rows(), st.tuples(STARTS, STARTS, STARTS))
def test_moved_rows_have_moved_indices(of, moves):
    moved = move_rows(slice_rows(of, (of.first, of.first + of.count), (), clip=False), moves)

    assert indices(moved) == [tuple(map(sum, zip(index, moves, strict=True))) for index in indices(of)]


def test_rows_are_not_moved_out_of_64_bits():
    of = Rows.of_lengths([2, 3], first=1)
    with pytest.raises(SizeOverflowError, match="mode 0 would reach"):
        move_rows(of, (2**63 - 3, 0))


def determined(of, mode, by):
    """Whether the range of a mode is a function of the modes `by`, at every prefix that leads to it."""
    found = {}
    return all(
        found.setdefault(tuple([prefix[m] for m in by]), of.range_under(prefix)) == of.range_under(prefix)
        for prefix in prefixes(of, mode)
    )


@given(rows(), NODES)
def test_dependencies_are_enough_and_none_can_be_spared(of, nodes):
    for mode in range(3):
        needs = dependencies_of(of, mode, nodes)
        assert list(needs) == sorted(needs)
        assert determined(of, mode, needs)
        assert not any(determined(of, mode, [m for m in needs if m != spared]) for spared in needs)


@given(rows(), st.permutations(range(3)))
def test_a_permutation_permutes_every_index_or_names_what_comes_too_early(of, order):
    order, needs = tuple(order), [dependencies_of(of, mode) for mode in range(3)]
    early = [m for k, m in enumerate(order) if set(needs[m]) - set(order[:k])]
    if early:
        with pytest.raises(JaggedModeError, match=f"puts mode {early[0]} before"):
            check_permutation(order, needs)
        return
    check_permutation(order, needs)
    assume(order != (0, 1, 2))

    permuted = permute_rows(of, order, needs)
    assert indices(permuted) == sorted(tuple(index[m] for m in order) for index in indices(of))


@given(st.lists(st.tuples(STARTS, STARTS), min_size=1, max_size=6))
def test_keys_are_in_the_order_of_the_rows_and_tell_them_apart(pairs):
    table = np.array(pairs)
    keys = keys_of(table, table.min(axis=0), table.max(axis=0)).tolist()

    assert sorted(range(len(pairs)), key=keys.__getitem__) == sorted(range(len(pairs)), key=pairs.__getitem__)
    assert len(set(keys)) == len(set(pairs))


def test_too_many_combinations_are_refused():
    table = np.array([[0, 0], [2**40, 2**40]])
    with pytest.raises(SizeOverflowError, match="too many combinations"):
        keys_of(table, table[0], table[1])
