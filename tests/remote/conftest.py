"""Tensors of every kind, and a server of them."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling


def every_kind():
    rng = np.random.default_rng(5)
    lengths = rng.integers(0, 6, 40)
    return {
        "box": tw.as_tensor(rng.normal(size=(12, 9, 4))),
        "small": tw.as_tensor(np.arange(6, dtype="i1").reshape(2, 3)),
        "turned": tw.as_tensor(np.arange(60.0).reshape(6, 10)).permute((1, 0))[::-1],
        "flags": tw.as_tensor(rng.random((5, 7)) > 0.5),
        "times": tw.as_tensor(np.arange(5).astype("M8[ms]")),
        "scalar": tw.as_tensor(np.float32(2.5)),
        "empty": tw.as_tensor(np.empty((0, 3))),
        "rows": tw.from_buffer(np.arange(lengths.sum()), Shape.jagged(lengths)),
        "deep": tw.from_buffer(np.arange(12.0), Shape.jagged([[1], [2, 3], [3, 1, 2]])),
        "cells": tw.from_buffer(np.arange(26), Shape.jagged([Shape(2, 3), Shape(4, 5)])),
        "tiles": tw.as_tensor(np.arange(900.0).reshape(30, 30)).tiled(Tiling([5, 15, 10], [20, 10])),
        "nested": tw.from_buffer(np.arange(6), Shape.nested(Shape(2, 3), layers=(1, 1))),
        "words": tw.strings([["a", "bc", ""], ["héllo", "x", "long " * 9]]),
        "nulls": tw.strings(["a", None, "", "héllo"]),
        "sparse": tw.sparse([(0, 1), (2, 3), (4, 4)], [5.0, 7.0, -1.0], Shape(5, 6)),
        "view": tw.selection.pad(tw.as_tensor(np.arange(8.0).reshape(2, 4)), [(1, 0), (0, 2)], fill_value=9),
        "named": tw.as_tensor(np.arange(6).reshape(2, 3)).named("y", "x"),
        "moved": tw.as_tensor(np.arange(20).reshape(4, 5)).window(Shape(4, 5)[1:3, 2:5]),
    }


@pytest.fixture(scope="session")
def tensors():
    return every_kind()


@pytest.fixture
def remote(tensors):
    with tw.serve(tensors) as server, tw.connect(server.address) as found:
        yield found
