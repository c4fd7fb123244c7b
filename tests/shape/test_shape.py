"""Equality across representations: kind, layers, and extents and origins at every prefix decide."""

import itertools
from typing import final

import attrs
import numpy as np
import pytest

from tensorwrapper.shape import (
    Jagged,
    JaggedCommon,
    JaggedView,
    Nested,
    NestedView,
    Rows,
    Shape,
    Smooth,
    SmoothCommon,
    SmoothView,
    Tiled,
    Tiling,
    Triangular,
    as_shape,
)


@final
@attrs.frozen(eq=False)
class Square(SmoothCommon):
    """A stranger's box."""

    side: int

    @property
    def extents(self):
        return (self.side, self.side)

    @property
    def origin(self):
        return (0, 0)


@final
@attrs.frozen(eq=False)
class Stairs(JaggedCommon):
    """A stranger's triangle."""

    side: int

    @property
    def rows(self):
        return Rows.of_lengths(np.arange(1, self.side + 1))


# Every row: shapes that are stored in different ways, and must be equal.
SAME = {
    "a square": [
        Shape(3, 3),
        Shape(9, 9)[0:3, 0:3],
        Shape.jagged([Shape(5, 5), Shape(3, 3)])[1],
        Shape.jagged([3, 1, 2]).as_smooth(),
        as_shape(SmoothView.of_box(Smooth((3, 3)))),
        as_shape(Square(3)),
        Shape.tiled([3, 3], [3])[1, 0],
        Shape.nested(Shape(3, 3), layers=(1, 1)).flatten(),
        Shape.triangular(3).as_smooth(),
    ],
    "a square of rows": [
        Shape.jagged([3, 3, 3]),
        Shape.from_cells((3,), [(3,)] * 3),
        Shape.jagged([9, 3, 3, 3], origin=(-1, 0))[0:],
        Shape.jagged([[9], [3, 3, 3]])[1],
    ],
    "a triangle": [
        Shape.triangular(3),
        Shape.jagged([1, 2, 3]),
        as_shape(Stairs(3)),
        as_shape(Jagged(Triangular(3).rows)),
        Shape.jagged([Shape(1), Shape(2), Shape(3)]),
        Shape.jagged([4, 1, 2, 3])[1:].translate_to((0, 0)),
        Shape.from_cells(Shape(3), np.array([[1], [2], [3]])),
        Shape.triangular(4, diagonal=False)[1:].translate_to((0, 0)),
    ],
    "a triangle elsewhere": [
        Shape.triangular(4, diagonal=False)[1:],
        Shape.jagged([1, 2, 3], origin=(1, 0)),
    ],
    "the other triangle": [
        Shape.triangular(3, "upper"),
        Shape.jagged([Shape(3), Shape(2, origin=(1,)), Shape(1, origin=(2,))]),
        Shape.triangular(4, "upper")[1:].translate_by((-1, -1)),
    ],
    "tiles": [
        Shape.tiled([1, 2], [3]),
        Tiling([1, 2], [3]).shape,
        Shape.tiled([3], [1, 2]).permute((1, 0, 3, 2)),
        Shape.tiled([9, 1, 2], [3])[1:, 0:].translate_by((-1, 0, 0, 0)),
        Shape.from_cells((2, 1), [(1, 3), (2, 3)]),
        Shape.jagged([Shape.jagged([[3]]), Shape.jagged([[3, 3]])]),
        Shape.jagged([Shape.tiled([7], [7]), Shape.tiled([1, 2], [3])])[1],
    ],
    "layers": [
        Shape.nested(Shape(3, 3), layers=(1, 1)),
        as_shape(Nested(Smooth((3, 3)), (1, 1))),
        Shape.nested(Shape.triangular(3).as_smooth(), layers=(1, 1)),
        Shape.nested(Shape(2, 3, 3), layers=(1, 1, 1))[1],
    ],
    "other layers": [Shape.nested(Shape(3, 3), layers=(2,)), Shape.nested(as_shape(Square(3)), layers=(2,))],
    "layers of a triangle": [
        Shape.nested(Shape.triangular(3), layers=(1, 1)),
        Shape.nested(Shape.jagged([9, 1, 2, 3], origin=(-1, 0))[0:], layers=(1, 1)),
    ],
    # What is stored behind an empty mode counts; rows, which cannot say it, say 0.
    "an empty cell": [
        Shape.jagged([Shape(0, 0)]),
        Shape.jagged([[]], rank=3),
        Shape.jagged([Shape.jagged([], rank=2)]),
        Shape.from_cells((1,), [(0, 0)]),
    ],
    "an empty cell that is 3 wide": [
        Shape.jagged([Shape(0, 3)]),
        Shape.from_cells((1,), [(0, 3)]),
        Shape.jagged([Shape(1, 1), Shape(0, 3)])[1:].translate_by((-1, 0, 0)),
        Shape.jagged([Shape(3, 0)]).permute((0, 2, 1)),
    ],
    "an empty cell elsewhere": [Shape.jagged([Shape(0, 3, origin=(0, 7))])],
    "empty tiles": [
        Shape.tiled([0], [3]),
        Shape.from_cells((1, 1), [(0, 3)]),
        Shape.tiled([3], [0]).permute((1, 0, 3, 2)),
    ],
    "wider empty tiles": [Shape.tiled([0], [4]), Shape.from_cells((1, 1), [(0, 4)])],
    "no tiles": [Shape.tiled([], []), as_shape(Jagged(Shape.tiled([], []).implementation.rows))],
    "no tiles across": [Shape.tiled([], [2, 3]), Shape.tiled([2, 3], []).permute((1, 0, 3, 2))],
    "rows without elements, across": [
        Shape.from_uniform(3, 0).permute((1, 0)),
        Shape.parse("(0, 3|)"),
        Shape.from_json('{"extents":[0,3],"kind":"jagged","origin":[0,0],"outer_rank":1}'),
    ],
    "no rows": [
        Shape.jagged([], rank=2),
        Shape.triangular(0),
        Shape.triangular(0, "upper"),
        Shape.triangular(5)[0:0],
        as_shape(Stairs(0)),
    ],
    "no rows elsewhere": [Shape.jagged([3, 1])[2:], Shape.jagged([], rank=2, origin=(2, 0))],
    # A box has its extents, also those that no prefix leads to.
    "an empty box": [Shape(0, 5), Shape(3, 5)[0:0], Shape.jagged([Shape(0, 5), Shape(1, 1)])[0]],
    "an empty box of other extents": [Shape(0, 6)],
    "an empty box across": [Shape(5, 0)],
    "an empty box elsewhere": [Shape(0, 5, origin=(0, 1))],
    "the scalar": [Shape(), Shape(3)[1], Shape.triangular(3)[2, 2], Shape.tiled([1, 2], [3])[1, 0, 1, 2]],
}
ALL = [(name, shape) for name, shapes in SAME.items() for shape in shapes]


@pytest.mark.parametrize("name", SAME)
def test_shapes_that_agree_at_every_prefix_are_equal(name):
    for left, right in itertools.product(SAME[name], repeat=2):
        assert left == right
        assert (left != right) is False
        assert hash(left) == hash(right)
        assert left.implementation == right.implementation
        assert hash(left.implementation) == hash(right.implementation)
        assert left.is_congruent(right)
        assert left.same_elements(right)
    assert len(set(SAME[name])) == 1


@pytest.mark.parametrize("name", SAME)
def test_shapes_that_differ_at_a_prefix_are_not_equal(name):
    shape = SAME[name][0]
    for other in [other for theirs, other in ALL if theirs != name]:
        assert shape != other
        assert other != shape
        assert shape.implementation != other.implementation


def test_every_representation_is_compared():
    held = {type(shape.implementation) for _, shape in ALL}

    assert held == {
        Smooth,
        SmoothView,
        Square,
        Jagged,
        JaggedView,
        Tiled,
        Triangular,
        Stairs,
        Nested,
        NestedView,
    }


@pytest.mark.parametrize("shape", [shape for _, shape in ALL])
def test_the_kind_and_the_questions_about_it_agree(shape):
    for value in (shape, shape.implementation):
        assert value.is_box == (value.kind == "smooth")
        assert value.has_layers == (value.kind == "nested")


@pytest.mark.parametrize("shape", [shape for _, shape in ALL])
def test_a_shape_equals_nothing_but_shapes(shape):
    strangers = [None, shape.implementation, "(3, 3)", 3, {3}]
    for other in strangers:
        assert shape != other
        assert other != shape
    assert shape not in strangers


@pytest.mark.parametrize(
    ("left", "right", "congruent", "same"),
    [
        (Shape(2, 3), Shape(2, 3, origin=(1, 1)), True, False),
        (Shape(2, 3), Shape.jagged([3, 3]), False, True),
        (Shape(2, 3), Shape.nested(Shape(2, 3), layers=(1, 1)), False, True),
        (Shape(0, 5), Shape(5, 0), False, True),
        (Shape(0, 5), Shape(0, 5, origin=(3, 3)), True, True),
        (Shape.jagged([2, 0]), Shape.jagged([2]), False, True),
        (Shape.jagged([2, 1]), Shape.jagged([2, 1], origin=(5, 5)), True, False),
        (
            Shape.jagged([Shape(2), Shape(1, origin=(4,))]),
            Shape.jagged([Shape(2, origin=(9,)), Shape(1)]),
            True,
            False,
        ),
        (Shape.triangular(3, "upper"), Shape.jagged([3, 2, 1]), True, False),
        (Shape.triangular(3, "upper"), Shape.triangular(3), False, False),
        (Shape.tiled([1, 2], [3]), Shape.tiled([2, 1], [3]), False, False),
    ],
)
def test_three_comparisons_have_three_answers(left, right, congruent, same):
    assert left != right
    assert left.is_congruent(right) == right.is_congruent(left) == congruent
    assert left.same_elements(right) == right.same_elements(left) == same


def test_equal_shapes_are_one_key():
    known = {shape: name for name, shape in ALL}

    assert len(known) == len(SAME)
    assert all(known[shape] == name for name, shape in ALL)


def test_a_difference_of_rows_is_told_without_the_rows():
    many = Triangular(10**12)
    tiles = Shape.tiled(np.ones(10**6, dtype=np.int64), np.ones(10**6, dtype=np.int64)).implementation
    for left, right in itertools.permutations([many, tiles, Jagged(Stairs(3).rows)], 2):
        assert left != right
        assert not left.is_congruent(right)
