"""What tasks do with runs of rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import ConversionError, ExtentMismatchError
from tensorwrapper.interop.dask import _rows
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


@given(jagged_shapes())
def test_a_function_of_tiles_makes_what_it_makes_of_each(shape):
    tensor = tw.from_buffer(np.arange(float(shape.size)), shape)
    axes = tuple(range(1, shape.rank - shape.outer_rank + 1))
    calls = []

    def flipped(tiles):
        calls.append(tiles.shape[1:])
        tiles *= 2  # what it gets is its own
        return np.flip(tiles, axes)

    found = map_cells(flipped, shape, tensor.dtype, tensor)

    assert tensor.elements().tolist() == list(range(shape.size))
    assert [tile.tolist() for _, tile in found.cells()] == [
        (2 * np.flip(tile.to_numpy())).tolist() for _, tile in tensor.cells()
    ]
    assert calls == sorted(set(calls))


def test_tiles_of_many_batches_come_back_where_they_were(monkeypatch):
    monkeypatch.setattr(_rows, "BATCH", 5)
    tensor = tw.jagged([[1, 2, 3, 4, 5, 6, 7], [8], [], [9, 10, 11], [12], [13, 14, 15]])

    assert map_cells(np.negative, tensor.shape, tensor.dtype, tensor).array_equal(-tensor)


def test_tiles_of_one_size_become_tiles_of_one_size():
    rows = tw.jagged([[1, 2], [3, 4], [5]])
    with pytest.raises(ExtentMismatchError, match=r"tiles of \(2,\) .* tiles of \(1,\) and of \(2,\)"):
        map_cells(np.negative, Shape.jagged([1, 2, 1]), rows.dtype, rows)


def test_parts_without_elements_count_for_nothing():
    assert reduce_found(np.maximum, None, np.dtype("i8"), [None, np.array(3), np.array(-1)]) == 3
    assert reduce_found(np.add, 5, np.dtype("i8"), [None]) == 5
    assert row_starts(Shape.jagged([2, 0, 1])).tolist() == [0, 2, 2, 3]
