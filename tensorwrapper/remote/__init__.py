"""Tensors at a server, selected from where they are: only the elements that are needed travel."""

from tensorwrapper.remote._remote import Remote, connect
from tensorwrapper.remote._server import Server, serve
from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.remote.protocol._terms import ServeLimits

__all__ = ["Remote", "RemoteTensor", "ServeLimits", "Server", "connect", "serve"]
