"""What is under way at a server: each request by the table, and all answers within its memory."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.server._clients import Budget, Client, Task, weight_of
from tensorwrapper.selection import Outer, Runs

LIMITS = ServeLimits(client_bytes=2**20, server_bytes=2**22)


def task(client, nbytes):
    return Task(client, 1, ev.Ping(), nbytes)


def test_whoever_works_at_what_nobody_wants_is_told():
    one = task(Client(b"a", ""), 0)
    assert one.take("begun")
    assert not one.stop.is_set()
    assert one.take("cancelled")
    assert one.stop.is_set()
    assert one.take("made")
    assert one.state == "over"
    assert not one.take("sent")


def test_what_waits_ends_when_it_is_cancelled():
    one = task(Client(b"a", ""), 0)
    assert one.take("cancelled")
    assert one.state == "over"
    assert not one.stop.is_set()


def test_an_answer_that_is_alone_has_memory_however_large_it_is():
    budget, client = Budget(LIMITS), Client(b"a", "")
    large = task(client, 2**30)
    assert budget.fits(large)
    budget.begin(large)
    assert not budget.fits(task(client, 2**17))
    assert not budget.fits(task(Client(b"b", ""), 2**17))
    assert budget.fits(task(client, 100))
    budget.end(large)
    assert budget.held == client.held == 0


def test_requests_that_wait_have_a_place_within_bounds():
    """A label of 90 bytes says two million positions, which are 32 MiB while they wait."""
    limits = ServeLimits(request_bytes=2**19, server_bytes=2**20)
    budget = Budget(limits)
    clients = [Client(bytes([k]), "") for k in range(9)]
    large = ev.AskRead("x", "", None, (Runs(np.arange(0, 60_000, 2)),))
    small = ev.AskRead("x", "", None, (Runs(0, 2**40), Outer([range(2**30)])))
    assert (weight_of(large), weight_of(small)) == (480_000, 40)
    for client in clients:
        for _ in range(9):
            for request in (large, small):
                one = Task(client, 1, request)
                if budget.has_place(one):
                    budget.enter(one)
    assert [len(client.asked) for client in clients] == [11] * 2 + [9] * 7
    alone = Task(Client(b"a", ""), 1, ev.AskRead("x", "", None, (Runs(np.arange(0, 600_000, 2)),)))
    assert not budget.has_place(alone)
    for client in clients:
        for one in list(client.asked):
            budget.leave(one)
    assert budget.waiting == 0
    assert budget.has_place(alone)


def test_what_waits_still_gives_nothing_back():
    budget, client = Budget(LIMITS), Client(b"a", "")
    made, waiting = task(client, 2**19), task(client, 2**19)
    budget.begin(made)
    for one in (waiting, made, made):
        budget.end(one)
    assert budget.held == client.held == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(2**16, 2**19), st.integers(0, 2**19)), max_size=40))
def test_no_client_and_no_server_has_more_than_its_memory(asked):
    budget, clients = Budget(LIMITS), [Client(bytes([k]), "") for k in range(4)]
    held = []
    for who, most, made in asked:
        one = task(clients[who], most)
        if not budget.fits(one):
            if held:
                budget.end(held.pop(0))
            continue
        budget.begin(one)
        budget.made(one, min(made, most))
        held.append(one)
        assert all(client.held <= 2**20 for client in clients)
        assert budget.held <= 2**22
        assert budget.held == sum(client.held for client in clients) == sum(own.nbytes for own in held)
    for one in held:
        budget.end(one)
    assert budget.held == 0
    assert not any(client.held for client in clients)


def test_more_requests_a_second_than_are_allowed_are_told():
    client = Client(b"a", "")
    found = [client.is_fast(100) for _ in range(1000)]
    assert not any(found[:100])
    assert sum(found) > 700


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(2**16, 2**19), st.integers(0, 4)), max_size=60))
def test_who_takes_what_he_asks_for_never_waits_for_who_does_not(asked):
    """A hundred clients that took nothing held all memory, three seconds for every sixteen of them."""
    budget, clients, held = Budget(LIMITS), [Client(bytes([k]), "") for k in range(4)], []
    for who, nbytes, step in asked:
        client = clients[who]
        if step == 0:
            budget.trust(client)
        elif step == 1 and not any(own.client is client for own in held):
            budget.doubt(client)
        elif step == 2 and held:
            budget.end(held.pop(0))
        else:
            one = task(client, nbytes)
            if budget.fits(one):
                budget.begin(one)
                held.append(one)
        doubtful = sum(own.held for own in clients if not own.is_trusted)
        assert budget.doubtful == doubtful
        assert doubtful <= 2**21
        if doubtful == budget.held:
            new = Client(b"new", "")
            budget.trust(new)
            assert budget.fits(task(new, 2**20))
            assert not budget.is_short(task(new, 2**20))
