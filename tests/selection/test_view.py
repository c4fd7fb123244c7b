"""S3: a view casts as a tensor does: fractions are dropped, and what does not fit is refused."""

from typing import get_args, get_origin

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, SizeOverflowError
from tensorwrapper.selection import View
from tensorwrapper.typing import Rank2

X = np.array([[1.9, -1.9, 300.0], [0.0, 2.5, -3.0]])
MAKE = {
    "tensor": tw.as_tensor,
    "view": lambda x: sel.as_view(tw.as_tensor(x)),
    "turned": lambda x: sel.as_view(tw.as_tensor(x[::-1].copy()))[::-1],
    "joined": lambda x: sel.concat([tw.as_tensor(x[:1]), tw.as_tensor(x[1:])]),
    "chosen": lambda x: sel.where(np.ones(x.shape, bool), tw.as_tensor(x), 0.0),
    "gathered": lambda x: sel.as_view(tw.as_tensor(x))[[0, 1]],
    "constant and more": lambda x: sel.concat([sel.full((0, x.shape[1]), 0.0), tw.as_tensor(x)]),
}


def computed(t):
    return np.asarray(t.compute() if isinstance(t, sel.View) else t)


@pytest.fixture(params=MAKE)
def make(request):
    return MAKE[request.param]


@pytest.mark.parametrize("dtype", ["i2", "i8", "f4", "c8", "u2"])
def test_what_fits_loses_its_fraction(make, dtype):
    x = np.abs(X) if dtype == "u2" else X
    assert np.array_equal(computed(make(x).astype(dtype)), x.astype(dtype))


@pytest.mark.parametrize(
    ("values", "dtype"), [(X, "i1"), (X, "u1"), (X.astype("i8"), "i1"), (X * 1e300, "f4"), (X * np.nan, "i8")]
)
def test_what_does_not_fit_is_refused(make, values, dtype):
    with pytest.raises(SizeOverflowError):
        computed(make(values).astype(dtype))


def test_unsafe_wraps_as_numpy_does(make):
    found = make(X.astype("i8")).astype("i1", casting="unsafe")
    assert np.array_equal(computed(found), X.astype("i8").astype("i1"))


def test_a_constant_is_checked_too():
    with pytest.raises(SizeOverflowError):
        sel.full((2,), 300, dtype="i8").astype("i1").compute()


def test_json_says_how_a_view_casts():
    t = tw.as_tensor(X.astype("i8"))
    for casting in ("checked", "unsafe"):
        view = sel.as_view(t).astype("i1", casting=casting)
        again = sel.from_json(sel.to_json(view), sources=sel.sources(view))
        assert sel.to_json(again) == sel.to_json(view)
        if casting == "unsafe":
            assert np.array_equal(computed(again), X.astype("i8").astype("i1"))
        else:
            with pytest.raises(SizeOverflowError):
                again.compute()


def test_targets_take_what_fits():
    view = sel.as_view(tw.as_tensor(np.array([1, 300])))
    with pytest.raises(SizeOverflowError):
        view.compute(out=np.zeros(2, "i1"))
    assert view.compute(out=np.zeros(2, "i2")).tolist() == [1, 300]
    assert sel.concat([view, view]).compute(out=np.zeros(4, "f4")).tolist() == [1, 300, 1, 300]


@pytest.mark.parametrize("make", [lambda t: t, sel.as_view, lambda t: sel.concat([t, t])])
@pytest.mark.parametrize("words", [["1", "x"], [b"1", None], [["1"], ["x"]]])
@pytest.mark.parametrize("dtype", ["i4", "f8", "c8", "?"])
def test_strings_are_not_cast_to_numbers(make, words, dtype):
    with pytest.raises(DTypeError, match="strings of kind"):
        make(tw.strings(words)).astype(dtype)


def test_a_view_has_a_type_with_and_without_its_rank():
    assert get_origin(View[np.float64]) is View
    assert get_args(View[np.float64]) == (np.float64,)
    assert get_args(View[np.float64, Rank2]) == (np.float64, Rank2)


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize(("given", "wanted"), [("m8[ms]", "M8[s]"), ("M8[D]", "m8[s]")])
def test_a_cast_that_no_element_has_is_refused_when_it_is_asked_for(count, given, wanted):
    t = tw.as_tensor(np.zeros(count, given))
    for own in (t, sel.as_view(t), sel.as_view(t)[:1], sel.as_view(tw.jagged([t]))):
        with pytest.raises(DTypeError, match="unit differs"):
            own.astype(wanted)
