"""Snapshots, writes and computations at the server, awaited."""

import asyncio

import numpy as np

import tensorwrapper as tw


def test_what_is_awaited_does_what_is_not():
    async def work(server):
        async with tw.connect_async(server.address) as remote:
            x = await remote.tensor("x")
            async with await remote.snapshot() as then:
                server.replace("y", [9.0])
                names = await then.names()
                old = await (await then.tensor("y")).tolist()
            assert then.closed
            await x.assign(0, 5.0)
            assert not x.is_readonly
            least = tw.selection.minimum(await x.view(), await x.view())
            pushed = await remote.pushed(least)
            sums = await remote.reduce(np.add, await x.view(), 0)
            health = await remote.health()
            return names, old, (await remote.compute(pushed)).tolist(), sums.tolist(), health["draining"]

    with tw.serve({"x": np.ones(3), "y": [1.0]}, writable=True) as server:
        found = asyncio.run(work(server))
    assert found == (["x", "y"], [1.0], [5.0, 1.0, 1.0], 7.0, 0)
