"""Answers as frames: each is read as it was written, and what is none is an error of the other side."""

import random

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def outcome(read, frames):
    try:
        number, answer = read(frames)
    except RemoteProtocolError as error:
        return error.reason, str(error)
    assert isinstance(answer, ev.Rows)
    return number, answer.version, answer.starts.tolist(), answer.lengths.tolist(), answer.elements


@given(
    st.lists(st.integers(0, 2**62), max_size=4),
    st.lists(st.integers(0, 2**33), max_size=5),
    st.sampled_from([None, b"", b"12345678"]),
    st.integers(0, 2**32),
)
def test_rows_whose_label_came_before_are_read_as_others_are(starts, lengths, elements, seed):
    def rows(numbers, counts):
        part = None if elements is None else memoryview(elements)
        return ev.Rows("1:2", np.array(numbers, np.int64), np.array(counts, np.int64), part)

    reader = AnswerReader()
    reader.read(send_answer(1, rows([0], [1])))
    frames = [bytearray(frame) for frame in send_answer(7, rows(starts, lengths))]
    rng = random.Random(seed)
    if rng.random() < 0.5:
        frame = rng.choice([own for own in frames if own])
        frame[rng.randrange(len(frame))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.2:
        del rng.choice([own for own in frames if own])[:1]
    views = [memoryview(frame) for frame in frames]
    expected, found = (outcome(read, views) for read in (receive_answer, reader.read))
    assert found == expected


def test_an_answer_without_a_label_is_none_though_no_other_came_before():
    reader = AnswerReader()
    (frames,) = [send_answer(7, ev.Elements("v1", (b"12345678",)))]
    with pytest.raises(RemoteProtocolError):
        reader.read([memoryview(b""), *map(memoryview, frames[1:])])


def test_what_a_server_says_of_a_refusal_is_shown_and_not_obeyed():
    answer = receive_answer(
        [memoryview(own) for own in send_answer(7, ev.Refused("missing", "a\x1b[2J\n\0b"))]
    )[1]
    assert answer == ev.Refused("missing", r"a\x1b[2J\n\x00b")
    plain = ev.Refused("missing", "no 'x' is thére")
    assert receive_answer([memoryview(own) for own in send_answer(7, plain)])[1] == plain
