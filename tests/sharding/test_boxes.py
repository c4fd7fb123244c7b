"""Tables of boxes: arrays that give their boxes back, and that nobody else changes."""

import numpy as np
import pytest

from tensorwrapper import Shape
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.sharding import BoxTable


def test_a_table_gives_its_boxes_back():
    boxes = [Shape(2, 3), Shape(0, 4, origin=(-1, 2))]
    table = BoxTable.from_boxes(boxes)

    assert list(table) == [table[0], table[-1]] == boxes
    assert table.stops.tolist() == [[2, 3], [-1, 6]]
    assert (table.sizes().tolist(), table.total_size(), table.hull()) == ([6, 0], 6, Shape(2, 3))
    assert table == BoxTable.from_arrays(table.origins, table.extents)
    assert len(BoxTable.from_boxes([], rank=3).sizes()) == 0


def test_a_table_does_not_change_with_the_arrays_it_was_made_of():
    origins, extents = np.zeros((2, 1), dtype=np.int64), np.ones((2, 1), dtype=np.int64)
    table = BoxTable.from_arrays(origins, extents)
    origins[0] = 9

    assert table[0] == Shape(1)
    with pytest.raises(ValueError, match="read-only"):
        table.extents[0] = 5


def test_boxes_that_are_near_merge_to_their_hull():
    near, far = (
        BoxTable.from_boxes([Shape(5), Shape(5, origin=(3,))]),
        BoxTable.from_boxes([Shape(1), Shape(1, origin=(2,))]),
    )

    assert list(near.merged()) == [Shape(8)]
    assert far.merged() == far
    assert len(BoxTable.from_boxes([], rank=2).merged()) == 0


def test_tables_refuse_what_is_no_box():
    with pytest.raises(RankError, match="give rank"):
        BoxTable.from_boxes([])
    with pytest.raises(ExtentError, match="is -1 in mode 1 of box 2"):
        BoxTable.from_arrays(np.zeros((3, 2), dtype=int), [[1, 1], [1, 1], [1, -1]])
    with pytest.raises(SizeOverflowError, match="box 0 ends beyond 64 bits in mode 0"):
        BoxTable.from_arrays([[2**62]], [[2**62]])
    with pytest.raises(RankError, match="two tables"):
        BoxTable.from_arrays([1, 2], [1, 2])
    with pytest.raises(OutOfBoundsError, match="box 2 does not exist: there are 2"):
        BoxTable.from_boxes([Shape(1), Shape(2)])[2]
    with pytest.raises(ExtentError, match="no hull"):
        BoxTable.from_boxes([Shape(0)]).hull()


def test_sizes_beyond_64_bits_are_refused_and_summed_exactly():
    table = BoxTable.from_boxes([Shape(2**40, 2**40), Shape(1, 1)])

    assert table.total_size() == 2**80 + 1
    with pytest.raises(SizeOverflowError, match="box 0 has"):
        table.sizes()
    assert BoxTable.from_boxes([Shape(2**40, 1), Shape(1, 2**40)]).sizes().tolist() == [2**40] * 2


@pytest.mark.parametrize("table", [[[1, 2], [3]], [[1, [2]]], [[0.5, 1]], [["a", "b"]]])
def test_fuzz_tables_that_are_not_rectangular_or_not_of_integers_are_refused(table):
    for tables in ((table, [[1, 2]]), ([[1, 2]], table)):
        with pytest.raises(ConversionError, match="must"):
            BoxTable.from_arrays(*tables)
