"""Pictures of plans that move elements from tiles to tiles: a plane for each mode."""

from typing import TYPE_CHECKING, Final, cast

import numpy as np

from tensorwrapper._displays import html_block
from tensorwrapper.drawing import Drawing, count_text, draw_grid, note, stacked

if TYPE_CHECKING:
    from tensorwrapper.shape.tilings._retile import Overlaps, RetilePlan

_PLANES: Final = 4  # modes that are drawn
_PARTS: Final = 64  # of each


def draw_retile(plan: "RetilePlan") -> Drawing:
    """Return a picture: for each mode how much of which old tile each new one has."""
    title = f"{count_text(plan.count)} pieces move between tiles"
    planes = [_plane(overlaps, mode) for mode, overlaps in enumerate(plan.overlaps[:_PLANES])]
    return stacked(planes, title=title) if planes else note((title,), title=title)


def retile_html(plan: "RetilePlan") -> str:
    """Return what notebooks show of a plan."""
    cost = plan.cost()
    facts = [("pieces", count_text(cost.pieces)), ("elements", count_text(cost.elements))]
    return html_block(repr(plan), facts, draw_retile(plan).to_svg())


def _plane(overlaps: "Overlaps", mode: int) -> Drawing:
    """Return the picture of one mode, old tiles down and new ones across."""
    tiles = overlaps.old_partition.count, overlaps.new_partition.count
    parts = tuple([max(min(n, _PARTS), 1) for n in tiles])
    counts = np.zeros(parts)
    places = [
        own * part // max(n, 1)
        for own, part, n in zip((overlaps.old_tiles, overlaps.new_tiles), parts, tiles, strict=True)
    ]
    np.add.at(counts, tuple(places), overlaps.extents.astype(np.float64))
    shares = counts / max(float(counts.max(initial=0.0)), 1.0)
    return draw_grid(
        cast("list[list[float]]", shares.tolist()),
        down=(0, tiles[0]),
        across=(0, tiles[1]),
        names=(f"old tiles of mode {mode}", f"new tiles of mode {mode}"),
        full=f"{count_text(int(counts.max(initial=0.0)))} indices",
        title=f"which old tiles new tiles of mode {mode} are made of",
    )
