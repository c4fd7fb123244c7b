"""Work on the tiles of a real matrix: the largest value of each, and a jagged set of them."""

import numpy as np
import pytest

from tensorwrapper import as_tensor
from tensorwrapper.cli.demo._demo_data import load_benzene, load_pairs
from tensorwrapper.cli.demo._demo_work import pair_energy, pair_plan

BENZENE = load_benzene(None)
PAIRS = load_pairs(None)
MAGNITUDE = np.abs(BENZENE.overlap)
TILED = as_tensor(MAGNITUDE).tiled(BENZENE.shells)
MARKS = BENZENE.shells.marks[0][:-1]
MASK = np.asarray(TILED.reduce_tiles(np.maximum)) > 1e-8

WAYS = {
    "reduce_tiles": lambda: TILED.reduce_tiles(np.maximum),
    "reduceat": lambda: np.maximum.reduceat(np.maximum.reduceat(MAGNITUDE, MARKS, axis=0), MARKS, axis=1),
}


@pytest.mark.parametrize("way", WAYS)
def test_largest_value_of_2304_tiles(benchmark, way):
    benchmark.group = "largest value of 2304 tiles"
    benchmark(WAYS[way])


def test_select_2148_tiles(benchmark):
    benchmark.group = "tiles of a real matrix"
    benchmark(TILED.select_tiles, MASK)


def scattered_by_hand():
    box, (rows, columns) = np.zeros(MAGNITUDE.shape), [m.tolist() for m in BENZENE.shells.marks]
    for i, j in np.argwhere(MASK).tolist():
        tile = slice(rows[i], rows[i + 1]), slice(columns[j], columns[j + 1])
        box[tile] = MAGNITUDE[tile]
    return box


@pytest.mark.parametrize("way", ["scatter", "a loop over tiles"])
def test_2148_tiles_put_back(benchmark, way):
    benchmark.group = "tiles of a real matrix put back"
    if way == "scatter":
        benchmark(TILED.select_tiles(MASK).scatter, TILED.tiling)
    else:
        benchmark(scattered_by_hand)


def energy_cell_by_cell():
    energy = 0.0
    for ((pair,), t), (_, k) in zip(PAIRS.amplitudes.cells(), PAIRS.integrals.cells(), strict=True):
        array = t.to_numpy()
        factor = 1.0 if PAIRS.first[pair] == PAIRS.second[pair] else 2.0
        energy += factor * float(((2.0 * array - array.T) * k.to_numpy()).sum())
    return energy


def energy_by_hand():
    """The same from arrays that were made by hand beforehand: what the plan costs beside."""
    products = (2.0 * T - T[TRANSPOSED]) * K
    return float(FACTORS @ np.add.reduceat(products, STARTS))


T, K = PAIRS.amplitudes.elements(), PAIRS.integrals.elements()
PLAN = pair_plan(PAIRS.amplitudes, PAIRS.integrals)
SIZES = PAIRS.amplitudes.shape.cell_table().extents[:, 0]
MARKS = np.concatenate([[0], np.cumsum(SIZES**2)])
TRANSPOSED = np.concatenate(
    [start + np.arange(n * n).reshape(n, n).T.reshape(-1) for start, n in zip(MARKS, SIZES, strict=False)]
)
FILLED = SIZES > 0
STARTS = MARKS[:-1][FILLED]
FACTORS = np.where(PAIRS.first == PAIRS.second, 1.0, 2.0)[FILLED]
ENERGIES = {
    "plan": lambda: pair_energy(PLAN, PAIRS.amplitudes, PAIRS.integrals, PAIRS.first, PAIRS.second),
    "by hand": energy_by_hand,
    "cell by cell": energy_cell_by_cell,
}


@pytest.mark.parametrize("way", ENERGIES)
def test_energy_of_136_pairs(benchmark, way):
    benchmark.group = "energy of 136 pairs"
    assert round(benchmark(ENERGIES[way]), 9) == -0.793264994


def test_plan_of_136_pairs(benchmark):
    benchmark.group = "energy of 136 pairs"
    benchmark(pair_plan, PAIRS.amplitudes, PAIRS.integrals)
