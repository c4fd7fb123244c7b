"""Triangular shapes by example, at their limits, and where their closed forms spare the arrays."""

import copy
import pickle
import random

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
from tensorwrapper.shape import Jagged, JaggedView, Shape, Smooth, SmoothView, Triangular, as_shape

HALVES = ["upper", "lower"]
LARGE = 10**12
FULL = 2**32 - 1  # the greatest side whose ordinals fit into 64 bits


def pairs(n, half, *, diagonal):
    """The triangle by definition."""
    return [
        (i, j)
        for i in range(n)
        for j in range(n)
        if (i < j if half == "upper" else j < i) or (diagonal and i == j)
    ]


def origin_or_error(shape):
    try:
        return shape.origin
    except JaggedModeError as error:
        return str(error)


@pytest.mark.parametrize(
    ("n", "half", "diagonal", "expected"),
    [
        (3, "upper", True, [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]),
        (3, "lower", True, [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]),
        (3, "upper", False, [(0, 1), (0, 2), (1, 2)]),
        (3, "lower", False, [(1, 0), (2, 0), (2, 1)]),
        (1, "upper", True, [(0, 0)]),
        (1, "upper", False, []),
        (0, "lower", True, []),
    ],
)
def test_the_indices_are_those_of_the_triangle(n, half, diagonal, expected):
    shape = Shape.triangular(n, half, diagonal=diagonal)

    assert list(shape.indices()) == expected == pairs(n, half, diagonal=diagonal)
    assert (shape.kind, shape.rank, shape.outer_rank, shape.size) == ("jagged", 2, 1, len(expected))
    assert shape.extent(0) == n


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("n", range(6))
def test_every_closed_form_answers_as_its_rows_do(n, half, diagonal):
    triangle = Triangular(n, half, diagonal=diagonal)
    rows = Jagged(triangle.rows)

    assert triangle == rows
    assert rows == triangle
    assert hash(triangle) == hash(rows)
    assert triangle.bounding_box() == rows.bounding_box()
    for mode in (0, 1):
        assert triangle.extent_bounds(mode) == rows.extent_bounds(mode)
        assert triangle.dependencies(mode) == rows.dependencies(mode)
        assert triangle.leading(mode) == rows.leading(mode)
    assert list(triangle.walk("F")) == list(rows.walk("F"))
    for i in range(n):
        assert triangle.bounding_box((i,)) == rows.bounding_box((i,))
    assert origin_or_error(triangle) == origin_or_error(rows)
    assert Jagged(triangle.zero_based().rows) == Jagged(rows.zero_based().rows)


def test_a_symmetric_matrix_stored_once_is_read_by_sorted_indices():
    n = 5
    full = np.arange(n)[:, np.newaxis] * np.arange(n)
    lower = Shape.triangular(n)
    packed = full[tuple(lower.indices().to_numpy().T)]

    assert len(packed) == n * (n + 1) // 2
    for i in range(n):
        for j in range(n):
            assert packed[lower.ordinal((max(i, j), min(i, j)))] == full[i, j]


@pytest.mark.parametrize("half", HALVES)
def test_rows_and_chips_are_views_that_hold_nothing(half):
    triangle = Triangular(LARGE, half)
    row = triangle.chip(LARGE - 3)

    assert type(row) is SmoothView
    assert row.copy() == (Smooth((3,), (LARGE - 3,)) if half == "upper" else Smooth((LARGE - 2,)))
    assert as_shape(triangle)[7, 7] == Shape()
    assert as_shape(triangle)[7, 7:7] == Shape(0, origin=(7,))
    with pytest.raises(OutOfBoundsError, match=r"mode 1 under the prefix \(7,\)"):
        triangle.chip(7, 6 if half == "upper" else 8)


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("half", HALVES)
def test_a_side_of_any_length_costs_nothing(half, diagonal):
    shape = Shape.triangular(LARGE, half, diagonal=diagonal)
    chance = random.Random(1)

    assert shape.size == (LARGE * (LARGE + 1)) // 2 - (0 if diagonal else LARGE)
    assert shape.extent_bounds(1) == ((1, LARGE) if diagonal else (0, LARGE - 1))
    assert shape.dependencies(1) == (0,)
    assert shape.as_smooth().extents == (LARGE, LARGE if diagonal else LARGE - 1)
    assert shape.padding == shape.as_smooth().size - shape.size
    assert shape.leading(1) == Shape(LARGE)
    assert shape.leading(2) == shape
    assert shape.same_elements(Shape.triangular(LARGE, half, diagonal=diagonal))
    assert hash(shape) == hash(Shape.triangular(LARGE, half, diagonal=diagonal))
    for k in [0, 1, shape.size - 1, *[chance.randrange(shape.size) for _ in range(200)]]:
        index = shape.index(k)
        assert index in shape
        assert shape.ordinal(index) == k
    numbers = np.array([[0, LARGE - 1], [LARGE - 1, 0], [LARGE, LARGE], [-1, 0]])
    assert shape.contains(numbers).tolist() == [half == "upper", half == "lower", False, False]
    with pytest.raises(SizeOverflowError):
        shape.ordinals([(5, 5)])
    with pytest.raises(JaggedModeError, match="depends"):
        shape.permute((1, 0))
    first = next(iter(shape.indices()))
    assert first == shape.index(0)


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("half", HALVES)
def test_vectorised_answers_are_exact_up_to_64_bits(half, diagonal):
    n = FULL if diagonal else FULL + 1
    triangle = Triangular(n, half, diagonal=diagonal)
    assert triangle.size < 2**63 <= Triangular(n + 1, half, diagonal=diagonal).size
    chance = random.Random(2)
    # Where rows begin and end, a root that is off by one shows.
    rows = [0, 1, 2, n // 2, n - 2, n - 1, *[chance.randrange(n) for _ in range(5000)]]
    starts = [triangle.ordinal((i, triangle.origin_at((i,)))) for i in rows if triangle.extent_at((i,))]
    ordinals = [k for start in starts for k in (start - 1, start, start + 1) if 0 <= k < triangle.size]

    indices = triangle.indices_at(ordinals)
    assert indices.tolist() == [list(triangle.index(k)) for k in ordinals]
    assert triangle.ordinals(indices).tolist() == ordinals
    assert triangle.indices_at(triangle.size - 1).tolist() == list(triangle.index(triangle.size - 1))


@pytest.mark.parametrize("half", HALVES)
def test_indices_at_the_ends_of_64_bits_are_outside(half):
    ends = [[2**63 - 1, -(2**63)], [-(2**63), 2**63 - 1], [2**63 - 1, 2**63 - 1]]
    for n in (5, 2**63 - 1):
        for diagonal in (True, False):
            assert not Triangular(n, half, diagonal=diagonal).contains(ends).any()


def test_a_slice_and_a_move_are_made_of_rows():
    upper = Shape.triangular(4, "upper")

    assert type(upper[1:3].implementation) is JaggedView
    assert upper[1:3] == Shape.jagged([Shape(3, origin=(1,)), Shape(2, origin=(2,))], origin=(1, 0))
    assert upper[0:2, 1:3] == Shape.jagged([Shape(2, origin=(1,)), Shape(2, origin=(1,))])
    assert upper[:, 3] == Shape(4)
    assert upper.slice((0, 1), (4, 3), clip=True).size == 2 + 2 + 1
    assert upper.translate_by((1, 1))[1] == Shape(4, origin=(1,))
    assert upper[...].implementation is upper.implementation
    assert upper.translate_by((0, 0)).implementation is upper.implementation
    with pytest.raises(OutOfBoundsError, match=r"index 0 .*prefix \(1,\)"):
        upper[:, 0]


def test_a_triangle_is_permuted_only_where_no_row_differs():
    assert Shape.triangular(1).permute((1, 0)) == Shape.jagged([1])
    assert Shape.triangular(3).permute((0, 1)) == Shape.triangular(3)
    with pytest.raises(JaggedModeError, match=r"mode 1 before the modes \(0,\)"):
        Shape.triangular(3, "upper").permute((1, 0))


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (Triangular(LARGE), Triangular(LARGE, "lower"), True),
        (Triangular(LARGE), Triangular(LARGE, "upper"), False),
        (Triangular(LARGE), Triangular(LARGE, diagonal=False), False),
        (Triangular(LARGE), Triangular(LARGE + 1), False),
        (Triangular(LARGE), Jagged(Shape.jagged([1, 2]).implementation.rows), False),
        (Triangular(0, "upper"), Triangular(0, "lower", diagonal=False), True),
        (Triangular(1, "upper"), Triangular(1, "lower"), True),
        (Triangular(1, "upper", diagonal=False), Triangular(1, "lower", diagonal=False), False),
    ],
)
def test_equality_needs_no_rows_where_it_can_be_told_without(left, right, equal):
    assert (left == right) == (right == left) == equal
    assert not equal or hash(left) == hash(right)
    assert left.is_congruent(right) == right.is_congruent(left)


def test_triangles_are_congruent_where_their_rows_are_equally_long():
    empty = [Triangular(1, half, diagonal=False) for half in HALVES]

    assert empty[0].is_congruent(empty[1])
    assert not Triangular(LARGE).is_congruent(Triangular(LARGE, "upper"))
    assert Triangular(LARGE).is_congruent(Triangular(LARGE))
    assert Shape.triangular(3, "upper").is_congruent(Shape.jagged([3, 2, 1]))


@pytest.mark.parametrize(
    ("shape", "text", "call"),
    [
        (Shape.triangular(3), "triangular(3, lower)", 'Shape.triangular(3, "lower")'),
        (Shape.triangular(2, "upper"), "triangular(2, upper)", 'Shape.triangular(2, "upper")'),
        (
            Shape.triangular(2, diagonal=False),
            "triangular(2, strictly lower)",
            'Shape.triangular(2, "lower", diagonal=False)',
        ),
        (Shape.triangular(0), "triangular(0, lower)", 'Shape.triangular(0, "lower")'),
        (
            Shape.triangular(LARGE),
            f"triangular({LARGE}, lower)",
            f'Shape.triangular({LARGE}, "lower")',
        ),
    ],
)
def test_text(shape, text, call):
    assert (str(shape), repr(shape)) == (text, call)
    assert eval(call, {"Shape": Shape}) == shape


def test_a_triangle_pickles_as_what_makes_it():
    shape = Shape.triangular(LARGE, "upper", diagonal=False)

    assert len(pickle.dumps(shape)) < 500
    for twin in (pickle.loads(pickle.dumps(shape)), copy.deepcopy(shape)):
        assert twin == shape
        assert twin.implementation.half == "upper"


@pytest.mark.parametrize("n", [np.int64(3), np.array(3), np.dtype(">i4").type(3)])
def test_the_side_may_be_any_integer(n):
    assert type(Triangular(n).n) is int
    assert Triangular(n) == Triangular(3)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: Triangular(-1), ExtentError, "side .* -1"),
        (lambda: Triangular(2.0), ConversionError, r"side .* 2\.0"),
        (lambda: Triangular(True), ConversionError, "bool"),
        (lambda: Triangular(2**63), SizeOverflowError, str(2**63)),
        (lambda: Triangular(3, "left"), ConversionError, "'left'"),
        (lambda: Triangular(3, diagonal=1), ConversionError, "diagonal .* 1"),
        (lambda: Triangular(3).extent_at((0, 0)), RankError, r"\(0, 0\)"),
        (lambda: Triangular(3).extent_at((3,)), OutOfBoundsError, r"\[0, 3\) of mode 0"),
        (lambda: Triangular(3).ordinal((1, 2)), OutOfBoundsError, r"index 2 .*\[0, 2\) of mode 1 .*\(1,\)"),
        (lambda: Triangular(3).index(6), OutOfBoundsError, r"6 .*\[0, 6\)"),
        (lambda: Triangular(3).ordinals([(0, 0), (0, 1)]), OutOfBoundsError, r"\(0, 1\)"),
        (lambda: Triangular(3).indices_at([6]), OutOfBoundsError, r"6 .*\[0, 6\)"),
        (lambda: Triangular(3).dependencies(2), RankError, "mode 2"),
    ],
)
def test_what_is_refused_is_named(make, error, match):
    with pytest.raises(error, match=match):
        make()
