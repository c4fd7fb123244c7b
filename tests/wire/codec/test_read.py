"""What is read lies in the frames, and nobody writes to it."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Tiling
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ReadOnlyError
from tensorwrapper.wire import decode, encode

DTYPES = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]


def address(array):
    return np.asarray(array).__array_interface__["data"][0]


def bytes_of(frame):
    return np.frombuffer(frame, np.uint8)


def test_tensors_are_the_memory_of_the_frames():
    sent = encode([np.arange(5.0), np.arange(6, dtype=np.int16).reshape(2, 3)])
    frames = [bytearray(frame) for frame in sent]
    with count_copies() as count:
        message = decode(frames)
    assert count.nbytes == 0
    for tensor, frame, part in zip(message.tensors, frames[2:], message.parts, strict=True):
        assert address(tensor.to_numpy()) == address(bytes_of(frame)) == address(bytes_of(part))
        assert np.shares_memory(tensor.to_numpy(), bytes_of(frame))
    bytes_of(frames[2]).view("<f8")[:] = 7
    assert message.tensors[0].tolist() == [7] * 5
    assert np.shares_memory(bytes_of(message.to_frames()[2]), bytes_of(frames[2]))


X = np.arange(24.0).reshape(4, 6)
TILING = Tiling([1, 3], [2, 4])


def test_tensors_that_were_read_cannot_be_written():
    frames = [
        bytearray(frame) for frame in encode([X, tw.jagged([[1, 2], [3]]), tw.as_tensor(X).tiled(TILING)])
    ]
    for tensor in decode(frames).tensors:
        assert tensor.is_readonly
        assert not tensor._buffer.flat.flags.writeable
        with pytest.raises(ReadOnlyError):
            tensor[0] = 1
        assert not tensor.copy().is_readonly
    array = np.asarray(decode(frames).tensors[0])
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


@pytest.mark.parametrize("shift", range(1, 8))
@pytest.mark.parametrize("dtype", DTYPES)
def test_frames_at_odd_addresses_are_copied_and_right(shift, dtype):
    array = np.array([1, 0, 1]).astype(dtype)
    rows = tw.jagged([[1, 2], [], [3]])
    frames = [bytes(frame) for frame in encode([array, rows])]
    shifted = []
    for frame in frames:
        room = np.zeros(len(frame) + 16, np.uint8)
        start = -address(room) % 16 + shift
        room[start : start + len(frame)] = bytes_of(frame)
        shifted.append(room[start : start + len(frame)])
    with count_copies() as count:
        got, got_rows = decode(shifted).tensors
    assert np.asarray(got).flags.aligned
    assert np.array_equal(np.asarray(got), array)
    assert (got_rows.shape, got_rows.tolist()) == (rows.shape, rows.tolist())
    needed = array.nbytes if shift % np.dtype(dtype).alignment else 0
    assert count.nbytes == needed + rows.nbytes + 4 * 8  # its elements, and four splits
