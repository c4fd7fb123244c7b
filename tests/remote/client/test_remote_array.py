"""All of a tensor elsewhere comes here by its view, whether one server has it or several do."""

import ml_dtypes
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError
from tensorwrapper.remote import Catalogue, Sharding
from tensorwrapper.remote.client._remote_array import RemoteArray

X = np.arange(24).reshape(4, 6)


def test_one_server_and_several_are_asked_alike():
    with tw.serve({"x": X}) as server, tw.connect(server.address) as remote:
        cut = Sharding(tw.Tiling([4], [6]), X.dtype, [server.address])
        for name, part in cut.parts("x", X, server.address).items():
            server.replace(name, part)
        with tw.remote.connect_shards(Catalogue({"x": cut})) as shards:
            for there in (remote["x"], shards["x"]):
                assert isinstance(there, RemoteArray)
                out = np.zeros_like(X)
                assert there.compute(out).tolist() == there.tolist() == X.tolist() == out.tolist()
                assert there.plan().bytes_received == X.nbytes
                assert type(there).__name__ in there._repr_html_()


LOCAL = {
    "box": tw.as_tensor(np.arange(6.0).reshape(2, 3)),
    "rows": tw.jagged([[1, 2], [], [3]]),
    "even rows": tw.jagged([[1, 2], [3, 4]]),
    "text": tw.strings(["a", "b"]),
    "number": tw.as_tensor(7),
    "zero": tw.zeros((1,)),
    "nothing": tw.zeros((0, 3)),
    "times": tw.as_tensor(np.array([1, 2], "m8[s]")),
    "small": tw.as_tensor(np.ones(2, ml_dtypes.bfloat16)),
    "places": tw.as_tensor(np.arange(3)),
}
CALLS = {
    "array": (np.asarray, list(LOCAL)),
    "truth": (bool, ["box", "rows", "number", "zero", "nothing"]),
    "float": (float, ["number", "zero"]),
    "int": (int, ["number", "zero"]),
    "complex": (complex, ["number"]),
    "round": (round, ["number"]),
    "index": (lambda t: list(range(9))[t], ["number"]),
    "there": (lambda t: 3 in t, ["box", "rows", "places"]),
    "absent": (lambda t: 99 in t, ["box", "rows"]),
    "where": (lambda t: np.where(t > 1, t, 0), ["box", "rows", "places"]),
    "concatenate": (lambda t: np.concatenate([t, t]), ["box", "rows", "text", "times"]),
    "stack": (lambda t: np.stack([t, t]), ["box", "rows"]),
    "block": (lambda t: np.block([[t, t], [t, t]]), ["box"]),
    "sum": (np.sum, ["box", "rows", "places"]),
    "mean": (np.mean, ["box"]),
    "clip": (lambda t: np.clip(t, 1, 2), ["box"]),
    "sort": (np.sort, ["box"]),
    "ndim": (np.ndim, ["box", "rows"]),
    "shape": (np.shape, ["box"]),
    "equal": (lambda t: np.array_equal(t, t), ["box"]),
    "upper": (np.strings.upper, ["text"]),
    "key": (lambda t: tw.as_tensor([5, 6, 7])[t], ["places"]),
    "mask": (lambda t: LOCAL["rows"][t > 1], ["rows"]),
    "assigned": (lambda t: assigned(tw.zeros(t.shape, dtype="f8"), t), ["box", "rows", "nothing"]),
    "assigned to a view": (lambda t: assigned(sel.as_view(tw.zeros(t.shape)), t), ["box", "rows"]),
    "compared": (lambda t: tw.as_tensor(t).array_equal(t), ["box", "rows"]),
}


def assigned(target, value):
    target.assign(value)
    return target


def outcome(call, tensor):
    try:
        found = call(tensor)
    except ConversionError as error:
        return type(error)
    facts = getattr(found, "dtype", type(found)), getattr(found, "shape", None)
    return (found.tolist() if hasattr(found, "tolist") else found), *facts


@pytest.fixture(scope="module")
def remote():
    with tw.serve(LOCAL) as server, tw.connect(server.address) as connected:
        yield connected


@pytest.mark.parametrize("call", CALLS)
def test_python_and_numpy_get_what_tensors_here_give(remote, call):
    """NumPy went through its views one by one: texts became what shows views, and every truth was true."""
    run, names = CALLS[call]
    for name in names:
        assert outcome(run, remote[name]) == outcome(run, LOCAL[name]), name


def test_who_computes_into_it_is_told_how_to_write(remote):
    there = remote["box"]
    for call in (
        lambda: np.add(there, 1, out=there),
        lambda: np.add.reduce(np.ones((2, 2)), out=there),
        lambda: np.add.at(there, 0, 1),
        lambda: there.__iadd__(1),
    ):
        with pytest.raises(ConversionError, match=r"r\[\.\.\.\] = r \+ 1"):
            call()
    assert there.tolist() == LOCAL["box"].tolist()


HELD = {
    "box": X,
    "sparse": tw.sparse([(0, 1), (3, 2)], [5, 7], (4, 6)),
    "far": tw.sparse([(0, 0)], [9], (4, 6), fill_value=2),
    "mask": X % 3 == 0,
    "sparse mask": tw.sparse([(0, 1), (2, 5)], [True, True], (4, 6), fill_value=False),
    "rows": tw.jagged([[1, 2], [], [3]]),
    "mask of rows": tw.jagged([[True, False], [], [True]]),
    "sparse mask of rows": tw.sparse([(0, 1)], [True], tw.Shape.jagged([2, 0, 1])),
    "positions": tw.jagged([[1, 0, 1], [], []]),
    "number": np.int64(3),
    "sparse number": tw.sparse([()], [4], tw.Shape()),
}
KEYED = {
    "box": ["mask", "sparse mask"],
    "sparse": ["mask", "sparse mask"],
    "far": ["mask", "sparse mask"],
    "rows": ["mask of rows", "sparse mask of rows", "positions"],
}


@pytest.mark.parametrize("name", KEYED)
def test_a_tensor_elsewhere_is_a_key_of_tensors_and_views_here_and_there(name):
    """A sparse one, and rows, were no arrays of positions."""
    with tw.serve(HELD) as server, tw.connect(server.address) as remote:
        local = tw.as_tensor(HELD[name])
        for key in KEYED[name]:
            expected = local[HELD[key]].tolist()
            for selected in (local, sel.as_view(local), remote[name]):
                found = selected[remote[key]]
                assert found.tolist() == expected


def test_sparse_tensors_elsewhere_have_the_fills_of_local_ones():
    with tw.serve(HELD) as server, tw.connect(server.address) as remote:
        names = ["sparse", "far", "mask", "sparse mask"]
        dense = {name: np.asarray(tw.as_tensor(HELD[name]).to_dense()) for name in names}
        for found, expected in (
            (sel.minimum(remote["sparse"], remote["far"]), np.minimum(dense["sparse"], dense["far"])),
            (sel.maximum(remote["sparse"], remote["number"]), np.maximum(dense["sparse"], 3)),
            (sel.maximum(remote["far"], remote["sparse number"]), np.maximum(dense["far"], 4)),
            (
                sel.where(remote["sparse mask"], remote["sparse"], remote["far"]),
                np.where(dense["sparse mask"], dense["sparse"], dense["far"]),
            ),
            (sel.where(remote["mask"], remote["sparse"], 0), np.where(dense["mask"], dense["sparse"], 0)),
        ):
            assert found.compute().is_sparse
            assert found.compute().to_dense().tolist() == expected.tolist()
        with pytest.raises(ConversionError, match="is 3 everywhere, and others are sparse with the fill 0"):
            sel.where(remote["mask"], remote["sparse"], remote["number"]).compute()
