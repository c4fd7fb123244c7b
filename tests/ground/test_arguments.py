"""What arguments must be, and what a value does not have: `hasattr` says so, and never raises."""

import copy
import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper._arguments import absent
from tensorwrapper.errors import (
    ConversionError,
    JaggedModeError,
    LayoutError,
    ModeNameError,
    TensorWrapperError,
)

ROWS = tw.jagged([[1, 2], [], [3]])
TENSORS = {
    "scalar": tw.as_tensor(3),
    "box": tw.as_tensor(np.arange(6).reshape(2, 3)),
    "empty": tw.as_tensor(np.zeros((0, 3))),
    "turned": tw.as_tensor(np.arange(6).reshape(2, 3)).reverse(0),
    "gathered": tw.as_tensor(np.arange(6).reshape(2, 3)).gather(0, [1, 0, 1]),
    "rows": ROWS,
    "placed": tw.from_buffer(np.arange(3), ROWS.shape.translate_to((5, -1))),
    "cells": tw.from_buffer(np.arange(7), Shape.jagged([Shape(2, 2), Shape(1, 3)])),
    "tiles": tw.as_tensor(np.arange(12).reshape(3, 4)).tiled(Tiling([1, 2], [2, 2])),
    "nested": tw.from_buffer(np.arange(6), Shape.nested(Shape(2, 3), layers=(1, 1))),
    "sparse": tw.sparse([(0, 1)], [5], (2, 3)),
    "strings": tw.strings(["a", None]),
    "named": tw.as_tensor(np.arange(6).reshape(2, 3)).named("a", "b"),
}
VALUES = [
    *TENSORS.values(),
    *map(sel.as_view, TENSORS.values()),
    *[tensor.shape for tensor in TENSORS.values()],
    *[tensor.layout for tensor in TENSORS.values()],
    Shape.jagged([Shape(1, 2, origin=(k, 0)) for k in range(2)]),
    Layout.parse("((2,2),4):((1,8),2)"),
    Layout.tiled(Tiling([2, 2], [2, 2])),
    sel.pad([1, 2], [(1, 1)]),
    sel.concat([ROWS, ROWS]),
    sel.concat([ROWS, ROWS]).plan(),
    Tiling([1, 2], [3]),
    Tiling([1, 2], [3]).grid.indices(),
    sel.Selector.parse("1:3"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__} {str(value)[:20]}")
def test_hasattr_never_raises(value):
    for name in dir(type(value)):
        known = hasattr(value, name)
        assert getattr(value, name, None) is None or known


@pytest.mark.parametrize(
    ("value", "name", "error"),
    [
        (TENSORS["box"], "tiling", LayoutError),
        (sel.as_view(TENSORS["box"]), "tiling", LayoutError),
        (TENSORS["box"], "nnz", ConversionError),
        (sel.as_view(TENSORS["box"]), "nnz", ConversionError),
        (ROWS.shape, "extents", JaggedModeError),
        (ROWS.layout, "strides", LayoutError),
    ],
)
def test_what_is_not_there_is_said_by_the_error_of_before(value, name, error):
    assert not hasattr(value, name)
    assert getattr(value, name, "no") == "no"
    with pytest.raises(error, match=r"needs|extent") as caught:
        getattr(value, name)
    assert isinstance(caught.value, AttributeError)
    assert type(caught.value).__name__ == error.__name__


@pytest.mark.parametrize("kind", [LayoutError, JaggedModeError, ModeNameError, ConversionError])
def test_an_absent_error_is_copied_and_sent_as_the_one_that_it_stands_for(kind):
    error = absent(kind("text"))
    assert isinstance(error, kind)
    assert isinstance(error, TensorWrapperError)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert isinstance(twin, kind)
        assert twin.args == ("text",)
