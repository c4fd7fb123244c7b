"""A catalogue of tensors at servers of their own processes, one of which is killed."""

import contextlib
import itertools
import logging

import numpy as np
import pytest
from distributed import Client, LocalCluster, wait

import tensorwrapper as tw
from tensorwrapper import Tiling, interop
from tensorwrapper.errors import (
    LeakedResourceWarning,
    ShardsLostError,
    TensorNameError,
    VersionChangedError,
)
from tensorwrapper.remote import Catalogue, Sharding, connect_shards, reshard_plan
from tests.remote.shards.conftest import held
from tests.support.serving import serving

pytestmark = pytest.mark.slow  # three interpreters are started for each test

X = np.arange(60 * 50.0).reshape(60, 50)
LENGTHS = np.arange(100) % 7
ROWS = tw.from_buffer(np.arange(int(LENGTHS.sum())), tw.Shape.jagged(LENGTHS))
TILING = tw.Tiling([7, 33, 20], [50])
CUTS = [int(LENGTHS[:40].sum()), int(LENGTHS[40:].sum())]


@pytest.fixture
def processes(tmp_path):
    """Three processes: each tile of x at two of them, the rows at one each."""
    addresses = [f"ipc://{tmp_path}/{name}" for name in "abc"]
    x = Sharding(TILING, "f8", addresses, [0, 1, 2], placements=[[0, 1], [1, 2], [2, 0]])
    rows = Sharding(tw.Tiling(CUTS), "i8", addresses, [0, 1], rows=[40, 60])
    Catalogue({"x": x, "rows": rows}).save(tmp_path / "shards.json")
    with contextlib.ExitStack() as stack:
        found = []
        for name, address in zip("abc", addresses, strict=True):
            parts = {**x.parts("x", X, address), **rows.parts("rows", ROWS, address)}
            # HDF5 has names with slashes, as parts have.
            tw.save(tmp_path / f"{name}.h5", {key: part.compute() for key, part in parts.items()})
            found.append(stack.enter_context(serving(tmp_path / f"{name}.h5", "--address", address))[0])
        yield found, addresses, tmp_path / "shards.json"


def test_a_holder_that_is_killed_is_replaced_where_somebody_has_its_parts(processes, caplog):
    started, addresses, path = processes
    caplog.set_level(logging.ERROR, "tensorwrapper")
    with connect_shards(path, timeout=1.0) as shards:
        assert sorted(shards) == ["rows", "x"]
        assert np.array_equal(shards["x"].compute().to_numpy(), X)
        assert shards["rows"][[0, 39, 40, 99]].tolist() == ROWS[[0, 39, 40, 99]].tolist()
        kept = shards["rows"][35:45]
        started[0].kill()
        started[0].wait()
        assert np.array_equal(shards["x"].compute().to_numpy(), X)
        assert shards.lost == [addresses[0]]
        with pytest.raises(ShardsLostError, match=r"1 of 2 parts of 'rows' are lost: rows/0") as caught:
            kept.compute()
        assert caught.value.missing == ("rows/0",)
        assert [address for address, _ in caught.value.reasons] == [addresses[0]]
        with pytest.raises(ShardsLostError):
            shards["rows"][3]
        assert shards["rows"][40:42].tolist() == ROWS[40:42].tolist()
        started[1].kill()
        started[1].wait()
        out = np.full((60, 50), -1.0)
        with pytest.raises(ShardsLostError) as caught:
            shards["x"].compute(out)
        # What could be read was read.
        assert caught.value.missing == ("x/0.0",)
        assert np.array_equal(out[7:], X[7:])
        assert (out[:7] == -1).all()


def test_workers_of_dask_read_each_element_once_and_straight_from_its_holder():
    x = np.arange(600.0 * 500).reshape(600, 500)
    with (
        held(
            {"x": tw.as_tensor(x)},
            lambda _, addresses: Sharding(tw.Tiling([70, 330, 200], [500]), "f8", addresses),
        ) as (shards, servers),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs="ERROR",
        ) as cluster,
        Client(cluster) as client,
    ):
        new = tw.Tiling([300, 300], [200, 300])
        plan = reshard_plan(shards["x"].sharding, Sharding(new, "f8", list(client.nthreads())))
        assert plan.moved == plan.total == x.nbytes
        array = interop.reshard(shards["x"].view(), new)
        wait(array)
        sent = sum(server.stats()["bytes_sent"] for server in servers)
        assert x.nbytes <= sent <= 1.02 * x.nbytes + 2**15
        assert array.chunks == ((300, 300), (200, 300))
        assert len(set(itertools.chain.from_iterable(client.who_has(array).values()))) == 2
        assert np.array_equal(array.compute(), x)


def test_it_is_a_mapping_that_is_closed():
    catalogue = Catalogue({"x": Sharding(TILING, "f8", ["tcp://127.0.0.1:1"])})
    shards = connect_shards(catalogue)
    assert (len(shards), "x" in shards, "y" in shards) == (1, True, False)
    assert repr(shards) == "<ShardedRemote of 1 tensor>"
    with pytest.raises(TensorNameError):
        shards["y"]
    with pytest.warns(LeakedResourceWarning):
        del shards


def test_a_holder_that_began_anew_is_looked_up_again(tmp_path):
    x = np.arange(4.0)
    # Nobody else takes an address of ipc meanwhile.
    servers = [tw.serve({}, f"ipc://{tmp_path}/{number}") for number in range(2)]
    sharding = Sharding(Tiling([2, 2]), "f8", [own.address for own in servers], [0, 0], placements=[[0, 1]])
    for server in servers:
        for name, part in sharding.parts("x", x, server.address).items():
            server.replace(name, part)
    with connect_shards(Catalogue({"x": sharding}), timeout=2) as shards:
        assert shards["x"].tolist() == x.tolist()
        held = servers[0].address
        servers[0].close()
        servers[0] = tw.serve(sharding.parts("x", x, held), held)
        with pytest.raises(VersionChangedError):
            shards["x"].tolist()
        assert shards["x"].tolist() == x.tolist()
        # What is replaced is another tensor, and seen as one.
        name, part = next(iter(sharding.parts("x", x + 1, held).items()))
        servers[0].replace(name, part)
        with pytest.raises(VersionChangedError):
            shards["x"].tolist()
        assert shards["x"].tolist() == [1, 2, 2, 3]
    for server in servers:
        server.close()
