"""Outer selections are values."""

import copy
import pickle

import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, OutOfBoundsError
from tensorwrapper.selection import Outer


def test_equal_positions_are_one_value_however_they_were_given():
    values = [Outer([range(0, 6, 2), [1, 2, 9]]), Outer([np.array([0, 2, 4], "i2"), np.array([1, 2, 9])])]
    assert values[0] == values[1]
    assert len(set(values)) == 1
    assert values[0] != Outer([range(0, 6, 2), [1, 2, 8]])
    assert values[0] != Outer([range(0, 6, 2)])
    assert values[0] != "positions"


def test_extents_and_size_count_positions():
    outer = Outer([range(4), [5, 7, 8], [3]])
    assert outer.extents == (4, 3, 1)
    assert outer.size == 12
    assert Outer([]).size == 1
    assert Outer([range(0), [1]]).size == 0


def test_boxes_around():
    outer = Outer([range(2, 9, 3), [5, 7, 8]])
    assert outer.bounding_box() == Outer([range(2, 9), range(5, 9)])
    assert outer.hull(Outer([[0], [20]])) == Outer([range(9), range(5, 21)])


def test_it_pickles_and_copies_read_only():
    outer = Outer([range(3), [1, 2, 9]])
    for other in (pickle.loads(pickle.dumps(outer)), copy.deepcopy(outer)):
        assert other == outer
        assert hash(other) == hash(outer)
        assert not other.modes[1].flags.writeable


def test_the_array_that_was_given_may_change():
    positions = np.array([1, 2, 9])
    outer = Outer([positions])
    positions[:] = 0
    assert outer == Outer([[1, 2, 9]])


@pytest.mark.parametrize("given", [[2, 1], [1, 1], [-1, 3], range(5, 0, -1), range(-2, 3)])
def test_positions_ascend_from_zero(given):
    with pytest.raises(OutOfBoundsError, match="ascend"):
        Outer([given])


@pytest.mark.parametrize("given", [[1.5], [True], "ab", [[1, 2]]])
def test_positions_are_integers(given):
    with pytest.raises(ConversionError):
        Outer([given])
