"""Tasks of asyncio that read: how long one is, and how soon one that is cancelled is released."""

import asyncio
import time

import numpy as np

import tensorwrapper as tw

X = np.arange(10_000.0).reshape(100, 100)


def test_released(benchmark):
    async def work(address, server):
        seconds = []
        async with tw.connect_async(address) as remote:
            x = await remote.tensor("x")
            with server.editing("x"):
                for _ in range(50):
                    task = asyncio.create_task(x.compute())
                    await asyncio.sleep(0.01)
                    start = time.perf_counter()
                    task.cancel()
                    try:
                        await task
                    except asyncio.CancelledError:
                        seconds.append(time.perf_counter() - start)
        return seconds

    with tw.serve({"x": X}, threads=4) as server:
        found = asyncio.run(work(server.address, server))
    benchmark.extra_info["microseconds, median and most"] = [
        round(1e6 * own) for own in (np.median(found), max(found))
    ]
    benchmark(lambda: None)


def test_100_reads_side_by_side(benchmark):
    async def work(address):
        async with tw.connect_async(address) as remote:
            x = await remote.tensor("x")
            start = time.perf_counter()
            await asyncio.gather(*[x[k].compute() for k in range(100)])
            return time.perf_counter() - start

    with tw.serve({"x": X}) as server:
        benchmark.extra_info["milliseconds"] = round(1e3 * asyncio.run(work(server.address)), 1)
        with tw.connect(server.address) as remote:
            x = remote["x"]
            benchmark.pedantic(lambda: [x[k].compute() for k in range(100)], rounds=5)
