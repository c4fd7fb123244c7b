"""Elements stay where they are: frames are views of the tensors, and tensors views of the frames."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.buffer import count_copies
from tensorwrapper.wire import Limits, Message, decode, encode

DTYPES = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]


def address(array):
    return np.asarray(array).__array_interface__["data"][0]


def bytes_of(frame):
    return np.frombuffer(frame, np.uint8)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("extents", [(), (5,), (2, 3), (1, 2, 1, 3)])
def test_frames_are_the_memory_of_the_arrays(dtype, extents):
    array = np.ones(extents, dtype)
    with count_copies() as count:
        frames = encode([array, array])
        (got, again) = decode(frames).tensors
    assert (count.nbytes, count.copies) == (0, 0)
    assert address(bytes_of(frames[2])) == address(array) == address(bytes_of(frames[3]))
    assert memoryview(frames[2]).nbytes == array.nbytes
    assert address(got.elements()) == address(array) == address(again.to_numpy())


X = np.arange(24.0).reshape(4, 6)
TILING = Tiling([1, 3], [2, 4])
COPIED_ONCE = {
    "strided": lambda: X[:, ::2],
    "reversed": lambda: X[::-1],
    "transposed": lambda: X.T,
    "Fortran": lambda: np.asfortranarray(X),
    "broadcast": lambda: np.broadcast_to(X[:1], (4, 6)),
    "big-endian": lambda: X.astype(">f8"),
    "big-endian, transposed": lambda: X.astype(">f8").T,
    "big-endian, strided": lambda: X.astype(">i4")[::2, 1:],
    "window": lambda: tw.as_tensor(X).window(Shape(2, 3, origin=(1, 2))),
    "permuted": lambda: tw.as_tensor(X).permute((1, 0)),
    "a box of tiles": lambda: tw.as_tensor(X).tiled(TILING)[:, 1:],
    "one tile": lambda: tw.as_tensor(X).tiled(TILING)[1, 1],
    "tiles, transposed": lambda: tw.as_tensor(X).tiled(TILING).permute((1, 0, 3, 2)),
    "big-endian jagged": lambda: tw.from_buffer(np.arange(6, dtype=">i2"), Shape.jagged([3, 1, 2])),
    "big-endian tiles": lambda: tw.as_tensor(X.astype(">f4")).tiled(TILING),
}
NOT_COPIED = {
    "rows": lambda: tw.as_tensor(X)[1:3],
    "one row": lambda: tw.as_tensor(X)[2],
    "leading box": lambda: tw.as_tensor(X).window(Shape(2, 6, origin=(1, 0))),
    "tiled": lambda: tw.as_tensor(X).tiled(TILING),
    "rows of tiles": lambda: tw.as_tensor(X).tiled(TILING)[1:],
    "jagged": lambda: tw.from_buffer(np.arange(6.0), Shape.jagged([3, 1, 2])),
    "rows of a jagged": lambda: tw.from_buffer(np.arange(6.0), Shape.jagged([3, 1, 2]))[1:],
    "tile after tile": lambda: tw.from_buffer(np.arange(24.0), TILING.shape),
    "empty": lambda: np.empty((3, 0))[:, ::2],
    "read-only": lambda: np.frombuffer(bytes(16)),
}


@pytest.mark.parametrize("make", COPIED_ONCE.values(), ids=COPIED_ONCE.keys())
def test_what_does_not_lie_in_order_is_copied_once(make):
    tensor = tw.as_tensor(make())
    with count_copies() as count:
        frames = encode([tensor])
        (got,) = decode(frames).tensors
    assert (count.nbytes, count.copies) == (tensor.nbytes, 1)
    assert got.tolist() == tensor.tolist()


@pytest.mark.parametrize("make", NOT_COPIED.values(), ids=NOT_COPIED.keys())
def test_what_lies_in_order_is_not_copied(make):
    tensor = tw.as_tensor(make())
    with count_copies() as count:
        frames = encode([tensor])
        (got,) = decode(frames).tensors
    assert count.copies == 0
    assert got.tolist() == tensor.tolist()
    assert not tensor.size or np.shares_memory(got._buffer.flat, tensor._buffer.flat)


def test_a_set_of_tiles_is_gathered_once_and_sent_as_it_lies():
    tiled = tw.as_tensor(X).tiled(TILING)
    with count_copies() as count:
        tiles = tiled.select_tiles([(1, 1), (0, 0)])
        (got,) = decode(encode([tiles])).tensors
    assert (count.nbytes, count.copies) == (tiles.nbytes, 1)
    assert np.shares_memory(got.elements(), tiles.elements())


def test_index_arrays_are_views_as_well():
    rows = tw.from_buffer(np.zeros(10**6, np.uint8), Shape.jagged(np.ones(10**6, dtype=np.int64)))
    frames = encode([rows])
    stored = rows.shape.implementation.rows.columns.leaf
    assert np.shares_memory(bytes_of(frames[3]), stored)
    (got,) = decode(frames).tensors
    assert np.shares_memory(got.shape.implementation.rows.columns.leaf, stored)


class Memory(np.ndarray):
    """An array that can be watched."""


def test_tensors_keep_their_frames_alive_and_nothing_else():
    sent = [bytes(frame) for frame in encode([np.arange(5.0), np.arange(7.0)])]
    frames = [np.frombuffer(frame, np.uint8).copy().view(Memory) for frame in sent]
    watched = [weakref.ref(frame) for frame in frames]
    tensors = decode(frames).tensors
    kept = tensors[1][2:].to_numpy()
    del frames, tensors
    gc.collect()
    assert [ref() is None for ref in watched] == [True, True, True, False]
    assert kept.tolist() == [2, 3, 4, 5, 6]
    del kept
    gc.collect()
    assert watched[3]() is None


def sample():
    return decode(
        encode(
            [np.arange(100_000.0), tw.jagged([[1, 2], [3]])],
            seqno=7,
            level=3,
            metadata={"run": 1},
            tensor_metadata=[{"gain": 2.5}, None],
        )
    )


def assert_same_message(got, want):
    assert got == want
    assert hash(got) == hash(want)
    assert got.label_object == want.label_object
    assert (got.metadata, got.tensor_metadata) == (want.metadata, want.tensor_metadata)
    assert [t.tolist() for t in got.tensors] == [t.tolist() for t in want.tensors]
    assert all(t.is_readonly for t in got.tensors)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_messages_pickle(protocol):
    message = sample()
    assert_same_message(pickle.loads(pickle.dumps(message, protocol)), message)


def test_messages_pickle_out_of_band_without_a_copy():
    message = sample()
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(message, 5, buffer_callback=buffers.append)
    assert len(text) < 2000
    assert len(buffers) == len(message.parts) == 3
    got = pickle.loads(text, buffers=buffers)
    assert_same_message(got, message)
    for ours, theirs in zip(got.parts, message.parts, strict=True):
        assert np.shares_memory(bytes_of(ours), bytes_of(theirs))


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy])
def test_messages_can_be_copied(clone):
    message = sample()
    assert_same_message(clone(message), message)
    made = Message(form="TEXT", label="Extra spicy", parts=[bytearray(b"hot")])
    assert clone(made) == made
    assert bytes(clone(made).parts[0]) == b"hot"


def test_copies_of_a_message_can_read_what_it_could():
    frames = encode([np.array([1.5], np.longdouble)], allow_longdouble=True)
    message = decode(frames, allow_longdouble=True)
    for clone in (copy.copy(message), copy.deepcopy(message), pickle.loads(pickle.dumps(message))):
        assert clone.tensors[0].tolist() == [1.5]
    deep = '{"a":' + "[" * 100 + "]" * 100 + "}"
    message = decode([b"ZIO0TENS" + deep.encode(), bytes(24)], limits=Limits(depth=101))
    for clone in (message, copy.copy(message), pickle.loads(pickle.dumps(message))):
        assert clone.tensors == ()
        assert list(clone.label_object) == ["a"]


def test_messages_compare_by_what_they_carry():
    frames = [bytes(frame) for frame in encode([np.arange(3), np.ones(2)], seqno=1)]
    same = decode([bytearray(frame) for frame in frames])
    assert decode(frames) == same
    assert hash(decode(frames)) == hash(same)
    assert {decode(frames), same} == {same}
    assert same == Message(label=same.label, seqno=1, parts=frames[2:])
    for place in range(len(frames)):
        spoilt = [bytearray(frame) for frame in frames]
        spoilt[place][-1 if place else 3] ^= 1
        assert decode(spoilt) != same
    assert decode([*frames, b""]) != same
    assert same != frames
    assert (same == 1) is False


def test_parts_of_a_message_made_by_hand_are_not_copied():
    sources = [
        bytearray(b"abc"),
        np.arange(3.0),
        np.arange(6, dtype=">i4").reshape(2, 3),
        np.ones((), "c16"),
        np.zeros(2, [("a", "i4"), ("b", "f8")]),
        np.array([True]),
        np.ones(2, "f2"),
        memoryview(np.arange(4, dtype="u2")),
    ]
    message = Message(form="BUFF", parts=sources)
    for part, source in zip(message.parts, sources, strict=True):
        assert (part.format, part.ndim, part.nbytes) == ("B", 1, memoryview(source).nbytes)
        start = source if isinstance(source, np.ndarray) else bytes_of(source)
        assert address(bytes_of(part)) == address(start)
    assert message.nbytes == sum(memoryview(source).nbytes for source in sources)
    with pytest.raises(BufferError):
        sources[0].clear()
