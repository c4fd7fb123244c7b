"""Boxes at zero, and layouts without names."""

import tensorwrapper as tw
from tensorwrapper.selection.transforms._transform import box, unnamed_layout


def test_a_box_begins_at_zero():
    assert box((2, 3)) == tw.Shape(2, 3)
    assert box(()) == tw.Shape()


def test_a_layout_loses_its_names_and_nothing_else():
    named = tw.Layout(tw.Shape(2, 3).named("row", "column"))
    plain = tw.Layout(tw.Shape(2, 3))
    assert unnamed_layout(named) == plain
    assert unnamed_layout(plain) is plain
