"""The lesser and the greater of two texts: views give what NumPy's functions of tensors give, nulls too."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError

TEXTS = st.none() | st.sampled_from(["", "a", "b", "ab", "é", "a\0"])
SHAPES = [
    tw.Shape(),
    tw.Shape(6),
    tw.Shape(2, 3),
    tw.Shape.jagged([2, 0, 4]),
    tw.Shape.jagged([[1], [], [2, 3]]),
]


def texts(values, shape):
    return tw.strings(values[: shape.size], shape=shape, kind="utf8")


SIX = st.lists(TEXTS, min_size=6, max_size=6)


@given(st.sampled_from(SHAPES), st.tuples(SIX, SIX, SIX))
def test_views_give_what_tensors_give(shape, values):
    a, b, c = [texts(own, shape) for own in values]
    for of_views, of_tensors in ((sel.minimum, np.minimum), (sel.maximum, np.maximum)):
        wanted = of_tensors(of_tensors(a, b), c).tolist()
        view = of_views(a, b, c)
        assert view.compute().tolist() == wanted
        assert of_views(of_views(a, b), c).compute().tolist() == wanted
        assert pickle.loads(pickle.dumps(view)).tolist() == wanted
        text = sel.to_json(of_views(a, a))
        assert sel.from_json(text, sources={"0": a}).tolist() == a.tolist()
        if shape.rank:
            assert view[::-1].compute().tolist() == wanted[::-1]
            assert of_views(a, tw.strings("a")).tolist() == of_tensors(a, "a").tolist()


def test_nulls_win_among_any_number_of_texts():
    for count in (3, 70_000):
        a, b = tw.strings(["b", None, "c"] * (count // 3)), tw.strings(["a", "z", None] * (count // 3))
        assert sel.minimum(a, b).compute().tolist() == ["a", None, None] * (count // 3)


def test_bytes_have_no_extremes_as_views_and_as_tensors():
    a = tw.strings([b"b", b"a"])
    for function in (sel.minimum, sel.maximum, np.minimum, np.maximum):
        with pytest.raises(DTypeError, match="ufuncs of bytes are comparisons"):
            function(a, a)
