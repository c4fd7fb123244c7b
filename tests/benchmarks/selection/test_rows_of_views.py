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


# A million rows of which every other one is empty; by hand, what NumPy needs for the elements.
ALTERNATING = tensor(np.arange(10**6 + 1) // 2 * 8, RANDOM.random(4 * 10**6))
ROWS = sel.as_view(ALTERNATING)
ONE_EACH = RANDOM.random(10**6)
AWKWARD_ROWS = array(ALTERNATING.shape.splits(1), ALTERNATING.elements())
SHORT = [tensor(*rows(3)) for _ in range(10**5)]
MANY = sel.concat(SHORT)


def padded_by_hand():
    out = np.zeros((10**6, 8))
    out[1::2] = ALTERNATING.elements().reshape(-1, 8)
    return out


def side_by_side_by_hand():
    own = ALTERNATING.elements().reshape(-1, 8)
    return np.concatenate([own, own], axis=1)


# Rows of Awkward that are picked are numbers of rows; copied, as here, they are once packed.
CASES = {
    "concat of 1000 parts": {
        "tensorwrapper": lambda: sel.concat(TENSORS).compute(),
        "awkward": lambda: ak.concatenate(AWKWARDS),
        "elements alone": lambda: np.concatenate([own for _, own in PARTS]),
    },
    "10^6 rows from anywhere": {"tensorwrapper": picked, "awkward": lambda: ak.to_packed(AWKWARD[PICKED])},
    "rows padded": {
        "tensorwrapper": lambda: ROWS.pad_rows(8).compute(),
        "by hand": padded_by_hand,
        "awkward": lambda: ak.fill_none(ak.pad_none(AWKWARD_ROWS, 8), 0.0),
    },
    "rows side by side": {
        "tensorwrapper": lambda: sel.concat([ROWS, ROWS], mode=1).compute(),
        "by hand": side_by_side_by_hand,
        "awkward": lambda: ak.concatenate([AWKWARD_ROWS, AWKWARD_ROWS], axis=1),
    },
    "rows in turns": {"tensorwrapper": lambda: sel.interleave([ROWS, ROWS]).compute()},
    "one number for each row": {
        "tensorwrapper": lambda: sel.minimum(ROWS, ONE_EACH).compute(),
        "awkward": lambda: ak.where(AWKWARD_ROWS < ONE_EACH, AWKWARD_ROWS, ONE_EACH),
    },
    "where of rows from anywhere": {
        "tensorwrapper": lambda: sel.where(sel.as_view(MASK)[PICKED], VIEW[PICKED], 0.0).compute(),
        "awkward": lambda: ak.where(AWKWARD_MASK[PICKED], AWKWARD[PICKED], 0.0),
    },
    "elements of 10^5 parts": {"tensorwrapper": MANY.compute},
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
