import operator

import numpy as np
import pytest

import tensorwrapper as tw

WHOLE = [np.int8, np.uint8, np.int16, np.int32, np.uint64, np.int64]
BINARY = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow]


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("dtype", WHOLE)
def test_whole_numbers_become_what_checkers_are_told(operation, dtype):
    t = tw.full(tw.Shape(2, 3), 3, dtype=dtype)
    assert operation(t, 2).dtype == dtype
    assert operation(2, t).dtype == dtype
    for result in (operation(t, 1.5), operation(1.5, t)):
        assert result.dtype == np.float64


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_stay_beside_numbers_of_python(operation, dtype):
    t = tw.full(tw.Shape(2, 3), 3, dtype=dtype)
    for number in (2, 1.5):
        assert operation(t, number).dtype == operation(number, t).dtype == dtype
