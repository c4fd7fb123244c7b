"""Which labels the terms of a sum share, and which each sums on its own."""

import pytest

from tensorwrapper import Shape
from tensorwrapper.errors import ExtentMismatchError, LabelError

A, B, C = Shape(2, 3), Shape(3, 4), Shape(2, 4)
D, E = Shape(2, 9), Shape(9, 4)
S, V = Shape(), Shape(2)


@pytest.mark.parametrize(
    ("expression", "result", "expected"),
    [
        # A label that a product sums need not be in the other terms, nor have one extent in all.
        (A("i,j") * B("j,k") + C("i,k"), "k,i", (4, 2)),
        (C("i,k") - A("i,j") * B("j,k"), "i,k", (2, 4)),
        (A("i,j") * B("j,k") + D("i,j") * E("j,k"), "i,k", (2, 4)),
        (A("i,j") * B("j,k") + D("i,l") * E("l,k"), "i,k", (2, 4)),
        (A("i,j") * B("j,k") + D("i,j") * E("j,k") + C("i,k"), "k", (4,)),
        # Element-wise products and traces are terms like others.
        (A("i,j") * A("i,j") + A("i,j"), "i,j", (2, 3)),
        (A("i,j") * A("i,j") + V("i"), "i", (2,)),
        (Shape(5, 5)("i,i") + S(""), "", ()),
        (Shape(2, 2)("i,i") + V("i"), "i", (2,)),
        (Shape(5, 5)("i,i") * V("k") + V("k"), "k", (2,)),
        # Sums within products and sums.
        ((A("i,j") + A("i,j")) * B("j,k"), "i,k", (2, 4)),
        (B("j,k") * (A("i,j") - Shape(3, 2)("j,i")), "i,k", (2, 4)),
        ((A("i,j") * B("j,k") + C("i,k")) * Shape(4, 7)("k,j"), "i,j", (2, 7)),
        ((A("i,j") * B("j,k") + C("i,k")) * Shape(4, 7)("k,j") + Shape(2, 7)("i,j"), "i,j", (2, 7)),
        (A("i,j") - (A("i,j") - (A("i,j") + 2 * A("i,j"))), "j,i", (3, 2)),
        (
            ((A("i,j") * B("j,k") + C("i,k")) * E("l,k") + Shape(2, 9)("i,l")) * Shape(8)("j"),
            "j,l",
            (8, 9),
        ),
    ],
    ids=str,
)
def test_each_term_sums_its_own_labels(expression, result, expected):
    assert expression.shape(result) == Shape(*expected)


@pytest.mark.parametrize(
    ("expression", "result", "what"),
    [
        (
            A("i,j") * B("j,k") + Shape(2, 5)("i,k"),
            "i,k",
            "label 'k' has the extent 4 in mode 1 of operand 1",
        ),
        (A("i,j") * B("j,k") + D("i,j") * E("j,k"), "i,j,k", "label 'j' has the extent 3"),
        (A("i,j") * Shape(4, 4)("j,k") + C("i,k"), "i,k", "label 'j' has the extent 3"),
        ((A("i,j") + A("i,j")) * E("j,k"), "i,k", "label 'j' has the extent 3"),
        ((A("i,j") * B("j,k") + D("i,j") * E("j,k")) * Shape(11)("k"), "i", "label 'k' has the extent 4"),
        (A("i,j") + D("i,j"), "i", "label 'j' has the extent 3"),
        # Both terms have a j, so the factor outside means that one.
        ((A("i,j") * B("j,k") + D("i,j") * E("j,k")) * Shape(3)("j"), "i", "label 'j' has the extent 3"),
    ],
    ids=str,
)
def test_labels_that_terms_share_must_agree(expression, result, what):
    with pytest.raises(ExtentMismatchError, match=what):
        expression.shape(result)


@pytest.mark.parametrize(
    ("combine", "what"),
    [
        (lambda: A("i,j") + V("i"), "term 1 of a sum, with the labels 'i', has no label 'j'"),
        (lambda: V("i") + A("i,j"), "term 0 of a sum, with the labels 'i', has no label 'j'"),
        (lambda: A("i,j") - B("j,k"), "no label 'k'"),
        (lambda: A("i,j") + S(""), "no label 'i'"),
        (lambda: A("i,j") * B("j,k") + A("i,j"), "has no label 'k'"),
        (lambda: A("i,j") + A("i,j") + V("i"), "term 2 of a sum, with the labels 'i', has no label 'j'"),
    ],
)
def test_the_terms_of_a_sum_have_the_same_labels(combine, what):
    with pytest.raises(LabelError, match=what):
        combine()


def test_a_label_that_is_not_in_all_terms_is_not_kept():
    total = A("i,j") * B("j,k") + C("i,k")

    assert total.labels == ("i", "k")
    with pytest.raises(LabelError, match="'j' of the result 'j' is none of the labels 'i,k'"):
        total.shape("j")
