"""The tiles of a block pattern under symmetries, against orbits that are listed one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import BlockPattern, Symmetry, Tiling
from tensorwrapper.errors import ConversionError, ExtentMismatchError, ParseError, RankError

SYMMETRIES = [Symmetry.parse(name) for name in ("s1", "s2", "a2", "h2", "s4", "s8", "s2ij", "4: -(0 1 2 3)")]
SYMMETRIES += [Symmetry(0), Symmetry.antisymmetric(0, 2, rank=3), Symmetry.symmetric(0, 1, 2, rank=3)]


def orbit(symmetry, tile):
    return {tuple([tile[mode] for mode in p]) for p in (own.permutation for own in symmetry.operations)}


@st.composite
def symmetric(draw):
    symmetry = draw(st.sampled_from(SYMMETRIES))
    sizes = draw(st.lists(st.integers(0, 3), max_size=3))
    tiling = Tiling(*[sizes] * symmetry.rank)
    tiles = [tile for tile in tiling.grid.indices() if draw(st.booleans())]
    return symmetry, BlockPattern(tiling, tiles)


@given(symmetric())
def test_unique_tiles_are_the_greatest_of_their_orbits(case):
    symmetry, p = case
    assert set(p.unique(symmetry)) == {max(orbit(symmetry, tile)) for tile in p}


@given(symmetric())
def test_the_closure_has_all_orbits(case):
    symmetry, p = case
    closed = p.closure(symmetry)
    assert set(closed) == {image for tile in p for image in orbit(symmetry, tile)}
    assert p <= closed
    assert closed.closure(symmetry) == closed == p.unique(symmetry).closure(symmetry)
    assert closed.unique(symmetry) == p.unique(symmetry) <= closed


def test_lower_tiles():
    cut = Tiling([1, 2, 3], [1, 2, 3])
    full = BlockPattern(cut)
    lower = BlockPattern.from_predicate(cut, lambda i, j: i >= j)
    for name in ("s2", "a2", "h2"):
        assert full.unique(name) == lower
        assert lower.closure(name) == full
    assert BlockPattern(cut, [(0, 2)]).unique("s2") == BlockPattern(cut, [(2, 0)])


def test_quartets_of_shells():
    shells = Tiling(*[[1] * 5] * 4)
    assert BlockPattern(shells).unique("s8").count == 120  # row 75: 15 pairs, and their pairs


def test_an_antisymmetric_tile_on_the_diagonal_is_stored():
    # Its elements beside the diagonal are not zero.
    assert list(BlockPattern(Tiling([2], [2])).unique("a2")) == [(0, 0)]


def test_tilings_that_do_not_fit():
    p = BlockPattern(Tiling([1, 2], [2, 1]))
    for call in (p.unique, p.closure):
        with pytest.raises(ExtentMismatchError, match="exchanges modes 0 and 1, which are cut"):
            call("s2")
        with pytest.raises(RankError, match="rank 4 does not fit a tiling of rank 2"):
            call("s8")
        with pytest.raises(ParseError):
            call("x9")
        with pytest.raises(ConversionError):
            call(2)
    moved = BlockPattern(Tiling([1, 2], [1, 2], origin=(0, 1)))
    with pytest.raises(ExtentMismatchError):
        moved.unique("s2")
