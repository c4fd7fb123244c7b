"""The type of several: what NumPy gives when it joins arrays, and no type where it refuses."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DTypeError, SizeOverflowError
from tensorwrapper.tensor.operators._promotion import promoted

NAMES = [
    "?",
    "i1",
    "u1",
    "i4",
    "u4",
    "i8",
    "u8",
    ">i8",
    "f2",
    "f4",
    "f8",
    "g",
    "c8",
    "c16",
    "m8[s]",
    "m8[D]",
    "M8[s]",
    "M8[D]",
]
TYPES = [np.dtype(name) for name in NAMES]


@pytest.mark.parametrize("one", TYPES, ids=str)
def test_types_are_promoted_as_numpy_joins_arrays(one):
    for other in TYPES:
        x, y = np.ones(1, "i1").astype(one), np.ones(1, "i1").astype(other)
        try:
            expected = np.concatenate([x, y]).dtype
        except TypeError:
            with pytest.raises(DTypeError, match="have no type in common"):
                promoted([one, other], "concat")
        else:
            assert promoted([one, other], "concat") == expected


@pytest.mark.parametrize(
    ("types", "numbers"), [(["i2", "u1"], []), (["i1", "f4"], [2]), (["u1"], [1.5]), (["f4"], [1j])]
)
def test_numbers_of_python_take_on_a_type(types, numbers):
    dtypes = [np.dtype(name) for name in types]
    assert promoted(dtypes, "a test", numbers) == np.result_type(*dtypes, *numbers)


def test_types_without_a_common_one_are_named():
    with pytest.raises(DTypeError, match=r"a test: float64, datetime64\[s\] have no type in common"):
        promoted([np.dtype("f8"), np.dtype("M8[s]")], "a test")


@pytest.mark.parametrize(
    ("dtype", "number"), [("i1", 300), ("u8", -1), ("f4", 1e300), ("f4", 1e-300), ("m8[s]", -(2**63))]
)
def test_np_where_loses_no_number_of_python(dtype, number):
    for typed in (tw.as_tensor([1]), tw.jagged([[1]])):
        with pytest.raises(SizeOverflowError, match="a constant="):
            np.where(typed < 1, typed.astype(dtype), number)
