"""The shape of a result: origins are kept, or refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import ExtentMismatchError


@given(pair=st.tuples(st.integers(-2, 2), st.integers(-2, 2)))
def test_origins_are_kept_or_refused(pair):
    x = np.arange(6.0).reshape(2, 3)
    t, u = (tw.from_buffer(x.reshape(-1).copy(), Shape(2, 3, origin=(start, 0))) for start in pair)
    if pair[0] == pair[1]:
        assert (t + u).shape == t.shape
    else:
        with pytest.raises(ExtentMismatchError, match="mode 0 starts at"):
            _ = t + u
    assert (t[...] + u[...]).shape == Shape(2, 3)
    assert (t + x).shape == t.shape
