"""Strategies draw shapes of the kind that is asked for, within their bounds, and small enough for laws."""

import pytest
from hypothesis import find, given, settings

from tensorwrapper import Shape, Tiling, testing

KINDS = {
    "smooth": testing.smooth_shapes(),
    "jagged": testing.jagged_shapes(),
    "tiled": testing.tiled_shapes(),
    "triangular": testing.triangular_shapes(),
    "nested": testing.nested_shapes(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_shape_is_of_its_kind_and_small(kind):
    @given(KINDS[kind])
    @settings(max_examples=30)
    def law(shape):
        assert isinstance(shape, Shape)
        assert shape.kind == (kind if kind in {"smooth", "nested"} else "jagged")
        assert shape.size < 20_000

    law()


@given(testing.tilings())
def test_tilings_are_tilings(tiling):
    assert isinstance(tiling, Tiling)


@pytest.mark.parametrize("wanted", ["smooth", "jagged", "nested"])
def test_every_kind_is_drawn(wanted):
    assert find(testing.shapes(), lambda shape: shape.kind == wanted).kind == wanted


def test_empty_shapes_and_shapes_away_from_zero_are_drawn():
    assert find(testing.shapes(), lambda shape: shape.rank > 0 and shape.size == 0) is not None
    assert find(testing.smooth_shapes(), lambda shape: any(shape.origin)) is not None
