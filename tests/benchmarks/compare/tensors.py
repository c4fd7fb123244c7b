# ruff: noqa: PLW0108 - lambdas stand in one column
"""One tensor: assignment, small copies, tiles, keys, access to memory, text."""

from collections import deque
from collections.abc import Iterator

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Tiling
from tensorwrapper.buffer.copies._strided_copy import copy_strided
from tests.benchmarks.compare.measure import Bare, Row, Run, library


def assignment() -> Iterator[Row]:
    """A permuted tensor is written to another."""
    target, source = np.zeros((4096, 4096)), np.ones((4096, 4096))
    t, u = tw.as_tensor(target), tw.as_tensor(source).permute((1, 0))

    def item() -> None:
        t[...] = u

    plan: dict[str, Run] = {"the copy itself": lambda: copy_strided(target, source.T)}
    yield Row("P1", "t.assign(u), u permuted, 4096^2", lambda: t.assign(u), plan, times=1.1)
    yield Row("P1", "t[...] = u", item, plan, times=1.1)


def rotated() -> Iterator[Row]:
    """A small tensor that wraps is copied."""
    array = np.arange(24.0).reshape(2, 3, 4)
    turned = tw.as_tensor(array).rotate((0, 1, 2))
    yield Row(
        "P6",
        "copy of a rotated tensor of 24",
        lambda: turned.copy(),
        {"np.roll": lambda: np.roll(array, (0, 1, 2), (0, 1, 2))},
        aim=25e-6,
        times=5.7,
    )


def tiles() -> Iterator[Row]:
    """One tile."""
    array = np.arange(900.0).reshape(30, 30)
    t = tw.as_tensor(array).tiled(Tiling([5, 15, 10], [5, 15, 10]))
    many = tw.as_tensor(np.ones((1000, 1000))).tiled(Tiling([10] * 100, [10] * 100))
    peer: dict[str, Run] = {"a slice": lambda: array[5:20, 20:30]}
    yield Row("P7", "t.tile((1, 2))", lambda: t.tile((1, 2)), peer, aim=4e-6)
    yield Row("P7", "t[1, 2] of a tiled tensor", lambda: t[1, 2], peer, aim=4e-6)
    yield Row(
        "P7", "a cell of cells(), of 10^4", lambda: deque(many.cells(), maxlen=0), {}, aim=1e-6, shares=10**4
    )


def keys() -> Iterator[Row]:
    """Lists of positions as keys."""
    ts = library("tensorstore")
    array = np.arange(24.0).reshape(2, 3, 4)
    t, rows, columns = tw.as_tensor(array), [1, 0], [2, 0]
    a, b = np.array(rows), np.array(columns)
    theirs = ts.array(array) if ts else None
    peers: list[dict[str, Run]] = [{}, {}, {}, {}]
    if ts:
        peers = [
            {"TensorStore": lambda: theirs.oindex[rows, columns]},
            {"TensorStore": lambda: theirs.oindex[a, b]},
            {"TensorStore": lambda: theirs.vindex[rows, columns]},
            {"TensorStore": lambda: theirs.oindex[:, columns]},
        ]
    missing = None if ts else "tensorstore"
    limit = ("two np.asarray and their bounds", lambda: _checked(rows, columns))
    bounds = ("their bounds by NumPy", lambda: _checked(a, b))
    bare = Bare(array)
    points = ("NumPy's, in brackets that make four objects", lambda: bare.points[rows, columns])
    yield Row(
        "P9",
        "t.oindex[[1, 0], [2, 0]]",
        lambda: t.oindex[rows, columns],
        peers[0],
        times=1,
        limit=limit,
        missing=missing,
    )
    yield Row(
        "P9",
        "t.oindex[a, b], two arrays",
        lambda: t.oindex[a, b],
        peers[1],
        times=1,
        limit=bounds,
        missing=missing,
    )
    yield Row(
        "P9",
        "t.vindex[[1, 0], [2, 0]]",
        lambda: t.vindex[rows, columns],
        peers[2],
        times=1,
        limit=points,
        missing=missing,
    )
    yield Row("P9", "t.gather(1, [2, 0])", lambda: t.gather(1, columns), peers[3], times=1, missing=missing)


def _checked(*lists: list[int]) -> list[tuple[int, int]]:
    arrays = [np.asarray(positions) for positions in lists]
    return [(int(array.min()), int(array.max())) for array in arrays]


def access() -> Iterator[Row]:
    """The memory of a tensor, and one element of it."""
    array = np.arange(60.0).reshape(3, 4, 5)
    t = tw.as_tensor(array)

    def write() -> None:
        t[1, 2, 3] = 1.5

    def write_array() -> None:
        array[1, 2, 3] = 1.5

    class Has:
        def __array__(self, dtype: object = None, *, copy: object = None) -> object:
            return array

    has = Has()
    yield Row(
        "P10",
        "np.asarray(t)",
        lambda: np.asarray(t),
        {"NumPy": lambda: np.asarray(array)},
        aim=1e-6,
        limit=("__array__ that returns an array", lambda: np.asarray(has)),
    )
    yield Row("P10", "t[1, 2, 3] = v", write, {"NumPy": write_array}, aim=1.5e-6)


def text() -> Iterator[Row]:
    """What a prompt shows."""
    small, large = np.arange(12.0).reshape(3, 4), np.ones((2000, 2000))
    ours, ours_large = tw.as_tensor(small), tw.as_tensor(large)
    yield Row(
        "P24", "repr of 3 x 4", lambda: repr(ours), {"NumPy": lambda: repr(small)}, aim=60e-6, times=0.7
    )
    yield Row(
        "P24",
        "repr of 2000 x 2000",
        lambda: repr(ours_large),
        {"NumPy": lambda: repr(large)},
        aim=2e-4,
        times=2,
    )


ROWS = {"P1": assignment, "P6": rotated, "P7": tiles, "P9": keys, "P10": access, "P24": text}
