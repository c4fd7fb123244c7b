"""Dividing by a labelled shape: the shape of multiplying by it, and an expression of its own."""

import pickle

import pytest

from tensorwrapper import Shape
from tensorwrapper.errors import ExtentMismatchError

A, B, C = Shape(2, 3)("i,j"), Shape(2, 3)("i,j"), Shape(3, 4)("j,k")


def test_element_by_element():
    assert (A / B).shape("j,i") == Shape(3, 2)


def test_what_is_divided_by_is_compared_label_by_label():
    with pytest.raises(ExtentMismatchError, match="'j'"):
        (A / Shape(2, 4)("i,j")).shape("i,j")


def test_summed_and_outer_labels():
    assert (A / C).shape("i,k") == Shape(2, 4)
    assert (A / C).shape("i,j,k") == Shape(2, 3, 4)


def test_jagged_rows():
    rows = Shape.jagged([1, 3])
    assert (rows("i,j") / Shape(2)("i")).shape("i,j") == rows


def test_quotients_and_products_mix_from_the_left():
    assert (A / B * C).shape("i,k") == (A * C / B).shape("i,k") == Shape(2, 4)
    assert (A / (B * C)).shape("i,k") == Shape(2, 4)
    assert (A / B + A).shape("i,j") == Shape(2, 3)


@pytest.mark.parametrize("expression", [A / B, A / B * C, A / (B * C), A * C / B, (A + B) / C, A / 2 / B])
def test_the_text_is_the_expression(expression):
    assert eval(repr(expression), {"Shape": Shape}) == expression
    assert pickle.loads(pickle.dumps(expression)) == expression
    assert hash(pickle.loads(pickle.dumps(expression))) == hash(expression)


def test_a_quotient_is_no_product():
    assert A / B != A * B
    assert A * B == A * B
    assert (A * B) * C == A * (B * C)
