"""Tests of pictures of what is selected of each mode."""

import pytest

from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.selection import Selector
from tensorwrapper.selection.transforms._picture import ModePart, draw_parts
from tests.support.pictures import Picture, near


def drawn(text, extents=None):
    return Picture(Selector.parse(text).to_svg(extents))


def test_what_is_selected_is_dark_where_it_lies_in_its_mode():
    found = drawn("1, 2:6, ::-3", (8, 8, 8))
    first, second, third = found.boxes("bar")
    picked = found.boxes("picked")
    unit = first.width / 8

    assert [(round((box.x - first.x) / unit, 1), round(box.width / unit, 1)) for box in picked] == [
        (1.0, 1.0),
        (2.0, 4.0),
        (1.0, 1.0),
        (4.0, 1.0),
        (7.0, 1.0),
    ]
    assert [box.y for box in picked] == [first.y, second.y, *[third.y] * 3]


@pytest.mark.parametrize(
    "text", ["1, ..., ::-2, +3", "+, -2, :4", "...", "", "3:2", "::2, +7, 0:1", "5, 5, +"]
)
@pytest.mark.parametrize("extents", [(9, 8, 7), (40, 6, 1000)])
def test_a_picture_says_what_the_result_is(text, extents):
    said = [
        word.rpartition(": ")[2].replace("new, ", "all ").removeprefix("all ").split(" ")[0]
        for word in drawn(text, extents).texts
        if "→" in word
    ]

    assert [int(count.replace(",", "")) for count in said] == list(
        Selector.parse(text).result_extents(extents)
    )


@pytest.mark.parametrize("text", ["", "3", "-20, ::5", "...", "+9", f"{10**90}:", "::-1, 100:200:7", ":-30"])
def test_an_example_has_room_for_the_numbers(text):
    selector = Selector.parse(text)
    found = Picture(selector.to_svg())

    assert "of an example" in found.label
    assert "<svg" in selector._repr_html_()
    assert found.width < 900


def test_many_positions_are_one_mark_as_dark_as_they_are_many():
    found = draw_parts([ModePart("::4", 4000, (0, 4, 1000))], title="")
    ((mark, _, _),) = [drawn for drawn in Picture(found.to_svg()).marks if drawn[0].get("class") == "picked"]

    assert float(mark.get("opacity")) == near(0.25)
    assert mark.get("d").count("M") == 1


def test_what_is_outside_is_refused_as_elsewhere():
    with pytest.raises(OutOfBoundsError, match="mode 0"):
        drawn("9", (3,))
