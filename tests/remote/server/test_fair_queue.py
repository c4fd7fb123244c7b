"""Whose turn it is: who settled pays for his own, and all newcomers together have a small share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.server._clients import Client, Task
from tensorwrapper.remote.server._fair_queue import _AHEAD, _BURST, _HELD, _RATE, _SHARE, FairQueue, cost_of

MIB = 2**20


def client(name, born, *sizes):
    found = Client(name.encode(), "")
    found.born = born
    found.counts["answers"] = 1
    for number, nbytes in enumerate(sizes):
        found.asked.append(Task(found, number, ev.Ping(), nbytes))
    return found


def has_room(_task):
    return True


class Server:
    """What a loop does with turns, at a clock of its own: each answer takes as long as it costs."""

    def __init__(self):
        self.turns, self.now, self.served = FairQueue(), 100.0, {}

    def turn(self, clients, *, until):
        """Serve each client once, as long as it is its turn; let time go by where nobody's is."""
        begin = self.now
        for one in self.turns.order(clients, self.now, has_room):
            if self.now < until and self.turns.may(one):
                task = one.asked.popleft()
                # What is asked for again at once: they always wait.
                one.asked.append(task)
                cost = cost_of(task.nbytes, 1e-5)
                self.now += cost
                self.turns.charge(one, cost)
                self.served[one.peer] = self.served.get(one.peer, 0) + cost
        self.now += 0.001 * (self.now == begin)


@given(st.lists(st.integers(2**16, 4 * MIB), min_size=1, max_size=9), st.integers(2**16, 4 * MIB))
def test_newcomers_have_no_more_than_their_share_however_many_they_are(sizes, size):
    server, settled = Server(), client("settled", 0.0, size)
    while server.now < 100.1:
        # None of them is older than a second: they vanish, and others come.
        young = [client(f"new {k}", server.now - 0.5, own) for k, own in enumerate(sizes)]
        server.turn([*young, settled], until=100.1)
    taken = sum(server.served.values()) - server.served[b"settled"]
    assert taken <= 0.1 * _SHARE + _BURST + max(sizes) / _RATE + 1e-9
    assert server.served[b"settled"] >= 0.1 * (1 - _SHARE) - 2 * _BURST - max(size, *sizes) / _RATE


@given(st.lists(st.integers(2**16, 4 * MIB), min_size=1, max_size=20))
def test_nobody_is_held_back_where_nobody_else_is_served(sizes):
    server = Server()
    while server.now < 100.1:
        server.turn([client(f"new {k}", server.now, own) for k, own in enumerate(sizes)], until=100.1)
    assert sum(server.served.values()) > 0.098


@given(st.lists(st.integers(2**16, 4 * MIB), min_size=2, max_size=20))
def test_who_settled_has_as_much_as_all_others_that_did(sizes):
    server = Server()
    clients = [client(f"old {k}", 0.0, own) for k, own in enumerate(sizes)]
    while server.now < 100.1:
        server.turn(clients, until=100.1)
    most, least = max(server.served.values()), min(server.served[own.peer] for own in clients)
    assert most - least <= _AHEAD + 2 * max(sizes) / _RATE


def test_who_was_silent_has_saved_nothing_up():
    server = Server()
    silent, early = client("silent", 0.0), client("early", 0.0, MIB)
    while server.now < 101:
        server.turn([silent, early], until=101)
    silent.asked.append(Task(silent, 1, ev.Ping(), MIB))
    before = dict(server.served)
    while server.now < 102:
        server.turn([silent, early], until=102)
    assert server.served[b"silent"] == pytest.approx(server.served[b"early"] - before[b"early"], abs=0.01)


def test_of_newcomers_the_one_that_wants_least_is_first_and_small_requests_always_go():
    turns = FairQueue()
    busy, young = client("old", 0.0, MIB), client("a", 99.9, 3 * MIB, 2 * MIB)
    modest, small = client("b", 99.9, MIB), client("c", 99.9, 10)
    assert turns.order([young, modest, small, busy], 100.0, has_room) == [busy, small, modest, young]
    turns.charge(modest, 1.0)
    assert [own for own in (busy, young, modest, small) if turns.may(own)] == [busy, small]


def test_newcomers_hold_few_bytes_beside_who_settled():
    turns = FairQueue()
    busy, young, other = client("old", 0.0, MIB), client("a", 99.9, MIB), client("b", 99.9, MIB)
    other.held = _HELD
    turns.order([busy, young, other], 100.0, has_room)
    assert not turns.may(young)
    other.held = _HELD - MIB
    turns.order([busy, young, other], 100.1, has_room)
    assert turns.may(young)
    turns.charge(young, 0.0, MIB)
    assert not turns.may(other)


def test_a_client_settles_when_it_was_there_for_two_seconds_and_took_an_answer():
    own = client("a", 100.0)
    assert not FairQueue.settle(own, 101.9)
    own.counts["answers"] = 0
    assert not FairQueue.settle(own, 102.1)
    own.counts["answers"] = 1
    assert FairQueue.settle(own, 102.1)
    own.counts["answers"] = 0
    assert FairQueue.settle(own, 102.2)


def test_what_newcomers_ask_for_is_not_even_read_beside_who_settled():
    turns = FairQueue()
    busy, young, new = client("old", 0.0, MIB), client("a", 99.9, MIB), client("b", 99.9, 10)
    assert not turns.waits(young, 100.0)
    turns.order([busy, young, new], 100.0, has_room)
    # What comes behind small requests is read at once, and all that who settled asks for.
    assert [turns.waits(own, 100.05) for own in (busy, young, new)] == [False, True, False]
    new.asked.append(Task(new, 9, None))
    new.asked[-1].frames = []
    assert turns.waits(new, 100.05)
    assert not turns.waits(young, 100.2)
    assert not turns.waits(young, 102.0)
