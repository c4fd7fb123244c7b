"""Smooth shapes by example: construction, extents, slices, chips, origins and refusals."""

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
from tensorwrapper.shape import Shape, Smooth, SmoothView, as_shape

HUGE = Shape(2**40, 2**40)


@pytest.mark.parametrize(
    ("extents", "rank", "size"),
    [
        ((), 0, 1),
        ((1,), 1, 1),
        ((2, 3), 2, 6),
        ((3, 4, 5), 3, 60),
        ((0,), 1, 0),
        ((0, 2, 3), 3, 0),
        ((0, 0, 0), 3, 0),
        ((70000, 3), 2, 210000),
        ((2**40, 2**40), 2, 2**80),
    ],
)
def test_rank_and_size(extents, rank, size):
    for shape in (Shape(*extents), Shape.smooth(extents), Shape.smooth(iter(extents)), as_shape(extents)):
        assert (shape.rank, shape.size, shape.extents) == (rank, size, extents)
        assert shape.origin == (0,) * rank
    assert SmoothView.of_box(Smooth(extents)).copy() == Smooth(extents)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((), (1,)),
        ((), (2, 3)),
        ((), (3, 4, 5)),
        ((2, 3), (1,)),
        ((3, 4, 5), (1,)),
        ((2, 3), (3, 4, 5)),
        ((1,), (2,)),
        ((2, 3), (3, 2)),
        ((3, 4, 5), (6, 4, 5)),
        ((3, 4, 5), (3, 6, 5)),
        ((3, 4, 5), (3, 4, 6)),
        ((0, 5), (5, 0)),
    ],
)
def test_shapes_with_other_extents_are_not_equal(left, right):
    assert Shape(*left) != Shape(*right)
    assert Shape(*right) != Shape(*left)
    assert not Shape(*left).is_congruent(right)
    assert Shape(*left) == Shape.smooth(left)


@pytest.mark.parametrize("say", [tuple, list])
def test_a_shape_equals_the_extents_that_say_it(say):
    """To raise broke libraries that compare `.shape` of their operands, as Zarr does in `array[...] = t`."""
    assert Shape(2, 3) == say((2, 3)) == Shape(2, 3)
    assert Shape(2, 3) != say((3, 2))
    assert Shape(2, 3) != say((2,))
    assert Shape(2, 3) != say(("a", None))
    assert Shape() == say(())
    for other in (Shape(2, 3, origin=(0, 1)), Shape(2, 3).named("i", None), Shape.jagged([3, 3])):
        assert other != say((2, 3))
        assert (other == say((2, 3))) == (other == as_shape(say((2, 3))))


def test_equal_shapes_and_tuples_have_one_hash():
    assert {Shape(2, 3): 1}[2, 3] == 1
    assert {(2, 3): 1}[Shape(2, 3)] == 1
    assert {Shape(2, 3), (2, 3), Shape(2, 3, origin=(0, 1))} == {(2, 3), Shape(2, 3, origin=(0, 1))}


def test_a_shape_equals_no_implementation():
    assert Shape(2, 3) != Smooth((2, 3))
    assert Smooth((2, 3)) != (2, 3)
    assert Shape(3) != Shape.jagged([3])
    assert as_shape(Smooth((2, 3))) == Shape(2, 3)


def test_an_empty_shape_is_neither_the_scalar_nor_nothing():
    assert Shape() != Shape(0)
    assert list(Shape().indices()) == [()]
    assert list(Shape(0).indices()) == []
    assert Shape(0)
    assert Shape(0).same_elements(Shape(0, origin=(3,)))
    assert Shape(0) != Shape(0, origin=(3,))


def test_a_shape_is_not_iterable_and_has_no_len():
    with pytest.raises(TypeError, match=r"s\.extents"):
        len(Shape(2))
    with pytest.raises(TypeError, match=r"indices\(\)"):
        iter(Shape(2))


@pytest.mark.parametrize("extents", [(), (3,), (2, 4), (4, 5, 6)])
def test_a_mode_that_does_not_exist_is_refused(extents):
    shape = Shape(*extents)
    for mode in (len(extents), -len(extents) - 1):
        for question in (shape.extent, shape.extent_bounds, shape.is_uniform, shape.dependencies):
            with pytest.raises(RankError, match=f"mode {mode}"):
                question(mode)


@pytest.mark.parametrize(
    ("shape", "first", "last", "expected"),
    [
        (Shape(), (), (), Shape()),
        (Shape(3), (0,), (2,), Shape(2)),
        (Shape(2, 4), (1, 1), (2, 3), Shape(1, 2, origin=(1, 1))),
        (Shape(4, 5, 6), (0, 0, 0), (4, 5, 6), Shape(4, 5, 6)),
        (Shape(10, 20), (0, 0), (1, 20), Shape(1, 20)),
        (Shape(10, 20), (0, 0), (10, 1), Shape(10, 1)),
        (Shape(10, 20), (0, 0), (5, 5), Shape(5, 5)),
        (Shape(10, 20), (0, 0), (1, 5), Shape(1, 5)),
        (Shape(2, 3), (0, 1), (1, 3), Shape(1, 2, origin=(0, 1))),
        (Shape(2, 4), (1, 4), (1, 4), Shape(0, 0, origin=(1, 4))),
        (Shape(2, 2, 10, 10), (0, 1, 0, 0), (1, 2, 10, 10), Shape(1, 1, 10, 10, origin=(0, 1, 0, 0))),
        (Shape(2, 2, 10, 10), (1, 0, 5, 0), (2, 2, 10, 10), Shape(1, 2, 5, 10, origin=(1, 0, 5, 0))),
    ],
)
def test_slices(shape, first, last, expected):
    assert shape.slice(first, last) == expected
    assert as_shape(SmoothView.of_box(shape.implementation)).slice(first, last) == expected
    assert shape[tuple(map(slice, first, last))] == expected


def test_clip_cuts_bounds_short_but_not_reversed_ones():
    shape = Shape(4, 5, origin=(1, 1))
    assert shape.slice((-9, 2), (3, 99), clip=True) == Shape(2, 4, origin=(1, 2))
    assert shape.slice((7, 0), (9, 0), clip=True) == Shape(0, 0, origin=(5, 1))
    with pytest.raises(OutOfBoundsError, match=r"\[3, 2\)"):
        shape.slice((3, 2), (2, 3), clip=True)


@pytest.mark.parametrize(
    ("index", "inside"),
    [
        ((0, 3, 3), False),
        ((1, 3, 3), True),
        ((4, 3, 3), True),
        ((5, 3, 3), False),
        ((0, 6, 3), False),
        ((2, 4, 3), True),
        ((4, 1, 3), True),
        ((2, 2), False),
        ([2, 2, 2], True),
        (np.array([2, 2, 2]), True),
        ((2.0, 2, 2), False),
        ((True, 2, 2), False),
        ("222", False),
        (3, False),
        (None, False),
    ],
)
def test_membership(index, inside):
    assert (index in Shape(4, 4, 4, origin=(1, 1, 1))) is inside


def test_disjoint_boxes_meet_in_an_empty_box_between_them():
    assert Shape(3).intersect(Shape(2, origin=(7,))) == Shape(0, origin=(7,))
    assert Shape(2, origin=(7,)).intersect(Shape(3)) == Shape(0, origin=(7,))
    assert Shape(3).intersect((5,)) == Shape(3)


def test_an_empty_box_adds_nothing_to_a_hull():
    empty = Shape(0, 9, origin=(50, 50))
    assert Shape(2, 2).hull(empty) == empty.hull(Shape(2, 2)) == Shape(2, 2)


@pytest.mark.parametrize("method", ["intersect", "hull"])
def test_boxes_combine_with_boxes_only(method):
    with pytest.raises(JaggedModeError, match=method):
        getattr(Shape(1, 1), method)(Shape.jagged([1]))
    with pytest.raises(JaggedModeError, match="as_smooth"):
        getattr(Shape.jagged([1]), method)(Shape(1, 1))
    with pytest.raises(RankError, match=r"rank 1 .* rank 2"):
        getattr(Shape(1), method)(Shape(1, 1))


@pytest.mark.parametrize("order", [(0, 2), (-1, 0), (0, 1, 2)])
def test_what_is_no_permutation_is_refused(order):
    with pytest.raises(RankError, match="not a permutation of the modes 0 to 1"):
        Shape(2, 3).permute(order)


def test_permute_follows_the_convention_of_transpose():
    order = (2, 0, 1)
    assert Shape(2, 3, 4, origin=(5, 6, 7)).permute(order) == Shape(4, 2, 3, origin=(7, 5, 6))
    assert Shape(2, 3, 4).permute(order).extents == np.empty((2, 3, 4)).transpose(order).shape


@pytest.mark.parametrize(
    ("make", "error", "builtin", "match"),
    [
        (lambda: Shape(2.0), ConversionError, TypeError, r"mode 0 .*2\.0"),
        (lambda: Shape((4, 6)), ConversionError, TypeError, r"Shape\(\*extents\) or as_shape\(\(4, 6\)\)"),
        (lambda: Shape([4]), ConversionError, TypeError, r"Shape\(\*extents\) or as_shape"),
        (lambda: Shape(3, 2.0), ConversionError, TypeError, r"mode 1 .*2\.0"),
        (lambda: Shape.smooth([3, 2.0]), ConversionError, TypeError, r"mode 1 .*2\.0"),
        (lambda: Shape(2, 3).permute(5.5), ConversionError, TypeError, r"permutation.* not 5\.5"),
        (lambda: Shape(2, 3).translate_to(5), ConversionError, TypeError, "an origin.* not 5"),
        (lambda: Shape(2, 3).slice("1", 2), ConversionError, TypeError, "'1'"),
        (lambda: Shape(True), ConversionError, TypeError, "True"),
        (lambda: Shape(np.True_), ConversionError, TypeError, "True"),
        (lambda: Shape(np.float64(2)), ConversionError, TypeError, "float64"),
        (lambda: Shape("2"), ConversionError, TypeError, "'2'"),
        (lambda: Shape((2, 3)), ConversionError, TypeError, r"\(2, 3\)"),
        (lambda: Shape(2, origin=3), ConversionError, TypeError, "origin.*3"),
        (lambda: Shape(2, origin=(0.5,)), ConversionError, TypeError, r"0\.5"),
        (lambda: Shape.smooth("23"), ConversionError, TypeError, "'23'"),
        (lambda: Shape.smooth(3), ConversionError, TypeError, "3"),
        (lambda: as_shape(3), ExtentError, ValueError, "3"),
        (lambda: as_shape(2.5), ConversionError, TypeError, r"2\.5"),
    ],
)
def test_constructions_that_are_refused(make, error, builtin, match):
    with pytest.raises(error, match=match) as caught:
        make()
    assert isinstance(caught.value, builtin)


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint64])
def test_anything_with_an_index_is_an_integer(kind):
    shape = Shape(kind(2), kind(3), origin=(kind(1), kind(1)))
    assert shape == Shape(2, 3, origin=(1, 1))
    assert all(type(n) is int for n in shape.extents + shape.origin)
    assert shape.index(kind(4)) == (2, 2)
    assert shape.ordinal((kind(2), kind(2))) == 4
    assert shape.chip(kind(1)) == Shape(3, origin=(1,))
    assert shape.extent(kind(1)) == shape.extent_at([kind(1)]) == 3
    assert (kind(1), kind(1)) in shape


def test_sizes_beyond_64_bits_are_exact():
    assert HUGE.size == 2**80
    assert HUGE.index(2**80 - 1) == (2**40 - 1, 2**40 - 1)
    assert HUGE.ordinal((2**40 - 1, 0)) == 2**80 - 2**40
    assert (2**39, 2**39) in HUGE
    assert HUGE.contains([[2**39, 2**40]]).tolist() == [False]
    assert HUGE.indices()[-1] == (2**40 - 1, 2**40 - 1)
    assert Shape(3, origin=(2**80,)).index(2) == (2**80 + 2,)


@pytest.mark.parametrize("shape", [HUGE, Shape(2, origin=(2**63 - 1,)), Shape(2, origin=(-(2**64),))])
def test_arrays_beyond_64_bits_are_refused(shape):
    with pytest.raises(SizeOverflowError, match="64 bits"):
        shape.indices_at([0])
    with pytest.raises(SizeOverflowError, match="64 bits"):
        shape.ordinals([[0] * shape.rank])
    with pytest.raises(OverflowError, match="64 bits"):
        shape.indices().to_numpy()


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda s: s.ordinals([[0.0, 0.0]]), ConversionError, "float64"),
        (lambda s: s.contains([[True, False]]), ConversionError, "bool"),
        (lambda s: s.contains([0, 1, 2]), RankError, r"rank 2.*\(3,\)"),
        (lambda s: s.contains(3), RankError, "rank 2"),
        (lambda s: s.indices_at([0.5]), ConversionError, "float64"),
        (lambda s: s.indices_at([0, 6]), OutOfBoundsError, "from 0 to 6"),
        (lambda s: s.index(6), OutOfBoundsError, "ordinal 6"),
        (lambda s: s.ordinals([[1, 2], [3]]), ConversionError, r"rectangular.*\[\[1, 2\], \[3\]\]"),
        (lambda s: s.contains([[1, 2], [3]]), ConversionError, "rectangular"),
        (lambda s: s.indices_at([[1, 2], [3]]), ConversionError, "ordinals.*rectangular"),
        (lambda s: s.contains([[2**70, 0]]), SizeOverflowError, "indices must fit into 64 bits"),
        (lambda s: s.index(-1), OutOfBoundsError, "ordinal -1"),
        (lambda s: s.index(True), ConversionError, "True"),
        (lambda s: s.ordinal((0, 3)), OutOfBoundsError, r"index 3 .*mode 1, in the index \(0, 3\)"),
        (lambda s: s.ordinals([[[0, 0]], [[1, 7]]]), OutOfBoundsError, r"\(1, 7\)"),
        (lambda s: s.contains(np.array([[2**63, 0]], dtype=np.uint64)), OutOfBoundsError, "int64"),
    ],
)
def test_questions_that_are_refused(call, error, match):
    with pytest.raises(error, match=match):
        call(Shape(2, 3))


def test_array_questions_keep_the_leading_axes():
    table = Shape(2, 3).indices().to_numpy().reshape(2, 3, 2)
    assert Shape(2, 3).contains(table).shape == (2, 3)
    assert Shape(2, 3).ordinals(table).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert Shape(2, 3).indices_at([[5], [0]]).tolist() == [[[1, 2]], [[0, 0]]]
    assert Shape(2, 3).indices_at(5).tolist() == [1, 2]
    assert Shape(2, 3).contains(np.empty((0, 2))).shape == (0,)


@pytest.mark.parametrize(
    ("shape", "text", "call"),
    [
        (Shape(), "()", "Shape()"),
        (Shape(3), "(3,)", "Shape(3)"),
        (Shape(3, 4, origin=(1, 0)), "(3, 4)@(1, 0)", "Shape(3, 4, origin=(1, 0))"),
        (Shape(3, origin=(-1,)), "(3,)@(-1,)", "Shape(3, origin=(-1,))"),
    ],
)
def test_text(shape, text, call):
    assert (str(shape), repr(shape)) == (text, call)


def test_a_shape_never_changes():
    shape = Shape(2, 3)
    for name in ("extents", "origin", "implementation", "anything"):
        with pytest.raises(AttributeError):
            setattr(shape, name, 1)
    with pytest.raises(AttributeError):
        Smooth((2,))._extents = (3,)
