"""The tensors of a server as a mapping."""

import gc
from collections.abc import Mapping

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, LeakedResourceWarning, TensorNameError


def test_it_is_a_mapping():
    names = [f"t{k:04}" for k in range(1500)]
    with tw.serve({name: [1, 2] for name in names}) as server, tw.connect(server.address) as remote:
        assert isinstance(remote, Mapping)
        assert list(remote) == names
        assert len(remote) == 1500
        assert "t0003" in remote
        assert "other" not in remote
        assert 7 not in remote
        with pytest.raises(TensorNameError):
            remote["other"]
        with pytest.raises(ConversionError):
            remote[7]


def test_the_server_tells_that_it_is_well():
    with tw.serve({"x": [1]}) as server, tw.connect(server.address) as remote:
        list(remote)
        stats = remote.stats()
        assert (stats["draining"], stats["refusals"]) == (0, 0)
        assert stats["requests"] >= 3
        assert remote.address in repr(remote)


def test_a_client_that_is_dropped_warns():
    with tw.serve({"x": [1]}) as server:
        remote = tw.connect(server.address)
        with pytest.warns(LeakedResourceWarning):
            del remote


def test_a_tensor_and_a_view_keep_their_client_alive():
    """`tw.connect(address)["hits"]`, as the README prints it, was closed before anything was read."""
    hits = np.arange(12.0).reshape(3, 4)
    with tw.serve({"hits": hits}) as server:
        tensor = tw.connect(server.address)["hits"]
        gc.collect()
        view = tensor[1:, ::2]
        assert np.array_equal(view.compute(), hits[1:, ::2])
        del tensor
        gc.collect()
        assert np.array_equal(view.compute(), hits[1:, ::2])
        with pytest.warns(LeakedResourceWarning, match="was not closed"):
            del view
