"""Which elements lie at given offsets: against a search through all offsets of the layout."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ExtentError, LayoutError, RankError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.axes._axis import Cycle, Stride, Table
from tensorwrapper.layout.axes._positions import spread_of
from tensorwrapper.layout.boxes._separable import from_axes
from tensorwrapper.layout.operations._inverse_map import InverseMap
from tensorwrapper.shape import Shape, Tiling


def search(layout, offsets):
    """Every element at one of the offsets, by going through all elements."""
    number = {offset: k for k, offset in enumerate(offsets.tolist())}
    flat = layout.to_numpy().reshape(-1).tolist()
    return [(number[offset], ordinal) for ordinal, offset in enumerate(flat) if offset in number]


def check(layout, offsets):
    offsets = np.array(sorted(set(offsets)), dtype=np.int64)
    expected = search(layout, offsets)
    numbers, ordinals = InverseMap(layout.implementation).elements(offsets)
    assert list(zip(numbers.tolist(), ordinals.tolist(), strict=True)) == expected
    assert InverseMap(layout.implementation).count(offsets) == len(expected)
    reached = {number for number, _ in expected}
    assert InverseMap(layout.implementation).has(offsets).tolist() == [
        k in reached for k in range(len(offsets))
    ]


STEPS = st.sampled_from([1, 2, 3, -1, -2])
BOUNDS = st.one_of(st.none(), st.integers(-6, 6))
WIDTHS = st.tuples(st.integers(0, 3), st.integers(0, 3))
PADS = st.sampled_from(["wrap", "edge", "reflect", "symmetric"])


def gather(layout, mode, draw):
    places = st.lists(st.integers(0, layout.shape.extents[mode] - 1), max_size=6)
    return layout.gather(mode, np.array(draw(places), dtype=int))


def cut(layout, draw):
    return layout[tuple(slice(draw(BOUNDS), draw(BOUNDS), draw(STEPS)) for _ in layout.shape.extents)]


# ruff: noqa: ARG005 - the functions of the table take the same arguments
# What each does to a layout, at a mode that has positions, with arguments drawn at random.
OPERATIONS = {
    "permute": lambda a, m, draw: a.permute(draw(st.permutations(range(a.shape.rank)))),
    "reverse": lambda a, m, draw: a.reverse(m),
    "rotate": lambda a, m, draw: a.rotate([draw(st.integers(-4, 4)) for _ in a.shape.extents]),
    "repeat": lambda a, m, draw: a.repeat([draw(st.sampled_from([1, 2, 40])) for _ in a.shape.extents]),
    "repeat_each": lambda a, m, draw: a.repeat_each(m, draw(st.integers(1, 3))),
    "gather": gather,
    "slice": lambda a, m, draw: cut(a, draw),
    "broadcast": lambda a, m, draw: a.broadcast(Shape(2, *a.shape.extents)),
    "pad": lambda a, m, draw: a.pad([draw(WIDTHS) for _ in a.shape.extents], boundary=draw(PADS)),
    "sliding_window": lambda a, m, draw: a.sliding_window(m, draw(st.integers(1, a.shape.extents[m]))),
    "diagonal": lambda a, m, draw: a.diagonal(0, a.shape.rank - 1),
}


def changed(layout, operation, draw):
    """The layout after one operation; as it is if there is nothing to do it to, or too much would come."""
    modes = [mode for mode, extent in enumerate(layout.shape.extents) if extent]
    if not modes:
        return layout
    try:
        after = OPERATIONS[operation](layout, draw(st.sampled_from(modes)), draw)
    except (ExtentError, LayoutError, RankError):
        # A window over a mode without a stride, a pad of nothing, a diagonal of one mode.
        return layout
    return after if after.shape.size <= 5000 else layout


@given(st.data())
def test_after_any_operations_the_elements_at_offsets_are_those_that_a_search_finds(data):
    extents = data.draw(st.lists(st.integers(0, 5), max_size=3))
    layout = Layout(Shape(*extents), order=data.draw(st.sampled_from("CF")))
    size = layout.shape.size
    for operation in data.draw(st.lists(st.sampled_from(sorted(OPERATIONS)), max_size=5)):
        layout = changed(layout, operation, data.draw)
    check(layout, data.draw(st.sets(st.integers(0, size + 1))))


@given(st.data())
def test_strides_of_any_sign_and_size_are_inverted(data):
    extents = data.draw(st.lists(st.integers(0, 4), max_size=4))
    strides = [data.draw(st.integers(-9, 9)) for _ in extents]
    layout = Layout(Shape(*extents, origin=[3] * len(extents)), strides=strides, offset=10)
    check(layout, data.draw(st.sets(st.integers(-60, 80))))


@given(st.data())
def test_cycles_of_any_numbers_are_inverted(data):
    draw = data.draw
    extent, start, turn = draw(st.integers(1, 90)), draw(st.integers(0, 40)), draw(st.integers(-9, 9))
    modulus, hold = draw(st.one_of(st.none(), st.integers(1, 40))), draw(st.integers(1, 40))
    cycle = Cycle(extent, start, turn, modulus, hold, draw(st.sampled_from([1, 2, -3])))
    check_axis(cycle, abs(cycle.step))
    outer = 2 * max(map(abs, cycle.bounds())) + 1
    layout = Layout._wrap(from_axes(Shape(2, extent), 1000, (Stride(2, outer), cycle)))
    check(layout, draw(st.sets(st.sampled_from(sorted(set(layout.to_numpy().reshape(-1).tolist()))))))


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9))
def test_tables_are_inverted(values):
    check_axis(Table(np.array(values)), 1)


def check_axis(axis, step):
    """All multiples of the step near the offsets of an axis are looked up, whether they have a position."""
    low, high = axis.bounds()
    offsets = np.arange(low - 3 * step, high + 4 * step, step)
    rows, places = spread_of(axis, offsets).positions(np.arange(len(offsets)))
    found = sorted(zip(offsets[rows].tolist(), places.tolist(), strict=True))
    assert found == sorted(zip(axis.offsets().tolist(), range(axis.extent), strict=True))


OTHERS = {
    "packed": lambda: Layout(Shape.jagged([3, 0, 2]), offset=4),
    "cells": lambda: Layout(Shape.jagged([Shape(1, 2), Shape(3, 2)])),
    "tiled view": lambda: Layout(Shape(5, 4), order="F").as_tiled(Tiling([2, 0, 3], [1, 3])),
    "some of its tiles": lambda: Layout(Shape(5, 4), order="F").as_tiled(Tiling([2, 3], [1, 3]))[1:],
    "a window of tiles": lambda: (
        Layout(Shape(5, 4)).as_tiled(Tiling([2, 3], [1, 3])).window(Shape.tiled([2, 3], [1, 3])[1:, :])
    ),
    "rows in reverse": lambda: Layout(Shape.jagged([3, 0, 2, 4]))[::-1],
    "rows reversed each": lambda: Layout(Shape.jagged([3, 0, 2, 4]), offset=3)[:, ::-1],
    "parts of cells": lambda: Layout(Shape.jagged([Shape(3, 2), Shape(1, 2), Shape(3, 4)]))[::-2, ::2, 1:],
    "padded": lambda: Layout.padded(Shape.jagged([3, 0, 2, 4])),
    "tile-major": lambda: Layout.tiled(Tiling([2, 3], [1, 3]), order="F", alignment=4, offset=2),
    "nested modes": lambda: Layout.parse("((2,2),4):((1,8),2)", order="colex"),
    "swizzled": lambda: Layout.parse("S<1,0,2> o 0 o (4,4):(4,1)"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_kind_of_layout_is_inverted(name):
    layout, choose = OTHERS[name](), random.Random(name)
    for part in (0.0, 0.3, 1.0):
        check(layout, [offset for offset in range(40) if choose.random() < part])


# Rows of the table of inverses: extents, strides, and what each offset leads to (in row-major order).
WORKED = [
    (Layout(Shape(2, 2)), {0: [0], 1: [1], 2: [2], 3: [3]}),
    (Layout(Shape(2, 2), order="F"), {0: [0], 1: [2], 2: [1], 3: [3]}),
    (Layout(Shape(2, 2), strides=(3, 1)), {0: [0], 1: [1], 2: [], 3: [2], 4: [3]}),
    (Layout(Shape(2, 2), order="F").repeat((2, 1)), {0: [0, 4], 1: [2, 6], 2: [1, 5], 3: [3, 7]}),
    (Layout(Shape(2, 2))[:, ::-1].repeat((2, 1)), {0: [1, 5], 1: [0, 4], 2: [3, 7], 3: [2, 6]}),
    (Layout(Shape(3, 3)).rotate((0, -1)), {0: [2], 1: [0], 2: [1], 3: [5], 4: [3], 5: [4]}),
]


@pytest.mark.parametrize(("layout", "expected"), WORKED)
def test_the_worked_examples_of_inverses(layout, expected):
    for offset, ordinals in expected.items():
        assert InverseMap(layout.implementation).elements(np.array([offset]))[1].tolist() == ordinals


def test_a_layout_of_a_million_million_elements_is_inverted_without_a_table():
    million = 10**6
    layout = Layout(Shape(million, million)).permute((1, 0))[::-3, 5:].rotate((7, 11))
    indices = np.array([[0, 0], [123, 456], [333_333, 999_994]])
    offsets = np.sort(layout.offsets_of(indices))
    numbers, ordinals = InverseMap(layout.implementation).elements(offsets)
    assert len(numbers) == 3
    assert layout.shape.indices_at(ordinals).tolist() == indices.tolist()


def test_long_modes_that_turn_and_dwell_are_inverted_without_a_table():
    far = 10**12
    for layout in (
        Layout(Shape(far)).rotate([5])[::3],
        Layout(Shape(far)).repeat_each(0, 3)[::-2],
        Layout(Shape(7)).repeat([far]),
        Layout(Shape(7)).repeat_each(0, 2).repeat([far]),
    ):
        place = layout.shape.size // 2
        offset = layout.offset_of((place,))
        spread = InverseMap(layout.implementation).count(np.array([offset]))
        assert spread >= 1
        if spread < 10:
            assert place in InverseMap(layout.implementation).elements(np.array([offset]))[1].tolist()


def test_more_indices_than_64_bits_count_are_counted_and_not_listed():
    layout = Layout(Shape(1, 1)).broadcast((2**40, 2**40))
    assert InverseMap(layout.implementation).count(np.array([0])) == 2**80
    assert InverseMap(layout.implementation).has(np.array([0])).tolist() == [True]
    with pytest.raises(SizeOverflowError):
        InverseMap(layout.implementation).elements(np.array([0]))
