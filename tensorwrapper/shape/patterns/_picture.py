"""Pictures of block patterns: how many tiles of each part of the grid are present."""

from typing import Any

from tensorwrapper._displays import html_block
from tensorwrapper._error_text import shortened
from tensorwrapper.drawing import Drawing, bytes_text, count_text
from tensorwrapper.shape.masks._mask import Mask
from tensorwrapper.shape.masks._picture import draw_mask
from tensorwrapper.shape.patterns._queries import PatternQueries


def draw_pattern(pattern: PatternQueries[Any]) -> Drawing:
    """Return a picture of the last two modes of a grid, each part as dark as many of its tiles are there."""
    present = f"{count_text(pattern.count)} of {count_text(pattern.grid.size)} tiles"
    return draw_mask(
        Mask.of_ordinals(pattern.grid, pattern.ordinals()),
        title=f"present {present} of a grid of {shortened(str(pattern.grid))}",
        full="present",
    )


def pattern_html(pattern: PatternQueries[Any]) -> str:
    """Return what notebooks show of a pattern."""
    facts = [
        ("grid", shortened(str(pattern.grid))),
        ("present", f"{count_text(pattern.count)} of {count_text(pattern.grid.size)} tiles"),
        ("elements", f"{count_text(pattern.elements)} of {count_text(pattern.tiling.elements.size)}"),
        ("memory", bytes_text(pattern.nbytes)),
    ]
    return html_block(shortened(str(pattern)), facts, draw_pattern(pattern).to_svg())
