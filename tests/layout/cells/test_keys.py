"""Keys on cells: under every row they select what a list of Python has there."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import IndexTypeError, OutOfBoundsError, StepError
from tensorwrapper.layout.cells._keys import Nodes, Places, choose_nodes, resolve_position, resolve_slice
from tensorwrapper.shape import Rows

COUNTS = st.lists(st.integers(0, 5), max_size=5)
BOUND = st.none() | st.integers(-8, 8) | st.sampled_from([10**30, -(10**30)])
SLICE = st.builds(slice, BOUND, BOUND, BOUND.filter(lambda step: step != 0))


def rows_of(counts):
    """Rows of these lengths, and their elements as lists, each element its own number."""
    ends = np.cumsum([0, *counts]).tolist()
    lists = [list(range(*pair)) for pair in itertools.pairwise(ends)]
    return Rows.of_lengths(np.array(counts, dtype=np.int64)), lists


@given(COUNTS, SLICE)
def test_a_slice_selects_of_each_row_what_it_selects_of_a_list(counts, item):
    first, step, kept = resolve_slice(item, np.array(counts, dtype=np.int64), 1)

    found = [[at + step * k for k in range(n)] for at, n in zip(first.tolist(), kept.tolist(), strict=True)]
    assert found == [list(range(n))[item] for n in counts]


@given(COUNTS, SLICE, SLICE)
def test_keys_of_slices_select_what_lists_of_lists_select(counts, outer, inner):
    rows, lists = rows_of(counts)
    levels, nodes = choose_nodes(rows, [outer, inner])
    wanted = [row[inner] for row in lists[outer]]

    assert nodes.tolist() == [element for row in wanted for element in row]
    assert [level.mode for level in levels] == [0, 1]
    assert levels[0].counts.tolist() == [len(wanted)]
    assert levels[1].counts.tolist() == [len(row) for row in wanted]


@given(COUNTS, st.integers(-7, 7), SLICE)
def test_an_integer_is_counted_from_the_end_of_each_row_or_refused(counts, position, outer):
    rows, lists = rows_of(counts)
    try:
        wanted = [row[position] for row in lists[outer]]
    except IndexError:
        with pytest.raises(OutOfBoundsError, match=f"position {position} is outside mode 1"):
            choose_nodes(rows, [outer, position])
        return
    levels, nodes = choose_nodes(rows, [outer, position])

    assert nodes.tolist() == wanted
    assert [level.mode for level in levels] == [0]


@given(st.lists(st.integers(2, 5), min_size=1, max_size=4), st.lists(st.integers(-2, 1), max_size=4))
def test_positions_one_by_one_are_taken_of_each_row(counts, positions):
    rows, lists = rows_of(counts)
    _, nodes = choose_nodes(rows, [slice(None), Places(np.array(positions, dtype=np.int64))])

    assert nodes.tolist() == [row[position] for row in lists for position in positions]


def test_a_new_mode_has_one_index_under_each_node():
    levels, nodes = choose_nodes(rows_of([2, 0, 1])[0], [slice(None), None])

    assert [level.mode for level in levels] == [0, None]
    assert (levels[1].counts.tolist(), nodes.tolist()) == ([1, 1, 1], [0, 1, 2])


def test_an_error_names_the_row_and_what_was_pinned_before_it():
    rows, _ = rows_of([3, 1, 2])
    at = Nodes(rows, 1, np.array([2, 1]), lead=(7,))

    with pytest.raises(OutOfBoundsError, match=r"position -2 is outside mode 2.*7, 1.*extent 1"):
        resolve_position(-2, np.array([2, 1]), 1, at)


@pytest.mark.parametrize(
    ("item", "error"),
    [
        (1.5, IndexTypeError),
        ("a", IndexTypeError),
        (Ellipsis, IndexTypeError),
        (slice(0.5, None), IndexTypeError),
        (slice(None, None, 0), StepError),
    ],
    ids=str,
)
def test_what_is_neither_an_integer_nor_a_slice_is_refused(item, error):
    with pytest.raises(error, match="mode 1"):
        choose_nodes(rows_of([2, 1])[0], [slice(None), item])
