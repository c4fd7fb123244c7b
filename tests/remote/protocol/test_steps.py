"""The table of the states of a request."""

from typing import get_args

from tensorwrapper.remote.protocol._steps import ASKED, RequestState, RequestStep


def test_the_table_says_nothing_but_states_and_steps():
    states, steps = set(get_args(RequestState)), set(get_args(RequestStep))

    assert {state for state, _ in ASKED} | set(ASKED.values()) <= states
    assert {step for _, step in ASKED} == steps


def test_every_request_can_end_and_what_has_ended_stays():
    ends = {"done", "failed"}
    for state in set(get_args(RequestState)) - ends:
        assert {ASKED[state, step] for step in ("late", "cancelled")} == ends
    assert not [state for state, _ in ASKED if state in ends]
