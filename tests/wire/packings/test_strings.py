"""Tensors of strings come back, with their nulls, and their bytes are not copied."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire
from tensorwrapper.buffer import StringData, decode_tf_strings
from tensorwrapper.errors import LocalProtocolError
from tests.support.wire.sent_elements import WORDS, assert_same, sent


@pytest.mark.parametrize("strings", ["offsets", "tf_string"])
def test_strings_of_every_shape_come_back(strings):
    box, rows = tw.strings(WORDS), tw.strings([["a"], [], ["b", "\U0001f600" * 100]])
    tensors = [
        box,
        box[:, ::-1],
        box.permute((1, 0)),
        box.window(Shape(1, 1, origin=(1, 1))),
        box.tiled(Tiling([1, 1], [2])),
        rows,
        rows[1:],
        tw.strings("alone"),
        tw.strings([b"a\x00", b"\xff", b""]),
        tw.strings(["x", "x"])[:0],
        tw.strings(["x"]).broadcast((3,)),
    ]
    for tensor, got in zip(tensors, sent(*tensors, strings=strings), strict=True):
        assert_same(got, tensor)
        assert got.buffer.kind == tensor.buffer.kind


def test_nulls_come_back_and_room_for_them():
    tensor = tw.strings(["a", None, "", None, *["b"] * 10])
    (got, full) = sent(tensor, tw.strings(["a"], nullable=True))
    assert_same(got, tensor)
    assert (got.buffer.nullable, full.buffer.nullable, full.tolist()) == (True, True, ["a"])
    (plain,) = sent(tw.strings(["a"]))
    assert not plain.buffer.nullable
    with pytest.raises(LocalProtocolError, match=r"tensor 0.*null"):
        wire.encode([tensor], strings="tf_string")


def test_tf_string_is_what_tensorflow_has():
    frames = wire.encode([tw.strings(["foobar", "yorkie is so cute"])], strings="tf_string")
    text = "0000000000000000070000000000000006666f6f62617211796f726b696520697320736f2063757465"
    assert bytes(frames[2]).hex() == text
    assert decode_tf_strings(frames[2], 2).to_list() == [b"foobar", b"yorkie is so cute"]


def test_the_bytes_of_strings_are_not_copied():
    tensor = tw.strings(["abc", "d"])
    frames = wire.encode([tensor])
    assert np.shares_memory(np.frombuffer(frames[2], "u1"), tensor.buffer.stored.data)
    (got,) = wire.decode(frames).tensors
    assert np.shares_memory(got.buffer.stored.data, tensor.buffer.stored.data)
    assert [np.frombuffer(f, "<i8").tolist() for f in frames[3:]] == [[0, 3, 4]]


@given(st.lists(st.one_of(st.none(), st.text(max_size=20)), max_size=20))
def test_random_strings_come_back(items):
    tensor = tw.from_buffer(tw.buffer.Strings(StringData.from_list(items)), Shape(len(items)))
    assert_same(sent(tensor)[0], tensor)
