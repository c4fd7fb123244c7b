"""Pieces of shapes: smooth blocks, runs of bounded volume, parts joined again; NumPy and Python as peers."""

from itertools import pairwise

import numpy as np
import pytest

from tensorwrapper import Shape, Tiling

RNG = np.random.default_rng(7)
TILES = Tiling(RNG.integers(1, 20, 1830)).shape
LENGTHS = RNG.integers(0, 8, 10**6)
ROWS = Shape.jagged(LENGTHS)
PARTS = ROWS.split(10)
SORTED = Shape.jagged(np.sort(LENGTHS))
CELLS = Shape.from_cells(Shape(316, 316), RNG.integers(1, 30, (316 * 316, 2)))


def greedy(volumes, most):
    marks, filled = [0], 0
    for k, volume in enumerate(volumes):
        if filled + volume > most and k > marks[-1]:
            marks.append(k)
            filled = 0
        filled += volume
    return marks


@pytest.mark.parametrize("most", [10, 1000])
@pytest.mark.parametrize("way", ["partition_by_volume", "a loop in Python"])
def test_runs_of_1830_tiles(benchmark, way, most):
    benchmark.group = f"runs of 1830 tiles, {most} elements at most"
    sizes = TILES.cell_table().extents[:, 0].tolist()
    benchmark((lambda: TILES.partition_by_volume(most)) if way[0] == "p" else (lambda: greedy(sizes, most)))


@pytest.mark.parametrize("most", [1, 10, 1000])
@pytest.mark.parametrize("way", ["partition_by_volume", "a loop in Python"])
def test_runs_of_a_million_rows(benchmark, way, most):
    benchmark.group = f"runs of 10^6 rows, {most} elements at most"
    sizes = LENGTHS.tolist()
    benchmark((lambda: ROWS.partition_by_volume(most)) if way[0] == "p" else (lambda: greedy(sizes, most)))


@pytest.mark.parametrize(
    "name", ["blocks of 10^6 rows", "blocks of 10^6 sorted rows", "a box per row in Python"]
)
def test_blocks(benchmark, name):
    benchmark.group = "10^6 rows as boxes"
    shape = SORTED if "sorted" in name else ROWS
    if name.startswith("blocks"):
        benchmark(lambda: sum(1 for _ in shape.blocks()))
    else:
        benchmark.pedantic(lambda: [ROWS[k] for k in range(10**6)], rounds=1)


def test_block_table(benchmark):
    benchmark.group = "10^6 rows as boxes"
    benchmark(ROWS.block_table)


@pytest.mark.parametrize("shape", [TILES, ROWS, CELLS], ids=["1830 tiles", "10^6 rows", "99856 cells"])
def test_raggedness(benchmark, shape):
    benchmark.group = "raggedness"
    benchmark(lambda: shape.raggedness)


WAYS = {
    "concat of windows": lambda: Shape.concat(PARTS),
    "concat of others": lambda: Shape.concat([ROWS, SORTED]),
    "concat row by row": lambda: Shape.concat([ROWS, SORTED], mode=1),
    "np.concatenate of the lengths": lambda: np.concatenate([LENGTHS, LENGTHS]),
    "split": lambda: ROWS.split(10),
    "slices": lambda: [ROWS[a:b] for a, b in pairwise(range(0, 10**6 + 1, 10**5))],
}


@pytest.mark.parametrize("way", WAYS)
def test_joins(benchmark, way):
    benchmark.group = "joins and splits of 10^6 rows"
    benchmark(WAYS[way])
