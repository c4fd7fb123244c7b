"""What is no fitting argument is refused with an error of the package that says what it was."""

import numpy as np
import pytest

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout import parse_tiler

ROW = Layout(Shape(2, 3))
NESTED = Shape.nested(Shape(2, 3), layers=(1, 1))


@pytest.mark.parametrize("other", [Shape(2, 3), "(2,3)", None, Layout], ids=repr)
def test_where_a_layout_is_needed_nothing_else_goes(other: object) -> None:
    for ask in (ROW.overlaps, ROW.may_overlap, ROW.copy_plan, lambda x: Layout.nested(x, layers=(1, 1))):
        with pytest.raises(ConversionError, match=r"needs a Layout, not .*(Shape|None|2,3|Layout)"):
            ask(other)


@pytest.mark.parametrize("sequence", [3, None, Shape(2, 3), np.array(6), slice(0, 2)], ids=repr)
def test_where_a_sequence_is_needed_nothing_else_goes(sequence: object) -> None:
    for ask in (
        Layout.from_halide,
        lambda x: ROW.split_mode(0, x),
        lambda x: Layout(NESTED, order=x),
        lambda x: Layout.from_halide([x]),
        lambda x: ROW.pad(x, boundary="wrap"),
        lambda x: ROW.pad([x, (0, 0)], boundary="wrap"),
    ):
        with pytest.raises(ConversionError):
            ask(sequence)
    if not isinstance(sequence, int | np.ndarray):  # one extent, or mode, may be given loose
        for ask in (ROW.reshape, ROW.reshape_obstacle, ROW.permute, ROW.reverse, ROW.squeeze):
            with pytest.raises(ConversionError):
                ask(sequence)
    if sequence is not None:
        for ask in (
            lambda x: Layout(NESTED, orders=x),
            lambda x: Layout(Shape(2, 3), ascend=x),
            lambda x: ROW.to_tensorstore(Shape(6), labels=x),
        ):
            with pytest.raises(ConversionError):
                ask(sequence)


@pytest.mark.parametrize("word", [np.array(["right"]), np.array([1, 2]), ["right"], 1, None], ids=repr)
def test_where_a_word_is_needed_nothing_else_goes(word: object) -> None:
    for ask in (
        ROW.losses,
        lambda x: Layout.from_mdspan((2, 3), x),
        lambda x: ROW.pad([(0, 1), (0, 0)], boundary=x),
        lambda x: Layout.parse("(2,3):(3,1)", order=x),
        parse_tiler,
        Layout.parse,
    ):
        with pytest.raises(ConversionError):
            ask(word)


@pytest.mark.parametrize("tiling", [[2, 2], Shape(4), None], ids=repr)
def test_where_a_tiling_is_needed_nothing_else_goes(tiling: object) -> None:
    for ask in (Layout.tiled, ROW.as_tiled):
        with pytest.raises(ConversionError, match=r"needs a Tiling, such as Tiling\(\*sizes\), not"):
            ask(tiling)
    assert Layout.tiled(Tiling([2, 2])).as_tiled(Tiling([2, 2])).is_contiguous


def test_modes_and_extents_are_given_loose_or_as_one_sequence() -> None:
    line = Layout(Shape(2, 1, 3))
    for loose, together in (
        (
            line.permute(2, 0, 1),
            [line.permute((2, 0, 1)), line.permute([2, 0, 1]), line.permute(np.array([2, 0, 1]))],
        ),
        (line.reverse(0, 2), [line.reverse((0, 2)), line.reverse(iter([2, 0]))]),
        (line.reverse(2), [line.reverse((2,)), line.reverse(np.int64(2))]),
        (line.squeeze(1), [line.squeeze((1,)), line.squeeze()]),
        (line, [line.squeeze(()), line.reverse(())]),
        (line.reshape(3, 2), [line.reshape((3, 2)), line.reshape(np.array([3, 2]))]),
        (line.reshape(6), [line.reshape((6,)), line.reshape(np.int64(6))]),
    ):
        assert all(layout == loose for layout in together)
    assert Layout(Shape()).permute() == Layout(Shape()).permute(()) == Layout(Shape())
    assert line[:, 0, :2].reshape_obstacle(4) == line[:, 0, :2].reshape_obstacle((4,)) == (0, 1)
    for refused in (True, 1.0, "1"):
        with pytest.raises(ConversionError):
            line.permute(0, 1, refused)
