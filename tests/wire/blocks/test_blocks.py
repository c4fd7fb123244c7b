"""Blocks: which parts a tensor is cut into, and what cannot be one."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentError,
    ExtentMismatchError,
    LocalProtocolError,
)
from tensorwrapper.wire import Assembler, Block, decode, encode, split_blocks
from tests.support.wire.boxes import block, received

MUCH = 2**20


def test_a_block_is_a_box_for_who_knows_nothing_of_blocks():
    (got,) = received(block([[1.0, 2.0]], (3, 1), "x", Shape(4, 5))).tensors
    assert (got.shape, got.tolist()) == (Shape(1, 2, origin=(3, 1)), [[1.0, 2.0]])


@pytest.mark.parametrize("max_bytes", [8, 9, 16, 24, 40, 100, 500, 10**9])
def test_blocks_of_a_size_lie_packed_and_are_not_copied(max_bytes):
    whole = tw.from_buffer(np.arange(120.0), Shape(4, 5, 6, origin=(1, -2, 0)))
    blocks = list(split_blocks(whole, "x", max_bytes=max_bytes))
    assert all(0 < b.tensor.nbytes <= max_bytes for b in blocks)
    with count_copies() as count:
        frames = [encode([b]) for b in blocks]
    assert count.nbytes == 0
    assembler, done = Assembler(MUCH, 1), {}
    for parts in frames:
        done |= assembler.add(decode(parts))
    assert (done["x"].shape, done["x"].tolist()) == (whole.shape, whole.tolist())
    assert len(blocks) <= 2 * -(-960 // max_bytes) + 24


def test_blocks_by_a_tiling_are_its_tiles():
    whole = tw.as_tensor(np.arange(20).reshape(4, 5))
    tiling = Tiling([1, 0, 3], [2, 3])
    blocks = list(split_blocks(whole, "x", tiling=tiling))
    assert [b.tensor.shape for b in blocks] == [t for t in tiling.tiles() if t.size]
    assert Assembler(MUCH, 1).add(received(*reversed(blocks)))["x"].tolist() == whole.tolist()
    with pytest.raises(ExtentMismatchError):
        split_blocks(whole, "x", tiling=Tiling([4], [4]))


@pytest.mark.parametrize("shape", [Shape(), Shape(0), Shape(3, 0, 2)], ids=str)
def test_tensors_of_one_element_or_none_are_one_block(shape):
    whole = tw.zeros(shape)
    (only,) = split_blocks(whole, "x")
    done = Assembler(MUCH, 1).add(received(only))
    assert (done["x"].shape, done["x"].tolist()) == (shape, whole.tolist())


def test_what_cannot_be_a_block_is_refused():
    total = Shape(2, 2)
    for tensor, name, whole in (
        (tw.zeros(Shape(2, 2)), "", total),
        (tw.zeros(Shape(2, 3)), "x", total),
        (tw.zeros(Shape(1, 1, origin=(2, 0))), "x", total),
        (tw.zeros(Shape(1, 1, origin=(-1, 0))), "x", total),
        (tw.zeros(Shape(2)), "x", total),
        (tw.jagged([[1], []]), "x", total),
        (tw.sparse([(0, 0)], [1.0], total), "x", total),
        (tw.zeros(Shape(2, 2)), "x", Shape.jagged([2, 2])),
    ):
        with pytest.raises(LocalProtocolError):
            Block(tensor, name, whole)
    with pytest.raises(LocalProtocolError):
        split_blocks(tw.zeros(total), "")
    with pytest.raises(LocalProtocolError):
        split_blocks(tw.zeros(total), "x", max_bytes=7)
    with pytest.raises(LocalProtocolError, match="without elements"):
        split_blocks(tw.wire.no_elements(), "x")
    with pytest.raises(LocalProtocolError, match="tiling"):
        split_blocks(tw.jagged([[1], []]), "x", tiling=Tiling([2]))


@pytest.mark.parametrize("name", [5, b"x", True, None, ["a"], "", "x" * 1025], ids=repr)
def test_names_that_readers_refuse_are_refused_when_written(name):
    with pytest.raises(LocalProtocolError, match="name"):
        split_blocks(np.arange(3), name)
    with pytest.raises(LocalProtocolError, match="name"):
        Block(np.arange(3), name, (3,))


def test_the_longest_name_is_read():
    (only,) = split_blocks(np.arange(3), "x" * 1024)
    assert list(Assembler(MUCH, 1).add(received(only))) == ["x" * 1024]


def test_a_block_by_hand_takes_what_makes_tensors_and_shapes():
    for tensor in (np.arange(3), [0, 1, 2], tw.selection.as_view(np.arange(3))):
        for total in (Shape(3), (3,), [3]):
            done = Assembler(MUCH, 1).add(received(Block(tensor, "z", total)))
            assert done["z"].tolist() == [0, 1, 2]
    for total in (None, "ab", {1: 2}, 2.5):
        with pytest.raises(ConversionError):
            Block(np.arange(3), "z", total)
    with pytest.raises(ExtentError):
        Block(np.arange(3), "z", 3)
    with pytest.raises(ExtentError):
        Block(np.arange(3), "z", (3,), part=-1)
    with pytest.raises(DTypeError):
        Block(None, "z", (3,))
    for more in ({"part": "a"}, {"part": True}, {"whole": "a"}):
        with pytest.raises(ConversionError):
            Block(np.arange(3), "z", (3,), **more)
