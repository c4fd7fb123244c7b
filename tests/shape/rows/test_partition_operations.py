"""One mode cut anew, against lists of sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ExtentError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape import Partition, Tiling
from tensorwrapper.shape.rows._partition_operations import (
    even,
    is_refinement,
    joined,
    merged,
    merged_runs,
    moved,
    part_of,
    refined,
)

origins = st.integers(-5, 5)
partitions = st.builds(Partition.of_sizes, st.lists(st.integers(0, 3), max_size=6), origins)


def sizes(partition):
    return partition.sizes.tolist()


def cuts(partition):
    return set(partition.marks.tolist())


@given(st.lists(partitions, min_size=1, max_size=4))
def test_joined_tiles_follow_one_another_from_the_first_origin(parts):
    whole = joined(parts)
    assert whole.origin == parts[0].origin
    assert sizes(whole) == [size for part in parts for size in sizes(part)]


def test_a_join_that_leaves_64_bits_is_refused():
    half = Partition.of_sizes([2**62])
    assert sizes(joined([half])) == [2**62]
    with pytest.raises(SizeOverflowError):
        joined([half, half, half])


@given(partitions, st.data())
def test_parts_keep_the_elements_and_lie_where_they_lay(partition, data):
    a, b = sorted(data.draw(st.tuples(*[st.integers(partition.origin, partition.end)] * 2)))
    part = part_of(partition, a, b)
    assert (part.origin, part.end) == (a, b)
    assert cuts(part) == {mark for mark in cuts(partition) if a < mark < b} | {a, b}


@given(partitions, st.integers(-9, 9))
def test_moved_tiles_are_congruent(partition, by):
    there = moved(partition, by)
    assert there.is_congruent(partition)
    assert there.origin == partition.origin + by
    assert moved(there, -by) == partition


@given(partitions, st.lists(st.integers(-5, 20), max_size=4))
def test_refined_partitions_have_the_new_boundaries_and_the_old(partition, points):
    if all(partition.origin <= point <= partition.end for point in points):
        finer = refined(partition, np.array(points, dtype=np.int64), 0)
        assert cuts(finer) == cuts(partition) | set(points)
        assert is_refinement(finer, partition)
    else:
        with pytest.raises(OutOfBoundsError, match="mode 0"):
            refined(partition, np.array(points, dtype=np.int64), 0)


@given(st.integers(0, 12), st.data())
def test_merged_partitions_are_the_coarsest_that_refine_both(extent, data):
    marks = st.lists(st.integers(0, extent), max_size=4).map(lambda inner: [0, *sorted(inner), extent])
    first, second = (Partition.of_marks(data.draw(marks)) for _ in range(2))
    both = merged(first, second)
    assert cuts(both) == cuts(first) | cuts(second)
    assert is_refinement(both, first)
    assert is_refinement(both, second)
    assert merged(first, first) == first


@given(origins, st.integers(0, 20), st.integers(1, 6))
def test_even_tiles_differ_by_one_at_most_the_larger_first(origin, extent, count):
    tiles = sizes(even(origin, extent, count, 0))
    assert (len(tiles), sum(tiles)) == (count, extent)
    assert tiles == sorted(tiles, reverse=True)
    assert max(tiles) - min(tiles) <= 1


def test_elements_need_a_tile():
    with pytest.raises(ExtentError, match="mode 3"):
        even(0, 5, 0, 3)


def test_fuzz_more_tiles_than_memory_holds_are_refused_by_name():
    for make in (
        lambda: Tiling.from_chunks([1], extents=[2**62]),
        lambda: even(0, 2**62, 2**61, 0),
    ):
        with pytest.raises(SizeOverflowError, match="more than memory holds"):
            make()


@given(st.lists(st.integers(0, 9), min_size=1), st.lists(st.integers(0, 9), min_size=1))
def test_merged_runs_are_those_of_two_searches(first, second):
    one, two = (np.array(sorted(marks), np.int64) for marks in (first, second))
    marks, ones, twos = merged_runs(one, two)
    assert marks.tolist() == sorted({*first, *second})
    assert ones.tolist() == (np.searchsorted(one, marks, side="right") - 1).tolist()
    assert twos.tolist() == (np.searchsorted(two, marks, side="right") - 1).tolist()
