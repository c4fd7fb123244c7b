"""Small tensors, where only the way through the library counts, and keys of a million positions."""

import awkward as ak
import numpy as np
import pytest
import tensorstore as ts

import tensorwrapper as tw
from tensorwrapper import Layout, Tiling

SMALL = np.arange(24.0).reshape(2, 3, 4)
TENSOR = tw.as_tensor(SMALL)
STORE = ts.array(SMALL)
AWKWARD = ak.Array(SMALL)
KEY = (1, slice(None, None, 2), slice(1, 3))
ROWS, COLUMNS = [1, 0], [2, 0]

RNG = np.random.default_rng(0)
LARGE = RNG.random((2000, 2000))
LARGE_TENSOR = tw.as_tensor(LARGE)
LARGE_STORE = ts.array(LARGE)
ROW_NUMBERS, COLUMN_NUMBERS = RNG.permutation(2000)[:1000], RNG.permutation(2000)[:1000]
POINTS = RNG.integers(0, 2000, (2, 10**6))
TILES = Layout.tiled(Tiling([100] * 20, [100] * 20))

WORK = {
    "as_tensor(array)": {
        "tensorwrapper": lambda: tw.as_tensor(SMALL),
        "tensorstore": lambda: ts.array(SMALL),
        "awkward": lambda: ak.Array(SMALL),
    },
    "as_tensor(array.T)": {"tensorwrapper": lambda: tw.as_tensor(SMALL.T)},
    "t[1]": {
        "tensorwrapper": lambda: TENSOR[1],
        "numpy": lambda: SMALL[1],
        "tensorstore": lambda: STORE[1],
        "awkward": lambda: AWKWARD[1],
    },
    "t[1, ::2, 1:3]": {
        "tensorwrapper": lambda: TENSOR[KEY],
        "numpy": lambda: SMALL[KEY],
        "tensorstore": lambda: STORE[KEY],
        "awkward": lambda: AWKWARD[KEY],
    },
    "t[[1, 0], [2, 0]]": {
        "tensorwrapper": lambda: TENSOR[ROWS, COLUMNS],
        "numpy": lambda: SMALL[ROWS, COLUMNS],
        "tensorstore": lambda: STORE[ROWS, COLUMNS],
        "awkward": lambda: AWKWARD[ROWS, COLUMNS],
    },
    "t.oindex[[1, 0], [2, 0]]": {
        "tensorwrapper": lambda: TENSOR.oindex[ROWS, COLUMNS],
        "numpy": lambda: SMALL[np.ix_(ROWS, COLUMNS)],
        "tensorstore": lambda: STORE.oindex[ROWS, COLUMNS],
    },
    "10^6 points": {
        "tensorwrapper": lambda: LARGE_TENSOR[POINTS[0], POINTS[1]],
        "numpy": lambda: LARGE[POINTS[0], POINTS[1]],
        "tensorstore": lambda: LARGE_STORE.vindex[POINTS[0], POINTS[1]].read().result(),
    },
    "10^3 rows x 10^3 columns, read": {
        "tensorwrapper": lambda: np.asarray(LARGE_TENSOR.oindex[ROW_NUMBERS, COLUMN_NUMBERS].copy()),
        "numpy": lambda: LARGE[np.ix_(ROW_NUMBERS, COLUMN_NUMBERS)],
        "tensorstore": lambda: LARGE_STORE.oindex[ROW_NUMBERS, COLUMN_NUMBERS].read().result(),
    },
    "to_layout, 20 x 20 tiles": {
        "tensorwrapper": lambda: LARGE_TENSOR.to_layout(TILES),
        "numpy": lambda: LARGE.reshape(20, 100, 20, 100).transpose(0, 2, 1, 3).copy(),
    },
}


@pytest.mark.parametrize(("work", "way"), [(work, way) for work in WORK for way in WORK[work]])
def test_tensors_beside_their_peers(benchmark, work, way):
    benchmark.group = f"tensors: {work}"
    benchmark(WORK[work][way])


@pytest.mark.parametrize("work", [work for work in WORK if "numpy" in WORK[work]])
def test_both_ways_agree(work):
    ours, theirs = WORK[work]["tensorwrapper"](), WORK[work]["numpy"]()
    elements = ours.buffer.flat if work.startswith("to_layout") else tw.as_tensor(ours).elements()
    assert np.array_equal(elements, theirs.reshape(-1))
