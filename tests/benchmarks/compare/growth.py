# ruff: noqa: T201 - it prints a table
"""How the time of each family grows: the exponent of a fit through sizes, up to 10^7 in memory."""

import functools
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, Tiling, wire
from tensorwrapper import selection as sel
from tests.benchmarks.compare.measure import duration

Work = Callable[[], object]
Make = Callable[[int], Work]


def _rank(n: int) -> Work:
    t = tw.as_tensor(np.ones((1,) * n))
    order, key = tuple(range(n))[::-1], (0,) * (n - 1)

    def run() -> object:
        return t.permute(order)[key].tolist()

    return run


def _tiles(n: int) -> Work:
    sizes = np.ones(n, np.int64)

    def run() -> object:
        tiling = Tiling(sizes)
        return tiling.intersect(Tiling(sizes)).grid, tiling.tiles_of(np.arange(10)[:, np.newaxis])

    return run


def _tiled(n: int) -> Work:
    side = round(n**0.5)
    t = tw.as_tensor(np.ones((side * 2, side * 2))).tiled(Tiling([2] * side, [2] * side))
    return lambda: t.reduce_tiles(np.maximum)


def _rows(n: int) -> Work:
    counts = np.arange(n) % 5
    t = tw.as_tensor(np.ones(int(counts.sum()))).unflatten(counts)
    order = np.random.default_rng(0).permutation(n)
    return lambda: (t[order], t.rows().reduce(np.add), t[:, ::-1].copy(), t.shape.lengths(1))


def _cells(n: int) -> Work:
    sizes = np.arange(n) % 4
    table = np.stack([sizes, sizes], axis=1)
    return lambda: Layout(Shape.from_cells((n,), table)).permute((0, 2, 1)).to_numpy()


def _shards(n: int) -> Work:
    parts = [np.arange(3.0) for _ in range(n)]
    return lambda: sel.concat(parts).compute()


def _shards_twice(n: int) -> Work:
    view = sel.concat([np.arange(3.0) for _ in range(n)])
    view.compute()

    def run() -> object:
        return view[::-1].compute()

    return run


def _positions(n: int, width: int = 1) -> Work:
    extents = (n // 1000, width) if width > 1 else (n // 1000,)
    view = sel.concat([np.ones(extents) for _ in range(1000)])
    places = np.random.default_rng(0).integers(0, n, n)

    def run() -> object:
        return view[places].compute()

    return run


def _json(n: int) -> Work:
    view = sel.concat([np.arange(3.0) for _ in range(n)])
    return lambda: sel.from_json(sel.to_json(view), sources=sel.sources(view))


def _message(n: int) -> Work:
    arrays = [np.arange(3.0)] * n
    limits = wire.Limits(tensors=2 * n, parts=2 * n + 9, label_bytes=2**28, label_items=20 * n + 99)
    return lambda: [*wire.decode(wire.encode(arrays, limits=limits), limits=limits).tensors]


def _records(n: int) -> Work:
    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path, x = Path(folder) / "a.tens", np.arange(4.0)
            with tw.open(path, "a") as file:
                for k in range(n):
                    file.append(str(k), x)
            with tw.open(path) as file:
                len(file)

    return run


def _opened(n: int) -> Work:
    folder = tempfile.TemporaryDirectory()
    path, x = Path(folder.name) / "a.tens", np.arange(4.0)
    with tw.open(path, "a") as file:
        for k in range(n):
            file.append(str(k), x)

    def run() -> None:
        assert folder.name  # the folder stays while this is there
        with tw.open(path, "a") as file:
            file.append(f"{time.monotonic_ns()}", x)

    return run


def _saved(n: int) -> Work:
    folder = tempfile.TemporaryDirectory()
    arrays = {str(k): np.arange(4.0) for k in range(n)}

    def run() -> object:
        path = Path(folder.name) / "a.tens"
        tw.save(path, arrays)
        with tw.open(path) as file:
            return {name: file[name] for name in file}

    return run


def _extended(n: int) -> Work:
    def run() -> None:
        with tempfile.TemporaryDirectory() as folder, tw.open(Path(folder) / "a.tens", "w") as file:
            for _ in range(n):
                file.extend("x", np.ones((2, 4)))

    return run


def _grown_file(part: Callable[[int], object], key: slice) -> Make:
    def of(n: int) -> Work:
        folder = tempfile.TemporaryDirectory()
        path = Path(folder.name) / "a.tens"
        with tw.open(path, "w") as file:
            for k in range(n):
                file.extend("x", part(k))

        def run() -> object:
            assert folder.name  # as above
            with tw.open(path) as file:
                return file["x"][key].compute()

        return run

    return of


def _small_files(n: int) -> tuple[tempfile.TemporaryDirectory[str], list[Path]]:
    folder = tempfile.TemporaryDirectory()
    paths = [Path(folder.name) / f"{k}.tens" for k in range(n)]
    tw.save(paths[0], {"x": np.arange(3.0)})
    for path in paths[1:]:
        path.write_bytes(paths[0].read_bytes())
    return folder, paths


def _got(path: Path) -> "tw.Tensor":
    with tw.open(path) as file:
        return file["x"]


def _files(n: int) -> Work:
    folder, paths = _small_files(n)

    def run() -> object:
        assert folder.name  # as above
        return sel.concat([_got(path) for path in paths]).compute()

    return run


def _stored(n: int) -> Work:
    folder, paths = _small_files(n)

    def run() -> object:
        path = Path(folder.name) / "view.tens"
        tw.save(path, {"v": sel.concat([_got(own) for own in paths])}, keep_views=True)
        with tw.open(path) as file:
            return file["v"].compute()

    return run


def _strings(n: int) -> Work:
    items = ["x" * (k % 5) for k in range(n)]
    words = tw.strings(items)
    return lambda: (words == "xx", words.tolist(), words[::-1].copy())


def _string_writes(n: int) -> Work:
    def run() -> None:
        words = tw.strings(["ab"] * n)
        for k in range(n):
            words[k] = "cde"

    return run


def _sparse(n: int) -> Work:
    places = np.stack([np.random.default_rng(0).permutation(n), np.arange(n)], axis=1)
    return lambda: (tw.sparse(places, np.ones(n), (n, n)).permute((1, 0))[1:] * 2.0).nnz


def _points(n: int) -> Work:
    rows = Shape.jagged(np.arange(n) % 5)
    places = np.random.default_rng(0).integers(0, rows.size, n)
    return lambda: rows.ordinals(rows.indices_at(places))


def _grown(make: Callable[[int], "sel.View"], step: Callable[["sel.View", "sel.View"], "sel.View"]) -> Make:
    def of(n: int) -> Work:
        others = [make(k) for k in range(n)]
        return lambda: functools.reduce(step, others).compute()

    return of


def _line(k: int) -> "sel.View":
    return sel.as_view(np.arange(4.0) + k)


def _two_rows(k: int) -> "sel.View":
    return sel.as_view(tw.jagged([[1.0, 2.0], [float(k)]]))


FAMILIES: dict[str, tuple[Make, tuple[int, ...]]] = {
    "rank: permute, index": (_rank, (4, 8, 16, 32)),
    "tiles of one mode: made, intersected, looked up": (_tiles, (10**4, 10**5, 10**6, 10**7)),
    "tiles of two modes, reduced": (_tiled, (10**4, 10**5, 10**6)),
    "rows: gathered, reduced, turned": (_rows, (10**4, 10**5, 10**6, 10**7)),
    "cells, transposed": (_cells, (10**4, 10**5, 10**6, 10**7)),
    "points looked up in rows": (_points, (10**4, 10**5, 10**6, 10**7)),
    "positions of 1000 shards": (_positions, (10**4, 10**5, 10**6, 10**7)),
    "rows of 1000 shards": (functools.partial(_positions, width=4), (10**4, 10**5, 10**6, 10**7)),
    "shards joined and computed": (_shards, (10**3, 10**4, 10**5, 10**6)),
    "shards turned and computed again": (_shards_twice, (10**3, 10**4, 10**5, 10**6)),
    "minimum nested in a loop": (_grown(_line, sel.minimum), (50, 200, 800, 3200)),
    "minimum of rows nested in a loop": (
        _grown(_two_rows, sel.minimum),
        (50, 200, 800, 3200),
    ),
    "boxes joined in a loop": (_grown(_line, lambda v, w: sel.concat([v, w])), (50, 200, 800, 3200)),
    "rows joined in a loop": (_grown(_two_rows, lambda v, w: sel.concat([v, w])), (50, 200, 800, 3200)),
    "shards to JSON and back, which takes 65 536 at most": (_json, (10**2, 10**3, 10**4, 6 * 10**4)),
    "tensors in a message, both ways": (_message, (10**2, 10**3, 10**4, 10**5, 10**6)),
    "records appended to a file": (_records, (10**3, 10**4, 10**5)),
    "a file of records opened, one more appended": (_opened, (10**3, 10**4, 10**5, 10**6)),
    "records saved at once, opened and got": (_saved, (10**3, 10**4, 10**5)),
    "rows that a tensor grows by": (_extended, (10**3, 10**4, 10**5)),
    "a grown tensor opened, whole": (
        _grown_file(lambda _: np.ones((2, 4)), slice(None)),
        (10**3, 10**4, 10**5),
    ),
    "a grown tensor opened, two rows": (
        _grown_file(lambda _: np.ones((2, 4)), slice(5, 7)),
        (10**3, 10**4, 10**5),
    ),
    "grown rows opened, whole": (
        _grown_file(lambda k: tw.jagged([[1.0] * (k % 4 + 1), [2.0]]), slice(None)),
        (10**3, 10**4, 10**5),
    ),
    "files opened, got and joined": (_files, (10**2, 10**3, 10**4)),
    "files joined by a stored view, written and read": (_stored, (10**2, 10**3, 10**4)),
    "strings: compared, listed, turned": (_strings, (10**4, 10**5, 10**6)),
    "strings written one by one": (_string_writes, (10**3, 10**4, 10**5, 10**6)),
    "sparse elements: put in order, sliced": (_sparse, (10**4, 10**5, 10**6, 10**7)),
}


def main(only: tuple[str, ...]) -> None:
    """Print a line for each family that was asked for: the times, and the exponents of the steps."""
    print("| family | times | exponent |\n| --- | --- | --- |")
    for name, (make, sizes) in FAMILIES.items():
        if only and not any(word in name for word in only):
            continue
        times = [*_times(make, sizes)]
        steps = [
            np.log(after / before) / np.log(large / small)
            for before, after, small, large in zip(times, times[1:], sizes, sizes[1:], strict=False)
        ]
        text = ", ".join(f"{n}: {duration(took)}" for n, took in zip(sizes, times, strict=False))
        print(f"| {name} | {text} | {' '.join(f'{step:.2f}' for step in steps)} |", flush=True)


def _times(make: Make, sizes: tuple[int, ...]) -> Iterator[float]:
    for n in sizes:
        run, best = make(n), float("inf")
        end = time.process_time() + 0.5
        for number in range(100):
            if number and time.process_time() > end:
                break
            start = time.process_time()
            run()
            best = min(best, time.process_time() - start)
        yield best


if __name__ == "__main__":
    main(())
