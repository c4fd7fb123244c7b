"""NumPy's reductions of a tensor at a server: computed there, as they are here."""

import warnings

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.remote.client import _reductions
from tensorwrapper.remote.server import _evaluate

RNG = np.random.default_rng(3)
ROWS = tw.Shape.jagged([3, 0, 5, 1, 4, 2])
KINDS = {
    **{
        dtype: tw.as_tensor(RNG.integers(0, 3, (4, 5, 3)).astype(dtype)) for dtype in ("f8", "f4", "f2", "c8")
    },
    **{
        dtype: tw.as_tensor(RNG.integers(0, 2, (4, 5, 3)).astype(dtype)) for dtype in ("i2", "u1", "?", ">i4")
    },
    "nan": tw.as_tensor(np.where(RNG.random((6, 3)) < 0.2, np.nan, 1.5)),
    "line": tw.as_tensor(np.arange(40.0)),
    "turned": tw.as_tensor(np.arange(24.0).reshape(4, 6)).permute((1, 0))[::-1],
    "named": tw.as_tensor(np.arange(6).reshape(2, 3)).named("y", "x"),
    "moved": tw.as_tensor(np.arange(20).reshape(4, 5)).window(tw.Shape(4, 5)[1:3, 2:5]),
    "rows": tw.from_buffer(RNG.normal(size=15), ROWS),
    "full rows": tw.from_buffer(np.arange(6), tw.Shape.jagged([1, 3, 2])),
    "deep": tw.from_buffer(np.arange(12.0), tw.Shape.jagged([[1], [2, 3], [3, 1, 2]])),
    "cells": tw.from_buffer(np.arange(26), tw.Shape.jagged([tw.Shape(2, 3), tw.Shape(4, 5)])),
    "tiles": tw.as_tensor(np.arange(36.0).reshape(6, 6)).tiled(tw.Tiling([2, 4], [3, 3])),
    "nested": tw.from_buffer(np.arange(24.0), tw.Shape.nested(tw.Shape(2, 3, 4), layers=(1, 2))),
    "nested rows": tw.from_buffer(RNG.normal(size=15), tw.Shape.nested(ROWS, layers=(1, 1))),
    "empty": tw.as_tensor(np.zeros((0, 3))),
    "scalar": tw.as_tensor(2.5),
    "nulls": tw.as_tensor([[1.5, None], [2.5, 3.5]]),
    "sparse": tw.sparse([(0, 1)], [5.0], (3, 4)),
    "times": tw.as_tensor(np.arange(5).astype("m8[s]")),
    "words": tw.strings(["a", "b"]),
}
CALLS = {
    **{own.__name__: own for own in (np.sum, np.mean, np.prod, np.max, np.min, np.any, np.all)},
    "count_nonzero": np.count_nonzero,
    "add": lambda t, axis: np.add.reduce(t, axis=axis),
    "default": lambda t, _: np.maximum.reduce(t),
    "options": lambda t, axis: np.sum(t, axis=axis, dtype="f4", keepdims=True),
    "initial": lambda t, axis: np.max(t, axis=axis, initial=9),
    "where": lambda t, axis: np.sum(t, axis=axis, where=t == t),  # noqa: PLR0124 - NaN is not
    "std": np.std,
}


def outcome(call):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = call()
        except (tw.errors.TensorWrapperError, np.exceptions.AxisError) as error:
            return type(error)
    kept = found.shape if isinstance(found, tw.Tensor) else ()
    return type(found), kept, np.asarray(found if not kept else found.elements())


@pytest.fixture(scope="module")
def remote():
    with tw.serve(KINDS) as server, tw.connect(server.address) as found:
        yield found


@pytest.mark.parametrize("name", KINDS)
def test_it_is_what_it_is_here(remote, name, monkeypatch):
    monkeypatch.setattr(_reductions, "_LEAST", 0)
    monkeypatch.setattr(_evaluate, "_BLOCK", 64)
    local, there = KINDS[name], remote[name]
    for called, call in CALLS.items():
        for axis in (None, 0, -1, 1, (0, 1), 7):
            mine, yours = outcome(lambda: call(local, axis)), outcome(lambda: call(there, axis))  # noqa: B023
            where = called, axis, mine, yours
            if isinstance(mine, type):
                assert mine == yours, where
                continue
            assert mine[:2] == yours[:2], where
            assert mine[2].dtype == yours[2].dtype, where
            if mine[2].dtype.kind not in "fciu":
                assert np.array_equal(yours[2], mine[2]), where
                continue
            rough = (
                {"rtol": 1e-2 if mine[2].dtype == np.float16 else 1e-5} if mine[2].dtype.kind in "fc" else {}
            )
            np.testing.assert_allclose(yours[2], mine[2], err_msg=str(where), **(rough or {"rtol": 0}))


@pytest.mark.parametrize("shape", [(200, 500), (100_000,), tw.Shape.jagged([500] * 200)])
def test_the_elements_stay_there(shape):
    values = tw.from_buffer(np.arange(100_000.0), shape)
    with tw.serve({"x": values}) as server, tw.connect(server.address) as remote:
        there = remote["x"]
        there.view()
        for call in (np.sum, np.mean, np.max, lambda t: np.sum(t, axis=-1), lambda t: np.mean(t, axis=-1)):
            before = remote.counters.bytes_received
            found = call(there)
            assert remote.counters.bytes_received - before < 4000
            np.testing.assert_allclose(np.asarray(found), np.asarray(call(values)))
        before = remote.counters.bytes_received
        np.std(there)
        assert remote.counters.bytes_received - before > 800_000


def test_few_elements_come_and_stay(remote):
    before = remote.counters.messages_sent
    assert np.sum(remote["line"]) == np.sum(KINDS["line"])
    assert remote.counters.messages_sent > before


def test_what_the_server_may_not_reduce_comes():
    values = np.arange(10_000.0)
    limits = tw.remote.ServeLimits(work_bytes=50_000)
    with tw.serve({"x": values}, limits=limits) as server, tw.connect(server.address) as remote:
        assert np.sum(remote["x"]) == values.sum()


def test_a_change_is_noticed():
    values = np.arange(10_000.0)
    with tw.serve({"x": values}) as server, tw.connect(server.address) as remote:
        there = remote["x"]
        server.replace("x", values + 1)
        with pytest.raises(tw.errors.VersionChangedError):
            np.sum(there)
        assert np.sum(remote["x"]) == values.sum() + len(values)


def test_a_line_that_is_reduced_in_blocks(monkeypatch):
    monkeypatch.setattr(_evaluate, "_BLOCK", 64)
    with tw.serve({"x": np.arange(100)}) as server, tw.connect(server.address) as remote:
        assert remote.reduce(np.add, remote["x"], 0).tolist() == 4950
        assert remote.reduce(np.maximum, remote["x"], 0, initial=200).tolist() == 200


def test_modes_of_nulls_are_reduced_by_the_client(remote):
    nulls = KINDS["nulls"]
    for axis in (0, 1):
        assert remote.reduce(np.add, remote["nulls"], axis).tolist() == np.sum(nulls, axis=axis).tolist()
