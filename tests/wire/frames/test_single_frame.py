"""All frames as one: sizes at their boundaries, the bytes of the reference implementations, hostile input."""

import contextlib
import hashlib
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, LocalProtocolError, RemoteProtocolError
from tensorwrapper.wire import Limits, decode, decode_frames, encode, encode_frames, frame_pieces
from tests.support.wire.golden import CPP, PY, frames_of

CASES = [
    pytest.param(case, id=f"{origin}-{name}")
    for origin, cases in (("cpp", CPP), ("py", PY))
    for name, case in cases.items()
]


def refusal(buffer, **options):
    with pytest.raises(RemoteProtocolError) as caught:
        decode_frames(buffer, **options)
    return caught.value


@pytest.mark.parametrize("case", CASES)
def test_the_bytes_are_those_of_the_reference(case):
    frames = frames_of(case)
    whole = encode_frames(frames)
    expected = case["single_frame"]
    assert (len(whole), hashlib.sha256(whole).hexdigest()) == (expected["size"], expected["sha256"])
    assert decode_frames(whole) == frames


@pytest.mark.parametrize(
    ("size", "prefix"),
    [
        (0, "00"),
        (1, "01"),
        (253, "fd"),
        (254, "fe"),
        (255, "ff000000ff"),
        (256, "ff00000100"),
        (257, "ff00000101"),
        (2**16 - 1, "ff0000ffff"),
        (2**16, "ff00010000"),
        (2**24, "ff01000000"),
    ],
)
@pytest.mark.parametrize("before", [[], [b""], [b"abc"]])
def test_sizes_at_every_boundary(size, prefix, before):
    frame = bytes(size)
    whole = encode_frames([*before, frame])
    assert whole[len(encode_frames(before)) :] == bytes.fromhex(prefix) + frame
    assert decode_frames(whole) == [*before, frame]
    for cut in (1, size, size + 1):
        if 0 < cut <= len(prefix) // 2 + size - 1:
            assert refusal(whole[:-cut]).reason == "frame"


@pytest.mark.parametrize("size", [2**32 - 1, 2**32, 2**32 + 3])
def test_frames_of_four_gibibytes(size):
    # The pages of this array are never touched, so that it takes no memory.
    huge = np.zeros(size, np.uint8)
    if size < 2**32:
        pieces = frame_pieces([b"a", huge])
        assert pieces[2] == b"\xff\xff\xff\xff\xff"
        assert pieces[3].nbytes == size
        return
    for write in (frame_pieces, encode_frames):
        with pytest.raises(LocalProtocolError, match=f"frame 1 has {size} bytes") as caught:
            write([b"a", huge])
        assert caught.value.reason == "limit"


def test_a_size_of_four_gibibytes_that_is_not_there_takes_no_memory():
    tracemalloc.start()
    try:
        error = refusal(b"\x01a\xff\xff\xff\xff\xff" + bytes(100))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert error.reason == "frame"
    assert "frame 1 is cut off: it needs 4294967295 bytes, 100 are there" in str(error)
    assert peak < 2**16


@pytest.mark.parametrize("size", [0, 1, 254])
def test_the_long_form_of_a_small_size_is_read(size):
    frame = bytes(range(size))
    assert decode_frames(b"\xff" + size.to_bytes(4, "big") + frame + b"\x01z") == [frame, b"z"]


@pytest.mark.parametrize(
    "buffer",
    [
        b"\x01",
        b"\xfe" + bytes(253),
        b"\xff",
        b"\xff\x00",
        b"\xff\x00\x00",
        b"\xff\x00\x00\x00",
        b"\xff\x00\x00\x00\x01",
        b"\x00\x02a",
        b"\x01a\xff\x00",
        b"\xff\x00\x01\x00\x00" + bytes(65_535),
    ],
)
def test_what_is_cut_off_is_refused(buffer):
    error = refusal(buffer)
    assert error.reason == "frame"
    assert "cut off" in str(error)


@pytest.mark.parametrize("frames", [[], [b""], [b"", b"", b""], [b"a", b""], [b"", b"a"]])
def test_empty_frames_and_no_frames(frames):
    assert decode_frames(encode_frames(frames)) == frames


@pytest.mark.parametrize("buffer", [b"", b"\x04ZIO0", encode_frames([b"ZIO0TENS"])])
def test_too_few_frames_are_refused_as_a_message(buffer):
    with pytest.raises(RemoteProtocolError) as caught:
        decode(decode_frames(buffer))
    assert caught.value.reason == "frame"


def test_frames_and_bytes_are_limited():
    assert len(decode_frames(bytes(5), limits=Limits(parts=3))) == 5
    assert refusal(bytes(6), limits=Limits(parts=3)).reason == "limit"
    assert refusal(bytes(300_000)).reason == "limit"
    assert len(decode_frames(bytes(5), limits=Limits(total_bytes=5))) == 5
    assert refusal(bytes(6), limits=Limits(total_bytes=5)).reason == "limit"


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8)])
def test_frames_are_views_of_the_buffer(make):
    whole = make(encode_frames([b"head", b"x" * 300]))
    first, second = decode_frames(whole)
    assert (bytes(first), bytes(second)) == (b"head", b"x" * 300)
    assert all(
        np.shares_memory(np.frombuffer(f, np.uint8), np.frombuffer(whole, np.uint8)) for f in (first, second)
    )


def test_pieces_are_views_of_the_frames():
    array = np.arange(1000.0)
    pieces = frame_pieces([b"a", array])
    assert b"".join(pieces) == encode_frames([b"a", array])
    assert np.shares_memory(np.frombuffer(pieces[3], np.uint8), array)


def test_a_message_goes_through_one_frame():
    array = np.arange(6, dtype="<f4").reshape(2, 3)
    whole = encode_frames(encode([array], seqno=7))
    assert len(whole) == 127
    message = decode(decode_frames(whole))
    assert (message.seqno, message.tensors[0].tolist()) == (7, array.tolist())


@pytest.mark.parametrize("given_", [b"abc", "abc", np.zeros(3), None, 5])
def test_one_buffer_is_not_several_frames(given_):
    for write in (encode_frames, frame_pieces):
        with pytest.raises(ConversionError, match="frames"):
            write(given_)


@pytest.mark.parametrize("given_", ["abc", [b"a"], None, 5, np.zeros((4, 4))[:, ::2]])
def test_a_single_frame_is_contiguous_memory(given_):
    with pytest.raises(ConversionError, match="buffer"):
        decode_frames(given_)


@given(frames=st.lists(st.binary(max_size=600), max_size=6))
def test_any_frames_come_back(frames):
    assert decode_frames(encode_frames(frames)) == frames


@given(buffer=st.binary(max_size=400))
def test_any_bytes_are_frames_or_refused(buffer):
    with contextlib.suppress(RemoteProtocolError):
        frames = decode_frames(buffer)
        assert sum(map(len, frames)) + len(frames) <= len(buffer)
