# ruff: noqa: T201 - it prints a table
"""Peaks of memory beside what the pages promise, each in a process of its own."""

import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

PREFIX = """
    import sys, pathlib, numpy as np, tensorwrapper as tw
    from tensorwrapper import Layout, Tiling, wire, selection as sel
    mib, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    side = 1024 * 1024 // 8 * mib // 4096
    def status(key):
        return int(dict(l.split(":") for l in open("/proc/self/status"))[key].split()[0]) / 1024
    def reset():
        open("/proc/self/clear_refs", "w").write("5")
    def large():
        return np.ones((side, 4096))
"""
WORK = {
    "compute, reversed and sliced": ("v = sel.as_view(large())[::-1]", "out = v.compute()", "result + 64"),
    "compute, two joined": (
        "x = large(); v = sel.concat([x[: side // 2], x[side // 2 :]])",
        "out = v.compute()",
        "result + 64",
    ),
    "to_layout, tiles": (
        "t = tw.as_tensor(large()); goal = Layout.tiled(Tiling.make_uniform(t.shape.extents, 256))",
        "out = t.to_layout(goal)",
        "result + 64",
    ),
    "copy, permuted": ("t = tw.as_tensor(large()).permute((1, 0))", "out = t.copy()", "result + 64"),
    "gather of rows, scattered": (
        "v = sel.as_view(large()); p = np.random.default_rng(0).permutation(side)",
        "out = v[p].compute()",
        "result + 64",
    ),
    "points of a join, with their positions": (
        (
            "line = large().reshape(-1); v = sel.concat([line[: line.size // 2], line[line.size // 2 :]])\n"
            "k = np.random.default_rng(0).integers(0, line.size, line.size)"
        ),
        "out = v[k].compute()",
        "result + positions + 64",
    ),
    "points of two modes of a join, with their positions": (
        (
            "x = large(); v = sel.concat([x[: len(x) // 2], x[len(x) // 2 :]])\n"
            "r = np.random.default_rng(0); i, j = r.integers(0, len(x), x.size), r.integers(0, 4096, x.size)"
        ),
        "out = v[i, j].compute()",
        "result + positions + 64",
    ),
    "rows of a join, with their positions": (
        (
            "x = large().reshape(-1, 4); v = sel.concat([x[: len(x) // 2], x[len(x) // 2 :]])\n"
            "k = np.random.default_rng(0).integers(0, len(x), len(x))"
        ),
        "out = v[k].compute()",
        "result + positions + 64",
    ),
    "mask of a tensor": (
        "t = tw.as_tensor(large()); m = np.zeros((side, 4096), bool); m[::2] = True",
        "out = t[m]",
        "result + 64",
    ),
    "save": ("x = large()", "tw.save(folder / 'a.tens', {'x': x})", "8"),
    "open": ("tw.save(folder / 'a.tens', {'x': large()})", "f = tw.open(folder / 'a.tens'); t = f['x']", "5"),
    "open, and copy 100 rows": (
        "tw.save(folder / 'a.tens', {'x': large()})",
        "f = tw.open(folder / 'a.tens'); np.array(f['x'][100:200]); f.close()",
        "result + 5, and pages of the file",
    ),
    "encode and decode": ("x = large()", "out = wire.decode(wire.encode([x])).tensors", "8"),
}
SUFFIX = """
    import gc; gc.collect(); reset()
    before = status("VmRSS")
    rss_file = status("RssFile")
    {run}
    print(status("VmHWM") - before)
"""


def main(mib: int, only: tuple[str, ...]) -> None:
    """Print a line for each piece of work: what it took at most beside what was there before."""
    print(f"| {mib} MiB of float64 | promised, MiB | peak, MiB |\n| --- | --- | --- |")
    for name, (prepare, run, promised) in WORK.items():
        if only and not any(word in name for word in only):
            continue
        lines = [textwrap.dedent(PREFIX), prepare, textwrap.dedent(SUFFIX).replace("{run}", run)]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-c", "\n".join(lines), str(mib), str(Path(folder))],
                capture_output=True,
                text=True,
                check=False,
            )
        seen = f"{float(done.stdout):.0f}" if not done.returncode else done.stderr.strip().splitlines()[-1]
        print(f"| {name} | {promised} | {seen} |", flush=True)
