"""Tensors in blocks in runs of present tiles, and contractions by runs of result tiles."""

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.errors import ConversionError, ExtentMismatchError
from tensorwrapper.interop import DaskBlocks, contract_in_parts
from tests.support.tiles.block_tensors import P, Q, X, block_tensors, dense, of
from tests.support.tiles.contractions import contractions

D, E = of(P, X), of(Q, -X)


@pytest.fixture(autouse=True)
def _here():
    with dask.config.set(scheduler="sync"):
        yield


@given(block_tensors(), st.integers(1, 20))
def test_parts_are_runs_of_present_tiles(pair, most):
    [(t, _)] = pair
    if not t.tiling.rank:
        return
    d = t.to_dask(max_elements=most)
    assert isinstance(d, DaskBlocks)
    again = d.compute()
    assert again.array_equal(t)
    assert (again.pattern, again.fill_value) == (t.pattern, t.fill_value)
    volumes = np.diff(t.pattern.offsets())
    for a, b in zip(d.marks[:-1], d.marks[1:], strict=True):
        assert b - a <= 1 or volumes[a:b].sum() <= most
    assert d.persist().compute().array_equal(t)
    np.testing.assert_allclose(
        d.tile_norms().compute(), t.tile_norms().to_numpy().reshape(-1)[t.pattern.ordinals()]
    )
    np.testing.assert_array_equal(dense((2 * d + 1).compute()), dense(2 * t + 1))
    np.testing.assert_array_equal(dense((d * d - np.negative(d)).compute()), dense(t * t + t))


def test_tiles_are_mapped_by_size():
    sizes = []

    def negated(tiles):
        sizes.append(tiles.shape)
        return -tiles

    made = D.to_dask(max_elements=100).map_tiles(negated)
    np.testing.assert_array_equal(dense(made.compute()), -dense(D))
    assert sorted(sizes) == [(1, 1, 2), (1, 2, 4), (1, 3, 2), (1, 3, 4)]
    with pytest.raises(ExtentMismatchError, match="keep their size"):
        D.to_dask().map_tiles(lambda tiles: tiles[:, :1]).compute()


@given(contractions(max_rank=3), st.integers(1, 30), st.booleans(), st.booleans())
def test_contractions_are_those_of_tensors(case, most, first, second):
    equation, left, right, _ = case
    if not left.rank or not right.rank or not equation.split("->")[1].strip():
        return
    rng = np.random.default_rng(1)
    t, u = [of(own, rng.integers(-3, 4, own.tiling.elements.extents).astype(float)) for own in (left, right)]
    sides = [own.to_dask(max_elements=most) if lazy else own for own, lazy in ((t, first), (u, second))]
    made = contract_in_parts(equation, *sides, max_elements=most).compute()
    right_one = tw.contract(equation, t, u)
    assert made.pattern == right_one.pattern
    np.testing.assert_array_equal(dense(made), dense(right_one))


def test_a_task_of_a_contraction_needs_the_parts_that_meet():
    cut = Tiling([1] * 6, [1] * 6)
    diagonal = tw.as_tensor(np.eye(6)).tiled(cut).keep_tiles(BlockPattern.from_mask(cut, np.eye(6) > 0))
    d = diagonal.to_dask(max_elements=1)
    made = contract_in_parts("ij,jk->ik", d, d, max_elements=1)
    for k in range(6):
        needed = made.graph.layers[made.name].mapping[made.name, k]
        assert needed[1] == needed[2] == [(d.name, k)]


def test_refusals():
    d = D.to_dask()
    with pytest.raises(ConversionError, match=r"compute\(\)"):
        np.asarray(d)
    with pytest.raises(ExtentMismatchError, match="other tiles"):
        d + E.to_dask()
    with pytest.raises(ConversionError, match="one by one"):
        np.add.reduce(d)
    with pytest.raises(ConversionError, match="one by one"):
        d + np.ones(3)
    with pytest.raises(ConversionError, match="one number"):
        contract_in_parts("ij,ij->", d, d)
    with pytest.raises(ConversionError, match="sparse"):
        D.untiled().to_dask()
