"""The table of the states of a request."""

from typing import get_args

from tensorwrapper.remote.protocol._state_table import (
    ASKED,
    SERVED,
    RequestState,
    RequestStep,
    TaskState,
    TaskStep,
)


def test_the_table_says_nothing_but_states_and_steps():
    states, steps = set(get_args(RequestState)), set(get_args(RequestStep))

    assert {state for state, _ in ASKED} | set(ASKED.values()) <= states
    assert {step for _, step in ASKED} == steps


def test_every_request_can_end_and_what_has_ended_stays():
    ends = {"done", "failed"}
    for state in set(get_args(RequestState)) - ends:
        assert {ASKED[state, step] for step in ("late", "cancelled")} == ends
    assert not [state for state, _ in ASKED if state in ends]


def test_the_table_of_the_server_says_nothing_but_states_and_steps():
    states, steps = set(get_args(TaskState)), set(get_args(TaskStep))

    assert {state for state, _ in SERVED} | set(SERVED.values()) == states
    assert {step for _, step in SERVED} == steps
    assert not [state for state, _ in SERVED if state == "over"]


def test_nothing_of_a_lost_or_cancelled_request_goes_out_and_all_ends():
    for step in ("lost", "cancelled"):
        assert SERVED["waiting", step] == SERVED["ready", step] == "over"
        assert SERVED[SERVED["running", step], "made"] == "over"
    found = "waiting"
    for step in ("begun", "made", "sent", "delivered"):
        found = SERVED[found, step]
    assert found == "over"
