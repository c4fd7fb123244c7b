"""Jagged shapes from nested lists, children and cells: what they have in common is found or refused."""

import numpy as np
import pytest

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
)
from tensorwrapper.shape import Shape

J = Shape.jagged([3, 1, 2])


DEEP = [[[10], [20, 30]], [[10, 30], [20], [10, 20, 30]]]


PAIRS = [[Shape(10, 20), Shape(30, 40)], [Shape(30, 40), Shape(10, 20), Shape(50, 60)]]


@pytest.mark.parametrize(
    ("shape", "rank", "size", "box", "counts"),
    [
        (Shape.jagged([], rank=2), 2, 0, (0, 0), (1, 0, 0)),
        (Shape.jagged([], rank=4), 4, 0, (0, 0, 0, 0), (1, 0, 0, 0, 0)),
        (Shape(10, 20).as_jagged(), 2, 200, (10, 20), (1, 10, 200)),
        (Shape.jagged([10]), 2, 10, (1, 10), (1, 1, 10)),
        (Shape.jagged([Shape(10), Shape(20), Shape(30)]), 2, 60, (3, 30), (1, 3, 60)),
        (
            Shape.jagged([Shape(10, 20), Shape(30, 40), Shape(50, 60)]),
            3,
            4400,
            (3, 50, 60),
            (1, 3, 90, 4400),
        ),
        (Shape.jagged([[10], [20, 30], [30, 10, 20]]), 3, 120, (3, 3, 30), (1, 3, 6, 120)),
        (
            Shape.jagged([Shape(10, 20, 30), Shape(40, 50, 60)]),
            4,
            126000,
            (2, 40, 50, 60),
            (1, 2, 50, 2200, 126000),
        ),
        (Shape.jagged(PAIRS), 4, 5800, (2, 3, 50, 60), (1, 2, 5, 130, 5800)),
        (Shape.jagged(DEEP), 4, 180, (2, 3, 3, 30), (1, 2, 5, 9, 180)),
        (Shape.tiled([5, 15, 10], [5, 15, 10]), 4, 900, (3, 3, 15, 15), (1, 3, 9, 90, 900)),
    ],
)
def test_constructions(shape, rank, size, box, counts):
    assert (shape.kind, shape.rank, shape.size) == ("jagged", rank, size)
    assert shape.as_smooth().extents == box
    assert shape.padding == np.prod(box) - size
    assert [shape.leading(modes).size for modes in range(rank + 1)] == list(counts)
    assert [len(shape.lengths(mode)) for mode in range(rank)] == list(counts[:-1])


def test_the_leaves_of_nested_lists():
    shape = Shape.jagged(DEEP)
    leaves = {
        (0, 0, 0): 10,
        (0, 1, 0): 20,
        (0, 1, 1): 30,
        (1, 0, 0): 10,
        (1, 0, 1): 30,
        (1, 1, 0): 20,
        (1, 2, 0): 10,
        (1, 2, 1): 20,
        (1, 2, 2): 30,
    }
    for prefix, extent in leaves.items():
        assert shape.extent_at(prefix) == extent
        assert shape.chip(*prefix) == Shape(extent)
    bottom_up = [Shape.jagged([Shape.jagged(row) for row in block]) for block in DEEP]
    assert Shape.jagged(bottom_up) == shape


@pytest.mark.parametrize(
    "same",
    [
        Shape.jagged((3, 1, 2)),
        Shape.jagged(np.array([3, 1, 2])),
        Shape.jagged(np.array([3, 1, 2], dtype=np.uint8)),
        Shape.jagged([np.int64(3), 1, np.uint8(2)]),
        Shape.jagged([Shape(3), Shape(1), Shape(2)]),
        Shape.jagged([Shape(3).implementation, Shape(1).implementation, Shape(2).implementation]),
        Shape.jagged([3, 1, 2], rank=2),
        Shape.from_cells((3,), [[3], [1], [2]]),
        Shape.from_cells(Shape(3), np.array([[3], [1], [2]])),
        Shape.jagged([9, 3, 1, 2])[1:].translate_by((-1, 0)),
        Shape.jagged([[9], [3, 1, 2]])[1],
        Shape.jagged([4, 2, 3])[:, 1:].translate_by((0, -1)),
    ],
)
def test_ways_to_write_one_shape(same):
    rows = Shape.jagged([3, 1, 2])
    assert same == rows
    assert rows == same
    assert hash(same) == hash(rows)
    assert same.is_congruent(J)
    assert same.same_elements(J)


def test_children_may_differ_in_kind_but_not_in_rank():
    mixed = Shape.jagged([Shape(2, 3), Shape.jagged([1, 4])])
    assert mixed == Shape.jagged([[3, 3], [1, 4]])


def test_a_jagged_shape_stays_jagged_where_its_rows_happen_to_be_alike():
    shape = Shape.jagged([2, 2])
    assert (shape.kind, shape.extents, shape.padding) == ("jagged", (2, 2), 0)
    assert shape != Shape(2, 2)
    assert not shape.is_congruent(Shape(2, 2))
    assert shape.same_elements(Shape(2, 2))
    assert shape[0:1].kind == shape.translate_by((1, 1)).kind == "jagged"
    assert Shape.tiled([2, 2]).kind == "jagged"


def test_arrays_are_copied():
    lengths, extents = np.array([3, 1, 2]), np.array([[2, 2], [1, 1]])
    rows, cells = Shape.jagged(lengths), Shape.from_cells((2,), extents)
    lengths[:] = 9
    extents[:] = 9
    assert rows == J
    assert cells.size == 5


def test_empty_lists_need_the_rank_to_tell_how_deep_they_are():
    assert Shape.jagged([[], []]) == Shape.jagged([0, 0])
    assert Shape.jagged([[], []], rank=2) == Shape.jagged([0, 0])
    deep = Shape.jagged([[], []], rank=3)
    assert (deep.rank, deep.extent(0), deep.extent_at((1,)), deep.size) == (3, 2, 0, 0)
    assert repr(deep) == "Shape.jagged([[], []], rank=3)"
    assert deep == Shape.jagged([[], [], [5]])[0:2]
    assert deep != Shape.jagged([0, 0])
    assert Shape.jagged([[], [], [4]]).rank == 3
    assert Shape.jagged(np.array([])) == Shape.jagged([], rank=2)


@pytest.mark.parametrize(
    ("make", "error", "builtin", "match"),
    [
        (lambda: Shape.jagged([3, Shape(2)]), ConversionError, TypeError, "integer, shape"),
        (lambda: Shape.jagged([3, [2]]), ConversionError, TypeError, "integer, sequence"),
        (lambda: Shape.jagged(3), ConversionError, TypeError, "not by 3"),
        (lambda: Shape.jagged(None), ConversionError, TypeError, "not by None"),
        (lambda: Shape.jagged("ab"), ConversionError, TypeError, "not by 'ab'"),
        (lambda: Shape.jagged(Shape(2)), ConversionError, TypeError, r"not by Shape\(2\)"),
        (lambda: Shape.jagged([], rank=2.0), ConversionError, TypeError, r"rank .*2\.0"),
        (lambda: Shape.jagged([3, 1.0]), ConversionError, TypeError, r"1\.0"),
        (lambda: Shape.jagged([3, True]), ConversionError, TypeError, "True"),
        (lambda: Shape.jagged([np.True_]), ConversionError, TypeError, "True"),
        (lambda: Shape.jagged(["ab"]), ConversionError, TypeError, "'ab'"),
        (lambda: Shape.jagged(np.array([1.0])), ConversionError, TypeError, "row lengths.*float64"),
        (lambda: Shape.jagged(np.array([True])), ConversionError, TypeError, "bool"),
        (lambda: Shape.jagged(np.ones((2, 2), int)), ConversionError, TypeError, "not 2.*from_cells"),
        (lambda: Shape.from_cells((2,), [1, 2]), ExtentError, ValueError, r"not \(2,\)"),
        (lambda: Shape.from_cells((1,), [[]]), ExtentError, ValueError, r"not \(1, 0\)"),
        (lambda: Shape.from_cells((1,), [[1.5]]), ConversionError, TypeError, "float64"),
        (lambda: Shape.from_cells((1,), [[True]]), ConversionError, TypeError, "bool"),
        (lambda: Shape.from_cells((1,), [[1]], origins=[[0.5]]), ConversionError, TypeError, "float64"),
        (lambda: Shape.from_cells((1,), [[1]], origins=[[0, 0]]), ExtentError, ValueError, r"\(1, 2\)"),
        (lambda: Shape.from_cells((2,), [[1, 2], [3]]), ConversionError, TypeError, "extents .*rectangular"),
        (
            lambda: Shape.from_cells((1,), [[1]], origins=[[0], 0]),
            ConversionError,
            TypeError,
            "origins .*rect",
        ),
    ],
)
def test_constructions_that_are_refused(make, error, builtin, match):
    with pytest.raises(error, match=match) as caught:
        make()
    assert isinstance(caught.value, builtin)


def test_cells_lie_where_they_are_told():
    shape = Shape.from_cells(Shape.jagged([2, 1]), [(2, 2), (0, 0), (3, 1)], origins=(5, 6))
    assert shape.origin == (0, 0, 5, 6)
    assert shape[1, 0] == Shape(3, 1, origin=(5, 6))
    each = Shape.from_cells(Shape(2, origin=(7,)), [(1,), (2,)], origins=[(3,), (4,)])
    assert list(each.indices()) == [(7, 3), (8, 4), (8, 5)]
    assert each.outer() == Shape(2, origin=(7,))
    assert each.cell_table().origins.tolist() == [[3], [4]]


def test_a_table_may_have_the_modes_of_its_box_of_cells():
    table = np.arange(12).reshape(2, 3, 2)
    assert Shape.from_cells((2, 3), table) == Shape.from_cells((2, 3), table.reshape(6, 2))
    assert Shape.from_cells((2, 3), table, origins=table) == Shape.from_cells(
        (2, 3), table.reshape(6, 2), origins=table.reshape(6, 2)
    )
    for wrong in (table[0], table.reshape(3, 2, 2), table.reshape(2, 3, 2, 1)):
        with pytest.raises(ExtentError):
            Shape.from_cells((2, 3), wrong)
