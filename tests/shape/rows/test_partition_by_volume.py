"""Runs of cells of bounded volume: greedy, in order, empty cells included, larger cells alone."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape import Partition, Shape, Tiling
from tensorwrapper.testing import shapes, tilings


def volumes_of(shape):
    """The volumes of the cells, asked for one at a time."""
    if shape.kind == "smooth":
        rows = shape.leading(min(shape.rank, 1))
        return [shape.chip(*index).size for index in rows.indices()]
    return [cell.size for _, cell in shape.cells()]


def greedy(volumes, most):
    """The marks of the runs, one cell after the other."""
    marks, filled = [0], 0
    for k, volume in enumerate(volumes):
        if k > marks[-1] and filled + volume > most:
            marks.append(k)
            filled = 0
        filled += volume
    return [*marks, len(volumes)] if volumes else [0]


@pytest.mark.parametrize(
    ("shape", "most", "marks"),
    [
        (Shape.jagged([3, 1, 2, 9, 0, 4]), 5, [0, 2, 3, 4, 6]),
        (Shape.jagged([3, 1, 2]), 6, [0, 3]),
        (Shape.jagged([3, 1, 2]), 2**70, [0, 3]),
        (Shape.jagged([9, 9, 9]), 1, [0, 1, 2, 3]),
        (Shape.jagged([0, 0, 9, 0, 0]), 4, [0, 2, 3, 5]),
        (Shape.jagged([0, 0]), 1, [0, 2]),
        (Shape.jagged([], rank=2), 1, [0]),
        (Shape.jagged([9, 3, 1, 2])[1:], 4, [0, 2, 3]),
        (Shape.jagged([[2], [2, 2]]), 4, [0, 2, 3]),
        (Shape.jagged([Shape(2, 3)] * 4), 12, [0, 2, 4]),
        (Shape.tiled([5, 15, 10], [5, 15, 10]), 250, [0, 4, 5, 7, 9]),
        (Shape.tiled([], [1]), 1, [0]),
        (Shape.triangular(4), 4, [0, 2, 3, 4]),
        (Shape(10, 3, origin=(7, 0)), 7, [0, 2, 4, 6, 8, 10]),
        (Shape(5, 3), 2, [0, 1, 2, 3, 4, 5]),
        (Shape(5, 0), 1, [0, 5]),
        (Shape(0, 5), 1, [0]),
        (Shape(), 1, [0, 1]),
        (Shape(2**62), 2**61, [0, 2**61, 2**62]),
        (Shape.nested(Shape(4, 6, 5), layers=(2, 1)), 30, [0, 6, 12, 18, 24]),
        (Shape.nested(Shape(4, 6), layers=(2,)), 1, [0, 1]),
        (Shape.nested(Shape.jagged([[2], [2, 2]]), layers=(1, 2)), 6, [0, 2]),
        (Shape.nested(Shape.jagged([[2], [2, 2]]), layers=(1, 2)), 3, [0, 1, 2]),
        (Shape.nested(Shape.jagged([Shape(2, 3), Shape(1, 2)]), layers=(2, 1)), 3, [0, 1, 2, 3]),
        (Shape.nested(Shape.jagged([2, 3]), layers=(0, 2)), 1, [0, 1]),
        (Shape.nested(Shape.jagged([2, 3]), layers=(2, 0)), 2, [0, 2, 4, 5]),
    ],
)
def test_runs(shape, most, marks):
    runs = shape.partition_by_volume(most)
    assert type(runs) is Partition
    assert runs.marks.tolist() == marks
    assert not runs.marks.flags.writeable


@given(shapes(), st.integers(1, 40))
def test_runs_are_those_that_greed_makes(shape, most):
    assert shape.partition_by_volume(most).marks.tolist() == greedy(volumes_of(shape), most)


@given(tilings(), st.integers(1, 40))
def test_a_tiling_and_its_shape_have_the_same_runs(tiling, most):
    assert tiling.partition_by_volume(most) == tiling.shape.partition_by_volume(most)


@given(st.lists(st.integers(0, 50), max_size=300), st.integers(1, 4000), st.sampled_from([0, 17]))
def test_few_long_runs_and_many_short_ones_are_found_alike(volumes, most, start):
    offsets = np.array(list(itertools.accumulate(volumes, initial=start)))
    expected = greedy(volumes, most)
    assert Partition.by_volume(offsets, most).marks.tolist() == expected
    assert Partition.by_volume(offsets.astype(np.object_), most).marks.tolist() == expected


@pytest.mark.parametrize("most", [1, 10, 2_000, 10**9])
def test_many_rows(most):
    lengths = np.arange(50_000) % 9
    shape = Shape.jagged(np.concatenate([[4], lengths]))[1:]
    assert shape.partition_by_volume(most).marks.tolist() == greedy(lengths.tolist(), most)


def test_each_run_of_rows_is_a_slice():
    rows = Shape.jagged([3, 1, 2, 9, 0, 4], origin=(10, 0))
    marks = rows.partition_by_volume(5).marks
    parts = [rows.slice_outer(10 + a, 10 + b) for a, b in itertools.pairwise(marks.tolist())]
    assert [part.size for part in parts] == [4, 2, 9, 4]
    assert parts == list(rows.split(10 + marks[1:-1]))
    assert Shape.concat(parts) == rows


def test_volumes_beyond_64_bits_are_python_integers():
    cells = Shape.from_cells((4,), [(2**40, 2**40), (1, 1), (2, 2), (2**40, 2**40)])
    assert cells.partition_by_volume(4).marks.tolist() == [0, 1, 2, 3, 4]
    assert cells.partition_by_volume(2**80 + 4).marks.tolist() == [0, 2, 4]
    assert Shape.from_cells((3,), [(2**40, 2**40)] * 3).partition_by_volume(2**81).marks.tolist() == [0, 2, 3]
    assert Shape(5, 2**80).partition_by_volume(2**81).marks.tolist() == [0, 2, 4, 5]
    assert Shape.tiled([2**40], [2**40, 1]).partition_by_volume(2**90).marks.tolist() == [0, 2]


@pytest.mark.parametrize(
    "call",
    [
        lambda: Shape(2**64, 2).partition_by_volume(2**63),
        lambda: Shape.tiled([2**40, 1], [2**40, 1]).partition_by_volume(5),
    ],
)
def test_what_64_bits_do_not_number_is_refused(call):
    with pytest.raises(SizeOverflowError, match="64 bits"):
        call()


@pytest.mark.parametrize("shape", [Shape(3), Shape.jagged([3, 1]), Shape.tiled([1, 2]), Tiling([1, 2])])
@pytest.mark.parametrize(
    ("most", "error", "match"),
    [
        (0, ExtentError, "one element at least, not 0"),
        (-1, ExtentError, "not -1"),
        (2.5, ConversionError, r"most elements of a run .*2\.5"),
        (True, ConversionError, "True"),
        ("3", ConversionError, "'3'"),
    ],
)
def test_a_bound_that_is_none_is_refused(shape, most, error, match):
    with pytest.raises(error, match=match):
        shape.partition_by_volume(most)


def test_a_partition_is_a_public_value():
    runs = Shape.jagged([3, 1, 2]).partition_by_volume(4)
    assert runs == Partition.of_marks([0, 2, 3])
    assert (runs.count, runs.extent, runs.tile(1), runs.tile_of(2)) == (2, 3, (1, 2), 1)
    assert pickle.loads(pickle.dumps(runs)) == runs
    assert hash(runs) == hash(Partition.of_sizes([2, 1]))
    with pytest.raises(OutOfBoundsError, match="tile 2"):
        runs.tile(2)
