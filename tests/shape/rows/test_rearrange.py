"""New rows out of old ones, against sets of indices: slices, pins, moves, permutations."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tensorwrapper.errors import JaggedModeError, SizeOverflowError
from tensorwrapper.shape import Rows
from tensorwrapper.shape.rows._dependencies import dependencies_of, keys_of
from tensorwrapper.shape.rows._rearrange import check_permutation, move_rows, permute_rows
from tensorwrapper.shape.rows._select import slice_rows
from tests.support.shape.row_sets import STARTS, indices, rows


@given(rows(), st.tuples(STARTS, STARTS, STARTS))
def test_moved_rows_have_moved_indices(of, moves):
    moved = move_rows(slice_rows(of, (of.first, of.first + of.count), (), clip=False), moves)

    assert indices(moved) == [tuple(map(sum, zip(index, moves, strict=True))) for index in indices(of)]


def test_rows_are_not_moved_out_of_64_bits():
    of = Rows.of_lengths([2, 3], first=1)
    with pytest.raises(SizeOverflowError, match="mode 0 would reach"):
        move_rows(of, (2**63 - 3, 0))


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
