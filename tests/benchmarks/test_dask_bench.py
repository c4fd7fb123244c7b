"""Tensors on the workers of Dask, beside what Dask does by itself."""

import pickle

import dask
import numpy as np
import pytest
from distributed.protocol import deserialize, serialize

import tensorwrapper as tw
from tensorwrapper import interop

ROWS = tw.Shape.jagged(np.arange(800_000) % 11)
JAGGED = tw.from_buffer(np.arange(float(ROWS.size)), ROWS)  # 32 MB of elements, 6.4 MB of rows


def moved(value):
    return deserialize(*serialize(value))


def unpickled(value):
    buffers = []
    return pickle.loads(pickle.dumps(value, protocol=5, buffer_callback=buffers.append), buffers=buffers)


@pytest.mark.parametrize("how", [moved, unpickled, lambda value: pickle.loads(pickle.dumps(value))])
def test_40_megabytes_there_and_back(benchmark, how):
    interop.register_dask()
    arrived = benchmark(how, JAGGED)
    assert arrived.shape.size == ROWS.size


CELLS = tw.Shape.from_cells((1830,), np.stack([np.arange(1830) % 23] * 2, axis=1))
TILES = tw.from_buffer(np.arange(float(CELLS.size)), CELLS)
PARTS = TILES.to_dask(max_elements=CELLS.size // 28)


def delayed_in_batches():
    """What Dask does by itself: 64 arrays a task."""
    tiles = [tile.to_numpy() for _, tile in TILES.cells()]
    work = [
        dask.delayed(lambda own: [2 * tile for tile in own])(tiles[k : k + 64]) for k in range(0, 1830, 64)
    ]
    return dask.compute(*work, scheduler="sync")


class ByTile:
    """What one would write by hand: a collection with a task for each tile."""

    def __init__(self, tiles):
        self.graph = {("tile", k): (np.add, tile, tile) for k, tile in enumerate(tiles)}

    def __dask_graph__(self):
        return self.graph

    def __dask_keys__(self):
        return list(self.graph)

    def __dask_postcompute__(self):
        return list, ()

    __dask_scheduler__ = staticmethod(dask.get)


def custom_collection():
    return dask.compute(ByTile([tile.to_numpy() for _, tile in TILES.cells()]), scheduler="sync")


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda: (2 * PARTS).compute(scheduler="sync"), id="a ufunc"),
        pytest.param(
            lambda: PARTS.map_tiles(lambda tiles: 2 * tiles).compute(scheduler="sync"),
            id="a function of tiles",
        ),
        pytest.param(lambda: PARTS.reduce_tiles(np.add).compute(scheduler="sync"), id="sums of tiles"),
        pytest.param(lambda: [2 * tile.to_numpy() for _, tile in TILES.cells()], id="a loop"),
        pytest.param(delayed_in_batches, id="dask.delayed in batches"),
        pytest.param(custom_collection, id="a collection by tile"),
    ],
)
def test_1830_jagged_tiles(benchmark, run):
    benchmark(run)


SHELLS = tw.Tiling(*[[1, 3, 1, 3, 5, 1, 1, 3] * 6] * 2)
ATOMS = SHELLS.coarsen([8] * 6, [8] * 6)
MATRIX = np.arange(float(SHELLS.elements.size)).reshape(SHELLS.elements.extents)
BY_SHELL = tw.as_tensor(MATRIX).tiled(SHELLS)
BY_SHELL_IN_DASK = BY_SHELL.to_dask()


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(
            lambda: BY_SHELL.untiled().tiled(SHELLS.coarsen([8] * 6, [8] * 6)), id="the shape alone"
        ),
        pytest.param(
            lambda: BY_SHELL.untiled().tiled(SHELLS.coarsen([8] * 6, [8] * 6)).reduce_tiles(np.maximum),
            id="and the greatest of each atom",
        ),
        pytest.param(
            lambda: BY_SHELL.untiled().to_layout(tw.Layout.tiled(ATOMS)), id="and copied atom by atom"
        ),
        pytest.param(lambda: BY_SHELL_IN_DASK.rechunk(ATOMS.chunks).compute(scheduler="sync"), id="Dask"),
    ],
)
def test_shells_to_atoms(benchmark, run):
    benchmark(run)
