"""Records at a server for tasks: the same fields and rows as for who waits, in as many requests."""

import asyncio
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, OutOfBoundsError, TensorNameError, VersionChangedError

RECORDS = tw.records(
    {
        "t": tw.jagged([[5, 1, 7], [], [2, 9], [4]]),
        "q": tw.jagged([[0.5, 1.5, 2.5], [], [3.5, 4.5], [5.5]]),
        "run": np.array([10, 20, 30, 40]),
    }
)
FACTS = ("name", "version", "names", "rank", "nbytes")


@pytest.fixture(scope="module")
def server():
    with tw.serve({"ev": RECORDS}) as found:
        yield found


def asked(server, work):
    async def run():
        async with tw.connect_async(server.address) as remote:
            return await work(remote, await remote.records("ev"))

    return asyncio.run(run())


def test_they_are_what_they_are_for_who_waits(server):
    async def work(_remote, own):
        facts = [getattr(own, fact) for fact in FACTS]
        view = await own.view()
        parts = await asyncio.gather(
            own.shape(), own.to_dict(), own.compute(), asyncio.to_thread(view.compute)
        )
        return (
            facts,
            len(own),
            parts,
            await own["t"].tolist(),
            own[["run", "q"]].names,
            repr(own),
            repr(own[1]),
        )

    facts, length, (shape, lists, computed, view), field, some, said, part = asked(server, work)
    with tw.connect(server.address) as remote:
        plain = remote.records("ev")
        assert facts == [getattr(plain, fact) for fact in FACTS]
        assert (length, shape, lists) == (4, plain.shape, RECORDS.to_dict())
        assert computed.to_dict() == view.to_dict() == lists
        assert (field, some) == (plain["t"].tolist(), ("run", "q"))
        assert said.startswith("<AsyncRemoteRecords 'ev'")
        assert server.address in part


@given(st.one_of(st.slices(4), st.integers(-4, 3), st.lists(st.integers(-4, 3), min_size=1, max_size=5)))
@settings(max_examples=25, deadline=None)
def test_rows_are_those_of_the_records(server, key):
    async def work(_remote, own):
        rows = own[key]
        return await asyncio.gather(rows.to_dict(), rows.compute(), rows.view())

    wanted = RECORDS[key].to_dict()
    lists, computed, view = asked(server, work)
    assert lists == computed.to_dict() == view.to_dict() == wanted


def test_rows_of_all_fields_are_one_request(server):
    async def work(remote, own):
        await own[0].to_dict()  # each thread greets the server once
        before = remote.counters.messages_sent
        for k in range(4):
            await own[k].to_dict()
        return remote.counters.messages_sent - before

    async def run():
        async with tw.connect_async(server.address, concurrency=1) as remote:
            return await work(remote, await remote.records("ev"))

    assert asyncio.run(run()) == 4


def test_snapshots_have_records(server):
    async def work(remote, own):  # noqa: ARG001
        async with await remote.snapshot() as snapshot:
            return await (await snapshot.records("ev"))[1:3].to_dict()

    assert asked(server, work) == RECORDS[1:3].to_dict()


def test_what_is_wrong_is_said_when_it_is_awaited(server):
    async def work(remote, own):
        with pytest.raises(TensorNameError, match="has no field 'x'"):
            own["x"]
        with pytest.raises(TensorNameError, match="twice"):
            own[["t", "t"]]
        with pytest.raises(TensorNameError):
            await remote.records("other")
        late = own[9]
        with pytest.raises(OutOfBoundsError):
            await late.compute()
        for kept in (own, own[0]):
            with pytest.raises(ConversionError, match="uses threads"):
                pickle.dumps(kept)

    asked(server, work)


def test_records_that_changed_are_refused():
    async def work(server):
        async with tw.connect_async(server.address) as remote:
            own = await remote.records("ev")
            await asyncio.to_thread(server.replace, "ev", RECORDS)
            with pytest.raises(VersionChangedError):
                await own[0].compute()

    with tw.serve({"ev": RECORDS}) as server:
        asyncio.run(work(server))
