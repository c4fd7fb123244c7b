"""What `to_dask` makes, and what it refuses."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import ConversionError

X = np.arange(900.0).reshape(30, 30)


@pytest.mark.parametrize(
    ("value", "match"),
    [
        (tw.strings(["a"]), "to_numpy_strings"),
        (tw.sparse([(0, 1)], [1.0], Shape(2, 2)), "to_dense"),
    ],
)
def test_what_is_refused_names_what_works(value, match):
    with pytest.raises(ConversionError, match=match):
        value.to_dask()


def test_names_are_those_of_equal_tensors():
    one, other = tw.as_tensor(X), tw.as_tensor(X.copy())
    assert one.to_dask(chunks=7).name == other.to_dask(chunks=7).name
    assert one.to_dask(chunks=7).name != one.to_dask(chunks=8).name
