import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.tensor.operators._elementwise import call

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


ROWS = st.lists(st.integers(0, 3), min_size=1, max_size=4)


def spellings(lengths, values):
    """The same rows as tensors that say it in several ways."""
    plain = tw.as_tensor(values).unflatten(lengths)
    yield plain
    yield tw.as_tensor(values.copy()).unflatten(list(lengths))
    yield tw.as_tensor(np.concatenate([values, [7]])).unflatten([*lengths, 1])[: len(lengths)]
    yield tw.as_tensor(values).unflatten([*lengths, 0])
    yield plain.named("a", "b")
    yield plain.named(None, "b")
    layered = tw.Shape.nested(plain.shape, layers=(1, 1))
    yield tw.from_buffer(values.copy(), layered)
    yield plain.translate_to((2, 0))
    yield plain[::-1][::-1]
    if len(set(lengths)) == 1:
        yield tw.as_tensor(values.reshape(len(lengths), -1))


def outcome(compute):
    try:
        made = compute()
    except tw.errors.TensorWrapperError as error:
        return type(error), str(error)
    return made.shape, made.layout, made.dtype, made.tolist()


@given(ROWS, ROWS, st.data())
def test_rows_beside_rows_go_the_short_way_as_the_general_one(lengths, others, data):
    one = data.draw(st.sampled_from([*spellings(lengths, np.arange(sum(lengths), dtype=np.float64))]))
    same = data.draw(st.booleans())
    wanted = lengths if same else others
    other = data.draw(st.sampled_from([*spellings(wanted, np.arange(sum(wanted)) * 10)]))
    quick = outcome(lambda: one + other)
    assert quick == outcome(lambda: call(np.add, (one, other), {}))
    assert quick == outcome(lambda: one + other)
