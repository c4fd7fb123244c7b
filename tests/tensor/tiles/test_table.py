"""Numbers of dense NumPy for tensors in blocks, and what is refused."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    LayoutError,
    OutOfBoundsError,
    PatternError,
    RankError,
    ReadOnlyError,
    SizeOverflowError,
)
from tests.support.tiles.block_tensors import P, Q, T, X, dense, of

D, E = of(P, X), of(Q, -X)


def test_sums_products_and_fills():
    assert (dense(D).sum(), dense(E).sum(), dense(D + E).sum()) == (606, -492, 114)
    assert ((D + E).pattern.count, (D * E).pattern.count) == (5, 2)
    assert dense(D * E).sum() == -11590
    one = D + 1
    assert (dense(one).sum(), one.fill_value, one.pattern.count) == (642, 1.0, 4)
    e = np.exp(D / 36)
    assert abs(dense(e).sum() - 60.812735860445) < 1e-11
    assert e.fill_value == 1.0
    assert D.packed_values().nbytes == 28 * 8


def test_norms_and_reductions():
    right = [[2.236068, 0], [0, 39.242834], [63.616036, 100.249688]]
    assert np.allclose(D.tile_norms().to_numpy(), right, atol=1e-6)
    assert D.tile_norms("max").tolist() == [[2, 0], [0, 18], [32, 36]]
    assert D.tile_norms(1).tolist() == D.reduce_tiles(np.add).tolist() == [[3, 0], [0, 108], [153, 342]]
    assert np.allclose(D.reduce_tiles(np.linalg.norm).to_numpy(), right, atol=1e-6)
    box = D.untiled()
    assert np.add.reduce(box, axis=1).tolist() == [3, 42, 66, 129, 165, 201]
    assert np.sum(box, axis=0).tolist() == [76, 80, 105, 110, 115, 120]
    assert np.add.reduce(D, axis=(2, 3)).tolist() == [[3, 0], [0, 108], [153, 342]]
    assert (np.sum(D), np.max(box), np.mean(box), np.count_nonzero(box)) == (606, 36, 606 / 36, 28)
    assert abs(np.sqrt(np.sum(D * D)) - 125.067981514055) < 1e-11
    small = of(BlockPattern(Tiling([1])), np.array([-128], np.int8))
    assert small.tile_norms().tolist() == small.tile_norms("max").tolist() == [128.0]


def test_parts():
    part = D.untiled()[2:6, 1:5]
    assert (dense(part)[0].tolist(), dense(part).sum()) == ([0, 15, 16, 17], 378)
    assert [number for number, _ in D.present_tiles()] == list(P)
    for number, tile in D.present_tiles():
        assert tile.shape == D.tile(number).shape
        assert tile.tolist() == D.tile(number).tolist()
    moved = D.translate_to((5, 6, 0, 0))
    assert [number for number, _ in moved.present_tiles()] == [(i + 5, j + 6) for i, j in P]
    assert moved.keep_tiles([(6, 7)]).tile((6, 7)).tolist() == D.tile((1, 1)).tolist()


def test_screening():
    assert list(D.screened(40).pattern) == list(D.screened(error=40).pattern) == [(2, 0), (2, 1)]
    assert list(D.screened(6.0, per="element").pattern) == [(2, 0), (2, 1)]
    assert list(D.screened(18.5, ord="max").pattern) == [(2, 0), (2, 1)]
    odd = tw.blocks({(0,): [np.nan], (1,): [1e-170], (2,): [0.0]}, Tiling([1, 1, 1]))
    assert list(odd.screened(0.1).pattern) == [(0,)]
    assert list(odd.screened().pattern) == [(0,), (1,)]
    assert list(odd.screened(error=1.0).pattern) == [(0,)]
    assert tw.as_tensor(X).tiled(T).screened(50).pattern.count == 2


def test_zero_times_infinity_is_no_number():
    other = X.copy()
    other[0, 3] = np.inf
    with np.errstate(all="ignore"):
        product = D * of(BlockPattern(T), other)
    assert (0, 1) in product.pattern
    assert np.isnan(dense(product)[0, 3])
    with np.errstate(all="ignore"):
        assert np.array_equal(dense(product), dense(D) * other, equal_nan=True)
        for beside in (D.untiled() * other, other * D.untiled()):
            assert np.array_equal(dense(beside), dense(D) * other, equal_nan=True)
        scales = tw.as_tensor([[1.0, 2.0], [np.inf, 3.0], [0.0, np.nan]])
        wide = np.asarray(scales).repeat([1, 2, 3], 0).repeat([2, 4], 1)
        assert np.array_equal(dense(D * scales), dense(D) * wide, equal_nan=True)
        assert np.array_equal(dense(D / scales), dense(D) / wide, equal_nan=True)
    assert (D.untiled() * X).pattern == P


def test_other_types_layouts_and_copies_keep_the_tiles():
    for made in (
        D.copy(),
        D.astype("f4"),
        D.untiled().copy().tiled(T),
        -D,
        D > 3,
        tw.as_tensor(X).tiled(T).keep_tiles(P),
    ):
        assert made.pattern == P
    assert D.astype("f4").dtype == np.float32
    assert D.to_dense().shape == T.shape
    assert np.array_equal(np.asarray(D.to_dense().untiled()), dense(D))
    assert D.named("i", "j", "a", "b").copy().shape.names == ("i", "j", "a", "b")
    assert (D.named("i", "j", "a", "b") + E).shape.names == ("i", "j", "a", "b")
    for tiling in (Tiling([3, 3], [6]), Tiling([1, 1, 1, 3], [2, 4]), Tiling([2, 4], [3, 3])):
        again = D.retiled(tiling)
        assert again.pattern == P.retile(tiling)
        assert np.array_equal(dense(again), dense(D))


def test_patterns_stand_in_the_place_of_shapes():
    assert tw.zeros(P).pattern == tw.empty(P, dtype="i4").pattern == P
    assert tw.full(P, lambda tile: sum(tile.origin)).reduce_tiles(np.maximum).tolist() == [
        [0, 0],
        [0, 3],
        [3, 5],
    ]
    assert tw.full(P, 2).packed_values().tolist() == [2] * 28
    values = np.arange(28.0)
    assert np.shares_memory(tw.from_buffer(values, P).packed_values(), values)
    with pytest.raises(ConversionError, match="no layout"):
        tw.zeros(P, layout=tw.Layout((6, 6)))


def test_blocks_in_any_order():
    ones, twos = np.ones((2, 4)), np.full((2, 4), 2.0)
    pairs = [((1, 1), ones), ((0, 0), [[1.0, 2.0]]), ((1, 1), twos)]
    assert tw.blocks(pairs, T, duplicates="sum").packed_values().tolist() == [1, 2] + [3] * 8
    assert tw.blocks(pairs, T, duplicates="last").packed_values().tolist() == [1, 2] + [2] * 8
    assert tw.blocks({}, T).pattern.count == 0
    assert tw.blocks({(0,): [1, 2]}, Tiling([2]), fill_value=7).fill_value == 7
    with pytest.raises(ConversionError, match="twice"):
        tw.blocks(pairs, T)


def test_contributions_are_added_in_order():
    tensor = D.copy()
    tensor.add_tiles([((1, 1), np.ones((2, 4))), ((0, 0), [[1.0, 1.0]]), ((1, 1), np.ones((2, 4)))])
    right = dense(D)
    right[1:3, 2:] += 2
    right[0, :2] += 1
    assert np.array_equal(dense(tensor), right)
    turned = tensor.permute((1, 0, 3, 2))
    turned.add_tiles({(0, 0): [[1.0], [2.0]]})
    assert dense(tensor)[0, :2].tolist() == [3.0, 5.0]
    for bad, error in [
        ({(0, 1): np.ones((1, 4))}, OutOfBoundsError),
        ({(3, 0): np.ones((1, 4))}, OutOfBoundsError),
        ([((1, 1), np.ones((2, 4))), ((0, 0), [[1.0]])], ExtentMismatchError),
        ({(0, 0): np.ones((1, 2)) * 1j}, tw.errors.DTypeError),
    ]:
        before = dense(tensor)
        with pytest.raises(error):
            tensor.add_tiles(bad)
        assert np.array_equal(dense(tensor), before)
    with pytest.raises(SizeOverflowError):
        of(BlockPattern(Tiling([1])), np.array([127], np.int8)).add_tiles({(0,): np.array([1], np.int8)})


def test_in_place():
    tensor = D.copy()
    tensor += E.keep_tiles(P)
    assert dense(tensor).sum() == 606 + dense(E.keep_tiles(P)).sum()
    with pytest.raises(ReadOnlyError, match="with_tiles"):
        tensor += E
    full = tw.as_tensor(X).tiled(T).keep_tiles(BlockPattern(T))
    full += 1
    assert np.array_equal(dense(full), X + 1)
    assert full.fill_value == 0
    wide = D.with_tiles(Q)
    wide += E
    assert dense(wide).sum() == 114
    assert D.pattern == P


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: D + X.tolist(), ExtentMismatchError, "one number per prefix"),
        (lambda: D.untiled() + X, ConversionError, "to_dense"),
        (lambda: D + tw.as_tensor(X).tiled(T), ConversionError, "keep_tiles"),
        (
            lambda: D + tw.zeros(BlockPattern(Tiling([2, 2, 2], [2, 4]))),
            ExtentMismatchError,
            "mode 0.*boundary 1.*retiled",
        ),
        (
            lambda: D.untiled() * tw.zeros(BlockPattern(Tiling([1, 2, 3], [3, 3]))).untiled(),
            ExtentMismatchError,
            "mode 1",
        ),
        (lambda: D.screened(-1), PatternError, "0 or more"),
        (lambda: D.screened(float("nan")), PatternError, "0 or more"),
        (lambda: D.screened(1, error=1), PatternError, "not both"),
        (lambda: D.screened(1, ord=2), PatternError, "'fro', 'max' or 1"),
        (lambda: (D + 1).screened(1), PatternError, "fill of zero"),
        (lambda: D.keep_tiles([(3, 0)]), OutOfBoundsError, r"\(3, 0\)"),
        (lambda: D.keep_tiles(P.retile(Tiling([3, 3], [6]))), ExtentMismatchError, "retile"),
        (lambda: D.keep_tiles([[True]]), RankError, "mask"),
        (lambda: tw.blocks({(1, 1): np.ones((2, 2))}, T), ExtentMismatchError, r"tile \(1, 1\).*\(2, 4\)"),
        (lambda: tw.blocks({(3, 0): np.ones((2, 2))}, T), OutOfBoundsError, r"\(3, 0\)"),
        (lambda: tw.blocks({(0, 0, 0): np.ones((2, 2))}, T), RankError, "rank|modes"),
        (lambda: tw.blocks({(1.5, 1): np.ones((2, 2))}, T), ConversionError, "integer"),
        (lambda: tw.blocks(5, T), ConversionError, "mapping"),
        (lambda: tw.blocks([5], T), ConversionError, "pairs"),
        (lambda: tw.blocks({}, (2, 3)), ConversionError, "tiling"),
        (lambda: D[:, :, ::-1].pattern, LayoutError, "tiling"),
        (lambda: tw.as_tensor(X).pattern, LayoutError, "tiled"),
        (lambda: tw.sparse([(0, 0)], [1.0], (6, 6)).tiled(T).pattern, ConversionError, "tw.blocks"),
        (lambda: D.retiled(Tiling([3, 4], [6])), ExtentMismatchError, "cover|box"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=f"(?s){text}"):
        call()


def test_sums_into_absent_tiles_are_refused():
    tensor = tw.blocks({(1,): [1.0] * 3}, Tiling([2, 3]), fill_value=4.0)
    with pytest.raises(ReadOnlyError, match=r"tile \(0,\)"):
        tw.as_tensor(np.full(5, 4.0)).accumulate_into(tensor.untiled())
    tw.as_tensor([0.0, 0.0, 1.0, 1.0, 1.0]).accumulate_into(tensor.untiled())
    assert tensor.packed_values().tolist() == [2.0] * 3


@pytest.mark.parametrize(
    ("fill", "count", "ufunc"),
    [
        (np.uint64(2**53 + 1), 2, np.add),
        (np.uint64(2**64 - 1), 3, np.add),
        (np.uint8(3), 41, np.multiply),
        (np.int64(-3), 5, np.multiply),
        (np.float16(2), 3, np.multiply),
        (np.timedelta64(3, "s"), 4, np.add),
    ],
)
def test_many_fills_are_reduced_in_their_own_type(fill, count, ufunc):
    tensor = tw.blocks({}, Tiling([count]), fill_value=fill, dtype=np.asarray(fill).dtype)
    with np.errstate(all="ignore"):
        right = ufunc.reduce(np.full(count, fill))
    assert np.asarray(ufunc.reduce(tensor.untiled()))[()] == right
    assert np.asarray(tensor.reduce_tiles(ufunc)).tolist() == [right]


def test_means_of_half_floats_do_not_overflow():
    assert np.mean(tw.blocks({(0,): np.full(4, 60000, "f2")}, Tiling([4]))) == np.float16(60000)


def test_zeros_are_not_zero_beside_every_operand():
    ones = tw.blocks({(1,): [5.0]}, Tiling([1, 1]))
    with np.errstate(all="ignore"):
        for ufunc in (np.floor_divide, np.remainder, np.divide, np.fmod):
            right = ufunc(np.array([0.0, 5.0]), np.array([0, 1]))
            assert np.array_equal(dense(ufunc(ones.untiled(), np.array([0, 1]))), right, equal_nan=True)
        large = tw.blocks({(0,): [1e300]}, Tiling([1, 1]))
        right = np.multiply([0.0, 5.0], [1e300, 0.0], dtype="f4")
        assert np.array_equal(dense(np.multiply(ones, large, dtype="f4")), right, equal_nan=True)


def test_the_sign_of_zero_is_that_of_dense_arrays():
    for one, other in ((-0.0, 1.0), (1.0, -0.0)):
        a, b = tw.blocks({(0,): [one]}, Tiling([1, 1])), tw.blocks({(1,): [other]}, Tiling([1, 1]))
        for ufunc in (np.add, np.subtract):
            right = ufunc([one, 0.0], [0.0, other])
            assert np.signbit(dense(ufunc(a, b))).tolist() == np.signbit(right).tolist()


def test_empty_tiles_have_identities_and_arrays():
    tensor = tw.blocks({}, Tiling([0, 2]), fill_value=3.0)
    plain = tw.as_tensor(np.full(2, 3.0)).tiled(Tiling([0, 2]))
    for ufunc in (np.hypot, np.logaddexp, np.logical_xor, np.add, np.multiply):
        assert np.allclose(tensor.reduce_tiles(ufunc).to_numpy(), plain.reduce_tiles(ufunc).to_numpy())
    assert np.asarray(tensor.tile((0,))).shape == (0,)
    assert np.asarray(tensor.with_tiles([(0,)]).tile((0,))).shape == (0,)


def test_narrow_tiles_keep_their_tiling():
    for tiling, key in [
        (Tiling([2, 3, 2]), np.s_[1:6]),
        (Tiling([2, 3, 2]), np.s_[::-1]),
        (Tiling([1, 1, 1], [2, 2]), np.s_[1:, 1:]),
        (Tiling([1, 1, 1], [1, 1, 1]), np.s_[:2, ::-1]),
        (Tiling([3], [1, 2, 1]), np.s_[1:, 1:3]),
    ]:
        x = np.arange(tiling.elements.size, dtype=np.float64).reshape(tiling.elements.extents) + 1
        some = BlockPattern.from_predicate(tiling, lambda *numbers: sum(numbers) % 2 == 0)
        part = of(some, x).untiled()[key]
        right = dense(of(some, x))[key]
        assert np.array_equal(dense(part), right)
        assert part.pattern.elements == np.count_nonzero(right)
        assert np.array_equal(dense(part + part), right * 2)
        assert (part + part).pattern == part.pattern


def test_grids_larger_than_memory_are_refused():
    side = np.ones(10**6, np.int64)
    tiling = Tiling(side, side)
    tensor = tw.zeros(BlockPattern(tiling, [(5, 7), (10**6 - 1, 0)]))
    assert tensor.untiled()[5, 7].item() == 0.0
    assert tensor.pattern.count == 2
    assert (tensor + 1).pattern.count == 2
    turned = tensor.untiled().permute((1, 0))
    assert list(turned.pattern) == [(0, 10**6 - 1), (7, 5)]
    assert (tensor.untiled() + turned).pattern.count == 4
    for call in (
        tensor.tile_norms,
        lambda: tensor.reduce_tiles(np.add),
        lambda: tensor.permute((1, 0, 3, 2)),
        lambda: tensor.untiled()[5:].pattern,
        lambda: tensor.untiled().to_dense(),
    ):
        with pytest.raises((SizeOverflowError, tw.errors.OutOfMemoryError, MemoryError), match="memory"):
            call()


@pytest.mark.parametrize("ufunc", [np.bitwise_or, np.bitwise_and, np.gcd, np.left_shift])
def test_what_reduces_no_floats_is_refused_of_tiles_in_every_form(ufunc):
    tiles = tw.as_tensor(np.eye(3)).tiled(tw.Tiling([1, 2], [1, 2]))
    for given in (tiles, tiles.screened(), sel.as_view(tiles), sel.as_view(tiles.screened())):
        with pytest.raises((DTypeError, LayoutError)):
            tw.as_tensor(given.reduce_tiles(ufunc))


@pytest.mark.parametrize("axis", [-1, (2, 3), None])
def test_means_of_blocks_divide_by_the_elements_of_each_tile(axis):
    tiles = tw.as_tensor(np.arange(9.0).reshape(3, 3)).tiled(tw.Tiling([2, 1], [1, 2]))
    blocks = tiles.screened(0.5)
    same = tw.as_tensor(np.asarray(blocks.to_dense().untiled())).tiled(tiles.tiling)
    for given in (blocks, sel.as_view(blocks)):
        found, expected = tw.as_tensor(np.mean(given, axis=axis)), tw.as_tensor(np.mean(same, axis=axis))
        assert found.tolist() == expected.tolist()
