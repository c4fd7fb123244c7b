"""Generated views over shapes of every kind: in memory, in JSON, and as the box around them has them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import LayerError
from tensorwrapper.testing import jagged_shapes, shapes, tiled_shapes

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


@given(st.one_of(jagged_shapes(), tiled_shapes()), st.data())
def test_what_is_generated_over_rows_is_what_the_box_around_them_has(shape, data):
    indices = shape.indices_at(np.arange(shape.size))
    mode = data.draw(st.integers(0, shape.rank - 1))
    views = {
        "iota": sel.iota(shape, mode, start=3, step=2),
        "compute": sel.compute(shape, lambda *places: sum(places), dtype="i8"),
        "random": sel.random(shape, seed=5),
    }
    assert all(view.shape == shape for view in views.values())
    found = {name: view.compute().elements().tolist() for name, view in views.items()}
    assert found["iota"] == (3 + 2 * indices[:, mode]).tolist()
    assert found["compute"] == indices.sum(axis=1).tolist()
    box = shape.as_smooth().copy()
    drawn = sel.random(box, seed=5).compute().to_numpy()
    assert found["random"] == drawn[tuple((indices - np.array(box.origin)).T)].tolist()
    for name in ("iota", "random"):
        read = sel.from_json(sel.to_json(views[name]), sources={})
        assert read.shape == shape
        assert read.compute().elements().tolist() == found[name]


@pytest.mark.parametrize("make", [sel.iota, lambda shape: sel.random(shape, seed=1)])
def test_what_differs_by_index_has_no_layers(make):
    with pytest.raises(LayerError, match="flatten"):
        make(KINDS["layers"])


def test_it_takes_part_in_views_of_rows():
    rows = tw.jagged([[1, 2], [], [3, 4, 5]])
    assert sel.where(sel.as_view(rows) > 2, rows, sel.zeros(rows.shape, dtype="i8")).tolist() == [
        [0, 0],
        [],
        [3, 4, 5],
    ]
    assert sel.concat([rows, sel.full(tw.Shape.jagged([1, 2]), 9)]).compute().tolist()[3:] == [[9], [9, 9]]
