"""Tilings and tiled shapes: partitions, element to tile and back, grids, coarsening."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape import Shape, Tiling

PRIMES = [0, 2, 5, 10, 17, 28]
marks = st.lists(st.integers(-9, 20), min_size=1, max_size=6).map(sorted)


@pytest.mark.parametrize(
    ("boundaries", "tiles", "first", "extent"),
    [
        ([0], 0, 0, 0),
        ([1], 0, 1, 0),
        (PRIMES, 5, 0, 28),
        (PRIMES[1:], 4, 2, 26),
        ([1, 3, 6, 11, 18, 29], 5, 1, 28),
        ([-1, *PRIMES], 6, -1, 29),
        ([0, 0], 1, 0, 0),
        ([1, 3, 3, 5, 5], 4, 1, 4),
        ([-5, -2, 4], 2, -5, 9),
    ],
)
def test_marks(boundaries, tiles, first, extent):
    tiling = Tiling.from_marks(boundaries)
    assert tiling.grid == Shape(tiles)
    assert tiling.elements == Shape(extent, origin=(first,))
    assert tiling.origin == (first,)
    assert [m.tolist() for m in tiling.marks] == [boundaries]
    for k, (low, high) in enumerate(itertools.pairwise(boundaries)):
        assert tiling.tile((k,)) == Shape(high - low, origin=(low,))
    for outside in (-1, tiles):
        with pytest.raises(OutOfBoundsError, match=rf"tile {outside} is outside \[0, {tiles}\)"):
            tiling.tile((outside,))
    sizes = np.diff(boundaries)
    assert Tiling(sizes, origin=(first,)) == tiling == Tiling(sizes.tolist(), origin=[first])


def test_an_empty_tiling_has_a_position():
    assert Tiling.from_marks([1]) != Tiling.from_marks([0])
    assert Tiling.from_marks([0]) == Tiling([])
    assert Tiling.from_marks([1]) == Tiling([], origin=(1,))


@pytest.mark.parametrize(
    ("element", "tile"),
    [(1, 0), (2, 0), (3, 2), (4, 2)],
)
def test_an_element_is_never_in_an_empty_tile(element, tile):
    tiling = Tiling.from_marks([1, 3, 3, 5, 5])
    assert tiling.tile_of((element,)) == (tile,)
    assert tiling.tiles_of([[element]]).tolist() == [[tile]]
    assert (element,) in tiling.tile((tile,))


@pytest.mark.parametrize("element", [0, 5, -1, 2**70])
def test_an_element_outside_is_in_no_tile(element):
    tiling = Tiling.from_marks([1, 3, 3, 5, 5])
    with pytest.raises(
        OutOfBoundsError, match=rf"{element} is outside \[1, 5\) of mode 0, in the element \({element},\)"
    ) as caught:
        tiling.tile_of((element,))
    assert isinstance(caught.value, IndexError)
    if element < 2**63:
        with pytest.raises(OutOfBoundsError, match=rf"\({element},\) is not in"):
            tiling.tiles_of([[3], [element]])


def test_the_tile_that_holds_an_element_is_found():
    tiling = Tiling.from_marks(PRIMES)
    assert tiling.tile(tiling.tile_of((11,))) == Shape(7, origin=(10,))
    with pytest.raises(OutOfBoundsError, match="38"):
        tiling.tile_of((38,))


@pytest.mark.parametrize(
    ("make", "error", "builtin", "match"),
    [
        (lambda: Tiling.from_marks([]), ExtentError, ValueError, "at least one mark"),
        (lambda: Tiling.from_marks([2, 0]), ExtentError, ValueError, "mark 1 is 0 after 2"),
        (lambda: Tiling.from_marks([0.0, 2.0]), ConversionError, TypeError, r"0\.0"),
        (lambda: Tiling.from_marks(np.array([0.0, 2.0])), ConversionError, TypeError, "float64"),
        (lambda: Tiling.from_marks([False, True]), ConversionError, TypeError, "False"),
        (lambda: Tiling.from_marks([0, 2**70]), SizeOverflowError, OverflowError, "64 bits"),
        (lambda: Tiling.from_marks([-(2**62), 2**63 - 1]), SizeOverflowError, OverflowError, "64 bits"),
        (lambda: Tiling([2, -2]), ExtentError, ValueError, "row 1 has -2"),
        (lambda: Tiling(3), ConversionError, TypeError, "3"),
        (lambda: Tiling("35"), ConversionError, TypeError, "'35'"),
        (lambda: Tiling([1.5]), ConversionError, TypeError, r"1\.5"),
        (lambda: Tiling([True]), ConversionError, TypeError, "True"),
        (lambda: Tiling(np.ones((2, 2), int)), ConversionError, TypeError, r"\(2, 2\)"),
        (lambda: Tiling([2], origin=(1, 1)), RankError, ValueError, "2 entries for 1"),
        (lambda: Tiling([2**62, 2**62]), SizeOverflowError, OverflowError, "64 bits"),
        (lambda: Tiling([2], origin=(2**63 - 2,)), SizeOverflowError, OverflowError, "64 bits"),
        (Shape.tiled, RankError, ValueError, "at least one mode"),
        (lambda: Tiling().shape, RankError, ValueError, "rank 0"),
        (
            lambda: Tiling([2, 3]).coarsen([1]),
            ExtentError,
            ValueError,
            r"join in mode 0 add up to 1, .* are 2 tiles",
        ),
        (lambda: Tiling([2, 3]).coarsen([3, -1]), ExtentError, ValueError, "-1"),
        (lambda: Tiling([]).coarsen([2**62] * 4), SizeOverflowError, OverflowError, "64 bits"),
        (lambda: Tiling([1], [2, -2]), ExtentError, ValueError, "row 1 has -2.*tile sizes of mode 1"),
        (lambda: Tiling.from_marks([0], [2, 0]), ExtentError, ValueError, "marks of mode 1 must not descend"),
        (lambda: Tiling([2], [3]).coarsen([1]), RankError, ValueError, "rank 2.* 1 were given"),
        (lambda: Tiling([2], [3]).tile((0,)), RankError, ValueError, "rank 2"),
        (lambda: Tiling([3], [3]).tile((0, 5)), OutOfBoundsError, IndexError, r"tile 5 .*mode 1.*\(0, 5\)"),
        (
            lambda: Tiling([3], [3]).tile_of((0, 5)),
            OutOfBoundsError,
            IndexError,
            r"index 5 .*mode 1.*\(0, 5\)",
        ),
        (lambda: Tiling([3]).tiles_of([[1], [1, 2]]), ConversionError, TypeError, "rectangular"),
        (lambda: Tiling.from_marks(5), ConversionError, TypeError, "sequence of integers, not 5"),
        (lambda: Shape.tiled([1, 2], origin=(1,)), RankError, ValueError, "an origin of a shape of rank 2"),
        (lambda: Tiling([2], [3]).tile((0, True)), ConversionError, TypeError, "True"),
        (lambda: Tiling([2], [3]).tile_of((0, 0, 0)), RankError, ValueError, "rank 2"),
        (lambda: Tiling([2], [3]).tiles_of([[0]]), RankError, ValueError, "rank 2"),
        (lambda: Tiling([2], [3]).tiles_of([[0.0, 0.0]]), ConversionError, TypeError, "float64"),
    ],
)
def test_what_is_refused(make, error, builtin, match):
    with pytest.raises(error, match=match) as caught:
        make()
    assert isinstance(caught.value, builtin)


def test_a_tiling_is_a_product_of_its_modes():
    tiling = Tiling.from_marks(PRIMES, PRIMES, PRIMES)
    assert tiling.grid == Shape(5, 5, 5)
    assert tiling.elements == Shape(28, 28, 28)
    tiles = list(tiling.tiles())
    assert tiles == [tiling.tile(number) for number in tiling.grid.indices()]
    assert sum(t.size for t in tiles) == 28**3


@pytest.mark.parametrize(
    ("boundaries", "grid", "elements"),
    [
        ((PRIMES, [0]), (5, 0), (28, 0)),
        ((PRIMES, [1, 1, 1]), (5, 2), (28, 0)),
        (([-1, 0, 28], [-1, 28], [-5, 0, 28]), (2, 1, 2), (29, 29, 33)),
        ((), (), ()),
    ],
)
def test_grids_with_few_tiles(boundaries, grid, elements):
    tiling = Tiling.from_marks(*boundaries)
    assert tiling.grid.extents == grid
    assert tiling.elements.extents == elements
    assert tiling.elements.origin == tuple(m[0] for m in boundaries)
    assert len(list(tiling.tiles())) == np.prod(grid)


@given(st.lists(marks, max_size=3))
def test_tiles_cover_every_element_once(boundaries):
    tiling = Tiling.from_marks(*boundaries)
    elements = list(tiling.elements.indices())
    covered = [index for tile in tiling.tiles() for index in tile.indices()]
    assert sorted(covered) == elements
    numbers = [tiling.tile_of(index) for index in elements]
    assert all(i in tiling.tile(k) for i, k in zip(elements, numbers, strict=True))
    table = np.array(elements, dtype=np.int64).reshape(len(elements), tiling.rank)
    assert tiling.tiles_of(table).tolist() == [list(k) for k in numbers]


@given(marks, st.data())
def test_coarse_tiles_join_runs_of_fine_ones(boundaries, data):
    fine = Tiling.from_marks(boundaries)
    left, groups = fine.grid.size, []
    while left:
        groups.append(data.draw(st.integers(0, left)))
        left -= groups[-1]
    coarse = fine.coarsen(groups)
    assert coarse.grid == Shape(len(groups))
    assert coarse.elements == fine.elements
    assert set(coarse.marks[0].tolist()) <= set(boundaries)
    ends = list(itertools.accumulate(groups, initial=0))
    for k, (a, b) in enumerate(itertools.pairwise(ends)):
        assert coarse.tile((k,)).extent(0) == sum(fine.tile((i,)).extent(0) for i in range(a, b))


@given(st.lists(marks, min_size=1, max_size=3), st.lists(marks, min_size=1, max_size=3))
def test_equal_tilings_have_equal_marks_and_hashes(first, second):
    a, b = Tiling.from_marks(*first), Tiling.from_marks(*second)
    assert (a == b) == (first == second)
    for twin in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a)), Tiling.from_marks(*first)):
        assert twin == a
        assert hash(twin) == hash(a)
        assert not any(m.flags.writeable for m in twin.marks)


def test_marks_are_copied_and_read_only():
    boundaries = np.array(PRIMES)
    tiling = Tiling.from_marks(boundaries)
    boundaries[:] = 0
    assert tiling.elements == Shape(28)
    with pytest.raises(ValueError, match="read-only"):
        tiling.marks[0][0] = 7


def test_anything_with_an_index_is_an_integer():
    tiling = Tiling([np.int8(2), 3], np.array([4], dtype=np.uint16), origin=np.array([1, 0]))
    assert tiling == Tiling([2, 3], [4], origin=(1, 0))
    assert tiling.tile(np.array([1, 0])) == Shape(3, 4, origin=(3, 0))
    assert tiling.tile_of((np.int64(3), np.uint8(0))) == (1, 0)


@pytest.mark.parametrize(
    ("tiling", "text"),
    [
        (Tiling([5, 15, 10], [30]), "Tiling([5, 15, 10], [30])"),
        (Tiling.from_marks([1, 3, 3]), "Tiling([2, 0], origin=(1,))"),
        (Tiling([1] * 13), "Tiling([" + "1, " * 12 + "...])"),
    ],
)
def test_text(tiling, text):
    assert repr(tiling) == text
