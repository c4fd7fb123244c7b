"""Tilings of TiledArray and of the first TensorWrapper, row by row.

Where we answer otherwise by decision, the name or a comment says so.
"""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    JaggedModeError,
    OutOfBoundsError,
    RankError,
)
from tensorwrapper.shape import Shape, Tiling

PRIMES = (0, 2, 5, 10, 17, 28)
EVEN = (0, 2, 4, 6, 8, 10)
DEFAULT = Tiling([])


def marks_of(tiling):
    return tuple(tuple(m.tolist()) for m in tiling.marks)


# TiledRange1: one mode. What its boundaries mean is in test_tiling.py.


def test_the_default_has_no_tile_and_a_position():
    assert (DEFAULT.grid, DEFAULT.elements, marks_of(DEFAULT)) == (Shape(0), Shape(0), ((0,),))
    assert Tiling.from_marks([0]) == DEFAULT
    with pytest.raises(OutOfBoundsError, match=r"tile 0 is outside \[0, 0\)"):
        DEFAULT.tile((0,))


def test_a_position_alone_is_congruent_to_the_default_and_not_equal():
    there = Tiling.from_marks([1])
    assert there.elements == Shape(0, origin=(1,))
    assert there != DEFAULT
    assert there.is_congruent(DEFAULT)
    with pytest.raises(OutOfBoundsError, match="tile 0"):
        there.tile((0,))


@pytest.mark.parametrize(
    ("first", "second", "equal", "congruent"),
    [
        ((1, 2, 4, 6, 8, 10), (1, 2, 4, 6, 8, 10), True, True),
        ((1, 2, 4, 6, 8, 10), (1, 3, 6, 9, 12, 15), False, False),
        ((1, 2, 4, 6, 8, 10), (2, 3, 5, 7, 9, 11), False, True),
        ((1, 2, 4, 6, 8, 10), (1, 2, 4, 6, 10), False, False),
        ((1, 2, 4), (2, 4, 5), False, False),
        ((0, 0), (0,), False, False),
    ],
)
def test_equal_and_congruent(first, second, equal, congruent):
    a, b = Tiling.from_marks(first), Tiling.from_marks(second)
    assert (a == b, a.is_congruent(b), b.is_congruent(a)) == (equal, congruent, congruent)


def test_tilings_of_different_rank_are_not_congruent():
    assert not Tiling([1]).is_congruent(Tiling([1], [1]))
    assert not Tiling([1]).is_refinement_of(Tiling([1], [1]))


def test_a_tile_is_found_by_an_element_or_is_none():
    tiling = Tiling.from_marks(PRIMES)
    assert tiling.find((tiling.tile((3,)).origin[0] + 1,)) == Shape(7, origin=(10,))
    assert tiling.find((38,)) is None
    assert tiling.find((-(2**70),)) is None
    with pytest.raises(RankError, match="rank 1"):
        tiling.find((0, 0))


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ((1, 3, 7, 9), (0, 3, 4, 5), (1, 3, 7, 9, 12, 13, 14)),
        ((0, 3, 4, 5), (1, 3, 7, 9), (0, 3, 4, 5, 7, 11, 13)),
        ((1, 3, 7, 9), (0,), (1, 3, 7, 9)),
        # Theirs forgets where an empty left side lies (but only if it has no tile) and gives back the
        # right side. Ours has one rule: the result starts where the left side starts.
        ((0,), (1, 3, 7, 9), (0, 2, 6, 8)),
        ((3,), (0, 2), (3, 5)),
        ((0, 2), (3,), (0, 2)),
        ((1, 1), (0, 2), (1, 1, 3)),
        ((0, 2), (1, 1), (0, 2, 2)),
        ((3,), (5,), (3,)),
    ],
)
def test_concat(first, second, joined):
    result = Tiling.concat([Tiling.from_marks(first), Tiling.from_marks(second)])
    assert marks_of(result) == (joined,)


@pytest.mark.parametrize(
    ("marks", "by", "moved"),
    [((0,), 1, (1,)), ((1,), -1, (0,)), ((1, 3, 7, 9), -1, (0, 2, 6, 8)), ((1, 3), 0, (1, 3))],
)
def test_a_shift_moves_the_marks_and_not_the_tile_numbers(marks, by, moved):
    tiling = Tiling.from_marks(marks)
    assert marks_of(tiling.translate_by((by,))) == (moved,)
    assert tiling.translate_to(moved[:1]) == tiling.translate_by([by])
    assert tiling.translate_by((by,)).grid == tiling.grid


def test_the_fixture_shows_its_tiles_and_its_interval():
    tiling = Tiling.from_marks(PRIMES)
    assert (tiling.grid, tiling.elements) == (Shape(5), Shape(28))
    assert str(tiling) == "Tiling([2, 3, 5, 7, 11])"


# make_uniform.


@pytest.mark.parametrize(
    ("low", "high", "target", "marks"),
    [
        (0, 0, 0, (0,)),
        (0, 0, 1, (0,)),
        (1, 1, 0, (1,)),
        (0, 3, 10, (0, 3)),
        (3, 6, 10, (3, 6)),
        (0, 50, 10, (0, 10, 20, 30, 40, 50)),
        (10, 60, 10, (10, 20, 30, 40, 50, 60)),
        (0, 55, 10, (0, 10, 19, 28, 37, 46, 55)),
        (10, 65, 10, (10, 20, 29, 38, 47, 56, 65)),
        (0, 59, 10, (0, 10, 20, 30, 40, 50, 59)),
        (10, 69, 10, (10, 20, 30, 40, 50, 60, 69)),
        # Theirs collects the marks as unsigned numbers, and throws for the first two.
        (-5, 5, 5, (-5, 0, 5)),
        (-10, 0, 5, (-10, -5, 0)),
        (-10, -2, 5, (-10, -6, -2)),
    ],
)
def test_uniform_tiles_are_as_even_as_possible_the_larger_ones_first(low, high, target, marks):
    box = Shape(high - low, origin=(low,))
    tiling = Tiling.make_uniform(box, target)
    assert marks_of(tiling) == (marks,)
    assert Tiling.make_uniform(box, [target]) == tiling
    assert Tiling.make_uniform(box, count=len(marks) - 1) == tiling
    if not low:
        assert Tiling.make_uniform((high,), target) == tiling


def test_a_tiling_is_made_uniform_by_its_elements():
    assert marks_of(Tiling.make_uniform(Tiling.from_marks(range(0, 60, 10)).elements, 30)) == ((0, 25, 50),)
    uneven = Tiling.from_marks((0, 40, 50))
    assert marks_of(Tiling.make_uniform(uneven.elements, count=uneven.grid.extents)) == ((0, 25, 50),)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: Tiling.make_uniform((5,)), ConversionError, "one of the two"),
        (lambda: Tiling.make_uniform((5,), 2, count=3), ConversionError, "one of the two"),
        (lambda: Tiling.make_uniform((5,), 0), ExtentError, "mode 0 of extent 5 .* of 0 elements"),
        (lambda: Tiling.make_uniform((0,), -1), ExtentError, "of -1 elements"),
        (lambda: Tiling.make_uniform((3, 5), count=(3, 0)), ExtentError, "mode 1 of extent 5 .* 0 tiles"),
        (lambda: Tiling.make_uniform((5,), count=-2), ExtentError, "-2 tiles"),
        (lambda: Tiling.make_uniform((5,), 2.5), ConversionError, r"2\.5"),
        (lambda: Tiling.make_uniform((5,), True), ConversionError, "True"),
        (lambda: Tiling.make_uniform((5, 5), (2,)), RankError, "1 tile sizes for 2 modes"),
        (lambda: Tiling.make_uniform(5, 2), ExtentError, "not by the integer 5"),
        (lambda: Tiling.make_uniform(Shape.jagged([3, 1]), 2), JaggedModeError, "jagged"),
    ],
)
def test_what_make_uniform_refuses(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_uniform_tiles_per_mode_and_more_tiles_than_elements():
    tiling = Tiling.make_uniform(Shape(7, 4, origin=(-3, 1)), (3, 4))
    assert (tiling.chunks, tiling.origin) == (((3, 2, 2), (4,)), (-3, 1))
    assert Tiling.make_uniform((3,), count=5).chunks == ((1, 1, 1, 0, 0),)
    assert Tiling.make_uniform((), 3) == Tiling()


# TiledRange: the product. Its tiles and boxes are in test_tiling.py.


def test_every_tile_by_index_and_by_ordinal():
    tiling = Tiling.from_marks(PRIMES, PRIMES, PRIMES)
    for k, number in enumerate(itertools.product(range(5), repeat=3)):
        expected = Shape.smooth(
            [PRIMES[i + 1] - PRIMES[i] for i in number], origin=[PRIMES[i] for i in number]
        )
        assert tiling.tile(number) == tiling.tile(tiling.grid.index(k)) == expected


def test_a_mode_without_elements_leaves_tiles_and_no_element():
    tiling = Tiling.from_marks(PRIMES, (1, 1, 1))
    assert (tiling.grid.size, tiling.elements.size) == (10, 0)


@pytest.mark.parametrize(
    ("second", "congruent"), [(((1, 3, 5, 7, 9, 11), (2, 4, 6, 8, 10, 12)), True), (((0, 3, 6),) * 2, False)]
)
def test_products_are_congruent_mode_by_mode(second, congruent):
    first, other = Tiling.from_marks(EVEN, EVEN), Tiling.from_marks(*second)
    assert first != other
    assert first.is_congruent(other) is congruent


def test_a_permutation_is_that_of_numpy_and_the_inverse_of_that_of_tiledarray():
    a, b, c = (0, 1), (0, 2), (0, 3)
    tiling, order = Tiling.from_marks(a, b, c), (2, 0, 1)
    array = np.empty(tiling.elements.extents)
    assert marks_of(tiling.permute(order)) == (c, a, b)
    assert tiling.permute(order).elements.extents == array.transpose(order).shape
    # Theirs puts mode k at order[k]: (b, c, a).
    assert marks_of(tiling.permute(np.argsort(order))) == (b, c, a)
    moved = [(), (), ()]
    for k, place in enumerate(order):
        moved[place] = marks_of(tiling)[k]
    assert marks_of(tiling.permute(np.argsort(order))) == tuple(moved)


def test_a_permutation_permutes_tiles_and_elements_alike():
    tiling = Tiling.from_marks((-1, 0, 28), (-1, 28), (-5, 0, 3, 28))
    turned = tiling.permute((2, 0, 1))
    assert turned.grid == tiling.grid.permute((2, 0, 1))
    assert turned.elements == tiling.elements.permute((2, 0, 1))
    assert tiling.permute((0, 1, 2)) == tiling
    with pytest.raises(RankError, match=r"\(0, 0, 1\) is not a permutation"):
        tiling.permute((0, 0, 1))


def test_a_shifted_product_keeps_its_grid():
    tiling = Tiling.from_marks(PRIMES, PRIMES, PRIMES)
    moved = tiling.translate_by((1, 1, 1))
    assert moved.grid == tiling.grid
    assert moved.elements == tiling.elements.translate_by((1, 1, 1))
    with pytest.raises(RankError, match="rank 3"):
        tiling.translate_by((1,))


def test_a_tile_of_another_rank_is_refused():
    # Theirs stores a tile of rank 4 in an array of rank 2 without a word.
    tiling = Tiling.from_marks(EVEN, EVEN)
    for call in (tiling.tile, tiling.tile_of, tiling.find, tiling.is_tile_start, tiling.is_tile_stop):
        with pytest.raises(RankError, match="4 entries"):
            call((0, 0, 0, 0))
    for question in (tiling.tile_range, tiling.is_aligned, tiling.element_range):
        with pytest.raises(RankError, match=r"rank 4 .* rank 2"):
            question(Shape(2, 2, 2, 2))


def test_checks_do_not_vanish_where_assertions_are_off():
    code = (
        "from tensorwrapper import Tiling\n"
        "for make in (lambda: Tiling.from_marks([2, 0]), lambda: Tiling([2, -2]), "
        "lambda: Tiling([2]).tile((1,)), lambda: Tiling([2]).tile_of((2,))):\n"
        "    try:\n        make()\n    except (ValueError, IndexError) as error:\n"
        "        print(type(error).__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-O", "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["ExtentError"] * 2 + ["OutOfBoundsError"] * 2


# The first TensorWrapper: tilings as boundaries, on the shape itself.


@pytest.mark.parametrize("extents", [(3,), (3, 4), ()])
def test_a_shape_alone_is_one_tile(extents):
    whole = Tiling.from_chunks(-1, extents=extents)
    assert marks_of(whole) == tuple((0, n) for n in extents)
    assert whole == Tiling.make_uniform(extents, count=1)
    assert whole.grid.size == 1
    assert list(whole.tiles()) == [Shape(*extents)]


def test_boundaries_tell_tilings_apart():
    assert Tiling.from_marks((0, 1, 2, 3)).elements == Shape(3)
    assert Tiling.from_marks((0, 3)) == Tiling.from_chunks(-1, extents=(3,))
    assert Tiling.from_marks((0, 3)) != Tiling.from_marks((0, 1, 2, 3))


@pytest.mark.parametrize(
    ("marks", "low", "high", "expected"),
    [
        # Theirs is moved to 0; ours stays where it lies, and translate_to moves it.
        (((0, 3),), (1,), (3,), ((0, 2),)),
        (((0, 1, 2, 3),), (1,), (3,), ((0, 1, 2),)),
        (((0, 1, 2, 3), (0, 1, 2, 3, 4)), (1, 1), (3, 3), ((0, 1, 2), (0, 1, 2))),
    ],
)
def test_a_slice_keeps_the_boundaries_within(marks, low, high, expected):
    tiling = Tiling.from_marks(*marks)
    part = tiling.slice(low, high)
    assert part.origin == low
    assert marks_of(part.translate_to((0,) * part.rank)) == expected
    assert part == tiling.slice(tiling.elements.slice(low, high))
    assert part == tiling[tuple(slice(a, b) for a, b in zip(low, high, strict=True))]


@pytest.mark.parametrize(
    ("low", "high", "error"),
    [
        ((0,), (1, 1), RankError),
        ((0, 0), (1,), RankError),
        ((0,), (1,), RankError),
        ((2, 0), (1, 1), OutOfBoundsError),
        ((0, 0), (1, 5), OutOfBoundsError),
        ((-1, 0), (1, 1), OutOfBoundsError),
        ((4, 0), (4, 1), OutOfBoundsError),
    ],
)
def test_a_slice_that_leaves_the_elements_is_refused(low, high, error):
    with pytest.raises(error):
        Tiling.from_marks((0, 3), (0, 4)).slice(low, high)


def test_a_slice_may_start_at_the_end_because_empty_slices_are_legal():
    # Theirs refuses it.
    assert marks_of(Tiling.from_marks((0, 3)).slice((3,), (3,))) == ((3,),)


@pytest.mark.parametrize("index", range(-1, 12))
def test_boundary_predicates(index):
    tiling = Tiling.from_marks(EVEN)
    start, stop = index in EVEN[:-1], index in EVEN[1:]
    assert tiling.is_tile_start((index,)) is start
    assert tiling.is_tile_stop((index,)) is stop
    assert tiling.are_tile_starts([[index], [0]]).tolist() == [start, True]
    assert tiling.are_tile_stops([[index], [0]]).tolist() == [stop, False]


def test_a_boundary_is_one_in_every_mode():
    tiling = Tiling.from_marks(EVEN, PRIMES)
    assert tiling.is_tile_start((2, 5))
    assert not tiling.is_tile_start((2, 4))
    assert tiling.is_tile_stop((2, 5))
    assert not tiling.is_tile_stop((0, 5))
    grid = tiling.elements.indices().to_numpy().reshape(10, 28, 2)
    assert tiling.are_tile_starts(grid).sum() == tiling.grid.size
    assert tiling.are_tile_stops(grid + 1).sum() == tiling.grid.size


@pytest.mark.parametrize(
    ("marks", "points", "expected"),
    [
        ((EVEN,), [(1,)], ((0, 1, 2, 4, 6, 8, 10),)),
        (((0, 2, 4), (0, 3, 9)), [(1, 3), (3, 2)], ((0, 1, 2, 3, 4), (0, 2, 3, 9))),
        (((0, 2, 4), (0, 3, 9)), [(1, 0)], ((0, 1, 2, 4), (0, 3, 9))),
        ((EVEN,), [], (EVEN,)),
        ((EVEN,), [(0,), (4,), (10,)], (EVEN,)),
        ((EVEN,), [(3,), (1,), (3,)], ((0, 1, 2, 3, 4, 6, 8, 10),)),
        (((1, 3, 3, 5, 5),), [(3,), (4,)], ((1, 3, 3, 4, 5, 5),)),
        (((1,),), [(1,)], ((1,),)),
    ],
)
def test_boundaries_are_inserted(marks, points, expected):
    assert marks_of(Tiling.from_marks(*marks).refine(*points)) == expected


def test_boundaries_are_not_inserted_beyond_the_box():
    with pytest.raises(OutOfBoundsError, match="mode 1 reaches from 0 to 9: it has no boundary at 10"):
        Tiling.from_marks((0, 2, 4), (0, 3, 9)).refine((1, 3), (3, 10))
    with pytest.raises(OutOfBoundsError, match="no boundary at -1"):
        Tiling.from_marks((0, 2, 4)).refine((-1,))
    with pytest.raises(RankError, match="rank 1"):
        Tiling.from_marks((0, 2, 4)).refine((1, 1))


@pytest.mark.parametrize(
    ("low", "high", "tiles", "aligned"),
    [
        ((0, 0), (1, 5), ((0, 0), (1, 2)), False),
        ((0, 0), (2, 3), ((0, 0), (1, 1)), True),
        ((2, 3), (4, 6), ((1, 1), (2, 2)), True),
        ((1, 2), (3, 4), ((0, 0), (2, 2)), False),
        ((0, 0), (4, 6), ((0, 0), (2, 2)), True),
        # Theirs knows no empty slices.
        ((2, 3), (2, 6), ((1, 1), (1, 2)), True),
        ((3, 0), (3, 0), ((1, 0), (1, 0)), False),
        ((4, 6), (4, 6), ((2, 2), (2, 2)), True),
    ],
)
def test_a_box_of_elements_touches_a_box_of_tiles(low, high, tiles, aligned):
    tiling = Tiling.from_marks((0, 2, 4), (0, 3, 6))
    box = tiling.elements.slice(low, high)
    first, last = tiles
    assert tiling.tile_range(box) == tiling.grid.slice(first, last)
    assert tiling.is_aligned(box) is aligned
    if aligned:
        assert tiling.element_range(tiling.tile_range(box)) == box


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda t: t.tile_range(Shape(5)), OutOfBoundsError, r"elements \[0, 5\) leave \[0, 4\) of mode 0"),
        (lambda t: t.is_aligned(Shape(1, origin=(-1,))), OutOfBoundsError, r"\[-1, 0\)"),
        (lambda t: t.element_range(Shape(3)), OutOfBoundsError, r"tiles \[0, 3\) leave \[0, 2\) of mode 0"),
        (lambda t: t.tile_range(Shape.jagged([1, 2])), JaggedModeError, "not a jagged shape"),
        (lambda t: t.slice(Shape.jagged([1, 2])), JaggedModeError, "not a jagged shape"),
        (lambda t: t.slice((1,)), RankError, "two bounds or a Shape"),
    ],
)
def test_boxes_that_are_refused(call, error, match):
    with pytest.raises(error, match=match):
        call(Tiling.from_marks((0, 2, 4)))


def test_domains_of_elements_and_of_tiles_become_one_another():
    tiling = Tiling.from_marks((0, 2, 4, 6), (0, 2, 4, 6))
    diagonal = np.argwhere(np.kron(np.eye(3), np.ones((2, 2))))
    tiles = np.unique(tiling.tiles_of(diagonal), axis=0)
    assert tiles.tolist() == [[0, 0], [1, 1], [2, 2]]
    back = np.concatenate([tiling.tile(k).indices().to_numpy() for k in tiles])
    assert sorted(map(tuple, back.tolist())) == sorted(map(tuple, diagonal.tolist()))
    line = Tiling.from_marks((0, 2, 4, 6))
    assert np.unique(line.tiles_of(np.arange(6)[:, None])).tolist() == [0, 1, 2]
    with pytest.raises(OutOfBoundsError, match=r"element \(6,\)"):
        line.tiles_of([[0], [6]])


@pytest.mark.parametrize(
    ("first", "second", "mode", "elements"),
    [
        (((0, 3),), ((0, 3),), 0, (6,)),
        (((0, 2), (0, 2)), ((0, 2), (0, 2)), 0, (4, 2)),
        (((0, 2), (0, 2)), ((0, 2), (0, 2)), 1, (2, 4)),
        (((0, 2), (0, 2)), ((0, 2), (0, 2)), -1, (2, 4)),
    ],
)
def test_concat_adds_extents_along_its_mode(first, second, mode, elements):
    joined = Tiling.concat([Tiling.from_marks(*first), Tiling.from_marks(*second)], mode=mode)
    assert joined.elements == Shape(*elements)


def test_concat_takes_as_many_as_there_are_and_needs_one():
    parts = [Tiling([2, 0], [1, 1], origin=(k, 0)) for k in range(3, 0, -1)]
    assert Tiling.concat(parts) == Tiling([2, 0] * 3, [1, 1], origin=(3, 0))
    assert Tiling.concat(iter(parts[:1])) == parts[0]
    with pytest.raises(ConversionError, match="a tiling at least"):
        Tiling.concat([])
    with pytest.raises(ExtentError, match="mode 1 cut alike, but tiling 2 has"):
        Tiling.concat([parts[0], parts[0], Tiling([2, 0], [2])])


@pytest.mark.parametrize(
    ("first", "second", "mode", "error", "match"),
    [
        (Tiling([3]), Tiling([2], [2]), 0, RankError, "not 1 and 2"),
        (Tiling([3]), Tiling([3]), 1, RankError, "mode 1"),
        (Tiling([2], [2]), Tiling([1], [1]), 0, ExtentError, r"mode 1 cut alike.*\[0, 1\].*\[0, 2\]"),
        (Tiling([2], [2]), Tiling([2], [1, 1]), 0, ExtentError, "mode 1 cut alike"),
        (Tiling([2], [2]), Tiling([2], [2], origin=(0, 1)), 0, ExtentError, "mode 1 cut alike"),
        (Tiling(), Tiling(), 0, RankError, "mode 0"),
        (Tiling([3]), [3], 0, ConversionError, r"needs a Tiling.*not \[3\]"),
    ],
)
def test_what_concat_refuses(first, second, mode, error, match):
    with pytest.raises(error, match=match):
        Tiling.concat([first, second], mode=mode)
