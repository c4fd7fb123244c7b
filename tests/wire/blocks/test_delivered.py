"""What comes again when its tensor is complete or was delivered: structure is ignored, elements are not."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import Assembler, Message, decode, encode, split_blocks

MUCH = 2**20
ROWS = [[5, 1, 7], [], [2, 9]]


def sent(blocks):
    return decode([bytes(frame) for frame in encode([*blocks])])


def shared(rows=ROWS, *, max_bytes=2**20):
    """The blocks of two senders, both of which begin."""
    tensor = tw.jagged(rows)
    places = tensor.shape.leading(1).indices()
    return tuple(
        [
            list(split_blocks(tensor, "r", over=part.iterator(), max_bytes=max_bytes))
            for part in (places[0:2], places[2:3])
        ]
    )


def test_the_message_that_completes_a_tensor_may_say_its_structure_again():
    ours, theirs = shared()
    assembler = Assembler(MUCH, 60)
    assert assembler.add(sent(ours)) == {}
    assert assembler.add(sent([*theirs[::-1], ours[0]]))["r"].tolist() == ROWS
    assert (assembler.add(Message()), assembler.pending, assembler.nbytes) == ({}, (), 0)


def test_elements_that_come_twice_in_the_message_that_completes_change_nothing():
    ours, theirs = shared()
    assembler = Assembler(MUCH, 60)
    assembler.add(sent(ours))
    before = assembler.missing("r"), assembler.nbytes
    for wrong in ([*theirs[::-1], theirs[1]], [*theirs, *shared([[1, 1, 1], [], [1, 1]])[1]]):
        with pytest.raises(RemoteProtocolError, match="came before"):
            assembler.add(sent(wrong))
        assert (assembler.pending, assembler.missing("r"), assembler.nbytes) == (("r",), *before)
    assert assembler.add(sent(theirs))["r"].tolist() == ROWS


@pytest.mark.parametrize("max_bytes", [8, 12, 16, 2**20])
def test_structure_that_comes_late_is_ignored_however_it_is_cut(max_bytes):
    ours, theirs = shared()
    assembler = Assembler(MUCH, 60)
    assembler.add(sent(ours))
    assert assembler.add(sent(theirs))["r"].tolist() == ROWS
    for block in shared(max_bytes=max_bytes)[0]:
        if block.part != block.whole.elements:
            assert assembler.add(sent([block])) == {}
            assert (assembler.pending, assembler.nbytes) == ((), 0)


def test_a_new_tensor_of_the_name_begins_anew():
    assembler = Assembler(MUCH, 60)
    for rows in (ROWS, [[1], [2, 3, 4], [5]], ROWS, [[0, 0, 0], [], [0, 0]], [[1]]):
        # Block by block; the last but one has the structure of the one before, which is ignored at first.
        done = [assembler.add(sent([block])) for block in split_blocks(tw.jagged(rows), "r", max_bytes=16)]
        assert [list(found) for found in done] == [[]] * (len(done) - 1) + [["r"]]
        assert done[-1]["r"].tolist() == rows
        assert (assembler.pending, assembler.nbytes) == ((), 0)


def test_elements_that_come_again_begin_anew_without_structure():
    ours, theirs = shared()
    assembler = Assembler(MUCH, 60)
    assembler.add(sent([*ours, *theirs]))
    assert assembler.add(sent(ours[1:])) == {}
    assert assembler.pending == ("r",)
    assert sum(s.size for s in assembler.missing("r", part=1)) == 32


def test_what_was_delivered_can_be_changed():
    """What is remembered is no memory of the tensor."""
    few = tw.sparse([(0, 1), (2, 2)], [1.0, 2.0], Shape(3, 3))
    blocks = list(split_blocks(few, "r"))
    assembler = Assembler(MUCH, 60)
    done = assembler.add(sent(blocks))["r"]
    done.assign(0.0)
    assert assembler.add(sent(blocks[:1])) == {}
    assert assembler.pending == ()


def test_what_was_delivered_is_remembered_until_the_timeout_and_bounded():
    now = [0.0]
    assembler = Assembler(MUCH, 10, clock=lambda: now[0])
    blocks = list(split_blocks(tw.jagged(ROWS), "r"))
    assembler.add(sent(blocks))
    for now[0] in (9.0, 18.0):
        assembler.add(sent(blocks[:1]))
        assert assembler.pending == ()
    now[0] = 28.5
    assembler.add(sent(blocks[:1]))
    assert assembler.pending == ("r",)
    assembler.add(sent(blocks[1:]))
    assembler.add(sent(blocks[:1]))
    assert assembler.pending == ()
    for k in range(256):
        assembler.add(sent(split_blocks(tw.jagged([[k]]), f"x{k}")))
    assembler.add(sent(blocks[:1]))
    assert assembler.pending == ("r",)


def test_memory_for_what_was_delivered_is_bounded():
    assembler = Assembler(2**20, 60)
    tensors = [tw.jagged([[]] * 100_000 + [[k]]) for k in range(3)]
    blocks = [list(split_blocks(tensor, f"x{k}")) for k, tensor in enumerate(tensors)]
    for parts in blocks:
        assert assembler.add(sent(parts))
    # Of 800 kB each, there is room for one.
    assert assembler.add(sent(blocks[2][:1])) == {}
    assert assembler.pending == ()
    assert assembler.add(sent(blocks[0][:1])) == {}
    assert assembler.pending == ("x0",)


@pytest.mark.parametrize(
    "whole",
    [
        tw.jagged([[], [], []], dtype=np.int64),
        tw.from_buffer(tw.buffer.Sparse([], np.empty(0), 9, fill_value=0.0), Shape(3, 3)),
        tw.zeros(Shape(0, 3)),
        tw.strings(["", ""]),
    ],
    ids=["rows", "sparse", "box", "texts"],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_a_tensor_without_elements_is_delivered_once(whole, at_once):
    messages = [list(split_blocks(whole, "x")) for _ in range(3)]
    assembler = Assembler(MUCH, 60)
    if at_once:
        messages = [[block for blocks in messages for block in blocks]]
    done = [assembler.add(sent(blocks)) for blocks in messages]
    assert [list(found) for found in done] == [["x"], [], []][: len(messages)]
    assert done[0]["x"].tolist() == whole.tolist()
    assert (assembler.pending, assembler.nbytes) == ((), 0)
    # Another one of the name.
    assert assembler.add(sent(split_blocks(tw.zeros(Shape(0, 4)), "x")))["x"].shape == Shape(0, 4)
