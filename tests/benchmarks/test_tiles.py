"""Work on the tiles of a real matrix: the largest value of each, and a jagged set of them."""

import numpy as np
import pytest

from tensorwrapper import as_tensor
from tensorwrapper.cli._demo_data import load_benzene, load_pairs
from tensorwrapper.cli._demo_work import pair_energy

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


def test_energy_of_136_pairs_cell_by_cell(benchmark):
    benchmark.group = "tiles of a real matrix"
    benchmark(pair_energy, PAIRS.amplitudes, PAIRS.integrals, PAIRS.first, PAIRS.second)
