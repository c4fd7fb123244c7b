"""What the demonstration computes, against the same in plain NumPy."""

import itertools

import numpy as np

import tensorwrapper as tw
from tensorwrapper.cli.demo._demo_work import populations, select_tiles, tile_magnitudes

RNG = np.random.default_rng(5)
D, S = RNG.normal(size=(2, 6, 6))
SHELLS = tw.Tiling([1, 2, 3], [1, 2, 3])


def test_populations_are_sums_over_rows_of_atoms():
    tiled = [tw.as_tensor(a).tiled(SHELLS) for a in (S, D)]

    found = populations(*tiled, tw.Tiling([3, 3], [3, 3]))

    np.testing.assert_allclose(found, (D * S).sum(axis=1).reshape(2, 3).sum(axis=1))


def test_the_greatest_value_of_each_tile():
    ends = [0, 1, 3, 6]
    expected = [
        [np.abs(D[a:b, c:d]).max() for c, d in itertools.pairwise(ends)] for a, b in itertools.pairwise(ends)
    ]

    assert tile_magnitudes(tw.as_tensor(D).tiled(SHELLS)).tolist() == expected


def test_selected_tiles_are_those_above_the_threshold():
    matrix = tw.as_tensor(D).tiled(SHELLS)
    magnitudes = tile_magnitudes(matrix)
    threshold = float(np.median(magnitudes))

    found = select_tiles(matrix, (1, 2), (0, 1), threshold)

    assert found.numbers.tolist() == np.argwhere(magnitudes > threshold).tolist()
    assert found.block.shape.extent(0) == 1
