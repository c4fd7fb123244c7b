"""A plan is carried out: new parts are where they are to be, and each element came once."""

import numpy as np
import pytest
from distributed import Client, LocalCluster, WorkerPlugin, get_worker
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    OutOfBoundsError,
    ShardsLostError,
    TensorNameError,
)
from tensorwrapper.remote import Catalogue, Sharding, connect_shards, reshard_plan, take_shards
from tests.remote.shards.conftest import in_rows

LENGTHS = np.random.default_rng(1).integers(0, 5, 40)


@pytest.fixture(scope="module")
def servers():
    with tw.serve({}) as a, tw.serve({}) as b, tw.serve({}) as c:
        yield a, b, c


def hold(servers, cut, name, tensor):
    for server in servers:
        for old in server.names:
            server.remove(old)
        if server.address in [own.address for own in cut.holders]:
            for part, view in cut.parts(name, tensor, server.address).items():
                server.replace(part, view.compute())


def carry_out(servers, plan):
    sent = [server.stats()["bytes_sent"] for server in servers]
    new = [own.address for own in plan.new.holders]
    came = {own.address: take_shards(own, plan, "x", "y") for own in servers if own.address in new}
    sent = [server.stats()["bytes_sent"] - own for server, own in zip(servers, sent, strict=True)]
    assert came == {address: plan.received_by(address) for address in came}
    for server, count in zip(servers, sent, strict=True):
        if server.address in [own.address for own in plan.holders]:
            # Headers of a request for each piece, at most, and of what it is.
            wanted = plan.sent_by(server.address)
            assert wanted <= count <= 1.02 * wanted + 1024 * (plan.pieces + 4)
    return came


@st.composite
def tilings(draw):
    def cut(extent):
        marks = draw(st.lists(st.integers(0, extent), max_size=3))
        return np.diff([0, *sorted(marks), extent]).tolist()

    return tw.Tiling(cut(12), cut(9))


@given(tilings(), tilings(), st.data())
@settings(max_examples=12, deadline=None)
def test_each_element_comes_once_to_each_new_holder(servers, old, new, data):
    addresses = [server.address for server in servers]
    x = np.arange(108.0).reshape(12, 9)
    places = [[0], [1, 2], [2, 0]]

    def sharding(tiling):
        count = tiling.grid.size
        tiles = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
        return Sharding(tiling, "f8", addresses, tiles, placements=places)

    plan = reshard_plan(sharding(old), sharding(new))
    hold(servers, plan.old, "x", x)
    assert sum(carry_out(servers, plan).values()) == plan.moved
    with connect_shards(Catalogue({"y": plan.new})) as shards:
        assert np.array_equal(shards["y"].compute(), x)
    for server in servers:
        own = {plan.new.part_name("y", k) for k in plan.new.tiles_of(server.address).tolist()}
        assert own == {name for name in server.names if name.startswith("y/")}


def test_an_element_that_is_here_does_not_come_with_those_around_it(servers):
    addresses = [server.address for server in servers]
    x = np.arange(108.0).reshape(12, 9)
    corner = Sharding(tw.Tiling([1, 11], [1, 8]), "f8", addresses, [1, 0, 0, 0])
    whole = Sharding(tw.Tiling([12], [9]), "f8", addresses, [1])
    plan = reshard_plan(corner, whole)
    hold(servers, corner, "x", x)
    assert carry_out(servers, plan) == {addresses[0]: 0, addresses[1]: 856, addresses[2]: 0}


@pytest.mark.parametrize("kind", ["rows", "words", "nested"])
def test_every_kind_is_carried_over(servers, kind):
    a, b, c = (server.address for server in servers)
    if kind == "rows":
        tensor = tw.from_buffer(np.arange(LENGTHS.sum()), tw.Shape.jagged(LENGTHS))
        old, new = in_rows([10, 0, 17, 13])(tensor, [a, b]), in_rows([25, 15])(tensor, [b, c])
    elif kind == "words":
        tensor = tw.strings([[f"{i}{j}" * j for j in range(5)] for i in range(6)])
        old = Sharding(tw.Tiling([1, 5], [5]), tensor.dtype, [a, b])
        new = Sharding(tw.Tiling([6], [2, 3]), tensor.dtype, [b, c])
    else:
        tensor = tw.from_buffer(np.arange(30), tw.Shape.nested(tw.Shape(6, 5), layers=(1, 1)))
        old = Sharding(tw.Tiling([1, 5], [5]), "i8", [a, b], layers=(1, 1))
        new = Sharding(tw.Tiling([6], [2, 3]), "i8", [b, c], layers=(1, 1))
    plan = reshard_plan(old, new)
    hold(servers, old, "x", tensor)
    came = [take_shards(own, plan, "x", "y") for own in servers[1:]]
    assert came == [plan.received_by(b), plan.received_by(c)]
    with connect_shards(Catalogue({"y": new})) as shards:
        assert (shards["y"].shape, shards["y"].tolist()) == (tensor.shape, tensor.tolist())


def test_what_does_not_fit_is_refused(servers):
    a, b, c = (server.address for server in servers)
    x = np.arange(12.0).reshape(3, 4)
    old, new = Sharding(tw.Tiling([1, 2], [4]), "f8", [a, b]), Sharding(tw.Tiling([3], [2, 2]), "f8", [b, c])
    plan = reshard_plan(old, new)
    hold(servers, old, "x", x)
    with pytest.raises(TensorNameError):
        take_shards(servers[1], plan, "x", "x")
    with pytest.raises(ConversionError):
        take_shards(servers[0], plan, "x", "y")
    with pytest.raises(OutOfBoundsError):
        take_shards(servers[1], plan, "x", "y", [1])
    # One tile alone, at a server that the plan names otherwise.
    take_shards(servers[0], plan, "x", "y", [0], holder=b)
    assert np.array_equal(servers[0].tensors["y/0.0"], x[:, :2])
    servers[0].remove("x/0.0")
    with pytest.raises(ShardsLostError, match=r"x/0\.0"):
        take_shards(servers[2], plan, "x", "y")
    assert "y/0.1" not in servers[2].names

    rows = tw.jagged([[1, 2], [3], [4, 5]])
    cut = Sharding(tw.Tiling([3, 2]), "i8", [a, b], rows=[2, 1])
    wrong = Sharding(tw.Tiling([4, 1]), "i8", [a, b], rows=[2, 1])
    hold(servers, cut, "x", rows)
    with pytest.raises(ExtentMismatchError):
        take_shards(servers[0], reshard_plan(cut, wrong), "x", "y")


class Holding(WorkerPlugin):
    """A server in each worker."""

    name = "holding"

    def setup(self, worker):
        worker.holder = tw.serve({})

    def teardown(self, worker):
        worker.holder.close()


def address_of(dask_worker):
    return dask_worker.holder.address


def take(plan, tiles):
    return take_shards(get_worker().holder, plan, "x", "y", tiles)


def test_dask_carries_a_plan_out_where_the_holders_are(servers):
    x = np.arange(600.0 * 500).reshape(600, 500)
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            silence_logs="ERROR",
        ) as cluster,
        Client(cluster) as client,
    ):
        client.register_plugin(Holding())
        workers = {holder: worker for worker, holder in client.run(address_of).items()}
        old = Sharding(tw.Tiling([70, 330, 200], [500]), "f8", [own.address for own in servers])
        hold(servers, old, "x", x)
        new = Sharding(tw.Tiling([300, 300], [200, 300]), "f8", list(workers), [0, 1, 1, 0])
        plan = reshard_plan(old, new)
        assert plan.moved == plan.total == x.nbytes
        before = sum(server.stats()["bytes_sent"] for server in servers)
        tasks = [
            client.submit(take, plan, [tile], workers=[worker], pure=False)
            for holder, worker in workers.items()
            for tile in new.tiles_of(holder).tolist()
        ]
        assert sum(client.gather(tasks)) == plan.moved
        sent = sum(server.stats()["bytes_sent"] for server in servers) - before
        # On a slow link some of it comes packed.
        assert x.nbytes // 8 <= sent <= 1.02 * x.nbytes + 2**15
        with connect_shards(Catalogue({"y": new})) as shards:
            assert np.array_equal(shards["y"].compute(), x)
