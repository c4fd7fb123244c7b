"""What tasks do with runs of rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import ConversionError
from tensorwrapper.interop.dask._rows import join_rows, map_cells, marks_of, reduce_found, row_starts
from tensorwrapper.testing import jagged_shapes


@given(jagged_shapes())
def test_rows_begin_where_they_do(shape):
    starts, first = row_starts(shape), shape.origin_at(())
    assert starts.tolist() == [
        sum(shape[first : first + k].size for _ in (0,)) for k in range(shape.extent_at(()) + 1)
    ]
    for most in (1, 3, 1000):
        marks = marks_of(shape, most).tolist()
        assert marks[0] == 0
        assert marks[-1] == shape.extent_at(())
        assert all(starts[b] - starts[a] <= most or b == a + 1 for a, b in pairwise(marks))


def test_nobody_writes_to_what_a_task_made():
    rows = tw.jagged([[1, 2], [3]])
    made = map_cells(np.negative, rows.shape, rows.dtype, rows)

    assert made.tolist() == [[-1, -2], [-3]]
    assert made.is_readonly
    assert join_rows([made[:1], made[1:]], rows.shape, rows.dtype).array_equal(made)
    with pytest.raises(ConversionError, match="dtype="):
        map_cells(np.sqrt, rows.shape, rows.dtype, rows)


def test_parts_without_elements_count_for_nothing():
    assert reduce_found(np.maximum, None, np.dtype("i8"), [None, np.array(3), np.array(-1)]) == 3
    assert reduce_found(np.add, 5, np.dtype("i8"), [None]) == 5
    assert row_starts(Shape.jagged([2, 0, 1])).tolist() == [0, 2, 2, 3]
