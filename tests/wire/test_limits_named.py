"""Section 2: a limit in the way of a reader is named, with how to raise it; none is forgotten."""

import json

import attrs
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import (
    Limits,
    StreamReader,
    decode,
    decode_frames,
    encode,
    encode_frames,
    stream_pieces,
)

ROWS = tw.from_buffer(np.arange(6), Shape.jagged([3, 0, 1, 2]))
CELLS = tw.from_buffer(np.arange(16), Shape.jagged([Shape(2, 5), Shape(3, 2)]))
TILES = tw.as_tensor(np.arange(12).reshape(3, 4)).tiled(Tiling([1, 2], [4]))
ZEROS = np.zeros(1000)


def empty_cells():
    shape = Shape.jagged([Shape(50, 0), Shape(1, 1)])
    return encode([tw.from_buffer(np.zeros(1), shape)])


def deep(depth):
    return [b"ZIO0TENS" + json.dumps({"a": json.loads("[" * depth + "]" * depth)}).encode(), bytes(24)]


PROVOKED = {
    "label_bytes": [(encode([ZEROS]), 10)],
    "label_items": [(encode([ZEROS]), 3)],
    "depth": [(deep(9), 8)],
    "digits": [([b'ZIO0TENS{"a":123456}', bytes(24)], 5)],
    "rank": [
        (encode([np.zeros((1, 1, 1))]), 2),
        (encode([CELLS]), 2),
        (encode([TILES]), 2),
        (encode([ROWS]), 1),
    ],
    "extent": [(encode([ZEROS]), 999), (encode([CELLS]), 4), (encode([TILES]), 3)],
    "tensors": [(encode([ZEROS, ZEROS]), 1)],
    "parts": [(encode([ZEROS, ZEROS]), 1)],
    "total_bytes": [(encode([ZEROS]), 7999), (encode([np.zeros((0, 2000))]), 200)],
    "empty_elements": [(encode([np.zeros((50, 0))]), 49), (empty_cells(), 40)],
    "decompressed_bytes": [(encode([ZEROS], compress="zlib"), 7999)],
    "received_bytes": [(encode([ZEROS]), 7999)],
}
CASES = [(name, k) for name, found in PROVOKED.items() for k in range(len(found))]


def from_stream(frames, limits):
    reader = StreamReader(limits=limits)
    reader.feed(b"".join(map(bytes, stream_pieces(frames))))
    for message in reader.messages():
        take(message)


def take(message):
    """Make one element of what is compressed: it is counted then."""
    for tensor in message.tensors:
        if "Compressed" in repr(tensor.buffer):
            tensor.elements()


def from_single_frame(frames, limits):
    take(decode(decode_frames(encode_frames(frames), limits=limits), limits=limits))


READERS = [lambda frames, limits: take(decode(frames, limits=limits)), from_single_frame, from_stream]


def test_every_limit_is_provoked():
    assert set(PROVOKED) == {field.name for field in attrs.fields(Limits)}


@pytest.mark.parametrize("read", READERS, ids=["frames", "single", "stream"])
@pytest.mark.parametrize(("name", "k"), CASES)
def test_section_2_a_limit_is_named_with_the_way_to_raise_it(name, k, read):
    frames, most = PROVOKED[name][k]
    limits = Limits(**{name: most})
    if name == "received_bytes" and read is not from_stream:
        read(frames, limits)
        return
    with pytest.raises(RemoteProtocolError) as caught:
        read(frames, limits)
    assert str(caught.value).count("limits=Limits(") == 1
    assert f"limits=Limits({name}=...) can raise it" in str(caught.value)
    read(frames, Limits(**{name: 2**40}))


def test_section_2_what_a_reader_allocates_does_not_bound_what_is_written():
    small = Limits(decompressed_bytes=100)
    frames = encode([ZEROS], compress="zlib", limits=small)
    assert decode(frames).tensors[0].tolist() == ZEROS.tolist()
