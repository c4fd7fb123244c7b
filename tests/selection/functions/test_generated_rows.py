"""Constants over shapes of every kind: one view, with the shape as it was given, in memory and in JSON."""

import numpy as np
import pytest
from hypothesis import given

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.testing import shapes

KINDS = {
    "rows": tw.Shape.jagged([2, 0, 3]),
    "rows elsewhere": tw.Shape.jagged([2, 0, 3]).translate_to((5, -1)),
    "no rows": tw.Shape.jagged([], rank=2),
    "deep rows": tw.Shape.jagged([[1, 2], []], rank=3),
    "cells": tw.Shape.jagged([tw.Shape(1, 2), tw.Shape(2, 1)]),
    "tiles": tw.Shape.tiled([1, 2], [3]),
    "triangle": tw.Shape.triangular(3, "upper"),
    "layers": tw.Shape.nested(tw.Shape(2, 2), layers=(1, 1)),
    "tiles in layers": tw.Shape.nested(tw.Shape.tiled([1, 2], [3]), layers=(2, 2)),
    "names": tw.Shape.jagged([2, 0, 3]).named("event", "hit"),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("value", [3, 2.5, True, "text", np.datetime64("2020-01-01")])
def test_a_constant_takes_every_shape(name, value):
    shape = KINDS[name]
    view = sel.full(shape, value)
    found = view.compute()
    assert view.shape == found.shape == shape
    assert found.dtype == sel.full((), value).dtype
    assert found.array_equal(tw.full(shape, value))
    read = sel.from_json(sel.to_json(view), sources={})
    assert read.shape == shape
    assert read.compute().array_equal(found)


@given(shapes())
def test_zeros_and_ones_are_those_in_memory(shape):
    assert sel.zeros(shape).compute().array_equal(tw.zeros(shape))
    assert sel.ones(shape, dtype="i2").compute().array_equal(tw.full(shape, 1, dtype="i2"))
    assert sel.zeros(shape).shape == shape


def test_it_takes_part_in_views_of_rows():
    rows = tw.jagged([[1, 2], [], [3, 4, 5]])
    assert sel.where(sel.as_view(rows) > 2, rows, sel.zeros(rows.shape, dtype="i8")).tolist() == [
        [0, 0],
        [],
        [3, 4, 5],
    ]
    assert sel.concat([rows, sel.full(tw.Shape.jagged([1, 2]), 9)]).compute().tolist()[3:] == [[9], [9, 9]]
