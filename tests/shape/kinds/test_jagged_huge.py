"""Jagged shapes with more rows than memory holds, or more elements than 64 bits count."""

import itertools
import pickle

import numpy as np
import pytest

from tensorwrapper.errors import OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape import Indices, Shape

N = 10**12
EVEN = [Shape.from_uniform(N, 3), Shape(N, 3, 4, origin=(5, 0, -1)).as_jagged()]


@pytest.mark.parametrize("shape", EVEN)
def test_rows_that_are_all_alike_answer_as_the_box_does(shape):
    box = shape.as_smooth()
    assert (shape.size, shape.padding, shape.extents, shape.origin) == (box.size, 0, box.extents, box.origin)
    for ordinal in (0, 10**9, shape.size - 1):
        index = box.index(ordinal)
        assert shape.index(ordinal) == index
        assert shape.ordinal(index) == ordinal
        assert index in shape
        assert shape.indices_at([ordinal]).tolist() == [list(index)]
        assert shape.ordinals([index]).tolist() == [ordinal]
    outside = tuple(a + n for a, n in zip(box.origin, box.extents, strict=True))
    assert outside not in shape
    assert shape.contains([outside, box.origin, (0,) * shape.rank]).tolist() == [
        False,
        True,
        (0,) * shape.rank in box,
    ]
    for mode in range(shape.rank):
        assert shape.extent_bounds(mode) == box.extent_bounds(mode)
        assert shape.dependencies(mode) == ()
        assert shape.is_uniform(mode)


@pytest.mark.parametrize("shape", EVEN)
def test_parts_of_rows_that_are_all_alike_are_made_without_looking_at_them(shape):
    first = shape.origin[0]
    part = shape[first + 7 : first + N - 7]
    assert (part.size, part.extent(0)) == (shape.size // N * (N - 14), N - 14)
    assert part.copy() == part
    assert shape[first + 10**9] == shape.as_smooth().chip(first + 10**9)
    assert shape.translate_by((1,) * shape.rank).origin == tuple(k + 1 for k in shape.origin)
    assert pickle.loads(pickle.dumps(shape)) == shape
    assert hash(pickle.loads(pickle.dumps(shape))) == hash(shape)
    assert shape.outer() == shape.leading(1) == Shape(N, origin=(first,))
    assert shape.leading(2).size == N * shape.extent(1)
    assert list(itertools.islice(shape.indices(), 3)) == list(
        itertools.islice(shape.as_smooth().indices(), 3)
    )
    assert len(str(shape)) < 200
    assert len(repr(shape)) < 1000
    assert shape != Shape.from_uniform(N, 4)
    assert shape.is_congruent(shape.translate_by((1,) * shape.rank))


@pytest.mark.parametrize(
    "shape",
    [
        Shape.from_cells((3,), [(2, 1), (2**40, 2**40), (1, 3)]),
        Shape.jagged([[Shape(2**40, 2**40, origin=(7, 8))], [Shape(1, 1), Shape(0, 5)]]),
        Shape(2**40, 2**40, 3, origin=(-1, 0, 4)).as_jagged(),
        Shape.tiled([2**40, 3], [2**40, 5], origin=(4, 5, 0, 0)),
        Shape.from_cells((2,), [(2**40, 2**40), (0, 5)])[0:1],
    ],
)
def test_walks_of_more_than_64_bits_start_at_once(shape):
    assert shape.size > 2**63
    found = list(itertools.islice(shape.indices(), 10))
    assert found == [shape.index(k) for k in range(10)]
    assert len(set(found)) == 10
    assert next(iter(Indices(shape.implementation)[2**70 :: 5])) == shape.index(2**70)
    walker = shape.indices().iterator()
    assert [next(walker), next(walker), walker.position] == [*found[:2], 2]


def test_a_walk_of_more_than_64_bits_goes_from_cell_to_cell():
    rows = Shape.from_cells((4,), [(2, 1), (0, 2**50), (1, 2), (2**40, 2**40)])
    assert list(itertools.islice(rows.indices(), 5)) == [
        (0, 0, 0),
        (0, 1, 0),
        (2, 0, 0),
        (2, 0, 1),
        (3, 0, 0),
    ]
    tiles = Shape.tiled([1, 0, 2**40], [2, 2**40])
    assert list(itertools.islice(tiles.indices(), 4)) == [
        (0, 0, 0, 0),
        (0, 0, 0, 1),
        (0, 1, 0, 0),
        (0, 1, 0, 1),
    ]


@pytest.mark.parametrize("extents", [(3, 2**40, 2**40), (0, 2**40, 2**40)])
def test_arrays_of_ordinals_beyond_64_bits_are_refused(extents):
    shape = Shape.smooth(extents).as_jagged()
    if not shape.size:
        assert shape.ordinals(np.zeros((0, 3), dtype=int)).tolist() == []
        assert shape.contains([(0, 0, 0)]).tolist() == [False]
        assert shape.cell_table().offsets.tolist() == [0]
        return
    for call in (lambda: shape.ordinals([(0, 0, 0)]), lambda: shape.indices_at([0]), shape.cell_table):
        with pytest.raises(SizeOverflowError, match="64 bits"):
            call()
    assert shape.contains([(2, 2**40 - 1, 5), (3, 0, 0)]).tolist() == [True, False]
    # A window that fits answers.
    assert shape[1:1].cell_table().offsets.tolist() == [0]
    with pytest.raises(OutOfBoundsError, match="ordinal"):
        shape.index(shape.size)
