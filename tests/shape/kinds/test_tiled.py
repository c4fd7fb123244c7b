"""Tiled shapes: a product of partitions, over which rows are never unfolded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape import Jagged, Shape, Tiled, Tiling, as_shape

marks = st.lists(st.integers(-9, 20), min_size=1, max_size=6).map(sorted)


@given(st.lists(marks, min_size=1, max_size=2))
def test_a_tiled_shape_addresses_each_element_by_tile_and_place(boundaries):
    tiling = Tiling.from_marks(*boundaries)
    shape, rank = tiling.shape, tiling.rank
    assert shape == Shape.tiled(*[np.diff(m) for m in boundaries])
    assert shape.size == tiling.elements.size
    found = []
    for index in shape.indices():
        tile = tiling.tile(index[:rank])
        found.append(tuple(a + b for a, b in zip(tile.origin, index[rank:], strict=True)))
        assert tiling.tile_of(found[-1]) == index[:rank]
    assert sorted(found) == list(tiling.elements.indices())


def test_a_tiled_shape_of_boxes():
    shape = Shape.tiled([5, 15, 10], [5, 15, 10])
    assert (shape.rank, shape.size, shape.kind, shape.outer_rank) == (4, 900, "jagged", 2)
    assert [shape.dependencies(m) for m in range(4)] == [(), (), (0,), (1,)]
    assert [shape.extent_bounds(m) for m in range(4)] == [(3, 3), (3, 3), (5, 15), (5, 15)]
    assert (shape.extent_at((1, 2)), shape.extent_at((1, 2, 0))) == (15, 10)
    assert shape[1, 2] == Shape(15, 10)
    assert shape[1, 2, 14] == Shape(10)
    assert shape.origin == (0, 0, 0, 0)
    assert shape.padding == 2025 - 900


def test_a_run_of_tiles_keeps_its_numbers_and_stays_tiled():
    shape = Shape.tiled([5, 15, 10], [1, 2])
    part = shape[1:3, 1:]
    assert type(part.implementation) is Tiled
    assert part.origin == (1, 1, 0, 0)
    assert part == Shape.tiled([15, 10], [2], origin=(1, 1, 0, 0))
    assert part[2, 1] == Shape(10, 2)
    assert shape.permute((1, 0, 3, 2)) == Shape.tiled([1, 2], [5, 15, 10])
    assert shape.slice((0, 0, 0, 0), (9, 9, 9, 9), clip=True).size == (5 + 9 + 9) * 3


def test_what_tiles_store_where_there_are_none_counts():
    shapes = [Shape.tiled([], [1, 2, 3])[:, 1:2], Shape.tiled([], [1, 2, 3])[:, 2:3], Shape.tiled([], [])]
    shapes += [as_shape(Jagged(s.implementation.rows)) for s in shapes[:2]]
    assert len(set(shapes)) == 2
    for a in shapes:
        told = type(a.implementation) is Jagged or not sum(p.count for p in a.implementation.partitions)
        assert (a == as_shape(Jagged(a.implementation.rows))) == told


@pytest.mark.parametrize(
    ("key", "error", "match"),
    [
        ((3,), OutOfBoundsError, "index 3"),
        ((1, 3), OutOfBoundsError, r"index 3 .* mode 1 under the prefix \(1,\)"),
        ((0, 1, 9), OutOfBoundsError, r"index 9 is outside \[0, 5\) of mode 2 under the prefix \(0, 1\)"),
        ((0, 1, 0, slice(0, 16)), OutOfBoundsError, r"\[0, 16\) .* of mode 3 under the prefix \(0, 1\)"),
        ((slice(0, 4),), OutOfBoundsError, r"\[0, 4\).*mode 0"),
        ((slice(2, 1),), OutOfBoundsError, r"\[2, 1\) of mode 0 is reversed"),
        ((slice(0, 0), slice(2, 1)), OutOfBoundsError, r"\[2, 1\) of mode 1 is reversed"),
        ((slice(None), slice(None), slice(0, 6)), OutOfBoundsError, r"mode 2 under the prefix \(0, 0\)"),
        ((slice(None), slice(None), 5), OutOfBoundsError, r"index 5 .*prefix \(0, 0\)"),
        ((0, 0, 0, 0, 0), RankError, "5 indices"),
    ],
)
def test_keys_of_a_tiled_shape_that_are_refused(key, error, match):
    with pytest.raises(error, match=match):
        Shape.tiled([5, 15, 10], [5, 15, 10])[key]


def test_questions_about_a_tile_name_the_mode_of_the_shape():
    shape = Shape.tiled([5, 15, 10], [5, 15, 10])
    where = r"mode 2 under the prefix \(0, 1\)"
    with pytest.raises(OutOfBoundsError, match=where + r", in the index \(0, 1, 5, 0\)"):
        shape.ordinal((0, 1, 5, 0))
    for question in (shape.extent_at, shape.origin_at):
        with pytest.raises(OutOfBoundsError, match=where):
            question((0, 1, 5))


def test_sizes_beyond_64_bits_are_exact_and_their_arrays_refused():
    shape = Shape.tiled([2**40, 2**40], [2**40, 1])
    assert shape.size == 2**41 * (2**40 + 1)
    assert shape.ordinal(shape.index(shape.size - 1)) == shape.size - 1
    assert shape.contains([[1, 1, 2**40 - 1, 0], [1, 1, 0, 1]]).tolist() == [True, False]
    for call in (
        lambda: shape.ordinals([[0, 0, 0, 0]]),
        lambda: shape.indices_at([0]),
        lambda: shape.indices().to_numpy(),
    ):
        with pytest.raises(SizeOverflowError, match="64 bits"):
            call()
