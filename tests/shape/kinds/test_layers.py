"""Elements of nested shapes: one, all of a layer, and as arrays; rows of tables."""

import numpy as np
import pytest

from tensorwrapper.errors import (
    ConversionError,
    JaggedModeError,
    LayerError,
    OutOfBoundsError,
    SizeOverflowError,
)
from tensorwrapper.shape import Shape

ROWS = Shape.jagged([[10], [20, 30], [30, 10, 20]])
TILES = Shape.tiled([5, 15, 10], [5, 15, 10])
SQUARES = Shape.nested(Shape(2, 2, 10, 10), layers=(2, 2))
PAIRS = Shape.nested(Shape.jagged([Shape(1, 5), Shape(2, 4)]), layers=(2, 1))


def nest(shape, *layers):
    return Shape.nested(shape, layers=layers)


@pytest.mark.parametrize(
    ("shape", "index", "expected"),
    [
        (nest(Shape(10, 20, 30), 1, 2), (3,), Shape(20, 30)),
        (nest(Shape(10, 20, 30), 1, 1, 1), (3,), nest(Shape(20, 30), 1, 1)),
        (nest(Shape(10, 20, 30), 1, 1, 1), (3, 4), Shape(30)),
        (nest(Shape(10, 20, origin=(5, 6)), 1, 1), (14,), Shape(20, origin=(6,))),
        (SQUARES, (1, 0), Shape(10, 10)),
        (nest(ROWS, 1, 2), (1,), Shape.jagged([20, 30])),
        (nest(ROWS, 2, 1), (1, 1), Shape(30)),
        (nest(TILES, 2, 2), (1, 2), Shape(15, 10)),
        (nest(TILES, 1, 1, 2), (1,), nest(TILES[1], 1, 2)),
        (nest(Shape(2, 3), 0, 2), (), Shape(2, 3)),
        (nest(Shape(2, 3), 2, 0), (1, 2), Shape()),
        (nest(Shape(2, 3), 2), (), Shape(2, 3)),
        (nest(Shape(), 0, 0), (), Shape()),
        (nest(Shape()), (), Shape()),
        # Of layers that end at one index, the innermost counts.
        (nest(Shape(2, 3), 1, 0, 1), (1,), Shape(3)),
        (nest(Shape(2, 3), 0, 0, 2), (), Shape(2, 3)),
    ],
)
def test_element(shape, index, expected):
    assert shape.element(index) == expected
    assert shape.element(np.array(index, dtype=np.int32)) == expected


def test_the_layer_tells_which_element_where_layers_have_no_modes():
    shape = nest(Shape(2, 3), 0, 1, 0, 1)

    assert shape.element((), layer=0) == nest(Shape(2, 3), 1, 0, 1)
    assert shape.element((1,), layer=1) == nest(Shape(3), 0, 1)
    assert shape.element((1,), layer=2) == shape.element((1,), layer=-2) == shape.element((1,)) == Shape(3)
    assert [e for _, e in shape.cells(layer=0)] == [nest(Shape(2, 3), 1, 0, 1)]
    assert list(shape.cells(layer=1)) == [((k,), nest(Shape(3), 0, 1)) for k in range(2)]
    assert list(shape.cells(layer=2)) == list(shape.cells()) == [((k,), Shape(3)) for k in range(2)]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: SQUARES.element((1,)), LayerError, r"\(1,\) has 1 entry.* has 2 .*\(2, 2\)"),
        (lambda: SQUARES.element((1, 1, 1, 1)), LayerError, "4 entries"),
        (lambda: SQUARES.element((2, 0)), OutOfBoundsError, r"index 2 is outside \[0, 2\)"),
        (lambda: nest(Shape(2, 3, 4), 1, 1, 1).element(()), LayerError, "has 1 or 2"),
        (lambda: nest(Shape(2, 3, 4), 1, 1, 1).element((1, 1), layer=0), LayerError, "has 1 "),
        (lambda: SQUARES.element((1, 1, 1, 1), layer=1), LayerError, "layer 1 is the innermost"),
        (lambda: SQUARES.cells(layer=-1), LayerError, "layer 1 is the innermost"),
        (lambda: SQUARES.cells(layer=True), ConversionError, "True"),
        (lambda: SQUARES.element((0.0, 1)), ConversionError, r"0\.0"),
        (lambda: ROWS.cells(layer=0), LayerError, "layer is for nested shapes"),
        (lambda: ROWS.element((0,), layer=0), LayerError, "layer is for nested shapes"),
        (lambda: Shape(2, 3).cells(layer=0), JaggedModeError, "one cell"),
        (lambda: Shape(2, 3).element((1,)), JaggedModeError, r"Shape\.nested"),
    ],
)
def test_elements_that_do_not_exist(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_cells_of_three_layers():
    shape = nest(Shape.jagged([Shape(1, 5), Shape(2, 4)]), 1, 1, 1)

    assert list(shape.cells()) == [((0, 0), Shape(5)), ((1, 0), Shape(4)), ((1, 1), Shape(4))]
    assert list(shape.cells(layer=1)) == list(shape.cells())
    assert list(shape.cells(layer=0)) == [
        ((0,), nest(Shape(1, 5), 1, 1)),
        ((1,), nest(Shape(2, 4), 1, 1)),
    ]
    assert [list(cells.cells()) for _, cells in shape.cells(layer=0)] == [
        [((0,), Shape(5))],
        [((0,), Shape(4)), ((1,), Shape(4))],
    ]


@pytest.mark.parametrize("rank", range(5))
@pytest.mark.parametrize("flat", [Shape(2, 3, 1, 2, origin=(1, 2, 3, 4)), Shape.tiled([1, 2], [2, 1])])
def test_a_shape_has_elements_of_every_rank_up_to_its_own(flat, rank):
    shape = nest(flat, flat.rank - rank, rank)
    cells = list(shape.cells())

    assert {cell.rank for _, cell in cells} == {rank}
    assert len(cells) == shape.layer_size(0) == flat.leading(flat.rank - rank).size
    assert [(*i, *j) for i, cell in cells for j in cell.indices()] == list(flat.indices())


def test_a_shape_has_up_to_as_many_layers_with_modes_as_its_rank():
    shape = nest(Shape(2, 3, 4, 5), 1, 1, 1, 1)
    assert [len(shape.element(i).layers) for i in [(1,), (1, 2), (1, 2, 3)]] == [3, 2, 1]


@pytest.mark.parametrize(
    ("shape", "indices", "extents", "origins", "offsets"),
    [
        (nest(Shape(2, 3, 4), 1, 2), [[0], [1]], [[3, 4]] * 2, [[0, 0]] * 2, [0, 12, 24]),
        (nest(Shape(2, 3, origin=(5, 6)), 1, 1), [[5], [6]], [[3]] * 2, [[6]] * 2, [0, 3, 6]),
        (nest(ROWS[:2], 2, 1), [[0, 0], [1, 0], [1, 1]], [[10], [20], [30]], [[0]] * 3, [0, 10, 30, 60]),
        (PAIRS, [[0, 0], [1, 0], [1, 1]], [[5], [4], [4]], [[0]] * 3, [0, 5, 9, 13]),
        (nest(Shape(2, 2), 2, 0), [[0, 0], [0, 1], [1, 0], [1, 1]], [[]] * 4, [[]] * 4, [0, 1, 2, 3, 4]),
        (nest(Shape.jagged([1, 2]), 2, 0), [[0, 0], [1, 0], [1, 1]], [[]] * 3, [[]] * 3, [0, 1, 2, 3]),
        (nest(Shape(2, 3), 0, 2), [[]], [[2, 3]], [[0, 0]], [0, 6]),
        (nest(Shape(0, 3), 1, 1), [], [], [], [0]),
    ],
)
def test_cell_table(shape, indices, extents, origins, offsets):
    table = shape.cell_table()

    assert table.indices.tolist() == indices
    assert table.extents.tolist() == extents
    assert table.origins.tolist() == origins
    assert table.offsets.tolist() == offsets
    assert {array.dtype for array in (table.indices, table.extents, table.offsets)} == {np.dtype(np.int64)}


def test_elements_that_are_jagged_are_in_no_table():
    with pytest.raises(JaggedModeError, match=r"\(1, 2\) are jagged.*cells\(\)"):
        nest(ROWS, 1, 2).cell_table()
    for shape in (
        nest(Shape(2**40, 2**40, 1), 2, 1),
        nest(Shape(2**40, 2**40, 0), 2, 1),
        nest(Shape(2, 3, origin=(0, 2**70)), 1, 1),
    ):
        with pytest.raises(SizeOverflowError, match=r"64 bits|no table"):
            shape.cell_table()
