"""The bytes under way follow the link."""

import pytest

from tensorwrapper.transport.transfer._window import Window

MIB = 2**20


def run(window, rate, delay, seconds=3.0):
    """Let chunks come over a link of a rate and a delay, with credit granted half of a window at a time."""
    now, free, due = 0.0, 0.0, []
    window.granted(now, 0)
    due = [now + delay] * 8
    while now < seconds:
        size = window.chunk
        free = max(free, due.pop(0)) + size / rate
        now = free
        window.arrived(now, size)
        due.append(now + delay)
    return window.chunk


def test_within_a_machine_chunks_are_as_large_as_they_may_be():
    window = Window(8, MIB, is_local=True)
    assert run(window, 1e6, 0.0) == MIB


@pytest.mark.parametrize(("rate", "least", "most"), [(12.5e6, 2**14, 2**15), (125e6, 100_000, 200_000)])
def test_ten_milliseconds_are_under_way(rate, least, most):
    window = Window(8, MIB, is_local=False)
    assert least <= run(window, rate, 0.0002) <= most


def test_a_fast_link_has_large_chunks_and_a_distant_one_is_kept_busy():
    assert run(Window(8, MIB, is_local=False), 5e9, 0.0001) == MIB
    distant = Window(8, MIB, is_local=False)
    # 50 ms there and back at 1 Gbit/s: 6.25 MB are under way where nobody waits for credit.
    assert 8 * run(distant, 125e6, 0.05) >= 6.25e6


def test_a_link_that_became_slow_is_followed():
    window = Window(8, MIB, is_local=False)
    assert run(window, 5e9, 0.0001) == MIB
    now = 10.0
    for _ in range(60):
        now += window.chunk / 1.25e6
        window.arrived(now, window.chunk)
    assert window.chunk == 2**14
