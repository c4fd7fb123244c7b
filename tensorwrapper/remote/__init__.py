"""Tensors on a server: selections transfer only the needed elements."""

from tensorwrapper.remote._async_remote import AsyncRemote, connect_async
from tensorwrapper.remote._remote import Remote, connect
from tensorwrapper.remote._server import Server, serve
from tensorwrapper.remote._sharded_remote import ShardedRemote, connect_shards
from tensorwrapper.remote._take_shards import take_shards
from tensorwrapper.remote.aio._records import AsyncRecordRows, AsyncRemoteRecords
from tensorwrapper.remote.aio._snapshot import AsyncSnapshot
from tensorwrapper.remote.aio._tensor import AsyncRemoteTensor, AsyncView
from tensorwrapper.remote.client._snapshot import Snapshot
from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.remote.protocol._limits import ServeLimits
from tensorwrapper.remote.shards._catalogue import Catalogue
from tensorwrapper.remote.shards._reshard import ReshardPlan, reshard_plan
from tensorwrapper.remote.shards._sharding import Holder, Sharding
from tensorwrapper.remote.shards._tensor import ShardedTensor

__all__ = [
    "AsyncRecordRows",
    "AsyncRemote",
    "AsyncRemoteRecords",
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
    "ShardedRemote",
    "ShardedTensor",
    "Sharding",
    "Snapshot",
    "connect",
    "connect_async",
    "connect_shards",
    "reshard_plan",
    "serve",
    "take_shards",
]
