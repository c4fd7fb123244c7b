"""Parts of jagged shapes by example: keys, slices, chips, permutations, and their refusals."""

import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, OutOfBoundsError, RankError
from tensorwrapper.shape import Jagged, JaggedView, Shape, Tiling, as_shape

J = Shape.jagged([3, 1, 2])


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (2, Shape(2)),
        (slice(0, 2), Shape.jagged([3, 1])),
        (slice(1, 3), Shape.jagged([1, 2], origin=(1, 0))),
        (slice(1, 1), Shape.jagged([], rank=2, origin=(1, 0))),
        (slice(3, 3), Shape.jagged([], rank=2, origin=(3, 0))),
        ((slice(None), slice(0, 1)), Shape.jagged([1, 1, 1])),
        ((slice(None), slice(1, None)), Shape.jagged([2, 0, 1], origin=(0, 1))),
        ((slice(None), slice(None, 1)), Shape.jagged([1, 1, 1])),
        ((slice(0, 1), slice(2, 3)), Shape.jagged([1], origin=(0, 2))),
        ((slice(None), 0), Shape(3)),
        ((slice(2, 3), 1), Shape(1, origin=(2,))),
        ((2, slice(1, 2)), Shape(1, origin=(1,))),
        ((2, 1), Shape()),
        (..., J),
        ((), J),
    ],
)
def test_keys(key, expected):
    for shape in (J, J[:], as_shape(Jagged(J.implementation.rows)), Shape.jagged([[9], [3, 1, 2]])[1]):
        assert shape[key] == expected


@pytest.mark.parametrize(
    ("rows", "first", "last", "expected"),
    [
        ([10, 20], (0, 0), (1, 10), Shape.jagged([10])),
        ([10, 20], (0, 2), (1, 8), Shape.jagged([6], origin=(0, 2))),
        ([10, 20], (1, 4), (2, 9), Shape.jagged([5], origin=(1, 4))),
        ([10, 20], (0, 3), (2, 3), Shape.jagged([0, 0], origin=(0, 3))),
    ],
)
def test_slices_keep_the_rank(rows, first, last, expected):
    assert Shape.jagged(rows).slice(first, last) == expected


@pytest.mark.parametrize(
    ("key", "error", "match"),
    [
        (3, OutOfBoundsError, r"index 3 is outside \[0, 3\) of mode 0"),
        (-1, OutOfBoundsError, "index -1"),
        ((0, 3), OutOfBoundsError, r"index 3 is outside \[0, 3\)"),
        (slice(0, 4), OutOfBoundsError, r"\[0, 4\) is outside \[0, 3\) of mode 0"),
        (slice(2, 1), OutOfBoundsError, r"\[2, 1\)"),
        ((slice(None), 1), OutOfBoundsError, r"index 1 .*\[0, 1\) of mode 1 under the prefix \(1,\)"),
        ((slice(None), slice(0, 2)), OutOfBoundsError, r"\[0, 2\) .*under the prefix \(1,\).*clip"),
        ((slice(None), slice(2, None)), OutOfBoundsError, r"\[2, 1\) .*prefix \(1,\)"),
        ((slice(None), slice(0, 2**70)), OutOfBoundsError, str(2**70)),
        ((slice(None), slice(-(2**70), None)), OutOfBoundsError, str(-(2**70))),
        ((slice(None), 2**70), OutOfBoundsError, str(2**70)),
        ((slice(0, 0), slice(2, 1)), OutOfBoundsError, r"\[2, 1\) of mode 1 is reversed"),
        ((0, 0, 0), RankError, "3 indices"),
        (True, ConversionError, "True"),
        ((slice(None), [0]), ConversionError, "Mask"),
        (slice(None, None, 2), ValueError, "step 2"),
    ],
)
def test_keys_that_are_refused(key, error, match):
    for shape in (J, J[:]):
        with pytest.raises(error, match=match):
            shape[key]


def test_an_error_names_the_prefix_through_pins_and_levels():
    shape = Shape.jagged([[2, 3], [4, 1]], origin=(7, 5, 0))
    with pytest.raises(OutOfBoundsError, match=r"mode 2 under the prefix \(8, 6\)"):
        shape[:, :, 0:2]
    with pytest.raises(OutOfBoundsError, match=r"mode 2 under the prefix \(8, 6\)"):
        shape[8:9, 6, 1:2]
    with pytest.raises(OutOfBoundsError, match=r"mode 2 under the prefix \(8, 6\)"):
        shape[8, :, 1]


def test_clip_cuts_each_row_short():
    assert J.slice((-5, 1), (9, 2**70), clip=True) == Shape.jagged(
        [Shape(2, origin=(1,)), Shape(0, origin=(1,)), Shape(1, origin=(1,))]
    )
    assert J.slice((0, 2), (3, 3), clip=True).size == 1
    with pytest.raises(OutOfBoundsError, match=r"\[2, 1\)"):
        J.slice((0, 2), (3, 1), clip=True)


def test_a_slice_of_rows_is_a_view_and_its_copy_is_not():
    view = J[1:]
    assert type(view.implementation) is JaggedView
    assert type(view.copy().implementation) is Jagged
    assert view.copy() == view
    assert J.copy() is J


@pytest.mark.parametrize(
    ("shape", "order", "expected"),
    [
        (Shape.jagged([Shape(1, 2), Shape(3, 4)]), (0, 2, 1), Shape.jagged([Shape(2, 1), Shape(4, 3)])),
        (
            Shape.from_cells((2, 2), [(5,), (6,), (5,), (6,)]),
            (1, 2, 0),
            Shape.jagged([Shape(5, 2), Shape(6, 2)]),
        ),
        (Shape.tiled([1, 2], [3, 4]), (1, 0, 3, 2), Shape.tiled([3, 4], [1, 2])),
    ],
)
def test_permutations(shape, order, expected):
    assert shape.permute(order) == expected
    back = [order.index(m) for m in range(shape.rank)]
    assert shape.permute(order).permute(back) == shape


def test_two_transpositions_give_the_shape_back():
    shape = Shape.from_cells((2, 2), [(5, 1), (6, 1), (5, 2), (6, 2)])
    for order in [(1, 0, 2, 3), (0, 1, 3, 2), (1, 0, 3, 2)]:
        assert shape.permute(order).permute(order) == shape


@pytest.mark.parametrize(
    "shape",
    [
        Shape(3, 4, 2, origin=(5, -1, 0)),
        Shape.jagged([[2, 1], [3]], origin=(2, 0, 4)),
        Shape.from_cells((2,), [(2, 3), (1, 0)]),
        Shape.triangular(4, "upper"),
        Tiling([2, 3], [1, 4]).shape,
        Shape.nested(Shape.jagged([[2, 1], [3]]), layers=(1, 2)),
        Shape(2, 3).named("x", "y"),
    ],
    ids=str,
)
def test_leading_integers_keep_their_modes(shape):
    assert shape.slice() == shape.slice(()) == shape
    for index in [*shape.indices()][::3]:
        for count in range(1, shape.rank + 1):
            leading = index[:count]
            expected = shape[tuple([slice(i, i + 1) for i in leading])]
            for part in (shape.slice(*leading), shape.slice(leading), shape.slice(np.array(leading))):
                assert (part, part.names) == (expected, shape.names)
            assert part.size == shape.chip(*leading).size


def test_leading_integers_that_are_refused():
    assert J.slice(7, clip=True) == J[3:3]
    assert J.slice(np.int64(1)) == J[1:2]
    with pytest.raises(OutOfBoundsError, match=r"\[3, 4\) is outside \[0, 3\) of mode 0"):
        J.slice(3)
    with pytest.raises(RankError, match="3 indices are too many"):
        J.slice(0, 0, 0)
    for given in [((0, 0), 1), (0, (1, 1)), (True,), (1.0,)]:
        with pytest.raises(ConversionError):
            J.slice(*given)
