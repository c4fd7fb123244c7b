"""Layouts of boxes: one point, one slice, one view, and the places of ten million elements.

The peers are TensorStore's IndexTransform, whose dimension expressions are made beforehand, and NumPy: the
views of an array, ``ravel_multi_index`` and ``unravel_index``.
"""

import operator
from functools import partial

import numpy as np
import pytest
import tensorstore as ts

from tensorwrapper import Layout, Shape

EXTENTS = (40, 50, 60)
OURS, THEIRS, ARRAY = Layout(Shape(*EXTENTS)), ts.IndexTransform(input_shape=EXTENTS), np.zeros(EXTENTS)
POINT = (1, 2, 3)
KEY = (slice(1, 30), slice(None), slice(2, 50))
CHAIN = (KEY, (slice(None), slice(2, 20), 3), slice(None, None, 2))


def _chain(start):
    first, second, third = CHAIN
    return start[first][second][third]


def _chain_from_zero(start):
    # TensorStore keeps origins, so the same parts have other names there.
    return start[1:30, :, 2:50][:, 2:20, 5][1:30:2]


# Functions with their arguments, not closures: a call more would weigh as much as what is measured.
CASES = {
    "point to offset": {
        "tensorwrapper": partial(OURS.offset_of, POINT),
        "tensorstore": partial(THEIRS, POINT),
        "numpy": partial(np.ravel_multi_index, POINT, EXTENTS),
    },
    "slice of rank 3": {
        "tensorwrapper": partial(operator.getitem, OURS, KEY),
        "tensorstore": partial(operator.getitem, THEIRS, KEY),
        "numpy": partial(operator.getitem, ARRAY, KEY),
    },
    "chain of three slices": {
        "tensorwrapper": partial(_chain, OURS),
        "tensorstore": partial(_chain_from_zero, THEIRS),
        "numpy": partial(_chain, ARRAY),
    },
    "permute": {
        "tensorwrapper": partial(OURS.permute, (2, 0, 1)),
        "tensorstore": partial(operator.getitem, THEIRS, ts.d[2, 0, 1].transpose[:]),
        "numpy": partial(ARRAY.transpose, (2, 0, 1)),
    },
    "reverse one mode": {
        "tensorwrapper": partial(OURS.reverse, 1),
        "tensorstore": partial(operator.getitem, THEIRS, ts.d[1].stride[-1]),
        "numpy": partial(operator.getitem, ARRAY, (slice(None), slice(None, None, -1))),
    },
}


@pytest.mark.parametrize(("group", "name"), [(g, n) for g in CASES for n in CASES[g]])
def test_one_small_layout(benchmark, group, name):
    benchmark.group = f"layout: {group}"
    # Many calls a round: one alone is about as long as reading the clock.
    benchmark.pedantic(CASES[group][name], rounds=200, iterations=500, warmup_rounds=5)


TURNED, GATHERED = OURS.rotate((1, 2, 3)), OURS.gather(1, [3, 1, 2])
NESTED = Layout.parse("((2,2),4):((1,8),2)", order="colex")
AXIS_MAPS = {
    "rotate three modes": partial(OURS.rotate, (1, 2, 3)),
    "repeat one mode": partial(OURS.repeat, (2, 1, 1)),
    "repeat each position of a mode": partial(OURS.repeat_each, 1, 2),
    "gather three positions": partial(OURS.gather, 1, [3, 1, 2]),
    "point of a rotated layout": partial(TURNED.offset_of, POINT),
    "slice of a rotated layout": partial(operator.getitem, TURNED, KEY),
    "slice of a gathered layout": partial(operator.getitem, GATHERED, KEY),
    "permute a rotated layout": partial(TURNED.permute, (2, 0, 1)),
    "slice of a hierarchical layout": partial(operator.getitem, NESTED, (1, slice(None), slice(1, 3))),
    "coordinate of a hierarchical layout": partial(NESTED.offset_of_ordinal, ((1, 1), 2)),
}


@pytest.mark.parametrize("case", AXIS_MAPS)
def test_layouts_without_plain_strides(benchmark, case):
    benchmark.group = f"axis maps: {case}"
    benchmark.pedantic(AXIS_MAPS[case], rounds=100, iterations=200, warmup_rounds=5)


BOXES = [(100, 100, 1000), (10**7,), (10**6, 10)]
LARGE = (100, 100, 1000)


@pytest.fixture(scope="module")
def offsets():
    """Ten million offsets in no order."""
    return np.random.default_rng(0).permutation(10**7)


@pytest.mark.parametrize("extents", BOXES, ids=str)
@pytest.mark.parametrize("how", ["warm", "fresh", "np.ndarray.fill"])
def test_offsets_of_all_elements(benchmark, how, extents):
    layout, out = Layout(Shape(*extents)), np.zeros(extents, dtype=np.int64)
    calls = {"warm": partial(layout.to_numpy, out=out), "fresh": layout.to_numpy}
    benchmark.group = f"offsets of ten million elements: {extents}"
    benchmark.pedantic(calls.get(how, partial(out.fill, 1)), rounds=9, warmup_rounds=1)


@pytest.mark.parametrize("name", ["tensorwrapper", "numpy", "numpy, stacked"])
def test_indices_at_offsets(benchmark, name, offsets):
    calls = {
        "tensorwrapper": partial(Layout(Shape(*LARGE)).indices_at, offsets),
        "numpy": partial(np.unravel_index, offsets, LARGE),
        "numpy, stacked": lambda: np.stack(np.unravel_index(offsets, LARGE), axis=-1),
    }
    benchmark.group = "indices at ten million offsets"
    benchmark.pedantic(calls[name], rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("name", ["tensorwrapper", "numpy"])
def test_offsets_of_rows(benchmark, name, offsets):
    rows = Layout(Shape(*LARGE)).indices_at(offsets)
    calls = {
        "tensorwrapper": partial(Layout(Shape(*LARGE)).offsets_of, rows),
        "numpy": lambda: np.ravel_multi_index(tuple(rows.T), LARGE),
    }
    benchmark.group = "offsets of ten million indices"
    benchmark.pedantic(calls[name], rounds=5, warmup_rounds=1)
