"""What may stand beside a tensor in a call of NumPy."""

import awkward as ak
import dask.array as da
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
)


def test_masks_are_not_lost_by_writes():
    with pytest.raises(ConversionError, match="mask"):
        tw.as_tensor(np.zeros(2)).assign(np.ma.array([1.0, 2.0], mask=[True, False]))


def test_strangers_have_their_turn():
    t = tw.as_tensor([1, 2, 3])
    assert (t + ak.Array([1, 2, 3])).tolist() == [2, 4, 6]
    assert (ak.Array([1, 2, 3]) + t).tolist() == [2, 4, 6]
    with pytest.raises(TypeError):  # Dask leaves it to others, too
        _ = t + da.from_array(np.array([1, 2, 3]))


@pytest.mark.parametrize(
    "make", [tw.as_tensor, lambda x: sel.as_view(tw.as_tensor(x))], ids=["tensor", "view"]
)
def test_text_is_no_truth(make):
    for value in (tw.strings(["a"]), np.array(["a"], np.dtypes.StringDType())):
        with pytest.raises(DTypeError):
            make(np.zeros(1, bool)).assign(value)
