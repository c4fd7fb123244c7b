"""Laws of tensors in blocks, against dense arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.errors import ExtentError
from tests.support.tiles.block_tensors import block_tensors, dense, dense_of, of, small

UFUNCS = sorted(
    {
        value
        for name in dir(np)
        if isinstance(value := getattr(np, name), np.ufunc) and not value.signature and name != "matmul"
    },
    key=lambda ufunc: ufunc.__name__,
)

REDUCING = [np.add, np.multiply, np.maximum, np.minimum, np.logical_or, np.logical_and, np.bitwise_xor]


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
@given(st.data())
def test_ufuncs_are_those_of_dense_arrays(ufunc, data):
    found = data.draw(block_tensors(ufunc.nin, ("f8", "i8", "?"), odd=(np.nan, np.inf)))
    tensors, arrays = map(list, zip(*found, strict=True))
    if ufunc.nin == 2 and data.draw(st.booleans()):
        place, number = data.draw(st.integers(0, 1)), data.draw(st.sampled_from([0, 2, 2.5]))
        tensors[place] = arrays[place] = number
    if data.draw(st.booleans()):
        tensors = [own.untiled() if isinstance(own, tw.Tensor) else own for own in tensors]
    with np.errstate(all="ignore"):
        try:
            right = ufunc(*arrays)
        except (TypeError, ValueError) as error:
            with pytest.raises(TypeError if isinstance(error, TypeError) else ValueError):
                ufunc(*tensors)
            return
        made = ufunc(*tensors)
    for tensor, array in found:
        assert np.array_equal(
            dense(tensor), array, equal_nan=array.dtype.kind in "fc"
        )  # nothing is written to
    for own, array in zip(*[x if isinstance(x, tuple) else (x,) for x in (made, right)], strict=True):
        assert own.buffer.in_tiles
        assert own.dtype == array.dtype
        assert np.array_equal(dense(own), array, equal_nan=array.dtype.kind in "fc")
        assert own.pattern.rank == (own.rank if own.shape.is_box else own.rank // 2)


@given(block_tensors(1, ("f8", "i8", "?", "c16"), fills=(0, 0, 2)), st.data())
def test_reductions_are_those_of_dense_arrays(found, data):
    ((tensor, array),) = found
    ufunc = data.draw(
        st.sampled_from(
            [np.add, np.multiply, np.maximum, np.minimum, np.logical_or, np.logical_and, np.bitwise_xor]
        )
    )
    axis = data.draw(st.sampled_from([None, 0, -1, tuple(range(array.ndim))]))
    options = data.draw(st.sampled_from([{}, {"keepdims": True}, {"initial": 1}]))
    try:
        right = ufunc.reduce(array, axis=axis, **options)
    except (ValueError, TypeError) as error:
        if array.size:
            with pytest.raises(TypeError if isinstance(error, TypeError) else ValueError):
                ufunc.reduce(tensor.untiled(), axis=axis, **options)
        return
    made = np.asarray(ufunc.reduce(tensor.untiled(), axis=axis, **options))
    assert (made.dtype, made.shape) == (right.dtype, right.shape)
    assert np.allclose(made, right)
    tiles = tw.as_tensor(array).translate_to(tensor.tiling.origin).tiled(tensor.tiling)
    try:
        right = tiles.reduce_tiles(ufunc)
    except (ValueError, TypeError) as error:
        with pytest.raises(TypeError if isinstance(error, TypeError) else ValueError):
            tensor.reduce_tiles(ufunc)
        return
    assert tensor.reduce_tiles(ufunc).dtype == right.dtype
    assert np.allclose(tensor.reduce_tiles(ufunc).to_numpy(), right.to_numpy())
    assert np.allclose(tensor.reduce_tiles(np.sum).to_numpy(), tiles.reduce_tiles(np.sum).to_numpy())
    assert np.allclose(tensor.tile_norms().to_numpy(), tiles.tile_norms().to_numpy())


@given(small, st.integers(0, 2**32 - 1))
def test_kept_tiles_are_the_pattern(tiling, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(tiling.elements.extents)
    p, q = (BlockPattern.from_mask(tiling, rng.random(tiling.grid.extents) < 0.5) for _ in range(2))
    t = tw.as_tensor(x).translate_to(tiling.origin).tiled(tiling)
    kept = t.keep_tiles(p)
    assert kept.pattern == p
    assert np.array_equal(dense(kept), dense_of(p, x))
    assert kept.keep_tiles(p).array_equal(kept)
    assert np.array_equal(dense(t.keep_tiles(BlockPattern(tiling))), x)
    assert kept.keep_tiles(q).pattern == q
    assert np.array_equal(dense(kept.keep_tiles(q)), dense_of(p & q, x))
    assert kept.with_tiles(q).pattern == p | q
    assert kept.with_tiles(q).array_equal(kept)
    assert kept.screened().pattern <= p
    assert kept.screened().array_equal(kept)


@given(block_tensors(fills=(0,), dtypes=("f8",)), st.sampled_from([0.0, 1.0, 5.0, 20.0]))
def test_screening_has_an_exact_bound(found, error):
    ((tensor, array),) = found
    kept = tensor.screened(error=error)
    gone = tensor.pattern - kept.pattern
    rest = np.linalg.norm((array - dense(kept)).reshape(-1))
    assert rest <= error * (1 + 1e-12)
    norms = tensor.tile_norms().to_numpy().reshape(-1)
    for ordinal in kept.pattern.ordinals().tolist():
        assert np.hypot(rest, norms[ordinal]) > error * (1 - 1e-12)
    assert gone.count + kept.pattern.count == tensor.pattern.count
    few = tensor.screened(error)
    dropped = tensor.pattern.count - few.pattern.count
    rest = np.linalg.norm((array - dense(few)).reshape(-1))
    assert rest < error * np.sqrt(dropped) or not dropped or not rest


@given(block_tensors(fills=(0,), dtypes=("i8",)), st.integers(0, 2**32 - 1))
def test_any_split_into_contributions_adds_up(found, seed):
    ((tensor, array),) = found
    rng = np.random.default_rng(seed)
    parts = []
    for number, tile in tensor.present_tiles():
        some = rng.integers(-9, 9, tile.shape.extents)
        parts += [(number, some), (number, tile.to_numpy() - some)]
    rng.shuffle(parts)
    made = tw.zeros(tensor.pattern, dtype="i8")
    made.add_tiles([tuple(part) for part in parts])
    assert np.array_equal(dense(made), array)
    assert tw.blocks(
        [tuple(part) for part in parts], tensor.tiling, dtype="i8", duplicates="sum"
    ).array_equal(tensor)


@given(block_tensors(), st.data())
def test_other_tiles_have_the_same_elements(found, data):
    ((tensor, array),) = found
    ends = [(int(m[0]), int(m[-1])) for m in tensor.tiling.marks]
    cuts = [data.draw(st.lists(st.integers(*own), max_size=3)) for own in ends]
    tiling = tw.Tiling.from_marks(*[sorted({*own, *more}) for own, more in zip(ends, cuts, strict=True)])
    again = tensor.retiled(tiling)
    assert np.array_equal(dense(again), array)
    assert again.pattern == tensor.pattern.retile(tiling)


def test_tensors_of_arrays_are_those_of_loops():
    tiling = tw.Tiling([2, 1], [1, 2])
    x = np.arange(9.0).reshape(3, 3)
    kept = tw.as_tensor(x).tiled(tiling).keep_tiles(BlockPattern(tiling))
    assert of(BlockPattern(tiling), x).array_equal(kept)


@pytest.mark.parametrize("shape", [(3, 0, 0), (3, 0), (0, 3), (0, 0), (2, 0, 3)])
def test_extremes_of_modes_without_elements_are_refused_as_for_boxes(shape):
    box = np.zeros(shape)
    blocks = tw.as_tensor(box).tiled(Tiling(*[[n] for n in shape])).keep_tiles(lambda *_: np.True_)
    for axis in (None, *range(len(shape))):
        try:
            wanted = np.max(tw.as_tensor(box), axis=axis)
        except ExtentError:
            with pytest.raises(ExtentError):
                np.max(blocks.untiled(), axis=axis)
        else:
            assert np.asarray(np.max(blocks.untiled(), axis=axis)).shape == np.asarray(wanted).shape
