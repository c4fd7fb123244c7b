"""A shape as smooth blocks: full rank, disjoint, in order, and together exactly its indices."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import JaggedModeError, SizeOverflowError, StepError
from tensorwrapper.shape import BlockTable, Shape, Tiling
from tensorwrapper.testing import shapes


def by_cells(shape):
    """The blocks of a jagged shape, made one cell after the other."""
    blocks = []
    for index in shape.outer().indices():
        cell = shape.chip(*index)
        if not cell.size:
            continue
        extents, origin = (1,) * len(index) + cell.extents, index + cell.origin
        if blocks:
            last, at, run = blocks[-1]
            follows = index[:-1] == at[: len(index) - 1] and index[-1] == at[len(index) - 1] + run
            alike = last[len(index) :] == cell.extents and at[len(index) :] == cell.origin
            if follows and alike:
                blocks[-1] = (last, at, run + 1)
                continue
        blocks.append((extents, origin, 1))
    place = shape.outer_rank - 1
    return [
        Shape.smooth((*extents[:place], run, *extents[place + 1 :]), origin=origin)
        for extents, origin, run in blocks
    ]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (Shape(), [Shape()]),
        (Shape(2, 3, origin=(1, 5)), [Shape(2, 3, origin=(1, 5))]),
        (Shape(2, 0), []),
        (Shape.jagged([4, 4, 4, 0, 2]), [Shape(3, 4), Shape(1, 2, origin=(4, 0))]),
        (Shape.jagged([0, 0]), []),
        (Shape.jagged([], rank=3), []),
        (Shape.jagged([2, 0, 2]), [Shape(1, 2), Shape(1, 2, origin=(2, 0))]),
        (
            Shape.jagged([[3, 3], [3]]),
            [Shape(1, 2, 3), Shape(1, 1, 3, origin=(1, 0, 0))],
        ),
        (
            Shape.jagged([Shape(2), Shape(2, origin=(1,)), Shape(2, origin=(1,))], origin=(7, 0)),
            [Shape(1, 2, origin=(7, 0)), Shape(2, 2, origin=(8, 1))],
        ),
        (
            Shape.from_cells((2, 2), [(2, 3)] * 4),
            [Shape(1, 2, 2, 3), Shape(1, 2, 2, 3, origin=(1, 0, 0, 0))],
        ),
        (
            Shape.tiled([1, 2], [3, 3, 0, 3]),
            [
                Shape(1, 2, 1, 3),
                Shape(1, 1, 1, 3, origin=(0, 3, 0, 0)),
                Shape(1, 2, 2, 3, origin=(1, 0, 0, 0)),
                Shape(1, 1, 2, 3, origin=(1, 3, 0, 0)),
            ],
        ),
        (Shape.tiled([5, 5, 5])[1:], [Shape(2, 5, origin=(1, 0))]),
        (Shape.nested(Shape.jagged([4, 4]), layers=(1, 1)), [Shape(2, 4)]),
        (Shape.nested(Shape(2, 3), layers=(1, 1)), [Shape(2, 3)]),
        (Shape.triangular(3), [Shape(1, k, origin=(k - 1, 0)) for k in (1, 2, 3)]),
    ],
)
def test_blocks(shape, expected):
    assert list(shape.blocks()) == expected
    assert len(shape.block_table().extents) == len(expected)


@given(shapes())
def test_blocks_have_the_indices_of_the_shape_in_order(shape):
    blocks = list(shape.blocks())
    assert all((block.kind, block.rank) == ("smooth", shape.rank) and block.size for block in blocks)
    assert [index for block in blocks for index in block.indices()] == list(shape.indices())


@given(shapes(["jagged"]))
def test_blocks_are_runs_of_cells_as_long_as_they_can_be(shape):
    assert list(shape.blocks()) == by_cells(shape)


@given(shapes())
def test_the_table_has_the_blocks(shape):
    table, blocks = shape.block_table(), list(shape.blocks())
    assert table.extents.shape == table.origins.shape == (len(blocks), shape.rank)
    assert [tuple(row) for row in table.extents.tolist()] == [block.extents for block in blocks]
    assert [tuple(row) for row in table.origins.tolist()] == [block.origin for block in blocks]
    assert table.offsets.tolist() == list(itertools.accumulate((b.size for b in blocks), initial=0))
    assert table.offsets[-1] == shape.size


@given(shapes(), st.slices(20).filter(lambda s: s.step is None or s.step == 1))
def test_the_indices_of_a_run_come_block_by_block(shape, part):
    run = shape.indices()[part]
    blocks = list(run.blocks())
    assert [index for block in blocks for index in block] == list(run)
    assert all(len(block) for block in blocks)
    assert len(blocks) <= len(list(shape.blocks()))


def test_runs_longer_than_a_batch_stay_whole():
    lengths = np.repeat([3, 5, 5, 1], [40_000, 1, 30_000, 20_000])
    assert list(Shape.jagged(lengths).blocks()) == [
        Shape(40_000, 3),
        Shape(30_001, 5, origin=(40_000, 0)),
        Shape(20_000, 1, origin=(70_001, 0)),
    ]


def test_as_many_blocks_as_cells_span_batches():
    lengths = np.arange(30_000) % 7
    assert [b.extents[1] for b in Shape.jagged(lengths).blocks()] == [n for n in lengths.tolist() if n]
    pairs = Shape.from_cells((150, 150), np.stack([lengths[:22500] + 1, np.ones(22500, int)], axis=1))
    assert [b.origin[:2] for b in pairs.blocks()] == list(Shape(150, 150).indices())


def test_the_first_block_of_a_huge_shape_does_not_wait_for_the_last():
    tiles = Shape.tiled(np.arange(1, 10**6), [7, 8] * 10**5)
    blocks = tiles.blocks()
    assert next(blocks) == Shape(1, 1, 1, 7)
    assert next(blocks) == Shape(1, 1, 1, 8, origin=(0, 1, 0, 0))


def test_blocks_of_a_shape_beyond_64_bits_are_exact_and_their_offsets_refused():
    huge = Shape.from_cells((3,), [(2**40, 2**40)] * 2 + [(1, 1)])
    assert list(huge.blocks()) == [Shape(2, 2**40, 2**40), Shape(1, 1, 1, origin=(2, 0, 0))]
    box = Shape(2**40, 2**40)
    assert list(box.blocks()) == [box]
    for shape in (huge, box, Shape(1, origin=(2**70,))):
        with pytest.raises(SizeOverflowError, match="64 bits"):
            shape.block_table()


def test_blocks_of_indices_in_another_order_or_step_are_refused():
    rows = Shape.jagged([3, 1])
    with pytest.raises(JaggedModeError, match='order "F"'):
        rows.indices(order="F").blocks()
    with pytest.raises(StepError, match="step 2"):
        rows.indices()[::2].blocks()
    run = Shape(2, 3).indices(order="F")
    assert list(run.blocks()) == [run]
    assert list(Shape.nested(Shape(2, 3), layers=(1, 1)).indices(order="F").blocks()) == [run]
    assert list(run[:0].blocks()) == []


def test_a_table_is_a_value_that_nobody_can_write_to():
    table = Shape.jagged([4, 4, 2]).block_table()
    for twin in (table, copy.copy(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert type(twin) is BlockTable
        assert twin.extents.tolist() == [[2, 4], [1, 2]]
        for array in (twin.extents, twin.origins, twin.offsets):
            with pytest.raises(ValueError, match="read-only"):
                array[:1] = 0
    assert tokenize(table) == tokenize(Shape.jagged([4, 4, 2]).block_table())
    assert tokenize(table) != tokenize(Shape.jagged([4, 4, 3]).block_table())


def test_a_tiling_has_the_blocks_of_its_shape_where_tiles_are_alike():
    shape = Tiling([2] * 5, [3] * 4).shape
    assert [block.extents for block in shape.blocks()] == [(1, 4, 2, 3)] * 5
