"""Tensors at a server, selected from where they are: only the elements that are needed travel."""

from tensorwrapper.remote._async_remote import AsyncRemote, connect_async
from tensorwrapper.remote._remote import Remote, connect
from tensorwrapper.remote._server import Server, serve
from tensorwrapper.remote.awaited._snapshot import AsyncSnapshot
from tensorwrapper.remote.awaited._tensor import AsyncRemoteTensor, AsyncView
from tensorwrapper.remote.client._snapshot import Snapshot
from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.remote.protocol._terms import ServeLimits
from tensorwrapper.remote.shards._catalogue import Catalogue
from tensorwrapper.remote.shards._reshard import ReshardPlan, reshard_plan
from tensorwrapper.remote.shards._sharding import Holder, Sharding

__all__ = [
    "AsyncRemote",
    "AsyncRemoteTensor",
    "AsyncSnapshot",
    "AsyncView",
    "Catalogue",
    "Holder",
    "Remote",
    "RemoteTensor",
    "ReshardPlan",
    "ServeLimits",
    "Server",
    "Sharding",
    "Snapshot",
    "connect",
    "connect_async",
    "reshard_plan",
    "serve",
]
