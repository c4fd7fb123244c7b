"""All of a tensor elsewhere comes here by its view, whether one server has it or several do."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper.remote import Catalogue, Sharding
from tensorwrapper.remote.client._elsewhere import Elsewhere

X = np.arange(24).reshape(4, 6)


def test_one_server_and_several_are_asked_alike():
    with tw.serve({"x": X}) as server, tw.connect(server.address) as remote:
        cut = Sharding(tw.Tiling([4], [6]), X.dtype, [server.address])
        for name, part in cut.parts("x", X, server.address).items():
            server.replace(name, part)
        with tw.remote.connect_shards(Catalogue({"x": cut})) as shards:
            for there in (remote["x"], shards["x"]):
                assert isinstance(there, Elsewhere)
                out = np.zeros_like(X)
                assert there.compute(out).tolist() == there.tolist() == X.tolist() == out.tolist()
                assert there.plan().bytes_received == X.nbytes
                assert "&lt;" in there._repr_html_()
