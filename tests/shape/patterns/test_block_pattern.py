"""Block patterns: the numbers of small cases, and what is refused."""

import math
import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape.lowlevel import make_block_pattern

T = Tiling([1, 2, 3], [2, 4])
P = BlockPattern.from_mask(T, [[1, 0], [0, 1], [1, 1]])
Q = BlockPattern.from_mask(T, [[0, 0], [1, 1], [0, 1]])


def test_ordinals_and_elements():  # rows 1 and 2
    assert (P.ordinals().tolist(), P.elements) == ([0, 3, 4, 5], 28)
    assert (Q.ordinals().tolist(), Q.elements) == ([2, 3, 5], 24)
    assert P.ordinals().dtype == np.int64
    assert not P.ordinals().flags.writeable


def test_set_operators():  # rows 3 to 5
    assert list(P | Q) == [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert (P | Q).elements == 32
    assert list(P & Q) == [(1, 1), (2, 1)]
    assert (P & Q).elements == 20
    assert ((P - Q).elements, (P ^ Q).elements, (~P).elements) == (8, 12, 8)


def test_permute():  # row 6
    assert P.permute((1, 0)).ordinals().tolist() == [0, 2, 4, 5]


def test_the_first_example():
    p = BlockPattern(T, [(2, 0), (0, 0), (1, 1), (2, 1)])
    assert p == P
    assert (p.count, len(p), p.rank, p.grid, p.tiling) == (4, 4, 2, tw.Shape(3, 2), T)
    assert list(p)[:2] == [(0, 0), (1, 1)]
    assert p.tiles().tolist() == [[0, 0], [1, 1], [2, 0], [2, 1]]
    assert (p.slot((1, 1)), p.slot((0, 1)), p.slot([1, 1])) == (1, None, 1)
    assert p.slots([[2, 1], [1, 0]]).tolist() == [3, -1]
    assert p.slots(np.zeros((2, 3, 2), int)).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert (p.nbytes, p.density) == (32, 4 / 6)


def test_rank_0_has_one_tile():
    full, none = BlockPattern(Tiling()), BlockPattern(Tiling(), [])
    assert (list(full), full.elements, full.offsets().tolist()) == ([()], 1, [0, 1])
    assert full == BlockPattern(Tiling(), [()]) == ~none == BlockPattern.from_mask(Tiling(), True)
    assert (full.slot(()), none.slot(()), () in full, () in none) == (0, None, True, False)
    assert full.slots(np.zeros((3, 0), int)).tolist() == [0, 0, 0]
    assert full.tiles().shape == (1, 0)
    assert full.permute(()) == full
    assert none.tiles().shape == (0, 0)


def test_a_mode_without_tiles():
    p = BlockPattern(Tiling([], [2]))
    assert (p.count, p.elements, p.density, p.mask().shape, list(p)) == (0, 0, 0.0, (0, 1), [])
    assert p == ~p == BlockPattern(Tiling([], [2]), [])
    assert p.permute(1, 0).grid == tw.Shape(1, 0)


def test_empty_tiles_may_be_present():
    p = BlockPattern(Tiling([0, 2, 0], [3, 0]), [(0, 0), (1, 0), (1, 1)])
    assert (p.count, p.volumes().tolist(), list(p.nonempty())) == (3, [0, 6, 0], [(1, 0)])


def test_the_set_of_a_user_is_a_pattern():
    assert BlockPattern(T, {(0, 0), (1, 1), (2, 0), (2, 1)}) == P
    assert BlockPattern(T, ((i, j) for i in range(3) for j in range(2) if (i, j) in P)) == P
    assert BlockPattern(T, P) == P
    assert BlockPattern(T, P.tiles().astype(np.uint8)) == P
    assert BlockPattern(T, []).count == 0
    assert not BlockPattern(T, [])


def test_membership_refuses_nothing():
    assert (0, 0) in P
    assert [0, 0] in P
    for other in [(3, 0), (-1, 0), (0, 0, 0), (0,), 3, "ab", (0.5, 0), None, (2**80, 0)]:
        assert other not in P


def test_a_pattern_never_changes():
    for wrap in (np.asarray, memoryview, tw.as_tensor):
        numbers = np.array([0, 3])
        p = BlockPattern.from_ordinals(T, wrap(numbers))
        numbers[0] = 1
        assert list(p) == [(0, 0), (1, 1)]
    with pytest.raises(AttributeError, match="keeps its attributes"):
        p.tiling = T
    with pytest.raises(ValueError, match="read-only"):
        p.offsets()[0] = 1


def test_what_was_used_pickles_as_what_was_not():
    fresh = pickle.dumps(BlockPattern.from_mask(T, P.mask()))
    p = BlockPattern.from_mask(T, P.mask())
    hash(p)
    p.slot((0, 0))
    p.offsets()
    assert pickle.dumps(p) == fresh
    assert len({p, P, Q, pickle.loads(fresh)}) == 2
    large = make_block_pattern(Tiling([1] * 10**4), np.arange(0, 10**4, 2))
    assert pickle.loads(pickle.dumps(large)) == large


def test_a_pattern_is_no_other_thing():
    assert set(P) != P
    assert BlockPattern(Tiling([1, 2, 3], [2, 4], origin=(1, 0)), P.tiles()) != P
    assert repr(P) == "BlockPattern(Tiling([1, 2, 3], [2, 4]), [(0, 0), (1, 1), (2, 0), (2, 1)])"
    assert repr(BlockPattern(T)) == "BlockPattern(Tiling([1, 2, 3], [2, 4]))"
    assert len(repr(BlockPattern(Tiling([1] * 100), [(k,) for k in range(50)]))) < 250
    with pytest.raises(TypeError):
        P | {(0, 0)}
    with pytest.raises(TypeError):
        {(0, 0)} >= P  # noqa: B015


def test_a_pattern_moves():
    moved = P.translate_to((7, -1))
    assert moved.tiling == T.translate_to((7, -1))
    assert moved.tile_origins().tolist() == (P.tile_origins() + np.array([7, -1])).tolist()
    assert moved.translate_to((0, 0)) == P


def test_grids_of_any_size_that_64_bits_number():
    side = [1] * 2**15
    p = BlockPattern(Tiling(side, side, side, side), [(2**15 - 1,) * 4, (0, 0, 0, 5)])
    assert (p.ordinals().tolist(), p.slot((2**15 - 1,) * 4)) == ([5, 2**60 - 1], 1)
    assert (p | p, p & p, (p - p).count, (p ^ p).count) == (p, p, 0, 0)
    assert p.permute(3, 2, 1, 0).tiles().tolist() == [[5, 0, 0, 0], [2**15 - 1] * 4]
    with pytest.raises(SizeOverflowError, match="memory"):
        p.complement()
    with pytest.raises(SizeOverflowError, match="memory"):
        p.mask()
    with pytest.raises(SizeOverflowError, match="memory"):
        BlockPattern(p.tiling)
    wide = [1] * 2**16
    with pytest.raises(SizeOverflowError, match="less than 2\\^63 tiles"):
        BlockPattern(Tiling(wide, wide, wide, wide), [])


def test_elements_beyond_64_bits():
    p = BlockPattern(Tiling([2**40, 0], [2**40, 1]), [(0, 0), (0, 1)])
    assert p.elements == 2**80 + 2**40
    with pytest.raises(SizeOverflowError, match="64 bits"):
        p.volumes()
    with pytest.raises(SizeOverflowError, match="64 bits"):
        p.offsets()
    many = BlockPattern(Tiling([2**31] * 3, [2**31]))
    assert many.elements == 3 * 2**62
    with pytest.raises(SizeOverflowError, match="64 bits"):
        many.offsets()


# What is refused.


@pytest.mark.parametrize("tile", [(3, 0), (-1, 0), (0, 2), (2**70, 0)])
def test_a_tile_that_the_grid_has_not(tile):
    with pytest.raises((OutOfBoundsError, SizeOverflowError)):
        BlockPattern(T, [tile])
    with pytest.raises(OutOfBoundsError):
        P.slot(tile)


def test_a_tile_outside_is_named_with_its_mode_and_the_grid():
    for call in (
        lambda: BlockPattern(T, [(0, 0), (3, 0)]),
        lambda: P.slots([[0, 0], [3, 0]]),
        lambda: P.slot((3, 0)),
    ):
        with pytest.raises(OutOfBoundsError, match=r"tile \(3, 0\) is outside a grid of 3 x 2 tiles.*mode 0"):
            call()
    with pytest.raises(OutOfBoundsError, match=r"tile 6 is outside \[0, 6\)"):
        BlockPattern.from_ordinals(T, [0, 6])
    with pytest.raises(OutOfBoundsError, match=r"-1 is outside"):
        P.slots_of_ordinals([-1])


def test_the_same_tile_twice():
    with pytest.raises(ConversionError, match=r"\(1, 1\) comes twice.*duplicates="):
        BlockPattern(T, [(1, 1), (0, 0), (1, 1)])
    with pytest.raises(ConversionError, match=r"\(1, 1\) comes twice"):
        BlockPattern.from_ordinals(T, [3, 3])


@pytest.mark.parametrize(
    "tiles", [[(0, 0, 0)], [(0,)], (0, 1), 3, np.zeros((2, 2, 2), int), np.zeros((0, 3), int)]
)
def test_tiles_of_another_rank(tiles):
    with pytest.raises((RankError, ConversionError)):
        BlockPattern(T, tiles)


@pytest.mark.parametrize(
    "tiles", [[(1.5, 0)], [("a", "b")], "ab", b"ab", np.ones((3, 2), bool), [(0, 0), (0,)], [None]]
)
def test_tiles_that_are_no_integers(tiles):
    with pytest.raises((ConversionError, RankError)):
        BlockPattern(T, tiles)


@pytest.mark.parametrize("mask", [np.ones((2, 3), bool), np.ones(6, bool), True, [[1, 0], [0, 1]]])
def test_a_mask_of_another_grid(mask):
    with pytest.raises(RankError, match=r"extents \(3, 2\)"):
        BlockPattern.from_mask(T, mask)


@pytest.mark.parametrize("mask", [[[0, 2], [0, 0], [0, 0]], np.ones((3, 2)), [["a", "b"]] * 3])
def test_a_mask_of_no_bools(mask):
    with pytest.raises(ConversionError, match="mask over tiles has bools"):
        BlockPattern.from_mask(T, mask)


def test_patterns_of_other_tilings():
    other = BlockPattern(Tiling([1, 3, 2], [2, 4]))
    with pytest.raises(ExtentMismatchError, match=r"boundary 2 of mode 0 is 3 here and 4 there; .*retile"):
        P | other
    with pytest.raises(ExtentMismatchError, match=r"boundary 4 of mode 0 is none here and 6 there; .*retile"):
        P & BlockPattern(Tiling([1, 2, 3, 0], [2, 4]))
    assert (P.retile(other.tiling) | other) == other  # what the text advises
    with pytest.raises(ExtentMismatchError, match=r"boundary 0 of mode 1 is 0 here and 1 there$"):
        P.translate_to((0, 1)) >= P  # noqa: B015
    with pytest.raises(RankError, match="rank 2 and 1"):
        P - BlockPattern(Tiling([1, 2, 3]))
    with pytest.raises(ConversionError, match="takes a block pattern"):
        P.union({(0, 0)})


def test_a_pattern_is_of_a_tiling():
    for other in (tw.Shape(3, 2), [3, 2], None):
        with pytest.raises(ConversionError, match="is of a Tiling"):
            BlockPattern(other)


def test_a_search_of_one_tile_takes_no_array():
    p = BlockPattern(Tiling([1] * 1000, [1] * 1000), [(k, k) for k in range(1000)])
    assert [p.slot((k, k)) for k in (0, 7, 999)] == [0, 7, 999]
    assert p.slot((0, 1)) is None
    assert math.isclose(p.density, 1e-3)
