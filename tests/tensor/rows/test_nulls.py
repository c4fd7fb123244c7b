"""The value under a null affects no result, also of types that have no zero."""

import ml_dtypes
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, LocalProtocolError
from tensorwrapper.wire import decode, encode

TYPES = [
    *["?", "i1", "u8", "f2", "f8", "c16", "M8[s]", "m8[us]"],
    *[ml_dtypes.bfloat16, ml_dtypes.float8_e8m0fnu, ml_dtypes.float8_e4m3fn, ml_dtypes.int4],
]
CALLS = {
    "to_dask": lambda t: t.to_dask(max_elements=1).compute(),
    "max": lambda t: t.rows().max(empty=None),
    "first": lambda t: t.rows().first(empty=None),
    "concat": lambda t: tw.concat([t, t]),
    "np.concatenate": lambda t: np.concatenate([t, t]),
    "astype": lambda t: t.astype(t.dtype),
    "view": lambda t: sel.as_view(t)[::-1].compute(),
    "assigned": lambda t: t.copy().assign(t) or t,
    "message": lambda t: decode(encode([t])).tensors[0],
    "where": lambda t: np.where(t.is_valid(), t, t),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("dtype", TYPES)
def test_what_is_under_a_null_is_no_matter(dtype, call):
    answers = []
    for under in (1, 0):
        values = np.array([1, under, 1], "i8").astype(dtype)
        t = tw.nullable(values, np.array([True, False, True])).unflatten([1, 2, 0])
        try:
            answers.append(CALLS[call](t).tolist())
        except (DTypeError, LocalProtocolError) as error:
            answers.append(str(error))
    assert answers[0] == answers[1]
    refused = {("max", "complex128"), ("message", "int4")}
    assert isinstance(answers[0], list) or (call, np.dtype(dtype).name) in refused


@pytest.mark.parametrize("dtype", TYPES)
def test_a_null_is_cast_to_and_from_every_type(dtype):
    one = np.ones((), "i8").astype(dtype)
    for other in (np.dtype(dtype), np.dtype("f8"), np.dtype("u8"), np.dtype("?")):
        if np.dtype(dtype) != other and np.dtype(dtype).kind in "mMc":
            continue
        t = tw.nullable(np.array([1, 0], "i8").astype(dtype), np.array([True, False]))
        assert t.astype(other).tolist() == [one.astype(other).item(), None]
        back = tw.nullable(np.array([1, 0], "i8").astype(other), np.array([True, False]))
        assert back.astype(dtype).tolist() == [one.item(), None]


@pytest.mark.parametrize("layers", [(1, 2), (2, 1), (1, 1, 1)])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_running_results_of_nullable_tensors_keep_layers(layers, axis):
    numbers, valid = np.arange(24).reshape(2, 3, 4), np.arange(24).reshape(2, 3, 4) % 5 > 0
    nested = tw.nullable(
        tw.from_buffer(numbers.reshape(-1), tw.Shape.nested(tw.Shape(2, 3, 4), layers=layers)), valid
    )
    for call in (np.add.accumulate, np.cumsum, np.cumprod):
        found = call(nested, axis=axis)
        assert found.shape == nested.shape
        assert found.flatten().tolist() == call(tw.nullable(numbers, valid), axis=axis).tolist()
