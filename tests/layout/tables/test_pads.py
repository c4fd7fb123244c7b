"""Pads against NumPy's: all widths up to 13 of all modes up to 5."""

import itertools

import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, ExtentError, LayoutError, RankError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.axes._axis import Cycle, Stride, Table
from tensorwrapper.layout.boxes._modes import pad_positions
from tensorwrapper.shape import Shape

MODES = ("wrap", "edge", "reflect", "symmetric")


def definition(i, extent, mode):
    """Which position stands at position i, which may lie outside."""
    if mode == "wrap":
        return i % extent
    if mode == "edge":
        return min(max(i, 0), extent - 1)
    if mode == "symmetric":
        p = i % (2 * extent)
        return p if p < extent else 2 * extent - 1 - p
    if extent == 1:
        return 0
    p = i % (2 * extent - 2)
    return p if p < extent else 2 * extent - 2 - p


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("extent", range(1, 6))
def test_positions_are_numpys(mode, extent):
    whole = np.arange(extent)
    for before, after in itertools.product(range(14), repeat=2):
        expected = np.pad(whole, (before, after), mode=mode).tolist()
        assert pad_positions(extent, before, after, mode).tolist() == expected
        assert [definition(i, extent, mode) for i in range(-before, extent + after)] == expected


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("extent", range(1, 6))
def test_offsets_are_numpys_and_lead_back(mode, extent):
    layout = Layout(Shape(extent, origin=(3,)), strides=(-2,), offset=20)
    for before, after in itertools.product((0, 1, 4, 13), repeat=2):
        padded = layout.pad([(before, after)], boundary=mode)
        expected = np.pad(layout.to_numpy(), (before, after), mode=mode).tolist()
        assert padded.to_numpy().tolist() == expected
        assert padded.bounds() == (min(expected), max(expected))
        assert padded.is_injective == (len(set(expected)) == len(expected))
        # The elements keep their indices.
        assert padded.shape == Shape(extent + before + after, origin=(3 - before,))
        assert [padded.offset_of((i,)) for i in range(3, 3 + extent)] == layout.to_numpy().tolist()
        for offset in set(expected):
            assert padded.indices_of(offset) == [
                (3 - before + k,) for k, place in enumerate(expected) if place == offset
            ]
        if before + after == 0:
            assert padded == layout


@pytest.mark.parametrize("mode", MODES)
def test_several_modes_are_padded_at_once(mode):
    layout = Layout(Shape(3, 1, 4), order="F")
    widths = [(2, 0), (0, 3), (5, 1)]

    assert (
        layout.pad(widths, boundary=mode).to_numpy().tolist()
        == np.pad(layout.to_numpy(), widths, mode=mode).tolist()
    )


@pytest.mark.parametrize(
    ("mode", "form"), [("wrap", Cycle), ("edge", Table), ("reflect", Table), ("symmetric", Table)]
)
def test_a_pad_is_held_in_its_simplest_form(mode, form):
    def held(extent, before, after):
        (axis,) = Layout(Shape(extent)).pad([(before, after)], boundary=mode).implementation.axes
        return type(axis)

    assert held(6, 2, 3) is form
    # One position can only be repeated, which is a step of 0.
    assert Layout(Shape(1)).pad([(2, 3)], boundary=mode).strides == (0,)
    assert Layout(Shape(6)).pad([(2, 3)], boundary=mode)[2:-3].strides == (1,)
    assert Layout(Shape(6)).broadcast((4, 6)).pad([(2, 3), (0, 0)], boundary=mode).strides == (0, 1)


def test_a_wrapped_pad_of_a_huge_mode_is_a_closed_form():
    ring = Layout(Shape(10**15)).pad([(2, 3)], boundary="wrap")

    assert [ring.offset_of((i,)) for i in (-2, -1, 0, 10**15, 10**15 + 2)] == [
        10**15 - 2,
        10**15 - 1,
        0,
        0,
        2,
    ]
    assert ring.indices_of(1) == [(1,), (10**15 + 1,)]
    assert ring.window(Shape(10**15)) == Layout(Shape(10**15))


def test_axis_maps_wrap_over_their_own_positions():
    for axis in (Stride(4, 3), Stride(4, 3).rotate(1)[1], Stride(4, 3).gather(np.array([3, 0, 0, 1]))[1]):
        base, padded = axis.wrap_pad(5, 2)
        assert (base + padded.offsets()).tolist() == np.pad(axis.offsets(), (5, 2), mode="wrap").tolist()


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_without_positions_has_nothing_to_be_padded_with(mode):
    layout = Layout(Shape(2, 0))

    with pytest.raises(LayoutError, match="mode 1 has extent 0"):
        layout.pad([(0, 0), (1, 0)], boundary=mode)
    assert layout.pad([(1, 1), (0, 0)], boundary=mode).shape == Shape(4, 0, origin=(-1, 0))


@pytest.mark.parametrize(
    ("widths", "mode", "error", "text"),
    [
        ([(1, 1)], "edge", RankError, "one pair .* per mode, 2 in all"),
        ([(1, 1), (1,)], "edge", RankError, "one pair"),
        ([(1, 1), (1, 1, 1)], "edge", RankError, "one pair"),
        ([(1, 1), (1, -1)], "edge", ExtentError, "not be negative, but is -1"),
        ([(1, 1), (1, 0.5)], "edge", ConversionError, "integer"),
        ([(1, 1), (True, 1)], "edge", ConversionError, "bool"),
        ([1, 1], "edge", ConversionError, "sequence of integers"),
        (1, "edge", ConversionError, "one pair"),
        ([(1, 1), (1, 1)], "constant", ConversionError, '"wrap", "edge".* none for a constant'),
        ([(1, 1), (1, 1)], None, ConversionError, "boundary must be"),
    ],
    ids=str,
)
def test_what_is_refused(widths, mode, error, text):
    with pytest.raises(error, match=text):
        Layout(Shape(2, 3)).pad(widths, boundary=mode)


def test_a_jagged_shape_is_not_padded():
    with pytest.raises(LayoutError, match="pad needs a layout over a box"):
        Layout(Shape.jagged([1, 2])).pad([(1, 1), (0, 0)], boundary="edge")
