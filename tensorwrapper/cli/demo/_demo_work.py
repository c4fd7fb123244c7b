"""Computations of the demonstration: the same functions in both processes, so that results are equal."""

from typing import final

import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import frozen
from tensorwrapper.cli.demo._demo_data import Benzene
from tensorwrapper.shape import BlockPattern, Tiling
from tensorwrapper.tensor import Alignment, Tensor, align, as_tensor, contract, from_buffer


@final
@frozen(eq=False)
class Selection:
    """Tiles selected from a tiled matrix."""

    block: Tensor[np.float64]
    """The shell tiles of one pair of atoms, a view."""
    tiles: Tensor[np.float64]
    """All tiles above the threshold, as one jagged tensor; each keeps its origin."""
    numbers: npt.NDArray[np.int64]
    """Mask of those tiles."""


@final
@frozen(eq=False)
class Screened:
    """Matrices tiled by atoms, without small tiles."""

    overlap: Tensor[np.float64]
    density: Tensor[np.float64]
    total: Tensor[np.float64]
    """Their sum."""
    product: Tensor[np.float64]
    """Overlap times density."""


def screened_work(benzene: Benzene) -> Screened:
    """Return results for tiles of atoms with a norm of at least 0.1, storing one tile per pair."""
    every = BlockPattern(benzene.atoms)
    overlap, density = [
        as_tensor(matrix).tiled(benzene.atoms).keep_tiles(every, symmetry="s2", tolerance=1e-12).screened(0.1)
        for matrix in (benzene.overlap, benzene.density)
    ]
    return Screened(overlap, density, overlap + density, contract("ij,jk->ik", overlap, density))


def populations(
    overlap: Tensor[np.float64], density: Tensor[np.float64], atoms: Tiling
) -> npt.NDArray[np.float64]:
    """Return the electrons at each atom: the sum of D * S over its rows."""
    product = as_tensor(density.untiled().to_numpy() * overlap.untiled().to_numpy())
    electrons: npt.NDArray[np.float64] = product.tiled(atoms).reduce_tiles(np.add).to_numpy().sum(axis=1)
    return electrons


def tile_magnitudes(matrix: Tensor[np.float64]) -> npt.NDArray[np.float64]:
    """Return the largest absolute value in each tile of a tiled matrix."""
    magnitudes = as_tensor(np.abs(matrix.untiled().to_numpy()))
    return magnitudes.tiled(matrix.tiling).reduce_tiles(np.maximum).to_numpy()


def select_tiles(
    matrix: Tensor[np.float64], shells_per_atom: tuple[int, ...], pair: tuple[int, int], threshold: float
) -> Selection:
    """Return the tiles of one pair of atoms, and those with a value above the threshold."""
    ends = np.cumsum((0, *shells_per_atom)).tolist()
    down, across = ((ends[atom], ends[atom + 1]) for atom in pair)
    block = matrix.window(matrix.shape[slice(*down), slice(*across)])
    mask = tile_magnitudes(matrix) > threshold
    return Selection(block, matrix.select_tiles(mask), np.argwhere(mask).copy())


def pair_plan(amplitudes: Tensor[np.float64], integrals: Tensor[np.float64]) -> Alignment:
    """Return the alignment of T, T with transposed cells, and K."""
    return align(amplitudes, amplitudes, integrals, orders=[None, (0, 2, 1), None])


def pair_energy(
    plan: Alignment,
    amplitudes: Tensor[np.float64],
    integrals: Tensor[np.float64],
    first: npt.NDArray[np.int64],
    second: npt.NDArray[np.int64],
) -> float:
    """Return the sum over pairs of f * sum((2 T - T^T) * K), f = 1 on the diagonal and else 2."""
    t, transposed, k = plan.take(amplitudes, amplitudes, integrals)
    of_pairs = from_buffer((2.0 * t - transposed) * k, plan.shape).reduce_tiles(np.add)
    return float(np.where(first == second, 1.0, 2.0) @ of_pairs.to_numpy())
