"""Ranges and blocks of TiledArray, row by row, said with boxes: `Shape` is our range, `slice` our block.

Where we answer otherwise by decision, the name or a comment says so.
"""

import itertools
import pickle

import numpy as np
import pytest

from tensorwrapper.errors import ExtentError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.shape import Shape, Tiling

MAX = 2**63 - 1


def box(low, high):
    low, high = np.atleast_1d(low).tolist(), np.atleast_1d(high).tolist()
    return Shape.smooth([b - a for a, b in zip(low, high, strict=True)], origin=low)


# Range1: an interval is a box of rank 1.


@pytest.mark.parametrize(
    ("interval", "low", "high", "extent"),
    [
        (Shape(0), 0, 0, 0),
        (Shape(1), 0, 1, 1),
        (box(1, 1), 1, 1, 0),
        (box(-11, 13), -11, 13, 24),
        (box(1, 10), 1, 10, 9),
    ],
)
def test_an_interval_has_bounds_and_an_extent(interval, low, high, extent):
    assert interval.origin == (low,)
    assert interval.origin[0] + interval.extent(0) == high
    assert interval.extent(0) == interval.size == extent


def test_an_interval_is_gone_over_in_both_directions_and_with_steps():
    interval = box(0, 10).indices()
    it = interval.iterator()
    assert [next(it), next(it)] == [(0,), (1,)]
    assert it.position == 2
    assert interval[2] == (2,)
    assert interval[2 - 2] == (0,)
    assert next(reversed(interval)) == (9,)
    # Theirs reads 10 from the iterator at the end; ours has nothing to give there.
    assert list(it) == [(k,) for k in range(2, 10)]
    with pytest.raises(StopIteration):
        next(it)


def test_intervals_are_equal_if_both_bounds_are():
    assert box(0, 10) == box(0, 10)
    assert box(0, 10) != box(1, 10)
    assert box(0, 10) != box(0, 9)


@pytest.mark.parametrize(
    ("interval", "by", "moved"),
    [
        (box(0, 0), 1, box(1, 1)),
        (box(1, 1), -1, box(0, 0)),
        (box(1, 3), -1, box(0, 2)),
        # A shape holds Python integers, so these go where theirs overflow ...
        (box(MAX - 1, MAX), 1, box(MAX, MAX + 1)),
        (box(-MAX, 1 - MAX), -1, box(-MAX - 1, -MAX)),
    ],
)
def test_an_interval_is_moved(interval, by, moved):
    assert interval.translate_by((by,)) == moved
    assert moved.translate_to(interval.origin) == interval


@pytest.mark.parametrize(("interval", "by"), [((MAX - 1, MAX), 1), ((-MAX, 1 - MAX), -1)])
def test_a_tiling_does_not_move_out_of_64_bits(interval, by):
    # ... and a tiling, which holds arrays, refuses.
    tiling = Tiling.from_marks(interval)
    with pytest.raises(SizeOverflowError, match="leaves 64 bits"):
        tiling.translate_by((by,))
    assert tiling.translate_by((-by,)).translate_by((by,)) == tiling


def test_an_interval_survives_an_archive():
    assert pickle.loads(pickle.dumps(box(-11, 13))) == box(-11, 13)


# Range: a box of any rank.


@pytest.mark.parametrize("made", [Shape(), Shape.smooth([]), Shape.smooth([], origin=[])])
def test_a_shape_of_rank_0_is_a_scalar_and_not_null(made):
    # Theirs is a null range of volume 0; ours has one element, whose index is empty.
    assert (made.rank, made.size, list(made.indices())) == (0, 1, [()])
    assert () in made
    assert made


@pytest.mark.parametrize("extents", [(0, 2, 3), (0, 0, 0)])
def test_extents_of_0_are_legal(extents):
    assert Shape(*extents).size == 0
    assert list(Shape(*extents).indices()) == []


def strides_of(shape):
    """How far apart neighbours along each mode are in row-major order."""
    first = shape.origin
    steps = [tuple(i + (m == k) for k, i in enumerate(first)) for m in range(shape.rank)]
    return tuple(shape.ordinal(s) if s in shape else None for s in steps)


@pytest.mark.parametrize(
    ("low", "high", "extents", "strides", "volume"),
    [
        ((2, 2, 2), (7, 7, 7), (5, 5, 5), (25, 5, 1), 125),
        ((2, 4, 5), (2, 5, 6), (0, 1, 1), (None, None, None), 0),  # no element, so no neighbours
        ((-1, -2, 0), (1, 2, 6), (2, 4, 6), (24, 6, 1), 48),
    ],
)
def test_a_box_has_bounds_strides_and_a_volume(low, high, extents, strides, volume):
    shape = box(low, high)
    assert (shape.origin, shape.extents, shape.size) == (low, extents, volume)
    assert strides_of(shape) == strides


def test_a_box_does_not_end_before_it_starts():
    with pytest.raises(ExtentError, match="-1 for mode 1"):
        box((2, 2), (7, 1))


def test_a_box_is_permuted():
    shape = box((0, 1, 2), (5, 7, 9))
    assert shape.permute((2, 1, 0)) == box((2, 1, 0), (9, 7, 5))
    assert strides_of(shape.permute((2, 1, 0))) == (30, 5, 1)
    assert shape.permute((0, 1, 2)) == shape  # theirs is a null permutation


def test_a_box_without_elements_includes_nothing():
    assert (0, 0, 0) not in Shape(0, 1, 2)


def test_an_integer_is_no_index_and_an_ordinal_has_its_own_method():
    # Theirs raises: it might be an index or an ordinal. Ours is never either.
    shape = Shape(5)
    assert 0 not in shape
    assert (0,) in shape
    assert shape.index(0) == (0,)


def test_a_box_is_gone_over_in_row_major_order():
    found = ["".join(map(str, i)) for i in box((1, 1, 1), (3, 3, 3)).indices()]
    assert found == ["111", "112", "121", "122", "211", "212", "221", "222"]


def test_a_moved_box_is_congruent_and_not_equal():
    shape = box((1, 1, 1), (5, 5, 5))
    moved = shape.translate_by((1, 1, 1))
    assert moved.is_congruent(shape)
    assert moved != shape


# BlockRange: a block is a slice of its host, and the host knows its ordinals.

HOST = box((0, 1, 2), (5, 11, 8))


def corners(shape):
    """All bounds of boxes within a small shape."""
    ends = [range(a, a + n + 1) for a, n in zip(shape.origin, shape.extents, strict=True)]
    return itertools.product(*ends)


@pytest.mark.parametrize("low", [(0, 1, 2), (2, 4, 3), (4, 10, 7), (5, 11, 8), (3, 3, 3)])
def test_a_block_has_the_ordinals_of_its_host(low):
    for high in corners(HOST):
        if not all(a <= b for a, b in zip(low, high, strict=True)):
            continue
        block = HOST.slice(low, high)
        assert block == box(low, high)
        assert block.size == np.prod([b - a for a, b in zip(low, high, strict=True)])
        if block.size:
            places = block.indices().to_numpy()
            ordinals = HOST.ordinals(places)
            assert ordinals[0] == HOST.ordinal(low)
            assert [HOST.ordinal(block.index(k)) for k in (0, block.size - 1)] == ordinals[[0, -1]].tolist()
            assert np.array_equal(HOST.indices_at(ordinals), places)


@pytest.mark.parametrize(
    ("low", "high"),
    [((1, 1, 2), (0, 11, 8)), ((0, 0, 2), (5, 11, 8)), ((0, 1, 2), (5, 12, 8)), ((6, 1, 2), (6, 2, 3))],
)
def test_a_block_lies_in_its_host(low, high):
    with pytest.raises(OutOfBoundsError, match="outside"):
        HOST.slice(low, high)


def test_a_block_without_elements_is_legal_and_has_no_ordinals():
    block = HOST.slice((3, 3, 3), (4, 3, 5))
    assert block.size == 0
    with pytest.raises(OutOfBoundsError, match=r"ordinal 0 is outside \[0, 0\)"):
        block.index(0)


def test_a_block_of_another_rank_is_refused():
    with pytest.raises(RankError, match="rank 3"):
        HOST.slice((0, 1), (1, 2))
