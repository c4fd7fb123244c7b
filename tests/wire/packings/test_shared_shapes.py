"""Tensors of one shape: its index arrays are one part of a message each, and one shape when they are read."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire
from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.wire import Limits
from tests.support.wire.sent_shapes import assert_same, filled

RAGGED = Shape.jagged([3, 0, 2])
ALIKE = Shape.from_uniform(4, 2)
SHAPES = [
    RAGGED,
    ALIKE,
    Shape.jagged([[1, 2], [], [3]]),
    Shape.from_cells((3,), [(1, 2), (0, 5), (2, 2)], origins=[(0, 1), (2, -3), (4, 4)]),
    Shape.jagged([3, 1, 2], origin=(7, -2)),
    Shape.nested(Shape.jagged([3, 0, 2]), layers=(1, 1)),
    Shape.jagged([3, 0, 2]).named("event", "hit"),
    Shape.tiled([2, 3], [4]),
]


def nbytes(frames):
    return sum(memoryview(frame).nbytes for frame in frames)


def labels(frames):
    return json.loads(bytes(frames[0])[8:])["TENS"]["tensors"]


def test_four_fields_of_a_hundred_thousand_rows_take_their_elements_and_the_splits_once():
    shape = Shape.jagged(np.random.default_rng(7).integers(0, 8, 10**5))
    frames = wire.encode([filled(shape, "f4") for _ in range(4)])
    assert nbytes(frames) <= 4 * 4 * shape.size + 8 * (10**5 + 1) + 2000
    read = wire.decode(frames).tensors
    assert all(tensor.shape is read[0].shape for tensor in read)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_shape_is_described_once_and_read_once(shape):
    alone = wire.encode([filled(shape, "i2")])
    tensors = [filled(shape, "i2"), filled(shape, "f8"), tw.as_tensor([1, 2]), filled(shape, "?")]
    frames = wire.encode(tensors)
    assert len(frames) - len(tensors) == len(alone) - 1
    read = wire.decode(frames).tensors
    for ours, theirs in zip(read, tensors, strict=True):
        assert_same(ours, theirs)
    # The shape of layers is made of the layout when it is asked for.
    assert read[0].layout is read[1].layout is read[3].layout
    assert read[0].shape is read[1].shape or shape.has_layers


@pytest.mark.parametrize("shape", SHAPES[:3], ids=str)
def test_the_same_rows_of_tensors_of_one_shape_are_described_once(shape):
    one, two = filled(shape, "i2"), filled(shape, "f8")
    frames = wire.encode([one[1:], two[1:], one[:2]])
    assert len(frames) - 3 == 2 * (len(wire.encode([one[1:]])) - 1 - 2) + 2
    read = wire.decode(frames).tensors
    for ours, theirs in zip(read, [one[1:], two[1:], one[:2]], strict=True):
        assert_same(ours, theirs)
    assert read[0].shape is read[1].shape


def test_rows_of_boxes_share_the_splits_of_rows():
    # Splits of rows within rows, and of rows of numbers: one array in memory.
    deep = Shape.jagged([[1, 2], [], [3]])
    outer = deep.outer()
    assert outer.implementation.rows.columns.leaf is deep.implementation.rows.columns.splits[0]
    frames = wire.encode([filled(deep), filled(outer)])
    inner, rows = labels(frames)
    assert inner["jagged"]["splits"] == [rows["jagged"]["cells"]]
    for ours, theirs in zip(wire.decode(frames).tensors, [filled(deep), filled(outer)], strict=True):
        assert_same(ours, theirs)


def test_equal_shapes_that_are_two_objects_are_two_parts():
    frames = wire.encode([tw.jagged([[1], [2, 3]]), tw.jagged([[4], [5, 6]])])
    assert len(frames) == 6
    one, two = wire.decode(frames).tensors
    assert one.shape == two.shape


OTHERS = {
    "sparse": tw.sparse([(0, 1), (2, 0)], [5.0, 7.0], RAGGED),
    "string": tw.strings([["a", "b", "c"], [], ["d", "e"]]),
    "zlib": tw.zeros(RAGGED),
}


@pytest.mark.parametrize("held", OTHERS)
def test_elements_may_be_held_in_any_way(held):
    other = OTHERS[held]
    plain = filled(other.shape, "f8")
    frames = wire.encode([plain, other], compress="zlib" if held == "zlib" else None)
    one, two = labels(frames)
    assert one["jagged"] == two["jagged"]
    read = wire.decode(frames).tensors
    assert read[0].shape is read[1].shape
    assert read[1].tolist() == other.tolist()


def test_tilings_share_marks():
    tiling = Tiling([1, 3], [2, 4])
    tensors = [tw.as_tensor(np.arange(24.0).reshape(4, 6) + k).tiled(tiling) for k in range(3)]
    frames = wire.encode(tensors)
    assert len(frames) == 2 + 3 + 2
    read = wire.decode(frames).tensors
    assert read[0].layout is read[2].layout
    assert [t.tolist() for t in read] == [t.tolist() for t in tensors]


@given(
    lengths=st.lists(st.integers(0, 4), max_size=6),
    dtypes=st.lists(st.sampled_from(["?", "i1", "f4", "c16"]), min_size=1, max_size=5),
    parts=st.randoms(use_true_random=False),
)
def test_bytes_are_those_of_the_elements_and_of_the_splits_once(lengths, dtypes, parts):
    shape = Shape.jagged(lengths, rank=2)
    tensors = [filled(shape, dtype) for dtype in dtypes]
    places = list(range(len(tensors)))
    parts.shuffle(places)
    frames = wire.encode(tensors, parts=places)
    assert nbytes(frames[2:]) == sum(t.nbytes for t in tensors) + 8 * (len(lengths) + 1)
    read = wire.decode(frames).tensors
    for ours, theirs in zip(read, tensors, strict=True):
        assert_same(ours, theirs)
        assert ours.shape is read[0].shape


# What is shared is counted for every tensor that has it, by writers and by readers alike.
EMPTY = Shape.from_cells((2,), [(40, 0), (0, 7)])


def test_places_without_elements_count_for_every_tensor_of_a_shape():
    limits = Limits(empty_elements=100)
    tensors = [filled(EMPTY)] * 3
    with pytest.raises(LocalProtocolError, match="empty_elements"):
        wire.encode(tensors, limits=limits)
    frames = wire.encode(tensors)
    assert len(wire.decode(frames).tensors) == 3
    with pytest.raises(RemoteProtocolError, match="empty_elements") as raised:
        wire.decode(frames, limits=limits)
    assert raised.value.reason == "limit"
    assert len(wire.encode(tensors[:2], limits=limits)) == 5


def test_other_numbers_of_parts_and_another_number_of_elements_are_not_the_same_shape():
    frames = [bytes(f) for f in wire.encode([filled(RAGGED, "i1"), filled(RAGGED, "i1")])]
    label = json.loads(frames[0][8:])
    second = label["TENS"]["tensors"][1]
    second["shape"] = [4]
    with pytest.raises(RemoteProtocolError) as raised:
        wire.decode(
            [b"ZIO0TENS" + json.dumps(label).encode(), frames[1], frames[2], frames[3][:4], frames[4]]
        )
    assert raised.value.reason == "size"
    second["shape"], second["jagged"]["cells"] = [5], 3
    other = np.array([0, 1, 2, 5], dtype="<i8").tobytes()
    read = wire.decode([b"ZIO0TENS" + json.dumps(label).encode(), *frames[1:], other]).tensors
    assert read[0].shape is not read[1].shape
    assert read[1].tolist() == [[1], [2], [3, 4, 5]]
