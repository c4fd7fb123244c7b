"""Division: which tile, and where in it."""

import random

import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout import (
    Layout,
    complement,
    flat_divide,
    logical_divide,
    make_layout,
    parse_tiler,
    tiled_divide,
    zipped_divide,
)
from tensorwrapper.shape import Shape
from tests.support.layout.layouts import ORDERS, extended, leaves, model, random_layout, table
from tests.support.long_runs import IS_LONG

PAIRS = 100_000 if IS_LONG else 2_000
DIVISIONS = (logical_divide, zipped_divide, tiled_divide, flat_divide)


def pairs(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        order = draw.choice(ORDERS)
        steps = draw.choice([range(-4, 5), range(1, 9), (1, 2, 4)])
        yield random_layout(draw, order), random_layout(draw, order, rank=2, steps=steps, lift=True)


@pytest.mark.timeout(3000)
def test_tile_and_rest_add_up_to_ordinals_and_every_element_occurs():
    made = 0
    for layout, tiler in pairs(PAIRS, seed=21):
        places = model(layout)
        try:
            copies = model(complement(tiler, len(places)))
        except LayoutError:
            with pytest.raises(LayoutError):
                logical_divide(layout, tiler)
            continue
        ordinals = {b + c for b in set(model(tiler)) for c in copies}
        if ordinals != set(range(len(places))):
            with pytest.raises(LayoutError, match="divide"):
                logical_divide(layout, tiler)
            continue
        made += 1
        divided = logical_divide(layout, tiler)
        for i, first in enumerate(model(tiler)):
            found = [divided.offset_of_ordinal((i, j)) for j in range(len(copies))]
            assert found == [places[first + second] for second in copies]
        for division in DIVISIONS[1:]:
            assert sorted(table(division(layout, tiler)).tolist()) == sorted(table(divided).tolist())
        if divided.is_composite:
            with pytest.raises(LayoutError, match="proved"):
                logical_divide(layout, tiler, exact="raise")
    assert made > PAIRS // 20


@pytest.mark.timeout(3000)
def test_extended_tiles_stick_out_and_leave_nothing_out():
    stuck = 0
    for layout, tiler in pairs(PAIRS // 4, seed=22):
        places = model(layout)
        try:
            divided = logical_divide(layout, tiler, outside="extend")
        except LayoutError:
            continue
        copies = model(complement(tiler, len(places)))
        ordinals = np.add.outer(model(tiler), copies)
        assert set(range(len(places))) <= set(ordinals.ravel().tolist())
        found = [
            [divided.offset_of_ordinal((i, j)) for j in range(len(copies))] for i in range(len(ordinals))
        ]
        assert found == extended(layout, ordinals).tolist()
        stuck += len(set(ordinals.ravel().tolist())) > len(places)
    assert stuck > 20


def grouped(layout, tiler):
    """Offsets of a matrix, tile by tile, from NumPy."""
    rows, columns = layout.shape.extents
    a, b = tiler
    matrix = layout.to_numpy()
    # (tile row, tile column, row in tile, column in tile)
    return matrix.reshape(rows // a, a, columns // b, b).transpose(0, 2, 1, 3)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("strides", [(6, 1), (1, 4), (-6, 2), (0, 5)])
def test_matrices_are_cut_into_blocks(strides, order):
    layout = make_layout((4, 6), strides, order=order)
    tiles = grouped(layout, (2, 3))
    logical = logical_divide(layout, (2, 3))
    zipped = zipped_divide(layout, (2, 3))
    tiled = tiled_divide(layout, (2, 3))
    flat = flat_divide(layout, (2, 3))
    assert logical.nested_extents == ((2, 2), (3, 2))
    assert zipped.nested_extents == ((2, 3), (2, 2))
    assert tiled.nested_extents == ((2, 3), 2, 2)
    assert flat.nested_extents == (2, 3, 2, 2)
    for p, q, i, j in np.ndindex(2, 2, 2, 3):
        expected = tiles[p, q, i, j]
        assert logical.offset_of_ordinal(((i, p), (j, q))) == expected
        assert zipped.offset_of_ordinal(((i, j), (p, q))) == expected
        assert tiled.offset_of_ordinal(((i, j), p, q)) == expected
        assert flat.offset_of_ordinal((i, j, p, q)) == expected


@pytest.mark.parametrize(
    ("division", "layout", "tiler", "order", "expected"),
    [
        (logical_divide, "(8,8):(8,1)", "32:2", "colex", "((4,8),2):((16,1),8)"),
        (logical_divide, "(8,8):(8,1)", "32:2", "lex", "(32,2):(2,1)"),
        (logical_divide, "(6,8):(8,1)", "[3:1;4:1]", "lex", "((3,2),(4,2)):((8,24),(1,4))"),
        (logical_divide, "(6,8):(8,1)", "[(3):(1);(4):(1)]", "lex", "(((3),2),((4),2)):(((8),24),((1),4))"),
        (logical_divide, "(6,8):(8,1)", "[3:1]", "lex", "((3,2),8):((8,24),1)"),
        (logical_divide, "(6,8):(8,1)", "[_;4:2]", "lex", "(6,(4,2)):(8,(2,1))"),
        (
            logical_divide,
            "(6,(2,4)):(8,(4,1))",
            "[_;[2:1;2:2]]",
            "lex",
            "(6,((2,1),(2,2))):(8,((4,0),(2,1)))",
        ),
        (logical_divide, "6:1", "[3:1]", "lex", "((3,2)):((1,3))"),
        (logical_divide, "(2,2):(2,1)", "[]", "lex", "(2,2):(2,1)"),
        (logical_divide, "12:1", "(4):(-1)+3", "lex", "((4),3):((-1),4)+3"),
        (logical_divide, "6:2", "3:0", "lex", "(3,6):(0,2)"),
        (zipped_divide, "(8,32):(1,8)", "[4:1;16:2]", "colex", "((4,16),(2,2)):((1,16),(4,8))"),
        (zipped_divide, "(8,32):(1,8)", "[4:1]", "colex", "((4),(2,32)):((1),(4,8))"),
        (zipped_divide, "12:1", "4:1", "lex", "(4,3):(1,4)"),
        (tiled_divide, "(8,32):(1,8)", "[4:1]", "colex", "((4),2,32):((1),4,8)"),
        (tiled_divide, "(6,8):(8,1)", "(3,4):(1,3)", "colex", "((3,(2,2)),4):((8,(24,1)),2)"),
        (tiled_divide, "24:1", "2:4", "lex", "(2,3,4):(4,8,1)"),
        (flat_divide, "(8,32):(1,8)", "[4:1]", "colex", "(4,2,32):(1,4,8)"),
        (flat_divide, "24:1", "2:4", "lex", "(2,3,4):(4,8,1)"),
    ],
)
def test_by_example(division, layout, tiler, order, expected):
    made = division(Layout.parse(layout, order=order), parse_tiler(tiler, order=order))
    assert str(made) == expected


def test_a_mode_that_is_left_counts_as_tile_and_rest():
    layout = Layout.parse("((2,(8,4)),(2,4,2)):((1,(2,16)),(64,128,512))")
    made = zipped_divide(layout, parse_tiler("[_;[2:1;1:1]]"))
    assert made.nested_extents == ((2, (2, 1)), ((8, 4), (1, 4, 2)))
    with pytest.raises(LayoutError, match="must have two modes"):
        zipped_divide(Layout.parse("(4,6):(6,1)"), (None, 3))


def test_modes_beyond_the_tiler_are_part_of_the_rest():
    layout = Layout.parse("(4,6,5):(30,5,1)")
    assert str(zipped_divide(layout, (2, 3))) == "((2,3),(2,2,5)):((30,5),(60,15,1))"
    assert str(logical_divide(layout, (2,))) == "((2,2),6,5):((30,60),5,1)"


def test_extending_by_mode_lets_tiles_stick_out_of_that_mode():
    layout = Layout.parse("(5,6):(6,1)")
    made = logical_divide(layout, (2, 4), outside="extend")
    assert str(made) == "((2,3),(4,2)):((6,12),(1,4))"
    assert made.offset_of_ordinal(((0, 2), (1, 1))) == layout.offset_of((4, 5))


def test_a_composite_is_divided_inside():
    layout = Layout.parse("S<1,0,2> o 0 o (4,4):(4,1)")
    made = zipped_divide(layout, (2, 2))
    assert str(made) == "S<1,0,2> o 0 o ((2,2),(2,2)):((4,1),(8,2))"
    for p, q, i, j in np.ndindex(2, 2, 2, 2):
        assert made.offset_of_ordinal(((i, j), (p, q))) == layout.offset_of((2 * p + i, 2 * q + j))


def test_modes_that_carry_make_a_composite_of_the_same_elements():
    layout = Layout.parse("(4,6):(1,16)", order="colex")
    made = logical_divide(layout, Layout.parse("3:1", order="colex"))
    assert made.is_composite
    assert sorted(table(made).tolist()) == sorted(model(layout))
    assert leaves(made.nested_extents) == [3, 8]


A = Layout.parse("(4,6):(6,1)")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: logical_divide(A, 5), LayoutError, "span 5 ordinals do not divide the 24 of the layout"),
        (lambda: logical_divide(A, (3,)), LayoutError, "do not divide the 4 of mode 0 of the layout"),
        (lambda: logical_divide(A, (None, 4)), LayoutError, "do not divide the 6 of mode 1"),
        (
            lambda: logical_divide(A, Layout.parse("(2,2):(3,1)")),
            LayoutError,
            "leave ordinals .* out: 2, the span",
        ),
        (lambda: logical_divide(A, Layout.parse("(2,2):(1,1)")), LayoutError, "starts within"),
        (lambda: logical_divide(A, Layout.parse("2:1+1")), LayoutError, "begins at ordinal 1"),
        (lambda: logical_divide(A, Layout.parse("2:-1")), LayoutError, "begins at ordinal -1"),
        (lambda: logical_divide(A, Layout.parse("0:1")), LayoutError, "without elements"),
        (lambda: logical_divide(A, 0), LayoutError, "at least one element"),
        (lambda: logical_divide(A, -2), LayoutError, "at least one element"),
        (lambda: logical_divide(A, (2, 2, 2)), LayoutError, "3 entries does not fit"),
        (lambda: logical_divide(A, ((2, 2),)), LayoutError, "2 entries does not fit mode 0"),
        (lambda: logical_divide(A, 2.0), ConversionError, "integer"),
        (lambda: logical_divide(A, "2"), ConversionError, "integer"),
        (lambda: logical_divide(A, Layout.parse("2:1", order="colex")), LayoutError, "the other in"),
        (lambda: logical_divide(Layout.parse("(0,2):(2,1)"), 1), LayoutError, "no element to divide"),
        (lambda: logical_divide(24, A), ConversionError, "takes layouts"),
        (lambda: logical_divide(A, 2, outside="pad"), ConversionError, "outside must be"),
        (lambda: logical_divide(A, 2, exact="yes"), ConversionError, "exact must be"),
        (lambda: logical_divide(Layout(Shape.jagged([1, 2])), 1), LayoutError, "stride per mode"),
        (lambda: logical_divide(A, Layout.parse("S<1,0,1> o 0 o 4:1")), LayoutError, "composite"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
