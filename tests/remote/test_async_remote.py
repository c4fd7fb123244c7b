"""The client for asyncio: the same tensors, and tasks that are cancelled without harm to others."""

import asyncio
import gc

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    LeakedResourceWarning,
    TensorNameError,
    TransportClosedError,
    TransportTimeoutError,
    VersionChangedError,
)


@pytest.fixture
def server():
    tensors = {
        "x": np.arange(1e4).reshape(100, 100),
        "rows": tw.jagged([[1, 2], [], [3, 4, 5]]),
        "words": tw.strings(["a", "bc"]),
    }
    with tw.serve(tensors, threads=4) as server:
        yield server


async def until(condition):
    while not condition():  # noqa: ASYNC110 - the server sets no event of this loop
        await asyncio.sleep(0.01)


def test_tasks_read_side_by_side(server):
    async def work():
        async with tw.connect_async(server.address) as remote:
            names = await remote.names()
            x, rows = await asyncio.gather(remote.tensor("x"), remote.tensor("rows"))
            found = await asyncio.gather(*[x[k, ::50].tolist() for k in range(100)])
            plan = await x[3].plan()
            part = tw.concat([await rows[0].view(), np.array([7])])
            joined = (await remote.compute(part)).tolist()
            shape = await rows[1:].shape()
            assert remote.counters.messages_sent > 100
            return names, found, plan.bytes_received, joined, shape, await rows[2][::2].tolist()

    names, found, nbytes, joined, shape, last = asyncio.run(work())
    assert names == ["rows", "words", "x"]
    assert found == [[100.0 * k, 100.0 * k + 50] for k in range(100)]
    assert (nbytes, joined, shape, last) == (800, [1, 2, 7], tw.Shape.jagged([0, 3]), [3, 5])


def test_what_is_not_awaited_is_said_and_parts_compute_themselves(server):
    async def work():
        async with tw.connect_async(server.address) as remote:
            rows = await remote.tensor("rows")
            for wrong in (rows, rows.view(), remote.tensor("x")):
                with pytest.raises(ConversionError, match="await"):
                    tw.concat([wrong, [1]])
            return [(await remote.compute(own)).tolist() for own in (rows, rows[2], await rows.view())]

    assert asyncio.run(work()) == [[[1, 2], [], [3, 4, 5]], [3, 4, 5], [[1, 2], [], [3, 4, 5]]]


def test_a_task_that_is_cancelled_is_released_at_once_and_others_go_on(server):
    async def work():
        async with tw.connect_async(server.address, concurrency=2) as remote:
            x, rows = await remote.tensor("x"), await remote.tensor("rows")
            with server.editing("x"):
                held = asyncio.create_task(x.compute())
                other = asyncio.create_task(rows[2].tolist())
                assert await other == [3, 4, 5]
                await until(lambda: server.stats()["in_flight"])
                held.cancel()
                # Two turns of the loop: one for the cancellation, one for what waits for it.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                assert held.cancelled()
                # The server is told so, and the connections are of use again.
                await until(lambda: not server.stats()["in_flight"])
                assert await asyncio.gather(*[rows[0].tolist() for _ in range(8)]) == [[1, 2]] * 8
            with pytest.raises(VersionChangedError):
                await x[0].compute()
            return await (await remote.tensor("x"))[0, :2].tolist()

    assert asyncio.run(work()) == [0.0, 1.0]


def test_nobody_writes_to_memory_of_a_task_that_was_released(server):
    async def work():
        out = np.zeros((100, 100))
        async with tw.connect_async(server.address) as remote:
            x = await remote.tensor("x")
            with server.editing("x"):
                held = asyncio.create_task(x.compute(out))
                await until(lambda: server.stats()["in_flight"])
                held.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await held
                before = out.copy()
            await remote.stats()
            assert np.array_equal(out, before)
            x = await remote.tensor("x")
            told = []
            found = await x.compute(out, progress=lambda done, total: told.append((done, total)))
            await asyncio.sleep(0)
            assert told[-1] == (80_000, 80_000)
            return np.shares_memory(np.asarray(found), out), out[-1, -1]

    assert asyncio.run(work()) == (True, 9999.0)


def test_a_time_limit_is_one_of_asyncio(server):
    async def work():
        async with tw.connect_async(server.address) as remote:
            x = await remote.tensor("x")
            with server.editing("x"), pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await x.compute()

    asyncio.run(work())


def test_closing_gives_up_what_is_under_way(server):
    async def work():
        remote = tw.connect_async(server.address, concurrency=1)
        x = await remote.tensor("x")
        with server.editing("x"):
            tasks = [asyncio.create_task(x.compute()) for _ in range(3)]
            await until(lambda: server.stats()["in_flight"])
            await remote.close()
            await remote.close()
            found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(own) for own in found] == [TransportClosedError] * 3
        assert remote.closed
        assert "closed" in repr(remote)
        with pytest.raises(TransportClosedError):
            await remote.names()

    asyncio.run(work())


def test_errors_are_those_of_the_client_that_waits(server, tmp_path):
    async def work():
        async with tw.connect_async(server.address) as remote:
            with pytest.raises(TensorNameError):
                await remote.tensor("y")
            part = (await remote.tensor("x"))[100]
            with pytest.raises(IndexError):
                await part.view()
            assert remote.address in repr(remote)
        with pytest.raises(TransportTimeoutError):
            async with tw.connect_async(f"ipc://{tmp_path}/nobody", timeout=0.2):
                pass
        with pytest.raises(ExtentError):
            tw.connect_async(server.address, concurrency=0)

    asyncio.run(work())


def test_a_client_that_is_dropped_warns(server):
    async def work():
        remote = tw.connect_async(server.address)
        await remote.names()
        with pytest.warns(LeakedResourceWarning):
            del remote

    asyncio.run(work())


def test_what_was_looked_up_keeps_its_client_alive(server):
    """`connect_async(address).tensor("x")` was closed before anything of it was read."""

    async def work():
        tensor = await tw.connect_async(server.address).tensor("x")
        snapshot = await tw.connect_async(server.address).snapshot()
        gc.collect()
        part, whole = tensor[1], await tensor.view()
        expected = await tensor.tolist()
        assert await (await snapshot.tensor("x")).tolist() == expected
        del tensor
        gc.collect()
        assert await part.tolist() == expected[1]
        del part
        gc.collect()
        # It is no matter of the loop any more.
        assert whole.tolist() == expected
        with pytest.warns(LeakedResourceWarning, match="was not closed"):
            del whole
        with pytest.warns(LeakedResourceWarning, match="was not closed"):
            del snapshot

    asyncio.run(work())
