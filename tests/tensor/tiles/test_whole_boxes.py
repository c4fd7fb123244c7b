"""Boxes of block-sparse tensors: what moves their modes, joins them, and reduces all elements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Tiling
from tensorwrapper.buffer import Blocks, count_copies
from tensorwrapper.errors import ConversionError, ExtentMismatchError, LayoutError
from tests.support.tiles.block_tensors import P, Q, T, X, block_tensors, dense, of
from tests.support.tiles.symmetric_tiles import box_of, symmetric_tiles

D, E = of(P, X), of(Q, -X)


@given(block_tensors(), st.data())
def test_modes_are_moved_without_moving_an_element(one, data):
    ((t, x),) = one
    box = t.untiled()
    if not x.ndim:
        return
    shifts = data.draw(st.lists(st.integers(-3, 3), min_size=x.ndim, max_size=x.ndim))
    times = data.draw(st.lists(st.integers(0, 2), min_size=x.ndim, max_size=x.ndim))
    mode = data.draw(st.integers(0, x.ndim - 1))
    moved = box.translate_to(range(2, 2 + x.ndim))
    with count_copies() as copies:
        made = [
            (box.rotate(shifts), np.roll(x, shifts, tuple(range(x.ndim)))),
            (box.repeat(times), np.tile(x, times)),
            (box.repeat_each(mode, 2), np.repeat(x, 2, mode)),
            (box.unsqueeze(mode), np.expand_dims(x, mode)),
            (box.unsqueeze(mode).squeeze(mode), x),
        ]
        assert moved.rotate(shifts).shape == moved.shape
        assert moved.unsqueeze(0).shape.origin == (0, *moved.shape.origin)
    assert copies.nbytes == 0
    for own, right in made:
        assert own.shape.extents == right.shape
        np.testing.assert_array_equal(dense(own), right)
        # Tiles stay where an operation cuts them; what is left has a pattern.
        assert own.pattern.elements <= right.size


def test_what_needs_one_rule_per_mode_says_what_has_it():
    box = D.untiled()
    with pytest.raises(LayoutError, match=r"diagonal needs .* `t.to_dense\(\)\.diagonal\(\.\.\.\)`"):
        box.diagonal()
    with pytest.raises(LayoutError, match=r"reshape needs .* `t.to_dense\(\)`"):
        box.reshape(4, 9)
    for call in (np.roll, np.repeat):
        with pytest.raises(ConversionError, match=r"`s.to_dense\(\)`"):
            call(box, 1, 0)
    assert box.to_dense().diagonal().tolist() == dense(D).diagonal().tolist()
    assert box.to_dense().reshape(4, 9).tolist() == dense(D).reshape(4, 9).tolist()
    assert np.roll(box.to_dense(), 1, 0).tolist() == np.roll(dense(D), 1, 0).tolist()


@given(block_tensors(count=2, fills=(0,)), st.data())
def test_stacks_and_joins_stay_blocks(two, data):
    (t, x), (u, y) = two
    mode = data.draw(st.integers(0, x.ndim))
    box, other = t.untiled(), u.untiled()
    made = [(np.stack([box, other], mode), np.stack([x, y], mode))]
    made.append((tw.stack([box, other], mode=mode).compute(), made[0][1]))
    if mode < x.ndim:
        made.append((np.concatenate([box, other], mode), np.concatenate([x, y], mode)))
        made.append((tw.concat([box, other], mode=mode).compute(), made[-1][1]))
    for own, right in made:
        assert own.shape.extents == right.shape
        np.testing.assert_array_equal(dense(own), right)
        if x.size:
            assert isinstance(own.buffer, Blocks)
            assert own.pattern.count == t.pattern.nonempty().count + u.pattern.nonempty().count


def test_slices_without_tiles_keep_the_tiles_of_other_modes():
    whole = tw.as_tensor(X).tiled(T)
    for key in (np.s_[0:0], np.s_[:, 0:0], np.s_[1:1, 0:0], np.s_[2:2, 1:]):
        got, right = D[key], whole[key]
        assert got.shape == right.shape
        assert got.tiling == right.tiling
        assert got.pattern.count == 0
        assert got.size == 0
    assert D[0:0].tiling == Tiling([], [2, 4])


def test_functions_of_one_mode_count_the_elements_of_a_tile():
    for function in (np.argmax, np.argmin, np.nanargmax):
        found = D.reduce_tiles(function)
        right = [[int(function(np.asarray(D.tile((i, j))))) for j in range(2)] for i in range(3)]
        assert found.tolist() == right
        assert tw.as_tensor(X).tiled(T).reduce_tiles(function).shape == found.shape


FUNCTIONS = [np.std, np.var, np.median, np.mean]


def check_spread(tensor, array):
    with np.errstate(all="ignore"):
        for function in FUNCTIONS:
            if function is np.median and array.dtype.kind == "c":
                with pytest.raises(ConversionError, match="to_dense"):
                    function(tensor)
                continue
            got, right = function(tensor), function(array)
            np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-12)
            assert np.asarray(got).dtype == right.dtype
        if array.size > 1:
            np.testing.assert_allclose(np.var(tensor, ddof=1), np.var(array, ddof=1), atol=1e-12)


@given(symmetric_tiles(most_rank=3))
def test_spread_and_median_of_symmetric_tensors(case):
    symmetry, [(t, x, _)] = case
    if not x.size or not x.ndim or symmetry.is_trivial:
        return
    for tensor in (t, t.untiled()):
        check_spread(tensor, x)
    packed = tw.as_tensor(x).to_packed(symmetry)
    check_spread(packed, x)
    check_spread(packed[:1], x[:1])


@given(block_tensors(odd=(np.nan, np.inf)))
def test_spread_and_median_of_blocks_and_sparse_tensors(one):
    ((t, x),) = one
    if not x.size or not x.ndim:
        return
    for tensor in (t, t.untiled()):
        check_spread(tensor, x)


def test_a_spread_unpacks_nothing_where_symmetry_survives():
    n = 30
    values = np.arange(n * (n + 1) / 2 * (n * (n + 1) / 2 + 1) / 2)
    eri = tw.from_packed(values, "s8", (n,) * 4)
    with count_copies() as copies:
        np.std(eri)
        np.median(eri)
    assert copies.nbytes < 4 * values.nbytes < n**4 * 8
    with pytest.raises(ConversionError, match="has no axis=: it is of all elements"):
        np.std(eri, axis=0)


def test_operands_that_do_not_fit_are_named():
    eri = tw.from_packed(np.arange(406.0), "s8", (7,) * 4)
    shells = Tiling(*[[1, 1, 3, 1, 1]] * 4)
    tiles = eri.tiled(shells).keep_tiles(lambda *numbers: sum(numbers) > 1, symmetry="s8")
    with pytest.raises(ExtentMismatchError, match=r"operand 0 is tiled, and operand 1 the box .*untiled\(\)"):
        np.logical_or(tiles, eri)
    with pytest.raises(ConversionError, match=r"logical_or: operand 1 is dense.*to_dense\(\)"):
        np.logical_or(tiles.untiled(), eri)
    product = tiles.untiled() * eri
    assert product.symmetry == eri.symmetry
    np.testing.assert_array_equal(box_of(product), box_of(tiles) * np.asarray(eri.to_dense()))
    nulls = tw.as_tensor(np.ma.masked_array(X, X > 30))
    for call in (np.add, np.multiply, np.logical_or):
        with pytest.raises(
            ConversionError, match=rf"{call.__name__}: operand 1 may have nulls, and operand 0"
        ):
            call(D.untiled(), nulls)
        with pytest.raises(
            ConversionError, match=rf"{call.__name__}: operand 0 may have nulls, and operand 1"
        ):
            call(nulls.tiled(T), D)
    np.testing.assert_array_equal(dense(D.untiled() * nulls.fill_null(0)), dense(D) * np.where(X > 30, 0, X))


UNARY = [
    np.negative,
    np.absolute,
    np.sqrt,
    np.sin,
    np.rint,
    np.trunc,
    np.reciprocal,
    np.square,
    np.cbrt,
    np.exp,
]
BINARY = [
    np.add,
    np.subtract,
    np.copysign,
    np.arctan2,
    np.hypot,
    np.divide,
    np.fmod,
    np.remainder,
    np.nextafter,
]


@given(block_tensors(count=2, dtypes=("f8",), fills=(0.0, -0.0, 3.0), odd=(-0.0, np.inf, np.nan)))
def test_zeros_have_the_sign_of_dense_arrays(two):
    (t, _), (u, _) = two
    x, y = dense(t), dense(u)
    with np.errstate(all="ignore"):
        made = [(ufunc(t), ufunc(x)) for ufunc in UNARY]
        made += [(ufunc(t, u), ufunc(x, y)) for ufunc in BINARY]
        made += [(ufunc(t, -2.0), ufunc(x, -2.0)) for ufunc in (*BINARY, np.multiply)]
    for got, right in made:
        np.testing.assert_array_equal(np.signbit(dense(got)) & (right == 0), np.signbit(right) & (right == 0))
        np.testing.assert_array_equal(dense(got), right)


def test_zeros_of_products_are_positive_where_a_tile_is_dropped():
    cut = Tiling([1], [1])
    product = tw.blocks({(0, 0): [[-3.0]]}, cut) * tw.zeros(tw.BlockPattern(cut, []))
    assert product.pattern.count == 0
    assert not np.signbit(dense(product)).any()
    assert np.signbit(np.float64(-3.0) * 0.0)
