"""Threads that wait in place of a loop: what is cancelled before it began is not begun."""

import asyncio
import threading

import numpy as np
import pytest

from tensorwrapper.errors import TransportClosedError
from tensorwrapper.remote.aio._worker_threads import Threads
from tensorwrapper.selection import as_view


def test_what_was_cancelled_before_its_turn_is_not_begun():
    made, turn = [], threading.Event()

    def make():
        made.append(1)
        return as_view([1.0, 2.0, 3.0])

    async def work():
        threads = Threads("nowhere", 1)
        first = asyncio.create_task(threads.run(turn.wait))
        await asyncio.sleep(0)
        out = np.zeros(3)
        later = [
            asyncio.create_task(
                threads.compute(lambda: made.append(1) or as_view([1.0, 2.0, 3.0]), own, None)
            )
            for own in (None, out)
        ]
        await asyncio.sleep(0)
        for own in later:
            own.cancel()
        await asyncio.sleep(0)
        later[1].cancel()
        turn.set()
        found = await asyncio.gather(first, *later, return_exceptions=True)
        threads.close()
        threads.join()
        with pytest.raises(TransportClosedError):
            await threads.run(turn.wait)
        return found, out.tolist()

    found, out = asyncio.run(work())
    assert found[0] is True
    assert [type(own) for own in found[1:]] == [asyncio.CancelledError] * 2
    assert (made, out) == ([], [0.0, 0.0, 0.0])
