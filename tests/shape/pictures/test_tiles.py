"""Pictures of tiled boxes: every boundary, or how dense they are."""

import itertools

import numpy as np
import pytest

from tensorwrapper import Shape, Tiling
from tests.support.pictures import Picture, near, one, picture


def strips_of(drawn):
    """How opaque each strip of boundaries is, by where it lies; across, then down."""
    strips = [
        (box, float(mark.get("opacity", 1)))
        for mark, x, y in drawn.marks
        if mark.get("class") == "density"
        for box in Picture.boxes_of(mark, x, y)
    ]
    across = {b.x: shade for b, shade in strips if b.height > b.width}
    down = {b.y: shade for b, shade in strips if b.height <= b.width}
    return across, down


def test_many_boundaries_are_strips_the_darker_the_more_there_are():
    dense = np.concatenate([np.full(500, 10), np.full(5000, 1)])
    drawn = Picture(Tiling(dense, [10_000]).to_svg())
    (box,), (_, down) = drawn.boxes("box"), strips_of(drawn)
    coarse = [shade for y, shade in down.items() if y < box.y + box.height / 2 - 5]
    fine = [shade for y, shade in down.items() if y > box.y + box.height / 2 + 5]

    assert max(coarse) < min(fine)
    assert len(fine) > 50
    assert not drawn.boxes("tile")


def test_strips_of_even_tiles_are_even_and_cover_the_box():
    drawn = Picture(Tiling([3] * 4096, [3] * 4096).to_svg())
    (box,), (across, down) = drawn.boxes("box"), strips_of(drawn)
    strips = drawn.boxes("density")

    assert len(set(across.values())) <= 2
    assert len(set(down.values())) <= 2
    assert sum(s.area for s in strips) == pytest.approx(2 * box.area, rel=0.02)


def test_a_grid_of_tiles_between_few_and_many_is_drawn_with_every_line():
    drawn = Picture(Tiling([2] * 100, [2] * 60).to_svg())

    assert len(drawn.runs("boundary")) == 99 + 59
    assert not drawn.boxes("density")


def test_tiles_are_never_multiplied_out():
    ones = np.ones(100_000, dtype=np.int64)
    for shape in (Shape.tiled(ones, ones), Shape.nested(Shape.tiled(ones, ones), layers=(2, 2))):
        assert len(shape.to_svg()) < 100_000
        assert "10,000,000,000" in shape._repr_html_()


def test_tiles_of_rank_2_cover_the_box_and_are_to_scale():
    drawn = picture(Shape.tiled([5, 15, 0, 10], [4, 8]))
    box, tiles = one(drawn.boxes("box")), drawn.boxes("tile")
    scale = box.width / 12

    assert [(t.height, t.width) for t in tiles] == [
        near((h * scale, w * scale)) for h in (5, 15, 10) for w in (4, 8)
    ]
    assert sum(t.area for t in tiles) == pytest.approx(box.area, rel=1e-3)
    assert [t.title for t in tiles][::5] == ["tile (0, 0): 5 x 4", "tile (3, 1): 10 x 8"]
    assert len(drawn.runs("boundary")) == 2 + 1


def test_tiles_of_rank_1_are_segments_of_a_bar():
    drawn = picture(Shape.tiled([5, 15, 10]))
    tiles = drawn.boxes("tile")

    assert [t.width for t in tiles] == near([n * tiles[0].width / 5 for n in (5, 15, 10)])
    assert all(a.right == near(b.x) for a, b in itertools.pairwise(tiles))


def test_tiles_of_higher_rank_are_bars_with_their_boundaries():
    drawn = picture(Shape.tiled([5, 15, 10], [3, 3, 3], [2] * 7))
    bars = drawn.boxes("bar")

    assert [b.width for b in bars] == near([n * bars[0].width / 30 for n in (30, 9, 14)])
    assert len(drawn.runs("boundary")) == 2 + 2 + 6


def test_a_run_of_tiles_keeps_their_numbers():
    tiles = picture(Shape.tiled([5, 15, 10], [4])[1:3]).boxes("tile")

    assert [t.title for t in tiles] == ["tile (1, 0): 15 x 4", "tile (2, 0): 10 x 4"]


def test_a_tiling_is_drawn_as_its_shape_is_and_says_where_it_lies():
    tiling = Tiling([5, 15, 10], [4, 8], origin=(100, 0))
    mine, shape = Picture(tiling.to_svg()), picture(tiling.shape)

    assert [t[:5] for t in mine.boxes("tile")] == [t[:5] for t in shape.boxes("tile")]
    assert "100" in mine.texts
    assert "mode 0: 3 tiles of 5 to 15" in mine.texts
    assert "modes 0 and 2: 3 tiles of 5 to 15" in shape.texts


@pytest.mark.parametrize(("tiling", "words"), [(Tiling(), "scalar"), (Tiling([0], [3]), "no elements")])
def test_a_tiling_without_elements_says_so(tiling, words):
    assert any(words in text for text in Picture(tiling.to_svg()).texts)
