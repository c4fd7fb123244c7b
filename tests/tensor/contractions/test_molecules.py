"""Overlap and density of benzene, and pair amplitudes of four waters, in blocks: numbers of dense NumPy."""

from importlib.resources import files

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling


def data(name):
    with np.load(files("tensorwrapper.cli.demo") / "data" / f"{name}.npz") as held:
        return dict(held)


@pytest.fixture(scope="module")
def benzene():
    return data("benzene_ccpvdz")


@pytest.fixture(scope="module")
def shells(benzene):
    """The overlap, in tiles of shells."""
    cut = Tiling.from_marks(*[benzene["ao_loc"]] * 2)
    return tw.as_tensor(benzene["S"]).tiled(cut)


@pytest.fixture(scope="module")
def atoms(benzene):
    """The overlap and the density, in those tiles of atoms whose norm is not below 0.1."""
    cut = Tiling.from_marks(*[benzene["atom_loc"]] * 2)
    return [tw.as_tensor(benzene[name]).tiled(cut).screened(0.1) for name in "SD"]


def rest(kept, whole):
    return float(np.linalg.norm(whole - np.asarray(kept.untiled().to_dense())))


def test_shells_are_screened(benzene, shells):
    assert np.isclose(np.linalg.norm(benzene["S"]), 15.909839699504, rtol=1e-12)
    for threshold, tiles, elements, norm in (
        (1e-2, 1590, 9372, 7.885024e-02),
        (1e-4, 1968, 10992, 3.335654e-04),
        (1e-8, 2148, 11964, 8.243784e-09),
    ):
        kept = shells.screened(threshold)
        assert (kept.pattern.count, kept.pattern.elements) == (tiles, elements)
        assert np.isclose(rest(kept, benzene["S"]), norm, rtol=1e-6)
    most = shells.screened(1e-8, ord="max")
    assert (most.pattern.count, most.pattern.elements) == (2148, 11964)
    assert shells.screened(1e-4, per="element").pattern.count == 1884
    bound = shells.screened(error=1e-3)
    assert (bound.pattern.count, shells.pattern.count - bound.pattern.count) == (1915, 389)
    assert np.isclose(rest(bound, benzene["S"]), 9.938872e-04, rtol=1e-6)
    lower = BlockPattern.from_predicate(shells.tiling, lambda i, j: i >= j)
    assert (lower.count, lower.elements) == (1176, 6675)


def test_overlap_times_density_by_atoms(benzene, atoms):
    overlap, density = atoms
    plan = tw.contraction("ij,jk->ik", overlap, density)
    assert (overlap.pattern.count, density.pattern.count, overlap.pattern.grid.size) == (114, 78, 144)
    assert (plan.count, plan.pattern.count, plan.flops, plan.dense_flops) == (786, 144, 2052588, 2963088)
    found = np.asarray(tw.contract(plan, overlap, density).untiled().to_dense())
    assert np.isclose(np.trace(found), 41.968869627, rtol=1e-9)
    assert np.isclose(np.linalg.norm(found), 10.291431966, rtol=1e-9)
    assert round(float(np.abs(found - benzene["S"] @ benzene["D"]).max()), 6) == 0.080338
    trace = tw.contract("ij,ji->", overlap, density).item()
    assert np.isclose(trace, 41.968869627, rtol=1e-9)


def test_products_of_small_norms_are_left_out(atoms):
    overlap, density = atoms
    plan = tw.contraction("ij,jk->ik", overlap, density).screen(
        overlap.tile_norms(), density.tile_norms(), 0.5
    )
    whole, few = (
        tw.contract(p, overlap, density) for p in (tw.contraction("ij,jk->ik", overlap, density), plan)
    )
    assert plan.count == 168
    assert np.isclose(plan.error_bound, 114.464783, rtol=1e-8)
    error = np.linalg.norm(np.asarray((whole - few).untiled().to_dense()))
    assert np.isclose(error, 1.981886, rtol=1e-6)
    assert tw.contract("ij,jk->ik", overlap, density, threshold=0.5).array_equal(few)


def test_the_lower_tiles_of_atoms(atoms):
    overlap = atoms[0]
    lower = overlap.pattern & BlockPattern.from_predicate(overlap.tiling, lambda i, j: i >= j)
    assert (lower.count, lower.elements, overlap.pattern.elements) == (63, 6516, 11706)
    assert overlap.pattern.unique("s2") == lower


def test_pairs_of_orbitals_lie_on_a_diagonal():
    water = data("water4_pno")
    cut = Tiling(water["size"], water["size"])
    pairs = BlockPattern(cut, np.repeat(np.arange(136), 2).reshape(136, 2))
    amplitudes, integrals = (tw.from_buffer(water[name], pairs) for name in "TK")
    assert (pairs.nonempty().count, pairs.count, pairs.elements) == (102, 136, 16820)
    norm = np.sqrt(tw.contract("ab,ab->", amplitudes, amplitudes).item())
    assert np.isclose(norm, 0.322490711503, rtol=1e-11)
    weights = np.where(water["i"] == water["j"], 1.0, 2.0)
    energies = tw.contract(
        "ab,ab->",
        (2 * amplitudes - amplitudes.permute(1, 0, 3, 2)) * tw.as_tensor(np.diag(weights)),
        integrals,
    )
    assert np.isclose(energies.item(), -0.793264993801475, rtol=1e-12)


def test_a_symmetric_overlap_stores_the_lower_tiles(benzene, shells):
    half = shells.keep_tiles(lambda i, j: i >= j, symmetry="s2", tolerance=1e-14)
    assert (half.stored_pattern.count, len(half.packed_values()), half.pattern.count) == (1176, 6675, 2304)
    assert np.isclose(np.linalg.norm(half), 15.909839699504, rtol=1e-12)
    cut = Tiling.from_marks(*[benzene["atom_loc"]] * 2)
    overlap, density = [
        tw.as_tensor(benzene[name])
        .tiled(cut)
        .keep_tiles(BlockPattern(cut), symmetry="s2", tolerance=1e-12)
        .screened(0.1)
        for name in "SD"
    ]
    assert (overlap.stored_pattern.count, len(overlap.packed_values())) == (63, 6516)
    assert (overlap.pattern.count, density.pattern.count) == (114, 78)
    product = tw.contract("ij,jk->ik", overlap, density)
    assert product.symmetry is None
    dense = np.asarray(product.untiled().to_dense())
    assert np.isclose(np.trace(dense), 41.968869627)
    square = tw.contract("ij,kj->ik", overlap, overlap)
    assert square.symmetry == tw.Symmetry.parse("s2")
    whole = np.asarray(overlap.untiled().to_dense())
    np.testing.assert_allclose(np.asarray(square.untiled().to_dense()), whole @ whole.T, atol=1e-10)
