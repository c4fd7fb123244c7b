"""Shapes in words: rows within rows are counted mode by mode; anything else is the text of the shape."""

import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.shape.lowlevel import shape_words


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (Shape.jagged([[2, 1], [1]]), "2 rows of 1 to 2 rows of 1 to 2"),
        (Shape.jagged([[3], [3]]), "2 rows of 1 row of 3"),
        (Shape.jagged([[3], []]), "2 rows of 0 to 1 rows of 3"),
        (Shape.jagged([[[1], [2, 3]], []]), "2 rows of 0 to 2 rows of 1 to 2 rows of 1 to 3"),
        (Shape.jagged([Shape(2, 3), Shape(1, 3)]), "2 rows of 1 to 2 rows of 3"),
        (Shape.jagged([[1] * 2000] * 2), "2 rows of 2,000 rows of 1"),
        (Shape.jagged([0, 0]), "2 rows of 0"),
    ],
)
def test_rows_within_rows_are_counted_mode_by_mode(shape, words):
    assert shape_words(shape) == words


@pytest.mark.parametrize(
    "shape",
    [
        Shape.jagged([[2, 1], [1]]).translate_to((0, 0, 3)),
        Shape.jagged([[Shape(1, origin=(1,))], [Shape(2)]]),
        Shape.jagged([1, 2]).translate_to((0, 5)),
        Shape.jagged([[2, 1], [1]]).named("a", "b", "c"),
        Shape.jagged([[[[1]]], [[[2]]]]),
        Shape.tiled([1, 2], [2, 1]),
    ],
)
def test_origins_names_tiles_and_deeper_rows_have_the_text_of_the_shape(shape):
    assert shape_words(shape) == str(shape)


def test_displays_of_tensors_and_views_have_the_words():
    rows = tw.jagged([[[1.0], [2.0, 3.0]], [[4.0]]])

    assert repr(rows).startswith("<Tensor 2 rows of 1 to 2 rows of 1 to 2, float64, 32 B>")
    assert "2 rows of 1 to 2 rows of 1 to 2" in repr(sel.as_view(rows)[::-1])
