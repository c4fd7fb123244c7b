"""Copies of 256 MiB: contiguous, permuted, and tile by tile; NumPy and TensorStore as peers."""

import numpy as np
import pytest

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.buffer.copies._run_copy import run_copy
from tensorwrapper.buffer.copies._strided_copy import copy_strided

WAYS = ["np.copyto, contiguous", "np.copyto", "tensorwrapper", "tensorwrapper, 2 threads"]
ROUNDS = 5


def compare(benchmark, way, target, source):
    if way == "np.copyto, contiguous":
        same = np.empty(source.size, source.dtype)
        flat = source.base.reshape(-1)
        benchmark.pedantic(lambda: np.copyto(same, flat), rounds=ROUNDS, warmup_rounds=1)
    elif way == "np.copyto":
        benchmark.pedantic(lambda: np.copyto(target, source), rounds=ROUNDS, warmup_rounds=1)
    else:
        threads = 2 if way.endswith("threads") else 1
        benchmark.pedantic(
            lambda: copy_strided(target, source, threads=threads), rounds=ROUNDS, warmup_rounds=1
        )


@pytest.mark.parametrize("dtype", ["f8", "f4", "u1", "c16"])
@pytest.mark.parametrize("extents", [(8192, 4096), (8200, 4100)], ids=str)
@pytest.mark.parametrize("way", [*WAYS, "TensorStore"])
def test_transposed_copy(benchmark, way, extents, dtype):
    benchmark.group = f"transpose of {extents}, {dtype}"
    source = np.ones(extents, dtype).T
    target = np.zeros(source.shape, dtype)
    if way == "TensorStore":
        tensorstore = pytest.importorskip("tensorstore")
        view, goal = tensorstore.array(source.base).T, tensorstore.array(target)
        benchmark.pedantic(lambda: goal.write(view).result(), rounds=ROUNDS, warmup_rounds=1)
    else:
        compare(benchmark, way, target, source)


CUBE, HYPERCUBE = (320, 320, 320), (76, 76, 76, 76)
ORDERS = [
    *[(CUBE, order) for order in [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]],
    *[(HYPERCUBE, order) for order in [(3, 2, 1, 0), (2, 3, 0, 1), (0, 2, 1, 3)]],
]


@pytest.mark.parametrize(("extents", "order"), ORDERS, ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_permuted_copy(benchmark, way, extents, order):
    benchmark.group = f"{extents} in the order {order}"
    source = np.ones(extents).transpose(order)
    compare(benchmark, way, np.zeros(source.shape), source)


def uneven(extent, size):
    """Tiles of half to one and a half times a size."""
    sizes = np.random.default_rng(3).integers(size // 2, size * 3 // 2, 2 * extent // size)
    sizes = sizes[np.cumsum(sizes) < extent]
    return [*sizes.tolist(), extent - int(sizes.sum())]


BOX = Layout(Shape(8192, 4096))


@pytest.mark.parametrize("size", [8, 64, 256])
@pytest.mark.parametrize("way", ["np.copyto", "to tiles", "from tiles", "to tiles, 2 threads"])
def test_even_tiles(benchmark, way, size):
    benchmark.group = f"tiles of {size} x {size}"
    box, tiles = np.ones(8192 * 4096), np.zeros(8192 * 4096)
    if way == "np.copyto":
        source = box.reshape(8192 // size, size, 4096 // size, size).transpose(0, 2, 1, 3)
        target = tiles.reshape(source.shape)
        benchmark.pedantic(lambda: np.copyto(target, source), rounds=ROUNDS, warmup_rounds=1)
        return
    move(benchmark, way, BOX, Layout.tiled(Tiling.make_uniform((8192, 4096), size)), box, tiles)


@pytest.mark.parametrize("size", [8, 16, 32, 64, 256])
@pytest.mark.parametrize("way", ["a loop in Python", "to tiles", "from tiles", "to tiles, 2 threads"])
def test_uneven_tiles(benchmark, way, size):
    benchmark.group = f"tiles of about {size} x {size}"
    tiling = Tiling(uneven(8192, size), uneven(4096, size))
    box, tiles = np.ones(8192 * 4096), np.zeros(8192 * 4096)
    if way == "a loop in Python":
        boxes = [(tile.origin, tile.extents) for tile in tiling.tiles()]
        benchmark.pedantic(lambda: loop(box.reshape(8192, 4096), tiles, boxes), rounds=1)
        return
    move(benchmark, way, BOX, Layout.tiled(tiling), box, tiles)


def loop(box, tiles, boxes):
    start = 0
    for (i, j), (n, m) in boxes:
        tiles[start : start + n * m].reshape(n, m)[...] = box[i : i + n, j : j + m]
        start += n * m


def move(benchmark, way, source, target, old, new):
    plan = source.copy_plan(target)
    if way == "from tiles":
        plan, old, new = plan.inverse(), new, old
    threads = 2 if way.endswith("threads") else 1
    benchmark.pedantic(lambda: run_copy(plan, old, new, threads=threads), rounds=ROUNDS, warmup_rounds=1)


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("way", ["np.take", "tensorwrapper"])
def test_shuffled_positions(benchmark, way, mode):
    benchmark.group = f"positions of mode {mode} in another order"
    positions = np.random.default_rng(3).permutation(BOX.shape.extents[mode])
    old, new = np.ones((8192, 4096)), np.zeros((8192, 4096))
    if way == "np.take":
        benchmark.pedantic(
            lambda: np.take(old, positions, axis=mode, out=new, mode="clip"), rounds=ROUNDS, warmup_rounds=1
        )
        return
    move(benchmark, way, BOX.gather(mode, positions), BOX, old.reshape(-1), new.reshape(-1))


ROWS = Shape.jagged(np.random.default_rng(3).integers(0, 16, 10**6))


@pytest.mark.parametrize("way", ["a mask in NumPy", "tensorwrapper"])
def test_rows_apart(benchmark, way):
    benchmark.group = "10^6 rows of 0 to 15 elements, 16 apart"
    lengths, old, new = ROWS.lengths(1), np.ones(ROWS.size), np.zeros((10**6, 16))
    if way == "a mask in NumPy":
        benchmark.pedantic(lambda: masked(new, old, lengths), rounds=ROUNDS, warmup_rounds=1)
        return
    slots = Layout.from_block_offsets(ROWS, np.arange(10**6) * 16)
    move(benchmark, way, Layout(ROWS), slots, old, new.reshape(-1))


def masked(new, old, lengths):
    new[np.arange(16) < lengths[:, np.newaxis]] = old


PLANS = {
    "strided": (BOX, Layout(Shape(8192, 4096), order="F")),
    "even tiles": (BOX, Layout.tiled(Tiling.make_uniform((8192, 4096), 64))),
    "uneven tiles": (BOX, Layout.tiled(Tiling(uneven(8192, 64), uneven(4096, 64)))),
    "rows": (Layout(ROWS), Layout.padded(ROWS)),
}


@pytest.mark.parametrize("kind", PLANS)
def test_planning(benchmark, kind):
    benchmark.group = "making a copy plan"
    source, target = PLANS[kind]
    benchmark(lambda: source.copy_plan(target))
