"""Pictures: what they show, and what they refuse."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tensorwrapper import Tiling
from tensorwrapper.drawing import Drawing, Rectangle, Text, log_color, ramp
from tensorwrapper.errors import ExtentError, RankError
from tensorwrapper.shape._drawing import draw_tiling

SVG = "{http://www.w3.org/2000/svg}"


def test_tiles_are_drawn_to_scale_and_empty_ones_left_out():
    root = ET.fromstring(draw_tiling(Tiling([1, 0, 3], [2, 2])).to_svg())
    boxes = root.findall(f"{SVG}rect")

    assert len(boxes) == 4
    assert float(boxes[2].get("height")) == pytest.approx(3 * float(boxes[0].get("height")))


def test_text_is_escaped():
    text = Drawing(1, 1, (Text(0, 0, "a < b & c"), Rectangle(0, 0, 1, 1, '"', "<"))).to_svg()

    assert ET.fromstring(text).find(f"{SVG}text").text == "a < b & c"


def test_colours_run_from_pale_to_dark_and_grey_below():
    assert ramp(-1.0) == ramp(0.0) == "#f7fbff"
    assert log_color(1.0, 1e-8, 1.0) == ramp(1.0)
    assert log_color(1e-9, 1e-8, 1.0) == log_color(float("nan"), 1e-8, 1.0) == "#f2f2f2"


def test_other_ranks_and_wrong_magnitudes_are_refused():
    with pytest.raises(RankError, match="rank 2, not 1"):
        draw_tiling(Tiling([1]))
    with pytest.raises(ExtentError, match=r"\(1, 1\) tiles"):
        draw_tiling(Tiling([1], [1]), magnitudes=np.zeros((2, 2)))
