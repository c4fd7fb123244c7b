"""Views of rows, put together and selected; peers: Awkward Array where installed, and NumPy by hand."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel

ak = pytest.importorskip("awkward")
RANDOM = np.random.default_rng(1)


def rows(count):
    """Rows of 0 to 7 numbers: splits and elements."""
    splits = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(RANDOM.integers(0, 8, count), out=splits[1:])
    return splits, RANDOM.random(int(splits[-1]))


def tensor(splits, elements):
    return tw.from_buffer(elements, tw.Shape.from_offsets(splits))


def array(splits, elements):
    numbers = ak.contents.NumpyArray(elements)
    return ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(splits), numbers))


PARTS = [rows(10**4) for _ in range(1000)]
TENSORS, AWKWARDS = [tensor(*own) for own in PARTS], [array(*own) for own in PARTS]
SPLITS, ELEMENTS = rows(10**6)
TENSOR, AWKWARD = tensor(SPLITS, ELEMENTS), array(SPLITS, ELEMENTS)
MASK, AWKWARD_MASK = TENSOR > 0.5, AWKWARD > 0.5
VIEW = sel.as_view(TENSOR)
PICKED = RANDOM.integers(0, 10**6, 10**6)


def picked():
    return VIEW[PICKED].compute()


def masked():
    return VIEW[MASK].compute()


def backwards():
    return VIEW[:, ::-1].compute()


# Rows of Awkward that are picked are numbers of rows; copied, as here, they are once packed.
CASES = {
    "concat of 1000 parts": {
        "tensorwrapper": lambda: sel.concat(TENSORS).compute(),
        "awkward": lambda: ak.concatenate(AWKWARDS),
        "elements alone": lambda: np.concatenate([own for _, own in PARTS]),
    },
    "10^6 rows from anywhere": {"tensorwrapper": picked, "awkward": lambda: ak.to_packed(AWKWARD[PICKED])},
    "each row backwards": {"tensorwrapper": backwards, "awkward": lambda: ak.to_packed(AWKWARD[:, ::-1])},
    "jagged mask": {"tensorwrapper": masked, "awkward": lambda: AWKWARD[AWKWARD_MASK]},
    "where": {
        "tensorwrapper": lambda: sel.where(MASK, VIEW, 0.0).compute(),
        "awkward": lambda: ak.where(AWKWARD_MASK, AWKWARD, 0.0),
    },
}


@pytest.mark.parametrize(
    ("case", "how"), [(case, how) for case, own in CASES.items() for how in own], ids=str
)
def test_rows_of_views(benchmark, case, how):
    benchmark.group = case
    benchmark(CASES[case][how])
