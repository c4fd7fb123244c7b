# ruff: noqa: PLW0108 - lambdas stand in one column
"""Rows that were won: each may cost at most a twentieth more than was seen when it was."""

import itertools
import pickle
from collections import deque
from collections.abc import Iterator

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.buffer.copies._run_copy import run_copy
from tensorwrapper.buffer.copies._strided_copy import copy_strided
from tests.benchmarks.compare.measure import Row, Run, library

SLACK = 1.05
KEY = (slice(1, 3), slice(None), slice(2, 5))


def small_boxes() -> Iterator[Row]:
    """A box of rank 3, beside TensorStore."""
    ts = library("tensorstore")
    missing = None if ts else "tensorstore"
    box, same = Shape(4, 5, 6), Shape(4, 5, 6)
    layout = Layout(Shape(40, 50, 60))
    theirs: dict[str, dict[str, Run]] = {"build": {}, "equal": {}, "slice": {}, "three": {}}
    if ts:
        domain, other = ts.IndexDomain(shape=[4, 5, 6]), ts.IndexDomain(shape=[4, 5, 6])
        key, transform = ts.d[:][KEY], ts.IndexTransform(input_shape=(40, 50, 60))
        theirs = {
            "build": {"TensorStore": lambda: ts.IndexDomain(shape=[4, 5, 6])},
            "equal": {"TensorStore": lambda: domain == other},
            "slice": {"TensorStore": lambda: domain[key]},
            "three": {"TensorStore": lambda: transform[1:30, :, 2:50][:, 2:20, 5][1:30:2]},
        }
    for name, work, ours, ratio in (
        ("build", "a small box is built", lambda: Shape(4, 5, 6), 0.64),
        ("equal", "two are equal", lambda: box == same, 0.88),
        ("slice", "a box is sliced", lambda: box[KEY], 0.96),
        ("three", "three slices of a layout", lambda: layout[1:30, :, 2:50][:, 2:20, 3][::2], 0.56),
    ):
        yield Row("G1", work, ours, theirs[name], times=max(ratio * SLACK, 1.0), missing=missing)


def jagged_shapes() -> Iterator[Row]:
    """Three rows, beside an array of Awkward, which has no shapes."""
    ak = library("awkward")
    missing = None if ak else "awkward"
    ours, same, text = Shape.jagged([3, 1, 2]), Shape.jagged([3, 1, 2]), pickle.dumps(Shape.jagged([3, 1, 2]))
    theirs: list[dict[str, Run]] = [{}, {}, {}, {}]
    if ak:
        flat = np.arange(6)
        one, two = ak.unflatten(flat, [3, 1, 2]), ak.unflatten(flat, [3, 1, 2])
        packed = pickle.dumps(one)
        theirs = [
            {"Awkward": lambda: ak.unflatten(flat, [3, 1, 2])},
            {"Awkward": lambda: one[2]},
            {"Awkward": lambda: ak.array_equal(one, two)},
            {"Awkward": lambda: pickle.loads(packed)},
        ]
    yield Row(
        "G2",
        "a jagged shape is built",
        lambda: Shape.jagged([3, 1, 2]),
        theirs[0],
        times=0.06,
        missing=missing,
    )
    yield Row("G2", "one row of it", lambda: ours[2], theirs[1], times=0.1, missing=missing)
    yield Row("G2", "two are equal", lambda: ours == same, theirs[2], times=0.06, missing=missing)
    yield Row("G2", "it is unpickled", lambda: pickle.loads(text), theirs[3], times=0.1, missing=missing)


def refused() -> Iterator[Row]:
    """Rows that do not fit are refused before anything is computed."""
    ak = library("awkward")
    counts = np.arange(10**6) % 7
    flat = np.ones(int(counts.sum()))
    one, two = tw.as_tensor(flat).unflatten(counts), tw.as_tensor(flat).unflatten(counts[::-1].copy())

    def ours() -> None:
        try:
            one + two
        except tw.errors.ExtentMismatchError:
            return
        raise AssertionError

    peers: dict[str, Run] = {}
    if ak:
        first, second = ak.unflatten(flat, counts), ak.unflatten(flat, counts[::-1].copy())

        def theirs() -> None:
            try:
                first + second
            except ValueError:
                return
            raise AssertionError

        peers = {"Awkward": theirs}
    yield Row(
        "G3",
        "a broadcast that is refused, 10^6 rows",
        ours,
        peers,
        times=0.01,
        limit=(
            "the two shapes of the message, compared once",
            lambda: (repr(one.shape), repr(two.shape), one.shape == two.shape),
        ),
        missing=None if ak else "awkward",
    )


def indices() -> Iterator[Row]:
    """Loops, and places in bulk."""
    box = Shape(100, 100, 100)
    yield Row(
        "G4",
        "a loop over 10^6 indices",
        lambda: deque(box.indices(), maxlen=0),
        {"itertools.product": lambda: deque(itertools.product(range(100), range(100), range(100)), maxlen=0)},
        times=1.02 * SLACK,
    )
    extents = (100, 100, 1000)
    layout, offsets = Layout(Shape(*extents)), np.random.default_rng(0).permutation(10**7)
    out = np.zeros(extents, np.int64)
    yield Row(
        "G5",
        "offsets of 10^7 elements",
        lambda: layout.to_numpy(out=out),
        {"np.arange": lambda: np.copyto(out.reshape(-1), np.arange(10**7))},
        times=0.5 * SLACK,
    )
    yield Row(
        "G5",
        "indices of 10^7 offsets",
        lambda: layout.indices_at(offsets),
        {"np.unravel_index": lambda: np.stack(np.unravel_index(offsets, extents), axis=-1)},
        times=0.68 * SLACK,
    )


def copies() -> Iterator[Row]:
    """Copies of 256 MiB, transposed and by tiles."""
    source, target = np.ones((8192, 4096)).T, np.zeros((4096, 8192))
    yield Row(
        "G6",
        "a transposed copy, 256 MiB",
        lambda: copy_strided(target, source, threads=1),
        {"np.copyto": lambda: np.copyto(target, source)},
        times=0.44 * SLACK,
    )
    box, tiles = np.ones(8192 * 4096), np.zeros(8192 * 4096)
    plan = Layout(Shape(8192, 4096)).copy_plan(Layout.tiled(Tiling.make_uniform((8192, 4096), 8)))
    there = box.reshape(1024, 8, 512, 8).transpose(0, 2, 1, 3)
    goal = tiles.reshape(there.shape)
    yield Row(
        "G7",
        "to tiles of 8 x 8, 256 MiB",
        lambda: run_copy(plan, box, tiles, threads=1),
        {"np.copyto": lambda: np.copyto(goal, there)},
        times=1.0 * SLACK,
    )
    view, half = sel.as_view(tw.as_tensor(source.base))[::-1, ::2], np.empty((8192, 2048))
    yield Row(
        "G10",
        "an affine view is copied, 128 MiB",
        lambda: view.compute(out=half),
        {"np.copyto": lambda: np.copyto(half, source.base[::-1, ::2])},
        times=1.06 * SLACK,
    )


def rows() -> Iterator[Row]:
    """One row, and lists."""
    ak = library("awkward")
    counts = np.arange(10**5) % 7
    flat = np.arange(int(counts.sum()))
    ours, small = tw.as_tensor(flat).unflatten(counts), tw.jagged([[1, 2, 3], [4], [5, 6]])
    theirs = ak.unflatten(flat, counts) if ak else None
    few = ak.Array([[1, 2, 3], [4], [5, 6]]) if ak else None
    missing = None if ak else "awkward"
    one: dict[str, Run] = {"Awkward": lambda: few[2]} if ak else {}
    lists: dict[str, Run] = {"Awkward": lambda: theirs.to_list()} if ak else {}
    yield Row("G8", "one row, t[2]", lambda: small[2], one, times=0.06 * SLACK, missing=missing)
    splits = np.concatenate([[0], np.cumsum(counts)])

    def sliced() -> object:
        numbers = flat.tolist()
        return [numbers[a:b] for a, b in itertools.pairwise(splits.tolist())]

    yield Row(
        "G9",
        "tolist of 10^5 rows",
        lambda: ours.tolist(),
        lists,
        times=0.5 * SLACK,
        limit=("a slice of a list for each row", sliced),
        missing=missing,
    )


ROWS = {
    "G1": small_boxes,
    "G2": jagged_shapes,
    "G3": refused,
    "G4, G5": indices,
    "G6, G7, G10": copies,
    "G8, G9": rows,
}
