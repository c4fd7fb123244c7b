"""Tilings as values: equality, hash, what is remembered and what is not, and what lookups cost in memory."""

import copy
import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from dask.base import tokenize

from tensorwrapper.errors import JaggedModeError, OutOfBoundsError
from tensorwrapper.shape import Overlaps, Partition, Shape, Tiling


def twins():
    return Tiling([1, 2], [1, 2], origin=(3, 3)), Tiling([1, 2], [1, 2], origin=(3, 3))


def test_comparing_equal_tilings_lets_them_share_their_marks():
    a, b = twins()
    assert a.marks[0] is not b.marks[0]
    assert a == b
    assert a.marks[0] is b.marks[0]
    assert a.marks[0].tolist() == [3, 4, 6]
    assert not a.marks[0].flags.writeable
    assert b.tile_of((4, 4)) == (1, 1)


def test_tilings_that_differ_share_nothing():
    a, b = Tiling([1, 2]), Tiling([2, 1])
    assert a != b
    assert a.marks[0] is not b.marks[0]


def test_a_window_on_a_large_array_is_not_shared():
    large = Partition.of_sizes(np.ones(10**6, dtype=np.int64))
    window, own = large.run(0, 2), Partition.of_marks([0, 1, 2])
    assert window == own
    assert own.marks.base is None or own.marks.base.nbytes == 24
    assert window.marks is own.marks


def test_two_windows_stay_as_they_are():
    large = Partition.of_sizes([1] * 9)
    first, second = large.run(0, 2), large.run(0, 2)
    assert first == second
    assert first.marks is not second.marks


def test_what_was_used_pickles_as_what_was_not():
    fresh = pickle.dumps(twins()[0])
    a, b = twins()
    assert a == b
    assert a.partitions[0] != Partition.of_sizes([1])
    assert a.partitions[0] == a.partitions[1]  # now both modes share one array
    hash(a)
    a.tile_of((3, 3))
    assert pickle.dumps(a) == fresh
    assert tokenize(a) == tokenize(twins()[1])
    for twin in (copy.copy(a), copy.deepcopy(a), pickle.loads(fresh)):
        assert twin == a
        assert hash(twin) == hash(a)
        assert twin.tile_of((4, 5)) == (1, 1)


@pytest.mark.parametrize(
    "value",
    [
        Partition.of_sizes([1, 0, 2], 5),
        Overlaps(Partition.of_sizes([1, 2]), Partition.of_sizes([2, 1])),
        Tiling([1, 2], [3]).retile_plan(Tiling([3], [1, 2])).cost(itemsize=2),
    ],
)
def test_the_parts_of_tilings_are_values_too(value):
    hash(value)
    for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert twin == value
        assert hash(twin) == hash(value)
        assert tokenize(twin) == tokenize(value)


def test_a_tiling_is_no_other_thing():
    assert Tiling([1]) != ((1,),)
    assert Partition.of_sizes([1]) != [0, 1]
    assert Tiling([1], [2]) != Tiling([1])
    assert len({Tiling([1, 2]), Tiling([1, 2]), Tiling([2, 1])}) == 2


def test_marks_of_another_byte_order_are_read():
    marks = np.array([1, 3, 6], dtype=np.dtype(np.int64).newbyteorder())
    tiling = Tiling.from_marks(marks)
    assert tiling == Tiling.from_marks([1, 3, 6])
    assert (tiling.tile_of((4,)), tiling.tiles_of([[4]]).tolist()) == ((1,), [[1]])
    assert Partition(marks).tile_of(4) == 1


def test_lookups_cost_memory_per_tile_and_none_per_element():
    tiling = Tiling([2**55] * 3, [2**55] * 3, origin=(-(2**56), 0))
    tracemalloc.start()
    try:
        assert tiling.tile_of((0, 2**55)) == (2, 1)
        assert tiling.tiles_of([[0, 2**55], [-(2**56), 0]]).tolist() == [[2, 1], [0, 0]]
        assert tiling.is_tile_start((0, 2**55))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**16


def test_lookups_from_many_threads_agree():
    tiling = Tiling(np.arange(1, 300))
    wanted = [(i,) for i in range(0, tiling.elements.size, 7)]
    expected = [tuple(k) for k in tiling.tiles_of(wanted).tolist()]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(Tiling(np.arange(1, 300)).tile_of, wanted))
    assert found == expected


# What the designs of the first TensorWrapper ask of tilings.


def test_a_tiled_shape_is_a_jagged_shape():  # SH-14
    assert Tiling([5, 15], [3]).shape.kind == "jagged"
    assert Tiling([5, 15], [3]).shape[1, 0] == Shape(15, 3)


def test_a_tiling_is_made_in_one_short_call():  # SH-42
    assert Tiling.from_marks([0, 5, 20]) == Tiling([5, 15])


def test_users_think_in_elements():  # HI-01, HI-02
    tiling = Tiling([5, 15, 10], [5, 15, 10])
    assert tiling.find((7, 29)) == tiling.tile((1, 2))
    assert tiling.element_range(tiling.tile_range(Shape(3, 3, origin=(4, 4)))) == Shape(20, 20)


def test_the_tiling_of_each_mode_is_kept():  # HI-03
    tiling = Tiling([5, 15], [3])
    assert [p.sizes.tolist() for p in tiling.partitions] == [[5, 15], [3]]
    with pytest.raises(JaggedModeError, match="varies from 5 to 15"):
        tiling.shape.extent(2)


def test_tiles_are_distributed_after_they_are_made():  # OV-03
    tiling = Tiling([5, 15, 10], [5, 15, 10])
    runs = tiling.partition_by_volume(300)
    numbers = [tiling.grid.index(k) for k in range(tiling.grid.size)]
    owners = {n: runs.tile_of(k) for k, n in enumerate(numbers)}
    assert sorted(set(owners.values())) == list(range(runs.count))
    with pytest.raises(OutOfBoundsError):
        runs.tile_of(tiling.grid.size)
