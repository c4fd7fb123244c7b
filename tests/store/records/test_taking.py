"""Rows by their numbers."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, OutOfBoundsError
from tensorwrapper.store.records._taking import rows_in_bounds, take_rows, to_rows


def test_rows_are_integers_in_a_row():
    assert to_rows([]).tolist() == []
    assert to_rows(np.array([3, 1], "u1")).tolist() == [3, 1]
    for given in (3, [[1]], [1.5], [True], "a"):
        with pytest.raises(ConversionError, match="1-d array of integers"):
            to_rows(given)


def test_rows_count_from_the_end_too():
    assert rows_in_bounds(np.array([-1, 0, 4]), 5).tolist() == [4, 0, 4]
    for row in (5, -6):
        with pytest.raises(OutOfBoundsError, match="but there are 5"):
            rows_in_bounds(np.array([row]), 5)


def test_views_and_tensors_give_rows():
    rows = tw.jagged([[1], [], [2, 3]])
    for tensor in (rows, tw.concat([rows, rows])):
        assert take_rows(tensor, np.array([-1, 0])).tolist() == [[2, 3], [1]]
