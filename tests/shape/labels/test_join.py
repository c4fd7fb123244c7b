"""Labelled jagged, tiled and triangular shapes: what is a shape, and what is refused."""

import sys

import numpy as np
import pytest
from hypothesis import given

from tensorwrapper import Shape
from tensorwrapper.errors import ExtentMismatchError, JaggedModeError, SizeOverflowError
from tensorwrapper.shape import Tiled, Triangular
from tensorwrapper.testing import shapes

J = Shape.jagged([10, 20])
K = Shape.jagged([[10], [20, 30]])
T = Shape.tiled([5, 15, 10], [5, 15, 10])
U = Shape.tiled([5, 15, 10], [2, 3])


@pytest.mark.parametrize(
    ("expression", "result", "expected"),
    [
        (J("i,j") + J("i,j"), "i,j", J),
        (J("i,j") - J[:, :]("i,j"), "i,j", J),
        (J("i,j") * J("i,k"), "i,j,k", Shape.jagged([Shape(10, 10), Shape(20, 20)])),
        (J("i,j") * J("i,k"), "i,k", J),
        (J("i,j") * J("i,j"), "i", Shape(2)),
        (J("i,j") * J("i,j"), "", Shape()),
        (J("i,j") * Shape(2)("i"), "i,j", J),
        (Shape(2)("i") * J("i,j"), "i,j", J),
        (J("i,j") * Shape(3)("k"), "i,k,j", Shape.jagged([Shape(3, 10), Shape(3, 20)])),
        (J("i,j") * Shape(3)("k"), "i,j,k", Shape.jagged([Shape(10, 3), Shape(20, 3)])),
        (J("i,j") * Shape(3)("k"), "k,i,j", Shape.jagged([[10, 20]] * 3)),
        (J("i,j") * J("k,l"), "i,j,k,l", Shape.jagged([[[10, 20]] * 10, [[10, 20]] * 20])),
        (J("i,j") * J("k,l"), "k,i", Shape(2, 2)),
        (K("i,j,k"), "i,j", Shape.jagged([1, 2])),
        (K("i,j,k") * Shape.jagged([1, 2])("i,j"), "i,j,k", K),
        (K("i,j,k") * Shape.jagged([1, 2])("i,l"), "i,j,l", Shape.jagged([Shape(1, 1), Shape(2, 2)])),
        (
            K("i,j,k") * Shape.jagged([1, 2])("i,l"),
            "i,l,j,k",
            Shape.jagged([[[10]], [[20, 30], [20, 30]]]),
        ),
        (Shape.jagged([3, 3])("i,j"), "j,i", Shape.jagged([2, 2, 2])),
        (Shape.jagged([2, 2])("i,i"), "i", Shape(2)),
        (Shape.jagged([2, 2])("i,j"), "j", Shape(2)),
        (J[1:]("i,j") * Shape(1, origin=(1,))("i"), "i,j", J[1:]),
        (T("a,b,i,j"), "a,b", Shape(3, 3)),
        (T("a,b,i,j"), "b,a,j,i", T),
        (T("a,b,i,j") * U("b,c,j,k"), "a,c,i,k", U),
        (T("a,b,i,j") * Shape(3)("a"), "a,i", Shape.jagged([5, 15, 10])),
        (T("a,b,i,j") * T("b,a,j,i"), "a,b,i,j", T),
        (T("a,a,i,j"), "a,i,j", Shape.jagged([Shape(5, 5), Shape(15, 15), Shape(10, 10)])),
        (T("a,a,i,i"), "a,i", Shape.jagged([5, 15, 10])),
        (T("a,a,i,i"), "", Shape()),
        (Shape.tiled([2, 2], [3, 3])("a,b,i,j"), "i,j", Shape.jagged([3, 3])),
        (Shape.triangular(4)("i,j"), "i", Shape(4)),
        (Shape.triangular(2)("i,j") * Shape(2, 3)("i,k"), "i,j,k", Shape.jagged([Shape(1, 3), Shape(2, 3)])),
        (
            Shape.triangular(3, "upper")("i,j") * Shape.triangular(3, "upper")("i,k"),
            "i,k",
            Shape.triangular(3, "upper"),
        ),
    ],
    ids=str,
)
def test_the_shape_of_the_result(expression, result, expected):
    assert expression.shape(result) == expected


@pytest.mark.parametrize(
    ("expression", "result", "what"),
    [
        (J("i,j") + J("i,j"), "j,i", "depends on 'i', but in the result 'j,i' 'i' comes after it"),
        (
            J("i,j") + J("i,j"),
            "j",
            "the range of label 'j' depends on 'i', but in the result 'j' 'i' is summed",
        ),
        (K("i,j,k"), "i,k", "label 'k' depends on 'i', 'j', but in the result 'i,k' 'j' is summed"),
        (K("i,j,k"), "j,k", "label 'j' depends on 'i'"),
        (T("a,b,i,j"), "i,a", "label 'i' depends on 'a', but in the result 'i,a' 'a' comes after it"),
        (Shape.triangular(4)("i,j"), "j,i", "label 'j' depends on 'i'"),
        (
            J("i,j") * J("i,k") + 2 * J("i,l") * J("i,l") * J("i,j") * J("i,k"),
            "k,j",
            "label 'j' depends on 'i', which is summed within a term",
        ),
    ],
)
def test_a_label_follows_what_it_depends_on(expression, result, what):
    with pytest.raises(JaggedModeError, match=what):
        expression.shape(result)


@pytest.mark.parametrize(
    ("expression", "result", "what"),
    [
        (
            J("i,j") * J("j,k"),
            "i,k",
            (
                "label 'j' has the extent 10 in mode 1 of operand 0 'i,j', but 2 in mode 0 of operand "
                "1 'j,k' at i = 0"
            ),
        ),
        (
            J("i,j") * J("k,j"),
            "i,k",
            (
                "label 'j' has 10 to 20 indices, which depend on 'i', in mode 1 of operand 0 'i,j', but 10 "
                "to 20 indices, which depend on 'k', in mode 1 of operand 1 'k,j'"
            ),
        ),
        (
            J("i,j") * Shape(2, 10)("i,j"),
            "i",
            (
                "label 'j' has the extent 20 in mode 1 of operand 0 'i,j', but 10 in mode 1 of operand "
                "1 'i,j' at i = 1"
            ),
        ),
        (
            Shape(2, 10)("i,j") * J("i,j"),
            "i",
            (
                "label 'j' has the extent 10 in mode 1 of operand 0 'i,j', but 20 in mode 1 of operand "
                "1 'i,j' at i = 1"
            ),
        ),
        (
            J("i,j") + Shape.jagged([10, 21])("i,j"),
            "i",
            (
                "label 'j' has the extent 20 in mode 1 of operand 0 'i,j', but 21 in mode 1 of operand "
                "1 'i,j' at i = 1"
            ),
        ),
        (
            K("i,j,k") * Shape.jagged([[10], [20, 31]])("i,j,k"),
            "",
            (
                "label 'k' has the extent 30 in mode 2 of operand 0 'i,j,k', but 31 in mode 2 of operand 1 "
                "'i,j,k' at i = 1, j = 1"
            ),
        ),
        (
            J("i,j") * Shape.jagged([10, 20], origin=(0, 4))("i,j"),
            "i",
            (
                "label 'j' has the origin 0 in mode 1 of operand 0 'i,j', but 4 in mode 1 of operand 1 'i,j' "
                "at i = 0; translate_to moves a shape"
            ),
        ),
        (Shape.triangular(4)("i,i"), "i", "has the extent 4 in mode 0 of operand 0 'i,i', but 1 in mode 1"),
        (T("a,b,i,i"), "a", "which depend on 'a', in mode 2 of operand 0"),
        (T("a,b,i,j") * T("b,c,k,j"), "a", "depend on 'b', in mode 3 of operand 0 'a,b,i,j', but"),
    ],
)
def test_labels_that_disagree_anywhere_say_where(expression, result, what):
    with pytest.raises(ExtentMismatchError) as caught:
        expression.shape(result)

    assert what in str(caught.value)


# What the result is stored as.


def test_a_product_of_tilings_stays_one():
    product = (T("a,b,i,j") * U("b,c,j,k")).shape("a,c,i,k")

    assert isinstance(product.implementation, Tiled)


def test_tilings_are_not_unfolded():
    # 10^12 tiles would not fit.
    n = 10**6
    left = Shape.tiled(np.arange(n) % 3 + 1, np.arange(n) % 2 + 1)
    right = Shape.tiled(np.arange(n) % 2 + 1, np.arange(n) % 5 + 1)

    product = (left("a,b,i,j") * right("b,c,j,k")).shape("c,a,k,i")

    assert product.extent_at((4, 2)) == 5
    assert product.size == (np.arange(n) % 3 + 1).sum() * (np.arange(n) % 5 + 1).sum()


def test_a_triangle_of_any_size_is_kept():
    huge = Shape.triangular(10**12)
    total = huge("i,j") + Shape.triangular(10**12)("i,j")

    assert isinstance(total.shape("i,j").implementation, Triangular)
    assert total.shape("i") == Shape(10**12)


def test_what_keeps_the_leading_modes_is_a_view():
    rows = Shape.jagged([3, 1, 2])

    assert rows("i,j").shape("i,j").implementation is rows.implementation
    assert (rows("i,j") * Shape(3)("i")).shape("i,j").implementation is rows.implementation
    assert (
        K("i,j,k").shape("i,j").implementation.rows.columns.splits
        == K.leading(2).implementation.rows.columns.splits
    )


def test_rows_that_are_all_alike_stay_jagged_if_two_modes_are_kept():
    alike = Shape.jagged([[2, 2], [2, 2]])

    assert alike("i,j,k").shape("i,j") == Shape.jagged([2, 2])
    assert alike("i,j,k").shape("k,j") == Shape.jagged([2, 2])
    assert alike("i,j,k").shape("j") == Shape(2)
    assert (alike("i,j,k") * alike("l,m,k")).shape("i,l") == Shape(2, 2)


@given(shapes(["jagged"]))
def test_the_first_labels_are_the_leading_modes(shape):
    names = "ijklm"[: shape.rank]

    for count in range(shape.rank + 1):
        assert shape(",".join(names)).shape(",".join(names[:count])) == shape.leading(count)


# Size.


def lines_run(function, *args):
    """Return how many lines of Python a call runs."""
    count = 0

    def trace(_frame, event, _arg):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*args)
    finally:
        sys.settrace(before)
    return count


def combined(lengths):
    rows, same = Shape.jagged(lengths), Shape.jagged(lengths.copy())
    product = rows("i,j") * same("i,k") * Shape(len(lengths), 2)("i,l")
    return product.shape("i,j,k"), (rows("i,j") + same("i,j")).shape("i,j"), product.shape("l,i,k")


def test_no_row_takes_a_step_of_python():
    few, many = np.arange(1000) % 7, np.arange(100_000) % 7
    combined(few)  # what is parsed and loaded once

    # A few more where long arrays are compared in chunks.
    # A window of 2^16 rows takes some lines.
    assert lines_run(combined, many) < lines_run(combined, few) + 1000


def test_millions_of_rows():
    n = 1_000_000
    cells, total, repeated = combined(np.arange(n) % 7)

    assert cells.extent_at((n - 2, 0)) == 6
    assert cells.size == ((np.arange(n) % 7) ** 2).sum()
    assert total == Shape.jagged(np.arange(n) % 7)
    assert repeated.size == 2 * total.size


def test_more_rows_than_fit_are_refused_before_they_are_made():
    with pytest.raises(SizeOverflowError):
        (J("i,j") * Shape(2**62)("k")).shape("k,i,j")
    with pytest.raises(SizeOverflowError):
        (J("i,j") * Shape(2**70)("k")).shape("i,j,k")
