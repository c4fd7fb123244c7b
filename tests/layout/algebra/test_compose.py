"""Composition: one layout after the other, pointwise exact or refused."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout import Layout, Swizzle, compose, make_layout, parse_tiler
from tensorwrapper.shape import Shape, Tiling
from tests.support.layout.layouts import ORDERS, extended, leaves, model, random_layout, table
from tests.support.long_runs import IS_LONG

PAIRS = 300_000 if IS_LONG else 2_000


def pairs(count, seed):
    """Two layouts of one order: any strides outside, and inside any whose ordinals are not negative."""
    draw = random.Random(seed)
    for _ in range(count):
        order = draw.choice(ORDERS)
        yield random_layout(draw, order), random_layout(draw, order, lift=draw.random() < 0.9)


@pytest.mark.timeout(3000)
def test_the_result_is_first_the_inner_then_the_outer_layout():
    seen = {"layout": 0, "composite": 0, "refused": 0}
    for outer, inner in pairs(PAIRS, seed=11):
        places, ordinals = model(outer), model(inner)
        if min(ordinals) < 0 or max(ordinals) >= len(places):
            with pytest.raises(LayoutError, match="outside"):
                compose(outer, inner)
            seen["refused"] += 1
            continue
        expected = [places[ordinal] for ordinal in ordinals]
        made = compose(outer, inner)
        assert table(made).tolist() == expected
        assert [made.offset_of_ordinal(k) for k in range(len(expected))] == expected
        if made.is_composite:
            with pytest.raises(LayoutError, match=r"divide|carry"):
                compose(outer, inner, exact="raise")
            seen["composite"] += 1
        else:
            assert compose(outer, inner, exact="raise") == made
            assert model(made) == expected
            seen["layout"] += 1
    # Each branch is really taken, and most compositions are layouts.
    assert min(seen.values()) > PAIRS // 40
    assert seen["layout"] > seen["composite"]


@pytest.mark.timeout(3000)
def test_extending_lets_the_slowest_mode_of_the_outer_layout_count_on():
    for outer, inner in pairs(PAIRS // 4, seed=12):
        ordinals = model(inner)
        if min(ordinals) < 0:
            with pytest.raises(LayoutError, match="outside"):
                compose(outer, inner, outside="extend")
            continue
        if leaves(outer.nested_extents) or max(ordinals) == 0:
            made = compose(outer, inner, outside="extend")
            assert table(made).tolist() == extended(outer, ordinals).tolist()
        else:
            with pytest.raises(LayoutError, match="outside"):
                compose(outer, inner, outside="extend")


def refines(fine, coarse):
    """Whether extents have the nesting of others, with leaves replaced by trees of the same size."""
    if isinstance(coarse, int):
        return np.prod(leaves(fine), dtype=object) == coarse
    return (
        isinstance(fine, tuple)
        and len(fine) == len(coarse)
        and all(refines(a, b) for a, b in zip(fine, coarse, strict=True))
    )


def test_the_nesting_of_the_result_refines_that_of_the_inner_layout():
    for outer, inner in pairs(1000, seed=13):
        ordinals = model(inner)
        if min(ordinals) >= 0 and max(ordinals) < outer.shape.size:
            assert refines(compose(outer, inner).nested_extents, inner.nested_extents)


@pytest.mark.timeout(3000)
def test_composition_is_associative():
    for a, b in pairs(PAIRS // 4, seed=14):
        draw = random.Random(str(a) + str(b))
        c = random_layout(draw, a.ordinal_order, lift=True)
        try:
            right = compose(a, compose(b, c))
            left = compose(compose(a, b), c)
        except LayoutError:
            continue
        assert table(left).tolist() == table(right).tolist()


@pytest.mark.parametrize(
    ("outer", "inner", "order", "expected"),
    [
        ("(6,4):(1,6)", "(2,2):(8,1)", "lex", "(2,2):(2,6)"),
        ("(6,2):(8,2)", "(4,3):(3,1)", "colex", "((2,2),3):((24,2),8)"),
        ("(8,8):(8,1)", "3:3", "colex", "3:24"),
        ("(4,6,8,10):(2,3,5,7)", "6:12", "colex", "(2,3):(9,5)"),
        ("(5,2):(7,100)", "4:3", "colex", "(2,2):(21,107)"),
        ("(4,8):(1,10)", "2:5", "colex", "2:11"),
        ("12:2", "(4,3):(3,1)", "lex", "(4,3):(6,2)"),
        ("4:0", "4:1", "lex", "4:0"),
        ("(4,4):(1,9)", "(0,3):(1,1)", "lex", "(0,3):(1,1)"),
        ("(4,4):(5,1)", "(4):(-1)+3", "lex", "(4):(-1)+3"),
        ("(4,4):(5,1)", "(2,4):(-4,-1)+7", "lex", "(2,4):(-5,-1)+8"),
        ("(4,4):(5,1)+2", "2:4+5", "lex", "2:5+8"),
    ],
)
def test_by_example(outer, inner, order, expected):
    assert str(compose(Layout.parse(outer, order=order), Layout.parse(inner, order=order))) == expected


def test_by_mode_each_mode_is_composed_for_itself():
    draw = random.Random(15)
    for _ in range(500):
        order = draw.choice(ORDERS)
        sizes = [draw.randint(1, 4) for _ in range(3)]
        outer = make_layout((sizes[0], (sizes[1], sizes[2])), (7, (1, 29)), order=order)
        inner = [random_layout(draw, order, rank=2, steps=range(3), lift=True) for _ in range(2)]
        count = draw.randint(1, 2)
        modes = [make_layout(sizes[0], 7, order=order), make_layout(tuple(sizes[1:]), (1, 29), order=order)]
        try:
            parts = [compose(m, i) for m, i in zip(modes[:count], inner, strict=False)]
        except LayoutError:
            with pytest.raises(LayoutError, match="outside those of mode"):
                compose(outer, tuple(inner[:count]))
            continue
        made = compose(outer, tuple(inner[:count]))
        expected = [table(part) for part in parts]
        if count == 1:
            assert table(made).tolist() == expected[0].tolist()
            continue
        slow, fast = expected if order == "lex" else expected[::-1]
        assert table(made).tolist() == np.add.outer(slow, fast).ravel().tolist()


def test_tilers_take_integers_and_leave_modes():
    outer = Layout.parse("(6,(4,2)):(8,(2,1))")
    assert str(compose(outer, (3, None))) == "(3,(4,2)):(8,(2,1))"
    assert str(compose(outer, (3, (2,)))) == "(3,(2)):(8,(2))"
    assert str(compose(outer, (np.int64(3),))) == "(3):(8)"
    assert str(compose(outer, 12)) == str(compose(outer, Layout.parse("12:1")))
    assert compose(outer, None) == outer
    assert str(compose(Layout.parse("(2,2):(2,1)+5"), ())) == "():()+5"
    assert str(compose(Layout.parse("4:3+5"), ())) == "():()+5"
    assert str(compose(Layout.parse("4:3"), (2,))) == "(2):(3)"
    assert str(compose(outer, parse_tiler("[2:2;(2,2):(4,1)]"))) == "(2,(2,2)):(16,(4,1))"
    assert str(compose(Layout(Shape(4, 6)), (2, 3))) == "(2,3):(6,1)"


def test_extending_by_mode_enlarges_that_mode():
    outer = Layout.parse("(2,(2,3)):(6,(3,1))")
    assert str(compose(outer, (4, None), outside="extend")) == "(4,(2,3)):(6,(3,1))"
    assert str(compose(outer, (None, 12), outside="extend")) == "(2,12):(6,1)"
    with pytest.raises(LayoutError, match=r"mode 0 of the layout, which go from 0 to 1; outside"):
        compose(outer, (4, None))


def test_a_composite_outside_or_inside_stays_exact():
    draw = random.Random(16)
    tried = 0
    while tried < 300:
        order = draw.choice(ORDERS)
        a = random_layout(draw, order)
        b, c = (random_layout(draw, order, lift=True) for _ in range(2))
        swizzle = Swizzle(1, draw.randint(0, 1), draw.choice([-1, 1, 2]))
        swizzled = compose(swizzle, b)
        try:
            made = compose(a, compose(swizzled, c))
            other = compose(compose(a, swizzled), c)
        except LayoutError:
            continue
        tried += 1
        places, middle = model(a), model(b)
        assert table(made).tolist() == [places[swizzle(middle[k])] for k in model(c)]
        assert table(other).tolist() == table(made).tolist()


def test_a_composite_inside_can_extend_the_outer_layout():
    inner = Layout.parse("S<1,0,1> o 0 o 12:1")
    outer = Layout.parse("(2,3):(10,1)")
    made = compose(outer, inner, outside="extend")
    assert [made.offset_of_ordinal(k) for k in range(12)] == [
        int(10 * (j // 3) + j % 3) for j in (Swizzle(1, 0, 1)(k) for k in range(12))
    ]
    with pytest.raises(LayoutError, match="outside the ordinals"):
        compose(outer, inner)


A = Layout.parse("(4,4):(4,1)")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: compose(A, Layout.parse("4:1", order="colex")), LayoutError, '"lex", the other in "colex"'),
        (lambda: compose(A, (Layout.parse("4:1", order="colex"),)), LayoutError, '"lex", the other in'),
        (lambda: compose(A, Layout.parse("S<1,0,1> o 0 o 4:1", order="colex")), LayoutError, "the other in"),
        (lambda: compose(A, Layout.parse("5:4")), LayoutError, "from 0 to 16 are needed"),
        (lambda: compose(A, Layout.parse("4:-1")), LayoutError, "from -3 to 0 are needed"),
        (lambda: compose(A, Layout.parse("4:-1"), outside="extend"), LayoutError, "from -3 to 0"),
        (lambda: compose(Layout.parse("(0,2):(2,1)"), 1), LayoutError, "outside"),
        (lambda: compose(Layout.parse("(0,2):(2,1)"), 1, outside="extend"), LayoutError, "outside"),
        (lambda: compose(Layout.parse("():()"), 2, outside="extend"), LayoutError, "from 0 to 1 are needed"),
        (lambda: compose(A, (2, 2, 2)), LayoutError, "3 entries does not fit"),
        (lambda: compose(A, ((2, 2),)), LayoutError, "2 entries does not fit mode 0"),
        (lambda: compose(A, 0), LayoutError, "at least one element"),
        (lambda: compose(A, 2.0), ConversionError, "integer"),
        (lambda: compose(A, True), ConversionError, "integer"),
        (lambda: compose(A, "4:1"), ConversionError, "integer"),
        (lambda: compose("4:1", A), ConversionError, "Layout.parse"),
        (lambda: compose(A, (Layout.parse("S<1,0,1> o 0 o 4:1"),)), LayoutError, "not the composite"),
        (lambda: compose(A, Swizzle(1, 0, 1)), ConversionError, "integer"),
        (lambda: compose(Swizzle(1, 0, 1), (2,)), LayoutError, "no modes"),
        (lambda: compose(Swizzle(1, 0, 1), Layout.parse("4:-1")), LayoutError, "outside the ordinals"),
        (lambda: compose(Swizzle(1, 0, 1), Layout.parse("4:1"), exact="raise"), LayoutError, "moves"),
        (lambda: compose(A, Layout.parse("S<1,0,1> o 0 o 4:1"), exact="raise"), LayoutError, "composite"),
        (lambda: compose(A, A, exact="maybe"), ConversionError, "exact must be"),
        (lambda: compose(A, A, outside=None), ConversionError, "outside must be"),
        (lambda: compose(A, Layout(Shape.jagged([1, 2])), exact="raise"), LayoutError, "rows or tables"),
        (lambda: compose(A, Layout(Shape.jagged([1, 200]))), LayoutError, "not ordinals of the outer"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


@st.composite
def operands(draw):
    """A layout of any kind whose offsets are ordinals of another of any kind."""

    def some(size):
        match draw(st.sampled_from(["origin", "jagged", "rows", "gather", "rotated", "tiles", "plain"])):
            case "jagged":
                cuts = sorted(draw(st.lists(st.integers(0, size), max_size=3)))
                return Layout(Shape.jagged([b - a for a, b in itertools.pairwise([0, *cuts, size])]))
            case "rows":
                half = size // 2
                return Layout.from_block_offsets(Shape.jagged([half, size - half]), [size - half, 0])
            case "gather":
                return Layout(Shape(size)).gather(0, draw(st.permutations(range(size))))
            case "rotated":
                return Layout(Shape(size)).rotate([draw(st.integers(0, 3))])
            case "tiles":
                return Layout(Shape(size)).as_tiled(Tiling([1, size - 1]))
            case "origin":
                rows = draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
                return Layout(Shape(rows, size // rows, origin=(draw(st.integers(-3, 3)), 1)), order="F")
            case _:
                return Layout(Shape(size))

    inner = some(draw(st.integers(2, 8)))
    outer = some(inner.shape.size + draw(st.integers(0, 3)))
    return outer, inner


@given(operands())
def test_section_5_any_layout_is_taken_at_the_values_of_any(pair):
    outer, inner = pair
    made = compose(outer, inner)
    for index in inner.shape.indices():
        if made.shape == inner.shape:
            assert made.offset_of(index) == outer.offset_of_ordinal(inner.offset_of(index))
    if made.shape != inner.shape:
        # Layouts from zero keep to nested modes, which the result may refine.
        assert not any(inner.shape.origin)
        expected = [outer.offset_of_ordinal(inner.offset_of(index)) for index in inner.shape.indices()]
        assert made.to_numpy().ravel().tolist() == expected


def test_section_5_an_origin_stays_and_strides_stay_strides():
    outer = Layout(Shape(4, 6, origin=(7, 7)), order="F")
    inner = Layout(Shape(2, 3, origin=(-1, 5)), strides=(6, 2))
    made = compose(outer, inner)
    assert (made.shape, made.strides) == (inner.shape, (1, 8))
    assert compose(outer, inner, exact="raise") == made
    rows = Layout(Shape.jagged([2, 1]))
    assert compose(outer, rows).shape == rows.shape
    with pytest.raises(LayoutError, match="no layout of strides is proved"):
        compose(outer, rows, exact="raise")
    with pytest.raises(LayoutError, match="offsets from 22 to 24, which are not ordinals"):
        compose(outer, Layout(rows.shape, offset=22))
