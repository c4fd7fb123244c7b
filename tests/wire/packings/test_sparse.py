"""Sparse tensors and strings on the wire: they come back, and who knows boxes alone reads their parts."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire
from tests.support.wire.sent_elements import WORDS, assert_same, sent


def described(*tensors, **options):
    return wire.decode(wire.encode(tensors, **options)).label_object["TENS"]["tensors"]


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
