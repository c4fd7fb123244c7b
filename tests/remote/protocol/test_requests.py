"""Requests as frames: each is read as it was written, and what is none is refused with a reason."""

import attrs
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol._requests import receive_request, send_request
from tensorwrapper.selection import Outer, Runs

REQUESTS = [
    ev.Hello("0123456789abcdef" * 2, 1, 2),
    ev.Ping(),
    ev.AskNames("a", 10),
    ev.AskFacts(("x", "y")),
    ev.AskShape("x", "1"),
    ev.AskRows("x", "1", Runs([1, 5], [2, 1])),
    ev.AskRead("x", "", None, (Outer([range(3), [0, 2, 9]]), Runs([1, 5, 7]))),
    ev.AskRead("x", "v", "<f4", ()),
    ev.AskEntries("x", "1", (Runs(0, 9),)),
    ev.AskStats(),
    ev.Cancel(7),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda own: type(own).__name__)
def test_what_is_written_is_read(request_):
    number, found = receive_request(send_request(2**64 - 1, request_))

    assert number == 2**64 - 1
    assert type(found) is type(request_)
    for field in attrs.fields(type(found)):
        assert getattr(found, field.name) == getattr(request_, field.name)


def label(text, *parts):
    return wire.Message(form="JSON", label=text, origin=1, parts=parts).to_frames()


@pytest.mark.parametrize(
    ("frames", "reason"),
    [
        ([b"", b""], "label"),
        ([b"garbage"], "label"),
        (label("{"), "label"),
        (label("[1]"), "schema"),
        (label('{"tw":{}}'), "schema"),
        (label('{"tw":{"ping":{},"stats":{}}}'), "schema"),
        (label('{"tw":{"ping":{"more":1}}}'), "schema"),
        (label('{"tw":{"ping":{}}}', b"part"), "schema"),
        (label('{"tw":{"open":{}}}'), "unsupported"),
        (label('{"tw":{"ping":{},"ping":{}}}'), "label"),
        (label('{"tw":{"cancel":-1}}'), "limit"),
        (label('{"tw":{"facts":' + "[" * 20 + "]" * 20 + "}}"), "label"),
        (label('{"tw":{"facts":{"names":[' + ",".join(['"x"'] * 300) + "]}}}"), "limit"),
        (label('{"tw":{"facts":{"names":[' + ",".join(['"x"'] * 9000) + "]}}}"), "limit"),
        (label('{"tw":{"facts":{"names":["' + "x" * 2000 + '"]}}}'), "limit"),
        (label('{"tw":{"ping":{}}' + " " * 70_000 + "}"), "limit"),
        (label('{"tw":{"hello":{"client":"me","versions":[1,1]}}}'), "schema"),
        (label('{"tw":{"read":{"name":"x","version":"","select":[],"dtype":"O"}}}'), "unsupported"),
        (wire.Message(form="TEXT", label="{}").to_frames(), "label"),
    ],
)
def test_what_is_no_request_is_refused(frames, reason):
    with pytest.raises(RequestRefusedError) as caught:
        receive_request(frames)
    assert caught.value.reason == reason


def test_limits_are_those_that_are_given():
    request = send_request(1, ev.AskRead("x", "", None, (Runs(0, 1), Runs(0, 2))))
    with pytest.raises(RequestRefusedError, match="at most 1"):
        receive_request(request, ServeLimits(selections=1))
