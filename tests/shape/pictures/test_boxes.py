"""Pictures of boxes: a bar, a box, a box in space, or a bar for each mode; to scale."""

import pytest

from tensorwrapper import Shape
from tests.support.pictures import near, one, picture


def test_a_shape_of_rank_1_is_a_bar_with_its_origin():
    drawn = picture(Shape(7, origin=(-3,)))
    bar, mark = one(drawn.boxes("box")), one(drawn.boxes("origin"))

    assert bar.width > bar.height
    assert (mark.x, mark.y) == (bar.x, bar.y)
    assert [t for t in drawn.texts if t.lstrip("-").isdigit()] == ["-3", "-2", "-1", "0", "1", "2", "3"]
    assert {"mode 0, extent 7", "origin (-3,)"} <= set(drawn.texts)


@pytest.mark.parametrize("extents", [(4, 5), (5, 4), (300, 1000), (90, 1), (17, 17)])
def test_a_box_of_rank_2_is_to_scale(extents):
    drawn = picture(Shape(*extents, origin=(-2, 10)))
    box = one(drawn.boxes("box"))
    thin = min(box.width, box.height) <= 8.0

    if not thin:
        assert box.height / extents[0] == pytest.approx(box.width / extents[1], rel=1e-3)
    assert any("not to scale" in t for t in drawn.texts) == thin
    assert {f"mode 0, extent {extents[0]}", f"mode 1, extent {extents[1]:,}", "origin (-2, 10)"} <= set(
        drawn.texts
    )


def test_indices_stand_at_the_middle_of_their_cells():
    drawn = picture(Shape(2, 3))
    box = one(drawn.boxes("box"))
    lines = drawn.runs("unit")

    assert len(lines) == 1 + 2
    assert sorted(run[0][0] for run in lines if run[0][0] == run[1][0]) == near(
        [box.x + box.width / 3, box.x + 2 * box.width / 3]
    )


def test_long_modes_have_round_numbers_at_their_places():
    drawn = picture(Shape(1000))
    box = one(drawn.boxes("box"))
    places = {
        e.text: float(e.get("x")) for e, _, _ in drawn.marks if e.text and e.text.replace(",", "").isdigit()
    }

    assert {"0", "1,000"} <= set(places)
    assert len(places) > 3
    for text, x in places.items():
        assert x == near(box.x + int(text.replace(",", "")) / 1000 * box.width)


def test_a_side_that_would_vanish_is_drawn_and_said():
    drawn = picture(Shape(2, 10**6))

    assert one(drawn.boxes("box")).height == 8.0
    assert any("not to scale" in text for text in drawn.texts)


def test_a_shape_of_rank_3_is_a_box_in_space():
    drawn = picture(Shape(4, 5, 6, origin=(1, 2, 3)))
    front, faces = one(drawn.boxes("box")), drawn.boxes("face")

    assert front.height / 5 == near(front.width / 6)
    assert len(faces) == 2
    assert {len(run) for run in drawn.runs("face")} == {4}
    # What leads away is as long to the right as it is down, and to scale but for the foreshortening.
    away = max(f.right for f in faces) - front.right
    assert away == near(max(f.bottom for f in faces) - front.bottom)
    assert away / 4 == near(0.42 * front.width / 6)
    assert len({front.fill, *[f.fill for f in faces]}) == 3
    assert {"mode 0, extent 4", "mode 1, extent 5", "mode 2, extent 6"} <= set(drawn.texts)


def test_a_shape_of_higher_rank_has_one_bar_per_mode():
    extents = (8, 3, 64, 64, 2)
    drawn = picture(Shape(*extents, origin=(0, 0, 0, 5, 0)))
    bars = drawn.boxes("bar")

    assert [b.width / bars[2].width for b in bars] == pytest.approx([n / 64 for n in extents], rel=1e-3)
    assert [b.y for b in bars] == sorted({b.y for b in bars})
    assert {"mode 3", "64, from 5", "64"} <= set(drawn.texts)


def test_of_very_many_modes_the_first_are_drawn():
    drawn = picture(Shape(*[2] * 60))

    assert len(drawn.boxes("bar")) == 24
    assert "and 36 more modes" in drawn.texts


def test_extents_beyond_the_floats_are_drawn():
    box = one(picture(Shape(10**400, 2 * 10**400)).boxes("box"))

    assert box.width == near(2 * box.height)
