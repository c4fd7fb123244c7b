"""Tensors and parts of them that are awaited: what they know, and what they ask for."""

import asyncio

import numpy as np
import pytest

import tensorwrapper as tw
from tests.remote.conftest import every_kind

FACTS = ("name", "version", "kind", "rank", "size", "dtype", "nbytes", "is_sparse")


@pytest.mark.parametrize("name", ["box", "rows", "tiles", "words", "sparse", "named"])
def test_they_are_what_they_are_for_who_waits(name):
    async def work(address, plain):
        async with tw.connect_async(address) as remote:
            own = await remote.tensor(name)
            assert all(getattr(own, fact) == getattr(plain, fact) for fact in FACTS)
            assert await own.shape() == plain.shape
            assert (await own.view()).shape == plain.view().shape
            assert (await own.as_source()).shape == plain.as_source().shape
            assert (await own.plan()).bytes_read == plain.plan().bytes_read
            assert await own[0].tolist() == plain[0].tolist()
            assert (await own[-1].compute()).tolist() == plain[-1].compute().tolist()
            return await own.tolist(), repr(own), repr(own[0])

    with tw.serve({name: every_kind()[name]}) as server, tw.connect(server.address) as remote:
        found, said, part = asyncio.run(work(server.address, remote[name]))
        assert found == remote[name].tolist()
        assert said.startswith(f"<AsyncRemoteTensor {name!r}")
        assert server.address in part


def test_the_server_casts():
    async def work(address):
        async with tw.connect_async(address) as remote:
            own = (await remote.tensor("x")).astype("f4")
            return (await own.plan()).bytes_received, (await own.compute()).dtype

    with tw.serve({"x": np.arange(10.0)}) as server:
        assert asyncio.run(work(server.address)) == (40, np.float32)


def test_tiles_are_awaited():
    tiles = every_kind()["tiles"]

    async def work(address):
        async with tw.connect_async(address) as remote:
            own = await remote.tensor("T")
            parts = own.tile((1, 0)), own.select_tiles([(2, 1)]), own.untiled()[::7, 3]
            found = [await part.tolist() for part in parts]
            return (
                await own.tiling(),
                await parts[0].shape(),
                found,
                (await own.reduce_tiles(np.add)).tolist(),
            )

    with tw.serve({"T": tiles}) as server:
        tiling, shape, found, sums = asyncio.run(work(server.address))
    assert (tiling, shape) == (tiles.tiling, tiles.tile((1, 0)).shape)
    wanted = tiles.tile((1, 0)), tiles.select_tiles([(2, 1)]), tiles.untiled()[::7, 3]
    assert found == [own.tolist() for own in wanted]
    assert sums == tiles.reduce_tiles(np.add).tolist()
