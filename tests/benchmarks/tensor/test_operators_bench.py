"""Operators beside NumPy on the flat elements, and beside Awkward on rows."""

import awkward as ak
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling

RNG = np.random.default_rng(0)
SMALL = np.arange(6.0).reshape(2, 3)
SMALL_TENSOR, OTHER_TENSOR = tw.as_tensor(SMALL), tw.as_tensor(SMALL.copy())
LENGTHS = RNG.integers(0, 9, 10**6)
FLAT = RNG.random(LENGTHS.sum())
ROWS = tw.from_buffer(FLAT, Shape.jagged(LENGTHS))
SAME_ROWS = tw.from_buffer(FLAT.copy(), Shape.jagged(LENGTHS.copy()))
AWKWARD = ak.unflatten(FLAT, LENGTHS)
PER_ROW = RNG.random(len(LENGTHS))
PER_ROW_TENSOR = tw.as_tensor(PER_ROW)
BOX = RNG.random((1000, 1000))
TILED = tw.as_tensor(BOX).tiled(Tiling([100] * 10, [100] * 10))
PLACES = np.unique(RNG.integers(0, 10**8, 10**6))
SPARSE = tw.sparse(np.stack(np.divmod(PLACES, 10**4), axis=1), RNG.random(len(PLACES)), (10**4, 10**4))
VALUES = SPARSE.values()

WORK = {
    "t + 1, 2 x 3": {"tensorwrapper": lambda: SMALL_TENSOR + 1, "numpy": lambda: SMALL + 1},
    "t + u, 2 x 3": {"tensorwrapper": lambda: SMALL_TENSOR + OTHER_TENSOR, "numpy": lambda: SMALL + SMALL},
    "t > 0.5, 10^6 rows": {
        "tensorwrapper": lambda: ROWS > 0.5,
        "numpy, flat": lambda: FLAT > 0.5,
        "awkward": lambda: AWKWARD > 0.5,
    },
    "t + t, 10^6 rows": {
        "tensorwrapper": lambda: ROWS + ROWS,
        "numpy, flat": lambda: FLAT + FLAT,
        "awkward": lambda: AWKWARD + AWKWARD,
    },
    "t + u, equal shapes, 10^6 rows": {"tensorwrapper": lambda: ROWS + SAME_ROWS},
    "t - m, one for each of 10^6 rows": {
        "tensorwrapper": lambda: ROWS - PER_ROW_TENSOR,
        "numpy, flat": lambda: FLAT - np.repeat(PER_ROW, LENGTHS),
        "awkward": lambda: AWKWARD - PER_ROW,
    },
    "add.reduce(t, axis=-1), 10^6 rows": {
        "tensorwrapper": lambda: np.add.reduce(ROWS, axis=-1),
        "rows().reduce": lambda: ROWS.rows().reduce(np.add),
        "awkward": lambda: ak.sum(AWKWARD, axis=-1),
    },
    "add.accumulate(t, axis=-1), 10^6 rows": {"tensorwrapper": lambda: np.add.accumulate(ROWS, axis=-1)},
    "t + 1, 1000 x 1000 in 100 tiles": {"tensorwrapper": lambda: TILED + 1, "numpy": lambda: BOX + 1},
    "t * 2, 10^6 stored": {"tensorwrapper": lambda: SPARSE * 2, "numpy, values": lambda: VALUES * 2},
}


@pytest.mark.parametrize(("work", "who"), [(w, k) for w, peers in WORK.items() for k in peers])
def test_operators(benchmark, work, who):
    benchmark.group = work
    benchmark(WORK[work][who])
