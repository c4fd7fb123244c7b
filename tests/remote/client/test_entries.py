"""Entries of sparse tensors come without the elements between them."""

import numpy as np

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
