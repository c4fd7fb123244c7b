"""Layouts taken apart mode by mode, where no mode carries into another."""

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.selection.transforms._transform import take_apart, through


def test_rows_that_run_into_the_next_are_not_taken_apart():
    assert take_apart(Layout(Shape(4, 6)).reshape((24,)), (4, 6)) is None
    assert take_apart(Layout(Shape(4, 6)).reshape((8, 3)), (4, 6)) is None
    assert take_apart(Layout(Shape(4, 6)).reshape((4, 2, 3)), (4, 6)) is not None
    assert take_apart(Layout(Shape(4, 6)).reshape((24,))[3:9], (4, 6)) is None
    assert take_apart(Layout(Shape(4, 6)).reshape((24,))[6:9], (4, 6)) is not None


def test_a_mode_that_moves_two_is_taken_apart_without_carry_only():
    assert take_apart(Layout(Shape(4, 6)).diagonal(), (4, 6)) is not None
    skew = Layout(Shape(4, 6)).reshape((24,))[5::5]
    assert take_apart(skew, (4, 6)) is not None
    assert take_apart(Layout(Shape(4, 6)).reshape((24,))[::5], (4, 6)) is None


def test_a_layout_that_keeps_tiles_together_has_no_transform():
    tiled = Layout.tiled(Tiling([2, 2], [3, 3]))
    assert take_apart(tiled, (4, 6)) is None
    identity = take_apart(Layout(Shape(4, 6)), (4, 6))
    assert through(tiled, identity) is None
