"""Labelled boxes: every row of the reference's tables, and what it should have refused."""

import copy
import operator
import pickle
from fractions import Fraction

import numpy as np
import pytest

from tensorwrapper import Shape
from tensorwrapper.errors import ExtentMismatchError, LabelError, LayerError, RankError

SCALAR, VECTOR, PAIR, MATRIX, CUBE = Shape(), Shape(1), Shape(2), Shape(2, 3), Shape(3, 4, 5)
A = Shape(10, 20, 30)
F = Shape(5, 6)


@pytest.mark.parametrize(
    ("result", "left", "right", "expected"),
    [
        ("", SCALAR(""), SCALAR(""), ()),
        ("i", SCALAR(""), VECTOR("i"), (1,)),
        ("i", VECTOR("i"), SCALAR(""), (1,)),
        ("", VECTOR("i"), SCALAR(""), ()),
        ("i,j", SCALAR(""), MATRIX("i,j"), (2, 3)),
        ("i,j", MATRIX("i,j"), SCALAR(""), (2, 3)),
        ("j,i", SCALAR(""), MATRIX("i,j"), (3, 2)),
        ("j,i", MATRIX("i,j"), SCALAR(""), (3, 2)),
        ("i", SCALAR(""), MATRIX("i,j"), (2,)),
        ("j", MATRIX("i,j"), SCALAR(""), (3,)),
        ("", MATRIX("i,j"), SCALAR(""), ()),
        ("i", VECTOR("i"), VECTOR("i"), (1,)),
        ("i,j", VECTOR("i"), VECTOR("j"), (1, 1)),
        ("", VECTOR("i"), VECTOR("i"), ()),
        ("i,j,k", PAIR("k"), MATRIX("i,j"), (2, 3, 2)),
        ("i,j", PAIR("i"), MATRIX("i,j"), (2, 3)),
        ("j,i", MATRIX("i,j"), PAIR("i"), (3, 2)),
        ("i", PAIR("i"), MATRIX("i,j"), (2,)),
        ("j", MATRIX("i,j"), PAIR("i"), (3,)),
        ("", MATRIX("i,j"), PAIR("i"), ()),
        ("i,j,k,l", MATRIX("k,l"), MATRIX("i,j"), (2, 3, 2, 3)),
        ("i,j,k", MATRIX("k,l"), MATRIX("i,j"), (2, 3, 2)),
        ("i,j,l", MATRIX("k,l"), MATRIX("i,j"), (2, 3, 3)),
        ("i,k,l", MATRIX("k,l"), MATRIX("i,j"), (2, 2, 3)),
        ("j,k,l", MATRIX("k,l"), MATRIX("i,j"), (3, 2, 3)),
        ("j,k", MATRIX("i,k"), MATRIX("i,j"), (3, 3)),
        ("i,k", A("i,j,k"), A("i,j,k"), (10, 30)),
        ("i,j,k,l", A("i,j,k"), A("i,j,l"), (10, 20, 30, 30)),
        ("m,n", MATRIX("l,s"), Shape(7, 8, 3, 2)("m,n,s,l"), (7, 8)),
    ],
)
def test_a_product_has_the_extent_of_every_label(result, left, right, expected):
    product = left * right

    assert product.shape(result) == Shape(*expected)
    assert (right * left).shape(result) == product.shape(result)


@pytest.mark.parametrize("combine", [operator.add, operator.sub])
@pytest.mark.parametrize(
    ("result", "left", "right", "expected"),
    [
        ("i,j", MATRIX("i,j"), MATRIX("i,j"), (2, 3)),
        ("i,j,k", A("i,j,k"), A("i,j,k"), (10, 20, 30)),
        ("j,i,k", A("i,j,k"), A("i,j,k"), (20, 10, 30)),
        ("i,j", MATRIX("i,j"), Shape(3, 2)("j,i"), (2, 3)),
        ("", SCALAR(""), SCALAR(""), ()),
        ("j", MATRIX("i,j"), MATRIX("i,j"), (3,)),
    ],
)
def test_a_sum_has_the_shape_of_its_terms(combine, result, left, right, expected):
    assert combine(left, right).shape(result) == Shape(*expected)


@pytest.mark.parametrize(
    ("shape", "labels", "result", "expected"),
    [
        (SCALAR, "", "", ()),
        (VECTOR, "i", "i", (1,)),
        (MATRIX, "i,j", "i,j", (2, 3)),
        (CUBE, "i,j,k", "i,j,k", (3, 4, 5)),
        (MATRIX, "i,j", "j,i", (3, 2)),
        (CUBE, "i,j,k", "k,j,i", (5, 4, 3)),
        (VECTOR, "i", "", ()),
        (Shape(4), "i", "", ()),
        (F, "i,j", "j", (6,)),
        (Shape(7, 5, 4), "i,j,k", "j,k", (5, 4)),
        (Shape(4, 4, 2), "i,i,j", "i,j", (4, 2)),
        (Shape(4, 4, 2), "i,i,j", "j", (2,)),
        (Shape(4, 4), "i,i", "", ()),
        (Shape(3, 0), "i,j", "i", (3,)),
    ],
)
def test_one_operand_is_permuted_summed_traced_or_its_diagonal(shape, labels, result, expected):
    assert shape(labels).shape(result) == Shape(*expected)


def test_more_than_two_factors_make_one_product():
    chain = Shape(2, 3)("i,j") * Shape(3, 4)("j,k") * (Shape(4, 5)("k,l") * Shape(5)("l"))

    assert chain.shape("l,i") == Shape(5, 2)
    assert len(chain.factors) == 4
    assert chain.labels == ("i", "j", "k", "l")


@pytest.mark.parametrize(
    "expression",
    [
        2 * MATRIX("i,j"),
        MATRIX("i,j") * 2,
        MATRIX("i,j") / 3,
        1.5 * MATRIX("i,j"),
        MATRIX("i,j") * 2j,
        np.float32(2) * MATRIX("i,j"),
        np.int64(2) * MATRIX("i,j"),
        MATRIX("i,j") * np.complex64(2),
        MATRIX("i,j") / np.float64(2),
        Fraction(1, 2) * MATRIX("i,j"),
        2 * (3 * MATRIX("i,j")) / 4,
        2 * (MATRIX("i,j") + MATRIX("i,j")),
        -MATRIX("i,j"),
    ],
    ids=repr,
)
def test_a_number_does_not_change_the_shape(expression):
    assert expression.shape("j,i") == Shape(3, 2)


def test_what_is_no_number_is_not_multiplied():
    for wrong in ["2", None, True, [1, 2], np.ones(3), MATRIX, (2, 3)]:
        for combine in (operator.mul, operator.truediv, operator.add, operator.sub):
            with pytest.raises(TypeError):
                combine(MATRIX("i,j"), wrong)
            with pytest.raises(TypeError):
                combine(wrong, MATRIX("i,j"))
    for wrong in (
        lambda: MATRIX("i,j") / "i,j",
        lambda: 2 / MATRIX("i,j"),
        lambda: 2 + MATRIX("i,j"),
    ):
        with pytest.raises(TypeError):
            wrong()


# Agreement.


def test_extents_that_disagree_name_the_label_and_both():
    with pytest.raises(ExtentMismatchError) as caught:
        (A("j,i,k") * A("i,j,k")).shape("i,k")

    assert str(caught.value) == (
        "label 'j' has the extent 10 in mode 0 of operand 0 'j,i,k', but 20 in mode 1 of operand 1 'i,j,k'"
    )


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        (Shape(5, 6)("i,j") * Shape(7, 5, 4)("j,k,l"), "i,j,l"),
        (Shape(5, 6)("i,j") * Shape(7, 5)("j,k"), "i,k"),
        (Shape(2, 3)("i,j") + Shape(2, 4)("i,j"), "i,j"),
        (Shape(2, 3)("i,j") - Shape(2, 4)("i,j"), "i"),
        (Shape(2, 3)("i,j") + Shape(2, 3)("j,i"), "i,j"),
        (Shape(2, 3)("i,i"), ""),
        (Shape(2, 3)("i,i"), "i"),
        (Shape(1, 3)("i,j") * Shape(2, 3)("i,j"), "i,j"),
        (Shape(2)("i") * Shape(3)("j") * Shape(3)("i"), "j"),
    ],
    ids=repr,
)
def test_every_mode_of_a_label_has_one_extent(expression, result):
    with pytest.raises(ExtentMismatchError, match=r"label '[ij]'"):
        expression.shape(result)


def test_indices_are_literal_so_origins_must_agree_too():
    rows = Shape(4, 5)[1:3]

    assert rows("i,j").shape("j,i") == Shape(5, 2, origin=(0, 1))
    assert (rows("i,j") * Shape(2, origin=(1,))("i")).shape("i") == Shape(2, origin=(1,))
    with pytest.raises(ExtentMismatchError) as caught:
        (rows("i,j") * Shape(2)("i")).shape("j")
    assert str(caught.value) == (
        "label 'i' has the origin 1 in mode 0 of operand 0 'i,j', but 0 in mode 0 of operand 1 'i'; "
        "translate_to moves a shape"
    )
    assert (rows.translate_to((0, 0))("i,j") * Shape(2)("i")).shape("j") == Shape(5)


def test_extents_may_be_of_any_size():
    huge = Shape(2**70, 3, origin=(-(2**80), 0))

    assert (huge("i,j") * huge("i,k")).shape("j,k,i") == Shape(3, 3, 2**70, origin=(0, 0, -(2**80)))


# Labels that do not fit.


@pytest.mark.parametrize(
    ("shape", "labels", "count"),
    [
        (MATRIX, "i", "1 label, 'i', is given for 2 modes"),
        (SCALAR, "i", "1 label, 'i', is given for 0 modes"),
        (MATRIX, "", "0 labels"),
    ],
)
def test_a_shape_has_one_label_per_mode(shape, labels, count):
    with pytest.raises(RankError, match=count):
        shape(labels)


def test_thousands_of_labels_for_two_modes_are_counted():
    with pytest.raises(RankError, match=r"10000 labels, .{62}, are"):
        MATRIX(",".join(f"i{k}" for k in range(10_000)))


@pytest.mark.parametrize(
    ("expression", "result", "what"),
    [
        (SCALAR(""), "i", "'i' of the result 'i' is none of the labels ''"),
        (Shape(4)("j"), "i", "none of the labels 'j'"),
        (Shape(4)("j") * F("k,l"), "i", "none of the labels 'j,k,l'"),
        (F("k,l"), "i,j", "'i' of the result 'i,j'"),
        (F("i,j"), "i,i", "'i' is repeated in the result 'i,i'"),
        (F("i,j") + F("i,j"), "k", "none of the labels 'i,j'"),
    ],
)
def test_a_result_has_labels_of_operands_each_once(expression, result, what):
    with pytest.raises(LabelError, match=what):
        expression.shape(result)


def test_a_box_has_no_layers_to_name():
    with pytest.raises(LayerError, match=r"layers of \(1, 1\) modes, but the smooth shape has \(2,\)"):
        MATRIX("i;j")


# As values.


EXPRESSIONS = [
    MATRIX("i,j"),
    2 * MATRIX("i,j"),
    MATRIX("i,j") / 2.5,
    MATRIX("i,j") * CUBE("j,k,l") * VECTOR("m"),
    MATRIX("i,j") - MATRIX("i,j") + 2 * MATRIX("i,j"),
    (MATRIX("i,j") - (MATRIX("i,j") + MATRIX("i,j"))) * CUBE("j,k,l"),
    2 * (MATRIX("i,j") * Shape(3)("j")) / 3,
    Shape.jagged([3, 1])("i,j") * Shape(2, origin=(0,))("i"),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=repr)
def test_an_expression_is_a_value(expression):
    for back in (pickle.loads(pickle.dumps(expression)), copy.deepcopy(expression), eval(repr(expression))):
        assert back == expression
        assert hash(back) == hash(expression)
        assert repr(back) == repr(expression)
    assert [other == expression for other in EXPRESSIONS].count(True) == 1


def test_expressions_are_equal_if_they_are_written_alike():
    assert MATRIX("i,j") == MATRIX(" i, j")
    assert MATRIX("i,j") != MATRIX("j,i")
    assert MATRIX("i,j") * PAIR("i") != PAIR("i") * MATRIX("i,j")
    assert MATRIX("i,j") + MATRIX("i,j") != MATRIX("i,j") - MATRIX("i,j")


def test_the_text_has_parentheses_where_they_count():
    a, b = Shape(2)("i"), Shape(2)("j")
    texts = {
        a - (a + a): "Shape(2)('i') - (Shape(2)('i') + Shape(2)('i'))",
        (a + a) * b: "(Shape(2)('i') + Shape(2)('i')) * Shape(2)('j')",
        a * b / 2: "(Shape(2)('i') * Shape(2)('j')) / 2",
        2 * a * b: "(2 * Shape(2)('i')) * Shape(2)('j')",
    }
    for expression, text in texts.items():
        assert repr(expression) == text
