"""Tensors at a server, selected from where they are: only the elements that are needed travel."""

from tensorwrapper.remote._async_remote import AsyncRemote, connect_async
from tensorwrapper.remote._remote import Remote, connect
from tensorwrapper.remote._server import Server, serve
from tensorwrapper.remote.awaited._snapshot import AsyncSnapshot
from tensorwrapper.remote.awaited._tensor import AsyncRemoteTensor, AsyncView
from tensorwrapper.remote.client._snapshot import Snapshot
from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.remote.protocol._terms import ServeLimits

__all__ = [
    "AsyncRemote",
    "AsyncRemoteTensor",
    "AsyncSnapshot",
    "AsyncView",
    "Remote",
    "RemoteTensor",
    "ServeLimits",
    "Server",
    "Snapshot",
    "connect",
    "connect_async",
    "serve",
]
