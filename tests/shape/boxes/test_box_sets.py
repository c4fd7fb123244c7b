"""Half-open boxes in the cases that range libraries agree on, and where they differ, what a shape says."""

import pytest

from tensorwrapper.errors import (
    ExtentError,
    OutOfBoundsError,
    ParseError,
    RankError,
)
from tensorwrapper.shape import Shape


def between(first, last):
    return Shape.from_bounds(first, last)


BOX = Shape(2, 3)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (between((1, 2, 3), (4, 10, 6)), between((2, 0, 4), (5, 6, 7)), between((1, 0, 3), (5, 10, 7))),
        (BOX, BOX, BOX),
        (Shape(), Shape(), Shape()),
        (BOX, between((9, 9), (9, 12)), BOX),
        (between((9, 9), (9, 12)), BOX, BOX),
    ],
)
def test_hull(left, right, expected):
    assert left.hull(right) == expected


def test_the_hull_of_many_boxes():
    boxes = [between((k, -k), (k + 1, 2)) for k in range(5)]
    assert boxes[0].hull(*boxes[1:]) == between((0, -4), (5, 2))
    with pytest.raises(TypeError):
        BOX.hull()


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (BOX, between((-2, 1), (2, 5)), between((0, 1), (2, 3))),
        (BOX, BOX, BOX),
        (Shape(), Shape(), Shape()),
        (Shape(3, 3, 3), between((1, 1, -1), (4, 2, 3)), between((1, 1, 0), (3, 2, 3))),
        (Shape(3, 3, 3), between((2, 1, -1), (5, 2, 3)), between((2, 1, 0), (3, 2, 3))),
        # Disjoint boxes, and boxes that touch, meet in an empty one that has a position.
        (BOX, between((-5, -5), (-1, -1)), Shape(0, 0)),
        (BOX, between((2, 0), (4, 3)), Shape(0, 3, origin=(2, 0))),
        (Shape(3, 3, 3), between((5, 0, 1), (6, 2, 2)), Shape(0, 2, 1, origin=(5, 0, 1))),
    ],
)
def test_intersection(left, right, expected):
    assert left.intersect(right) == expected


def test_the_intersection_of_many_boxes():
    assert Shape(9, 9).intersect(Shape(5, 9), Shape(9, 9, origin=(2, 3))) == Shape(3, 6, origin=(2, 3))


def test_permutation():
    assert between((5, 6, 7), (8, 9, 10)).permute((1, 2, 0)) == between((6, 7, 5), (9, 10, 8))


@pytest.mark.parametrize(
    ("mode", "extents", "expected"),
    [
        (1, 2, [between((0, 0), (2, 2)), between((0, 2), (2, 3))]),
        (-1, 2, [between((0, 0), (2, 2)), between((0, 2), (2, 3))]),
        (-1, 3, [BOX]),
        (-1, 99, [BOX]),
        (1, [2, 1], [between((0, 0), (2, 2)), between((0, 2), (2, 3))]),
        (0, [0, 2, 0], [Shape(0, 3), BOX, Shape(0, 3, origin=(2, 0))]),
    ],
)
def test_split(mode, extents, expected):
    assert list(BOX.split_by_extents(extents, mode)) == expected


@pytest.mark.parametrize(
    ("extents", "text"),
    [
        (-2, "mode 0 .* not -2"),
        (0, "mode 0 .* not 0"),
        ([1, 3], r"\[1, 3\] add up to 4, but mode 0 has extent 2"),
        ([4, -2], r"mode 0 .* negative .* \[4, -2\]"),
        ([], r"\[\] add up to 0, but mode 0 has extent 2"),
    ],
)
def test_extents_that_do_not_split_a_mode(extents, text):
    with pytest.raises(ExtentError, match=text):
        BOX.split_by_extents(extents)


@pytest.mark.parametrize(
    ("boxes", "expected"),
    [
        ([between((2,), (5,)), between((10, 4), (20, 8))], between((2, 10, 4), (5, 20, 8))),
        ([between((2,), (5,)), BOX], between((2, 0, 0), (5, 2, 3))),
        ([], Shape()),
        ([BOX], BOX),
        ([BOX, Shape()], BOX),
        ([(2,), (3,)], BOX),
    ],
)
def test_cartesian_product(boxes, expected):
    assert Shape.product(boxes) == expected


def test_indices_in_row_major_order():
    assert list(between((2, 3), (4, 5)).indices()) == [(2, 3), (2, 4), (3, 3), (3, 4)]
    assert list(Shape(0, 0).indices()) == []
    assert list(Shape().indices()) == [()]


@pytest.mark.parametrize(
    ("box", "inside"),
    [
        (BOX, True),
        (between((0, 0), (1, 1)), True),
        (between((1, 2), (2, 3)), True),
        # An empty box is judged by its position.
        (between((0, 0), (0, 0)), True),
        (between((2, 3), (2, 3)), True),
        (between((-1, 0), (-1, 0)), False),
        (between((0, -1), (1, 1)), False),
        (between((0, 0), (3, 1)), False),
    ],
)
def test_a_box_encloses_boxes(box, inside):
    assert BOX.encloses(box) is inside


@pytest.mark.parametrize(
    ("index", "inside"),
    [((0, 0), True), ((1, 2), True), ((1, 1), True), ((2, 3), False), ((-2, 1), False)],
)
def test_a_box_has_indices(index, inside):
    assert (index in BOX) is inside
    assert BOX.contains([index]).tolist() == [inside]


def test_an_empty_box_encloses_itself_and_has_no_index():
    empty = Shape(0, 0)
    assert empty.encloses(empty)
    assert empty.origin not in empty


def test_the_bounding_box_of_a_jagged_shape_is_what_is_enclosed():
    rows = Shape.jagged([1, 3])
    assert Shape(2, 3).encloses(rows)
    assert not Shape(2, 2).encloses(rows)


@pytest.mark.parametrize(
    ("first", "last", "error", "text"),
    [
        ((0, 0), (3,), RankError, "1 entry"),
        ((1, 1), (0, 1), OutOfBoundsError, "mode 0 goes from 1 to 0"),
    ],
)
def test_bounds_of_no_box(first, last, error, text):
    with pytest.raises(error, match=text):
        Shape.from_bounds(first, last)


@pytest.mark.parametrize("text", ["abc", "zr[1, 2, 3]"])
def test_text_of_no_box(text):
    with pytest.raises(ParseError):
        Shape.parse(text)


def test_modes_count_from_the_last():
    assert [BOX.mode(m) for m in (0, 1, -1, -2)] == [0, 1, 1, 0]
    for wrong in (2, -3):
        with pytest.raises(RankError, match=f"mode {wrong} .* modes are 0 to 1"):
            BOX.mode(wrong)


def test_the_last_index():
    assert Shape(1, 2, 3).indices()[-1] == (0, 1, 2)
    with pytest.raises(IndexError):
        Shape(0, 3).indices()[-1]
