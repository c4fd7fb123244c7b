"""Connections of unpickled objects: all of them in this process share those to one server."""

import atexit
import threading
from typing import Final, NoReturn, TypeAlias

from tensorwrapper.errors import ConversionError
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._pending_request import Timeouts

__all__ = ["Opening", "opened", "opening_of"]

Opening: TypeAlias = tuple[str, Timeouts, int, bool | None]
"""Arguments of `Connections`, without keys, for another process to connect in the same way."""

_open: Final[dict[Opening, Connections]] = {}
_lock: Final = threading.Lock()


def opening_of(what: object, connections: Connections) -> Opening:
    """Return the arguments with which another process connects as this client does.

    Raises
    ------
    ConversionError
        If the client has keys: any reader of the pickle could use them.
    """
    if connections.has_keys:
        _refuse_keys(what)
    return connections.opening


def _refuse_keys(what: object) -> NoReturn:
    raise ConversionError(
        f"{what!r} is read with a secret key, which is not pickled: any reader of the bytes could use it. "
        "Load the keys there, KeyPair.load(path), and connect(address, security=CurveClient(...))"
    )


def opened(opening: Opening) -> Connections:
    """Return the shared connections of unpickled objects to a server."""
    with _lock:
        found = _open.get(opening)
        if found is None or found.closed or not found.is_leaked:
            address, patience, cache_bytes, compress = opening
            found = _open[opening] = Connections(address, None, patience, cache_bytes, compress=compress)
            atexit.register(found.close)
    return found
