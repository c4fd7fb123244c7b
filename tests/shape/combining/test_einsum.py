"""Equations: as NumPy reads them, and with names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, einsum_shape
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    JaggedModeError,
    LabelError,
    LayerError,
    RankError,
)


@pytest.mark.parametrize(
    ("equation", "shapes", "expected"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)], (2, 4)),
        ("ij,jk", [(2, 3), (3, 4)], (2, 4)),
        ("ba,ca", [(2, 3), (4, 3)], (2, 4)),
        ("ba", [(2, 3)], (3, 2)),
        ("ij->", [(2, 3)], ()),
        ("ii", [(3, 3)], ()),
        ("ii->i", [(3, 3)], (3,)),
        ("i,i->i", [(3,), (3,)], (3,)),
        (",ij->ij", [(), (2, 3)], (2, 3)),
        ("i,j->ij", [(2,), (3,)], (2, 3)),
        (" i j , j k -> i k ", [(2, 3), (3, 4)], (2, 4)),
        ("iJ,Jk->ik", [(2, 3), (3, 4)], (2, 4)),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], (2, 5)),
        ("...ij,...jk->...ik", [(7, 8, 2, 3), (7, 8, 3, 4)], (7, 8, 2, 4)),
        ("...ij,jk", [(7, 2, 3), (3, 4)], (7, 2, 4)),
        ("i...,i...->...", [(2, 5, 6), (2, 5, 6)], (5, 6)),
        ("...,...->...", [(5, 6), (6,)], (5, 6)),
        ("...i->i...", [(5, 6)], (6, 5)),
        ("...i->i", [(6,)], (6,)),
    ],
)
def test_an_equation_is_read_as_numpy_reads_it(equation, shapes, expected):
    assert einsum_shape(equation, *shapes) == Shape(*expected)
    assert np.einsum(equation, *map(np.ones, shapes)).shape == expected


@pytest.mark.parametrize(
    ("equation", "shapes", "expected"),
    [
        ("i,j * j,k -> i,k", [(2, 3), (3, 4)], (2, 4)),
        ("atom,jk*jk->jk,atom", [(2, 3), (3,)], (3, 2)),
        ("row,row->row", [(3, 3)], (3,)),
        ("i,j->", [(2, 3)], ()),
        ("* i -> i", [(), (2,)], (2,)),
    ],
)
def test_an_equation_may_have_names(equation, shapes, expected):
    assert einsum_shape(equation, *shapes) == Shape(*expected)


def test_shapes_of_every_kind_are_operands():
    rows = Shape.jagged([3, 1])
    tensor = tw.jagged([[1, 2, 3], [4]])

    assert einsum_shape("ij,ik->ijk", rows, rows) == Shape.jagged([Shape(3, 3), Shape(1, 1)])
    assert einsum_shape("...j->...j", tensor.shape) == rows
    assert einsum_shape("abij,bcjk->acik", *[Shape.tiled([1, 2], [1, 2])] * 2) == Shape.tiled([1, 2], [1, 2])
    nested = Shape.nested(Shape(5, 6, 7), layers=(1, 2))
    assert einsum_shape("i,j * j;m,n -> i;n", (4, 5), nested) == Shape.nested(Shape(4, 7), layers=(1, 1))


@pytest.mark.parametrize(
    ("equation", "shapes", "error", "what"),
    [
        ("ij,jk->ik", [(2, 3)], LabelError, "'ik' of the result 'ik' is none of the labels 'ij,jk'"),
        ("ij->ij", [(2, 3), (3, 4)], RankError, "2 shapes are given for the 1 operands of 'ij->ij'"),
        ("", [], RankError, "0 shapes are given for the 1 operands"),
        ("ij", [(2,)], RankError, "the labels 'ij' of 'ij' are given for 1 mode"),
        ("i", [(2, 3)], RankError, "the labels 'i' of 'i' are given for 2 modes"),
        ("i...j", [(2,)], RankError, r"the labels 'i\.\.\.j' of 'i\.\.\.j' are given for 1 mode"),
        ("i,j * j", [(2,), (2,)], LabelError, "no '->'"),
        ("i,j * j -> j", [(2,), (2,)], RankError, "2 labels, 'i,j', are given for 1 mode"),
        ("i1->i", [(2, 3)], LabelError, "'1' in 'i1->i' is not a label"),
        ("ij->i->j", [(2, 3)], LabelError, "'-' in 'ij->i->j' is not a label"),
        ("i....", [(2, 3)], LabelError, r"'\.' in 'i\.\.\.\.' is not a label"),
        ("ij->ik", [(2, 3)], LabelError, "'k' of the result 'i,k'"),
        ("ij->ii", [(2, 3)], LabelError, "'i' is repeated in the result"),
        ("...i->i", [(2, 3)], LabelError, r"has no '\.\.\.', which operands have"),
        ("i,j -> i;k", [(2, 3)], LabelError, "'k' of the result 'i;k'"),
        ("i;j * j -> i", [(2, 3), (3,)], LayerError, "Shape.nested"),
        ("ij,jk->ik", [(2, 3), (4, 5)], ExtentMismatchError, "label 'j' has the extent 3"),
        ("ij,jk->ik", [(2, 1), (4, 5)], ExtentMismatchError, "label 'j' has the extent 1"),
        ("...i,...i->i...", [(5, 2), (6, 2)], ExtentMismatchError, "has the extent 5"),
        (
            "...ij,...j->...i",
            [(2, 3, 4), (5, 4)],
            ExtentMismatchError,
            r"label '\.\.\.\[-1\]' has the extent 2",
        ),
        ("i...->...i", [Shape.jagged([1, 2])], JaggedModeError, r"in the result '\.\.\.\[-1\],i'"),
        ("_1,a * _1 -> a", [(2, 3), (4,)], ExtentMismatchError, "label '_1' has the extent 2"),
        (None, [(2,)], ConversionError, "an equation is text"),
    ],
)
def test_an_equation_that_does_not_fit_says_why(equation, shapes, error, what):
    with pytest.raises(error, match=what):
        einsum_shape(equation, *shapes)


@st.composite
def equations(draw):
    extents = dict(zip("abcdef", draw(st.lists(st.integers(0, 3), min_size=6, max_size=6)), strict=True))
    terms = draw(st.lists(st.text("abcdef", max_size=3), min_size=1, max_size=4))
    known = sorted(set("".join(terms)))
    result = "".join(draw(st.permutations(known))[: draw(st.integers(0, len(known)))])
    arrow = draw(st.sampled_from(["", f"->{result}"]))
    return ",".join(terms) + arrow, [tuple(extents[label] for label in term) for term in terms]


@given(equations())
def test_any_equation_has_the_shape_that_numpy_gives(case):
    equation, shapes = case

    assert einsum_shape(equation, *shapes).extents == np.einsum(equation, *map(np.ones, shapes)).shape


@given(equations())
def test_any_equation_is_a_product_of_labelled_shapes(case):
    equation, shapes = case
    if "->" not in equation:
        equation += "->"
    inputs, _, output = equation.partition("->")
    terms = inputs.split(",")
    factors = [Shape(*s)(",".join(term)) for s, term in zip(shapes, terms, strict=True)]
    product = factors[0]
    for factor in factors[1:]:
        product = product * factor
    named = " * ".join(",".join(term) for term in terms)

    assert product.shape(",".join(output)) == einsum_shape(equation, *shapes)
    if len(terms) > 1:
        assert einsum_shape(f"{named} -> {','.join(output)}", *shapes) == einsum_shape(equation, *shapes)
