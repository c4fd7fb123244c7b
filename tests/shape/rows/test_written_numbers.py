"""The numbers that a text writes of rows: all extents and origins, a piece at a time, or one for all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.shape import Rows
from tensorwrapper.shape.rows import _written_numbers
from tensorwrapper.shape.rows._select import slice_rows
from tensorwrapper.shape.rows._written_numbers import (
    MAX_SPREAD,
    WrittenNumbers,
    alike_cells,
    cells_between,
    compact_modes,
    extents_of,
    starts_of,
)

STARTS = st.integers(-2, 2)


@st.composite
def rows(draw):
    """Draw a window on rows, whose leaves have rank 1 or 2."""
    outer = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    count, first = sum(outer), draw(STARTS)
    origins = [[draw(STARTS) for _ in outer]]
    if draw(st.booleans()):
        lengths = [outer, draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))]
        origins.append([draw(STARTS) for _ in range(count)])
    else:
        lengths = [outer, [[draw(st.integers(0, 2)), draw(st.integers(0, 2))] for _ in range(count)]]
        origins.append([[draw(STARTS), draw(STARTS)] for _ in range(count)])
        if not count:
            lengths[1] = np.zeros((0, 2), dtype=np.int64)
            origins[1] = 0, 0
    arrays = [np.array(numbers, dtype=np.int64) for numbers in lengths]
    whole = Rows.of_lengths(*arrays, first=first, origins=origins)
    low = draw(st.integers(0, whole.count))
    high = draw(st.integers(low, whole.count))
    return slice_rows(whole, (whole.first + low, whole.first + high), (), clip=False)


def all_of(series):
    return series.values(0, series.count).tolist()


@given(rows())
def test_extents_are_those_at_every_prefix(of):
    found = [all_of(series) for series in extents_of(of)]
    unrolled = [of.ranges(mode)[0].tolist() for mode in range(of.outer_rank)]
    leaves = of.columns.leaf_extents(*of.leaves)

    assert found == [*unrolled, *leaves.T.tolist()]


@given(rows())
def test_origins_are_those_that_are_stored(of):
    starts = starts_of(of)
    assert [series.count for series in starts] == [series.count for series in extents_of(of)]
    assert all_of(starts[0]) == [of.first]
    for mode in range(1, of.outer_rank):
        assert all_of(starts[mode]) == of.ranges(mode)[1].tolist()
    stored = of.columns.leaf_starts(*of.leaves).tolist()
    for inner, series in enumerate(starts[of.outer_rank :]):
        assert all_of(series) == [own[inner] for own in stored]


@given(rows(), st.data())
def test_a_piece_is_a_run_of_the_whole(of, data):
    for series in [*extents_of(of), *starts_of(of)]:
        start = data.draw(st.integers(0, series.count))
        stop = data.draw(st.integers(start, series.count + 2))
        assert series.values(start, stop).tolist() == all_of(series)[start:stop]


@given(rows())
def test_one_number_stands_for_all_only_if_all_agree(of):
    for series in extents_of(of):
        numbers = set(all_of(series))
        assert series.alike() == (None if len(numbers) > 1 else (numbers or {0}).pop())


@given(rows())
def test_cells_are_alike_or_listed(of):
    begin, end = of.leaves
    cells = extents_of(of)[of.outer_rank :]
    table = cells_between(of, 0, end - begin).tolist()

    assert table == of.columns.leaf_extents(begin, end).tolist()
    distinct = {tuple(extents) for extents in table}
    assert alike_cells(cells) == (distinct.pop() if len(distinct) == 1 else None)


def counted(numbers):
    """Numbers that note what was read of them."""
    read = []
    values = np.array(numbers)

    def look(start, stop):
        read.append((start, stop))
        return values[start:stop]

    return WrittenNumbers(len(numbers), None, look), read


def test_numbers_that_soon_differ_are_not_all_read():
    series, read = counted([1, 2] + [1] * 10**6)

    assert series.alike() is None
    assert read == [(0, 1024)]


@pytest.mark.parametrize("place", [1023, 1024, 1500, 2999])
def test_one_number_that_differs_is_found_wherever_it_is(place, monkeypatch):
    monkeypatch.setattr(_written_numbers, "_PIECE", 700)
    numbers = [5] * 3000
    numbers[place] = 6

    assert counted(numbers)[0].alike() is None
    assert counted([5] * 3000)[0].alike() == 5


def test_one_number_stands_for_so_many_prefixes_in_all():
    def known(count):
        return WrittenNumbers(count, 7, lambda start, stop: np.full(stop - start, 7))

    assert compact_modes([known(1), known(MAX_SPREAD), known(1)]) == [7, 7, None]
    assert compact_modes([known(1), known(MAX_SPREAD + 1), known(2)]) == [7, None, 7]
    assert compact_modes([known(1), known(0), known(2)]) == [7, None, 7]
