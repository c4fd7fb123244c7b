"""The sides of a picture: tiles, and modes that outer modes go on."""

import pytest

from tensorwrapper.layout import Layout
from tensorwrapper.shape import Tiling
from tests.support.layout.grids import GRIDS, cells
from tests.support.pictures import Picture, picture


@pytest.mark.parametrize("name", ["tile-major", "packed tiles"])
def test_tiles_that_are_kept_together_have_a_colour_each(name):
    layout = GRIDS[name]
    tilings = {"tile-major": Tiling([2, 2, 1], [3, 3], origin=(5, 0)), "packed tiles": Tiling([2, 1], [2, 2])}
    fills = {}
    for box, index, _, _ in cells(picture(layout)):
        tile = index[:2] if layout.shape.rank == 4 else tilings[name].tile_of(index)
        fills.setdefault(tile, set()).add(box.fill)

    assert all(len(own) == 1 for own in fills.values())
    assert len(set.union(*fills.values())) == len(fills) == tilings[name].grid.size


def test_tiles_that_are_only_seen_are_coloured_by_offset():
    drawn = picture(GRIDS["tiles seen"])

    assert len({box.fill for box, *_ in cells(drawn)}) > 6
    assert len(drawn.runs("outer")) == 2 + 1


def lines(drawn):
    """Where lines stand, in cells, by how heavy they are: (weight, across or down) to places."""
    box = drawn.boxes("cell")[0]
    left, top = min(b.x for b in drawn.boxes("cell")), min(b.y for b in drawn.boxes("cell"))
    found = {}
    for element, x, y in drawn.marks:
        if element.get("class") == "outer":
            for run in Picture.boxes_of(element, x, y):
                upright = run.width == 0
                place = (run.x - left) / box.width if upright else (run.y - top) / box.height
                key = (float(element.get("stroke-width")), "column" if upright else "row")
                found.setdefault(key, []).append(round(place, 2))
    return found


def test_lines_stand_where_outer_modes_go_on():
    # Mode 0 is (2,2), mode 1 is (2,4): row-major the last leaf is the faster, colex the first.
    assert lines(picture(GRIDS["lex"])) == {(1.5, "row"): [2], (1.5, "column"): [4]}
    assert lines(picture(GRIDS["colex"])) == {(1.5, "row"): [2], (1.5, "column"): [2, 4, 6]}
    assert lines(picture(GRIDS["nested"])) == {(1.5, "row"): [2], (1.5, "column"): [2, 4]}
    assert lines(picture(GRIDS["tile-major"])) == {(1.5, "row"): [2, 4], (1.5, "column"): [3]}
    assert lines(picture(GRIDS["F"])) == {}


def test_lines_are_heavier_the_further_out():
    layout = Layout.parse("((2,2,2),1):((4,2,1),0)")

    assert lines(picture(layout)) == {(1.5, "row"): [2, 6], (2.5, "row"): [4]}
