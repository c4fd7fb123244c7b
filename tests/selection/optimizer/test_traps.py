"""Meanings that other libraries give otherwise, or that are easily got wrong."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tests.support.selection.brute import elements_of

X = np.arange(24).reshape(4, 6)


def test_a_view_of_what_repeats_says_its_places_as_often():
    wide = tw.as_tensor(X)[:, :1].broadcast((4, 3))
    assert (
        elements_of(sel.concat([wide, wide]).normal_form()).tolist() == np.repeat(X[:, :1], 3, 1).tolist() * 2
    )


def test_turns_of_a_part_are_not_the_whole():
    parts = [tw.as_tensor(np.arange(9))[k:7:3] for k in range(3)]
    assert sel.interleave(parts).compute().tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_an_empty_view_keeps_its_type_and_extents():
    empty = sel.concat([tw.as_tensor(X.astype("f4"))[:0], tw.as_tensor(X.astype("f4"))[4:]])
    assert empty.compute().shape == Shape(0, 6)
    assert empty.compute().dtype == np.dtype("f4")
