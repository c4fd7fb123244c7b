"""Jagged shapes by example: construction, extents, origins, large numbers, text, and refusals."""

import numpy as np
import pytest

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    JaggedModeError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
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


def test_the_extent_of_a_mode_that_varies_is_not_one_number():
    assert (J.extent(0), J.extent_at((2,)), J.extent_bounds(1)) == (3, 2, (1, 3))
    assert (J.is_uniform(0), J.is_uniform(1), J.dependencies(1)) == (True, False, (0,))
    assert Shape.jagged([2, 2]).extents == (2, 2)
    assert Shape.jagged([0, 0]).extent_bounds(1) == (0, 0)
    assert Shape.jagged([], rank=3).extent_bounds(2) == (0, 0)


def test_extents_that_no_prefix_leads_to_do_not_count():
    shape = Shape.jagged([Shape(0, 50), Shape(2, 3)])
    assert shape.extent_bounds(2) == (3, 3)
    assert shape.is_uniform(2)
    assert shape.as_smooth() == Shape(2, 2, 3)
    with pytest.raises(OutOfBoundsError, match="index 0"):
        shape.extent_at((0, 0))
    assert shape[:, :, 2] == Shape.jagged([0, 2])


def test_dependencies_name_the_modes_that_matter():
    by_row = Shape.jagged([Shape(2, 5), Shape(2, 6)])
    assert [by_row.dependencies(m) for m in range(3)] == [(), (), (0,)]
    by_column = Shape.from_cells((2, 2), [(5,), (6,), (5,), (6,)])
    assert by_column.dependencies(2) == (1,)
    both = Shape.from_cells((2, 2), [(5,), (6,), (5,), (7,)])
    assert both.dependencies(2) == (0, 1)
    moved = Shape.jagged([Shape(2), Shape(2, origin=(1,))])
    assert moved.is_uniform(1)
    assert moved.dependencies(1) == (0,)


def test_modes_that_always_move_together_still_count_once():
    # Row k has the single column k: extent 2, 1 or 3 follows from either index, so neither varies alone.
    rows = [Shape.jagged([n], origin=(k, 0)) for k, n in enumerate([2, 1, 3])]
    shape = Shape.jagged(rows)
    assert not shape.is_uniform(2)
    assert shape.dependencies(2) == (0,)
    assert sorted((i, j, k) for i, k, j in shape.permute((0, 2, 1)).indices()) == list(shape.indices())


@pytest.mark.parametrize(
    ("prefix", "error", "match"),
    [
        ((3,), OutOfBoundsError, r"index 3 is outside \[0, 3\) of mode 0"),
        ((-1,), OutOfBoundsError, "index -1"),
        ((0, 0), RankError, r"\(0, 0\) leaves no mode.*rank 2"),
        ((1.0,), ConversionError, r"1\.0"),
        ((True,), ConversionError, "True"),
        (0, ConversionError, "0"),
    ],
)
def test_a_prefix_outside_the_shape_is_refused(prefix, error, match):
    for question in (J.extent_at, J.origin_at):
        with pytest.raises(error, match=match):
            question(prefix)


def test_the_origin_is_one_index_or_an_error():
    two = Shape.jagged([Shape(2, origin=(5,)), Shape(3, origin=(6,))], origin=(10, 0))
    assert list(two.indices()) == [(10, 5), (10, 6), (11, 6), (11, 7), (11, 8)]
    with pytest.raises(JaggedModeError, match=r"mode 1 .* from 5 to 6; origin_at"):
        _ = two.origin
    assert list(two.offsets()) == [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]
    with pytest.raises(JaggedModeError, match="mode 1"):
        two.translate_to((0, 0))
    assert (two.origin_at((10,)), two.origin_at((11,))) == (5, 6)
    assert two[11:].origin == (11, 6)
    assert two.translate_by((-10, -5))[0] == Shape(2)


def test_same_elements_looks_at_elements_not_at_empty_rows():
    ragged = Shape.jagged([[5], [5, 0]])
    assert ragged.as_smooth() == Shape(2, 2, 5)
    assert ragged.same_elements(Shape(2, 1, 5))
    assert Shape(2, 1, 5).same_elements(ragged)
    assert not ragged.same_elements(Shape(1, 2, 5))
    assert not Shape.jagged([2, 1]).same_elements(Shape.jagged([1, 2]))


def test_sizes_beyond_64_bits_are_exact_and_their_arrays_refused():
    shape = Shape.from_cells((2,), [(2, 3, 4), (2**40, 2**40, 1)])
    assert shape.size == 24 + 2**80
    last = (1, 2**40 - 1, 2**40 - 1, 0)
    assert shape.index(shape.size - 1) == last
    assert shape.ordinal(last) == shape.size - 1
    assert shape.contains([last, (0, 0, 0, 9)]).tolist() == [True, False]
    for call in (
        lambda: shape.ordinals([last]),
        lambda: shape.indices_at([0]),
        lambda: shape.indices().to_numpy(),
        lambda: list(shape.indices(order="F")),
    ):
        with pytest.raises(SizeOverflowError, match="64 bits"):
            call()
    # A window that fits answers, whatever it is a window on.
    assert shape[0:1].indices().to_numpy().tolist() == [list(i) for i in Shape(1, 2, 3, 4).indices()]
    assert shape[0:1].ordinals([(0, 1, 2, 3)]).tolist() == [23]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Shape.jagged([2**62, 2**62]),
        lambda: Shape.from_cells((1,), [[2**70, 1]]),
        lambda: Shape.from_cells((1,), [[2**63, 1]]),
        lambda: Shape.from_cells((1,), [[1, 1]], origins=[2**70, 1]),
        lambda: Shape.jagged([3, 1], origin=(2**63 - 2, 0)),
        lambda: Shape.jagged([3, 1], origin=(0, 2**63 - 2)),
        lambda: Shape.jagged([3, 1], origin=(-(2**63), 0)),
        lambda: Shape.jagged([Shape(3, origin=(2**63 - 2,))]),
        lambda: Shape.jagged([Shape(3), Shape(3, origin=(1,))]).translate_by((0, 2**63 - 4)),
        lambda: Shape.jagged([Shape(3), Shape(0, origin=(9,))]).translate_by((0, 2**63 - 5)),
        lambda: Shape.jagged([Shape(3, origin=(2**80,))]),
        lambda: Shape.tiled([1, 2], origin=(2**63 - 1, 0)),
        lambda: Shape.from_cells((1,), np.array([[2**63]], dtype=np.uint64)),
        lambda: Shape.from_cells((1,), [[1]], origins=np.array([[2**63]], dtype=np.uint64)),
    ],
)
def test_what_would_leave_64_bits_is_refused_not_wrapped(make):
    with pytest.raises(SizeOverflowError, match="64 bits") as caught:
        make()
    assert isinstance(caught.value, OverflowError)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda s: s.ordinals([[1, 1]]), OutOfBoundsError, r"\(1, 1\)"),
        (lambda s: s.ordinals([[0.0, 0.0]]), ConversionError, "float64"),
        (lambda s: s.contains([[True, False]]), ConversionError, "bool"),
        (lambda s: s.contains([0, 0, 0]), RankError, "rank 2"),
        (lambda s: s.indices_at([6]), OutOfBoundsError, "6"),
        (lambda s: s.index(6), OutOfBoundsError, "ordinal 6"),
        (lambda s: s.index(False), ConversionError, "False"),
        (lambda s: s.ordinal((1, 1)), OutOfBoundsError, "index 1"),
        (lambda s: s.ordinal((1,)), RankError, "rank 2"),
        (lambda s: s.ordinal((1, 2)), OutOfBoundsError, r"index 2 .*mode 1 under the prefix \(1,\)"),
        (lambda s: s[1, 0:2], OutOfBoundsError, r"\[0, 2\) .*mode 1 under the prefix \(1,\)"),
        (lambda s: s.ordinals([[1, 2], [3]]), ConversionError, "rectangular"),
        (lambda s: s.contains([[1, 2], [3]]), ConversionError, "rectangular"),
        (lambda s: s.indices_at([[1, 2], [3]]), ConversionError, "rectangular"),
        (lambda s: s.permute(5), RankError, r"\(5,\) is not a permutation"),
        (lambda s: s.translate_to(5), ConversionError, "an origin.*not 5"),
    ],
)
def test_questions_that_are_refused(call, error, match):
    for shape in (J, J[:]):
        with pytest.raises(error, match=match):
            call(shape)


def test_an_index_outside_a_cell_names_the_mode_of_the_shape():
    cells = Shape.from_cells((2,), [(2, 2), (3, 3)])
    for call, mode in (
        (lambda: cells[1, 5], 1),
        (lambda: cells[1, 0, 5], 2),
        (lambda: cells.ordinal((1, 0, 5)), 2),
    ):
        with pytest.raises(OutOfBoundsError, match=rf"index 5 .*mode {mode} under the prefix \(1,\)"):
            call()


def test_lengths_of_any_integer_type_and_mixed():
    assert Shape.jagged([np.int64(3), 1, np.uint8(2), np.array(4)]) == Shape.jagged([3, 1, 2, 4])
    with pytest.raises(ConversionError, match="integer, sequence"):
        Shape.jagged([np.array(3), np.array([1])])


@pytest.mark.parametrize("index", [(1, 1), (0,), (0, 0, 0), (0.0, 0), (True, 0), "00", 3, None])
def test_what_is_no_index_of_the_shape_is_not_in_it(index):
    assert index not in J


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (J, "(3, 3|1|2)"),
        (J.translate_by((0, 4)), "(3, 3|1|2)@(0, 4)"),
        (Shape.jagged([5]), "(1, 5|)"),
        (Shape.jagged([2, 2]), "(2, 2|2)"),
        (Shape.jagged([Shape(2, origin=(5,)), Shape(3, origin=(6,))], origin=(10, 0)), "(2, 2|3)@(10, 5|6)"),
        (Shape.jagged([1, 2] * 600), "(1200, " + "1|2|" * 6 + "...)"),
    ],
)
def test_text(shape, text):
    assert str(shape) == text


def test_the_repr_of_a_long_shape_is_cut_short():
    assert repr(Shape.jagged([1] * 10**6)) == f"Shape.jagged([{'1, ' * 12}...])"
