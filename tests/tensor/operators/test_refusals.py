"""What NumPy raises is an error of ours, which is the builtin that it raised as well."""

import pytest

from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentError,
    LabelError,
    OutOfBoundsError,
    SizeOverflowError,
)
from tensorwrapper.tensor.operators._refusals import refusals


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (IndexError("far"), OutOfBoundsError),
        (OverflowError("large"), SizeOverflowError),
        (TypeError("unexpected keyword argument 'x'"), ConversionError),
        (TypeError("no loop matching the argument types"), DTypeError),
        (ValueError("operands could not be broadcast"), ExtentError),
    ],
)
def test_an_error_of_numpy_has_a_name_of_ours(raised, error):
    # Of types that no loop is for NumPy says nothing that helps: ours says what works.
    said = "NumPy computes it not" if error is DTypeError else str(raised)
    with pytest.raises(error, match=f"add: {said}") as caught, refusals("add"):
        raise raised

    assert isinstance(caught.value, type(raised))


@pytest.mark.parametrize("raised", [LabelError("ours"), FloatingPointError("asked for")])
def test_our_own_and_those_that_were_asked_for_pass(raised):
    with pytest.raises(type(raised)) as caught, refusals("add"):
        raise raised

    assert caught.value is raised
