"""A catalogue of tensors at servers of their own processes, one of which is killed."""

import contextlib
import logging

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import LeakedResourceWarning, ShardsLostError, TensorNameError
from tensorwrapper.remote import Catalogue, Sharding, connect_shards, reshard_plan
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


def test_it_is_sharded_anew_by_dask(processes):
    _, addresses, path = processes
    with connect_shards(path) as shards:
        x = shards["x"]
        new = Sharding(tw.Tiling([30, 30], [10, 40]), "f8", addresses)
        plan = reshard_plan(x.sharding, new)
        assert (plan.total, plan.moved + plan.kept) == (X.nbytes, X.nbytes)
        array = x.view().to_dask(chunks=new.tiling)
        assert array.chunks == ((30, 30), (10, 40))
        assert np.array_equal(array.compute(scheduler="processes", num_workers=2), X)


def test_it_is_a_mapping_that_is_closed():
    catalogue = Catalogue({"x": Sharding(TILING, "f8", ["tcp://127.0.0.1:1"])})
    shards = connect_shards(catalogue)
    assert (len(shards), "x" in shards, "y" in shards) == (1, True, False)
    assert repr(shards) == "<ShardedRemote of 1 tensors>"
    with pytest.raises(TensorNameError):
        shards["y"]
    with pytest.warns(LeakedResourceWarning):
        del shards
