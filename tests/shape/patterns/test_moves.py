"""Block patterns of other tilings, against masks of elements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import BlockPattern, Shape, Tiling
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    ExtentMismatchError,
    IndexTypeError,
    JaggedModeError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
    StepError,
)
from tests.shape.patterns.test_pattern_laws import masked

T = Tiling([1, 2, 3], [2, 4])
P = BlockPattern.from_mask(T, [[1, 0], [0, 1], [1, 1]])
Q = BlockPattern.from_mask(T, [[0, 0], [1, 1], [0, 1]])


def elements_of(pattern):
    """Return a bool for each element of the box: whether its tile is present."""
    mask = pattern.mask()
    for mode, sizes in enumerate(pattern.tiling.sizes):
        mask = np.repeat(mask, sizes, axis=mode)
    return mask


@st.composite
def cut_anew(draw):
    """A pattern, and another tiling of its box."""
    tiling, mask = draw(masked())
    modes = []
    for partition in tiling.partitions:
        low, high = partition.origin, partition.end
        inner = draw(st.lists(st.integers(low, high), max_size=3).map(sorted))
        modes.append([low, *inner, high] if low < high or inner or draw(st.booleans()) else [low])
    return BlockPattern.from_mask(tiling, mask), Tiling.from_marks(*modes)


@given(cut_anew())
def test_a_retiled_pattern_is_the_least_that_has_all_elements(case):
    p, cut = case
    found = p.retile(cut)
    assert found.tiling == cut
    present = elements_of(p)
    for tile, here in zip(cut.grid.indices(), found.mask().reshape(-1), strict=True):
        box = cut.tile(tile)
        starts = [a - o for a, o in zip(box.origin, cut.origin, strict=True)]
        part = present[tuple([slice(a, a + n) for a, n in zip(starts, box.extents, strict=True)])]
        assert here == part.any()
    assert p.retile(p.tiling) == p.nonempty()


@given(masked(), st.data())
def test_brackets_cut_as_those_of_the_tiling(case, data):
    tiling, mask = case
    p = BlockPattern.from_mask(tiling, mask)
    key, positions = [], []
    for partition in tiling.partitions:
        low, high = partition.origin, partition.end
        if low < high and data.draw(st.booleans()):
            key.append(data.draw(st.integers(low, high - 1)))
            positions.append(key[-1] - low)
        else:
            a, b = sorted((data.draw(st.integers(low, high)), data.draw(st.integers(low, high))))
            key.append(slice(a, b))
            positions.append(slice(a - low, b - low))
    found = p[tuple(key)]
    assert found.tiling == tiling[tuple(key)]
    assert np.array_equal(elements_of(found), elements_of(p)[tuple(positions)])


@given(masked())
def test_whole_modes_keep_empty_tiles(case):
    p = BlockPattern.from_mask(*case)
    assert p[...] == p
    assert p.subgrid(p.grid) == p


@given(masked(), st.data())
def test_a_subgrid_is_a_slice_of_the_mask(case, data):
    tiling, mask = case
    p = BlockPattern.from_mask(tiling, mask)
    ends = [sorted((data.draw(st.integers(0, n)), data.draw(st.integers(0, n)))) for n in tiling.grid.extents]
    box = Shape.smooth([b - a for a, b in ends], origin=[a for a, _ in ends])
    found = p.subgrid(box)
    assert np.array_equal(found.mask(), mask[tuple([slice(a, b) for a, b in ends])])
    assert found.tiling.elements == tiling.element_range(box)
    assert [tiling.tile([k + a for k, (a, _) in zip(tile, ends, strict=True)]) for tile in found] == [
        found.tiling.tile(tile) for tile in found
    ]


@given(masked(), masked())
def test_a_product_is_that_of_the_masks(first, second):
    p, q = BlockPattern.from_mask(*first), BlockPattern.from_mask(*second)
    found = p.product(q)
    assert np.array_equal(found.mask(), np.logical_and.outer(p.mask(), q.mask()))
    assert found.elements == p.elements * q.elements


@given(masked(2), st.data())
def test_joined_patterns_have_joined_masks(case, data):
    tiling, a, b = case
    if not tiling.rank:
        return
    mode = data.draw(st.integers(-tiling.rank, tiling.rank - 1))
    p, q = BlockPattern.from_mask(tiling, a), BlockPattern.from_mask(tiling, b)
    found = BlockPattern.concat([p, q, p], mode=mode)
    assert np.array_equal(found.mask(), np.concatenate([a, b, a], axis=mode))
    assert found.tiling == Tiling.concat([tiling] * 3, mode=mode)


@given(masked())
def test_cells_are_the_present_tiles(case):
    tiling, mask = case
    p = BlockPattern.from_mask(tiling, mask)
    if not tiling.rank:
        with pytest.raises(RankError):
            p.cells()
        return
    cells = p.cells()
    assert cells.size == p.elements
    assert [cell for _, cell in cells.cells()] == [tiling.tile(tile) for tile in p]


# Numbers.


def test_a_product():  # row 7
    assert (P.product(Q).count, P.product(Q).elements) == (12, 672)


def test_retiled_patterns():  # rows 8 to 11
    assert P.retile(Tiling([3, 3], [6])) == BlockPattern(Tiling([3, 3], [6]))
    assert list(P.retile(Tiling([1, 1, 1, 3], [2, 4]))) == [(0, 0), (1, 1), (2, 1), (3, 0), (3, 1)]
    assert P.retile(Tiling([2, 4], [3, 3])).count == 4
    diagonal = BlockPattern.from_mask(Tiling([2, 2, 2], [2, 2, 2]), np.eye(3, dtype=bool))
    assert diagonal.retile(Tiling([3, 3], [3, 3])).count == 4
    assert diagonal.retile(Tiling([1, 5], [1, 5])).count == 4


def test_brackets_cut_tiles():
    assert P[2:6, 1:5] == BlockPattern(Tiling([1, 3], [1, 3], origin=(2, 1)), [(0, 1), (1, 0), (1, 1)])
    assert P[5] == BlockPattern(Tiling([2, 4]))
    assert P[:, 1] == BlockPattern(Tiling([1, 2, 3]), [(0,), (2,)])
    assert P[5, 1].count == 1
    assert P[1, 1].count == 0


def test_cells_are_those_of_select_tiles():
    import tensorwrapper as tw

    t = tw.as_tensor(np.arange(36.0).reshape(6, 6)).tiled(T)
    assert P.cells() == t.select_tiles(P.mask()).shape


def test_a_fine_pattern_of_a_large_grid_is_coarsened():
    n = 2**15
    fine = BlockPattern(Tiling(*[np.ones(n, int)] * 4), [(k, k, k, 7) for k in range(0, n, 2)])
    coarse = Tiling(*[[n // 4] * 4] * 4)
    assert list(fine.retile(coarse)) == [(k, k, k, 0) for k in range(4)]
    wide, tall = Tiling(np.ones(2**20, int), [2**20]), Tiling([2**20], np.ones(2**20, int))
    row = BlockPattern(wide, [(5, 0)])
    assert row.product(row).retile(Tiling([2**20], [2**20], [2**20], [2**20])).count == 1
    assert row.retile(tall).count == 2**20


# What is refused.


def test_another_box():
    for cut in (Tiling([6], [7]), Tiling([6], [6], origin=(1, 0))):
        with pytest.raises(ExtentMismatchError, match="retile needs tilings of one box, but mode"):
            P.retile(cut)
    with pytest.raises(RankError):
        P.retile(Tiling([6]))
    with pytest.raises(ConversionError):
        P.retile((6, 6))


def test_bounds_outside():
    for key in [slice(0, 7), slice(-1, 2), 6, (0, 6)]:
        with pytest.raises(OutOfBoundsError):
            P[key]
    with pytest.raises(StepError):
        P[::2]
    with pytest.raises(RankError):
        P[0, 0, 0]
    with pytest.raises(IndexTypeError):
        P[[0, 1]]


def test_a_subgrid_is_a_box_in_the_grid():
    with pytest.raises(OutOfBoundsError):
        P.subgrid(Shape(4, 2))
    with pytest.raises(JaggedModeError):
        P.subgrid(Shape.jagged([1, 2]))
    with pytest.raises(RankError):
        P.subgrid(Shape(1))
    with pytest.raises(RankError):
        P.permute(0, 0)


def test_patterns_that_do_not_join():
    with pytest.raises(ConversionError, match="at least"):
        BlockPattern.concat([])
    with pytest.raises(ConversionError, match="concat takes"):
        BlockPattern.concat([P, T])
    with pytest.raises(ConversionError, match="concat takes"):
        BlockPattern.concat(P)
    with pytest.raises(ExtentError, match="mode 1"):
        BlockPattern.concat([P, BlockPattern(Tiling([1], [3]))])
    with pytest.raises(RankError):
        BlockPattern.concat([P, P], mode=2)
    with pytest.raises(ConversionError, match="multiplied"):
        P.product(T)
    large = BlockPattern(Tiling(np.ones(2**16, int), np.ones(2**16, int)), [(0, 0)])
    with pytest.raises(SizeOverflowError):
        large.product(large)
    half = BlockPattern.from_ordinals(large.tiling, np.arange(2**20))
    with pytest.raises(SizeOverflowError, match=r"memory|2\^63"):
        half.product(half)
