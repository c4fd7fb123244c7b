"""Pictures of block patterns: each part of the grid is as dark as many of its tiles are present."""

import numpy as np
import pytest

from tensorwrapper import BlockPattern, Tiling
from tests.support.pictures import Picture, near

T = Tiling([1, 2, 3], [2, 4])


@pytest.mark.parametrize(
    "pattern",
    [
        BlockPattern(T, [(0, 0), (1, 1), (2, 0)]),
        BlockPattern(T),
        BlockPattern(T, []),
        BlockPattern(Tiling(), [()]),
        BlockPattern(Tiling([1, 0, 5]), [(1,)]),
        BlockPattern(Tiling([], [2])),
        BlockPattern.from_predicate(Tiling(*[np.ones(30, int)] * 3), lambda i, j, k: i + j <= k),
        BlockPattern(Tiling(*[np.ones(2**15, int)] * 4), [(1, 2, 3, 4)]),
    ],
    ids=lambda p: f"{p.count} of {p.rank}",
)
def test_every_pattern_has_a_small_picture(pattern):
    picture = Picture(pattern.to_svg())
    assert len(picture.marks) <= 300
    assert len(pattern.to_svg()) < 60_000
    assert picture.label.startswith("present")
    html = pattern._repr_html_()
    assert "<svg" in html
    assert "elements" in html


def test_present_tiles_are_dark():
    picture = Picture(BlockPattern(T, [(0, 0), (1, 1), (2, 0)]).to_svg())
    (plane,) = picture.boxes("plane")
    assert sum(box.area for box in picture.boxes("part")) / plane.area == near(0.5)
    assert "present" in picture.texts


def test_modes_before_the_last_two_make_parts_fainter():
    cut = Tiling([1, 1], [1, 1], [1])
    fills = [
        {box.fill for box in Picture(BlockPattern(cut, tiles).to_svg()).boxes("part")}
        for tiles in ([(0, 0, 0)], [(0, 0, 0), (1, 0, 0)])
    ]
    assert fills[0] != fills[1]
