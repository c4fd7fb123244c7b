"""Who comes from another process shares the connections to one server, until they are closed."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._pending_request import Timeouts
from tensorwrapper.remote.client._shared_connections import opened, opening_of


def test_connections_to_one_server_are_shared_until_they_are_closed():
    with tw.serve({"x": np.arange(3)}) as server:
        given = Connections(server.address, None, Timeouts())
        opening = opening_of("x", given)
        given.close()
        assert opening[0] == server.address

        first = opened(opening)
        assert first is not given
        assert opened(opening) is first
        first.close()
        again = opened(opening)
        assert again is not first
        again.close()
