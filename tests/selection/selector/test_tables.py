"""Tables of indexing: views of small tensors, as Tapestry's tests have them, and where our rules differ."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Layout, Shape
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    ExtentMismatchError,
    LayoutError,
    OutOfBoundsError,
    RankError,
    ReadOnlyError,
)
from tensorwrapper.selection import Selector


def select(text, values, *, strict=True):
    return Selector.parse(text).apply(tw.as_tensor(values), strict=strict)


ROWS = [[2, 3, 4], [5, 6, 7]]
SQUARE = [[2, 3], [4, 5]]
CUBE = [[[2, 3], [4, 5]], [[6, 7], [8, 9]]]


# Places: a layout says where the element of each index lies; positions count from the end.


@pytest.mark.parametrize(
    ("offset", "text", "place"),
    [(-12, "0, 0, 0", -12), (3, "1, 0, 1", 7), (0, "1, 0, -1", 5), (0, "-1, -1, -1", 5)],
)
def test_place_of_an_index(offset, text, place):
    layout = Layout(Shape(2, 1, 3), strides=(3, 0, 1), offset=offset)
    assert Selector.parse(text).apply(layout, strict=True).offset == place


def test_place_outside():
    with pytest.raises(OutOfBoundsError, match="position 1 is outside mode 1"):
        Selector.parse("0, 1, 0").apply(Layout(Shape(2, 1, 3)))


def test_strides_and_size_of_packed_layouts():
    # Modes of extent 1 keep the stride that they would have: it never counts.
    assert Layout(Shape(2, 1, 3)).strides == (3, 3, 1)
    assert Shape(2, 1, 0, 3).size == 0


@pytest.mark.parametrize(("position", "resolved"), [(0, 0), (2, 2), (-1, 2), (-3, 0)])
def test_positions_of_three(position, resolved):
    assert Selector(position).apply(Layout(Shape(3)), strict=True).offset == resolved


@pytest.mark.parametrize("position", [3, -4])
def test_positions_outside_three(position):
    with pytest.raises(OutOfBoundsError, match=f"position {position} is outside mode 0, which has extent 3"):
        Selector(position).apply(Layout(Shape(3)))


@pytest.mark.parametrize(("end", "resolved"), [(0, 0), (2, 2), (3, 3), (-1, 2), (-2, 1), (-3, 0), (-4, -1)])
def test_ends_of_slices_of_three(end, resolved):
    backwards = Selector(slice(None, end, -1))
    if resolved == 3:
        with pytest.raises(ExtentError, match="must not be less than end"):
            backwards.result_extents((3,), strict=True)
    else:
        assert backwards.result_extents((3,), strict=True) == (2 - resolved,)
    if resolved >= 0:
        assert Selector(slice(end)).result_extents((3,), strict=True) == (resolved,)


@pytest.mark.parametrize("end", [4, -5])
def test_ends_of_slices_outside_three(end):
    for step in (1, -1):
        with pytest.raises(OutOfBoundsError, match=rf"end index {end} out of range \[-4, 3\]"):
            Selector(slice(None, end, step)).result_extents((3,), strict=True)
        assert Selector(slice(None, end, step)).result_extents((3,)) == (len(range(3)[:end:step]),)


# Modes: negative ones count from the last, and none may be named twice.


def test_modes_by_number():
    layout = Layout(Shape(2, 3))
    assert layout.reverse(-2, 1) == layout.reverse(0, 1)
    # A mode may be named twice where that says nothing else, and not where two are needed.
    assert layout.reverse(1, -1) == layout.reverse(1)
    with pytest.raises(RankError):
        layout.diagonal(1, -1)


@pytest.mark.parametrize("order", [(1, 1, 2), (1, 1, 1), (3, 4, 5), (-1, -2, -3), (1, -1, 0)])
def test_no_permutation_of_three(order):
    # Ours names every mode by its number from the first: a negative one in it is likelier a mistake.
    with pytest.raises(RankError, match="is not a permutation of the modes 0 to 2"):
        Layout(Shape(2, 3, 4)).permute(order)


def test_a_permutation_whose_sum_alone_is_right():
    with pytest.raises(RankError, match="is not a permutation of the modes 0 to 3"):
        Layout(Shape(2, 3, 4, 5)).permute((0, 0, 3, 3))


@pytest.mark.parametrize(
    ("left", "right", "common"), [((2, 1, 1), (3,), (2, 1, 3)), ((2, 10, 1), (1, 3), (2, 10, 3))]
)
def test_broadcast_to_a_common_shape(left, right, common):
    for extents in (left, right):
        assert Layout(Shape(*extents)).broadcast(common).shape == Shape(*common)
        array = np.arange(np.prod(extents)).reshape(extents)
        found = tw.as_tensor(array).broadcast(common)
        np.testing.assert_array_equal(np.asarray(found), np.broadcast_to(array, common))


@pytest.mark.parametrize(
    ("extents", "target"), [((2,), (0,)), ((0,), (2,)), ((0,), (5,)), ((1, 2), (2,)), ((1, 2), (2, 3))]
)
def test_no_broadcast(extents, target):
    with pytest.raises(LayoutError):
        Layout(Shape(*extents)).broadcast(target)
    with pytest.raises(LayoutError):
        tw.as_tensor(np.zeros(extents)).broadcast(target)


def test_extent_one_is_broadcast_to_none():
    # NumPy's rule: one position may be repeated no times.
    assert Layout(Shape(1)).broadcast((0,)).shape == Shape(0)


# Selections.


def test_all_kinds_of_parts():
    selector = Selector.parse("1, +100, ..., +, :, ::-2")
    assert selector.result_extents((2, 3, 4, 5), strict=True) == (100, 3, 1, 4, 3)
    array = np.arange(120).reshape(2, 3, 4, 5)
    found = selector.apply(tw.as_tensor(array), strict=True)
    expected = np.broadcast_to(array[1][None, :, None, :, ::-2], (100, 3, 1, 4, 3))
    np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        (":, 1:3", ROWS, [[3, 4], [6, 7]]),
        (":, 1:", ROWS, [[3, 4], [6, 7]]),
        (":, -2:", ROWS, [[3, 4], [6, 7]]),
        (":, -2::-1", ROWS, [[3, 2], [6, 5]]),
        (":", ROWS, ROWS),
        ("...", ROWS, ROWS),
        ("0", SQUARE, [2, 3]),
        ("1", SQUARE, [4, 5]),
        (":, 0", SQUARE, [2, 4]),
        (":, 1", SQUARE, [3, 5]),
        ("1, 0", SQUARE, 4),
        ("::-1", [[2, 3], [4, 5]], [[4, 5], [2, 3]]),
        ("+", [2, 3, 4], [[2, 3, 4]]),
        (":, +", [2, 3, 4], [[2], [3], [4]]),
        ("..., +", [2, 3, 4], [[2], [3], [4]]),
        ("+2, 0", [[2, 3]], [[2, 3], [2, 3]]),
        # The ellipsis stands for the modes that remain, not for as many as new ones follow it.
        ("..., 0", [[0, 1, 2], [3, 4, 5]], [0, 3]),
        ("..., ::2", [[0, 1, 2], [3, 4, 5]], [[0, 2], [3, 5]]),
        ("..., 0, +", [[0, 1, 2], [3, 4, 5]], [[0], [3]]),
        ("+, ..., 0", CUBE, [[[2, 4], [6, 8]]]),
        # A slice that ends where it starts is empty, and so is all of nothing.
        ("10:10", list(range(10)), []),
        ("10:", list(range(10)), []),
        ("3:3", list(range(10)), []),
        ("3:3:-1", list(range(10)), []),
        (":", [], []),
        ("::-1", [], []),
        ("0:0", [], []),
        # An end of -n - 1 stands before the first position.
        ("2:-4:-1", [5, 6, 7], [7, 6, 5]),
        (":-4:-1", [5, 6, 7], [7, 6, 5]),
        # The step reaches over the end: position 0 alone.
        (":, :2:2", ROWS, [[2], [5]]),
    ],
)
def test_what_is_selected(text, values, expected):
    for strict in (True, False):
        assert select(text, values, strict=strict).tolist() == expected


def test_full_slices_are_the_same_layout():
    layout = Layout(Shape(2, 3))
    for text in ("", ":", "..., :", "0:2, -3:3"):
        assert Selector.parse(text).apply(layout, strict=True) == layout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1:0", r"slice 1:0 of mode 0: slice start \(1\) must not be greater than end \(0\)"),
        ("0:1:-1", r"slice start \(0\) must not be less than end \(1\) for negative step \(-1\)"),
    ],
)
def test_slices_against_their_step(text, message):
    with pytest.raises(ExtentError, match=message):
        select(text, SQUARE)
    assert select(text, SQUARE, strict=False).shape.extents == (0, 2)


# What tensors do with a mode.


def test_new_modes_and_modes_of_extent_one():
    tensor = tw.as_tensor([2, 3, 4])
    assert [tensor.unsqueeze(mode).shape.extents for mode in (0, 1, -1)] == [(1, 3), (3, 1), (3, 1)]
    for mode in (4, -3):
        with pytest.raises(RankError):
            tensor.unsqueeze(mode)
    with pytest.raises(ExtentError):
        tensor.squeeze(0)


def test_a_slice_of_one_position_may_be_dropped_and_repeated():
    # Its stride is not zero: the extent decides.
    one = select(":, 1:2", SQUARE)
    assert one.squeeze(1).tolist() == [3, 5]
    assert one.broadcast((2, 3)).tolist() == [[3, 3, 3], [5, 5, 5]]


def test_a_repeated_mode_of_three_is_not_dropped():
    repeated = select("+3", [1, 2])
    with pytest.raises(ExtentError):
        repeated.squeeze(0)


def test_broadcast_of_one_mode():
    assert tw.as_tensor([[2, 3]]).broadcast((2, 2)).tolist() == [[2, 3], [2, 3]]
    with pytest.raises(LayoutError):
        tw.as_tensor([[2, 3]]).broadcast((1, 4))


def test_writes_through_repeating_modes_are_refused():
    with pytest.raises(ReadOnlyError):
        select("0, +2", [[2, 3]])[0, 0] = 1


def test_writes_through_a_selection():
    zeros = tw.zeros((2, 3))
    Selector.parse("0").apply(zeros)[...] = 5
    assert zeros.tolist() == [[5, 5, 5], [0, 0, 0]]
    zeros.permute((1, 0))[0] = 7
    assert zeros.tolist() == [[7, 5, 5], [7, 0, 0]]


def test_permutations_of_a_cube():
    cube = tw.as_tensor(CUBE)
    assert cube.permute((0, 2, 1)).tolist() == [[[2, 4], [3, 5]], [[6, 8], [7, 9]]]
    assert cube.gather(1, [1, 0]).tolist() == [[[4, 5], [2, 3]], [[8, 9], [6, 7]]]


def test_transposes_and_reversals():
    tensor = tw.as_tensor([ROWS])
    assert tensor.permute((2, 1, 0)).tolist() == [[[2], [5]], [[3], [6]], [[4], [7]]]
    assert tensor.permute((1, 0, 2)).shape.extents == (2, 1, 3)
    assert tensor.reverse(1).tolist() == [[ROWS[1], ROWS[0]]]
    assert tensor.reverse(2).tolist() == [[[4, 3, 2], [7, 6, 5]]]


def test_a_row_of_a_reversed_tensor():
    reversed_row = Selector.parse("0").apply(tw.as_tensor([[1, 2], [3, 4]]).reverse(1))
    assert (reversed_row.shape.extents, reversed_row.tolist()) == ((2,), [2, 1])


def test_by_coordinate_sum():
    assert tw.as_tensor(np.add.outer(range(2), range(3))).tolist() == [[0, 1, 2], [1, 2, 3]]


@pytest.mark.parametrize("values", [[[1], [3, 4]], [[2, 3], [4]]])
def test_ragged_rows_are_jagged_and_lose_nothing(values):
    # They are not cut to the shortest row.
    with pytest.raises((ConversionError, ExtentMismatchError)):
        tw.as_tensor(values)
    assert tw.jagged(values).tolist() == values


def test_fractions_are_no_positions():
    with pytest.raises(ConversionError):
        Selector(1.5)
