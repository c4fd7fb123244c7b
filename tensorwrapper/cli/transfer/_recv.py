"""``tensorwrapper recv``: receive the tensors of one sender, and write them to a file."""

import argparse
import errno
import json
import os
import time
from collections.abc import Collection
from typing import Any, Final

from tensorwrapper.cli._progress import Progress
from tensorwrapper.cli._report import Report
from tensorwrapper.cli._security import server_security
from tensorwrapper.cli._sizes import size_of
from tensorwrapper.cli._streams import say
from tensorwrapper.errors import (
    ConversionError,
    DataFileExistsError,
    RemoteProtocolError,
    TransportError,
    TransportTimeoutError,
)
from tensorwrapper.store import save
from tensorwrapper.tensor import Tensor
from tensorwrapper.transport import Socket, Transfer, Transfers
from tensorwrapper.wire import DEFAULT_LIMITS

_GLANCE: Final = 1.0
"""Seconds of one wait for a sender, which is repeated without limit."""

_PARTING: Final = 1.0
"""Seconds for a sender to read the last message."""


def run(options: argparse.Namespace) -> Report:
    """Run the command and return its report."""
    if not options.force and os.path.lexists(options.file):
        raise DataFileExistsError(errno.EEXIST, f"{options.file} already exists; use --force to replace it")
    security, allow = server_security(options)
    if allow is not None and set(allow) != {"*"}:
        raise ConversionError(
            "a listed client may send tensors of any name; the list must have public keys without patterns"
        )
    with (
        Progress(3) as progress,
        Socket("ROUTER", timeout=options.timeout, security=security) as socket,
    ):
        address = socket.bind(options.address)
        if options.json:
            key = {} if security is None else {"public key": security.keys.public}
            ready = {"command": "recv", "ready": True, "address": address, **key}
            say(json.dumps(ready, ensure_ascii=False))
        else:
            say(f"waiting at {address}")
        progress.step("waiting")
        peers: set[bytes] = set()
        try:
            with Transfers(socket, timeout=options.timeout) as transfers:
                tensors, taken = _take_all(transfers, progress, peers)
            received = socket.counters.bytes_received_on_wire
            progress.step(f"writing {options.file}")
            save(options.file, tensors)
        finally:
            _wait_for_end(socket, peers)
    return Report(
        "recv",
        (),
        {
            "tensors": len(tensors),
            "bytes of elements": taken,
            "bytes received": received,
            "bytes of the file": size_of(options.file),
        },
        (f"{address} -> {options.file}",),
        tuple([{"name": name, "shape": str(tensor.shape)} for name, tensor in tensors.items()]),
    )


def _take_all(
    transfers: Transfers, progress: Progress, peers: set[bytes]
) -> tuple[dict[str, Tensor[Any]], int]:
    """Return the tensors of the first sender, and their bytes. Later senders are refused."""
    found: dict[str, Tensor[Any]] = {}
    transfer = _first(transfers)
    series, number, taken = _series(transfer), 1, 0
    progress.step("receiving")
    while True:
        # Use the same names as convert for tensors in groups.
        name = transfer.name.replace("/", ".") or f"tensor_{number}"
        taken += transfer.nbytes
        peers.add(transfer.peer)
        error = _refusal(name, taken, found)
        if error is not None:
            transfer.cancel(error.args[-1])
            raise error
        tensor = transfer.into().wait(progress=progress.share)
        # The sender may have reconnected under another identity.
        peers.add(transfer.peer)
        if tensor is not None:
            found[name] = tensor
        if not transfer.follow:
            return found, taken
        number += 1
        transfer = transfers.accept()
        while _series(transfer) != series:
            transfer.cancel("another sender came first")
            transfer = transfers.accept()


def _refusal(name: str, taken: int, found: Collection[str]) -> RemoteProtocolError | None:
    """Return why the next tensor is refused, before it is received; None if it is not."""
    if name in found:
        return RemoteProtocolError("schema", f"received a second tensor {name!r}")
    if not name.isprintable() or "\\" in name or name in (".", ".."):
        return RemoteProtocolError("schema", f"{name!r} is not a valid name in a file")
    if taken > (most := DEFAULT_LIMITS.received_bytes):
        return RemoteProtocolError("limit", f"{taken} bytes exceed the memory limit of {most}")
    return None


def _first(transfers: Transfers) -> Transfer:
    while True:
        try:
            return transfers.accept(timeout=_GLANCE)
        except TransportTimeoutError:
            continue


def _wait_for_end(socket: Socket, peers: set[bytes]) -> None:
    """Wait until the senders have disconnected, for at most a second.

    When this side closes, ZeroMQ drops unread messages: the final confirmation or the error.
    """
    until, pause = time.monotonic() + _PARTING, 0.01
    while peers and time.monotonic() < until:
        for peer in tuple(peers):
            try:
                # Messages that belong to no transfer are dropped there.
                socket.send([b"ZIO0FLOW", bytes(24)], peer=peer, timeout=0)
            except TransportTimeoutError:
                # A peer without room is still connected.
                continue
            except TransportError:
                peers.remove(peer)
        time.sleep(pause)
        pause *= 1.5


def _series(transfer: Transfer) -> str:
    """Return the common prefix of the keys of one `send`."""
    return transfer.key.rpartition("/")[0]
