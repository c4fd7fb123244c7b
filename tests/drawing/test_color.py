"""Colours: darker for more, and different for different layers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.drawing._color import EMPTY, layer_color, log_color, ramp


def light(color):
    """How light a colour looks in grey, from 0 to 255."""
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_is_darker(one, two):
    low, high = sorted([one, two])

    assert light(ramp(high)) <= light(ramp(low)) + 1  # colours are rounded


@pytest.mark.parametrize(("place", "same"), [(-3, 0), (7, 1), (math.inf, 1), (-math.inf, 0)])
def test_beyond_the_ends_is_the_end(place, same):
    assert ramp(place) == ramp(same)


@pytest.mark.parametrize("layers", range(1, 12))
def test_no_two_layers_are_alike_and_inner_ones_are_darker(layers):
    colors = [layer_color(layer, layers) for layer in range(layers)]

    assert len(set(colors)) == layers
    assert sorted(colors, key=light, reverse=True) == colors


def test_magnitudes_are_on_a_logarithmic_scale():
    assert log_color(10, 1, 100) == ramp(0.5)
    assert log_color(0.5, 1, 100) == log_color(math.nan, 1, 100) == EMPTY
    assert log_color(1, 1, 1) == ramp(1)


def test_layers_have_shades_of_their_own():
    for layers in range(1, 7):
        shades = [layer_color(k, layers) for k in range(layers)]
        brightness = [sum(int(c[k : k + 2], 16) for k in (1, 3, 5)) for c in shades]

        assert len(set(shades)) == layers
        assert brightness == sorted(brightness, reverse=True)


def test_colours_run_from_pale_to_dark_and_grey_below():
    assert ramp(-1.0) == ramp(0.0) == "#f7fbff"
    assert log_color(1.0, 1e-8, 1.0) == ramp(1.0)
    assert log_color(1e-9, 1e-8, 1.0) == log_color(float("nan"), 1e-8, 1.0) == "#f2f2f2"
