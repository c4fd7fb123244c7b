"""The table of a flow: every cell of it, and that it leads nowhere where it does not end."""

import json
from typing import get_args

import pytest

from tensorwrapper import wire
from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.transport import FLOW_TRANSITIONS, FlowMachine, FlowState, FlowVerb

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


def in_state(state, direction):
    """Return a machine in a state; one that gives has credit, one that takes has granted some."""
    if state == "idle":
        return FlowMachine()
    if state == "asked":
        machine = FlowMachine()
        came(machine, FlowMachine().offer("inject" if direction == "extract" else "extract", 3))
        return machine
    if state == "offered":
        machine = FlowMachine()
        machine.offer(direction, 3)
        return machine
    machine, other = pair(3, direction)
    giver, taker = (machine, other) if direction == "extract" else (other, machine)
    came(giver, taker.pay(2))
    if state in ("ending", "ended"):
        came(other, machine.end())
    if state == "ended":
        came(machine, other.end())
    if state == "leaving":
        came(machine, other.end())
    if state == "failed":
        machine.fail()
    return machine


def send(machine, verb):
    if verb == "BOT":
        return machine.accept() if machine.state == "asked" else machine.offer("extract", 3)
    return {"PAY": lambda: machine.pay(1), "DAT": lambda: machine.give([[1]]), "EOT": machine.end}[verb]()


def receive(machine, verb):
    keys = {"BOT": {"direction": "inject" if machine.direction == "extract" else "extract", "credit": 3}}
    return machine.receive(message(verb, machine._received, **keys.get(verb, {"credit": 1})))


@pytest.mark.parametrize("direction", ["extract", "inject"])
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("way", ["send", "receive"])
@pytest.mark.parametrize("state", get_args(FlowState))
def test_each_cell_of_the_table(state, way, verb, direction):
    start = {"giving": "extract", "taking": "inject"}.get(state, direction)
    machine = in_state(state, start)
    assert machine.state == state
    to = FLOW_TRANSITIONS.get((state, (way, verb)))
    act = send if way == "send" else receive
    if to is None:
        with pytest.raises(LocalProtocolError if way == "send" else RemoteProtocolError) as caught:
            act(machine, verb)
        assert caught.value.reason == "flow"
        # What is asked of this end and cannot be done changes nothing; what the other end does wrong ends it.
        assert machine.state == (state if way == "send" else "failed")
        return
    act(machine, verb)
    assert machine.state == (
        ("giving" if machine.direction == "extract" else "taking") if to == "open" else to
    )


def test_no_state_is_out_of_reach_or_a_trap():
    reached, left = {"idle"}, {state for state, _ in FLOW_TRANSITIONS}
    while True:
        more = {to for (state, _), to in FLOW_TRANSITIONS.items() if state in reached}
        more = more - {"open"} | ({"giving", "taking"} if "open" in more else set())
        if more <= reached:
            break
        reached |= more
    assert reached == {*get_args(FlowState)} - {"failed"}
    assert left == reached - {"ended"}
