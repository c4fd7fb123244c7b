"""Pictures of nested shapes: the boxes of each layer inside those of the one before."""

import itertools

import pytest

from tensorwrapper import Shape
from tensorwrapper.drawing import layer_color
from tests.support.pictures import near, one, picture


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
