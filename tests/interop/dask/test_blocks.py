"""Tensors in blocks in runs of present tiles, and contractions by runs of result tiles."""

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.errors import ConversionError, ExtentMismatchError, TensorWrapperError
from tensorwrapper.interop import DaskBlocks, contract_in_parts
from tests.support.tiles.block_tensors import P, Q, X, block_tensors, dense, of
from tests.support.tiles.contractions import contractions
from tests.support.tiles.symmetric_tiles import symmetric_tiles

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


@given(symmetric_tiles(), st.integers(1, 20))
def test_parts_of_symmetric_tiles_keep_the_symmetry(case, most):
    symmetry, [(t, x, pattern)] = case
    if not t.stored_pattern.tiling.rank or symmetry.is_trivial:
        return
    d = t.to_dask(max_elements=most)
    assert (d.symmetry, d.pattern, d.stored_pattern) == (t.symmetry, pattern, t.stored_pattern)
    assert d.nbytes == t.packed_values().nbytes
    for again in (d.compute(), d.persist().compute(), (2 * d).compute()):
        assert (again.symmetry, again.pattern) == (t.symmetry, t.pattern)
    np.testing.assert_array_equal(dense((2 * d - d).compute()), x)
    norms = t.tile_norms().to_numpy().reshape(-1)[t.stored_pattern.ordinals()]
    np.testing.assert_allclose(d.tile_norms().compute(), norms)
    for name in ("square", "exp", "negative"):
        ufunc = getattr(np, name)
        right = ufunc(t).stored_pattern
        if right != t.stored_pattern and name != "negative":
            with pytest.raises(ConversionError, match="keep_tiles"):
                ufunc(d)
            continue
        made = ufunc(d)
        assert made.compute().symmetry == ufunc(t).symmetry
        np.testing.assert_array_equal(dense(made.compute()), dense(ufunc(t)))
    with pytest.raises(ConversionError, match="keep_tiles"):
        d.map_tiles(lambda tiles: tiles)


@given(symmetric_tiles(most_rank=3), st.integers(1, 30), st.booleans(), st.booleans())
def test_contractions_in_parts_keep_what_is_left(case, most, first, second):
    _, [(t, x, _)] = case
    rank = t.symmetry.rank
    if rank < 2:
        return
    left, right = "abc"[:rank], "abd"[:rank] if rank == 3 else "ac"
    equation = f"{left},{right}->" + "".join(sorted(set(left) ^ set(right)))
    if any(set(left) ^ set(right)):
        sides = [t.to_dask(max_elements=most) if own else t for own in (first, second)]
        made = contract_in_parts(equation, *sides, max_elements=most)
        got = made.compute()
        np.testing.assert_allclose(dense(got), np.einsum(equation, x, x))
        assert got.pattern == made.pattern == tw.contraction(equation, t.pattern, t.pattern).pattern


def test_a_result_of_integrals_has_one_tile_of_each_orbit():
    shells = Tiling(*[[1, 1, 3, 1, 1]] * 4)
    eri = (
        tw.from_packed(np.arange(406.0), "s8", (7,) * 4)
        .tiled(shells)
        .keep_tiles(lambda *numbers: numbers[0] >= 0, symmetry="s8")
    )
    density = tw.as_tensor(np.eye(7)).tiled(Tiling(*[[1, 1, 3, 1, 1]] * 2)).screened()
    made = contract_in_parts("ijkl,kl->ij", eri.to_dask(max_elements=100), density, max_elements=8)
    assert (str(made.symmetry), made.stored_pattern.count, made.pattern.count) == ("2: +(0 1)", 15, 25)
    got, right = made.compute(), tw.contract("ijkl,kl->ij", eri, density)
    assert got.symmetry == right.symmetry
    np.testing.assert_allclose(dense(got), dense(right))
    with pytest.raises(ConversionError, match=r"exp of tiles with the symmetry .*keep_tiles"):
        np.exp(
            tw.as_tensor(np.zeros((2, 2)))
            .tiled(Tiling([1, 1], [1, 1]))
            .keep_tiles([(1, 0)], symmetry="a2")
            .to_dask()
        )


@pytest.mark.parametrize(
    "call",
    [
        lambda d: ~d,
        lambda d: d + None,
        lambda d: d + 10**400,
        lambda d: d + "a",
        lambda d: np.gcd(d, 2),
        np.isnat,
        lambda d: d + np.datetime64("2020"),
        lambda d: d << 1,
        lambda d: d + object(),
        lambda d: d ** "q",
        lambda d: d @ d,
        lambda d: d == None,  # noqa: E711 - what is refused
        lambda d: 2 * d + 1,
        lambda d: d > 0,
        lambda d: np.maximum(d, 0.5),
        lambda d: np.add(d, 1, dtype="f4"),
    ],
)
def test_operands_and_types_are_those_of_the_tensor(call):
    tensor = tw.as_tensor(np.eye(3)).tiled(tw.Tiling([1, 2], [1, 2])).screened()
    said = []
    for own in (tensor, tensor.to_dask(max_elements=1)):
        try:
            found = call(own)
            made = found if isinstance(found, tw.Tensor) else found.compute(scheduler="sync")
            said.append((made.to_dense().tolist(), made.dtype, made.fill_value))
        except tw.errors.TensorWrapperError as error:
            said.append((type(error).__name__, str(error)))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    "function",
    [
        lambda tiles: tiles * 1.5,
        lambda tiles: tiles * 1j,
        lambda tiles: np.full(tiles.shape, np.nan),
        lambda tiles: np.ma.masked_array(np.ones(tiles.shape), np.ones(tiles.shape, bool)),
    ],
)
def test_what_tiles_become_fits_their_type_or_is_refused(function):
    blocks = tw.as_tensor(np.array([[1, 0], [0, 3]])).tiled(Tiling([1, 1], [1, 1])).screened(0.5)
    with pytest.raises(TensorWrapperError):
        blocks.to_dask().map_tiles(function).compute()
    halves = blocks.to_dask().map_tiles(lambda tiles: tiles * 1.5, dtype="f8").compute()
    assert halves.packed_values().tolist() == [1.5, 4.5]
    with pytest.raises(TensorWrapperError):
        (blocks + np.nan).to_dask().map_tiles(np.nan_to_num, dtype="i8").compute()
