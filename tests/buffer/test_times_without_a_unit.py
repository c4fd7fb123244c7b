"""Times of a type without a unit take that of what is cast, and dates are refused where there is none."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, TensorWrapperError

GIVEN = {
    "dates": np.array(["2020-01-01", "NaT"], "M8[D]"),
    "durations": np.array([1, 3], "m8[25s]"),
    "big-endian": np.array([1, 3], ">m8[ms]"),
    "many durations": np.arange(9000).astype("m8[s]").reshape(90, 100).T,
}
NUMBERS = {"integers": np.array([1, 2]), "floats": np.array([1.0, 2.0]), "small": np.array([1, 2], "f2")}
WAYS = {
    "astype": lambda t, dtype: t.astype(dtype),
    "of a view": lambda t, dtype: sel.as_view(t).astype(dtype).compute(),
    "of a computed view": lambda t, dtype: sel.as_view(t)[::-1].astype(dtype).compute()[::-1],
}
ARRAYS = {
    "asarray": lambda t, dtype: np.asarray(t, dtype=dtype),
    "asarray of a view": lambda t, dtype: np.asarray(sel.as_view(t), dtype=dtype),
}


@pytest.mark.parametrize("dtype", ["m8", "M8"])
@pytest.mark.parametrize("way", (WAYS | ARRAYS).values(), ids=WAYS | ARRAYS)
@pytest.mark.parametrize("values", GIVEN.values(), ids=GIVEN)
def test_they_take_the_unit_of_what_is_cast_as_numpys_do(values, way, dtype):
    try:
        wanted = values.astype(dtype)
    except (TypeError, ValueError):
        with pytest.raises(DTypeError):
            way(tw.as_tensor(values), dtype)
        return
    found = way(tw.as_tensor(values), dtype)

    assert found.dtype == wanted.dtype
    assert np.array_equal(np.asarray(found), wanted, equal_nan=True)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_durations_without_a_unit_and_no_dates(values, way):
    assert way(tw.as_tensor(values), "m8").dtype == np.dtype("m8")
    with pytest.raises(DTypeError, match="unit"):
        way(tw.as_tensor(values), "M8")


REFUSED = {
    "full": lambda number: tw.full((2,), number, dtype="m8"),
    "full of a view": lambda number: sel.full((2,), number, dtype="m8"),
    "fill of sparse": lambda number: tw.sparse([[0]], np.array([1]).view("m8"), (3,), fill_value=number),
    "pad": lambda number: sel.pad(np.array([1]).view("m8"), [(1, 1)], fill_value=number).compute(),
    "pad_rows": lambda number: tw.from_buffer(np.array([1]).view("m8"), tw.Shape.jagged([1])).pad_rows(
        2, fill_value=number
    ),
    "assign": lambda number: tw.as_tensor(np.array([1]).view("m8")).assign(number),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_a_time_with_a_unit_is_no_element_without_one(call):
    with pytest.raises(TensorWrapperError):
        call(np.timedelta64(1, "s"))
    call(np.timedelta64(1))


@pytest.mark.parametrize("make", [tw.zeros, tw.empty, lambda s, dtype: tw.full(s, 1, dtype=dtype)])
def test_dates_without_a_unit_are_no_elements(make):
    with pytest.raises(DTypeError, match="unit"):
        make((2,), dtype="M8")
