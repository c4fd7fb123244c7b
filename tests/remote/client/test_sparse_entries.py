"""Entries of sparse tensors come without the elements between them."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.remote import ServeLimits


def test_only_entries_that_are_selected_travel():
    places = np.stack([np.arange(1000), np.arange(1000) * 7 % 1000], axis=1)
    sparse = tw.sparse(places, np.arange(1000.0) + 1, tw.Shape(1000, 1000))
    with tw.serve({"sparse": sparse}) as server, tw.connect(server.address) as remote:
        there = remote["sparse"]
        assert there.is_sparse
        before = remote.counters.bytes_received
        part = there[10:20].compute()
        assert (part.nnz, part.tolist()) == (10, sparse[10:20].tolist())
        assert remote.counters.bytes_received - before < 600
        assert there.compute().nnz == 1000


def test_more_entries_than_an_answer_has_come_in_several():
    sparse = tw.sparse(np.arange(0, 4000, 2)[:, None], np.arange(2000.0), tw.Shape(4000), fill_value=-1)
    limits = ServeLimits(answer_bytes=1000)
    with tw.serve({"s": sparse}, limits=limits) as server, tw.connect(server.address) as remote:
        assert remote["s"].compute().to_dense().tolist() == sparse.to_dense().tolist()
        assert remote["s"][::3].compute().to_dense().tolist() == sparse[::3].to_dense().tolist()


ORDERS = [">f8", ">i4", ">u2", ">c16", ">M8[D]", ">m8[s]", "<f8", "|i1"]
KEYS = [..., 1, slice(1, None), (slice(None), slice(None, None, -1)), ([1, 0, 1],)]


@pytest.mark.parametrize("dtype", ORDERS)
@pytest.mark.parametrize("shape", [tw.Shape(2, 3), tw.Shape.jagged([1, 3])], ids=["box", "rows"])
def test_all_of_a_sparse_tensor_travels_in_either_byte_order(dtype, shape):
    """Its fill was written in the order of its own bytes, and read as little-endian."""
    own = np.array([5, 2], "i8").astype(dtype)
    sparse = tw.sparse([(1, 0)], own[:1], shape, fill_value=own[1])
    with tw.serve({"s": sparse}) as server, tw.connect(server.address) as remote:
        for key in KEYS[: len(KEYS) if shape.is_box else 4]:
            for found in (remote["s"][key], remote["s"].view()[key]):
                assert_same(found.compute(), sparse[key])
        assert remote["s"].dtype == own.dtype.newbyteorder("=")


def assert_same(found, expected):
    assert found.is_sparse
    assert found.shape == expected.shape
    assert found.buffer.fill_value == expected.buffer.fill_value
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("key", [*KEYS[:4], [0, 1], (..., 0), None], ids=str)
@pytest.mark.parametrize("asked", ["nothing", "is_sparse", "shape", "view", "part"])
def test_parts_of_sparse_rows_are_sparse_whatever_was_asked_before(key, asked):
    """Rows came as the lengths of rows and all elements, unless something else was asked for first."""
    sparse = tw.sparse([(0, 0), (2, 1)], [6.0, 7.0], tw.Shape.jagged([1, 3, 2]), fill_value=2.0)
    with tw.serve({"s": sparse}) as server, tw.connect(server.address) as remote:
        there = remote["s"]
        {
            "nothing": lambda: None,
            "is_sparse": lambda: there.is_sparse,
            "shape": lambda: there.shape,
            "view": there.view,
            "part": lambda: there[1],
        }[asked]()
        part = there[key]
        assert part.is_sparse
        assert_same(part.compute(), sparse[key])
    if key is ...:
        assert_same(tw.concat([part, sparse]).compute(), tw.concat([sparse, sparse]).compute())


def test_entries_of_the_rows_that_are_selected_travel_and_no_others():
    rng = np.random.default_rng(1)
    shape = tw.Shape.jagged(rng.integers(0, 9, 2000))
    flat = rng.choice(shape.size, 700, replace=False)
    rows, columns = np.divmod(np.array([shape.index(k) for k in np.sort(flat)]) @ [9, 1], 9)
    sparse = tw.sparse(np.stack([rows, columns], axis=1), np.arange(700) + 1, shape, fill_value=-3)
    tiled = tw.sparse([(1,), (8,)], [5.0, 6.0], tw.Shape(9)).tiled(tw.Tiling([2, 0, 4, 3]))
    with tw.serve({"s": sparse, "t": tiled}) as server, tw.connect(server.address) as remote:
        before = remote.counters.bytes_received
        found = remote["s"][::100].compute()
        assert remote.counters.bytes_received - before < 1500
        assert_same(found, sparse[::100])
        for key in [[5, 3, 3, 1999], slice(None, None, -7), (slice(5, 900), slice(0, 0)), slice(4, 4), -1]:
            assert_same(remote["s"][key].compute(), sparse[key])
        for key in [[3, 0, 1], [2, 2], 2, (2, 3), ([0, 3], slice(None, None, -1))]:
            assert_same(remote["t"][key].compute(), tiled[key])
