"""The state machine of a flow: every cell of its table, its credit, and conversations that were recorded."""

import json
import random
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import wire
from tensorwrapper.errors import ExtentError, LocalProtocolError, RemoteProtocolError
from tensorwrapper.transport import FlowMachine, FlowVerb

RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "zio-flow.json").read_text())["conversations"]
VERBS = get_args(FlowVerb)


def label(verb, **keys):
    return json.dumps({"flow": verb, **keys})


def message(verb, seqno=0, **keys):
    return wire.Message(form="FLOW", label=label(verb, **keys), seqno=seqno)


def came(machine, frames):
    return machine.receive(wire.decode(frames))


def pair(credit=2, direction="extract", most=2**31 - 1):
    """Return a client and a server that are past the handshake."""
    client, server = FlowMachine(), FlowMachine()
    came(server, client.offer(direction, credit))
    came(client, server.accept(most))
    return client, server


# Credit.


def test_an_end_gives_as_much_as_it_was_granted():
    giver, taker = pair(2)
    with pytest.raises(LocalProtocolError, match="no credit"):
        giver.give([[1]])
    assert taker.due == 2
    came(giver, taker.pay(2))
    with pytest.raises(LocalProtocolError, match="cannot grant"):
        taker.pay(1)
    came(taker, giver.give([[1]]))
    assert (giver.credit, taker.credit, taker.due) == (1, 1, 1)


def test_the_end_that_answers_may_lower_the_credit_and_never_raise_it():
    client, server = pair(5, most=3)
    assert (client.total, server.total) == (3, 3)
    asker = FlowMachine()
    asker.offer("extract", 2)
    with pytest.raises(RemoteProtocolError, match="raised from 2 to 3"):
        asker.receive(message("BOT", direction="inject", credit=3))
    assert asker.state == "failed"


@pytest.mark.parametrize("credit", [0, -1, True, 2**31, 2**63, 1.0, "1", None])
def test_hostile_credit_is_refused(credit):
    giver, _ = pair(2)
    with pytest.raises(RemoteProtocolError, match="credit") as caught:
        giver.receive(message("PAY", 1, credit=credit))
    assert caught.value.reason == "flow"
    assert giver.state == "failed"
    with pytest.raises(RemoteProtocolError, match="credit"):
        FlowMachine().receive(message("BOT", direction="extract", credit=credit))


def test_more_credit_than_agreed_and_data_without_credit_are_refused():
    giver, taker = pair(2)
    giver.receive(message("PAY", 1, credit=1))
    with pytest.raises(RemoteProtocolError, match="exceeds"):
        giver.receive(message("PAY", 2, credit=2))
    with pytest.raises(RemoteProtocolError, match="exceeds the credit"):
        taker.receive(message("DAT", 1))


@pytest.mark.parametrize("credit", [0, -1, 2**31])
def test_credit_of_our_own_is_a_number_of_messages(credit):
    with pytest.raises(ExtentError, match="credit must be from 1"):
        FlowMachine().offer("extract", credit)


# What is no message of this flow.


@pytest.mark.parametrize(
    ("what", "text"),
    [
        (wire.Message(form="TENS", label="{}"), "form 'TENS'"),
        (wire.Message(form="FLOW"), "not a JSON object"),
        (wire.Message(form="FLOW", label="[1]"), "not a JSON object"),
        (wire.Message(form="FLOW", label="{}"), "not None"),
        (wire.Message(form="FLOW", label='{"flow":"bot"}'), "not 'bot'"),
        (wire.Message(form="FLOW", label='{"flow":["BOT"]}'), "one of BOT"),
        (message("BOT", credit=1), "direction None"),
        (message("BOT", credit=1, direction=["extract"]), "direction"),
        (message("BOT", 1, credit=1, direction="extract"), "message 0 of a flow is missing"),
    ],
)
def test_what_begins_no_flow_is_refused(what, text):
    machine = FlowMachine()
    with pytest.raises(RemoteProtocolError, match=text):
        machine.receive(what)
    assert machine.state == "failed"


def test_both_ends_cannot_do_the_same():
    asker = FlowMachine()
    asker.offer("extract", 1)
    with pytest.raises(RemoteProtocolError, match="both ends"):
        asker.receive(message("BOT", direction="extract", credit=1))


@pytest.mark.parametrize("seqno", [0, 2, 2**64 - 1])
def test_a_message_that_is_missing_or_twice_there_is_noticed(seqno):
    giver, _ = pair()
    with pytest.raises(RemoteProtocolError, match="message 1 of a flow is missing"):
        giver.receive(message("PAY", seqno, credit=1))


def test_what_is_under_way_when_the_end_is_said_is_dropped():
    giver, taker = pair(2)
    came(giver, taker.pay(2))
    late = giver.give([[1]])
    end = taker.end()
    assert came(taker, late).is_dropped
    assert came(giver, end).verb == "EOT"
    came(taker, giver.end())
    assert (giver.state, taker.state) == ("ended", "ended")


def test_an_answer_keeps_the_keys_of_the_offer_and_data_those_of_the_message():
    client, server = FlowMachine(origin=7), FlowMachine()
    own = wire.Message(form="FLOW", label='{"stream":"s1"}', parts=[b"payload"])
    event = came(server, client.offer("extract", 2, own))
    assert (event.message.origin, bytes(event.message.parts[0])) == (7, b"payload")
    assert came(client, server.accept()).message.label_object["stream"] == "s1"
    came(client, server.pay(2))
    data = wire.Message(label='{"run":3}', parts=[b"raw"])
    event = came(server, client.give(data))
    assert event.message.label_object == {"run": 3, "flow": "DAT"}
    assert bytes(event.message.parts[0]) == b"raw"


# Conversations of the real peers.


def frames_of(entry):
    """Return the frames of a recorded message, without what a socket put around them."""
    frames = [bytes.fromhex(frame) for frame in entry["frames"]]
    if len(frames) == 1:
        return [bytes(frame) for frame in wire.decode_frames(frames[0])]
    start = next(k for k, frame in enumerate(frames) if frame[:3] == b"ZIO")
    return frames[start:]


def play(machine, own):
    """Send what a recorded message says, by the rules of a machine; return its frames."""
    keys = own.label_object
    rest = {k: v for k, v in keys.items() if k not in ("flow", "direction", "credit")}
    payload = wire.Message(form="FLOW", label=json.dumps(rest), parts=own.parts)
    if keys["flow"] == "BOT":
        offer = machine.state == "idle"
        return (
            machine.offer(keys["direction"], keys["credit"], payload)
            if offer
            else machine.accept(keys["credit"])
        )
    if keys["flow"] == "PAY":
        return machine.pay(keys["credit"])
    return machine.give(payload) if keys["flow"] == "DAT" else machine.end(payload)


def is_ready(machine, own):
    """Tell whether a machine may send what a recorded message says."""
    verb, credit = own.label_object["flow"], own.label_object.get("credit", 0)
    if verb == "PAY":
        return machine.due >= credit
    return machine.credit > 0 if verb == "DAT" else verb == "BOT" or machine.state != "taking"


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_a_recorded_conversation_is_led_from_either_side(number, side):
    recorded, machine = RECORDED[number], FlowMachine()
    assert len(RECORDED) == 12
    waiting = []
    for entry in recorded["messages"]:
        theirs = wire.decode(frames_of(entry))
        if not entry["dir"].startswith(side):
            # The log has what was on its way at one time in either order; it is read when it is needed.
            waiting.append(theirs)
            continue
        while waiting and (machine.state in ("idle", "offered") or not is_ready(machine, theirs)):
            machine.receive(waiting.pop(0))
        # Their ports write the time and who they are into the coordinates; ours come from the machine.
        ours = wire.decode(play(machine, theirs))
        assert (ours.seqno, ours.form, ours.parts) == (theirs.seqno, "FLOW", theirs.parts)
        assert ours.label_object == theirs.label_object
        if recorded[side] == "cpp":
            assert ours.label == theirs.label
    for theirs in waiting:
        machine.receive(theirs)
    assert machine.state == "ended"


# Any order in which two ends may act.


class Ends:
    """Two ends and what is on its way between them; who acts next, and how, is drawn."""

    def __init__(self, draw, most, count):
        self.draw, self.most, self.count = draw, most, count
        self.client, self.server = FlowMachine(), FlowMachine()
        self.wires = {self.client: [], self.server: []}
        self.given, self.taken = [], []

    def actions(self, machine):
        state, more = machine.state, len(self.given) < self.count
        other = self.wires[self.server if machine is self.client else self.client]
        actions = {
            "receive": (bool(other), lambda: self.receive(machine, other.pop(0))),
            "accept": (state == "asked", lambda: machine.accept(self.most)),
            "answer": (state == "leaving", machine.end),
            "pay": (bool(machine.due), lambda: machine.pay(self.draw.randint(1, machine.due))),
            "give": (state == "giving" and machine.credit and more, lambda: self.give(machine)),
            "end": (state == "giving" and not more, machine.end),
        }
        return [act for may, act in actions.values() if may]

    def receive(self, machine, frames):
        event = came(machine, frames)
        assert not event.is_dropped or event.verb == "PAY"
        if event.verb == "DAT":
            self.taken.append(event.message.tensors[0].item())

    def give(self, machine):
        self.given.append(len(self.given))
        return machine.give([self.given[-1]])

    def act(self):
        machine = self.draw.choice((self.client, self.server))
        if actions := self.actions(machine):
            frames = self.draw.choice(actions)()
            self.wires[machine] += [frames] if frames else []


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 5), st.sampled_from(["extract", "inject"]))
def test_whatever_two_ends_do_all_that_is_given_arrives_once_and_in_order(seed, credit, most, direction):
    draw = random.Random(seed)
    ends = Ends(draw, most, draw.randrange(12))
    ends.wires[ends.client].append(ends.client.offer(direction, credit))
    for _ in range(2000):
        ends.act()
        assert len(ends.given) - len(ends.taken) <= min(credit, most)
    assert (ends.client.state, ends.server.state) == ("ended", "ended")
    assert ends.taken == ends.given == list(range(ends.count))


@pytest.mark.parametrize("kind", [list, tuple])
def test_the_frames_of_a_message_are_that_message(kind):
    """Its header frames went as tensors of bytes, where a socket sent the message."""
    giver, taker = pair(3)
    came(giver, taker.pay(3))
    whole = wire.decode(wire.encode([[1, 2, 3]], label={"run": 7}))
    events = [
        came(taker, giver.give(kind(wire.encode([[1, 2, 3]], label={"run": 7})))),
        came(taker, giver.give(whole)),
    ]
    for event in events:
        assert [own.tolist() for own in event.message.tensors] == [[1, 2, 3]]
        assert event.message.label_object["run"] == 7
    # Bytes that do not begin as a message are tensors, as ever.
    event = came(taker, giver.give([b"ZIO", b"1" * 24]))
    assert [len(own.tolist()) for own in event.message.tensors] == [3, 24]
