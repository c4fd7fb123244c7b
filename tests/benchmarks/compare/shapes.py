"""Questions to shapes, and plans of tiles."""

import json
from collections.abc import Iterator

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.shape import permute_cells
from tensorwrapper.shape.tilings._retile import Overlaps
from tests.benchmarks.compare.measure import Row, Run, library


def questions() -> Iterator[Row]:
    """One index, one text, one product."""
    j = Shape.jagged([3, 1, 2])
    column = 0
    splits, lengths, text = np.array([0, 3, 4, 6]), [3, 1, 2], j.to_json()
    left, right = Shape.jagged([10, 20]), Shape.jagged([10, 20])

    def by_hand() -> object:
        known: dict[str, object] = {}
        for shape, labels in ((left, "i,j"), (right, "i,k")):
            for label in labels.split(","):
                known.setdefault(label, shape)
        return tuple(known[label] for label in ["i", "j", "k"])

    yield Row(
        "P19",
        "j.ordinal((2, 0))",
        lambda: j.ordinal((2, 0)),
        {"by hand": lambda: int(splits[2]) + 0},
        aim=2e-6,
    )
    yield Row(
        "P19", "(2, 0) in j", lambda: (2, 0) in j, {"by hand": lambda: -1 < column < lengths[2]}, aim=2.2e-6
    )
    yield Row(
        "P19",
        "Shape.from_json",
        lambda: Shape.from_json(text),
        {"json.loads": lambda: json.loads(text)},
        aim=22e-6,
    )
    yield Row(
        "P19",
        "product of jagged labels",
        lambda: (left("i,j") * right("i,k")).shape("i,j,k"),
        {"by hand": by_hand},
        aim=127e-6,
    )
    rows = [[1] * (n % 7) for n in range(10_000)]
    yield Row(
        "P19",
        "lists to a shape, a row",
        lambda: tw.jagged(rows),
        {"lengths alone": lambda: np.cumsum(np.fromiter(map(len, rows), np.int64))},
        aim=0.9e-6,
        shares=10_000,
    )
    sizes = np.arange(10**5) % 4
    cells = Shape.from_cells((10**5,), np.stack([sizes, sizes], axis=1))
    extents = np.stack([sizes, sizes + 1], axis=1)

    def transposed() -> object:
        volumes = extents.prod(axis=1)
        cell = np.repeat(np.arange(len(extents)), volumes)
        starts = np.cumsum(volumes) - volumes
        place = np.arange(len(cell)) - starts[cell]
        column, row = np.divmod(place, extents[cell, 0])
        return starts[cell] + row * extents[cell, 1] + column

    yield Row(
        "P19",
        "align 10^5 cells, one transposed",
        lambda: tw.align(cells, cells, orders=[None, (0, 2, 1)]),
        {"by hand": transposed},
        aim=27e-3,
        times=0.96,
    )
    yield Row(
        "P19",
        "cells permuted, 10^5",
        lambda: permute_cells(Shape.from_cells((10**5,), extents)),
        {"by hand": transposed},
        aim=11.5e-3,
        times=2.4,
    )


def plans() -> Iterator[Row]:
    """Pieces of retiling, and cuts that meet."""
    da = library("dask.array.rechunk")
    rng = np.random.default_rng(0)
    one, two = (Tiling(rng.integers(1, 20, 316), rng.integers(1, 20, 316)) for _ in range(2))
    n = [min(int(one.elements.extents[k]), int(two.elements.extents[k])) for k in range(2)]
    one, two = (Tiling(*[_cut(t, k, n[k]) for k in range(2)]) for t in (one, two))
    peers: dict[str, Run] = {}
    if da:
        old, new = (tuple(tuple(np.diff(_marks(t, k)).tolist()) for k in range(2)) for t in (one, two))
        peers = {"Dask's plan": lambda: [*da.intersect_chunks(old, new)]}

    def pieces() -> object:
        return one.retile_plan(two).pieces()

    yield Row(
        "P26",
        "retile plan of 316^2 tiles, all pieces",
        pieces,
        peers,
        aim=10e-3,
        missing=None if da else "dask",
    )
    a, b = (np.sort(rng.choice(np.arange(1, 10**6), 10**5, replace=False)) for _ in range(2))
    first, second = (Tiling(np.diff(np.concatenate([[0], cuts, [10**6]]))) for cuts in (a, b))

    def merged() -> object:
        both = np.concatenate([a, b])
        both.sort(kind="stable")
        return both[np.concatenate([[True], both[1:] != both[:-1]])]

    yield Row(
        "P26",
        "intersect of 10^5 cuts with maps",
        lambda: _with_maps(first, second),
        {"a merge by NumPy": merged},
        aim=7e-3,
        times=1.25,
    )


def _marks(tiling: Tiling, mode: int) -> np.ndarray:
    return np.asarray(tiling.partitions[mode].marks)


def _cut(tiling: Tiling, mode: int, extent: int) -> np.ndarray:
    marks = _marks(tiling, mode)
    return np.diff(np.append(marks[marks < extent], extent))


def _with_maps(first: Tiling, second: Tiling) -> object:
    return Overlaps(first.partitions[0], second.partitions[0])


ROWS = {"P19": questions, "P26": plans}
