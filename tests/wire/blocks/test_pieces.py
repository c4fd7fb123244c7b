"""Pieces of tensors that are no box of numbers: boxes and runs, of which none is copied before it is sent."""

import contextlib
import tracemalloc

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.buffer import count_copies
from tensorwrapper.wire import Assembler, encode, split_blocks
from tests.support.wire.pieces import MUCH, assert_same, filled, put_together


@contextlib.contextmanager
def peak_memory():
    tracemalloc.start()
    try:
        peaks = []
        yield lambda: peaks[0]
        peaks.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def test_tiles_are_blocks_of_a_tiled_tensor():
    tiling = Tiling([2, 3], [1, 4])
    plain = tw.as_tensor(np.arange(25).reshape(5, 5))
    seen, stored = plain.tiled(tiling), filled(tiling.shape)
    for whole in (seen, stored):
        over = tiling.grid.indices().iterator()
        blocks = [b for b in split_blocks(whole, "x", over=over, max_bytes=8) if b.part == b.whole.elements]
        assert [b.tensor.size for b in blocks] == [2, 8, 3, 12]
        assert_same(
            put_together(
                Assembler(MUCH, 1), [*split_blocks(whole, "x", over=tiling.grid.indices().iterator())]
            )["x"],
            whole,
        )
    with count_copies() as count:
        over = tiling.grid.indices().iterator()
        tiles = [b.tensor for b in split_blocks(plain, "y", tiling=tiling, over=over)]
    assert count.nbytes == 0
    assert [tile.shape for tile in tiles] == list(tiling.tiles())
    over.position = 3
    (last,) = split_blocks(plain, "y", tiling=tiling, over=over)
    assert last.tensor.shape == tiling.tile((1, 1))


def test_no_element_of_packed_rows_is_copied_and_others_block_by_block():
    packed = filled(Shape.jagged(np.arange(1000) % 50))
    with count_copies() as count:
        for block in split_blocks(
            packed, "x", max_bytes=1000, over=packed.shape.leading(1).indices().iterator()
        ):
            encode([block])
    assert count.nbytes == 0
    large = filled(Shape.jagged(np.full(1000, 1000))).reverse(1)
    with peak_memory() as peak:
        for block in split_blocks(large, "x", max_bytes=2**17):
            encode([block])
    assert peak() < 2**21
