"""Layouts of a million rows: parts of them, and many places at a time, beside Awkward Array and NumPy."""

from functools import partial

import numpy as np
import pytest

from tensorwrapper import Layout, Shape

try:
    import awkward as ak
except ModuleNotFoundError:
    ak = None

RNG = np.random.default_rng(0)
LENGTHS = RNG.integers(1, 8, 10**6)
SHAPE = Shape.jagged(LENGTHS)
ORDER = RNG.permutation(10**6)
STARTS = np.empty(10**6, dtype=np.int64)
STARTS[ORDER] = np.cumsum(LENGTHS[ORDER]) - LENGTHS[ORDER]
PACKED = Layout(SHAPE)
CELLS = Layout.from_block_offsets(SHAPE, STARTS)
INDICES = SHAPE.indices_at(RNG.integers(0, SHAPE.size, 10**6))
OFFSETS = CELLS.offsets_of(INDICES)

PARTS = {
    "a run of rows": slice(1000, 900_000),
    "every other row": slice(None, None, 2),
    "each row but its first": (slice(None), slice(1, None)),
    "each row backwards": (slice(None), slice(None, None, -1)),
    "the first of each row": (slice(None), 0),
}


def ways_of(key):
    ways = {"packed": partial(PACKED.__getitem__, key), "cells": partial(CELLS.__getitem__, key)}
    if ak is not None:
        ways["awkward"] = partial(ak.unflatten(np.arange(SHAPE.size), LENGTHS).__getitem__, key)
    return ways


@pytest.mark.parametrize("way", ["packed", "cells", "awkward"])
@pytest.mark.parametrize("part", PARTS)
def test_parts_of_a_million_rows(benchmark, part, way):
    benchmark.group = f"a million rows: {part}"
    ways = ways_of(PARTS[part])
    if way not in ways:
        pytest.skip("the peer is not installed")
    benchmark(ways[way])


@pytest.mark.parametrize("way", ["layout", "awkward"])
def test_gather_a_million_rows(benchmark, way):
    benchmark.group = "gather a million rows"
    if way == "layout":
        benchmark(PACKED.gather, 0, ORDER)
        return
    rows = pytest.importorskip("awkward").unflatten(np.arange(SHAPE.size), LENGTHS)
    benchmark(rows.__getitem__, ORDER)


def by_hand():
    rows, places = INDICES[:, 0], INDICES[:, 1]
    if not ((rows >= 0) & (rows < len(STARTS)) & (places >= 0) & (places < LENGTHS[rows])).all():
        raise IndexError
    return STARTS[rows] + places


def back_by_hand():
    order = np.argsort(STARTS)
    found = order[np.searchsorted(STARTS[order], OFFSETS, side="right") - 1]
    places = OFFSETS - STARTS[found]
    if not (places < LENGTHS[found]).all():
        raise IndexError
    return np.stack([found, places], axis=1)


LOOKUPS = {
    ("offsets", "layout"): partial(CELLS.offsets_of, INDICES),
    ("offsets", "NumPy"): by_hand,
    ("indices", "layout"): partial(CELLS.indices_at, OFFSETS),
    ("indices", "NumPy"): back_by_hand,
    ("a layout from a table", "layout"): partial(Layout.from_block_offsets, SHAPE, STARTS),
}


@pytest.mark.parametrize(("group", "way"), LOOKUPS)
def test_a_million_places(benchmark, group, way):
    benchmark.group = f"a million places: {group}"
    benchmark(LOOKUPS[group, way])
