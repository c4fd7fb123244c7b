# ruff: noqa: PLW0108 - lambdas stand in one column
"""Work just beside fast ways: each row lies on one side of a condition, and its neighbour on the other."""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.benchmarks.compare.measure import Row, Run, library

SIDE = 4000
LETTERS = 200_000


def points() -> Iterator[Row]:
    """Few points of arrays in files: none is read beside the chunks that have one."""
    rng = np.random.default_rng(0)
    array = rng.random((SIDE, SIDE))
    i, j = rng.integers(0, SIDE, (2, 100))
    mask = np.zeros(array.shape, bool)
    mask[i, j] = True
    every = np.arange(SIDE)
    with tempfile.TemporaryDirectory() as folder:
        sources: list[tuple[str, Any, Callable[..., object]]] = []
        zarr, h5py, dask = library("zarr"), library("h5py"), library("dask.array")
        if zarr is not None:
            stored = zarr.create_array(f"{folder}/z", shape=array.shape, chunks=(500, 500), dtype=array.dtype)
            stored[...] = array
            sources.append(("zarr", stored, lambda *at, own=stored: own.vindex[at]))
        if h5py is not None:
            file = h5py.File(f"{folder}/a.h5", "w")
            data = file.create_dataset("x", data=array, chunks=(500, 500))
            sources.append(
                ("h5py", data, lambda *at, own=data: [own[p, q] for p, q in zip(*at, strict=True)])
            )
        if dask is not None:
            lazy = dask.from_array(array, chunks=(500, 500))
            sources.append(("Dask", lazy, lambda *at, own=lazy: own.vindex[at].compute()))
        for name, source, peer in sources:
            view = sel.as_view(source)
            yield Row(
                "Q1",
                f"100 points of an array of {name}",
                lambda view=view: view[i, j].compute(),
                {name: partial(peer, i, j)},
                times=1.2,
            )
            yield Row(
                "Q1",
                f"a mask of 100 points of an array of {name}",
                lambda view=view: view[mask].compute(),
                # Both begin with the mask.
                {name: lambda peer=peer: peer(*np.nonzero(mask))},
                times=1.2,
            )
            yield Row(
                "Q1",
                f"the diagonal of an array of {name}",
                lambda view=view: view.diagonal().compute(),
                {name: partial(peer, every, every)},
                times=1.2,
            )


def tiles() -> Iterator[Row]:
    """Uneven tiles of a box, and the same tiles one after the other."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 30, (2, 60)).tolist()
    marks = [np.r_[0, np.cumsum(own)] for own in sizes]
    array = rng.random([sum(own) for own in sizes])
    cut = [own[:-1] for own in marks]
    parts = [
        array[marks[0][i] : marks[0][i + 1], marks[1][j] : marks[1][j + 1]]
        for i in range(60)
        for j in range(60)
    ]

    def sums(of: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        return np.add.reduceat(np.add.reduceat(of, cut[0], 0), cut[1], 1)

    box = tw.as_tensor(array).tiled(tw.Tiling(*sizes))
    for where, t in (("tiles of a box", box), ("tiles in a line", box.copy())):
        for function, peer in (
            (np.mean, lambda: sums(array)),
            (np.linalg.norm, lambda: np.sqrt(sums(array * array))),
            (np.std, lambda: (sums(array), np.sqrt(sums(array * array)))),
        ):
            name = function.__name__
            run = partial(t.reduce_tiles, function)
            yield Row("Q4", f"{name} of 3600 {where}", run, {"add.reduceat": peer}, times=1.5)
        yield Row(
            "Q4",
            f"median of 3600 {where}",
            lambda t=t: t.reduce_tiles(np.median),
            {"a loop": lambda: [np.median(part) for part in parts]},
            times=0.5,
            limit=(
                "576 calls of np.median",
                lambda: [np.median(own, axis=(1, 2)) for own in _grouped(parts)],
            ),
        )
    yield Row(
        "Q4",
        "np.add.reduce of the modes of 3600 tiles",
        lambda: np.add.reduce(box, axis=(2, 3)),
        {"reduce_tiles": lambda: box.reduce_tiles(np.add)},
        times=1.5,
    )


def _grouped(parts: "list[np.ndarray[Any, Any]]") -> "list[np.ndarray[Any, Any]]":
    alike: dict[tuple[int, ...], list[np.ndarray[Any, Any]]] = {}
    for part in parts:
        alike.setdefault(part.shape, []).append(part)
    return [np.stack(own) for own in alike.values()]


def texts() -> Iterator[Row]:
    """Strings with a common prefix, of one length and of many, against one and against others."""
    pa = library("pyarrow")
    if pa is None:
        return
    pc = library("pyarrow.compute")
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 10**6, LETTERS)
    prefixed = [f"common/prefix/{n:08d}" for n in numbers]
    mixed = ["x" * (int(n) % 30) + str(n) for n in numbers]
    for name, words in (("of one length and a prefix", prefixed), ("of many lengths", mixed)):
        others = list(words)
        for place in rng.integers(0, LETTERS, 1000).tolist():
            others[place] = "common/prefix/x"
        few = list(words)
        few[77] = "q"
        t, u, v = tw.strings(words), tw.strings(others), tw.strings(few)
        a, b, c = pa.array(words), pa.array(others), pa.array(few)
        one = words[5]
        rows: list[tuple[str, Run, Run]] = [
            ("== one", lambda t=t, one=one: t == one, lambda a=a, one=one: pc.equal(a, one)),
            ("== others, one differs", lambda t=t, v=v: t == v, lambda a=a, c=c: pc.equal(a, c)),
            ("== others, 1000 differ", lambda t=t, u=u: t == u, lambda a=a, b=b: pc.equal(a, b)),
            ("< others", lambda t=t, u=u: t < u, lambda a=a, b=b: pc.less(a, b)),
            ("< one", lambda t=t, one=one: t < one, lambda a=a, one=one: pc.less(a, one)),
        ]
        for work, ours, peer in rows:
            yield Row("Q5", f"{LETTERS} strings {name} {work}", ours, {"pyarrow": peer}, times=4)


def columns() -> Iterator[Row]:
    """A flat column of Parquet: whole, a slice, and every tenth row."""
    pa, pq = library("pyarrow"), library("pyarrow.parquet")
    if pa is None or pq is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        pq.write_table(pa.table({"x": np.random.default_rng(0).random(2 * 10**6)}), path)
        file = pq.ParquetFile(path)

        def peer(key: slice) -> object:
            return file.read(columns=["x"])["x"].to_numpy()[key]

        def least(key: slice) -> object:
            """Read the column and copy it once, without asking how large its pages become."""
            return file.read(columns=["x"])["x"].to_numpy()[key].copy()

        with tw.open(path) as opened:
            column = opened["x"]
            for name, key in (
                ("whole", slice(None)),
                ("1000 rows", slice(5000, 6000)),
                ("every tenth row", slice(None, None, 10)),
            ):
                yield Row(
                    "Q6",
                    f"a column of 2 000 000 numbers in Parquet, {name}",
                    lambda key=key: column[key].compute(),
                    {"pyarrow": partial(peer, key)},
                    times=1.2,
                    limit=("read and copied once", partial(least, key)),
                )


def rows_of_shards() -> Iterator[Row]:
    """Rows from anywhere of many shards: narrow and wide ones, few and many."""
    rng = np.random.default_rng(0)
    for extents in ((16,), (4, 4), (40, 100), (4, 1000)):
        parts = [rng.random(extents) for _ in range(300)]
        view = sel.concat([tw.as_tensor(own) for own in parts])
        for count in (10, 1024):
            rows = rng.integers(0, 300 * extents[0], count)
            peers: dict[str, Run] = {
                "concatenate and take": lambda parts=parts, rows=rows: np.concatenate(parts)[rows]
            }
            work = f"{count} rows of 300 shards {extents}"
            yield Row("Q2", work, lambda view=view, rows=rows: view[rows].compute(), peers, times=3)


def small_parts() -> Iterator[Row]:
    """Operators on a row and a tile, at the start of memory and behind it."""
    rng = np.random.default_rng(0)
    rows = tw.jagged([rng.random(10) for _ in range(1000)])
    grid = tw.as_tensor(rng.random((64, 64))).tiled(tw.Tiling([16] * 4, [16] * 4))
    pieces = [
        ("row 0", rows[0]),
        ("row 500", rows[500]),
        ("tile 0, 0", grid[0, 0]),
        ("tile 2, 1", grid[2, 1]),
    ]
    for name, part in pieces:
        array = np.asarray(part)
        peers: dict[str, Run] = {"NumPy": lambda array=array: array * 2}
        yield Row("Q7", f"{name} * 2", lambda part=part: part * 2, peers, times=10)
        both: dict[str, Run] = {"NumPy": lambda array=array: array + array}
        yield Row("Q7", f"{name} + itself", lambda part=part: part + part, both, times=10)
    box, array = tw.as_tensor(rng.random((16, 16))), rng.random((16, 16))
    turned = np.asfortranarray(array)
    for name, beside in (("an array", array), ("an array in another order", turned)):
        alone = np.asarray(box)
        peers = {"NumPy": lambda alone=alone, beside=beside: alone + beside}
        yield Row("Q7", f"a box + {name}", lambda beside=beside: box + beside, peers, times=10)


def rows_of_numbers() -> Iterator[Row]:
    """Rows padded, masked and made of lists; floats that become narrower."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 40, 50_000)
    t = tw.from_buffer(rng.random(int(lengths.sum())), tw.Shape.jagged(lengths.tolist()))
    flat, marks = t.elements(), t > 0.5
    marked = marks.elements()

    def padded() -> object:
        made = np.zeros((len(lengths), int(lengths.max())))
        made[np.arange(made.shape[1]) < lengths[:, None]] = flat
        return made

    def ours() -> None:
        t[marks] = 0

    def theirs() -> None:
        flat[marked] = 0

    yield Row("Q11", "to_padded of 50 000 rows", lambda: t.to_padded(), {"a mask": padded}, times=1.2)
    yield Row("Q14", "t[mask] = 0 of 50 000 rows", ours, {"NumPy": theirs}, times=1.5)
    wide = rng.random(10**6)
    tensor = tw.as_tensor(wide)
    yield Row(
        "Q12",
        "astype('f4') of 10^6 numbers, checked",
        lambda: tensor.astype("f4"),
        {"NumPy": lambda: wide.astype("f4")},
        times=1.1,
    )
    pa = library("pyarrow")
    if pa is not None:
        floats = [rng.random(n).tolist() for n in rng.integers(0, 20, 20_000).tolist()]
        integers = [[int(99 * number) for number in row] for row in floats]
        mixed = [[0, *row] for row in floats]
        for name, lists in (("lists", floats), ("lists of integers", integers), ("lists of both", mixed)):
            peers: dict[str, Run] = {"pyarrow": partial(pa.array, lists)}
            yield Row("Q13", f"jagged of 20 000 {name}", partial(tw.jagged, lists), peers, times=0.9)


ROWS = {
    "Q1": points,
    "Q2": rows_of_shards,
    "Q4": tiles,
    "Q5": texts,
    "Q6": columns,
    "Q7": small_parts,
    "Q11, Q12, Q13, Q14": rows_of_numbers,
}
