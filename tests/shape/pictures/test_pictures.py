"""Pictures of shapes of every kind: what is drawn, where, and how large."""

import itertools

import numpy as np
import pytest
from support.pictures import Picture

from tensorwrapper import Shape, Tiling, as_shape
from tensorwrapper.drawing import PAPER, layer_color, ramp
from tensorwrapper.shape import JaggedCommon

NEAR = 0.03  # pixels: documents have two decimals


def picture(shape):
    return Picture(shape.to_svg())


def one(boxes):
    (box,) = boxes
    return box


def near(value):
    return pytest.approx(value, abs=NEAR)


# Boxes.


def test_a_shape_of_rank_1_is_a_bar_with_its_origin():
    drawn = picture(Shape(7, origin=(-3,)))
    bar, mark = one(drawn.boxes("box")), one(drawn.boxes("origin"))

    assert bar.width > bar.height
    assert (mark.x, mark.y) == (bar.x, bar.y)
    assert [t for t in drawn.texts if t.lstrip("-").isdigit()] == ["-3", "-2", "-1", "0", "1", "2", "3"]
    assert {"mode 0, extent 7", "origin (-3,)"} <= set(drawn.texts)


@pytest.mark.parametrize("extents", [(4, 5), (5, 4), (300, 1000), (90, 1), (17, 17)])
def test_a_box_of_rank_2_is_to_scale(extents):
    drawn = picture(Shape(*extents, origin=(-2, 10)))
    box = one(drawn.boxes("box"))
    thin = min(box.width, box.height) <= 8.0

    if not thin:
        assert box.height / extents[0] == pytest.approx(box.width / extents[1], rel=1e-3)
    assert any("not to scale" in t for t in drawn.texts) == thin
    assert {f"mode 0, extent {extents[0]}", f"mode 1, extent {extents[1]:,}", "origin (-2, 10)"} <= set(
        drawn.texts
    )


def test_indices_stand_at_the_middle_of_their_cells():
    drawn = picture(Shape(2, 3))
    box = one(drawn.boxes("box"))
    lines = drawn.runs("unit")

    assert len(lines) == 1 + 2
    assert sorted(run[0][0] for run in lines if run[0][0] == run[1][0]) == near(
        [box.x + box.width / 3, box.x + 2 * box.width / 3]
    )


def test_long_modes_have_round_numbers_at_their_places():
    drawn = picture(Shape(1000))
    box = one(drawn.boxes("box"))
    places = {
        e.text: float(e.get("x")) for e, _, _ in drawn.marks if e.text and e.text.replace(",", "").isdigit()
    }

    assert {"0", "1,000"} <= set(places)
    assert len(places) > 3
    for text, x in places.items():
        assert x == near(box.x + int(text.replace(",", "")) / 1000 * box.width)


def test_a_side_that_would_vanish_is_drawn_and_said():
    drawn = picture(Shape(2, 10**6))

    assert one(drawn.boxes("box")).height == 8.0
    assert any("not to scale" in text for text in drawn.texts)


def test_a_shape_of_rank_3_is_a_box_in_space():
    drawn = picture(Shape(4, 5, 6, origin=(1, 2, 3)))
    front, faces = one(drawn.boxes("box")), drawn.boxes("face")

    assert front.height / 5 == near(front.width / 6)
    assert len(faces) == 2
    assert {len(run) for run in drawn.runs("face")} == {4}
    # What leads away is as long to the right as it is down, and to scale but for the foreshortening.
    away = max(f.right for f in faces) - front.right
    assert away == near(max(f.bottom for f in faces) - front.bottom)
    assert away / 4 == near(0.42 * front.width / 6)
    assert len({front.fill, *[f.fill for f in faces]}) == 3
    assert {"mode 0, extent 4", "mode 1, extent 5", "mode 2, extent 6"} <= set(drawn.texts)


def test_a_shape_of_higher_rank_has_one_bar_per_mode():
    extents = (8, 3, 64, 64, 2)
    drawn = picture(Shape(*extents, origin=(0, 0, 0, 5, 0)))
    bars = drawn.boxes("bar")

    assert [b.width / bars[2].width for b in bars] == pytest.approx([n / 64 for n in extents], rel=1e-3)
    assert [b.y for b in bars] == sorted({b.y for b in bars})
    assert {"mode 3", "64, from 5", "64"} <= set(drawn.texts)


def test_of_very_many_modes_the_first_are_drawn():
    drawn = picture(Shape(*[2] * 60))

    assert len(drawn.boxes("bar")) == 24
    assert "and 36 more modes" in drawn.texts


def test_extents_beyond_the_floats_are_drawn():
    box = one(picture(Shape(10**400, 2 * 10**400)).boxes("box"))

    assert box.width == near(2 * box.height)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (Shape(), "scalar"),
        (Shape(4, 0), "extents (4, 0)"),
        (Shape(0, origin=(3,)), "extents (0)"),
        (Shape.jagged([0, 0]), "extents (2, 0)"),
        (Shape.jagged([], rank=2), "no elements"),
        (Shape.tiled([0, 0], [3]), "no elements"),
        (Shape.nested(Shape(3, 0), layers=(1, 1)), "no elements"),
        (Shape.nested(Shape(), layers=(0, 0)), "scalar"),
        (Shape.triangular(0), "no elements"),
    ],
)
def test_what_has_nothing_to_draw_says_so(shape, words):
    drawn = picture(shape)

    assert any(words in text for text in drawn.texts)
    assert len(drawn.boxes("note")) == 1


# Rows.


@pytest.mark.parametrize(
    ("lengths", "first"),
    [([3, 1, 2], 0), ([0, 5, 0, 2], 7), ([1] * 180, 0), (range(1, 11), -4)],
)
def test_each_row_is_a_bar_as_long_as_its_extent(lengths, first):
    shape = Shape.jagged(list(lengths), origin=(first, 2))
    rows = picture(shape).boxes("row")
    filled = [(first + k, n) for k, n in enumerate(lengths) if n]
    scale = max(r.width for r in rows) / max(lengths)

    assert [r.width for r in rows] == near([n * scale for _, n in filled])
    assert [r.title for r in rows] == [f"row {k}: [2, {2 + n}), {n} elements" for k, n in filled]
    assert len({r.x for r in rows}) == 1
    assert all(a.bottom <= b.y + NEAR for a, b in itertools.pairwise(rows))


def test_rows_stand_at_their_own_height():
    rows = {r.title.split(":")[0]: r for r in picture(Shape.jagged([2, 0, 2, 2])).boxes("row")}
    pitch = rows["row 3"].y - rows["row 2"].y

    assert rows["row 2"].y - rows["row 0"].y == near(2 * pitch)


def test_rows_begin_at_their_origins():
    shape = Shape.from_cells((3,), [(4,), (2,), (3,)], origins=[(5,), (-1,), (2,)])
    rows = picture(shape).boxes("row")
    scale = rows[0].width / 4

    assert [r.x - rows[1].x for r in rows] == near([6 * scale, 0.0, 3 * scale])


def test_empty_rows_are_marked():
    drawn = picture(Shape.jagged([2, 0, 0, 1]))

    assert len(drawn.runs("empty")) == 2


def test_rows_of_several_modes_have_their_prefix_beside_them_and_lines_between_groups():
    drawn = picture(Shape.jagged([[10], [20, 30], [30, 10, 20]]))
    rows, lines = drawn.boxes("row"), sorted(box.y for box in drawn.boxes("group"))

    assert {"(0, 0)", "(1, 1)", "(2, 2)"} <= set(drawn.texts)
    assert len(rows) == 6
    assert rows[0].bottom <= lines[0] <= rows[1].y
    assert rows[2].bottom <= lines[1] <= rows[3].y


def test_a_slice_and_the_same_rows_made_anew_look_alike():
    whole = Shape.jagged([[10], [20, 30], [30, 10, 20]])

    assert whole[1:3].to_svg() == Shape.jagged([[20, 30], [30, 10, 20]], origin=(1, 0, 0)).to_svg()


# Cells.


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


# Tiles.


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


# Layers.


@pytest.mark.parametrize(
    ("shape", "layers", "counts"),
    [
        (Shape(10, 20, 30), (1, 2), [1, 10]),
        (Shape(3, 4, 20, 30), (2, 2), [1, 12]),
        (Shape(3, 2, 2, 5, 6), (1, 2, 2), [1, 3, 12]),
        (Shape(2, 3), (1, 0, 1), [1, 2, 2]),
        (Shape(2, 3), (2, 0), [1, 6]),
        (Shape(2, 3, 2, 2), (3, 1), [1, 12]),
        (Shape.jagged([[10], [20, 30], [30, 10, 20]]), (2, 1), [1, 6]),
        (Shape.from_cells((3,), [(2, 2), (0, 0), (1, 3)]), (1, 2), [1, 2]),
    ],
)
def test_layers_are_drawn_inside_one_another(shape, layers, counts):
    drawn = picture(Shape.nested(shape, layers=layers))
    boxes = [drawn.boxes(f"layer-{k}") for k in range(len(layers))]

    assert [len(b) for b in boxes] == counts
    for k, (outer, inner) in enumerate(itertools.pairwise(boxes)):
        assert {b.fill for b in outer} == {layer_color(k, len(layers))}
        assert {b.fill for b in inner} == {layer_color(k + 1, len(layers))}
        for box in inner:
            around = [
                b
                for b in outer
                if b.x <= box.x and box.right <= b.right and b.y <= box.y and box.bottom <= b.bottom
            ]
            assert len(around) == 1
    assert len({layer_color(k, len(layers)) for k in range(len(layers))}) == len(layers)


def test_cells_of_a_layer_stand_in_even_lines_and_columns():
    drawn = picture(Shape.nested(Shape(3, 4, 20, 30), layers=(2, 2)))
    outer, inner = one(drawn.boxes("layer-0")), drawn.boxes("layer-1")
    across, down = outer.width / 4, outer.height / 3
    centres = [(b.x + b.width / 2 - outer.x, b.y + b.height / 2 - outer.y) for b in inner]

    assert centres == [near(((m + 0.5) * across, (k + 0.5) * down)) for k in range(3) for m in range(4)]
    assert inner[0].height / 20 == pytest.approx(inner[0].width / 30, rel=1e-3)


def test_innermost_boxes_are_to_one_scale():
    cells = Shape.from_cells((3,), [(2, 2), (4, 1), (1, 3)])
    inner = picture(Shape.nested(cells, layers=(1, 2))).boxes("layer-1")
    across, down = inner[0].width / 2, inner[0].height / 2

    assert [(b.height, b.width) for b in inner] == [
        near((h * down, w * across)) for h, w in [(2, 2), (4, 1), (1, 3)]
    ]


def test_innermost_cells_that_are_jagged_show_their_rows():
    drawn = picture(Shape.nested(Shape.jagged([[10], [20, 30], [30, 10, 20]]), layers=(1, 2)))
    widths = [b.width for b in drawn.boxes("layer-1")]

    assert widths == near([n * widths[0] / 10 for n in (10, 20, 30, 30, 10, 20)])


def test_of_many_cells_the_first_are_drawn_and_it_is_said():
    drawn = picture(Shape.nested(Shape(1000, 1000, 3, 3), layers=(2, 2)))

    assert len(drawn.boxes("layer-1")) == 15 * 15
    assert "of layer 0 the first 15 x 15 cells are drawn" in drawn.texts


@pytest.mark.parametrize(
    ("extents", "said"), [((2, 8), False), ((2, 9), True), ((9, 2), True), ((8, 2), False)]
)
def test_innermost_cells_that_are_too_thin_are_not_to_scale_and_that_is_said(extents, said):
    drawn = picture(Shape.nested(Shape(2, *extents), layers=(1, 2)))

    assert any("not to scale" in text for text in drawn.texts) == said


def test_one_layer_looks_like_none():
    assert Shape.nested(Shape(2, 3), layers=(2,)).to_svg() == Shape(2, 3).to_svg()


# All.


def test_every_picture_stands_on_paper_of_its_own_and_says_what_it_shows():
    for shape in (Shape(2, 3), Shape.jagged([3, 1]), Shape.tiled([1, 2], [3]), Shape(), Shape(2, 2, 2, 2)):
        drawn = picture(shape)
        paper = one(drawn.boxes("paper"))

        assert paper[:5] == (0.0, 0.0, drawn.width, drawn.height, PAPER)
        assert drawn.marks[0][0].get("class") == "paper"
        assert drawn.root.get("role") == "img"
        assert f"{shape}" in drawn.label
        assert drawn.root.find("{http://www.w3.org/2000/svg}title").text == drawn.label


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


class Triangle(JaggedCommon):
    """A representation of a stranger: row k has k + 1 indices."""

    __slots__ = ()

    @property
    def rows(self):
        return Shape.jagged([1, 2, 3]).implementation.rows


def test_the_shape_of_a_stranger_is_drawn_as_ours_is():
    assert as_shape(Triangle()).to_svg() == Shape.jagged([1, 2, 3]).to_svg()
    assert "memory" not in as_shape(Triangle())._repr_html_()
