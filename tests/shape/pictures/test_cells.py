"""Pictures of cells: to one scale, in their grid or where they lie; and counts of their volumes."""

import itertools

import numpy as np
import pytest

from tensorwrapper import Shape
from tensorwrapper.drawing import ramp
from tests.support.pictures import NEAR, near, picture


def test_cells_are_drawn_to_one_scale_and_apart():
    sizes = [(10, 20), (30, 40), (50, 60), (0, 3)]
    drawn = picture(Shape.from_cells((4,), sizes))
    cells = drawn.boxes("cell")
    scale = cells[2].width / 60

    assert [(c.height, c.width) for c in cells] == [near((h * scale, w * scale)) for h, w in sizes[:3]]
    assert len(drawn.runs("empty")) == 1
    assert [c.title for c in cells] == ["cell 0: 10 x 20", "cell 1: 30 x 40", "cell 2: 50 x 60"]
    for a, b in itertools.combinations(cells, 2):
        assert a.right <= b.x + NEAR or b.right <= a.x + NEAR or a.bottom <= b.y or b.bottom <= a.y


def test_cells_of_a_grid_stand_in_that_grid():
    cells = picture(Shape.from_cells((2, 3), [(1, 2)] * 5 + [(2, 1)])).boxes("cell")

    assert [(c.x, c.y) for c in cells] == [
        (x, y) for y in (cells[0].y, cells[3].y) for x in (c.x for c in cells[:3])
    ]
    assert cells[0].x < cells[1].x < cells[2].x
    assert cells[0].y < cells[3].y


def test_cells_with_origins_are_drawn_where_they_lie():
    shape = Shape.from_cells((2,), [(2, 3), (4, 2)], origins=[(1, 1), (10, 20)])
    first, second = picture(shape).boxes("cell")
    scale = first.width / 3

    assert (second.x - first.x, second.y - first.y) == near((19 * scale, 9 * scale))
    assert second.height == near(4 * scale)


def test_volumes_of_cells_of_higher_rank_are_counted():
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 6, (40, 3))
    drawn = picture(Shape.from_cells((40,), sizes))
    bins = drawn.boxes("bin")
    counts = [int(b.title.split()[0]) for b in bins]

    assert sum(counts) == 40
    assert len(drawn.boxes("box")) == 1
    assert [b.height for b in bins] == near([n * max(b.height for b in bins) / max(counts) for n in counts])
    assert [b.bottom for b in bins] == near([bins[0].bottom] * len(bins))


def test_a_histogram_is_the_count_of_volumes():
    volumes = [*range(1, 31), 31, 31, 31]
    drawn = picture(Shape.from_cells((33,), [(n, 1, 1) for n in volumes]))
    bins = drawn.boxes("bin")

    # 30 bins from 1 to 31, one for each number; the last has its end, too.
    assert [b.title for b in bins] == ["1 of the cells"] * 29 + ["4 of the cells"]


@pytest.mark.parametrize("extents", [(2, 3, 4), (1, 1, 1)])
def test_cells_that_are_all_alike_are_counted_in_words(extents):
    drawn = picture(Shape.jagged([Shape(*extents)] * 300))

    assert "300 cells" in drawn.texts
    assert ramp(0.3) in {b.fill for b in drawn.all_boxes()}
