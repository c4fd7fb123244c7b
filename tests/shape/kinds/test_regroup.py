"""Shapes split along a mode, and boxes reshaped: tables, NumPy's answers, and laws."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    JaggedModeError,
    LayerError,
    OutOfBoundsError,
    RankError,
)
from tensorwrapper.shape import Shape
from tensorwrapper.testing import shapes, smooth_shapes

J = Shape.jagged([3, 1, 2])


# Split.


@pytest.mark.parametrize(
    ("shape", "sections_or_marks", "mode", "expected"),
    [
        (Shape(5), 2, 0, [Shape(3), Shape(2, origin=(3,))]),
        (Shape(5, origin=(-2,)), [0, 0], 0, [Shape(2, origin=(-2,)), Shape(0), Shape(3)]),
        (Shape(2, 3), [], 1, [Shape(2, 3)]),
        (Shape(2, 3), (1,), -1, [Shape(2, 1), Shape(2, 2, origin=(0, 1))]),
        (J, [1], 0, [Shape.jagged([3]), Shape.jagged([1, 2], origin=(1, 0))]),
        (J, [1], 1, [J[:, :1], J[:, 1:]]),
        (Shape.jagged([2, 2]), 2, 1, [Shape.jagged([1, 1]), Shape.jagged([1, 1], origin=(0, 1))]),
        (Shape.jagged([], rank=3), 2, 2, [Shape.jagged([], rank=3)] * 2),
        (
            Shape.tiled([1, 2, 3], [4]),
            2,
            0,
            [Shape.tiled([1, 2], [4]), Shape.tiled([3], [4], origin=(2, 0, 0, 0))],
        ),
        (
            Shape.nested(Shape(4, 3), layers=(1, 1)),
            2,
            0,
            [
                Shape.nested(Shape(2, 3), layers=(1, 1)),
                Shape.nested(Shape(2, 3, origin=(2, 0)), layers=(1, 1)),
            ],
        ),
    ],
)
def test_splits(shape, sections_or_marks, mode, expected):
    assert shape.split(sections_or_marks, mode) == tuple(expected)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: Shape(5).split(0), ExtentError, "mode 0 .*one section at least, not into 0"),
        (lambda: Shape(5).split(-1), ExtentError, "not into -1"),
        (lambda: Shape(5).split(2.0), ConversionError, r"number of sections .*2\.0"),
        (lambda: Shape(5).split(True), ConversionError, "True"),
        (lambda: Shape(5).split([1.5]), ConversionError, r"marks .*1\.5"),
        (lambda: Shape(5).split("12"), ConversionError, "'12'"),
        (lambda: Shape(5).split(2, 1), RankError, "mode 1 does not exist"),
        (lambda: Shape().split(2), RankError, "mode 0 does not exist"),
        (lambda: Shape(5).split([6]), OutOfBoundsError, r"\[0, 6\) is outside \[0, 5\) of mode 0"),
        (lambda: Shape(5).split([-1]), OutOfBoundsError, r"\[0, -1\)"),
        (lambda: Shape(5).split([3, 1]), OutOfBoundsError, r"1 follows 3 in \(3, 1\) of mode 0"),
        (lambda: J.split(2, 1), JaggedModeError, "mode 1 has no single extent"),
        (lambda: J.split([2], 1), OutOfBoundsError, r"mode 1 under the prefix \(1,\)"),
        (
            lambda: Shape.jagged([Shape(2), Shape(2, origin=(1,))]).split(2, 1),
            JaggedModeError,
            "mode 1 .*from 0 to 1",
        ),
    ],
)
def test_splits_that_are_refused(call, error, match):
    with pytest.raises(error, match=match):
        call()


# Reshape.


@pytest.mark.parametrize(
    ("shape", "extents", "expected"),
    [
        (Shape(4, 6), (24,), Shape(24)),
        (Shape(4, 6), (2, -1), Shape(2, 12)),
        (Shape(4, 6), [-1], Shape(24)),
        (Shape(4, 6, origin=(7, 7)), (2, 3, 4), Shape(2, 3, 4)),
        (Shape(), (1, 1), Shape(1, 1)),
        (Shape(), (-1,), Shape(1)),
        (Shape(1, 1), (), Shape()),
        (Shape(0, 3), (5, 0), Shape(5, 0)),
        (Shape(0, 3), (-1, 3), Shape(0, 3)),
        (Shape(0), (-1,), Shape(0)),
        (Shape(2**40, 2**40), (2**20, -1), Shape(2**20, 2**60)),
    ],
)
def test_modes_come_loose_or_as_one_sequence(shape, extents, expected):
    assert (
        shape.reshape(*extents)
        == shape.reshape(list(extents))
        == shape.reshape(np.array(extents, int))
        == expected
    )
    turned = range(expected.rank)[::-1]
    assert expected.permute(*turned) == expected.permute(turned) == expected.permute(np.array(turned, int))
    first = expected.origin[:1]
    if all(expected.extents[:1]):
        assert expected.chip(*first) == expected.chip(first) == expected.chip(np.array(first, int))


@pytest.mark.parametrize(
    ("shape", "extents", "expected"),
    [
        (Shape(4, 6), (24,), Shape(24)),
        (Shape(4, 6), (2, -1), Shape(2, 12)),
        (Shape(4, 6), [-1], Shape(24)),
        (Shape(4, 6, origin=(7, 7)), (2, 3, 4), Shape(2, 3, 4)),
        (Shape(), (1, 1), Shape(1, 1)),
        (Shape(), (-1,), Shape(1)),
        (Shape(1, 1), (), Shape()),
        (Shape(0, 3), (5, 0), Shape(5, 0)),
        (Shape(0, 3), (-1, 3), Shape(0, 3)),
        (Shape(0), (-1,), Shape(0)),
        (Shape(2**40, 2**40), (2**20, -1), Shape(2**20, 2**60)),
    ],
)
def test_reshapes(shape, extents, expected):
    assert shape.reshape(extents) == expected
    assert shape.reshape(iter(extents)) == expected
    at = (3,) * expected.rank
    assert shape.reshape(extents, origin=at) == expected.translate_to(at)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: Shape(4, 6).reshape((5, 5)), ExtentError, r"24 elements .*\(5, 5\), which has 25"),
        (lambda: Shape(4, 6).reshape(()), ExtentError, r"24 elements .*\(\), which has 1"),
        (lambda: Shape(4, 6).reshape((5, -1)), ExtentError, r"24 elements .*\(5, -1\): the others make 5"),
        (lambda: Shape(4, 6).reshape((0, -1)), ExtentError, "24 elements .*the others make 0"),
        (lambda: Shape(0, 3).reshape((0, -1)), ExtentError, "0 elements .*the others make 0"),
        (lambda: Shape(4, 6).reshape((-1, -1)), ExtentError, "one extent .*not 2"),
        (lambda: Shape(4, 6).reshape((-2, -12)), ExtentError, "-2 for mode 0"),
        (lambda: Shape(4, 6).reshape(24.0), ConversionError, r"not 24\.0"),
        (lambda: Shape(4, 6).reshape((24.0,)), ConversionError, r"24\.0"),
        (lambda: Shape(4, 6).reshape((24,), origin=(1, 2)), RankError, r"\(1, 2\)"),
        (lambda: J.reshape((6,)), JaggedModeError, "as_smooth"),
        (lambda: Shape.nested(Shape(6), layers=(1,)).reshape((2, 3)), LayerError, "flatten"),
    ],
)
def test_reshapes_that_are_refused(call, error, match):
    with pytest.raises(error, match=match) as caught:
        call()
    assert type(caught.value) is error


# NumPy answers the same questions about arrays of ones.

EXTENTS = st.lists(st.integers(0, 4), min_size=1, max_size=3)


@given(EXTENTS, st.lists(st.integers(-1, 6), max_size=4))
def test_reshape_accepts_what_numpy_accepts(extents, wanted):
    try:
        expected = np.ones(extents).reshape(wanted).shape
    except ValueError:
        with pytest.raises(ExtentError):
            Shape.smooth(extents).reshape(wanted)
        return
    assert Shape.smooth(extents).reshape(wanted).extents == expected


@given(smooth_shapes(min_rank=1), st.integers(1, 6), st.data())
def test_sections_are_those_of_array_split(shape, sections, data):
    mode = data.draw(st.integers(0, shape.rank - 1))
    parts = shape.split(sections, mode)
    expected = np.array_split(np.ones(shape.extents), sections, axis=mode)
    assert [part.extents for part in parts] == [part.shape for part in expected]


@given(smooth_shapes(min_rank=1), st.data())
def test_marks_are_those_of_split(shape, data):
    mode = data.draw(st.integers(0, shape.rank - 1))
    places = sorted(data.draw(st.lists(st.integers(0, shape.extents[mode]), max_size=4)))
    parts = shape.split([shape.origin[mode] + place for place in places], mode)
    expected = np.split(np.ones(shape.extents), places, axis=mode)
    assert [part.extents for part in parts] == [part.shape for part in expected]
    assert [i for part in parts for i in part.indices()] == sorted(
        shape.indices(), key=lambda i: sum(i[mode] - shape.origin[mode] >= place for place in places)
    )


# Laws.


@given(shapes(), st.data())
def test_concat_gives_back_what_was_split(shape, data):
    assume(shape.rank)
    mode = data.draw(st.integers(0, shape.rank - 1))
    box = shape.as_smooth()
    low, extent = box.origin[mode], box.extents[mode]
    marks = sorted(data.draw(st.lists(st.integers(low, low + extent), max_size=3)))
    try:
        parts = shape.split(marks, mode)
    except OutOfBoundsError:
        assume(False)
    assert len(parts) == len(marks) + 1
    assert sorted(i for part in parts for i in part.indices()) == list(shape.indices())
    assert all((part.kind, part.layers) == (shape.kind, shape.layers) for part in parts)
    # What is stored behind empty modes is that of the first part.
    assert Shape.concat(parts, mode=mode).is_congruent(shape)
    assert Shape.concat(parts, mode=mode).layers == shape.layers


@given(shapes(), st.integers(1, 4), st.data())
def test_concat_gives_back_even_parts(shape, sections, data):
    assume(shape.rank)
    mode = data.draw(st.integers(0, shape.rank - 1))
    try:
        parts = shape.split(sections, mode)
    except JaggedModeError:
        assert shape.dependencies(mode)
        return
    extents = [part.extent(mode) for part in parts]
    assert max(extents) - min(extents) <= 1
    assert extents == sorted(extents, reverse=True)
    assert Shape.concat(parts, mode=mode).is_congruent(shape)


@given(smooth_shapes(max_rank=3), st.data())
def test_a_reshape_keeps_ordinals(shape, data):
    divisors = [n for n in range(1, shape.size + 1) if shape.size % n == 0] or [0]
    first = data.draw(st.sampled_from(divisors))
    found = shape.reshape((first, -1) if first else (0, 5))
    assert math.prod(found.extents) == found.size == shape.size
    assert np.array_equal(
        np.arange(shape.size).reshape(shape.extents).reshape(found.extents),
        found.ordinals(found.indices().to_numpy()).reshape(found.extents),
    )
