"""The frames beneath requests and answers."""

from tensorwrapper import wire
from tensorwrapper.remote.protocol._frames import number_of, read_frames, write_frames
from tensorwrapper.wire import DEFAULT_LIMITS


def test_a_message_is_one_verb_with_a_number():
    frames = write_frames(9, "ping", {"a": [1]}, [b"part"])
    said = read_frames(frames, DEFAULT_LIMITS)

    assert (said.number, said.verb, said.field.value) == (9, "ping", {"a": [1]})
    assert [bytes(part) for part in said.parts] == [b"part"]
    assert bytes(frames[0]) == b'ZIO0JSON{"tw":{"ping":{"a":[1]}}}'


def test_tensors_that_a_label_describes_beside_its_verb_are_not_looked_at():
    label = '{"TENS":{"tensors":[{"dtype":"f","part":7,"shape":[-1],"word":3}]},"tw":{"ping":{}}}'
    frames = wire.Message(form="JSON", label=label, origin=9).to_frames()

    assert read_frames(frames, DEFAULT_LIMITS).verb == "ping"


def test_the_number_of_a_message_is_known_though_its_label_is_none():
    frames = [*map(memoryview, wire.Message(form="JSON", label="{", origin=2**63).to_frames())]

    assert number_of(frames) == 2**63
    assert number_of([memoryview(b"x"), memoryview(b"short")]) is None
    assert number_of([memoryview(b"x")]) is None
