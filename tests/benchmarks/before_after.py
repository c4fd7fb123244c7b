# ruff: noqa: PLW0108, T201 - lambdas stand in one column, and the table is printed
"""The same work in two source trees, run in turns.

``python tests/benchmarks/before_after.py BEFORE AFTER [ROUNDS]``, where each tree is the folder that has
``tensorwrapper`` in it, such as two git worktrees. Times are CPU time, the least of all rounds; each tree
has an interpreter of its own in each round, so that both meet the same load.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

REPETITIONS = 9
SECONDS = 0.01
"""How long one repetition runs at least: short work is done many times."""


def cases(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what a row says and what it runs; only what both trees have may stand here."""
    import numpy as np

    import tensorwrapper as tw
    from tensorwrapper import selection as sel
    from tensorwrapper import wire

    s, j = tw.Shape(3, 4), tw.Shape.jagged([3, 1, 2])
    t, layout = tw.as_tensor(np.arange(12.0).reshape(3, 4)), tw.Layout(s)
    rows, v = tw.Shape.jagged(np.arange(1_000_000) % 5), sel.as_view(t)
    ragged, big = tw.jagged([[1.0, 2.0], [3.0]]), tw.as_tensor(np.ones((1500, 1500)))
    named = np.arange(12.0).reshape(3, 4)
    texts = tw.strings(["alpha", "beta", "gamma"] * 10)
    yield "construction: a box, `Shape(3, 4, 5)`", lambda: tw.Shape(3, 4, 5)
    yield "construction: jagged, `Shape.jagged([3, 1, 2])`", lambda: tw.Shape.jagged([3, 1, 2])
    yield "construction: `Tiling([1, 2], [3])`", lambda: tw.Tiling([1, 2], [3])
    yield "construction: `Layout(s)`", lambda: tw.Layout(s)
    yield "construction: `as_tensor(array)`", lambda: tw.as_tensor(named)
    yield "indexing: `s[1:2]`", lambda: s[1:2]
    yield "indexing: one row, `j[2]`", lambda: j[2]
    yield "indexing: `t[1:2]`", lambda: t[1:2]
    yield "indexing: `t[1, 2].item()`", lambda: t[1, 2].item()
    yield "indexing: `layout[::-1, 1:]`", lambda: layout[::-1, 1:]
    yield "indexing: a row of a jagged tensor", lambda: ragged[0]
    yield "iteration: `for index in Shape(30, 40).indices()`", lambda: list(tw.Shape(30, 40).indices())
    yield "jagged: `lengths(1)` of 10^6 rows", lambda: rows.lengths(1)
    yield "equality: jagged", lambda: j == tw.Shape.jagged([3, 1, 2])
    yield "layouts: permute and slice", lambda: layout.permute((1, 0))[1:, :2]
    yield "copies: transposed, 18 MB", lambda: big.permute((1, 0)).copy()
    yield "views: `v[1:2].compute()`", lambda: v[1:2].compute()
    yield "views: `concat([t, t])[1:4].compute()`", lambda: sel.concat([t, t])[1:4].compute()
    yield "views: `sel.minimum(t, 2.0)`, built and computed", lambda: sel.minimum(t, 2.0).compute()
    shards = sel.concat([tw.as_tensor(np.ones((50, 1024))) for _ in range(16)])
    chosen = np.random.default_rng(0).integers(0, 800, 700)
    yield "views: 700 long rows of 16 shards", lambda: shards[chosen].compute()
    message = [bytes(memoryview(part)) for part in wire.encode([t, t, t])]
    yield "wire: encode three tensors", lambda: wire.encode([t, t, t])
    yield "wire: decode them", lambda: wire.decode(message)
    path = folder / "two.tens"
    tw.save(path, {"a": t, "b": t})
    yield "files: save two tensors", lambda: tw.save(path, {"a": t, "b": t})

    def read() -> Any:
        with tw.open(path) as file:
            return file["a"]

    def append() -> None:
        tw.save(path, {"a": t, "b": t})
        with tw.open(path, "a") as file:
            file.append("c", t)

    yield "files: open and read one", read
    yield "files: save two tensors and append one", append
    yield "strings: `t[0]`", lambda: texts[0]
    yield "strings: `tolist`", texts.tolist
    yield "text: `repr` of a small tensor", lambda: repr(t)


def measure() -> dict[str, float]:
    """Return the least time of each case, in microseconds."""
    found = {}
    with TemporaryDirectory() as folder:
        for name, run in cases(Path(folder)):
            run()
            start = time.process_time()
            run()
            count = max(1, int(SECONDS / max(time.process_time() - start, 1e-6)))
            times = []
            for _ in range(REPETITIONS):
                start = time.process_time()
                for _ in range(count):
                    run()
                times.append((time.process_time() - start) / count)
            found[name] = min(times) * 1e6
    return found


def main(before: str, after: str, rounds: str = "4") -> None:
    """Print the table."""
    least: dict[str, dict[str, float]] = {before: {}, after: {}}
    for _ in range(int(rounds)):
        for tree, seen in least.items():
            text = subprocess.run(
                [sys.executable, __file__],
                env={**os.environ, "PYTHONPATH": str(Path(tree).resolve())},
                check=True,
                capture_output=True,
            ).stdout
            for name, value in json.loads(text).items():
                seen[name] = min(seen.get(name, value), value)
    print("| | before | after | ratio |\n| --- | --- | --- | --- |")
    for name, old in least[before].items():
        new = least[after][name]
        print(f"| {name} | {_time(old)} | {_time(new)} | {new / old:.2f} |")


def _time(microseconds: float) -> str:
    return f"{microseconds:.3g} us" if microseconds < 1000 else f"{microseconds / 1000:.3g} ms"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(*sys.argv[1:])
    else:
        print(json.dumps(measure()))
