"""Random numbers by rank, beside NumPy's Philox, which draws in one order only."""

from collections.abc import Iterator

import numpy as np

from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tests.benchmarks.compare.measure import Row

COUNT = 10**7


def runs() -> Iterator[Row]:
    """All of a box, in order."""
    box, out, whole = Shape(COUNT), np.empty(COUNT), np.empty(COUNT, np.int64)
    peer = np.random.Generator(np.random.Philox(1))
    uniform, normal = sel.random(box, seed=1), sel.normal(box, 0.0, 1.0, seed=1)
    integers = sel.integers(box, 0, 100, seed=1)
    yield Row(
        "P16",
        "10^7 uniform",
        lambda: uniform.compute(out=out, threads=1),
        {"NumPy Philox": lambda: peer.random(out=out)},
        aim=45e-3,
        times=1.2,
    )
    yield Row(
        "P16",
        "10^7 integers below 100",
        lambda: integers.compute(out=whole, threads=1),
        {"NumPy Philox": lambda: peer.integers(0, 100, COUNT)},
        aim=45e-3,
        times=1.2,
        limit=("the words, multiplied and shifted twice", lambda: _scaled(whole)),
    )
    yield Row(
        "P16",
        "10^7 normal",
        lambda: normal.compute(out=out, threads=1),
        {"NumPy Philox": lambda: peer.standard_normal(out=out)},
        times=1.0,
        limit=("words, log, sqrt, sin and cos of NumPy", lambda: _turned(out)),
    )


def _turned(out: np.ndarray) -> None:
    for start in range(0, COUNT, 2**15):
        part = out[start : start + 2**15]
        words = np.random.Philox(1).random_raw(len(part)) * 2.0**-64
        radius, angle = np.sqrt(-2 * np.log1p(-words[0::2])), words[1::2] * (2 * np.pi)
        part[0::2], part[1::2] = radius * np.cos(angle), radius * np.sin(angle)


def _scaled(out: np.ndarray) -> None:
    bits = np.random.Philox(1)
    for start in range(0, COUNT, 2**13):
        part = out[start : start + 2**13].view(np.uint64)
        np.right_shift(bits.random_raw(len(part)), np.uint64(32), out=part)
        part *= np.uint64(100)
        part >>= np.uint64(32)


ROWS = {"P16": runs}
