"""Tensors in parts at several holders: selections are those of the whole, and each element travels once."""

import pickle
import time

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, ShardsLostError, VersionChangedError
from tensorwrapper.remote import Sharding, connect_shards
from tensorwrapper.remote.shards._source import ShardSource
from tensorwrapper.transport import KeyPair
from tests.remote.shards.conftest import held

X = np.arange(30 * 21.0).reshape(30, 21)
WORDS = tw.strings([["a", "bc", ""], ["héllo", "x", "yz"]])


def settled(servers):
    """Return what each server has sent and received, when each has counted its last answer."""
    found = None
    while True:
        time.sleep(0.1)
        before, found = found, [server.stats() for server in servers]
        found = [(own["bytes_sent"], own["bytes_received"]) for own in found]
        if found == before:
            return np.array(found)


def cut(tensor, addresses):
    if tensor is WORDS:
        return Sharding(tw.Tiling([1, 1], [2, 1]), tensor.dtype, addresses)
    return Sharding(tw.Tiling([5, 0, 15, 10], [13, 8]), tensor.dtype, addresses, [0, 1, 2, 2, 1, 0, 2, 0])


@pytest.fixture(scope="module")
def shards():
    with held({"x": tw.as_tensor(X), "words": WORDS}, cut) as (found, _):
        yield found


KEYS = {
    "all": slice(None),
    "one": (7, 3),
    "part": (slice(3, 22), slice(5, 20)),
    "steps": (slice(None, None, -7), slice(1, None, 3)),
    "listed": ([29, 0, 7, 7], slice(None, 4)),
    "none": slice(9, 9),
    "points": ([1, 29, 6], [20, 0, 12]),
}


@pytest.mark.parametrize("name", KEYS)
def test_what_is_selected_there_is_what_is_selected_here(shards, name):
    key = KEYS[name]
    view = sel.as_view(X)[key] if name != "points" else None
    found = shards["x"][key] if name != "points" else shards["x"].view().vindex[key]
    expected = X[key] if name == "points" else view.compute().to_numpy()
    assert np.array_equal(found.compute().to_numpy(), expected)


def test_strings_have_tiles_too(shards):
    assert shards["words"].tolist() == WORDS.tolist()
    assert shards["words"][1, ::2].tolist() == ["héllo", "yz"]


def test_a_view_joins_them_with_others(shards):
    both = tw.concat([shards["x"][:2], X[:1]])
    assert np.array_equal(both.compute().to_numpy(), np.concatenate([X[:2], X[:1]]))
    assert shards["x"][:, 3].plan().bytes_received == 30 * 8


def test_each_element_comes_once():
    x = np.arange(400_000.0).reshape(400, 1000)
    with held(
        {"x": tw.as_tensor(x)},
        lambda _, addresses: Sharding(tw.Tiling([100, 300], [500, 500]), "f8", addresses, [0, 1, 2, 0]),
    ) as (shards, servers):
        before = settled(servers)
        assert np.array_equal(shards["x"].compute().to_numpy(), x)
        sent = (settled(servers) - before)[:, 0]
    assert x.nbytes <= sent.sum() <= 1.02 * x.nbytes + 4 * 2048
    assert sent[1] < 50_000 * 8 * 1.03


def test_what_is_planned_is_what_goes_over_the_network():
    with held({"x": tw.as_tensor(X)}, cut) as (shards, servers):
        view = shards["x"][3:22, 5:20]
        planned = view.plan().bytes_on_wire  # for which tiles are looked up

        before = settled(servers)
        view.compute()
        assert view.plan().bytes_received == 19 * 15 * 8
        assert (settled(servers) - before).sum() == planned


def test_another_process_opens_it_anew(shards):
    view = pickle.loads(pickle.dumps(shards["x"][4:7]))
    assert np.array_equal(view.compute().to_numpy(), X[4:7])
    source = shards["x"].as_source()
    assert source == shards["x"].as_source()
    assert hash(source) == hash(shards["x"].as_source())
    assert isinstance(source, ShardSource)
    with connect_shards(shards.catalogue, keys=KeyPair.make()) as secret, pytest.raises(ConversionError):
        pickle.dumps(secret["x"][0])


def test_a_tile_that_changed_is_never_mixed():
    with held({"x": tw.as_tensor(X)}, cut) as (shards, servers):
        view = shards["x"].view()
        view.compute()
        servers[1].replace("x/0.1", np.zeros((5, 8)))
        with pytest.raises(VersionChangedError):
            view.compute()


def test_a_holder_that_has_something_else_has_nothing():
    with held({"x": tw.as_tensor(X)}, cut) as (shards, servers):
        servers[1].replace("x/0.1", np.zeros((8, 5)))
        servers[2].remove("x/1.0")
        servers[0].remove("x/0.0")
        with pytest.raises(ShardsLostError) as caught:
            shards["x"].compute()
        assert caught.value.missing == ("x/0.0", "x/0.1")
        assert {address for address, _ in caught.value.reasons} == {servers[0].address, servers[1].address}
        again = pickle.loads(pickle.dumps(caught.value))
        assert (str(again), again.missing) == (str(caught.value), caught.value.missing)
        assert shards["x"][10:, :13].compute().shape == tw.Shape(20, 13)
        assert shards.lost == []


KINDS = {
    "numbers": (tw.as_tensor(np.arange(28.0).reshape(7, 4)), tw.Tiling([1] * 7, [4]), None),
    "strings": (tw.strings([[str(k) * k, "x"] for k in range(7)]), tw.Tiling([1] * 7, [2]), None),
    "rows": (tw.jagged([[k] * 2 for k in range(7)]), tw.Tiling([2] * 7), [1] * 7),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("looked_up", [False, True])
def test_only_what_is_not_there_is_missing(kind, looked_up):
    """Also of tiles that were looked up before one of them went, and are asked for together."""
    tensor, tiling, rows = KINDS[kind]

    def both(_, addresses):
        places = [[0, 1]] * 7
        return Sharding(tiling, tensor.dtype, addresses, range(7), placements=places, rows=rows)

    with held({"x": tensor}, both, count=2) as (shards, (first, second)):
        parts = [shards["x"].sharding.part_name("x", tile) for tile in range(7)]
        if looked_up:
            assert shards["x"].tolist() == tensor.tolist()
        first.remove(parts[2])
        before = second.stats()["requests"]
        assert shards["x"].tolist() == tensor.tolist()
        # Of the second holder one tile, which is looked up: besides that, a hello.
        assert second.stats()["requests"] - before <= 4
        second.remove(parts[2])
        second.remove(parts[5])
        with pytest.raises(ShardsLostError) as caught:
            shards["x"].compute()
        assert caught.value.missing == (parts[2],)
        first.remove(parts[5])
        with pytest.raises(ShardsLostError) as caught:
            shards["x"].compute()
        assert caught.value.missing == (parts[2], parts[5])
