"""Sparse tensors and strings on the wire: they come back, and who knows boxes alone reads their parts."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire
from tensorwrapper.buffer import StringData, decode_tf_strings
from tensorwrapper.errors import LocalProtocolError


def sent(*tensors, **options):
    return wire.decode([bytes(frame) for frame in wire.encode(tensors, **options)]).tensors


def described(*tensors, **options):
    return wire.decode(wire.encode(tensors, **options)).label_object["TENS"]["tensors"]


def assert_same(got, want):
    little = want.dtype.newbyteorder("<") if want.dtype.kind not in "TO" else want.dtype
    assert (got.shape, got.dtype, got.is_sparse) == (want.shape, little, want.is_sparse)
    assert got.is_readonly
    assert got.tolist() == want.tolist()
    if want.is_sparse:
        assert got.coords().tolist() == want.coords().tolist()
        assert np.array_equal(got.values(), want.values(), equal_nan=want.dtype.kind in "fc")
        assert got.buffer.fill_value.tobytes() == want.buffer.fill_value.astype(got.dtype).tobytes()


COORDS = [(0, 1), (2, 3), (1, 1)]


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c8", "c16", "M8[s]", ">f8", ">i4"])
def test_sparse_elements_of_any_type_come_back(dtype):
    values = np.array([1, 1, 1]).astype(dtype)
    (got,) = sent(tw.sparse(COORDS, values, Shape(3, 4), fill_value=np.zeros((), dtype)))
    assert_same(got, tw.sparse(COORDS, values, Shape(3, 4), fill_value=np.zeros((), dtype)))


@pytest.mark.parametrize("fill", [0.0, -0.0, 1.5, -1e300, np.nan, np.inf])
def test_any_fill_comes_back(fill):
    tensor = tw.sparse(COORDS, [5.0, 7.0, np.inf], Shape(3, 4), fill_value=fill)
    (got,) = sent(tensor)
    assert got.buffer.fill_value.tobytes() == np.float64(fill).tobytes()
    assert np.array_equal(got.values(), tensor.values())
    assert ("fill" in described(tensor)[0]["sparse"]) == (np.float64(fill).tobytes() != bytes(8))


def test_sparse_tensors_of_every_shape_come_back():
    box = tw.sparse(COORDS, [5.0, 7.0, 1.0], Shape(3, 4))
    rows = Shape.jagged([1, 0, 3])
    tiling = Tiling([1, 2], [2, 2])
    tensors = [
        box,
        box[1:, ::-1],
        box.permute((1, 0)),
        box.window(Shape(2, 3, origin=(1, 1))),
        box.tiled(tiling),
        tw.sparse(np.empty((0, 2), dtype=int), [], Shape(3, 4)),
        tw.sparse([()], [3], Shape()),
        tw.sparse(np.empty((0, 1), dtype=int), [], Shape(0)),
        tw.sparse([(2, 1), (0, 0)], [1, 2], rows),
        tw.sparse([(1, 1, 0, 0)], [1], tiling.shape),
    ]
    for tensor, got in zip(tensors, sent(*tensors), strict=True):
        assert_same(got, tensor)
        assert got.layout.is_tiled == tensor.layout.is_tiled


def test_a_sparse_tensor_larger_than_memory_comes_back():
    (got,) = sent(tw.sparse([(10**9, 1), (2, 10**9)], [1, 2], Shape(2 * 10**9, 2 * 10**9)))
    assert (got.nnz, got[10**9, 1].item(), got.shape.size) == (2, 1, 4 * 10**18)


def test_what_is_stored_is_not_copied_and_lies_at_its_addresses():
    tensor = tw.sparse(COORDS, [5.0, 7.0, 1.0], Shape(3, 4), fill_value=2.5)
    frames = wire.encode([tensor])
    assert np.shares_memory(np.frombuffer(frames[2]), tensor.buffer.stored[1])
    (item,) = described(tensor)
    assert (item["packing"], item["shape"]) == ("sparse", [3])
    assert item["sparse"] == {"version": 1, "shape": [3, 4], "addresses": 1, "fill": 2}
    assert np.frombuffer(frames[3], "<i8").tolist() == [1, 5, 11]
    assert np.frombuffer(frames[2]).tolist() == [5, 1, 7]
    assert np.frombuffer(frames[4]).tolist() == [2.5]


@given(data=st.data())
def test_random_sparse_tensors_come_back(data):
    shape = Shape(*data.draw(st.lists(st.integers(0, 4), max_size=3)))
    places = data.draw(st.sets(st.integers(0, max(shape.size - 1, 0)), max_size=shape.size))
    values = data.draw(st.lists(st.integers(-2, 2), min_size=len(places), max_size=len(places)))
    coords = shape.indices_at(np.array(sorted(places), dtype=np.int64))
    tensor = tw.sparse(coords, np.array(values, dtype="i4"), shape, fill_value=data.draw(st.integers(-1, 1)))
    assert_same(sent(tensor)[0], tensor)


WORDS = [["a", "bcd"], ["", "h\u00e9llo"]]


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


def test_a_peer_that_knows_only_boxes_reads_the_boxes_of_a_mixed_message():
    a = np.arange(6, dtype="<i2").reshape(2, 3)
    big = np.zeros(1000)
    mixed = [tw.sparse(COORDS, [5.0, 7.0, 1.0], Shape(3, 4), fill_value=1.5), a, tw.strings(WORDS), big, a.T]
    frames = [bytes(frame) for frame in wire.encode(mixed, compress="zlib", checksum="crc32")]
    found = {}
    for number, item in enumerate(json.loads(frames[0][8:])["TENS"]["tensors"]):
        array = np.frombuffer(frames[2 + item["part"]], "u1")
        if item.get("packing") in (None, "sparse", "string"):
            found[number] = array.view(f"<{item['dtype']}{item['word']}").reshape(item["shape"])
    assert sorted(found) == [0, 1, 2, 4]
    assert (found[0].tolist(), found[2].tobytes()) == ([5, 1, 7], "abcdh\u00e9llo".encode())
    assert (found[1].tolist(), found[4].tolist()) == (a.tolist(), a.T.tolist())
    assert len(wire.decode(frames).tensors) == 5
