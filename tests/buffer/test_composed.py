"""Buffers made of buffers: tables into others, and several in a row."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.buffer import Dense, constant, join, look_up
from tensorwrapper.errors import (
    ReadOnlyError,
)


def test_a_table_is_not_changed_by_its_maker():
    table = np.array([0, 1])
    buffer = look_up(table, Dense(np.arange(2)))
    table[:] = 99
    assert buffer.read(np.arange(2)).tolist() == [0, 1]


def test_writes_go_through_tables_and_parts():
    left, right = np.zeros(3), np.zeros(2)
    both = join([Dense(left), Dense(right)])
    t = tw.from_buffer(look_up([4, 0, 3, 1], both), tw.Shape(2, 2))
    t[:, 0] = [5.0, 6.0]
    t[0].assign(-1.0)
    assert (left.tolist(), right.tolist()) == ([-1.0, 0.0, 0.0], [6.0, -1.0])


def test_a_table_with_repeats_and_a_part_that_is_closed_are_read_only():
    closed = join([Dense(np.zeros(2)), constant(0.0, 1)])
    for buffer in (look_up([0, 0], Dense(np.zeros(2))), closed):
        t = tw.from_buffer(buffer, tw.Shape(buffer.size))
        assert t.is_readonly
        with pytest.raises(ReadOnlyError):
            t[0] = 1.0


@pytest.mark.parametrize(
    "copied",
    [
        lambda t: t.copy().to_numpy(),
        lambda t: t.to_padded(),
        lambda t: np.array(t, copy=True),
        lambda t: t.to_dense().to_numpy(),
        lambda t: t.astype("f8").to_numpy(),
    ],
)
def test_copies_of_one_part_of_a_joined_buffer_share_nothing_with_it(copied):
    memory = np.arange(3.0)
    t = tw.from_buffer(join([Dense(memory), Dense(np.arange(2.0))]), tw.Shape(5))[:2]
    array = copied(t)
    assert array.flags.writeable
    assert not np.shares_memory(array, memory)
    assert array.tolist() == [0.0, 1.0]
