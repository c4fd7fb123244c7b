"""What the functions of the algebra take: integers of any kind, and indices inside."""

import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, LayoutError, OutOfBoundsError
from tensorwrapper.layout import (
    Layout,
    Swizzle,
    blocked_product,
    complement,
    compose,
    logical_divide,
    logical_product,
    make_layout,
)


def colex(text):
    return Layout.parse(text, order="colex")


def test_an_integer_multiplies_in_a_product_and_divides_in_a_division():
    six = colex("6:1")
    assert str(logical_product(six, 3)) == "(6,3):(1,6)"
    assert str(logical_divide(six, 3)) == "(3,2):(1,3)"


def test_coordinates_outside_are_refused_and_not_extrapolated():
    layout = colex("(4,5):(1,4)")
    for wrong in (20, -1, (4, 0), (0, 5), (-1, 0)):
        with pytest.raises(OutOfBoundsError):
            layout.offset_of_ordinal(wrong)
    with pytest.raises(OutOfBoundsError):
        layout.offset_of((0, 5))


def test_floats_are_refused():
    for call in (
        lambda: make_layout(4.0),
        lambda: make_layout((4, 2.0)),
        lambda: make_layout(4, 1.0),
        lambda: colex("4:1").offset_of_ordinal(1.0),
        lambda: complement(colex("4:1"), 8.0),
    ):
        with pytest.raises(ConversionError, match="integer"):
            call()


def test_integers_of_numpy_are_integers():
    assert make_layout((np.int64(4), np.int32(2)), order="colex") == colex("(4,2):(1,4)")
    assert logical_divide(colex("8:1"), np.uint8(4)) == colex("(4,2):(1,4)")
    assert colex("4:2").offset_of_ordinal(np.int16(3)) == 6


LEX, COLEX = Layout.parse("4:1"), Layout.parse("4:1", order="colex")


@pytest.mark.parametrize(
    "call",
    [
        lambda: compose(LEX, COLEX),
        lambda: compose(COLEX, LEX),
        lambda: compose(COLEX, Layout.parse("(2,2):(2,1)")),
        lambda: compose(LEX, compose(Swizzle(1, 0, 1), COLEX)),
        lambda: logical_divide(LEX, COLEX),
        lambda: logical_divide(Layout.parse("(4,4):(4,1)"), (LEX, COLEX)),
        lambda: logical_product(COLEX, LEX),
        lambda: blocked_product(COLEX, LEX),
    ],
)
def test_orders_are_never_mixed_or_guessed(call):
    with pytest.raises(LayoutError, match='"lex"'):
        call()
