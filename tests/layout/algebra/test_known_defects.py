"""What other implementations of the algebra get wrong, one by one."""

import subprocess
import sys

import attrs
import pytest

from tensorwrapper.errors import LayoutError
from tensorwrapper.layout import (
    Layout,
    complement,
    compose,
    left_inverse,
    right_inverse,
)


def colex(text):
    return Layout.parse(text, order="colex")


def test_the_left_inverse_of_a_layout_with_a_gap_is_whole():
    assert str(left_inverse(colex("(4,2):(1,5)"))) == "(5,2):(1,4)"


def test_a_mode_of_stride_0_does_not_shorten_the_right_inverse():
    assert right_inverse(colex("(2,4,4,6):(4,1,0,8)")).shape.size == 48


def test_a_composition_has_the_size_of_the_inner_layout():
    made = compose(colex("(6,3):(6,1)"), colex("8:1"))
    assert made.shape.size == 8
    assert [made.offset_of_ordinal(k) for k in range(8)] == [0, 6, 12, 18, 24, 30, 1, 7]


def test_a_complement_is_never_empty():
    for size in (1, 2, 3):
        assert complement(colex("4:4"), size).shape.size >= 1
        assert complement(colex("(4,6):(1,6)"), size).shape.size >= 1


def test_bounds_and_span_hold_for_negative_strides_and_without_elements():
    assert (colex("4:-2").bounds(), colex("4:-2").span) == ((-6, 0), 7)
    assert (colex("(0,4):(1,2)").bounds(), colex("(0,4):(1,2)").span) == ((0, -1), 0)


def test_layouts_are_values():
    layout = colex("((2,2),4):((1,8),2)")
    assert {layout: "found"}[colex("((2,2),4):((1,8),2)")] == "found"
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        layout.implementation = None
    assert layout != (2, 3)
    assert layout != 16
    assert layout != "((2,2),4):((1,8),2)"


def test_modes_that_carry_do_not_make_a_wrong_layout():
    outer, inner = colex("(8,8):(8,1)"), colex("(4,3):(4,2)")
    made = compose(outer, inner)
    assert made.offset_of_ordinal((1, 2)) == outer.offset_of_ordinal(inner.offset_of_ordinal((1, 2))) == 1
    with pytest.raises(LayoutError, match="carry"):
        compose(outer, inner, exact="raise")


def test_checks_do_not_vanish_when_assertions_do():
    code = (
        "from tensorwrapper.layout import Layout, compose, left_inverse\n"
        "from tensorwrapper.errors import TensorWrapperError\n"
        "calls = [\n"
        "    lambda: Layout.parse('(4,5):(1,4)').offset_of_ordinal((1, 2, 3)),\n"
        "    lambda: Layout.parse('(4,5):(1,4)').offset_of_ordinal((4, 0)),\n"
        "    lambda: Layout.parse('(4,5):(1)'),\n"
        "    lambda: compose(Layout.parse('4:1'), Layout.parse('5:1')),\n"
        "    lambda: left_inverse(Layout.parse('(4,2):(3,2)')),\n"
        "]\n"
        "for call in calls:\n"
        "    try:\n"
        "        call()\n"
        "    except TensorWrapperError:\n"
        "        print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-O", "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["refused"] * 5
