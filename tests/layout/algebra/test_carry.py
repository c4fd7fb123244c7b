"""Modes that carry: what becomes a composite, and which mode and divisor a refusal names."""

import pytest

from tensorwrapper.errors import LayoutError
from tensorwrapper.layout import Layout, compose


def test_modes_that_carry_make_a_composite():
    # By modes this would be (4,3):(32,16), which is wrong at (1,2): 4 and 2 * 2 carry.
    outer, inner = Layout.parse("(8,8):(8,1)", order="colex"), Layout.parse("(4,3):(4,2)", order="colex")
    made = compose(outer, inner)
    assert made.is_composite
    assert made.offset_of_ordinal((1, 2)) == outer.offset_of_ordinal(inner.offset_of_ordinal((1, 2)))


@pytest.mark.parametrize(
    ("outer", "inner", "order", "text"),
    [
        (
            "(4,4):(1,4)",
            "6:1",
            "lex",
            "mode 0 of the inner layout (6:1) fills mode 1 of the outer one",
        ),
        (
            "(4,4):(4,1)",
            "6:1",
            "colex",
            "fills mode 0 of the outer one (4:4) in 4 steps, and 4 does not",
        ),
        (
            "(4,4):(4,1)",
            "(2,2):(2,3)",
            "colex",
            "position 5 of mode 0 of the outer one (4:4), so they carry",
        ),
        ("(2,3,4):(1,9,5)", "(3,2):(2,1)", "lex", "fills mode 2 of the outer one (4:5) in 2 steps"),
    ],
)
def test_a_refusal_names_the_mode_and_the_divisor(outer, inner, order, text):
    with pytest.raises(LayoutError) as caught:
        compose(Layout.parse(outer, order=order), Layout.parse(inner, order=order), exact="raise")
    assert text in str(caught.value)
