"""Shapes joined and stacked: tables, NumPy's answers, and laws."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    ExtentMismatchError,
    LayerError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape import Shape, Smooth, Tiled

J = Shape.jagged([3, 1, 2])


# Concatenate.


@pytest.mark.parametrize(
    ("parts", "mode", "expected"),
    [
        ([Shape(3), Shape(3)], 0, Shape(6)),
        ([Shape(2, 2), Shape(2, 2)], 0, Shape(4, 2)),
        ([Shape(2, 2), Shape(2, 2)], 1, Shape(2, 4)),
        ([Shape(2, 2), Shape(2, 2)], -1, Shape(2, 4)),
        ([Shape(2, 3, origin=(1, 5)), Shape(0, 3, origin=(9, 5))], 0, Shape(2, 3, origin=(1, 5))),
        ([Shape(0, origin=(5,)), Shape(3, origin=(7,))], 0, Shape(3, origin=(5,))),
        ([Shape(2**62), Shape(2**63)], 0, Shape(2**62 + 2**63)),
        ([(2, 3), Smooth((1, 3)), [4, 3]], 0, Shape(7, 3)),
        ([J], 1, J),
        ([J, Shape.jagged([5])], 0, Shape.jagged([3, 1, 2, 5])),
        ([J, J], 1, Shape.jagged([6, 2, 4])),
        ([J, Shape(2, 4)], 0, Shape.jagged([3, 1, 2, 4, 4])),
        ([Shape(2, 4), J], 0, Shape.jagged([4, 4, 3, 1, 2])),
        ([J, Shape(3, 4)], 1, Shape.jagged([7, 5, 6])),
        (
            [J.translate_by((7, 5)), J],
            0,
            Shape.jagged(
                [Shape(3, origin=(5,)), Shape(1, origin=(5,)), Shape(2, origin=(5,)), *map(Shape, (3, 1, 2))],
                origin=(7, 0),
            ),
        ),
        (
            [Shape.jagged([[1], [2, 3]]), Shape.jagged([[4, 5], [6]])],
            1,
            Shape.jagged([[1, 4, 5], [2, 3, 6]]),
        ),
        (
            [Shape.jagged([[1], [2, 3]]), Shape.jagged([[4], [5, 6]])],
            2,
            Shape.jagged([[5], [7, 9]]),
        ),
        (
            [Shape.jagged([Shape(1, 2), Shape(3, 4)]), Shape.jagged([Shape(5, 2), Shape(6, 4)])],
            1,
            Shape.jagged([Shape(6, 2), Shape(9, 4)]),
        ),
        (
            [Shape.jagged([Shape(1, 2), Shape(1, 4)]), Shape.jagged([Shape(1, 3), Shape(2, 4)])],
            1,
            Shape.jagged([[2, 3], [4, 4, 4]]),
        ),
        (
            [Shape.jagged([Shape(1, 2), Shape(3, 4)]), Shape.jagged([[1, 1]])],
            0,
            Shape.jagged([[2], [4, 4, 4], [1, 1]]),
        ),
        ([Shape.jagged([], rank=2), J], 0, J),
        ([Shape.jagged([Shape(0, 5)]), Shape.jagged([Shape(2, 7)])], 1, Shape.jagged([[7, 7]])),
        ([Shape.jagged([Shape(0, 5)]), Shape.jagged([[1]])], 0, Shape.jagged([[], [1]])),
        (
            [Shape.jagged([Shape(0, 5, 2)]), Shape.jagged([Shape(0, 6, 3)])],
            3,
            Shape.jagged([Shape(0, 5, 5)]),
        ),
        ([J, Shape.jagged([], rank=2)], 0, J),
        ([Shape.tiled([1, 2], [3]), Shape.tiled([4], [3])], 0, Shape.tiled([1, 2, 4], [3])),
        ([Shape.tiled([1, 2], [3]), Shape.tiled([1, 2], [4, 5])], 1, Shape.tiled([1, 2], [3, 4, 5])),
        (
            [Shape.nested(Shape(2, 3), layers=(1, 1)), Shape.nested(Shape(4, 3), layers=(1, 1))],
            0,
            Shape.nested(Shape(6, 3), layers=(1, 1)),
        ),
        (
            [Shape.nested(J, layers=(1, 1)), Shape.nested(J, layers=(1, 1))],
            1,
            Shape.nested(Shape.jagged([6, 2, 4]), layers=(1, 1)),
        ),
    ],
)
def test_concatenations(parts, mode, expected):
    assert Shape.concat(parts, mode=mode) == expected
    assert Shape.concat(iter(parts), mode=mode) == expected


@pytest.mark.parametrize(
    ("parts", "mode", "error", "match"),
    [
        ([Shape(3), Shape(3, 2)], 0, RankError, "shape 1 has rank 2 and shape 0 rank 1"),
        ([Shape(3), Shape(3)], 1, RankError, "mode 1 does not exist .*rank 1"),
        ([Shape(), Shape()], 0, RankError, "mode 0 does not exist"),
        ([Shape(2, 2), Shape(1, 1)], 0, ExtentMismatchError, "shape 1 has the extent 1 in mode 1, .*0 has 2"),
        (
            [Shape(2, 2), Shape(2, 2), Shape(3, 2)],
            1,
            ExtentMismatchError,
            "shape 2 .*extent 3 in mode 0, .*2",
        ),
        (
            [Shape(2, 2), Shape(2, 2, origin=(0, 7))],
            0,
            ExtentMismatchError,
            "shape 1 has the origin 7 in mode 1, but shape 0 has 0",
        ),
        ([J, Shape.jagged([1, 2])], 1, ExtentMismatchError, "shape 1 .*extent 2 in mode 0, .*0 has 3"),
        ([J, J[:].translate_by((1, 0))], 1, ExtentMismatchError, "shape 1 .*origin 1 in mode 0"),
        (
            [Shape.jagged([[1], [2, 3]]), Shape.jagged([[1], [2]])],
            2,
            ExtentMismatchError,
            r"shape 1 .*extent 1 in mode 1 under the prefix \(1,\), but shape 0 has 2",
        ),
        (
            [Shape.jagged([Shape(1, 2), Shape(3, 4)]), Shape.jagged([Shape(1, 2), Shape(2, 4)])],
            2,
            ExtentMismatchError,
            r"shape 1 .*extent 2 in mode 1 under the prefix \(1,\), but shape 0 has 3",
        ),
        ([], 0, RankError, "one shape at least"),
        ([Shape(2), Shape.nested(Shape(2), layers=(1,))], 0, LayerError, r"shape 1 is nested with .*\(1,\)"),
        (
            [Shape.nested(J, layers=(1, 1)), Shape.nested(J, layers=(2,))],
            0,
            LayerError,
            r"shape 1 .*\(2,\), but shape 0 .*\(1, 1\)",
        ),
        (Shape(2), 0, ConversionError, r"sequence of shapes, not Shape\(2\)"),
        (3, 0, ConversionError, "not 3"),
        (np.array(3), 0, ConversionError, r"not array\(3\)"),
        ("ab", 0, ConversionError, "'ab'"),
        ([Shape(2), 3], 0, ExtentError, "the integer 3"),
        ([Shape(2)], 0.0, ConversionError, r"mode .*0\.0"),
        ([J, Shape(1, 2**63)], 0, SizeOverflowError, "mode 1 .*64 bits"),
        ([Shape.jagged([2**62]), Shape.jagged([2**62])], 1, SizeOverflowError, "mode 1 .*64 bits"),
        (
            [Shape.jagged([2**62], origin=(0, -(2**62))), Shape.jagged([2**62], origin=(0, -(2**62)))],
            1,
            SizeOverflowError,
            "64 bits",
        ),
        ([Shape.jagged([1], origin=(2**63 - 2, 0)), J], 0, SizeOverflowError, "mode 0 .*64 bits"),
    ],
)
def test_concatenations_that_are_refused(parts, mode, error, match):
    with pytest.raises(error, match=match) as caught:
        Shape.concat(parts, mode=mode)
    assert type(caught.value) is error


# Stack.


@pytest.mark.parametrize(
    ("parts", "mode", "expected"),
    [
        ([Shape()] * 3, 0, Shape(3)),
        ([Shape(2, 3)], 0, Shape(1, 2, 3)),
        ([Shape(2, 3)] * 4, 0, Shape(4, 2, 3)),
        ([Shape(2, 3)] * 4, 1, Shape(2, 4, 3)),
        ([Shape(2, 3)] * 4, -1, Shape(2, 3, 4)),
        ([Shape(2, origin=(5,)), (2,)], 0, Shape(2, 2, origin=(0, 5))),
        ([J, J], 0, Shape.jagged([J, J])),
        ([J, J.translate_by((4, 4))], 1, Shape.jagged([[3, 3], [1, 1], [2, 2]])),
        ([J, J], 2, Shape.jagged([Shape(3, 2), Shape(1, 2), Shape(2, 2)])),
        ([Shape.tiled([1, 2]), Shape.jagged([1, 2])], 0, Shape.jagged([[1, 2], [1, 2]])),
        ([Shape.jagged([], rank=2)] * 2, 0, Shape.jagged([Shape.jagged([], rank=2)] * 2)),
    ],
)
def test_stacks(parts, mode, expected):
    assert Shape.stack(parts, mode=mode) == expected
    assert Shape.stack(iter(parts), mode=mode) == expected


@pytest.mark.parametrize(
    ("parts", "mode", "error", "match"),
    [
        (
            [Shape(2), Shape(2), Shape(3)],
            0,
            ExtentMismatchError,
            r"shape 2 .*extent 3 in mode 0, .*0 has 2.*jagged",
        ),
        ([Shape(2), Shape(2, 1)], 0, RankError, "shape 1 has rank 2 and shape 0 rank 1"),
        (
            [Shape(3, 2), Shape.jagged([2, 2, 2])],
            0,
            ExtentMismatchError,
            "shape 1 is jagged, but shape 0 is smooth",
        ),
        (
            [J, Shape.jagged([3, 1, 9])],
            0,
            ExtentMismatchError,
            r"extent 9 in mode 1 under the prefix \(2,\), .*has 2",
        ),
        ([Shape(2)], 2, RankError, "mode 2 does not exist .*rank 2"),
        ([Shape(2)], -3, RankError, "mode -3"),
        ([], 0, RankError, "one shape at least"),
        ([Shape.nested(Shape(2), layers=(1,)), Shape(2)], 0, LayerError, r"None.*\(1,\).*flatten"),
        (Shape(2), 0, ConversionError, r"not Shape\(2\)"),
        ([Shape(2)], True, ConversionError, "mode .*True"),
    ],
)
def test_stacks_that_are_refused(parts, mode, error, match):
    with pytest.raises(error, match=match) as caught:
        Shape.stack(parts, mode=mode)
    assert type(caught.value) is error


# NumPy answers the same questions about arrays of ones.

EXTENTS = st.lists(st.integers(0, 4), min_size=1, max_size=3)


@given(EXTENTS, st.data())
def test_concat_adds_extents_as_numpy_does(extents, data):
    mode = data.draw(st.integers(-len(extents), len(extents) - 1))
    others = data.draw(st.lists(st.integers(0, 4), max_size=3))
    parts = [tuple(extents)]
    for extent in others:
        part = list(extents)
        part[mode] = extent
        if data.draw(st.integers(0, 5)) == 5:
            part[data.draw(st.integers(0, len(part) - 1))] += 1
        parts.append(tuple(part))
    try:
        expected = np.concatenate([np.ones(p) for p in parts], axis=mode).shape
    except ValueError:
        with pytest.raises(ExtentMismatchError):
            Shape.concat(parts, mode=mode)
        return
    assert Shape.concat(parts, mode=mode).extents == expected


@given(EXTENTS, st.integers(1, 4), st.integers(-4, 3))
def test_stack_adds_a_mode_as_numpy_does(extents, count, mode):
    assume(-len(extents) - 1 <= mode <= len(extents))
    expected = np.stack([np.ones(extents)] * count, axis=mode).shape
    assert Shape.stack([extents] * count, mode=mode).extents == expected


# Cost.


def test_tilings_join_without_their_tiles():
    tiles = np.arange(1, 10**5)
    shape = Shape.tiled(tiles, tiles, tiles)
    for mode in range(3):
        found = Shape.concat(shape.split(3, mode), mode=mode)
        assert type(found.implementation) is Tiled
        assert found == shape


@pytest.mark.parametrize(
    ("layers", "mode", "expected"),
    [
        ((1, 1), 0, (2, 1)),
        ((1, 1), 1, (1, 2)),
        ((1, 1), 2, (1, 2)),
        ((1, 1), -1, (1, 2)),
        ((0, 2), 0, (0, 3)),
        ((2, 0), 1, (3, 0)),
        ((2, 0), 2, (2, 1)),
    ],
)
def test_a_new_mode_belongs_to_the_layer_of_the_mode_before_which_it_stands(layers, mode, expected):
    box = Shape(2, 3)
    stacked = Shape.stack([Shape.nested(box, layers=layers)] * 4, mode=mode)
    assert stacked.layers == expected
    assert stacked.flatten() == Shape.stack([box] * 4, mode=mode)
