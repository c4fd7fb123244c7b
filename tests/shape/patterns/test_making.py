"""Block patterns of predicates, norms, charges and blocks of SciPy."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    OutOfBoundsError,
    PatternError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.testing import tilings

T = Tiling([1, 2, 3], [2, 4])
charged = BlockPattern.from_charges


def ones(*counts):
    return Tiling(*[[1] * n for n in counts])


def texts(pattern):
    return ["".join(map(str, tile)) for tile in pattern]


# Predicates.


def test_a_predicate_is_called_once_with_one_array_per_mode():
    calls = []

    def lower(i, j):
        calls.append((i, j))
        return i >= j

    p = BlockPattern.from_predicate(ones(3, 4), lower)
    assert np.array_equal(p.mask(), np.tri(3, 4, dtype=bool))
    ((i, j),) = calls
    assert (i.dtype, j.dtype, np.broadcast_shapes(i.shape, j.shape)) == (np.int64, np.int64, (3, 4))


def test_a_band():  # row 12
    assert BlockPattern.from_predicate(ones(8, 8), lambda i, j: abs(i - j) <= 1).count == 22


def test_a_predicate_of_rank_0_or_of_one_value():
    assert BlockPattern.from_predicate(Tiling(), lambda: np.True_).count == 1
    assert BlockPattern.from_predicate(ones(2, 3), lambda *_: np.False_).count == 0
    assert BlockPattern.from_predicate(ones(2, 3), lambda _, j: j == 1).count == 2


def test_predicates_that_give_no_mask():
    with pytest.raises(ConversionError, match="truth values, not int64"):
        BlockPattern.from_predicate(T, lambda i, j: i + j)
    with pytest.raises(RankError, match=r"extents \(3, 2\)"):
        BlockPattern.from_predicate(T, lambda *_: np.ones((2, 3), bool))
    with pytest.raises(SizeOverflowError, match="memory"):
        BlockPattern.from_predicate(ones(*[2**15] * 4), lambda i, j, *_: i == j)


# Norms.


@given(tilings(min_rank=0, max_rank=3), st.data())
def test_a_tile_stays_unless_its_norm_is_below(tiling, data):
    size = tiling.grid.size
    numbers = st.sampled_from([0.0, 0.5, 1.0, 3.0, np.inf, np.nan])
    flat = np.array(data.draw(st.lists(numbers, min_size=size, max_size=size)))
    norms = flat.reshape(tiling.grid.extents)
    threshold = data.draw(st.sampled_from([0, 0.5, 1, np.inf]))
    assert np.array_equal(BlockPattern.from_norms(tiling, norms, threshold).mask(), ~(norms < threshold))
    volumes = np.maximum(tiling.volumes(), 1)
    by_element = BlockPattern.from_norms(tiling, norms, threshold, per="element")
    assert np.array_equal(by_element.mask(), ~(norms / volumes < threshold))


def test_norms_per_element_are_those_of_tiledarray():
    p = BlockPattern.from_norms(T, [[2, 4], [4, 8], [6, 11]], 1.0, per="element")
    assert texts(p) == ["00", "01", "10", "11", "20"]


def test_not_a_number_is_kept():
    assert BlockPattern.from_norms(Tiling([1, 1]), [np.nan, 0.0], 1.0) == BlockPattern(Tiling([1, 1]), [(0,)])


@pytest.mark.parametrize("threshold", [-1, -1e-300, float("nan"), np.float32("nan")])
def test_thresholds_below_zero(threshold):
    with pytest.raises(PatternError, match="a threshold is 0 or more, not"):
        BlockPattern.from_norms(T, np.zeros((3, 2)), threshold)


def test_norms_that_are_none():
    with pytest.raises(ConversionError, match="a threshold is a number"):
        BlockPattern.from_norms(T, np.zeros((3, 2)), "x")
    with pytest.raises(ConversionError, match="real numbers, not complex128"):
        BlockPattern.from_norms(T, np.zeros((3, 2), complex), 0)
    with pytest.raises(RankError, match=r"extents \(3, 2\), not \(6,\)"):
        BlockPattern.from_norms(T, np.zeros(6), 0)
    with pytest.raises(ConversionError, match="per is"):
        BlockPattern.from_norms(T, np.zeros((3, 2)), 0, per="volume")


# Charges.


def test_a_charge_that_is_conserved():  # rows 34 and 35: TeNPy and cytnx agree
    assert texts(charged(ones(3, 3), [[0, 1, 2], [0, 1, 2]], (1, -1))) == ["00", "11", "22"]
    assert texts(charged(ones(3, 3), [[0, 1, 2], [0, 1, 2]], (1, -1), total=1)) == ["10", "21"]


def test_three_modes():  # row 36
    found = charged(ones(2, 2, 3), [[0, 1], [0, 1], [0, 1, 2]], (1, 1, -1))
    assert texts(found) == ["000", "011", "101", "112"]


def test_parities():  # rows 37 and 38
    assert texts(charged(ones(2, 2, 2), [[0, 1]] * 3, modulus=2)) == ["000", "011", "101", "110"]
    assert charged(ones(4, 4, 4, 4), [[0, 1, 2, 3]] * 4, modulus=4).count == 64


def test_two_charges():  # row 39
    rows = [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert charged(ones(4, 4, 4, 4), [rows] * 4, (1, 1, -1, -1), modulus=(None, 2)).count == 48
    diagonal = charged(ones(4, 4), [rows] * 2, (1, -1), modulus=(None, 2))
    assert np.array_equal(diagonal.mask(), np.eye(4, dtype=bool))


def test_irreps_of_c2v():  # row 40
    occupied, virtual = [3, 0, 1, 1], [8, 2, 3, 6]
    p = charged(Tiling(occupied, occupied, virtual, virtual), [range(4)] * 4, group="xor")
    assert (p.count, p.grid.size, p.nonempty().count, p.elements) == (64, 256, 36, 2459)
    assert p.tiling.elements.size == 9025


@given(st.data())
def test_charges_add_up(data):
    rank, width = data.draw(st.integers(0, 4)), data.draw(st.integers(1, 3))
    xor = data.draw(st.booleans())
    number = st.integers(0 if xor else -3, 3)
    row = st.lists(number, min_size=width, max_size=width)
    charges = [data.draw(st.lists(row, min_size=1, max_size=3)) for _ in range(rank)]
    total = data.draw(row)
    tiling = ones(*map(len, charges))
    if xor:
        found = charged(tiling, charges, total=total, group="xor")
    else:
        signs = data.draw(st.lists(st.sampled_from([1, -1]), min_size=rank, max_size=rank))
        moduli = data.draw(st.lists(st.sampled_from([None, 1, 2, 3]), min_size=width, max_size=width))
        found = charged(tiling, charges, signs, total, moduli)
    right = []
    for tile in itertools.product(*map(range, map(len, charges))):
        rows = [charges[mode][k] for mode, k in enumerate(tile)]
        fits = True
        for c in range(width):
            if xor:
                reached = 0
                for r in rows:
                    reached ^= r[c]
                fits &= reached == total[c]
            else:
                rest = sum(s * r[c] for s, r in zip(signs, rows, strict=True)) - total[c]
                fits &= (rest % moduli[c] if moduli[c] else rest) == 0
        if fits:
            right.append(tile)
    assert list(found) == right


def test_charges_of_a_large_grid_are_joined():
    n = 2**9
    found = charged(ones(n, n, n, n), [[2**40 * k for k in range(n)]] * 4, total=2**40 * 2)
    assert found.count == 10  # how 2 is the sum of 4 numbers
    assert found.slot((0, 1, 0, 1)) is not None
    assert charged(Tiling([], [1]), [[], [0]]).count == 0
    assert charged(ones(2), [np.zeros((2, 0), int)]).count == 2  # no charge, nothing to conserve


def test_sums_beyond_64_bits():
    with pytest.raises(SizeOverflowError, match="64 bits"):
        charged(ones(1, 1), [[2**62], [2**62]])
    with pytest.raises(SizeOverflowError):
        charged(ones(1), [[2**63]])
    with pytest.raises(SizeOverflowError):
        charged(ones(1), np.array([[-(2**63)]]))
    with pytest.raises(SizeOverflowError):
        charged(ones(1), [[0]], total=2**63)
    assert charged(ones(1, 1), [[2**62], [2**62]], modulus=2).count == 1


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"charges": [[0, 1]]}, RankError, "1 modes have charges, but the tiling has 2"),
        ({"charges": [[0, 1], [0]]}, ExtentMismatchError, "mode 1 has 2 tiles, but 1 charges"),
        ({"charges": [[0, 1], [[0], [1, 2]]]}, ConversionError, "rectangular"),
        ({"charges": [[0, 1], [[0, 0], [1, 1]]]}, ExtentMismatchError, "one of mode 1 has 2"),
        ({"charges": [[0, 1], [[[0]], [[1]]]]}, RankError, "a row of integers per tile"),
        ({"charges": [[0, 0.5], [0, 1]]}, ConversionError, "charges of mode 0"),
        ({"charges": 3}, ConversionError, "one entry per mode"),
        ({"signs": (1,)}, RankError, "1 signs are given for 2 modes"),
        ({"signs": (1, 2)}, PatternError, "a sign is 1 or -1, not 2"),
        ({"total": (0, 1)}, ExtentMismatchError, "one for each of 1 charges"),
        ({"total": 0.5}, ConversionError, "the total"),
        ({"modulus": 0}, PatternError, "a modulus is 1 or more"),
        ({"modulus": (2, 2)}, ExtentMismatchError, "2 moduli are given for 1 charges"),
        ({"modulus": "x"}, ConversionError, "a modulus"),
        ({"group": "xor", "modulus": 2}, PatternError, "neither signs nor a modulus"),
        ({"group": "xor", "charges": [[0, 1], [0, -1]]}, PatternError, "by xor are 0 or more"),
        ({"group": "su2"}, ConversionError, "group is 'sum' or 'xor'"),
    ],
)
def test_charges_that_do_not_fit(given, error, text):
    with pytest.raises(error, match=text):
        charged(ones(2, 2), **{"charges": [[0, 1], [0, 1]], **given})


# SciPy.


@pytest.mark.parametrize("make", [scipy.sparse.bsr_array, scipy.sparse.bsr_matrix])
def test_stored_blocks(make):
    dense = np.zeros((4, 6))
    dense[0, 5] = dense[2, 1] = 1.0
    found = BlockPattern.from_scipy(make(dense, blocksize=(2, 3)))
    assert (found.tiling, list(found)) == (Tiling([2, 2], [3, 3]), [(0, 1), (1, 0)])


def test_blocks_of_zeros_unsorted_and_double():
    data, indices, starts = np.zeros((4, 1, 2)), [2, 0, 2, 1], [0, 3, 4]
    found = BlockPattern.from_scipy(scipy.sparse.bsr_array((data, indices, starts), shape=(2, 6)))
    assert list(found) == [(0, 0), (0, 2), (1, 1)]
    assert BlockPattern.from_scipy(scipy.sparse.bsr_array((0, 0))).count == 0


class Fake:
    format, shape, blocksize = "bsr", (2, 4), (1, 2)

    def __init__(self, indptr, indices):
        self.indptr, self.indices = np.array(indptr), np.array(indices)


@pytest.mark.parametrize("starts", [[0, 1], [1, 1, 1], [0, 2, 1], [0, 1, 5], []])
def test_damaged_starts(starts):
    with pytest.raises(ConversionError, match="indptr"):
        BlockPattern.from_scipy(Fake(starts, [0]))


@pytest.mark.parametrize("block", [(1, 3), (0, 2), (1, 2, 2), (2,)])
def test_blocks_that_do_not_cut_the_matrix(block):
    matrix = Fake([0, 0, 0], [])
    matrix.blocksize = block
    with pytest.raises(ConversionError, match="do not cut a matrix"):
        BlockPattern.from_scipy(matrix)


def test_what_is_no_bsr():
    with pytest.raises(OutOfBoundsError, match="none of the 2 columns"):
        BlockPattern.from_scipy(Fake([0, 1, 1], [2]))
    for other in (scipy.sparse.csr_array((2, 2)), np.zeros((2, 2)), None):
        with pytest.raises(ConversionError, match=r"takes a BSR array.*tobsr"):
            BlockPattern.from_scipy(other)


def test_tensors_read_the_same_predicates():
    t = tw.as_tensor(np.zeros((6, 6))).tiled(T)
    p = BlockPattern.from_predicate(T, lambda i, j: i > j)
    assert t.select_tiles(lambda i, j: i > j).shape == p.cells()
