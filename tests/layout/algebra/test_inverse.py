"""Inverses: from offsets back to ordinals."""

import itertools
import re

import pytest

from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout import Layout, left_inverse, make_layout, right_inverse
from tests.support.layout.layouts import extended, model, small_layouts, table


def modes_of(layout):
    """Stride, extent and weight of the modes that move, by stride."""
    pairs = list(zip(layout.shape.extents, layout.strides, strict=True))
    if layout.ordinal_order == "lex":
        pairs.reverse()
    weight, found = 1, []
    for extent, stride in pairs:
        if extent > 1 and stride:
            found.append((stride, extent, weight))
        weight *= extent
    return sorted(found, key=lambda mode: abs(mode[0]))


def furthest(modes, span=1):
    """How far whole modes reach without a gap: every order of every choice."""
    return max(
        [
            span,
            *[furthest(modes[:k] + modes[k + 1 :], span * m[1]) for k, m in enumerate(modes) if m[0] == span],
        ]
    )


@pytest.mark.timeout(3000)
def test_right_inverse_reaches_every_offset_of_the_longest_prefix():
    made = 0
    for layout in small_layouts():
        places = model(layout)
        if layout.offset and min(places):
            with pytest.raises(LayoutError, match="offset 0"):
                right_inverse(layout)
            continue
        inverse = right_inverse(layout)
        ordinals = table(inverse).tolist()
        assert inverse.ordinal_order == layout.ordinal_order
        assert [places[k] for k in ordinals] == list(range(len(ordinals)))
        modes = modes_of(layout)
        if min(places) == 0:
            modes = [(abs(d), n, w) for d, n, w in modes]
        assert len(ordinals) == furthest(modes)
        made += 1
    assert made > 100


def digits_decide(layout):
    """Whether by size each stride divides the next and each mode ends before the next begins."""
    modes = [(abs(d), n) for d, n, _ in modes_of(layout)]
    return all(
        after % stride == 0 and after // stride >= extent
        for (stride, extent), (after, _) in itertools.pairwise(modes)
    )


@pytest.mark.timeout(3000)
def test_left_inverse_gives_back_an_ordinal_of_the_same_offset():
    made = 0
    for layout in small_layouts():
        places = model(layout)
        if min(places) or not digits_decide(layout):
            with pytest.raises(LayoutError):
                left_inverse(layout)
            continue
        inverse = left_inverse(layout)
        back = model(inverse)
        assert inverse.ordinal_order == layout.ordinal_order
        assert len(back) > max(places)
        again = [back[place] for place in places]
        assert [places[k] for k in again] == places
        if len(set(places)) == len(places):
            assert again == list(range(len(places)))
        made += 1
    assert made > 100


@pytest.mark.timeout(3000)
def test_extended_inverses_hold_where_the_slowest_mode_counts_on():
    more = 0
    for layout in small_layouts():
        places = model(layout)
        try:
            inverse = left_inverse(layout, outside="extend")
        except LayoutError:
            continue
        again = extended(layout, extended(inverse, places))
        assert again.tolist() == places
        more += not digits_decide(layout)
    assert more > 20


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("(4,2):(1,5)", "colex", "(5,2):(1,4)"),
        ("(4,2):(1,10)", "lex", "(2,10):(1,2)"),
        ("4:2", "colex", "(2,4):(0,1)"),
        ("(2,4,8):(32,0,2)", "colex", "(2,16,2):(0,8,1)"),
        ("(3,7):(0,0)", "lex", "1:0"),
        ("1:5", "lex", "1:0"),
        ("(4):(-1)+3", "lex", "4:-1+3"),
        ("(3,4):(-4,1)+8", "lex", "(3,4):(-4,1)+8"),
        (f"(2,4):({2**70},1)", "lex", f"(2,{2**70}):(4,1)"),
    ],
)
def test_left_by_example(text, order, expected):
    assert str(left_inverse(Layout.parse(text, order=order))) == expected


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("(4,2):(1,5)", "colex", "4:1"),
        ("(2,4,4,6):(4,1,0,8)", "colex", "(4,2,6):(2,1,32)"),
        ("(3,5,2):(2,0,1)", "lex", "(3,2):(10,1)"),
        ("(32,128):(0,1)", "colex", "128:32"),
        ("(3,5,5):(1,0,1)", "colex", "5:15"),
        ("((3,5),6):((2,6),1)", "colex", "(6,5):(15,3)"),
        ("4:4", "lex", "1:0"),
        ("():()", "lex", "1:0"),
        ("4:-1", "lex", "1:0"),
        ("(2,3):(-3,1)", "lex", "3:1"),
        ("(4):(-1)+3", "lex", "4:-1+3"),
        ("(2,3):(-3,-1)+5", "lex", "6:-1+5"),
    ],
)
def test_right_by_example(text, order, expected):
    assert str(right_inverse(Layout.parse(text, order=order))) == expected


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: left_inverse(Layout.parse("(4,2):(3,2)")),
            LayoutError,
            "stride 2 does not divide the next",
        ),
        (lambda: left_inverse(Layout.parse("(2,4):(2,1)")), LayoutError, "modes 4:1 and 2:2 overlap"),
        (lambda: left_inverse(Layout.parse("(2,2):(1,1)")), LayoutError, "overlap"),
        (lambda: left_inverse(Layout.parse("4:-1")), LayoutError, "least offset of 4:-1 is -3"),
        (lambda: left_inverse(Layout.parse("4:1+2")), LayoutError, "least offset"),
        (lambda: left_inverse(Layout.parse("(0,2):(2,1)")), LayoutError, "without elements"),
        (lambda: left_inverse(Layout.parse("4:1"), outside="guess"), ConversionError, "outside must be"),
        (lambda: left_inverse((4, 1)), ConversionError, "takes layouts"),
        (lambda: left_inverse(Layout.parse("S<1,0,1> o 0 o 4:1")), LayoutError, "composite"),
        (lambda: left_inverse(Layout.parse("(4,2):(3,2)"), outside="extend"), LayoutError, "divide"),
        (
            lambda: left_inverse(Layout.parse("(4,2,2):(1,2,16)", order="colex"), outside="extend"),
            LayoutError,
            "digits up to 2 in the mode 2:2",
        ),
        (lambda: right_inverse(Layout.parse("4:1+2")), LayoutError, "first has 2, the least is 2"),
        (lambda: right_inverse(Layout.parse("(2,2):(-3,1)+2")), LayoutError, "first has 2, the least is -1"),
        (lambda: right_inverse(Layout.parse("(0,2):(2,1)")), LayoutError, "without elements"),
        (lambda: right_inverse(4), ConversionError, "takes layouts"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_section_5_a_refused_inverse_says_what_extending_gives():
    hints = 0
    for extents in itertools.product((2, 3, 4), repeat=2):
        for strides in itertools.product((1, 2, 3, 4), repeat=2):
            layout = make_layout(extents, strides)
            try:
                wide = str(left_inverse(layout, outside="extend"))
            except LayoutError:
                continue
            if layout.is_injective:
                continue
            hints += 1
            with pytest.raises(LayoutError, match=re.escape(f'; outside="extend" gives {wide}, which leads')):
                left_inverse(layout)
    assert hints > 10
