"""Tests of pictures of what moves between tiles."""

from tensorwrapper import Tiling
from tests.support.pictures import Picture, near


def test_each_overlap_is_drawn_where_its_tiles_meet():
    found = Picture(Tiling([2, 2, 4]).retile_plan(Tiling([4, 2, 2])).to_svg())
    (plane,) = found.boxes("plane")
    parts = [
        (round(3 * (p.y - plane.y) / plane.height), round(3 * (p.x - plane.x) / plane.width), p.width)
        for p in found.boxes("part")
    ]

    assert [part[0] for part in parts] == [0, 1, 2]
    assert [part[1] for part in parts] == [0, 0, 1]
    assert parts[2][2] / plane.width == near(2 / 3)


def test_a_plane_is_drawn_for_each_of_the_first_modes():
    tiling = Tiling(*[[1, 2]] * 6)

    assert len(Picture(tiling.retile_plan(tiling).to_svg()).boxes("plane")) == 4
    assert Picture(Tiling().retile_plan(Tiling()).to_svg()).label == "1 pieces move between tiles"


def test_millions_of_tiles_are_drawn_in_little():
    plan = Tiling.from_chunks([[3] * 10**6]).retile_plan(Tiling.from_chunks([[2] * 1_500_000]))

    assert len(plan._repr_html_()) < 20_000
