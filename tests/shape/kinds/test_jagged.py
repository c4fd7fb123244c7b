"""Jagged shapes by example: construction, extents, origins, large numbers, text, and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    JaggedModeError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape import Shape

J = Shape.jagged([3, 1, 2])


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


LENGTHS = st.lists(st.integers(0, 3), min_size=1, max_size=5)
STARTS = st.one_of(st.integers(-1, 1), st.lists(st.integers(-1, 1), min_size=6, max_size=6))
PARTS = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-1, 1), STARTS)


def rows_in_a_place(lengths, part, base):
    """Rows of these lengths, cut out of more of them, that begin anywhere; and their indices."""
    before, behind, first, own = part
    starts = [own] * len(lengths) if isinstance(own, int) else own[: len(lengths)]
    rows = [Shape(n, origin=(start,)) for n, start in zip(lengths, starts, strict=True)]
    more = Shape(7, origin=(starts[0],))
    cut = Shape.jagged([*[more] * before, *rows, *[more] * behind])[before : before + len(lengths)]
    shape = cut.translate_by((base + first - before, 0))
    return shape, {(base + first + i, starts[i] + j) for i, n in enumerate(lengths) for j in range(n)}


@given(LENGTHS, st.data(), PARTS, PARTS)
def test_same_elements_of_rows_are_the_same_set_of_indices(lengths, data, one, other):
    shape, indices = rows_in_a_place(lengths, one, 5)
    others = data.draw(st.one_of(st.permutations(lengths), LENGTHS, st.just(lengths)))
    again, wanted = rows_in_a_place(others, other, 5)
    assert shape.same_elements(again) is again.same_elements(shape) is (indices == wanted)
