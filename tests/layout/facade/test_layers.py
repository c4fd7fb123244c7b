"""Layers of a layout: given, taken away, and no part of where elements lie."""

import pytest

from tensorwrapper.errors import LayerError, LayoutError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling

N = Shape.nested(Shape(2, 3, 4, 5, origin=(1, 0, -1, 2)), layers=(2, 2))


def test_what_regroups_modes_asks_for_a_layout_without_layers():
    for change in (
        lambda one: one.reshape((6, 20)),
        lambda one: one.squeeze(),
        lambda one: one.merge_modes(0, 1),
        lambda one: one.as_tiled(Tiling([2], [3], [4], [5])),
    ):
        with pytest.raises(LayoutError, match="flatten"):
            change(Layout(N))


# Layers over memory that lies as it lies.


def test_layers_over_any_layout_move_nothing():
    flat = Layout(Shape(3, 4), order="F")
    rows = Layout.nested(flat, layers=(1, 1))
    assert rows.shape == Shape.nested(Shape(3, 4), layers=(1, 1))
    assert rows.to_numpy().tolist() == flat.to_numpy().tolist()
    assert rows.element((2,)).strides == (3,)
    assert not rows.hints().layers[0].is_one_run
    assert Layout.nested(rows, layers=(2,)).shape == Shape.nested(Shape(3, 4), layers=(2,))
    assert rows.flatten() == flat
    assert flat.flatten() is not None
    assert flat.flatten() == flat


def test_layers_deal_all_modes():
    with pytest.raises(LayerError, match="do not split"):
        Layout.nested(Layout(Shape(3, 4)), layers=(1, 2))
    with pytest.raises(LayoutError, match="composite"):
        Layout.nested(Layout.parse("S<1,0,2> o 0 o (4,4):(4,1)"), layers=(1, 1))
    modes = Layout.nested(Layout.parse("((2,2),4):((1,8),2)"), layers=(2, 1))
    assert modes.strides == (1, 8, 2)
