"""Tensors of which blocks are missing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.wire import Assembler, Block, decode, encode
from tests.support.wire.boxes import block, received
from tests.support.wire.sent_blocks import MUCH, cut_tensors, reason


@given(st.data())
def test_what_is_missing_is_what_did_not_come(data):
    whole, parts = data.draw(cut_tensors("x"))
    parts = data.draw(st.permutations(parts))
    taken = parts[: data.draw(st.integers(0, len(parts)))]
    assembler, come = Assembler(MUCH, 1), np.zeros(whole.shape.extents, dtype=bool)
    there = tw.from_buffer(come.reshape(-1), whole.shape)
    for part in taken:
        assembler.add(part)
        if part.tensor.size:
            there.window(part.tensor.shape).assign(True)
        if not assembler.pending:
            break
    if assembler.pending:
        absent = tw.from_buffer(np.zeros(whole.size, dtype="i8"), whole.shape)
        for shape in assembler.missing("x"):
            assert shape.size
            absent.window(shape).assign(np.asarray(absent.window(shape)) + 1)
        assert np.array_equal(np.asarray(absent), ~come)


def test_blocks_that_overlap_by_one_element_are_refused():
    total, assembler = Shape(4, 4), Assembler(MUCH, 1)
    assembler.add(block(np.ones((2, 2)), (1, 1), "x", total))
    for origin in ((0, 0), (0, 2), (2, 0), (2, 2), (1, 1)):
        assert reason(lambda o=origin: assembler.add(block(np.ones((2, 2)), o, "x", total))) == "layout"
    assert sum(s.size for s in assembler.missing("x")) == 12


@pytest.mark.parametrize(
    "other",
    [
        block([1.0], (1,), "x", Shape(3)),
        block([1.0], (1,), "x", Shape(2, origin=(1,))),
        block([[1.0]], (1, 0), "x", Shape(2, 1)),
        block(np.float32([1]), (1,), "x", Shape(2)),
        block(np.int64([1]), (1,), "x", Shape(2)),
    ],
    ids=["extent", "origin", "rank", "word", "kind"],
)
def test_blocks_that_disagree_about_their_tensor_are_refused(other):
    assembler = Assembler(MUCH, 1)
    assembler.add(block([7.0], (0,), "x", Shape(2)))
    assert reason(lambda: assembler.add(received(other))) == "layout"
    assert assembler.add(block([8.0], (1,), "x", Shape(2)))["x"].tolist() == [7.0, 8.0]


def test_damaged_elements_are_not_counted_as_there():
    total = Shape(1000)
    good = Block(tw.zeros(Shape(900)), "x", total)
    frames = [bytes(frame) for frame in encode([good], compress="zlib")]
    frames[2] = frames[2][:-1] + bytes([frames[2][-1] ^ 1])
    assembler = Assembler(MUCH, 1)
    assert reason(lambda: assembler.add(decode(frames))) == "integrity"
    assert (assembler.pending, assembler.nbytes) == ((), 0)
    assembler.add(received(good, compress="zlib"))
    assert assembler.missing("x") == (Shape(100, origin=(900,)),)
