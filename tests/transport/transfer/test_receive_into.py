"""Messages whose elements are written into memory that is there."""

import pytest

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport.transfer._receive_into import take_message


def test_a_frame_is_written_where_it_belongs_and_what_was_cut_is_told(pair):
    sink, source = pair("PAIR", "PAIR")
    memory = bytearray(4)
    place = lambda frames: memoryview(memory) if len(frames) == 2 else None  # noqa: E731
    for sent in (b"abcd", b"ab", b"abcdefgh"):
        source.send([b"one", b"two", sent, b"end"])
        assert sink.poll(5)
        frames, written = take_message(sink._endpoint, place)
        assert ([bytes(frame) for frame in frames], written) == ([b"one", b"two", b"end"], len(sent))
        assert bytes(memory[:2]) == b"ab"
    assert take_message(sink._endpoint, place) is None
    assert sink.counters.messages_received == 3


def test_what_has_too_many_frames_is_dropped_as_a_whole(pair):
    sink, source = pair("PAIR", "PAIR")
    source.send([b"x"] * 20)
    source.send([b"next", b"one"])
    assert sink.poll(5)
    with pytest.raises(RemoteProtocolError, match="more than 8 frames"):
        take_message(sink._endpoint, lambda _: None)
    assert sink.poll(5)
    frames, _ = take_message(sink._endpoint, lambda _: None)
    assert bytes(frames[0]) == b"next"
