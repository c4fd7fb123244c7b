"""What shapes refuse, and how they say it; and where others are wrong in silence."""

import copy
import pickle

import numpy as np
import pytest

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    ExtentMismatchError,
    JaggedModeError,
    LayerError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
    TensorWrapperError,
)
from tensorwrapper.shape import Shape, Smooth, SmoothView, as_shape

BOX = Shape(2, 4)
J = Shape.jagged([3, 1, 2])
CELLS = Shape.from_cells((2,), [(2, 2), (3, 3)])
TILES = Shape.tiled([1, 2], [3])
NESTED = Shape.nested(Shape(10, 20, 30), layers=(1, 2))
TWO = Shape.jagged([Shape(2, origin=(5,)), Shape(3, origin=(6,))])


def check(call, error, builtin, words):
    with pytest.raises(error) as caught:
        call()
    # That of a property is an AttributeError, too, under the same name.
    assert error in type(caught.value).__mro__[:2]
    assert isinstance(caught.value, builtin)
    text = str(caught.value)
    for word in words:
        assert word in text


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Shape.jagged([Shape(1), Shape(1, 2)]), ("child 1 has 2", "first child 1", "[1, 2]")),
        (lambda: Shape.jagged([Shape(10, 20), Shape.jagged([[10], [20]])]), ("child 1 has 3", "[2, 3]")),
        (lambda: Shape.jagged([[Shape(1)], [Shape(1), Shape(1, 2)]]), ("child (1, 1) has 2",)),
        (lambda: Shape.jagged([Shape()]), ("rank 0",)),
        (lambda: Shape.jagged([3], rank=3), ("rank 2", "rank=3")),
        (lambda: Shape.jagged([[]], rank=1), ("rank 2", "rank=1")),
        (lambda: Shape.jagged(np.array([3]), rank=3), ("rank 2", "rank=3")),
    ],
)
def test_children_of_other_ranks(call, words):
    check(call, RankError, ValueError, words)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Shape.jagged([]), ("rank=",)),
        (lambda: Shape.jagged([], rank=1), ("least rank 2", "not 1")),
        (lambda: Shape.concat([]), ("one shape at least",)),
        (lambda: Shape.stack([]), ("one shape at least",)),
        (lambda: Shape.from_cells((), [[1]]), ("at least one mode",)),
        (Shape.tiled, ("at least one mode",)),
    ],
)
def test_nothing_that_would_tell_the_rank(call, words):
    check(call, RankError, ValueError, words)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Shape.nested(Shape(10, 20, 30), layers=(1, 1)), ("(1, 1)", "rank 3")),
        (lambda: Shape.nested(J, layers=(1,)), ("(1,)", "rank 2")),
        (lambda: NESTED.layer_size(2), ("layer 2", "2 layers", "(1, 2)")),
        (lambda: NESTED.layer_size(-3), ("layer -3", "2 layers")),
        (lambda: BOX.layer_size(1), ("layer 1", "1 layer", "(2,)")),
        (lambda: NESTED.element((1, 2)), ("(1, 2)", "2 entries", "has 1")),
        (lambda: NESTED.permute((1, 0, 2)), ("(1, 0, 2)", "mode 1 of layer 1", "mode 0 of layer 0")),
        (
            lambda: Shape.concat([NESTED, Shape.nested(NESTED, layers=(2, 1))]),
            ("shape 1", "(2, 1)", "shape 0", "(1, 2)"),
        ),
    ],
)
def test_layers_that_do_not_fit(call, words):
    check(call, LayerError, ValueError, words)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Shape(2, -1), ("-1", "mode 1", "(2, -1)")),
        (lambda: Shape.smooth([-3]), ("-3", "mode 0")),
        (lambda: Shape.jagged([3, -1]), ("row 1 has -1",)),
        (lambda: Shape.jagged([[1], [], [2, -1]]), ("row (2, 1) has -1",)),
        (lambda: Shape.jagged(np.array([3, -1])), ("row 1 has -1",)),
        (lambda: Shape.from_cells((2,), [[1], [-4]]), ("cell 1 has (-4,)",)),
        (lambda: Shape.tiled([3], [3, -2]), ("row 1 has -2", "tile sizes of mode 1")),
        (lambda: Shape.triangular(-1), ("side", "-1")),
        (lambda: BOX.reshape((-2, -4)), ("-2", "mode 0", "(-2, -4)")),
    ],
)
def test_negative_extents(call, words):
    check(call, ExtentError, ValueError, ("must not be negative", *words))


@pytest.mark.parametrize(
    ("shape", "first", "last", "error", "builtin", "words"),
    [
        (BOX, (2,), (0,), RankError, ValueError, ("rank 2 needs 2", "not 1 and 1")),
        (BOX, (), (), RankError, ValueError, ("rank 2 needs 2", "not 0 and 0")),
        (BOX, (1, 1), (2,), RankError, ValueError, ("rank 2 needs 2", "not 2 and 1")),
        (Shape(), (0,), (), RankError, ValueError, ("rank 0 needs 0", "not 1 and 0")),
        (Shape(3), (0,), (), RankError, ValueError, ("rank 1 needs 1", "not 1 and 0")),
        (Shape(4, 5, 6), (0,), (1, 1), RankError, ValueError, ("rank 3 needs 3", "not 1 and 2")),
        (J, (0,), (1,), RankError, ValueError, ("rank 2 needs 2", "not 1 and 1")),
        (BOX, (1, 1), (3, 2), OutOfBoundsError, IndexError, ("[1, 3)", "[0, 2) of mode 0")),
        (BOX, (0, -1), (1, 2), OutOfBoundsError, IndexError, ("[-1, 2)", "[0, 4) of mode 1")),
        (BOX[1:, 2:], (0, 2), (2, 3), OutOfBoundsError, IndexError, ("[0, 2)", "[1, 2) of mode 0")),
        (J, (1, 0), (4, 1), OutOfBoundsError, IndexError, ("[1, 4)", "[0, 3) of mode 0")),
        (J, (0, 0), (3, 2), OutOfBoundsError, IndexError, ("[0, 2)", "[0, 1) of mode 1", "prefix (1,)")),
        (CELLS, (0, 0, 0), (2, 2, 3), OutOfBoundsError, IndexError, ("[0, 3)", "mode 2", "prefix (0,)")),
        (TILES, (0, 0, 0, 0), (2, 2, 1, 1), OutOfBoundsError, IndexError, ("[0, 2)", "[0, 1) of mode 1")),
        (Shape(3), (2,), (0,), OutOfBoundsError, IndexError, ("[2, 0)", "mode 0")),
        (J, (2, 0), (1, 1), OutOfBoundsError, IndexError, ("[2, 1) of mode 0", "ascend")),
        (J, (0, 1), (1, 0), OutOfBoundsError, IndexError, ("[1, 0) of mode 1", "ascend")),
        (BOX, (0.0, 0), (2, 2), ConversionError, TypeError, ("first index", "0.0", "integer")),
        (BOX, (0, 0), (True, 2), ConversionError, TypeError, ("last index", "bool True", "integer")),
    ],
)
def test_slices_that_are_refused(shape, first, last, error, builtin, words):
    views = [shape, shape.copy(), Shape.nested(shape, layers=(shape.rank,))]
    if shape.kind == "smooth":
        views.append(as_shape(SmoothView.of_box(Smooth(shape.extents, shape.origin))))
    for view in views:
        check(lambda view=view: view.slice(first, last), error, builtin, words)


@pytest.mark.parametrize(
    ("call", "error", "builtin", "words"),
    [
        (lambda: BOX.chip(0, 0, 0), RankError, ValueError, ("3 indices", "rank 2")),
        (lambda: J.chip(0, 0, 0), RankError, ValueError, ("3 indices", "rank 2")),
        (lambda: NESTED.chip(*range(4)), RankError, ValueError, ("4 indices", "rank 3")),
        (lambda: BOX[0, 0, 0], RankError, ValueError, ("3 indices", "rank 2")),
        (lambda: BOX.chip(0, 4), OutOfBoundsError, IndexError, ("index 4", "[0, 4) of mode 1")),
        (
            lambda: Shape(9, 20, origin=(0, 5)).chip(2, 4),
            OutOfBoundsError,
            IndexError,
            ("index 4", "[5, 25) of mode 1"),
        ),
        (lambda: BOX[-1], OutOfBoundsError, IndexError, ("index -1", "[0, 2) of mode 0")),
        (lambda: J.chip(1, 1), OutOfBoundsError, IndexError, ("index 1", "[0, 1) of mode 1", "prefix (1,)")),
        (lambda: J[:, 1], OutOfBoundsError, IndexError, ("index 1", "[0, 1) of mode 1", "prefix (1,)")),
        (lambda: CELLS[0, 2], OutOfBoundsError, IndexError, ("index 2", "[0, 2) of mode 1", "prefix (0,)")),
        (lambda: TILES[2], OutOfBoundsError, IndexError, ("index 2", "[0, 2) of mode 0")),
        (lambda: TILES[1, 0, 2], OutOfBoundsError, IndexError, ("index 2", "mode 2", "prefix (1, 0)")),
        (lambda: NESTED.element((10,)), OutOfBoundsError, IndexError, ("index 10", "[0, 10) of mode 0")),
    ],
)
def test_chips_that_are_refused(call, error, builtin, words):
    check(call, error, builtin, words)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: J.extent(1), ("mode 1", "extent", "from 1 to 3", "(0,)", "extent_at(prefix)")),
        (lambda: J[:].extent(-1), ("mode 1", "from 1 to 3")),
        (lambda: J.extents, ("mode 1", "from 1 to 3")),
        (lambda: TILES.extent(2), ("mode 2", "from 1 to 2", "(0,)")),
        (lambda: Shape.nested(J, layers=(1, 1)).extent(1), ("mode 1", "from 1 to 3")),
        (lambda: TWO.origin, ("mode 1", "origin", "from 5 to 6", "origin_at(prefix)")),
        (lambda: TWO.translate_to((0, 0)), ("mode 1", "from 5 to 6")),
        (lambda: J.split(2, 1), ("mode 1", "from 1 to 3")),
    ],
)
def test_one_number_of_a_mode_that_varies(call, words):
    check(call, JaggedModeError, ValueError, words)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: J.permute((1, 0)), JaggedModeError, ("(1, 0) puts mode 1 before the modes (0,)",)),
        (lambda: J[:].permute((1, 0)), JaggedModeError, ("mode 1 before the modes (0,)", "as_smooth")),
        (lambda: TILES.permute((2, 0, 1, 3)), JaggedModeError, ("mode 2 before the modes (0,)",)),
        (lambda: Shape.triangular(3).permute((1, 0)), JaggedModeError, ("mode 1 before the modes (0,)",)),
        (lambda: J.permute((0, 0)), RankError, ("(0, 0)", "modes 0 to 1")),
        (lambda: BOX.permute((0,)), RankError, ("(0,)", "modes 0 to 1")),
    ],
)
def test_permutations_that_no_shape_can_express(call, error, words):
    check(call, error, ValueError, words)
    # What the text proposes for a jagged shape.
    assert J.as_smooth().permute((1, 0)) == Shape(3, 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Shape.from_cells((2,), [[1]]), ("2 cells", "(2, rank)", "(1, 1)")),
        (lambda: Shape.from_cells((1,), [[1, 2]], origins=[[0]]), ("(1, 2) or (2,)", "(1, 1)")),
        (lambda: BOX.reshape((3, 3)), ("8 elements", "(3, 3)", "9")),
    ],
)
def test_tables_and_extents_that_do_not_cover_the_shape(call, words):
    check(call, ExtentError, ValueError, words)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Shape(2, origin=(0, 0)), ("(0, 0) has 2 entries", "an origin of a shape of rank 1")),
        (lambda: Smooth((2,), (0, 0)), ("2 entries", "an origin", "rank 1")),
        (lambda: Shape.jagged([1], origin=(1,)), ("(1,) has 1 entry", "an origin", "rank 2")),
        (lambda: Shape.tiled([1], origin=(1,)), ("1 entry", "an origin", "rank 2")),
        (lambda: BOX.translate_to((1,)), ("1 entry", "an origin", "rank 2")),
        (lambda: J.translate_by((1,)), ("1 entry", "an offset", "rank 2")),
        (lambda: BOX.reshape((8,), origin=(1, 2)), ("2 entries", "an origin", "rank 1")),
    ],
)
def test_origins_of_another_rank(call, words):
    check(call, RankError, ValueError, words)


# Defects of earlier designs.


def test_there_is_no_null_shape_that_equals_the_scalar():
    assert Shape().size == 1
    assert len({Shape(), Shape(0), Shape.jagged([], rank=2)}) == 3


def test_slices_may_be_empty_where_extents_may_be_0():
    assert BOX.slice((1, 4), (1, 4)) == Shape(0, 0, origin=(1, 4))
    assert J.slice((3, 0), (3, 0)) == Shape.jagged([], rank=2, origin=(3, 0))


def test_views_keep_extents_beyond_16_bits():
    large = Shape(100_000, 3)
    for view in (large, as_shape(SmoothView.of_box(large.implementation)), Shape.jagged([large])[0]):
        assert view.extents == (100_000, 3)
        assert view.permute((1, 0)).extents == (3, 100_000)
        assert view != Shape(34_464, 3)


def test_modes_are_integers_of_any_size_that_may_count_from_the_last():
    deep = Shape(*[1] * 300, 7)
    assert deep.extent(300) == deep.extent(-1) == 7
    for mode in (301, -302, 2**16, 2**70):
        check(lambda mode=mode: deep.extent(mode), RankError, ValueError, (f"mode {mode} ", "0 to 300"))


# Where others are wrong in silence.


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        # Wrong totals from chunks that are negative or no integers.
        (lambda: Shape.tiled([5, -2]), ExtentError, ("-2", "mode 0")),
        (lambda: Shape.tiled([5, 2.5]), ConversionError, ("2.5", "mode 0")),
        (lambda: Shape.jagged(np.array([5.0, 2.0])), ConversionError, ("row lengths", "float64")),
        # Row splits that descend, and row numbers that say nothing of trailing rows.
        (lambda: Shape.from_offsets([0, 3, 1]), ExtentError, ("row 1", "3 to 1")),
        (lambda: Shape.from_row_ids([0, 5], 3), OutOfBoundsError, ("5", "3")),
        # A transpose that moved elements from row to row.
        (lambda: Shape.jagged([[1, 1], [1]]).permute((1, 0, 2)), JaggedModeError, ("mode 1", "(0,)")),
        # A tile of another rank than the array.
        (lambda: BOX.ordinal((1,)), RankError, ("(1,) has 1 entry", "rank 2")),
        (lambda: BOX.contains([[1]]), RankError, ("rank 2", "(1, 1)")),
        (lambda: J.extent_at((0, 0)), RankError, ("(0, 0)", "rank 2")),
        # Shapes that do not fit, refused before memory runs out.
        (
            lambda: Shape.concat([Shape(10**12, 3), Shape(10**12, 4)]),
            ExtentMismatchError,
            ("shape 1", "4 in mode 1", "shape 0 has 3"),
        ),
        (
            lambda: Shape.stack([Shape(10**12, 3), Shape(10**12, 4)]),
            ExtentMismatchError,
            ("shape 1", "4 in mode 1", "shape 0 has 3"),
        ),
    ],
)
def test_what_others_accept_is_refused(call, error, words):
    check(call, error, (ValueError, TypeError, IndexError), words)


@pytest.mark.parametrize("shape", [BOX, J, J[1:], CELLS, TILES, TWO, NESTED, Shape.triangular(4, "upper")])
def test_what_was_asked_before_changes_no_answer(shape):
    def answers(shape):
        return (
            shape.as_smooth().extents,
            shape.padding,
            shape.size,
            shape.raggedness,
            [shape.extent_bounds(mode) for mode in range(shape.rank)],
            hash(shape),
            shape.index(shape.size - 1),
        )

    fresh = pickle.loads(pickle.dumps(shape))
    expected = [answers(copy.deepcopy(fresh))[k] for k in range(7)]
    backwards = [answers(fresh)[k] for k in reversed(range(7))]
    assert backwards[::-1] == expected == list(answers(shape)) == list(answers(shape))


def test_the_box_of_a_shape_with_a_ragged_last_mode_holds_every_element():
    shape = Shape.jagged([Shape(2, 7), Shape(2, 3)])
    assert shape.as_smooth() == Shape(2, 2, 7)
    assert shape.as_smooth().contains(shape.indices().to_numpy()).all()


def test_shapes_with_other_lengths_are_not_equal():
    assert Shape.jagged([2, 1]) != Shape.jagged([1, 2])
    assert not Shape.jagged([2, 1]).is_congruent(Shape.jagged([1, 2]))
    assert Shape.from_cells((1,), [(2, 3)]) != Shape.jagged([[4, 4]])


def test_a_kind_that_was_asked_for_is_kept_where_extents_happen_to_be_alike():
    tiles = Shape.tiled([2, 2])
    for shape in (
        tiles,
        tiles[:1],
        tiles.translate_by((1, 0)),
        *tiles.split(2),
        Shape.concat([tiles, tiles]),
    ):
        assert shape.kind == "jagged"
        assert type(pickle.loads(pickle.dumps(shape)).implementation) is type(shape.implementation)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Shape.jagged({3: 1, 2: 2}), ConversionError, ("sequence", "{3: 1, 2: 2}")),
        (lambda: Shape.smooth({3, 4}), ConversionError, ("in order", "set")),
        (lambda: BOX.permute({0, 1}), ConversionError, ("in order", "set")),
        (lambda: Shape.jagged([], rank=2**64), RankError, (str(2**64 - 1), "1024")),
        (lambda: Shape.from_row_ids([0], 10**30), SizeOverflowError, (str(10**30), str(2**60 - 1))),
        (lambda: Shape.triangular(2**62, "upper").splits(1), SizeOverflowError, (str(2**62),)),
        (lambda: Shape.triangular(3, np.array(["upper"])), ConversionError, ('"upper" or "lower"',)),
        (lambda: BOX.indices(order=np.array(["C", "F"])), ConversionError, ('"C" or "F"',)),
    ],
)
def test_what_nobody_means_is_refused_before_anything_is_made(call, error, words):
    check(call, error, TensorWrapperError, words)
