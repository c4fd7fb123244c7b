"""Answers on their way: whoever keeps others waiting gives way, and no one else."""

import pytest

from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.served._buffer_pool import BufferPool
from tensorwrapper.remote.server import _send_queue
from tensorwrapper.remote.server._clients import Budget, Client, Task
from tensorwrapper.remote.server._send_queue import Sending


class Delivery:
    done = False


class Line:
    """Takes so many bytes at each look."""

    def __init__(self, *rates):
        self.rates, self.found, self.is_cut = list(rates), 0, False

    def taken(self):
        rate = self.rates.pop(0) if self.rates else 0
        if rate is None:
            return None
        self.found += rate
        return self.found

    def cut(self):
        self.is_cut = True
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(_send_queue.time, "monotonic", lambda: now[0])
    return now


def flow(line):
    budget = Budget(ServeLimits())
    sending, client, delivery = Sending(budget, BufferPool()), Client(b"a", "", line), Delivery()
    task = Task(client, 1, ev.Ping(), 2**20)
    budget.begin(task)
    sending.add(task, delivery, [])
    return budget, sending, client, delivery


def test_who_has_taken_an_answer_is_trusted():
    budget, sending, client, delivery = flow(Line())
    sending.reap()
    assert (len(sending), client.is_trusted, budget.doubtful) == (1, False, 2**20)
    delivery.done = True
    sending.reap()
    assert (len(sending), client.is_trusted, budget.doubtful, budget.held) == (0, True, 0, 0)


@pytest.mark.parametrize(
    ("line", "looks", "cut"),
    [(Line(2**20), 5, False), (Line(2**20), 12, True), (Line(*[2**14] * 99), 90, False),
     (Line(*[100] * 99), 12, True), (Line(*[None] * 99), 12, False), (Line(*[None] * 99), 40, True)],
)  # fmt: skip
def test_who_takes_nothing_is_doubted_and_then_cut(clock, line, looks, cut):
    budget, sending, client, _ = flow(line)
    budget.trust(client)
    for _ in range(looks):
        sending.press([client])
        clock[0] += 0.101
    assert line.is_cut == cut == bool(sending.cuts)
    if cut:
        assert not client.is_trusted
        assert budget.doubtful == budget.held


def test_looks_are_far_apart(clock):
    line = Line(5, 7)
    _, sending, client, _ = flow(line)
    for _ in range(9):
        sending.press([client])
    assert line.rates == [7]
    clock[0] += 1
    sending.press([Client(b"b", ""), client])
    assert line.rates == []
