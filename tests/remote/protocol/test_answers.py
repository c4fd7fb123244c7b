"""Answers as frames: each is read as it was written, and what is none is an error of the other side."""

import attrs
import numpy as np
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol._answers import AnswerReader, receive_answer, send_answer

ANSWERS = [
    ev.Welcome("ab", 1, ("read",), 100, 4),
    ev.Pong("ab"),
    ev.Names(("x", "é"), more=True),
    ev.FactsOf(
        (
            ev.Facts("x", "1", "smooth", 1, 3, "<f8", shape="{}"),
            ev.Facts("y", "1", "jagged", 2, 3, "|b1", rows=2),
        )
    ),
    ev.Text("1", '{"a":1}'),
    ev.Rows("1", np.array([4, 9]), np.array([2, 2**33])),
    ev.Rows("1", np.array([4, 9]), np.array([1, 1]), memoryview(b"1234567812345678")),
    ev.Elements("1", (memoryview(b"12345678"),)),
    ev.Packed("1", memoryview(b"12345678")),
    ev.Entries("1", np.array([2]), np.array([4, 9]), memoryview(b"ab")),
    ev.Stats((("answers", 3),)),
    ev.Refused("busy", "later"),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda own: type(own).__name__)
def test_what_is_written_is_read(answer):
    number, found = receive_answer(send_answer(7, answer))

    assert number == 7
    assert type(found) is type(answer)
    for field in attrs.fields(type(found)):
        assert np.array_equal(getattr(found, field.name), getattr(answer, field.name))


@pytest.mark.parametrize(
    ("label", "parts"),
    [
        ('{"tw":{"what":1}}', ()),
        ('{"tw":{"pong":1}}', ()),
        ('{"tw":{"pong":"a"}}', (b"x",)),
        ('{"tw":{"rows":{"version":"1","as":"u4"}}}', (b"", b"123")),
        ('{"tw":{"rows":{"version":"1","as":"i8"}}}', (b"\xff" * 8, b"")),
        ('{"tw":{"rows":{"version":"1","as":"u9"}}}', (b"", b"")),
        ('{"tw":{"read":"1"}}', ()),
        ('{"tw":{"shape":"1"}}', (b"\xff",)),
        ('{"tw":{"refused":{"reason":"mood","text":""}}}', ()),
        ('{"tw":{"facts":[{"name":"x"}]}}', ()),
        ("[]", ()),
    ],
)
def test_what_is_no_answer_is_an_error_of_the_server(label, parts):
    with pytest.raises(RemoteProtocolError):
        receive_answer(wire.Message(form="JSON", label=label, parts=parts).to_frames())


def test_elements_of_the_version_that_came_last_are_known_by_their_label():
    reader = AnswerReader()
    for number, version in [(1, "a"), (2, "a"), (3, "b"), (4, "a")]:
        frames = send_answer(number, ev.Elements(version, (memoryview(b"12345678"),)))
        found, answer = reader.read(frames)
        assert (found, answer.version, bytes(answer.frames[0])) == (number, version, b"12345678")


def test_a_known_label_with_parts_that_elements_do_not_have_is_refused():
    reader = AnswerReader()
    frames = send_answer(1, ev.Elements("a", (memoryview(b"1"),)))
    reader.read(frames)
    for wrong in (frames[:2], [*frames, *frames], [frames[0], memoryview(b"no"), frames[2]]):
        with pytest.raises(RemoteProtocolError):
            reader.read(wrong)
