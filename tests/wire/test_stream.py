"""Messages in streams of bytes, whole, byte by byte, with a tail, and spoilt."""

import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, LocalProtocolError, RemoteProtocolError
from tensorwrapper.wire import Limits, StreamReader, decode, encode, encode_frames, stream_pieces
from tests.support.wire.golden import CPP, PY, frames_of
from tests.support.wire.messages import described, message

REFUSED = {"dtype_unknown_struct", "md_nan", "quirk_form_long", "dtype_f16_longdouble", "dtype_f16"}
GOOD = [frames_of(c) for cases in (CPP, PY) for name, c in cases.items() if name not in REFUSED]
LARGE = encode([np.arange(100_000.0), tw.jagged([[1, 2], [3]])], seqno=5)


def stream_of(*messages):
    return b"".join([bytes(piece) for frames in messages for piece in stream_pieces(frames)])


def fed(reader, stream, step):
    read = []
    for place in range(0, len(stream), step):
        reader.feed(stream[place : place + step])
        read += reader.messages()
    return read


def refusal(call):
    with pytest.raises(RemoteProtocolError) as caught:
        call()
    return caught.value


def test_every_message_of_the_references_goes_through_a_stream():
    for step in (10**9, 1000, 7):
        reader = StreamReader()
        read = fed(reader, stream_of(*GOOD), step)
        assert [m.to_frames() for m in read] == GOOD
        assert reader.pending == 0
        reader.finish()


@pytest.mark.parametrize("step", [1, 2, 3, 8, 9, 33, 254, 255, 256, 10**6])
def test_messages_come_out_as_soon_as_they_are_complete(step):
    few = [GOOD[0], message({"a": 1}, b"x" * 254, b"y" * 255, b"", b"z"), encode([np.arange(40)], seqno=3)]
    stream, reader = stream_of(*few), StreamReader()
    ends = [len(stream_of(*few[: k + 1])) for k in range(3)]
    for place in range(0, len(stream), step):
        before, after = place, min(place + step, len(stream))
        reader.feed(stream[before:after])
        assert len(list(reader.messages())) == sum(before < end <= after for end in ends)
        done = max([0, *[end for end in ends if end <= after]])
        assert reader.pending == after - done
    assert list(reader.messages()) == []


def test_a_tail_waits_for_its_rest():
    stream, reader = stream_of(GOOD[0], LARGE), StreamReader()
    reader.feed(stream[:-1])
    assert len(list(reader.messages())) == 1
    assert reader.pending == len(stream_of(LARGE)) - 1
    error = refusal(reader.finish)
    assert error.reason == "frame"
    assert f"{reader.pending} bytes into a message" in str(error)
    reader.feed(stream[-1:])
    (read,) = reader.messages()
    assert read == decode(LARGE)
    reader.finish()


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8)])
def test_what_was_fed_may_be_used_again(make):
    memory = bytearray(stream_of(LARGE))
    reader = StreamReader()
    reader.feed(make(memory))
    memory[:] = bytes(len(memory))
    (read,) = reader.messages()
    assert read.tensors[0].tolist() == [*range(100_000)]
    assert read.tensors[1].tolist() == [[1, 2], [3]]


@pytest.mark.parametrize("step", [1000, 10**9])
def test_elements_are_copied_once_and_are_aligned(step):
    # In the stream, the elements begin at odd places.
    (read,) = fed(StreamReader(), stream_of(LARGE), step)
    with tw.buffer.count_copies() as count:
        again = decode(read.to_frames())
    assert count.copies == 0
    assert all(np.asarray(part).ctypes.data % 8 == 0 for part in again.parts)


def test_the_pieces_are_the_memory_of_the_tensors():
    array = np.arange(1000.0)
    pieces = stream_pieces(encode([array]))
    assert np.shares_memory(np.frombuffer(pieces[-1], np.uint8), array)
    whole = b"".join(map(bytes, pieces))
    assert whole == len(whole[8:]).to_bytes(8, "little") + encode_frames(encode([array]))


def test_a_bad_message_does_not_hide_its_neighbours():
    bad = message("not JSON")
    reader = StreamReader()
    reader.feed(stream_of(GOOD[0], bad, GOOD[1]))
    messages = reader.messages()
    assert next(messages).to_frames() == GOOD[0]
    assert refusal(lambda: next(messages)).reason == "header"
    assert [m.to_frames() for m in reader.messages()] == [GOOD[1]]


def length(number):
    return number.to_bytes(8, "little")


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        (length(0), "frame"),
        (length(33), "frame"),
        (length(2**40 + 1), "limit"),
        (length(2**64 - 1), "limit"),
        (b"GET / HTTP/1.1\r\n\r\n", "limit"),
        (length(34) + b"\x22" + bytes(33), "frame"),
        (length(40) + b"\xff\x00\x00\x00\x24" + bytes(36), "frame"),
        (length(40) + b"\xff\xff\xff\xff\xff" + bytes(36), "frame"),
        (length(34) + b"\x08ZIO0TENS\x17" + bytes(23) + b"\xff", "frame"),
        (length(34) + b"\x08ZIO0TENS\x16" + bytes(22) + b"\xff" + bytes(9), "frame"),
        (length(2**30) + b"\xff\x7f\xff\xff\xff", "frame"),
        (length(2**35) + b"\xff\x7f\xff\xff\xff", "limit"),
    ],
)
@pytest.mark.parametrize("step", [1, 10**6])
def test_bytes_that_are_no_stream_end_it(spoilt, reason, step):
    reader = StreamReader()
    reader.feed(stream_of(GOOD[0]))
    for place in range(0, len(spoilt) + 100, step):
        reader.feed((spoilt + bytes(100))[place : place + step])
    messages = reader.messages()
    assert next(messages).to_frames() == GOOD[0]
    for call in (lambda: next(messages), lambda: next(reader.messages()), reader.finish):
        assert refusal(call).reason == reason
    reader.feed(stream_of(GOOD[0]))
    assert refusal(lambda: next(reader.messages())).reason == reason


@pytest.mark.parametrize(
    ("limits", "frames"),
    [
        (Limits(total_bytes=100), message({}, bytes(100))),
        (Limits(parts=3), message({}, *[b""] * 4)),
        (Limits(label_bytes=10), message({"a": "0123456789"})),
        (Limits(tensors=0), message(described({}))),
    ],
    ids=["bytes", "parts", "label", "tensors"],
)
def test_limits(limits, frames):
    reader = StreamReader(limits=limits)
    reader.feed(stream_of(frames))
    assert refusal(lambda: next(reader.messages())).reason == "limit"


def test_options_of_decode_are_kept():
    frames = message(described({"packing": "x"}))
    reader = StreamReader(strict=True)
    reader.feed(stream_of(frames))
    assert refusal(lambda: next(reader.messages())).reason == "unsupported"
    (read,) = fed(StreamReader(), stream_of(frames), 10)
    assert len(read.tensors) == 1
    long = encode([np.array([1.5], np.longdouble)], allow_longdouble=True)
    (read,) = fed(StreamReader(allow_longdouble=True), stream_of(long), 10)
    assert read.tensors[0].tolist() == [1.5]


def test_a_claim_takes_no_memory():
    claim = length(2**39) + b"\x08ZIO0TENS\x18" + bytes(24) + b"\xff\xff\xff\xff\x00" + bytes(1000)
    tracemalloc.start()
    try:
        reader = StreamReader(limits=Limits(received_bytes=2**40))
        reader.feed(claim)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert reader.pending == len(claim)
    assert peak < 2**16


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 2])
def test_many_small_parts_take_little_memory(size):
    body = encode_frames(message({}, *[bytes(size)] * 50_000))
    tracemalloc.start()
    try:
        reader = StreamReader()
        reader.feed(length(len(body)) + body)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Python's objects take room; it is the factor that must not grow.
    assert peak < 300 * len(body)


@pytest.mark.parametrize("data", ["text", None, 5, [b"a"], np.zeros((4, 4))[:, ::2]])
def test_only_memory_is_fed(data):
    with pytest.raises(ConversionError, match="data"):
        StreamReader().feed(data)


def test_frames_that_are_too_large_are_not_written():
    with pytest.raises(LocalProtocolError) as caught:
        stream_pieces([b"", np.zeros(2**32, np.uint8)])
    assert caught.value.reason == "limit"


def test_a_reader_says_what_it_has():
    reader = StreamReader()
    reader.feed(stream_of(GOOD[0])[:-1])
    reader.feed(b"")
    assert repr(reader) == f"StreamReader(0 messages to be taken, {reader.pending} bytes of another)"


@given(picks=st.lists(st.integers(0, len(GOOD) - 1), max_size=4), seed=st.integers(0, 1000))
def test_any_cuts_give_the_same_messages(picks, seed):
    stream, rng = stream_of(*[GOOD[k] for k in picks if len(GOOD[k]) < 5]), random.Random(seed)
    reader, read, place = StreamReader(), [], 0
    while place < len(stream):
        step = rng.choice((1, 2, 5, 40, 500))
        reader.feed(stream[place : place + step])
        read += reader.messages()
        place += step
    assert [m.to_frames() for m in read] == [GOOD[k] for k in picks if len(GOOD[k]) < 5]


def test_section_5_a_reader_is_iterated_over():
    stream = b"".join(stream_pieces(encode([np.arange(3)], seqno=1))) * 2
    reader = StreamReader()
    reader.feed(stream[:150])
    assert [message.seqno for message in reader] == [1]
    assert [message.seqno for message in reader] == []
    reader.feed(stream[150:])
    for received in reader:
        assert received.tensors[0].tolist() == [0, 1, 2]
    assert reader.pending == 0
