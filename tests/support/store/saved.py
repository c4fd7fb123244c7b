"""Tensors of every kind that files of arrays can hold, and what is the same."""

import numpy as np

import tensorwrapper as tw

BOXES = {
    "table": np.arange(12, dtype="f4").reshape(3, 4),
    "Fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "steps": np.arange(24).reshape(4, 6)[::-2, 1::2],
    "scalar": np.array(2.5),
    "empty": np.zeros((3, 0), "i2"),
    "bool": np.array([True, False]),
    "half": np.arange(3, dtype="f2"),
    "complex": np.arange(3, dtype="c8"),
    "long": np.arange(5, dtype="u8"),
    "named": tw.as_tensor(np.arange(6).reshape(2, 3)).named("plane", None),
    "placed": tw.as_tensor(np.arange(9).reshape(3, 3)).window(tw.Shape(2, 2, origin=(1, -0))).copy(),
    "moved": tw.as_tensor(np.arange(9).reshape(3, 3)).translate_to((-4, 2**40)),
    "large": np.arange(300_000, dtype="i4").reshape(600, 500),
}
ROWS = {
    "rows": tw.jagged([[1, 2, 3], [], [5, 6]]),
    "no rows": tw.jagged([[], []]),
    "deep": tw.jagged([[[1.5], []], [], [[2.5, 3.5]]]),
    "cells": tw.jagged([np.ones((2, 3)), np.zeros((0, 3)), np.full((1, 1), 7.0)]),
    "triples": tw.jagged([np.ones((2, 3)), np.zeros((0, 3)), np.full((1, 3), 7.0)]),
    "named rows": tw.jagged([[1], [2, 3]]).named("event", "hit"),
    "moved rows": tw.jagged([[1], [2, 3]]).translate_to((5, 0)),
    "uniform": tw.from_buffer(np.arange(6), tw.Shape.from_uniform(3, 2)),
    "many": tw.from_buffer(
        np.arange(60_000), tw.Shape.from_offsets(np.r_[np.sort(np.arange(0, 60_000, 7)), 60_000])
    ),
}


def assert_same(found, want, name=""):
    """Raise unless shape, names, type and elements are the same."""
    want = tw.as_tensor(want)
    assert found.shape == want.shape, name
    assert found.dtype == want.dtype.newbyteorder("<"), name
    assert found.array_equal(want), name
