"""Grids of cells: every offset stands in its cell, and what is left out is said."""

import math
import re

import pytest

from tensorwrapper.drawing import count_text
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape
from tests.support.layout.grids import GRIDS, cells
from tests.support.pictures import picture


@pytest.mark.parametrize("name", GRIDS)
def test_every_cell_of_a_small_layout_has_its_offset(name):
    layout = GRIDS[name]
    found = cells(picture(layout))

    assert len(found) == layout.shape.size
    assert len({index for _, index, _, _ in found}) == layout.shape.size
    for _, index, offset, text in found:
        assert layout.offset_of(index) == offset
        assert text == count_text(offset)


def test_cells_stand_in_rows_and_columns_with_their_indices_beside_them():
    drawn = picture(GRIDS["F"])
    found = cells(drawn)
    width, height = found[0][0].width, found[0][0].height
    left, top = min(box.x for box, *_ in found), min(box.y for box, *_ in found)

    for box, (i, j), _, _ in found:
        assert box.x == pytest.approx(left + (j - 10) * width, abs=0.05)
        assert box.y == pytest.approx(top + (i + 1) * height, abs=0.05)
    assert {"mode 0, extent 4", "mode 1, extent 6", "strides 1, 4", "offsets 0 to 23, pale to dark"} <= set(
        drawn.texts
    )
    labels = [t for t in drawn.texts if re.fullmatch(r"-?\d+", t)]
    assert labels.count("-1") == 1
    assert labels.count("15") == 2  # an index of mode 1, and an offset


@pytest.mark.parametrize("name", ["F", "descending", "padded", "rotated", "colex", "rows"])
def test_later_in_memory_is_darker(name):
    found = sorted((offset, box.fill) for box, _, offset, _ in cells(picture(GRIDS[name])))
    brightness = [sum(int(fill[k : k + 2], 16) for k in (1, 3, 5)) for _, fill in found]

    assert brightness == sorted(brightness, reverse=True)
    assert len(set(brightness)) > len(brightness) // 2


@pytest.mark.parametrize(
    ("layout", "shared"),
    [
        (Layout(Shape(4, 3)), set()),
        (Layout(Shape(1, 4)).broadcast((3, 4)), {0, 1, 2, 3}),
        (Layout(Shape(6)).gather(0, [5, 0, 5, 2]), {5}),
        (Layout(Shape(4)).sliding_window(0, 2), {1, 2}),
    ],
)
def test_places_that_several_indices_share_are_hatched(layout, shared):
    drawn = picture(layout)
    hatched = drawn.runs("repeated")
    for box, _, offset, _ in cells(drawn):
        inside = [
            run
            for run in hatched
            if box.x - 0.1 <= run[0][0] <= run[1][0] <= box.right + 0.1
            and box.y - 0.1 <= run[1][1]
            and run[0][1] <= box.bottom + 0.1
        ]
        assert bool(inside) == (offset in shared)
    assert ("hatched: offsets that several indices share" in drawn.texts) == bool(shared)


def test_the_far_end_of_a_long_mode_is_drawn():
    indices = [index for _, index, _, _ in cells(picture(Layout(Shape(10**7, 10**7))))]

    assert {(0, 0), (10**7 - 1, 0), (0, 10**7 - 1), (10**7 - 1, 10**7 - 1)} <= set(indices)
    assert math.isqrt(len(indices)) >= 9
