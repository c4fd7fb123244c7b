"""What is added to a tensor fits it as the operands of `+` do, wherever either of them lies."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, ExtentMismatchError, SizeOverflowError, TensorWrapperError


def numbers(shape):
    return tw.from_buffer(np.arange(shape.size) + 1, shape)


SHAPES = [
    tw.Shape(),
    tw.Shape(1),
    tw.Shape(2),
    tw.Shape(3),
    tw.Shape(1, 1),
    tw.Shape(2, 3),
    tw.Shape(3, 3),
    tw.Shape(2, 3, origin=(1, 0)),
    tw.Shape(2, 3).named("y", "x"),
    tw.Shape.nested(tw.Shape(2, 3), layers=(1, 1)),
    tw.Shape.jagged([1]),
    tw.Shape.jagged([3, 3]),
    tw.Shape.jagged([1, 2]),
    tw.Shape.jagged([2, 1]),
    tw.Shape.jagged([1, 2], origin=(1, 0)),
    tw.Shape.tiled([1, 1], [2, 1]),
]


@given(st.sampled_from(SHAPES), st.sampled_from(SHAPES), st.booleans(), st.booleans())
def test_it_adds_what_the_operator_adds_and_refuses_the_rest(one, other, of_view, into_view):
    target, values = numbers(one).copy(), numbers(other)
    before = target.tolist()
    given_values = sel.as_view(values) if of_view else values
    goal = sel.as_view(target) if into_view else target
    try:
        wanted = target + values
    except TensorWrapperError as error:
        with pytest.raises(type(error)):
            given_values.accumulate_into(goal)
        assert target.tolist() == before
        return
    if wanted.size != target.size or wanted.rank != target.rank:
        with pytest.raises(ExtentMismatchError, match="stretched"):
            given_values.accumulate_into(goal)
        assert target.tolist() == before
    else:
        given_values.accumulate_into(goal)
        assert target.elements().tolist() == wanted.elements().tolist()


@pytest.mark.parametrize("casting", ["same_kind", "unsafe"])
def test_dates_have_no_sum(casting):
    dates = tw.as_tensor(np.array(["2020-01-01", "NaT"], "M8[D]"))
    for target in (dates.copy(), sel.as_view(dates.copy())):
        with pytest.raises(DTypeError, match="dates"):
            dates.accumulate_into(target, casting=casting)


SMALL = [ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn, ml_dtypes.int4, ml_dtypes.uint4]


@pytest.mark.parametrize("dtype", SMALL, ids=lambda dtype: dtype.__name__)
def test_sums_of_small_types_are_right_or_refused(dtype):
    target = tw.as_tensor(np.array([1, 2], dtype)).copy()
    tw.as_tensor(np.array([1, 2, 3], dtype)).accumulate_into(target.gather(0, [0, 1, 0]))
    assert target.astype("i8").tolist() == [5, 4]

    info = ml_dtypes.iinfo(dtype) if "int" in dtype.__name__ else ml_dtypes.finfo(dtype)
    most = np.array([info.max, info.max], dtype)
    full = tw.as_tensor(most.copy())
    with pytest.raises(SizeOverflowError):
        tw.as_tensor(most).accumulate_into(full)
    assert full.elements().tobytes() == most.tobytes()


def test_a_sum_of_durations_is_no_absence():
    target = tw.as_tensor(np.array([2**62, 1, "NaT"], "m8[s]")).copy()
    with pytest.raises(SizeOverflowError):
        tw.as_tensor(np.array([2**62, 0, 0], "m8[s]")).accumulate_into(target)
    with pytest.raises(SizeOverflowError):
        tw.as_tensor(np.array([-(2**62), -(2**62)], "m8[s]")).accumulate_into(
            tw.as_tensor(np.zeros(1, "m8[s]")).gather(0, [0, 0])
        )
    tw.as_tensor(np.array([1, "NaT", 5], "m8[s]")).accumulate_into(target)
    assert np.array_equal(np.asarray(target), np.array([2**62 + 1, "NaT", "NaT"], "m8[s]"), equal_nan=True)
