"""Tensors in blocks: sums, norms, screening and contributions, beside loops over tiles and SciPy."""

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tests.benchmarks.compare.measure import Row, library

_F = npt.NDArray[np.float64]


def _some(rng: np.random.Generator, tiling: Tiling, count: int) -> tw.Tensor[np.float64]:
    ordinals = np.sort(rng.choice(tiling.grid.size, count, replace=False))
    pattern = BlockPattern.from_ordinals(tiling, ordinals)
    return tw.from_buffer(rng.standard_normal(pattern.elements), pattern)


def _tiles(tensor: tw.Tensor[np.float64]) -> dict[int, _F]:
    """Return the tiles of a tensor as a dictionary, for the loops over tiles."""
    flat, ends = tensor.packed_values(), tensor.pattern.offsets().tolist()
    numbers = tensor.pattern.ordinals().tolist()
    return {number: flat[a:b] for number, a, b in zip(numbers, ends, ends[1:], strict=False)}


def _sum_of_tiles(one: tw.Tensor[np.float64], other: tw.Tensor[np.float64]) -> Callable[[], object]:
    def run() -> object:
        found = {number: tile.copy() for number, tile in _tiles(one).items()}
        for number, tile in _tiles(other).items():
            found[number] = found[number] + tile if number in found else tile.copy()
        return found

    return run


def _bsr(tensor: tw.Tensor[np.float64], side: int, count: int) -> Any:
    module: Any = importlib.import_module("scipy.sparse")
    tiles = tensor.pattern.tiles()
    rows = np.searchsorted(tiles[:, 0], np.arange(count + 1))
    values = tensor.packed_values().reshape(-1, side, side)
    return module.bsr_array((values, tiles[:, 1], rows), shape=(side * count, side * count))


def sums() -> Iterator[Row]:
    """Two tensors of 10^4 tiles, which have half of them in common: tiles of one size, and of three."""
    rng = np.random.default_rng(1)
    count = 200
    even = Tiling(np.full(count, 8), np.full(count, 8))
    a, b = (_some(rng, even, 10**4) for _ in range(2))
    one, other = _bsr(a, 8, count), _bsr(b, 8, count)
    yield Row(
        "BS",
        "sum of 10^4 + 10^4 tiles of 8 x 8",
        lambda: a + b,
        {"a loop over tiles": _sum_of_tiles(a, b)},
        times=0.25,
    )
    yield Row("BS", "the same beside SciPy", lambda: a + b, {"SciPy BSR": lambda: one + other}, times=6.0)
    x, y = (np.asarray(own.untiled().to_dense()) for own in (a, b))
    peers: dict[str, Callable[[], object]] = {"dense": lambda: x + y}
    pydata = library("sparse")
    if pydata is not None:
        left, right = pydata.COO.from_numpy(x), pydata.COO.from_numpy(y)
        peers["pydata COO"] = lambda: left + right
    yield Row("BS", "the same beside dense and pydata", lambda: a + b, peers)
    yield Row("BS", "one of them permuted", lambda: a.untiled().permute(1, 0), {"a copy of it": x.T.copy})
    sizes = rng.choice([1, 3, 5], count, p=[0.4, 0.4, 0.2])
    uneven = Tiling(sizes, sizes)
    c, d = (_some(rng, uneven, 10**4) for _ in range(2))
    yield Row(
        "BS",
        "sum of tiles of 1, 3 and 5",
        lambda: c + d,
        {"a loop over tiles": _sum_of_tiles(c, d)},
        times=0.125,
    )
    tiles = list(_tiles(c).values())
    yield Row(
        "BS",
        "norms of 10^4 tiles",
        c.tile_norms,
        {"a loop over tiles": lambda: [np.linalg.norm(tile) for tile in tiles]},
        times=0.04,
    )
    half = float(np.median([np.linalg.norm(tile) for tile in tiles]))
    norms = [float(np.linalg.norm(tile)) for tile in tiles]

    def screened() -> object:
        return np.concatenate([tile for tile, norm in zip(tiles, norms, strict=True) if norm >= half])

    yield Row(
        "BS", "half of them screened", lambda: c.screened(half), {"a loop with norms": screened}, times=1.0
    )


def contributions() -> Iterator[Row]:
    """10^4 blocks of 8 x 8 added into 2000 tiles."""
    rng = np.random.default_rng(2)
    tiling = Tiling(np.full(50, 8), np.full(50, 8))
    target = _some(rng, tiling, 2000)
    numbers = target.pattern.tiles()[rng.integers(0, 2000, 10**4)]
    blocks = rng.standard_normal((10**4, 8, 8))
    pairs = list(zip(map(tuple, numbers.tolist()), blocks, strict=True))
    slots = target.pattern.slots(numbers)
    places = (slots[:, None] * 64 + np.arange(64)).reshape(-1)
    flat = np.zeros(2000 * 64)

    def by_numpy() -> None:
        np.add.at(flat, places, blocks.reshape(-1))

    yield Row(
        "BS",
        "10^4 blocks added to 2000 tiles",
        lambda: target.add_tiles(pairs),
        {"np.add.at": by_numpy},
        times=1.0,
    )
    tiles = {number: np.zeros((8, 8)) for number in target.pattern}

    def by_loop() -> None:
        for number, block in pairs:
            tiles[number] += block

    yield Row(
        "BS", "the same beside a loop", lambda: target.add_tiles(pairs), {"a loop over blocks": by_loop}
    )


ROWS = {"BS": lambda: [*sums(), *contributions()]}
