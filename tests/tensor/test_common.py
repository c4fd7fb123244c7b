"""What tensors and views have in common: modes are given loose or as one sequence."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, ExtentError

X = np.arange(24).reshape(4, 1, 6)


@pytest.mark.parametrize("make", [tw.as_tensor, sel.as_view])
@pytest.mark.parametrize(
    ("loose", "joined", "expected"),
    [
        (lambda t: t.permute(2, 0, 1), lambda t: t.permute([2, 0, 1]), X.transpose(2, 0, 1)),
        (lambda t: t.reverse(0, 2), lambda t: t.reverse((0, 2)), X[::-1, :, ::-1]),
        (lambda t: t.reverse(), lambda t: t.reverse((0, 1, 2)), X[::-1, ::-1, ::-1]),
        (lambda t: t.squeeze(1), lambda t: t.squeeze((1,)), X[:, 0]),
        (lambda t: t.reshape(3, -1), lambda t: t.reshape(np.array([3, 8])), X.reshape(3, 8)),
        (lambda t: t.reshape(-1), lambda t: t.reshape((24,)), X.reshape(24)),
    ],
    ids=["permute", "reverse", "reverse all", "squeeze", "reshape", "reshape to a line"],
)
def test_modes_are_given_loose_or_as_one_sequence(make, loose, joined, expected):
    for call in (loose, joined):
        assert np.asarray(call(make(X))).tolist() == expected.tolist()


@pytest.mark.parametrize("make", [tw.as_tensor, sel.as_view])
def test_what_are_no_modes_is_refused(make):
    with pytest.raises(ConversionError, match="a"):
        make(X).permute("a", 0, 1)
    with pytest.raises(ExtentError, match="24"):
        make(X).reshape(5, -1)
