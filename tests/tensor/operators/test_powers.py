"""``**`` is NumPy's operator, which calls other functions than `power` for some exponents."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError

SHAPE = Shape.jagged([2, 0, 4])
PLACES = {
    "box": tw.as_tensor,
    "view": lambda a: sel.as_view(tw.as_tensor(a)),
    "rows": lambda a: tw.from_buffer(a, SHAPE),
    "rows in a view": lambda a: sel.as_view(tw.from_buffer(a, SHAPE)),
    "dask": lambda a: tw.from_buffer(a, SHAPE).to_dask(max_elements=2),
    "nullable": tw.nullable,
}
EXPONENTS = [0, 1, 2, -1, 0.5, 2.0, -1.0, True, np.int64(2), np.float32(0.5), 2j]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("exponent", EXPONENTS, ids=repr)
@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f8", "c8", "c16", ">f4"])
@pytest.mark.parametrize("place", PLACES)
def test_powers_are_those_of_numpy(place, dtype, exponent):
    array = np.array([0, 1, 2, -0.0, 3.3, 100]).astype(dtype)
    try:
        expected = array**exponent
    except (TypeError, ValueError, OverflowError):
        with pytest.raises(TensorWrapperError):
            PLACES[place](array) ** exponent
        return
    found = PLACES[place](array) ** exponent
    made = found.compute() if hasattr(found, "compute") else found
    assert made.dtype == expected.dtype
    assert np.asarray(made.elements()).tobytes() == expected.astype(made.dtype).tobytes()


def test_powers_in_place_are_those_of_numpy():
    for dtype, exponent in (("c16", -1), ("f4", 0.5), ("i2", 2)):
        array = np.array([1, 2, 5], dtype)
        tensor = tw.as_tensor(array.copy())
        tensor **= exponent
        array **= exponent
        assert np.asarray(tensor).tobytes() == array.tobytes()
    truths = tw.as_tensor([True])
    with pytest.raises(TypeError, match="bool"):
        truths **= 2
