"""Tensors in blocks: any disjoint boxes, in any order, several tensors at once, from several senders."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import (
    ConversionError,
    RemoteProtocolError,
)
from tensorwrapper.wire import Assembler, Block, Limits, blocks_of, decode, encode
from tests.support.wire.boxes import block, received
from tests.support.wire.sent_blocks import MUCH, cut_tensors, reason


class Clock:
    """Time that passes when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@given(st.data())
def test_any_partition_in_any_order_makes_the_tensor(data):
    tensors = [data.draw(cut_tensors(f"t{k}")) for k in range(data.draw(st.integers(1, 3)))]
    blocks = data.draw(st.permutations([b for _, parts in tensors for b in parts]))
    per_message = data.draw(st.integers(1, 3))
    assembler, done = Assembler(MUCH, 1), {}
    for start in range(0, len(blocks), per_message):
        done |= assembler.add(received(*blocks[start : start + per_message]))
    for k, (whole, _) in enumerate(tensors):
        got = done[f"t{k}"]
        assert (got.shape, got.dtype, got.tolist()) == (whole.shape, whole.dtype, whole.tolist())
        assert not got.is_readonly
    assert (assembler.pending, assembler.nbytes) == ((), 0)


@given(st.data())
def test_what_comes_twice_is_refused_and_changes_nothing(data):
    whole, parts = data.draw(cut_tensors("x"))
    parts = [p for p in data.draw(st.permutations(parts)) if p.tensor.size]
    assembler, done = Assembler(MUCH, 1), {}
    for k, part in enumerate(parts):
        done |= assembler.add(part)
        if not done:
            again = data.draw(st.sampled_from(parts[: k + 1]))
            spoilt = Block(tw.zeros(again.tensor.shape, dtype=whole.dtype), "x", whole.shape)
            before = assembler.missing("x"), assembler.nbytes
            assert reason(lambda spoilt=spoilt: assembler.add(spoilt)) == "layout"
            assert (assembler.missing("x"), assembler.nbytes) == before
    if parts:
        assert done["x"].tolist() == whole.tolist()


def test_what_does_not_fit_is_refused_before_memory_is_found_for_it():
    assembler = Assembler(2**20, 1)
    far = Block(tw.zeros(Shape(1, 1)), "huge", Shape(2**35, 2**35))
    assert reason(lambda: assembler.add(received(far))) == "limit"
    assert (assembler.pending, assembler.nbytes) == ((), 0)
    assembler.add(Block(tw.zeros(Shape(1)), "half", Shape(2**16)))
    assert assembler.nbytes == 2**19
    assembler.add(Block(tw.zeros(Shape(1)), "rest", Shape(2**16)))
    assert reason(lambda: assembler.add(Block(tw.zeros(Shape(1)), "one", Shape(2)))) == "limit"
    # Another block of one that is there still goes.
    assembler.add(Block(tw.zeros(Shape(2**16 - 1, origin=(1,))), "rest", Shape(2**16)))
    assembler.add(Block(tw.zeros(Shape(1)), "one", Shape(2)))
    assert assembler.pending == ("half", "one")


@pytest.mark.slow
def test_many_small_tensors_and_boxes_are_bounded_too():
    assembler = Assembler(4096, 1)
    small = (Block(tw.zeros(Shape(1), dtype="u1"), f"x{k}", Shape(2)) for k in range(2000))
    with pytest.raises(RemoteProtocolError, match="too many tensors"):
        add_all(assembler, small)
    assert 100 < len(assembler.pending) < 1000
    holes = Assembler(2**17, 1)
    total = Shape(*[2] * 16)
    ones = (Shape(*[1] * 16, origin=total.index(k)) for k in range(0, total.size, 3))
    with pytest.raises(RemoteProtocolError, match="too many boxes"):
        add_all(holes, (Block(tw.zeros(shape, dtype="u1"), "x", total) for shape in ones))


def add_all(assembler, blocks):
    for part in blocks:
        assembler.add(part)


def test_what_is_abandoned_is_forgotten():
    clock = Clock()
    assembler, total = Assembler(MUCH, 10, clock=clock), Shape(3)
    assembler.add(block([1.0], (0,), "x", total))
    clock.now = 6.0
    assembler.add(block([1.0], (0,), "y", total))
    assembler.add(block([1.0], (1,), "x", total))
    clock.now = 16.0
    assert (assembler.pending, assembler.evict()) == (("y", "x"), ())
    clock.now = 16.5
    assembler.add(block([1.0], (1,), "y", total))
    assert assembler.pending == ("y",)
    clock.now = 27.0
    assert (assembler.evict(), assembler.pending, assembler.nbytes) == (("y",), (), 0)
    # It starts anew, and what was forgotten may come again.
    assert assembler.add(block([1.0, 2.0, 3.0], (0,), "y", total))["y"].tolist() == [1.0, 2.0, 3.0]


def test_a_message_is_taken_as_a_whole_or_not_at_all():
    total, assembler = Shape(2), Assembler(MUCH, 1)
    assembler.add(block([5.0], (0,), "old", total))
    assembler.add(block([6.0], (0,), "older", total))
    before = assembler.pending, assembler.missing("old"), assembler.nbytes
    x, y = block([1.0, 2.0], (0,), "x", total), block([1.0], (0,), "y", total)
    old = block([7.0], (1,), "old", total)
    for message in (received(x, old, y, y), received(old, y, old), received(x, old, x)):
        assert reason(lambda message=message: assembler.add(message)) == "layout"
        assert (assembler.pending, assembler.missing("old"), assembler.nbytes) == before
        assert assembler.add(decode(encode([]))) == {}
    done = assembler.add(received(x, old, y))
    assert {name: tensor.tolist() for name, tensor in done.items()} == {"x": [1.0, 2.0], "old": [5.0, 7.0]}
    assert (assembler.pending, assembler.nbytes) == (("older", "y"), 32)


def test_limits_count_all_that_a_message_begins():
    assembler, total = Assembler(40, 1), Shape(2)
    many = received(*(block([1.0], (0,), name, total) for name in "abc"))
    assert reason(lambda: assembler.add(many)) == "limit"
    assert (assembler.pending, assembler.nbytes) == ((), 0)
    assembler.add(received(*(block([1.0], (0,), name, total) for name in "ab")))
    assert (assembler.pending, assembler.nbytes) == (("a", "b"), 32)


def test_tensors_that_are_whole_are_left_to_the_application():
    message = received(tw.zeros(Shape(2)), block([1.0], (0,), "x", Shape(1)))
    assert [b.name for b in blocks_of(message)] == ["x"]
    assert Assembler(MUCH, 1).add(message)["x"].tolist() == [1.0]
    assert blocks_of(decode([b"ZIO0TENS", bytes(24)])) == ()


def test_arguments_are_checked():
    for timeout in ("a", "1", b"1", None, [1], 1j, -1.0):
        with pytest.raises(ConversionError, match="timeout"):
            Assembler(MUCH, timeout)
    with pytest.raises(ConversionError, match="clock"):
        Assembler(MUCH, 1, clock=3)
    for wrong in (None, [], b"", np.arange(3)):
        with pytest.raises(ConversionError, match="Message or a Block"):
            Assembler(MUCH, 1).add(wrong)
    for name in (["a"], None, 3):
        with pytest.raises(ConversionError, match="text"):
            Assembler(MUCH, 1).missing(name)
        with pytest.raises(ConversionError, match="text"):
            Assembler(MUCH, 1).discard(name)
    with pytest.raises(ConversionError):
        Assembler(MUCH, 0)
    with pytest.raises(ConversionError):
        Assembler(MUCH, float("nan"))
    with pytest.raises(ConversionError):
        Assembler(2.5, 1)
    with pytest.raises(ConversionError, match="'x'"):
        Assembler(MUCH, 1).missing("x")


DROP = object()
GOOD = {"version": 1, "tensor": "x", "shape": [4, 5], "origin": [3, 0]}


@pytest.mark.parametrize(
    ("key", "values", "reason_"),
    [
        ("version", [DROP, None, True, 1.0, "1"], "schema"),
        ("version", [0, 2, -1, 10**30], "unsupported"),
        ("tensor", [DROP, None, "", 1, True, ["x"], {}], "schema"),
        ("tensor", ["x" * 1025], "limit"),
        ("shape", [DROP, None, 4, "44", [4.0, 5], [True, 5], [-1, 5], [[4], 5]], "schema"),
        ("shape", [[2**40, 5], [1] * 65], "limit"),
        ("shape", [[], [4], [4, 5, 1], [1, 5], [4, 1]], "layout"),
        ("origin", [[4, 0], [3, 1], [-1, 0], [0, -5]], "layout"),
        ("origin", [3, [3], [3, 0, 0], [3.0, 0], [None, 0], "30"], "schema"),
        ("origin", [[2**62 + 1, 0], [3, -(10**30)]], "limit"),
    ],
)
def test_descriptions_of_blocks_that_are_wrong(key, values, reason_):
    for value in values:
        fields = {k: v for k, v in {**GOOD, key: value}.items() if v is not DROP}
        if key == "shape" and len(value if isinstance(value, list) else [0, 0]) != 2:
            del fields["origin"]
        frames = hand_made(fields)
        assert reason(lambda f=frames: blocks_of(decode(f))) == reason_, value


def hand_made(fields, **more):
    tensor = {"dtype": "u", "word": 1, "shape": [2, 2], "origin": [3, 0], "part": 0, "block": fields, **more}
    return [b"ZIO0TENS" + json.dumps({"TENS": {"tensors": [tensor]}}).encode(), bytes(24), b"abcd"]


def test_what_the_tables_spoil_is_good():
    (good,) = blocks_of(decode(hand_made(GOOD)))
    assert (good.name, good.total) == ("x", Shape(4, 5, origin=(3, 0)))
    for fields in (None, [], "x", 3, True):
        frames = hand_made(fields)
        if fields is None:
            assert blocks_of(decode(frames)) == ()
        else:
            assert reason(lambda f=frames: blocks_of(decode(f))) == "schema"


def test_limits_hold_for_the_whole_tensor():
    message = decode(hand_made(GOOD), limits=Limits(extent=3))
    assert reason(lambda: blocks_of(message)) == "limit"
