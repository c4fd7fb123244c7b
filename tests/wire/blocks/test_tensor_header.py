"""Blocks of tensors of every kind: in any order, exact, bounded; and what iterators lead to."""

import contextlib
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import (
    LocalProtocolError,
    OutOfBoundsError,
    RemoteProtocolError,
)
from tensorwrapper.wire import Assembler, Limits, decode, encode, split_blocks
from tests.support.wire.pieces import MUCH, assert_same, filled, put_together, rows_of, sent, tensors


@given(st.data())
def test_blocks_of_any_kind_and_size_in_any_order_make_the_tensors(data):
    wholes = [data.draw(tensors()) for _ in range(data.draw(st.integers(1, 2)))]
    blocks = []
    for k, whole in enumerate(wholes):
        most = max(
            data.draw(st.sampled_from([1, 16, 17, 64, 10**6])),
            whole.dtype.itemsize if whole.dtype.kind not in "TO" else 1,
        )
        pieces = list(split_blocks(whole, f"x{k}", max_bytes=most))
        assert all(piece.tensor.nbytes <= most for piece in pieces)
        blocks += pieces
    blocks = data.draw(st.permutations(blocks))
    assembler = Assembler(MUCH, 1)
    done = put_together(assembler, blocks, data.draw(st.integers(1, 3)))
    for k, whole in enumerate(wholes):
        assert_same(done[f"x{k}"], whole)
        assert not done[f"x{k}"].is_readonly
    assert (assembler.pending, assembler.nbytes) == ((), 0)


@given(tensors(), st.data())
def test_what_comes_twice_is_refused_and_what_is_missing_is_said(whole, data):
    blocks = list(split_blocks(whole, "x", max_bytes=16))
    assembler = Assembler(MUCH, 1)
    if not sum(block.tensor.nbytes for block in blocks):
        return
    taken = blocks[: data.draw(st.integers(1, len(blocks)))]
    for block in taken:
        done = assembler.add(sent([block]))
    if done:
        assert len(taken) == len(blocks)
        return
    before = assembler.nbytes
    again = data.draw(st.sampled_from(taken))
    elements = 0 if again.whole is None else again.whole.elements
    if again.part == elements:
        with pytest.raises(RemoteProtocolError) as caught:
            assembler.add(sent([again]))
        assert caught.value.reason == "layout"
    else:
        # What says where elements are may come again, if it is the same.
        assert assembler.add(sent([again])) == {}
    assert assembler.nbytes == before
    parts = {block.part for block in blocks}
    missing = {part: sum(s.size for s in assembler.missing("x", part=part)) for part in parts}
    absent = dict.fromkeys(parts, 0)
    for block in blocks[len(taken) :]:
        absent[block.part] += block.tensor.size
    assert missing == absent
    assert assembler.missing("x") == assembler.missing("x", part=elements)
    assert_same(put_together(assembler, blocks[len(taken) :])["x"], whole)


@contextlib.contextmanager
def peak_memory():
    tracemalloc.start()
    try:
        peaks = []
        yield lambda: peaks[0]
        peaks.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def test_parts_that_say_where_elements_are_must_agree():
    assembler = Assembler(MUCH, 1)
    ours, theirs = (list(split_blocks(rows_of(lengths), "x", max_bytes=8)) for lengths in ([3, 1], [1, 3]))
    assembler.add(sent(ours[:3]))
    with pytest.raises(RemoteProtocolError, match="came before"):
        assembler.add(sent([theirs[1]]))
    # They were cut elsewhere, and overlap what came: what is new is taken.
    again = list(split_blocks(rows_of([3, 1]), "x", max_bytes=12))
    assert_same(put_together(assembler, [*again[:2], *ours[3:]])["x"], rows_of([3, 1]))


def test_blocks_that_disagree_about_their_tensor_are_refused():
    assembler = Assembler(MUCH, 1)
    (first, *_), (other, *_) = (split_blocks(t, "x", max_bytes=8) for t in (rows_of([3, 1]), rows_of([3, 2])))
    assembler.add(sent([first]))
    plain = next(split_blocks(np.arange(3), "x"))
    for block in (other, plain):
        with pytest.raises(RemoteProtocolError, match="the same of its tensor"):
            assembler.add(sent([block]))
    with pytest.raises(OutOfBoundsError):
        assembler.missing("x", part=2)


def test_parts_that_do_not_fit_together_are_refused_with_the_last_and_forgotten():
    blocks = list(split_blocks(rows_of([3, 1]), "x"))
    spoilt = sent([blocks[0]])
    data = np.frombuffer(spoilt.parts[0], "<i8")[::-1].copy()
    frames = [*spoilt.to_frames()[:2], data]
    assembler = Assembler(MUCH, 1)
    assembler.add(decode(frames))
    with pytest.raises(RemoteProtocolError) as caught:
        assembler.add(sent(blocks[1:]))
    assert caught.value.reason == "layout"
    assert (assembler.pending, assembler.nbytes) == ((), 0)


def test_limits_come_before_memory():
    huge = tw.sparse([(5, 5)], [1.0], Shape(2**30, 2**30))
    blocks = list(split_blocks(huge, "x", max_bytes=64))
    assert put_together(Assembler(100, 1), blocks)["x"].nnz == 1
    assembler = Assembler(15, 1)
    with pytest.raises(RemoteProtocolError) as caught:
        assembler.add(sent(blocks[:1]))
    assert (caught.value.reason, assembler.pending, assembler.nbytes) == ("limit", (), 0)
    with pytest.raises(LocalProtocolError, match="extent"):
        split_blocks(huge, "x", limits=Limits(extent=100))


def test_an_assembler_holds_the_result_and_one_block():
    rows = filled(Shape.jagged(np.full(2000, 1000)))
    blocks = [[bytes(f) for f in encode([b])] for b in split_blocks(rows, "x", max_bytes=2**20)]
    assembler = Assembler(2**25, 1)
    with peak_memory() as peak:
        for frames in blocks:
            done = assembler.add(decode(frames))
    assert done["x"].array_equal(rows)
    assert peak() < rows.nbytes + 2**20


def test_who_knows_nothing_of_blocks_reads_numbers():
    blocks = list(split_blocks(tw.strings([["ab", ""], ["c", "d"]]), "x", max_bytes=20))
    read = sent(blocks).tensors
    assert [t.dtype for t in read] == [np.uint8] * len(blocks)
    assert bytes(read[-1].elements()) == b"abcd"
    nested = tw.from_buffer(np.arange(6), Shape.nested(Shape(2, 3, origin=(4, 4)), layers=(1, 1)))
    assert [t.tolist() for t in sent(split_blocks(nested, "x", max_bytes=24)).tensors] == [
        [[0, 1, 2]],
        [[3, 4, 5]],
    ]
