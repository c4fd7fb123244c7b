"""A partition: tiles of one mode, every question against a list of the tile of every index."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape import Partition
from tensorwrapper.shape.rows._partition import (
    int64_array,
    offsets_of_tiles,
    runs_by_volume,
    volumes_of_tiles,
)

TOP = 2**63 - 1
SIZES = st.lists(st.integers(0, 4), max_size=7)


def holders(sizes, origin):
    """The tile of every index, as a dictionary."""
    owners = [k for k, size in enumerate(sizes) for _ in range(size)]
    return dict(enumerate(owners, origin))


@given(SIZES, st.integers(-5, 5))
def test_every_index_lies_in_the_tile_that_a_list_says(sizes, origin):
    p, owners = Partition.of_sizes(sizes, origin), holders(sizes, origin)

    assert (p.count, p.origin, p.extent, p.end) == (len(sizes), origin, sum(sizes), origin + sum(sizes))
    assert p.sizes.tolist() == sizes
    assert p.bounds() == (min(sizes, default=0), max(sizes, default=0))
    assert {i: p.tile_of(i) for i in owners} == owners
    for count in (1, 40):  # by a search for each, and by a table
        asked = np.array([*owners] * count, dtype=np.int64)
        assert p.tiles_at(asked).tolist() == [*owners.values()] * count
    for i in (origin - 1, p.end):
        with pytest.raises(OutOfBoundsError, match=rf"index {i} is outside \[{origin}, {p.end}\)"):
            p.tile_of(i)


@given(SIZES, st.integers(-5, 5))
def test_tiles_follow_one_another_and_marks_are_where_they_meet(sizes, origin):
    p = Partition.of_sizes(sizes, origin)
    tiles = [p.tile(k) for k in range(p.count)]
    marks = {start for _, start in tiles} | {p.origin, p.end}

    assert [extent for extent, _ in tiles] == sizes
    assert [start for _, start in tiles] == [origin + sum(sizes[:k]) for k in range(len(sizes))]
    near = range(origin - 2, p.end + 3)
    assert {i for i in near if p.has_mark(i)} == marks
    assert {i for i, has in zip(near, p.has_marks(np.array(near)), strict=True) if has} == marks
    for k in (-1, p.count):
        with pytest.raises(OutOfBoundsError, match=rf"tile {k} is outside \[0, {p.count}\)"):
            p.tile(k)


@given(SIZES, st.integers(-5, 5), st.data())
def test_a_range_meets_the_tiles_of_its_indices(sizes, origin, data):
    p, owners = Partition.of_sizes(sizes, origin), holders(sizes, origin)
    start = data.draw(st.integers(origin, p.end))
    stop = data.draw(st.integers(start, p.end))
    first, last = p.tile_run(start, stop)
    met = [owners[i] for i in range(start, stop)]

    if met:
        assert (first, last) == (met[0], met[-1] + 1)
    else:
        assert first == last
        assert first == owners.get(start, p.count)


@given(SIZES, st.data())
def test_joined_tiles_have_the_sums_of_their_sizes(sizes, data):
    p = Partition.of_sizes(sizes, 3)
    ends = [0, *sorted(data.draw(st.lists(st.integers(0, p.count), max_size=4))), p.count]
    groups = np.diff(ends).tolist()
    coarse = p.coarsen(groups)

    assert coarse.sizes.tolist() == [sum(sizes[a:b]) for a, b in pairwise(ends)]
    assert coarse.origin == 3
    with pytest.raises(ExtentError, match=f"add up to {p.count + 1}, but there are {p.count} tiles"):
        p.coarsen([*groups, 1])


@given(SIZES, SIZES, st.integers(-2, 2), st.integers(-2, 2))
def test_equal_partitions_have_equal_marks_and_congruent_ones_equal_sizes(one, two, here, there):
    p, q = Partition.of_sizes(one, here), Partition.of_sizes(two, there)

    assert p.is_congruent(q) == (one == two)
    assert (p == q) == (one == two and here == there)
    if p == q:
        assert hash(p) == hash(q)
    assert p != "a partition"


@given(SIZES, st.data())
def test_a_run_of_tiles_lies_where_it_lay_and_pickles_alone(sizes, data):
    p = Partition.of_sizes(sizes, -2)
    stop = data.draw(st.integers(0, p.count))
    start = data.draw(st.integers(0, stop))
    part = p.run(start, stop)

    assert part.sizes.tolist() == sizes[start:stop]
    assert part.origin == -2 + sum(sizes[:start])
    assert pickle.loads(pickle.dumps(part)) == part
    assert not pickle.loads(pickle.dumps(part)).marks.flags.writeable


@given(st.lists(SIZES, min_size=1, max_size=3), st.integers(1, 9))
def test_tiles_of_boxes_are_counted_in_row_major_order(modes, most):
    partitions = tuple(map(Partition.of_sizes, modes))
    volumes = volumes_of_tiles(partitions)
    flat = volumes.reshape(-1).tolist()

    for place in np.ndindex(*volumes.shape):
        assert volumes[place] == np.prod([p.sizes[k] for p, k in zip(partitions, place, strict=True)])
    assert offsets_of_tiles(partitions).reshape(-1).tolist() == [sum(flat[:k]) for k in range(len(flat))]
    marks = runs_by_volume(partitions, most).marks.tolist()
    assert (marks[0], marks[-1]) == (0, len(flat))
    for a, b in pairwise(marks):
        assert sum(flat[a:b]) <= most or b == a + 1
        assert b == len(flat) or sum(flat[a : b + 1]) > most


def test_a_giver_cannot_change_marks_afterwards():
    given_ = np.array([0, 2, 5])
    p = Partition.of_marks(given_)
    given_[1] = 4

    assert p.marks.tolist() == [0, 2, 5]
    assert not p.marks.flags.writeable


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Partition.of_marks([]), ExtentError, "needs at least one mark"),
        (lambda: Partition.of_marks([0, 3, 2]), ExtentError, "mark 2 is 2 after 3"),
        (lambda: Partition.of_sizes([1, -1]), ExtentError, "among tile sizes"),
        (lambda: Partition.of_sizes([1], 2**63 - 1), SizeOverflowError, "leaves 64 bits"),
        (lambda: Partition.of_sizes([TOP, 1]), SizeOverflowError, "64 bits"),
        (lambda: Partition.of_marks([-TOP, TOP]), SizeOverflowError, "leaves 64 bits"),
        (lambda: int64_array(np.array([1.0]), "marks"), ConversionError, "not float64"),
        (lambda: int64_array(np.zeros((1, 1), int), "marks"), ConversionError, "one-dimensional"),
        (lambda: int64_array(np.array([2**63], np.uint64), "marks"), SizeOverflowError, "marks must fit"),
        (lambda: int64_array([2**64], "marks"), SizeOverflowError, "marks must fit into 64 bits"),
        (lambda: int64_array(7, "marks"), ConversionError, "marks must be a sequence of integers, not 7"),
        (lambda: volumes_of_tiles((Partition.of_sizes([2**40]),) * 2), SizeOverflowError, "largest tile"),
        (lambda: offsets_of_tiles((Partition.of_sizes([2**40]),) * 2), SizeOverflowError, "the tiles have"),
    ],
)
def test_what_is_no_partition_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_tiles_without_elements_do_not_leave_64_bits_on_the_way():
    partitions = tuple(map(Partition.of_sizes, ([2**40], [2**40], [0])))

    assert volumes_of_tiles(partitions).tolist() == [[[0]]]
    assert offsets_of_tiles(partitions).tolist() == [[[0]]]
