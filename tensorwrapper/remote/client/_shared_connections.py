"""Connections of unpickled objects, which all objects in this process share per server."""

import atexit
import threading
from typing import Final, NoReturn, TypeAlias

from tensorwrapper.errors import ConversionError
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._pending_request import Timeouts

Opening: TypeAlias = tuple[str, Timeouts, int, bool | None]
"""Arguments of `Connections`, without keys, for another process to connect in the same way."""

_open: Final[dict[Opening, Connections]] = {}
_lock: Final = threading.Lock()


def opening_of(what: object, connections: Connections) -> Opening:
    """Return the arguments with which another process connects as this client does.

    Raises
    ------
    ConversionError
        If the client has keys, which any reader of the pickle could use.
    """
    if connections.has_keys:
        _refuse_keys(what)
    return connections.opening


def _refuse_keys(what: object) -> NoReturn:
    raise ConversionError(
        f"cannot pickle {what!r}, because any reader of the bytes could use its secret key. "
        f"In the other process use KeyPair.load(path), and connect(address, "
        f"security=CurveClient(...))"
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
