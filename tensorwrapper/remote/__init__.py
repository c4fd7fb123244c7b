"""Tensors on a server: selections transfer only the needed elements."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
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

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_async_remote": ("AsyncRemote", "connect_async"),
            "_remote": ("Remote", "connect"),
            "_server": ("Server", "serve"),
            "_sharded_remote": ("ShardedRemote", "connect_shards"),
            "_take_shards": ("take_shards",),
            "aio._records": ("AsyncRecordRows", "AsyncRemoteRecords"),
            "aio._snapshot": ("AsyncSnapshot",),
            "aio._tensor": ("AsyncRemoteTensor", "AsyncView"),
            "client._snapshot": ("Snapshot",),
            "client._tensor": ("RemoteTensor",),
            "protocol._limits": ("ServeLimits",),
            "shards._catalogue": ("Catalogue",),
            "shards._reshard": ("ReshardPlan", "reshard_plan"),
            "shards._sharding": ("Holder", "Sharding"),
            "shards._tensor": ("ShardedTensor",),
        },
    )
