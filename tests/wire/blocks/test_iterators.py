"""What iterators lead to: runs, boxes and tiles, from wherever they are set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    LocalProtocolError,
    OutOfBoundsError,
    RankError,
)
from tensorwrapper.wire import Assembler, split_blocks
from tests.support.wire.pieces import MUCH, assert_same, filled, put_together, rows_of, tensors


@given(tensors(), st.data())
def test_an_iterator_over_leading_modes_sends_what_is_under_each(whole, data):
    shape = whole.shape.flatten() if whole.shape.kind == "nested" else whole.shape
    modes = data.draw(st.integers(0, shape.rank))
    over = shape.leading(modes).indices(order=data.draw(st.sampled_from("CF"))).iterator()
    most = data.draw(st.sampled_from([16, 64, 10**6]))
    try:
        pieces = split_blocks(whole, "x", over=over, max_bytes=most)
    except LocalProtocolError:
        assert whole.layout.is_tiled
        assert whole.buffer.fill_value is not None or whole.buffer.dtype.kind in "TO"
        return
    blocks, positions = [], [0]
    for block in pieces:
        blocks.append(block)
        positions.append(over.position)
        if data.draw(st.booleans()):
            # Stopped and resumed: a new call goes on from the position, with another iterator.
            position, over = over.position, over.indices.iterator()
            over.position = position
            pieces = split_blocks(whole, "x", over=over, max_bytes=most)
            blocks += pieces
            break
    assert over.remaining == 0
    assert positions == sorted(positions)
    assembler = Assembler(MUCH, 1)
    done = put_together(assembler, data.draw(st.permutations(blocks)))
    assert_same(done["x"], whole)


def test_an_iterator_with_a_set_origin_or_position_decides_what_follows():
    whole = tw.as_tensor(np.arange(100).reshape(10, 10))
    window = Shape(2, 3).indices().iterator()
    blocks = split_blocks(whole, "x", over=window)
    first = next(blocks)
    assert (first.tensor.shape, window.position) == (Shape(1, 3), 3)
    window.origin = (6, 4)
    second = next(blocks)
    assert (second.tensor.shape, second.tensor.tolist()) == (Shape(1, 3, origin=(7, 4)), [[74, 75, 76]])
    window.position = 2
    assert [block.tensor.tolist() for block in blocks] == [[[66]], [[74, 75, 76]]]
    rows = Shape.jagged([3, 0, 1, 2])
    over = rows.leading(1).indices().iterator()
    over.position = 2
    assert [b.tensor.tolist() for b in split_blocks(filled(rows), "x", over=over, max_bytes=16)] == [
        [4.0],
        [5.0, 6.0],
    ]


def test_what_no_index_leads_to_is_refused_and_the_iterator_stays():
    rows = rows_of([3, 1])
    over = Shape(2, 3).indices().iterator()
    over.position = 3
    blocks = split_blocks(rows, "x", over=over, max_bytes=4)
    assert next(blocks).tensor.tolist() == [4]
    with pytest.raises(OutOfBoundsError, match=r"\(1, 1\)"):
        next(blocks)
    assert over.position == 4
    with pytest.raises(RankError):
        list(split_blocks(rows, "x", over=Shape(1, 1, 1).indices().iterator()))
    for wrong in (Shape(2).indices(), iter([(0,)]), 3):
        with pytest.raises(ConversionError, match="iterator"):
            split_blocks(rows, "x", over=wrong)
    few = tw.sparse([(1, 1)], [5.0], Shape(2, 2)).tiled(Tiling([1, 1], [2]))
    with pytest.raises(LocalProtocolError):
        split_blocks(few, "x", over=few.shape.leading(1).indices().iterator())
    with pytest.raises(ExtentMismatchError):
        split_blocks(tw.zeros((2, 2)), "x", tiling=Tiling([3], [2]), over=Shape(1, 1).indices().iterator())
