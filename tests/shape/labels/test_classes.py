"""What each label of a product of two is for."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import LabelError
from tensorwrapper.shape import classify_indices


def names(text):
    return tuple(text.split(",")) if text else ()


# result, left, right: left trace, right trace, left dummy, right dummy, left free, right free, batch of all
TABLE = [
    ("", "j,i,k", "i,k,m", "j", "m", "i,k", "i,k", "", "", "", "", ""),
    ("i,j,k", "n,i,l,s,k", "s,a,m,m,j,l", "n", "a,m", "l,s", "s,l", "i,k", "j", "", "", ""),
    ("i,a,j,k,b,l", "k,b,l,a", "a,j,b,i", "", "", "", "", "k,l", "j,i", "a,b", "b,a", "a,b"),
    ("i,b,k", "b,k,l", "b,i,m", "l", "m", "", "", "k", "i", "b", "b", "b"),
    ("i,l", "i,j,k", "k,l,j", "", "", "j,k", "k,j", "i", "l", "", "", ""),
    ("j,i,l", "k,i", "j,k,l", "", "", "k", "k", "i", "j,l", "", "", ""),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]} <- {row[1]} * {row[2]}")
def test_each_label_has_its_class(row):
    c = classify_indices(*row[:3])

    assert (c.left_trace, c.right_trace) == (names(row[3]), names(row[4]))
    assert (c.left_dummy, c.right_dummy) == (names(row[5]), names(row[6]))
    assert (c.left_free, c.right_free) == (names(row[7]), names(row[8]))
    assert (c.batch, c.left_batch, c.right_batch) == (names(row[9]), names(row[10]), names(row[11]))


@pytest.mark.parametrize(
    ("result", "left", "right", "orders"),
    [
        ("i,l", "i,j,k", "k,l,j", ("i,j,k", "j,k,l", "i,l")),
        ("j,i,l", "k,i", "j,k,l", ("i,k", "k,j,l", "i,j,l")),
        ("i,b,j", "b,i,k,t", "k,j,b", ("b,i,k", "b,k,j", "b,i,j")),
    ],
)
def test_a_product_has_orders_in_which_it_is_one_of_matrices(result, left, right, orders):
    c = classify_indices(result, left, right)

    assert (c.left_order, c.right_order, c.matrix_order) == tuple(map(names, orders))


@pytest.mark.parametrize(
    ("result", "what"),
    [("i,x", "'x' of the result 'i,x' is none of the labels 'i,j,k'"), ("i,i", "repeated")],
)
def test_a_result_label_that_is_unknown_or_repeated_raises(result, what):
    with pytest.raises(LabelError, match=what):
        classify_indices(result, "i,j", "j,k")


@st.composite
def products(draw):
    left = draw(st.lists(st.sampled_from("ijklm"), max_size=4))
    right = draw(st.lists(st.sampled_from("ijklm"), max_size=4))
    known = sorted({*left, *right})
    result = draw(st.permutations(known))[: draw(st.integers(0, len(known)))]
    return ",".join(result), ",".join(left), ",".join(right)


@given(products())
def test_every_label_is_in_one_class(product):
    result, left, right = map(names, product)
    c = classify_indices(*product)

    mine = [c.left_trace, c.left_dummy, c.left_free, c.left_batch]
    theirs = [c.right_trace, c.right_dummy, c.right_free, c.right_batch]
    assert sorted(itertools.chain(*mine)) == sorted(set(left))
    assert sorted(itertools.chain(*theirs)) == sorted(set(right))
    assert sorted((*c.left_free, *c.right_free, *c.batch)) == sorted(result)
    assert set(c.left_dummy) == set(c.right_dummy)
    assert set(c.batch) == set(c.left_batch) == set(c.right_batch)
    assert sorted(c.matrix_order) == sorted(result)
    assert sorted(c.left_order) == sorted(set(left) - set(c.left_trace))
    assert sorted(c.right_order) == sorted(set(right) - set(c.right_trace))
