"""Masks composed and asked in bulk; peers: NumPy's take, searchsorted and slices of arrays of positions."""

from functools import partial

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Mask, Shape
from tensorwrapper.shape import match_cells, permute_cells

N = 10**7


def run(benchmark, function, rounds=5):
    return benchmark.pedantic(function, rounds=rounds, warmup_rounds=1)


@pytest.fixture(scope="module")
def picked():
    """Positions in a mode of 4 N, and positions among them: ascending, shuffled, and their masks."""
    rng = np.random.default_rng(0)
    outer = np.sort(rng.choice(4 * N, N, replace=False))
    inner = {"ascending": np.sort(rng.choice(N, N // 2, replace=False)), "shuffled": rng.permutation(N)}
    mask = Mask(Shape(4 * N), outer)
    return outer, inner, mask, {name: Mask(mask.shape, numbers) for name, numbers in inner.items()}


@pytest.mark.parametrize("order", ["ascending", "shuffled"])
@pytest.mark.parametrize("way", ["tensorwrapper", "numpy"])
def test_composition(benchmark, picked, way, order):
    benchmark.group = f"a mask of a mask, {order}"
    outer, inner, mask, masks = picked
    peer = partial(outer.take, inner[order])
    run(benchmark, partial(mask.compose, masks[order]) if way == "tensorwrapper" else peer)


@pytest.mark.parametrize("way", ["tensorwrapper", "numpy"])
def test_results_of_indices(benchmark, picked, way):
    benchmark.group = "where indices stand in the result"
    outer, inner, mask, _ = picked
    sought = outer.take(inner["shuffled"])
    table = sought[:, np.newaxis]
    peer = partial(np.searchsorted, outer, sought)
    run(benchmark, partial(mask.result_indices, table) if way == "tensorwrapper" else peer, rounds=2)


@pytest.mark.parametrize("way", ["tensorwrapper", "numpy"])
def test_slices_of_regular_positions(benchmark, way):
    benchmark.group = "a slice of every third position"
    mask, array = Mask(Shape(3 * N), slice(None, None, 3)), np.arange(0, 3 * N, 3)
    key = slice(5, None, 7)
    run(benchmark, partial(mask.__getitem__, key) if way == "tensorwrapper" else array[key].copy)


@pytest.fixture(scope="module")
def cells():
    """The extents of a hundred thousand cells, of 1 to 7 rows and columns."""
    return np.random.default_rng(0).integers(1, 8, (10**5, 2))


def by_hand(extents):
    """Return what transposes all cells by NumPy's repeat and division, as a program without plans does it."""
    volumes = extents.prod(axis=1)
    cell = np.repeat(np.arange(len(extents)), volumes)
    starts = np.cumsum(volumes) - volumes
    place = np.arange(len(cell)) - starts[cell]
    column, row = np.divmod(place, extents[cell, 0])
    return starts[cell] + row * extents[cell, 1] + column


PLANS = {
    "permute_cells": permute_cells,
    "layout": lambda shape: tw.Layout(shape).permute((0, 2, 1)).to_numpy(),
    "match_cells": lambda shape: match_cells(shape, shape, by="number"),
}


@pytest.mark.parametrize("plan", [*PLANS, "numpy"])
def test_plans_of_a_hundred_thousand_cells(benchmark, cells, plan):
    benchmark.group = "a plan of 10^5 cells"
    if plan == "numpy":
        run(benchmark, partial(by_hand, cells))
        return
    shapes = iter([Shape.from_cells((len(cells),), cells) for _ in range(6)])
    # A new shape in each round: what a shape remembers of itself must not be a part of the time.
    run(benchmark, lambda: PLANS[plan](next(shapes)))
