"""Tests of pictures of labelled shapes: rows are operands, columns are labels."""

import pytest

from tensorwrapper import Shape
from tensorwrapper.shape.pictures._labels import LabeledOperand
from tests.support.pictures import Picture

A, B, C = Shape(10, 20), Shape(20, 30), Shape(10, 30)
ROWS = Shape.jagged([3, 1])


def test_every_operand_has_a_row_and_every_label_a_column():
    found = Picture((A("i,j") * B("j,k") - 2 * C("i,k")).to_svg())
    (plane,), parts = found.boxes("plane"), found.boxes("part")

    assert [text for text in found.texts if text in "ijk"] == ["i", "j", "k"]
    assert {"(10, 20)", "* (20, 30)", "- (10, 30)"} <= set(found.texts)
    assert sum(box.area for box in parts) / plane.area == pytest.approx(6 / 9, abs=0.01)
    assert sorted(text for text in found.texts if text.isdigit()) == ["10", "10", "20", "20", "30", "30"]


@pytest.mark.parametrize(
    ("expression", "signs"),
    [
        (lambda: A("i,j"), [""]),
        (lambda: A("i,j") / B("j,k") * C("i,k"), ["", "/", "*"]),
        (lambda: (A("i,j") + A("i,j")) * B("j,k"), ["", "+", "*"]),
        (lambda: C("i,k") - A("i,j") * B("j,k") * 3, ["", "-", "*"]),
        (lambda: -A("i,j"), [""]),
    ],
)
def test_operands_have_the_signs_with_which_they_are_written(expression, signs):
    assert [sign for sign, _ in expression()._signed()] == signs


def test_an_operand_says_how_far_a_label_goes_in_each_of_its_modes():
    operand = LabeledOperand("*", ROWS.implementation, ("event", "hit"))

    assert (operand.extents("event"), operand.extents("hit"), operand.extents("x")) == ("2", "1 to 3", "")
    assert LabeledOperand("", A.implementation, ("i", "i")).extents("i") == "10, 20"


@pytest.mark.parametrize(
    "expression",
    [
        Shape()(""),
        Shape()("") * A("i,j"),
        ROWS("i,j") * ROWS("i,k"),
        Shape.nested(Shape(2, 3, 4), layers=(1, 2))("i;j,k") * A("x,y"),
        Shape(*[2] * 40)(",".join(f"m{k}" for k in range(40))),
        Shape.jagged(list(range(200)))("i,j"),
    ],
    ids=["scalar", "scalar times", "rows", "layers", "many modes", "a long text"],
)
def test_every_expression_has_a_picture_and_a_block(expression):
    found = Picture(expression.to_svg())

    assert found.label.startswith("the labels of ")
    assert "<svg" in expression._repr_html_()
    assert found.height < 800


def test_of_many_operands_some_are_drawn():
    product = A("i,j")
    for _ in range(40):
        product = product * A("i,j")

    assert "and 17 more operands" in Picture(product.to_svg()).texts
