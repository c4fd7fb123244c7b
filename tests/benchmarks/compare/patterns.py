"""Block patterns: sets of tiles, lookups, and which tiles a symmetry allows."""

from collections.abc import Iterator

import numpy as np

from tensorwrapper import BlockPattern, Tiling
from tests.benchmarks.compare.measure import Row


def _cut(*counts: int) -> Tiling:
    return Tiling(*[np.ones(count, dtype=np.int64) for count in counts])


def _some(rng: np.random.Generator, tiling: Tiling, count: int) -> BlockPattern:
    size = tiling.grid.size
    found = np.zeros(0, dtype=np.int64)
    while len(found) < count:
        found = np.unique(np.append(found, rng.integers(0, size, count)))
    return BlockPattern.from_ordinals(tiling, np.sort(rng.permutation(found)[:count]))


def sets() -> Iterator[Row]:
    """Measure unions, permutations, and lookups with and without a bitmap."""
    rng = np.random.default_rng(0)
    p, q = (_some(rng, _cut(200, 200), 10**4) for _ in range(2))
    yield Row(
        "BP",
        "union of two patterns of 10^4",
        lambda: p | q,
        {"np.union1d": lambda: np.union1d(p.ordinals(), q.ordinals())},
        times=0.2,
    )
    yield Row(
        "BP",
        "what both have",
        lambda: p & q,
        {"np.intersect1d": lambda: np.intersect1d(p.ordinals(), q.ordinals(), assume_unique=True)},
        times=1.0,
    )
    for side, times in ((1000, 2.0), (30_000, 5.0)):
        large = _some(rng, _cut(side, side), 10**5)
        tiles = rng.integers(0, side, (1000, 2))
        numbers = (tiles @ np.array([side, 1])).tolist()
        present = set(large.ordinals().tolist())
        yield Row(
            "BP",
            f"1000 lookups in 10^5 of {side}^2",
            lambda large=large, tiles=tiles: large.slots(tiles),
            {
                "a set of ints": lambda present=present, numbers=numbers: [
                    number in present for number in numbers
                ]
            },
            times=times,
        )
    cube = _some(rng, _cut(20, 20, 20, 20), 10**4)

    def by_numpy() -> object:
        i, j, k, m = np.unravel_index(cube.ordinals(), cube.grid.extents)
        return np.sort(np.ravel_multi_index((k, i, m, j), cube.grid.extents))

    yield Row("BP", "10^4 tiles permuted", lambda: cube.permute(2, 0, 3, 1), {"NumPy": by_numpy}, aim=3e-3)


def allowed() -> Iterator[Row]:
    """The tiles that a charge allows, and the same elements cut otherwise."""
    side = 40
    cut = _cut(side, side, side, side)
    charges = np.arange(side)

    def by_mask() -> object:
        sums = charges[:, None, None, None] + charges[:, None, None] - charges[:, None] - charges
        return np.flatnonzero(sums == 0)

    yield Row(
        "BP",
        "charges of 40^4 tiles",
        lambda: BlockPattern.from_charges(cut, [charges] * 4, (1, 1, -1, -1)),
        {"a mask over all tiles": by_mask},
        times=0.5,
    )
    p = _some(np.random.default_rng(0), Tiling(np.full(200, 8), np.full(200, 8)), 10**4)
    fine, coarse = Tiling(np.full(400, 4), np.full(400, 4)), Tiling(np.full(100, 16), np.full(100, 16))
    mask = p.mask()
    yield Row(
        "BP",
        "10^4 tiles cut into quarters",
        lambda: p.retile(fine),
        {"a mask over all tiles": lambda: np.flatnonzero(mask.repeat(2, 0).repeat(2, 1))},
        aim=2e-3,
    )
    yield Row(
        "BP",
        "10^4 tiles joined by four",
        lambda: p.retile(coarse),
        {"a mask over all tiles": lambda: np.flatnonzero(mask.reshape(100, 2, 100, 2).any((1, 3)))},
        aim=1e-3,
    )


ROWS = {"BP": lambda: [*sets(), *allowed()]}
