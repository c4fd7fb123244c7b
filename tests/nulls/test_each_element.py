"""NumPy's functions of one element, of rows and of nulls, against NumPy on the elements themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError
from tests.nulls.test_laws import quietly, rows_with_nulls

CALLS = {
    "angle": np.angle,
    "around": lambda a: np.around(a, 1),
    "clip": lambda a: np.clip(a, 0, 2),
    "clip below": lambda a: np.clip(a, None, 2),
    "digitize": lambda a: np.digitize(a, [0, 2]),
    "fix": np.fix,
    "imag": np.imag,
    "isin": lambda a: np.isin(a, [0, 2]),
    "isneginf": np.isneginf,
    "isposinf": np.isposinf,
    "nan_to_num": lambda a: np.nan_to_num(a, nan=5.0),
    "real": np.real,
    "round": np.round,
    "sinc": np.sinc,
}


@pytest.mark.parametrize("name", CALLS)
@given(data=st.data())
def test_one_element_at_a_time(name, data):
    call = CALLS[name]
    tensor, _ = data.draw(rows_with_nulls(dtypes=("f8", "f4", "i8", "i2")))
    valid = np.asarray(tensor.is_valid().elements())
    values = tensor.fill_null(0).elements()
    rows = tensor.fill_null(0)
    flat = tw.nullable(values.copy(), valid)
    for given_, wanted in ((tensor, valid), (sel.as_view(tensor), valid), (flat, valid), (rows, None)):
        found = quietly(lambda own=given_: call(own))
        assert found.shape == given_.shape
        if wanted is not None:
            assert (np.asarray(found.is_valid().elements()) == valid).all()
            found = found.fill_null(0)
        expected = quietly(lambda: call(values))
        at = np.ones(len(values), np.bool_) if wanted is None else wanted
        got = found.elements()
        assert got.dtype == expected.dtype
        assert np.array_equal(got[at], expected[at], equal_nan=got.dtype.kind == "f")


def test_bounds_fit_as_operands_do():
    r = tw.jagged([[3, None, 9], [5]])
    assert np.clip(r, tw.as_tensor([4, 6]), 8).tolist() == [[4, None, 8], [6]]
    assert np.clip(r, 4, tw.jagged([[3, 3, None], [5]])).tolist() == [[3, None, None], [5]]


def test_a_call_that_would_write_into_an_array_is_refused():
    r = tw.jagged([[3.5], [1.25, 2.0]])
    for call in (lambda: np.round(r, out=np.zeros(3)), lambda: np.nan_to_num(r, copy=False)):
        with pytest.raises(ConversionError, match="not an array"):
            call()
    assert r.tolist() == [[3.5], [1.25, 2.0]]


def test_no_bound_gives_a_copy():
    r = tw.jagged([[3.5], [1.25, 2.0]])
    found = np.clip(r, None, None)
    found[0, 0] = 9.0
    assert r[0, 0].item() == 3.5


def test_a_null_warns_of_nothing():
    with np.errstate(all="raise"):
        huge = tw.nullable(np.array([1e308, 1.5]), np.array([False, True]))
        assert np.round(huge, 5).tolist() == [None, 1.5]
