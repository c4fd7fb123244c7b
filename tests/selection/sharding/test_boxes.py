"""Ranges of Tapestry, row by row: they are boxes here, with its questions under our names.

Where we answer otherwise by decision, the name or a comment says so.
"""

import pytest

from tensorwrapper import Shape
from tensorwrapper.errors import ExtentError, JaggedModeError, ParseError, RankError
from tensorwrapper.selection import box_between, box_product, contains_box, cut_box
from tensorwrapper.shape._keys import mode_of


def test_a_hull_goes_around_both():
    a, b = box_between((1, 2, 3), (4, 10, 6)), box_between((2, 0, 4), (5, 6, 7))

    assert a.hull(b) == box_between((1, 0, 3), (5, 10, 7))


@pytest.mark.parametrize(
    ("a", "b", "shared"),
    [
        (Shape(2, 3), box_between((-2, 1), (2, 5)), box_between((0, 1), (2, 3))),
        (Shape(2, 3), Shape(2, 3), Shape(2, 3)),
        (Shape(), Shape(), Shape()),
        (Shape(3, 3, 3), box_between((1, 1, -1), (4, 2, 3)), box_between((1, 1, 0), (3, 2, 3))),
        (Shape(3, 3, 3), box_between((2, 1, -1), (5, 2, 3)), box_between((2, 1, 0), (3, 2, 3))),
    ],
)
def test_boxes_intersect(a, b, shared):
    assert a.intersect(b) == shared


@pytest.mark.parametrize(
    ("a", "b"),
    [(Shape(2, 3), box_between((-5, -5), (-1, -1))), (Shape(3, 3, 3), box_between((5, 5, 5), (6, 6, 6)))],
)
def test_disjoint_boxes_intersect_in_an_empty_box_that_has_a_place(a, b):
    # There is no nil: an empty shape is an answer.
    shared = a.intersect(b)

    assert shared.size == 0
    assert shared.origin == tuple(map(max, a.origin, b.origin))


def test_a_permuted_box_has_its_corners_permuted():
    box = box_between((5, 6, 7), (8, 9, 10)).permute((1, 2, 0))

    assert box == box_between((6, 7, 5), (9, 10, 8))


HALVES = (Shape(2, 2), Shape(2, 1, origin=(0, 2)))


@pytest.mark.parametrize(
    ("mode", "sizes", "blocks"),
    [(1, 2, HALVES), (-1, 2, HALVES), (-1, 3, (Shape(2, 3),)), (1, (2, 1), HALVES), (1, [2, 1], HALVES)],
)
def test_a_box_is_cut_into_blocks(mode, sizes, blocks):
    assert cut_box(Shape(2, 3), mode, sizes) == blocks


@pytest.mark.parametrize(
    ("extent", "chunk", "sizes"),
    [
        (11, 3, [3, 3, 3, 2]),
        (10, 4, [4, 4, 2]),
        (12, 5, [5, 5, 2]),
        (8, 3, [3, 3, 2]),
        (10, 3, [3, 3, 3, 1]),
        (9, 3, [3, 3, 3]),
        (2, 10**30, [2]),
        (0, 3, [0]),
    ],
)
def test_the_last_block_is_what_is_left(extent, chunk, sizes):
    blocks = cut_box(Shape(extent, origin=(-4,)), 0, chunk)

    assert [block.extents[0] for block in blocks] == sizes
    assert blocks[0].origin == (-4,)


@pytest.mark.parametrize(
    ("mode", "sizes", "text"),
    [
        (0, -2, r"must be > 0, but is -2 for mode 0"),
        (0, 0, r"must be > 0, but is 0"),
        (0, [1, 3], r"\(1, 3\) add up to 4, but mode 0 has the extent 2"),
        (0, [4, -2], r"must be > 0, but are \(4, -2\)"),
        (1, [], r"add up to 0, but mode 1 has the extent 3"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(mode, sizes, text):
    with pytest.raises(ExtentError, match=text):
        cut_box(Shape(2, 3), mode, sizes)


def test_only_boxes_are_cut():
    with pytest.raises(JaggedModeError, match="must be a box, not jagged"):
        cut_box(Shape.jagged([1, 2]), 0, 1)


def test_a_product_has_the_modes_of_both():
    line = box_between((2,), (5,))

    assert box_product(line, box_between((10, 4), (20, 8))) == box_between((2, 10, 4), (5, 20, 8))
    assert box_product(line, (2, 3)) == box_between((2, 0, 0), (5, 2, 3))
    assert box_product() == Shape()


def test_indices_come_in_row_major_order():
    assert list(box_between((2, 3), (4, 5)).indices()) == [(2, 3), (2, 4), (3, 3), (3, 4)]
    assert list(Shape(0, 0).indices()) == []
    assert list(Shape().indices()) == [()]


@pytest.mark.parametrize("index", [(0, 0), (1, 2), (1, 1)])
def test_a_box_has_its_indices(index):
    assert index in Shape(2, 3)


# The last three were reported inside by an order that needs one coordinate only to be less.
@pytest.mark.parametrize("index", [(2, 3), (-2, 1), (2, 0), (1, 3), (0, 3)])
def test_a_box_does_not_have_indices_beyond_one_of_its_modes(index):
    assert index not in Shape(2, 3)


@pytest.mark.parametrize(
    "inner",
    [
        Shape(2, 3),
        Shape(1, 1),
        box_between((1, 2), (2, 3)),
        Shape(0, 0),
        Shape(0, 0, origin=(2, 3)),
    ],
)
def test_a_box_contains_boxes_corner_for_corner(inner):
    assert contains_box(Shape(2, 3), inner)


@pytest.mark.parametrize(
    "inner", [Shape(0, 0, origin=(-1, 0)), box_between((0, -1), (1, 1)), box_between((0, 0), (3, 1))]
)
def test_a_box_does_not_contain_what_leaves_it(inner):
    assert not contains_box(Shape(2, 3), inner)


def test_an_empty_box_contains_itself_but_no_index():
    assert contains_box(Shape(0, 0), Shape(0, 0))
    assert (0, 0) not in Shape(0, 0)


def test_boxes_of_different_ranks_do_not_contain_one_another():
    with pytest.raises(RankError, match="inner box has rank 1, and the outer box rank 2"):
        contains_box(Shape(2, 3), Shape(2))


def test_corners_of_different_ranks_are_refused():
    with pytest.raises(RankError, match=r"\(1, 2, 3\) has 3 entries, but a stop of a shape of rank 2 has 2"):
        box_between((0, 0), (1, 2, 3))


@pytest.mark.parametrize(
    ("start", "stop", "text"),
    [
        ((1, 1), (0, 1), r"start \(1, 1\) must be <= stop \(0, 1\) in every mode, but mode 0 has 1 > 0"),
        # Neither corner is before the other; the original took it for a box of -9 indices.
        ((0, 5), (3, 2), "mode 1 has 5 > 2"),
    ],
)
def test_a_box_does_not_end_before_it_starts(start, stop, text):
    with pytest.raises(ExtentError, match=text):
        box_between(start, stop)


@pytest.mark.parametrize("text", ["abc", "zr[1, 2, 3]"])
def test_a_text_that_is_no_box_is_refused(text):
    with pytest.raises(ParseError, match="is not the text of a shape"):
        Shape.parse(text)


def test_a_mode_counts_from_the_last_if_negative():
    assert [mode_of(mode, 2) for mode in (-1, -2, 0, 1)] == [1, 0, 0, 1]


@pytest.mark.parametrize("mode", [2, -3])
def test_a_mode_that_is_not_there_is_refused(mode):
    with pytest.raises(RankError, match=f"mode {mode} does not exist in a shape of rank 2; modes are 0 to 1"):
        cut_box(Shape(2, 3), mode, 1)


def test_the_inclusive_corners_are_the_ends_of_the_modes():
    # Corners are no question of their own here: they are the indices whose every entry is an end.
    box = Shape(1, 2, 3)
    ends = [{start, start + extent - 1} for start, extent in zip(box.origin, box.extents, strict=True)]
    corners = [index for index in box.indices() if all(i in e for i, e in zip(index, ends, strict=True))]

    assert corners == [(0, 0, 0), (0, 0, 2), (0, 1, 0), (0, 1, 2)]
    assert list(Shape(0, 2).indices()) == []
