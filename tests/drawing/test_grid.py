"""Tests of pictures of planes."""

import pytest

from tensorwrapper.drawing import draw_grid
from tests.support.pictures import Picture, near


def drawn(shares, down=(0, 4), across=(0, 6), **more):
    return Picture(
        draw_grid(shares, down=down, across=across, title="what is drawn", full="all", **more).to_svg()
    )


def test_the_parts_have_the_share_of_the_plane_that_is_theirs():
    found = drawn([[1.0, 0.0], [0.0, 1.0]])
    (plane,) = found.boxes("plane")
    first, second = found.boxes("part")

    assert (first.area / plane.area, second.area / plane.area) == (near(0.25), near(0.25))
    assert (first.x, first.y) == (plane.x, plane.y)
    assert (second.right, second.bottom) == (near(plane.right), near(plane.bottom))


def test_neighbours_of_one_shade_are_one_mark():
    assert len(drawn([[0.5] * 60, [0.5] * 60]).boxes("part")) == 2
    assert drawn([[0.0] * 60]).boxes("part") == []


def test_the_fullest_is_the_darkest():
    fills = [box.fill for box in drawn([[0.1, 0.5, 1.0]]).boxes("part")]

    assert len(set(fills)) == 3
    assert [sum(int(f[k : k + 2], 16) for k in (1, 3, 5)) for f in fills] == sorted(
        [sum(int(f[k : k + 2], 16) for k in (1, 3, 5)) for f in fills], reverse=True
    )


@pytest.mark.parametrize("ends", [((0, 0), (0, 0)), ((5, 1), (-3, 10**12)), ((0, 0), (2, 3))])
def test_planes_of_any_extent_are_drawn(ends):
    found = drawn([[1.0]], *ends)

    assert found.width < 600
    assert found.label == "what is drawn"


def test_parts_have_texts_heads_and_a_line_through_them():
    found = Picture(
        draw_grid(
            [[1.0, 0.0, 1.0], [0.0, 1.0, 0.5]],
            down=(0, 2),
            across=(0, 3),
            title="a table",
            full="all",
            others=("", "few"),
            texts=[["10", "", "a longer text"], ["", "20", "x"]],
            heads=(("first", "second"), ("i", "j", "k")),
            walk=[(0, 0), (1, 1), (0, 2)],
        ).to_svg()
    )
    (plane,) = found.boxes("plane")
    (points,) = found.runs("walk")
    width, height = plane.width / 3, plane.height / 2

    assert points == [
        (near(plane.x + (j + 0.5) * width), near(plane.y + (i + 0.5) * height))
        for i, j in ((0, 0), (1, 1), (0, 2))
    ]
    assert {"10", "20", "a longer text", "x", "first", "second", "i", "j", "k", "all", "few"} <= set(
        found.texts
    )
    assert width > 13 * 5  # the longest text has room


def test_rows_of_words_are_lower_than_parts_with_numbers():
    heights = [
        drawn([[1.0]] * 4, texts=[["1"]] * 4, heads=heads).boxes("plane")[0].height
        for heads in ((("a", "b", "c", "d"), ("x",)), ((), ()))
    ]

    assert heights == [4 * 24, 4 * 34]
