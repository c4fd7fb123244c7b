"""How many elements tiles have, where they start one after the other, and runs of bounded volume."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ExtentError, SizeOverflowError
from tensorwrapper.shape import Partition, Shape, Tiling

sizes = st.lists(st.integers(0, 6), max_size=5)


@given(st.lists(sizes, max_size=3))
def test_volumes_and_offsets_are_those_of_the_tiles_in_order(modes):
    tiling = Tiling(*modes)
    volumes = [tile.size for tile in tiling.tiles()]
    offsets = list(itertools.accumulate(volumes, initial=0))[:-1]
    for found, expected in ((tiling.volumes(), volumes), (tiling.offsets(), offsets)):
        assert found.dtype == np.int64
        assert found.shape == tiling.grid.extents
        assert found.ravel().tolist() == expected


@given(st.lists(sizes, max_size=3))
def test_the_smallest_and_the_largest_tile(modes):
    tiling = Tiling(*modes)
    assert tiling.smallest_tile == tuple(min(m, default=0) for m in modes)
    assert tiling.largest_tile == tuple(max(m, default=0) for m in modes)


def greedy(volumes, most):
    marks, held = [0], 0
    for k, volume in enumerate(volumes):
        if k > marks[-1] and held + volume > most:
            marks.append(k)
            held = 0
        held += volume
    return [*marks, len(volumes)] if volumes else marks


@given(st.lists(sizes, max_size=3), st.integers(1, 60))
@example([[5, 0, 0, 3]], 4)  # empty tiles after one that is too large start a run of their own
@example([[0, 0, 7, 0]], 3)
def test_runs_are_as_long_as_they_may_be(modes, most):
    tiling = Tiling(*modes)
    runs = tiling.partition_by_volume(most)
    assert isinstance(runs, Partition)
    volumes = tiling.volumes().ravel().tolist()
    if sum(volumes) <= most:
        assert runs.marks.tolist() == ([0, len(volumes)] if volumes else [0])
    else:
        assert runs.marks.tolist() == greedy(volumes, most)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=400), st.integers(1, 400))
def test_runs_are_the_same_where_each_is_searched_for_and_where_each_tile_is(volumes, most):
    offsets = np.array(list(itertools.accumulate(volumes, initial=0)))
    expected = [0, len(volumes)] if sum(volumes) <= most else greedy(volumes, most)
    assert Partition.by_volume(offsets, most).marks.tolist() == expected


def test_many_tiles_in_few_runs_and_few_tiles_in_many():
    rng = np.random.default_rng(3)
    tiling = Tiling(rng.integers(0, 9, 300), rng.integers(0, 9, 200))
    volumes = tiling.volumes().ravel().tolist()
    for most in (1, 10, 300, 5000, 10**5):
        assert tiling.partition_by_volume(most).marks.tolist() == greedy(volumes, most)


def test_runs_of_tiles_are_work_for_tasks():
    tiling = Tiling([5, 15, 10], [5, 15, 10])
    runs = tiling.partition_by_volume(200)
    numbers = tiling.grid.indices()
    loads = [sum(tiling.tile(k).size for k in numbers[a:b]) for a, b in itertools.pairwise(runs.marks)]
    assert loads == [150, 75, 225, 200, 150, 100]
    assert runs.tile_of(numbers.index((2, 0))) == 3


def test_a_scalar_is_one_tile_of_one_element():
    tiling = Tiling()
    assert (tiling.volumes().tolist(), tiling.offsets().tolist()) == (1, 0)
    assert tiling.partition_by_volume(1).marks.tolist() == [0, 1]


def test_what_does_not_fit_into_64_bits_is_refused_before_it_is_computed():
    wide = Tiling([2**40, 1], [2**40, 1])
    with pytest.raises(SizeOverflowError, match=str(2**80)):
        wide.volumes()
    with pytest.raises(SizeOverflowError, match=str((2**40 + 1) ** 2)):
        wide.offsets()
    with pytest.raises(SizeOverflowError, match="64 bits"):
        wide.partition_by_volume(2**70)


def test_volumes_fit_where_their_sum_does_not():
    tiling = Tiling([2**31 - 1] * 3, [2**31 - 1] * 3)
    assert (tiling.volumes() == (2**31 - 1) ** 2).all()
    with pytest.raises(SizeOverflowError, match="64 bits"):
        tiling.offsets()


def test_an_empty_mode_makes_every_volume_0_however_large_the_others_are():
    tiling = Tiling([2**40], [2**40], [0, 0])
    assert tiling.volumes().tolist() == tiling.offsets().tolist() == [[[0, 0]]]
    assert tiling.partition_by_volume(5).marks.tolist() == [0, 2]


def test_the_largest_total_that_fits():
    half = 2**62 - 1
    tiling = Tiling([half, 1, half])
    assert tiling.offsets().tolist() == [0, half, half + 1]
    assert tiling.partition_by_volume(half).marks.tolist() == [0, 1, 2, 3]
    assert tiling.partition_by_volume(half + 1).marks.tolist() == [0, 2, 3]
    assert math.prod(tiling.elements.extents) == 2**63 - 1


@pytest.mark.parametrize(
    ("most", "error", "match"),
    [(0, ExtentError, "not 0"), (-1, ExtentError, "not -1"), (2.0, ConversionError, r"2\.0")],
)
def test_a_run_may_hold_an_element_at_least(most, error, match):
    with pytest.raises(error, match=match):
        Tiling([1]).partition_by_volume(most)


def test_the_tiles_of_a_buffer_that_holds_tile_after_tile_start_at_their_offsets():
    tiling = Tiling([5, 0, 15], [7, 3])
    shape = tiling.shape
    offsets = tiling.offsets()
    for number in tiling.grid.indices():
        if tiling.tile(number).size:
            assert shape.ordinal((*number, 0, 0)) == offsets[number]
    assert tiling.elements == Shape(20, 10)
