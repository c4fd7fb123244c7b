"""Types of elements that are named, and casts between them."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, SizeOverflowError
from tensorwrapper.selection.facade._view_base import to_element_type


@pytest.mark.parametrize("named", ["f4", np.int16, "complex128", "M8[s]", bool])
def test_a_type_of_numbers_is_numpys(named):
    assert to_element_type(named) == np.dtype(named)


@pytest.mark.parametrize("named", ["O", "V3", "no type", (1, 2, 3)])
def test_what_tensors_do_not_hold_is_refused(named):
    with pytest.raises(DTypeError):
        to_element_type(named)


def test_objects_are_bytes_where_strings_may_be():
    assert to_element_type("O", "TO") == np.dtype("O")


def test_of_texts_there_are_two_types_without_nulls_and_with_none():
    text = np.dtypes.StringDType
    assert to_element_type(text(coerce=False)) == text()
    assert to_element_type(text(na_object=None, coerce=False)) == text(na_object=None)
    for missing in (np.nan, "missing"):
        with pytest.raises(DTypeError, match="a null is None here"):
            to_element_type(text(na_object=missing))


def test_no_cast_turns_times_back():
    far, near = np.array(["3000-01-01", "NaT"], "M8[s]"), np.array(["2000-01-01"], "M8[ns]")
    tensor, view = tw.as_tensor(far), sel.as_view(far)
    for wrong in (
        lambda: tensor.astype("M8[ns]"),
        lambda: view.astype("M8[ns]").compute(),
        lambda: view.compute(out=np.zeros(2, "M8[ns]")),
        lambda: tw.concat([tensor, near]).compute(),
        lambda: sel.where([True, False], far, near[:1]).compute(),
        lambda: tw.jagged([far, near]),
        lambda: tw.as_tensor(np.zeros(2, "M8[ns]")).assign(tensor),
        lambda: tw.sparse(np.array([[0]]), far[:1], tw.Shape(3)).astype("M8[ns]"),
    ):
        with pytest.raises(SizeOverflowError):
            wrong()
    assert np.array_equal(tensor[1:].astype("M8[ns]"), np.array(["NaT"], "M8[ns]"), equal_nan=True)
