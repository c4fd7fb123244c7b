"""Index maps: Tapestry's table row by row, exact integers, and text."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ParseError, RankError, SizeOverflowError
from tensorwrapper.sharding import IndexMap

M = IndexMap([[1, 0], [0, 2], [1, 2]], (4, 5, 6))
NUMBERS = st.one_of(st.integers(-9, 9), st.integers(-(2**80), 2**80))


@st.composite
def maps(draw, numbers=NUMBERS, most=3):
    inputs, outputs = draw(st.integers(0, most)), draw(st.integers(0, most))
    row = st.lists(numbers, min_size=inputs, max_size=inputs)
    matrix = draw(st.lists(row, min_size=outputs, max_size=outputs))
    offset = draw(st.lists(numbers, min_size=outputs, max_size=outputs))
    return IndexMap(matrix, offset, input_rank=inputs)


def brute(m, index):
    return tuple(
        sum(a * x for a, x in zip(row, index, strict=True)) + b
        for row, b in zip(m.matrix, m.offset, strict=True)
    )


# The table.


def test_a_map_takes_an_index_to_an_index():
    assert M((1, 1)) == (5, 7, 9)


def test_entries_before_those_of_the_map_come_through():
    assert M.apply_broadcast((100, 20, 1, 1)) == (100, 20, 5, 7, 9)
    assert M.apply_broadcast((1, 1)) == M((1, 1))


def test_a_translated_map_has_another_offset():
    assert M.translate((1, 2, 3)) == IndexMap(M.matrix, (5, 7, 9))


def test_permuted_inputs_permute_columns():
    assert M.permute_input((1, 0)) == IndexMap([[0, 1], [2, 0], [2, 1]], (4, 5, 6))


def test_permuted_outputs_permute_rows_and_offset():
    assert M.permute_output((1, 0, 2)) == IndexMap([[0, 2], [1, 0], [1, 2]], (5, 4, 6))


def test_permutations_may_count_from_the_last():
    assert IndexMap([[1, 2, 3]]).permute_input((-1, 0, 1)).matrix == ((3, 1, 2),)
    assert IndexMap([[4], [5], [6], [7]], (4, 5, 6, 7)).permute_output((-1, 0, -2, 1)).offset == (7, 4, 6, 5)


@pytest.mark.parametrize(
    ("rank", "order"), [(3, (1, 1, 2)), (3, (1, 1, 1)), (4, (0, 0, 3, 3)), (3, (0, 1)), (2, (0, -2))]
)
def test_what_is_no_permutation_is_refused(rank, order):
    # A check by the sum lets the second and the third pass.
    with pytest.raises(RankError, match="is not a permutation of the modes 0 to"):
        IndexMap.identity(rank).permute_input(order)
    with pytest.raises(RankError, match="is not a permutation of the modes 0 to"):
        IndexMap.identity(rank).permute_output(order)


def test_a_permutation_has_modes_that_are_there():
    with pytest.raises(RankError, match="mode 5 does not exist"):
        IndexMap.identity(3).permute_input((3, 4, 5)[::-1])


def test_an_index_of_another_rank_is_refused():
    with pytest.raises(
        RankError, match=r"\(1, 2, 3\) has 3 entries, but the matrix has 3 rows and 2 columns"
    ):
        M((1, 2, 3))
    with pytest.raises(RankError, match="takes at least 2"):
        M.apply_broadcast((1,))


def test_an_offset_of_another_length_is_refused():
    with pytest.raises(RankError, match=r"has 2 rows, but the offset \(1, 2, 3\) has 3 entries"):
        IndexMap([[1, 2], [3, 4]], (1, 2, 3))


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(RankError, match="row 1 of the matrix has 1 entries, but 2 columns"):
        IndexMap([[1, 2], [3]])


def test_new_inputs_are_dropped_or_kept():
    m = IndexMap.diagonal([1, 2], (-1, -1))

    assert m.embed(4) == IndexMap([[0, 0, 1, 0], [0, 0, 0, 2]], (-1, -1))
    assert m.embed(4, "keep") == IndexMap(
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 2]], (0, 0, -1, -1)
    )
    assert m.embed(2) == m.embed(2, "keep") == m
    with pytest.raises(RankError, match="a map of 2 inputs cannot have 1"):
        m.embed(1)
    with pytest.raises(ConversionError, match='"drop" or "keep"'):
        m.embed(3, "tile")


# Values.


def test_maps_are_made_of_matrices():
    assert IndexMap.identity(2) == IndexMap([[1, 0], [0, 1]]) == IndexMap(np.eye(2, dtype=np.int8))
    assert IndexMap(np.zeros((0, 3), dtype=int)).input_rank == 3
    with pytest.raises(RankError, match="give input_rank"):
        IndexMap([])
    with pytest.raises(RankError, match="a matrix has 2 modes"):
        IndexMap(np.zeros(3, dtype=int))


@pytest.mark.parametrize(
    "matrix", [[[1.0]], [[True]], np.eye(2), np.eye(2, dtype=bool), [["1"]], ["1"], [[None]]]
)
def test_only_integers_make_a_matrix(matrix):
    with pytest.raises(ConversionError):
        IndexMap(matrix)


@given(maps())
def test_equal_maps_are_one_value(m):
    for same in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m), IndexMap.parse(str(m)), eval(repr(m))):
        assert same == m
        assert hash(same) == hash(m)


@given(maps(), st.data())
def test_integers_of_any_size_do_not_wrap(m, data):
    index = data.draw(st.lists(NUMBERS, min_size=m.input_rank, max_size=m.input_rank))

    assert m(index) == brute(m, index)


@given(maps(numbers=st.one_of(st.integers(-9, 9), st.integers(-(2**66), 2**66))), st.data())
def test_many_indices_go_where_each_goes_or_raise(m, data):
    entry = st.one_of(st.integers(-9, 9), st.integers(-(2**63) + 1, 2**63 - 1))
    row = st.lists(entry, min_size=m.input_rank, max_size=m.input_rank)
    rows = data.draw(st.lists(row, max_size=5))
    points = np.array(rows, dtype=np.int64).reshape(len(rows), m.input_rank)
    wanted = [brute(m, point) for point in points.tolist()]

    if all(-(2**63) <= x < 2**63 for index in wanted for x in index):
        assert list(map(tuple, m.apply_many(points).tolist())) == wanted
    else:
        with pytest.raises(SizeOverflowError, match="beyond 64 bits"):
            m.apply_many(points)


def test_a_result_may_fit_though_its_terms_do_not():
    m = IndexMap([[2**40, -(2**40)]])

    assert m.apply_many([[2**40, 2**40 - 1], [5, 4]]).tolist() == [[2**40], [2**40]]


def test_a_constant_beyond_64_bits_is_refused_where_there_are_no_inputs():
    m = IndexMap([[]], [2**64 + 5])

    assert m.apply_many(np.zeros((0, 0), dtype=int)).shape == (0, 1)
    with pytest.raises(SizeOverflowError, match="beyond 64 bits"):
        m.apply_many(np.zeros((1, 0), dtype=int))


def test_batches_of_indices_keep_their_shape():
    points = np.arange(24).reshape(3, 4, 2)

    assert M.apply_many(points).shape == (3, 4, 3)
    assert M.apply_many(points)[2, 1].tolist() == list(M(points[2, 1]))
    assert M.apply_many(np.zeros((0, 2), dtype=int)).shape == (0, 3)
    with pytest.raises(RankError, match=r"\(\.\.\., 2\)"):
        M.apply_many([[1, 2, 3]])


@given(maps(), maps(), st.data())
def test_a_composed_map_does_one_after_the_other(second, first, data):
    if first.output_rank != second.input_rank:
        with pytest.raises(RankError, match="makes indices of rank"):
            second.compose(first)
        return
    index = data.draw(st.lists(NUMBERS, min_size=first.input_rank, max_size=first.input_rank))

    assert second.compose(first)(index) == second(first(index))


# Text.


def test_only_text_is_parsed():
    with pytest.raises(ConversionError, match="read from text, not from int"):
        IndexMap.parse(5)


@given(st.text(alphabet="(),->+*i01 ", max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        m = IndexMap.parse(text)
    except ParseError:
        return
    assert IndexMap.parse(str(m)) == m
