"""Going over indices, one by one and as arrays; the peers are itertools and NumPy.

The loops do nothing with an index, so that what is timed is the making of indices.
"""

import itertools
from functools import partial

import numpy as np
import pytest

from tensorwrapper import Shape

BOX = Shape(100, 100, 100)
SHORT = Shape.jagged(np.arange(285_000) % 8)
LONG = Shape.jagged(np.full(1000, 1000))
CELLS = Shape.from_cells((100, 100), np.tile([(9, 11), (10, 10)], (5000, 1)))
TILED = Shape.tiled(np.full(100, 10), np.full(100, 10))


def take_all(make):
    """Take every index and keep it until the next, as a loop does: product reuses a tuple that nobody has."""
    for _ in make():
        pass


LOOPS = {
    "box": partial(iter, BOX.indices()),
    "itertools.product": partial(itertools.product, range(100), range(100), range(100)),
    "np.ndindex": partial(np.ndindex, 100, 100, 100),
    "box, first mode fastest": partial(iter, BOX.indices(order="F")),
    "box, reversed": partial(reversed, BOX.indices()),
    "box, from the second index": partial(iter, BOX.indices()[1:]),
    "box, running iterator": BOX.indices().iterator,
    "jagged, rows of 0 to 7": partial(iter, SHORT.indices()),
    "jagged, rows of 1000": partial(iter, LONG.indices()),
    "jagged, cells of 10 x 10": partial(iter, CELLS.indices()),
    "tiles of 10 x 10": partial(iter, TILED.indices()),
    "jagged, rows of 1000, first mode fastest": partial(iter, LONG.indices(order="F")),
}


@pytest.mark.parametrize("way", LOOPS)
def test_one_index_at_a_time(benchmark, way):
    benchmark.group = "a loop over a million indices"
    benchmark.pedantic(take_all, args=(LOOPS[way],), rounds=7, warmup_rounds=1)


def by_unravel():
    return np.stack(np.unravel_index(np.arange(10**6), (100, 100, 100)), axis=1)


def by_np_indices():
    return np.ascontiguousarray(np.indices((100, 100, 100)).reshape(3, -1).T)


ARRAYS = {
    "box.to_numpy": BOX.indices().to_numpy,
    "box.batches of 8192": partial(take_all, partial(BOX.indices().batches, 8192)),
    "np.indices, transposed": by_np_indices,
    "np.unravel_index, stacked": by_unravel,
    "jagged, rows of 0 to 7": SHORT.indices().to_numpy,
    "jagged, rows of 1000": LONG.indices().to_numpy,
    "jagged, rows of 1000, first mode fastest": LONG.indices(order="F").to_numpy,
}


@pytest.mark.parametrize("way", ARRAYS)
def test_all_indices_as_arrays(benchmark, way):
    benchmark.group = "a million indices as arrays"
    benchmark.pedantic(ARRAYS[way], rounds=15, warmup_rounds=1)


JUMPS = {
    "box": (BOX, 654_321),
    "jagged, rows of 0 to 7": (SHORT, 654_321),
    "2 to the power of 100": (Shape(*[2] * 100), 2**99 + 1),
}


@pytest.mark.parametrize("way", JUMPS)
def test_random_access(benchmark, way):
    shape, place = JUMPS[way]
    benchmark.group = "one index by its place"
    benchmark.pedantic(shape.indices().__getitem__, args=(place,), rounds=50, iterations=100)
