"""Types of views put together: those that NumPy's functions of the same name give, and no others."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError

TYPES = [
    "?",
    "i1",
    "u1",
    "i2",
    "u4",
    "i8",
    "u8",
    "f2",
    "f4",
    "f8",
    "g",
    "c8",
    "m8[s]",
    "m8[ms]",
    "M8[s]",
    "M8[D]",
]
MASK = np.array([True, False])
FUNCTIONS = {
    "concat": (lambda x, y: np.concatenate([x, y]), lambda x, y: tw.concat([x, y])),
    "stack": (lambda x, y: np.stack([x, y]), lambda x, y: tw.stack([x, y])),
    "minimum": (np.minimum, sel.minimum),
    "maximum": (np.maximum, sel.maximum),
    "where": (lambda x, y: np.where(MASK, x, y), lambda x, y: tw.where(MASK, x, y)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("one", TYPES)
def test_types_are_promoted_as_numpy_does(name, one):
    reference, view = FUNCTIONS[name]
    for other in TYPES:
        x, y = (np.ones(2, "i1").astype(dtype) for dtype in (one, other))
        try:
            expected = reference(x, y).dtype
        except TypeError:
            expected = None
        if name == "where" and {x.dtype.kind, y.dtype.kind} == {"m", "M"}:
            expected = None  # NumPy makes a date of the duration.
        for made in (view, lambda x, y: reference(tw.as_tensor(x), tw.as_tensor(y))):
            if expected is None:
                with pytest.raises(DTypeError):
                    made(x, y)
            else:
                assert made(x, y).dtype == expected, other
