"""Runs of the elements of tiles are copied out of where the tiles lie."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.remote.served import _tile_reader
from tensorwrapper.remote.served._tile_reader import tiles_of
from tensorwrapper.selection import Runs

X = np.arange(12 * 14 * 3.0).reshape(12, 14, 3)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(_tile_reader, "_LEAST", 1)


TENSORS = {
    "tiled": tw.as_tensor(X).tiled(tw.Tiling([5, 7], [4, 10], [2, 1])),
    "turned": tw.as_tensor(X.T).tiled(tw.Tiling([3], [14], [5, 7])),
    "copied": tw.as_tensor(X).tiled(tw.Tiling([5, 7], [4, 10], [3])).copy(),
    "cells": tw.from_buffer(np.arange(26.0), tw.Shape.jagged([tw.Shape(2, 3), tw.Shape(4, 5)])),
    "empty": tw.as_tensor(X).tiled(tw.Tiling([5, 0, 7], [14], [3])),
}


@pytest.mark.parametrize("name", TENSORS)
@given(st.sets(st.integers(0, 503), max_size=8))
def test_runs_are_those_of_the_elements(name, marks):
    tensor = TENSORS[name]
    _tile_reader._LEAST = 1
    tiles = tiles_of(tensor)
    ends = sorted({own % (tensor.size + 1) for own in marks})
    starts, stops = ends[: len(ends) // 2 * 2 : 2], ends[1::2]
    runs = Runs(starts, np.array(stops, int) - np.array(starts, int))
    target = np.empty(runs.size)
    if tiles.knows(runs):
        tiles.copy_to(runs, target)
        assert np.array_equal(target, tensor.elements()[runs.numbers()])
    assert not runs.size or tiles.knows(runs)


def test_what_has_no_few_large_tiles_is_left_to_others(monkeypatch):
    assert tiles_of(tw.as_tensor(X)) is None
    assert tiles_of(tw.strings([["a"], ["b"]])) is None
    monkeypatch.setattr(_tile_reader, "_LEAST", 4096)
    assert tiles_of(TENSORS["tiled"]) is None
    assert tiles_of(tw.jagged([[1, 2], [3]])) is None
    assert not Runs([], []).size
