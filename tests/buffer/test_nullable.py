"""Values and truth values at the same addresses."""

import pickle

import numpy as np
import pytest
from dask.base import tokenize

import tensorwrapper as tw
from tensorwrapper.buffer import Dense, Nullable, join, look_up
from tensorwrapper.errors import BufferSizeError, ConversionError, DTypeError, ReadOnlyError
from tensorwrapper.testing import BufferContract


def of(values, valid):
    return Nullable(Dense(np.array(values)), Dense(np.array(valid, np.bool_)))


class TestAllValid(BufferContract):
    def buffer(self):
        return Nullable(Dense(np.arange(12.0)), Dense(np.ones(12, np.bool_)))

    def expected(self):
        return np.arange(12.0)


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(BufferSizeError):
        of([1, 2], [True])
    with pytest.raises(DTypeError, match="truth values"):
        Nullable(Dense(np.arange(2)), Dense(np.arange(2)))
    with pytest.raises(DTypeError, match="strings"):
        Nullable(tw.strings(["a"]).buffer, Dense(np.ones(1, np.bool_)))
    with pytest.raises(ConversionError, match="to_dense"):
        Nullable(of([1], [True]), Dense(np.ones(1, np.bool_)))


def test_nulls_are_not_read():
    buffer = of([1, 2, 3], [True, False, True])
    assert buffer.read(np.array([2, 0])).tolist() == [3, 1]
    assert buffer.null_count == 1
    for read in (lambda: buffer.read(np.array([1])), lambda: buffer.read_run(0, 3)):
        with pytest.raises(ConversionError, match="1 here"):
            read()
    buffer.write(np.array([1]), np.array([7]))
    assert buffer.read_run(0, 3).tolist() == [1, 7, 3]
    with pytest.raises(ReadOnlyError):
        buffer.as_readonly().write(np.array([1]), np.array([7]))
    with pytest.raises(ReadOnlyError, match="fill_null"):
        tw.as_tensor([1]).accumulate_into(tw.as_tensor([None, 1])[:1])


def test_what_is_made_of_buffers_keeps_nulls():
    one, plain = of([1, 2, 3], [True, False, True]), Dense(np.array([7, 8]))
    joined = tw.from_buffer(join([one, plain]), tw.Shape(5))
    assert joined.tolist() == [1, None, 3, 7, 8]
    assert tw.from_buffer(look_up([1, 0, 1], one), tw.Shape(3)).tolist() == [None, 1, None]
    assert tw.from_buffer(pickle.loads(pickle.dumps(one)), tw.Shape(3)).tolist() == [1, None, 3]
    target = tw.Layout(tw.Shape(3), strides=(2,))
    placed = tw.from_buffer(one, tw.Shape(3)).to_layout(target)
    assert placed.tolist() == [1, None, 3]
    assert tw.from_buffer(placed.buffer, tw.Shape(5)).tolist() == [1, 0, None, 0, 3]


def test_equal_is_what_has_equal_elements_and_nulls():
    one = tw.from_buffer(of([1.0, 5.0, np.nan], [True, False, True]), tw.Shape(3))
    other = tw.from_buffer(of([1.0, 9.0, np.nan], [True, False, True]), tw.Shape(3))
    assert one.array_equal(other, equal_nan=True)
    assert not one.array_equal(other)
    assert not one.array_equal(one.fill_null(0), equal_nan=True)
    assert tw.nullable([1, 2]).array_equal(tw.as_tensor([1, 2]))
    assert tw.as_tensor([1, 2]).array_equal(tw.nullable([1, 2]))
    assert not tw.as_tensor([1, 2]).array_equal(tw.nullable([1, 2], [True, False]))


def under_nulls(values):
    """Equal tensors that differ in what stands under their nulls."""
    valid = np.array([True, False, True, False])
    for under in values:
        held = np.array([1.5, under, -2.5, under])
        yield tw.nullable(held, valid.copy())


@pytest.mark.parametrize(
    "take", [lambda t: t, lambda t: t[1:], lambda t: t[::-1], lambda t: t.reshape((2, 2))]
)
@pytest.mark.parametrize("protocol", range(2, 6))
def test_pickles_do_not_tell_what_is_under_a_null_law_13(take, protocol):
    pickles, tokens = set(), set()
    for tensor in under_nulls([0.0, -0.0, 77.0, np.nan]):
        parts = []
        callback = parts.append if protocol == 5 else None
        taken = take(tensor)
        made = pickle.dumps(taken, protocol, buffer_callback=callback)
        pickles.add((made, *[bytes(own.raw()) for own in parts]))
        tokens.add(tokenize(taken))
        again = pickle.loads(made, buffers=parts)
        assert again.array_equal(taken)
        assert again.tolist() == taken.tolist()
    assert len(pickles) == 1
    assert len(tokens) == 1


def test_a_pickle_copies_no_values_where_zeros_are_under_the_nulls():
    values = np.arange(4.0)
    parts = []
    pickle.dumps(tw.nullable(values, values > 0), 5, buffer_callback=parts.append)
    assert any(np.shares_memory(np.frombuffer(own.raw()), values) for own in parts if own.raw().nbytes == 32)


def test_a_pickle_is_as_read_only_as_the_buffer():
    for under in (0.0, 7.0):
        (tensor,) = under_nulls([under])
        for buffer in (tensor.buffer, tensor.buffer.as_readonly()):
            again = pickle.loads(pickle.dumps(buffer, 5))
            assert again.is_readonly == buffer.is_readonly
        assert tensor.buffer.values.read_run(0, 4)[1] == under


@pytest.mark.parametrize(
    "valid",
    [
        np.array([True, False, True, True])[::2],
        np.broadcast_to(np.False_, (2,)),
        np.array([False, True])[::-1],
    ],
)
def test_truth_values_lie_in_memory_as_they_may(valid):
    tensor = tw.nullable(np.array([1, 2]), valid)
    expected = [x if ok else None for x, ok in zip([1, 2], valid.tolist(), strict=True)]
    assert tensor.tolist() == tensor[::-1].tolist()[::-1] == expected
    tensor[0] = None
    assert tensor.tolist() == [None, expected[1]]
