"""Several servers at work: one for another, a stop that waits for writers alone, and an end."""

import contextlib
import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    ComputationCancelledError,
    ConversionError,
    LeakedResourceWarning,
    TransportClosedError,
)
from tensorwrapper.remote import Catalogue, Holder, Sharding, connect_shards
from tests.remote.shards.conftest import held

X = np.arange(24.0).reshape(6, 4)


def replicated(_, addresses):
    places = [[0, 1], [1, 2]]
    return Sharding(tw.Tiling([2, 4], [1, 3]), "f8", addresses, [0, 1, 0, 1], placements=places)


def test_a_replica_is_asked_where_a_holder_has_gone():
    with held({"x": tw.as_tensor(X)}, replicated, timeout=0.3) as (shards, servers):
        gone = servers[0].address
        servers[0].close()
        assert np.array_equal(shards["x"].compute().to_numpy(), X)
        assert shards.lost == [gone]
        # It is asked last from now on: nobody waits for it, and so it is not found to be there either.
        with tw.serve({}, gone):
            assert np.array_equal(shards["x"][0].compute().to_numpy(), X[0])
            assert shards.lost == [gone]


def test_a_computation_that_is_cancelled_ends_and_nobody_writes_any_more():
    class Never:
        def is_set(self):
            return True

    class After:
        count = 0

        def is_set(self):
            self.count += 1
            return self.count > 3

    with held({"x": tw.as_tensor(X)}, replicated) as (shards, servers):
        shards["x"].compute()
        with servers[0].editing("x/0.0"):
            out = np.zeros((6, 4))
            with pytest.raises(ComputationCancelledError):
                shards["x"].compute(out, cancel=After())
            before = out.copy()
        servers[0].stats()
        assert np.array_equal(out, before)
        with pytest.raises(ComputationCancelledError):
            shards["x"].compute(cancel=Never())
        assert shards["x"][5, 3].compute().item() == 23.0


def test_tiles_are_looked_up_together_and_read_each():
    x = np.arange(10_000.0).reshape(100, 100)
    with held(
        {"x": tw.as_tensor(x)},
        lambda _, addresses: Sharding(tw.Tiling([10] * 10, [10] * 10), "f8", addresses),
        count=1,
    ) as (shards, servers):
        assert np.array_equal(shards["x"].compute().to_numpy(), x)
        # A hello, four lists of names, and a hundred tiles.
        assert servers[0].stats()["requests"] == 105
        assert np.array_equal(shards["x"][::10, ::10].compute().to_numpy(), x[::10, ::10])
        assert servers[0].stats()["requests"] == 205


def test_many_threads_may_read():
    x = np.arange(10_000.0).reshape(100, 100)
    with held(
        {"x": tw.as_tensor(x)},
        lambda _, addresses: Sharding(tw.Tiling([30, 70], [50, 50]), "f8", addresses),
        count=2,
    ) as (shards, _):

        def read(k):
            part = slice(k, 100 - k)
            return np.array_equal(shards["x"][part, k].compute().to_numpy(), x[part, k])

        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(read, range(40)))


def test_a_client_that_is_closed_says_so():
    with held({"x": tw.as_tensor(X)}, replicated) as (shards, _):
        view = shards["x"][0]
        shards.close()
        shards.close()
        assert shards.closed
        with pytest.raises(TransportClosedError):
            view.compute()
        with pytest.raises(TransportClosedError):
            shards["x"]


def test_holders_with_keys_want_ours():
    holder = Holder("tcp://127.0.0.1:1", "k" * 40)
    catalogue = Catalogue({"x": Sharding(tw.Tiling([2]), "f8", [holder])})
    with connect_shards(catalogue) as shards, pytest.raises(ConversionError, match="keys"):
        shards["x"].compute()


def sharded(stack, tensor, **kind):
    """Serve a tensor in two parts; return what says where they are."""
    servers = [stack.enter_context(tw.serve({})) for _ in range(2)]
    rows = kind.get("rows")
    tiling = tw.Tiling([2, 4]) if rows is not None else tw.Tiling([1, 1], [tensor.shape.extent(1)])
    own = Sharding(tiling, tensor.dtype, [server.address for server in servers], [0, 1], **kind)
    for server in servers:
        for name, part in own.parts("x", tensor, server.address).items():
            server.replace(name, part.compute())
    return Catalogue({"x": own})


@pytest.mark.parametrize("kind", ["box", "rows", "sparse"])
def test_a_tensor_and_a_view_keep_their_client_alive(kind):
    """`connect_shards(catalogue)["x"]` was closed before anything was read."""
    tensor, more = {
        "box": (tw.as_tensor(np.arange(6.0).reshape(2, 3)), {}),
        "rows": (tw.jagged([[1, 2], [3, 4, 5, 6]]), {"rows": [1, 1]}),
        "sparse": (tw.sparse([(1, 1)], [5.0], tw.Shape(2, 3)), {"fill_value": 0.0}),
    }[kind]
    with contextlib.ExitStack() as stack:
        catalogue = sharded(stack, tensor, **more)
        expected = tensor.tolist()
        for read in (
            lambda there: there.tolist(),
            lambda there: [there[0].tolist(), there[1].tolist()],
            lambda there: there.view().compute().tolist(),
        ):
            with pytest.warns(LeakedResourceWarning, match="was not closed"):
                assert read(connect_shards(catalogue)["x"]) == expected
        kept = [connect_shards(catalogue)["x"]]
        kept.append(kept[0][1:])
        if kind != "sparse":
            # Of a sparse tensor a part has its entries, and needs nobody any more.
            del kept[0]
        gc.collect()
        assert kept[-1].compute().tolist() == expected[1:]
        with pytest.warns(LeakedResourceWarning, match="was not closed"):
            kept.clear()


def test_threads_of_a_client_end_with_what_was_made_of_it():
    with contextlib.ExitStack() as stack:
        catalogue = sharded(stack, tw.as_tensor(np.arange(6.0).reshape(2, 3)))
        threads = set(threading.enumerate())
        part = connect_shards(catalogue)["x"][:, 1]
        part.compute()
        begun = set(threading.enumerate()) - threads
        assert begun
        with pytest.warns(LeakedResourceWarning):
            del part
        for own in begun:
            own.join(10)
            assert not own.is_alive()
