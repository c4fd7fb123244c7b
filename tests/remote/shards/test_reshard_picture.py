"""Tests of pictures of what moves between holders."""

from tensorwrapper import Tiling
from tensorwrapper.remote import Sharding, reshard_plan
from tests.support.pictures import Picture

NAMES = [f"tcp://127.0.0.1:{k}" for k in range(1, 5)]


def test_what_stays_lies_on_the_diagonal():
    own = Sharding(Tiling([1] * 4), "f8", NAMES)
    found = Picture(reshard_plan(own, own).to_svg())
    (plane,) = found.boxes("plane")

    places = [
        (round(4 * (p.y - plane.y) / plane.height), round(4 * (p.x - plane.x) / plane.width))
        for p in found.boxes("part")
    ]
    assert sorted(places) == [(k, k) for k in range(4)]
    assert found.label == "0 B move between 4 holders, 32 B stay"


def test_a_notebook_shows_what_moves():
    old, new = Sharding(Tiling([2, 2]), "f8", NAMES[:2]), Sharding(Tiling([4]), "f8", NAMES[:1])
    html = reshard_plan(old, new)._repr_html_()

    assert "16 B" in html
    assert "who receives" in html
