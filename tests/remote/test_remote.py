"""The tensors of a server as a mapping."""

from collections.abc import Mapping

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
