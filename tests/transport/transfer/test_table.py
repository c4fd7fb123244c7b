"""Every cell of the table of a transfer, at both ends."""

from typing import get_args

import pytest

from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.transport import TRANSFER_TRANSITIONS, TransferRole, TransferState
from tests.support.transport.transfers import VERBS, in_state, receive, said, send


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("way", ["send", "receive"])
@pytest.mark.parametrize("state", [state for state in get_args(TransferState) if state != "failed"])
@pytest.mark.parametrize("role", get_args(TransferRole))
def test_each_cell_of_the_table(role, state, way, verb):
    machine = in_state(role, state)
    to = TRANSFER_TRANSITIONS.get((role, state, (way, verb)))
    if to is None:
        mine = {
            "giver": ("OFFER", "CHUNK", "HEARD", "CANCEL"),
            "taker": ("GRANT", "CREDIT", "DONE", "CANCEL"),
        }[role]
        if way == "send" and verb not in mine:
            return
        with pytest.raises(LocalProtocolError if way == "send" else RemoteProtocolError) as caught:
            (send if way == "send" else receive)(machine, verb)
        assert caught.value.reason == "flow"
        # What is asked of this end and cannot be done changes nothing; what the other does wrong ends it.
        assert machine.state == (state if way == "send" else "failed")
        return
    (send if way == "send" else receive)(machine, verb)
    assert machine.state == to


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("role", get_args(TransferRole))
def test_an_end_that_failed_drops_whatever_comes(role, verb):
    machine = in_state(role, "failed")
    if role == "taker" and verb == "CHUNK":
        assert machine.room(0, 0, 0) == 0
    else:
        machine.receive(said(verb))
    assert machine.state == "failed"


def test_no_state_is_out_of_reach_or_a_trap():
    for role in get_args(TransferRole):
        steps = [(state, to) for (who, state, _), to in TRANSFER_TRANSITIONS.items() if who == role]
        reached = {"idle"}
        while more := {to for state, to in steps if state in reached} - reached:
            reached |= more
        assert reached == {*get_args(TransferState)}
        ends = reached - {state for state, to in steps if to != state}
        assert ends == {"done", "failed"}
