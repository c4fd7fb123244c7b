"""Pictures of tilings: each tile has the colour of its number, to scale."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tensorwrapper import Tiling
from tensorwrapper.cli.demo._tile_picture import MOST_SHADES, draw_tiling
from tensorwrapper.drawing import (
    ramp,
)
from tensorwrapper.errors import ExtentError, RankError
from tests.support.pictures import Picture

SVG = "{http://www.w3.org/2000/svg}"


def test_tiles_are_drawn_to_scale_and_empty_ones_left_out():
    root = ET.fromstring(draw_tiling(Tiling([1, 0, 3], [2, 2])).to_svg())
    boxes = root.findall(f"{SVG}rect")

    assert len(boxes) == 4
    assert float(boxes[2].get("height")) == pytest.approx(3 * float(boxes[0].get("height")))


def test_other_ranks_and_wrong_magnitudes_are_refused():
    with pytest.raises(RankError, match="rank 2, not 1"):
        draw_tiling(Tiling([1]))
    with pytest.raises(ExtentError, match=r"\(1, 1\) tiles"):
        draw_tiling(Tiling([1], [1]), magnitudes=np.zeros((2, 2)))


def test_tiles_have_the_colour_of_their_magnitude_and_the_scale_is_shown():
    magnitudes = np.array([[1.0, 1e-4], [1e-9, np.nan]])
    drawn = Picture(draw_tiling(Tiling([1, 2], [3, 4]), magnitudes=magnitudes, title="S").to_svg())

    assert [t.fill for t in drawn.boxes("tile")] == [ramp(1.0), ramp(0.5), "#f2f2f2", "#f2f2f2"]
    assert {"S", "1e-08", "1", "logarithmic"} <= set(drawn.texts)
    assert [b.fill for b in drawn.boxes("scale")] == sorted(
        {b.fill for b in drawn.boxes("scale")}, reverse=True
    )


def test_of_very_many_tiles_runs_have_the_colour_of_the_greatest():
    magnitudes = np.full((200, 3), 1e-9)
    magnitudes[150, 2] = 1.0
    magnitudes[10, 0] = np.nan
    drawn = Picture(draw_tiling(Tiling([1] * 200, [70] * 3), magnitudes=magnitudes).to_svg())
    dark = [t for t in drawn.boxes("tile") if t.fill != "#f2f2f2"]

    assert len(drawn.boxes("tile")) == MOST_SHADES * 3
    assert [(t.fill, t.title) for t in dark] == [(ramp(1.0), "tiles (150 to 152, 2), 3 x 70")]


def test_coarser_lines_are_drawn_over_finer_ones():
    shells = Tiling([1, 1, 2], [2, 2])
    root = ET.fromstring(draw_tiling(shells, coarse=shells.coarsen([2, 1], [2])).to_svg())
    lines = [(line.get("stroke"), line.get("stroke-width")) for line in root.findall(f"{SVG}line")]

    assert lines == [("#b0b0b0", "0.5")] * 7 + [("#303030", "1.5")] * 5
