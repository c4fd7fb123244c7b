"""`ServeLimits`: limits of a server on requests and answers, suitable for untrusted clients."""

from typing import Any, Final, cast, final

import attrs

from tensorwrapper._integers import to_count
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ExtentError
from tensorwrapper.wire import Limits

PROTOCOL: Final = 1
"""The supported version of the protocol."""

CAPABILITIES: Final = (
    "box",
    "dtype",
    "entries",
    "pin",
    "read",
    "records",
    "symmetry",
    "reduce",
    "rows",
    "rows with elements",
    "shape",
    "view",
    "write",
    "zlib",
    "zlib of views",
)
"""Abilities of a server of this library, beside listing and describing, in its hello."""


@final
@value_class(kw_only=True)
class ServeLimits:
    """Limits of one server, each checked before allocating anything for a client.

    Raises
    ------
    ExtentError
        If one is 0 or negative.

    Examples
    --------
    >>> ServeLimits(answer_bytes=2**16).answer_bytes
    65536
    """

    label_bytes: int = 65_536
    """Size of a request's label in bytes."""
    depth: int = 16
    """Depth of nesting of a label."""
    items: int = 4096
    """Number of values of a label."""
    selections: int = 512
    """Number of selections in one request."""
    positions: int = 2**22
    """Number of positions and runs in all selections of a request."""
    request_bytes: int = 2**25
    """Total size of the frames of a request in bytes."""
    answer_bytes: int = 2**22
    """Size of the elements of one answer in bytes. Clients split larger reads into several requests."""
    shape_bytes: int = 2**26
    """Size of a shape's JSON in bytes, unless the shape is described by rows."""
    work_bytes: int = 2**34
    """Bytes of sources of a view computed by the server."""
    in_flight: int = 64
    """Number of pending requests of one client."""
    requests_per_second: int = 20_000
    """Average number of requests of one client per second; bursts may reach twice as many."""
    client_bytes: int = 2**24
    """Bytes of unfinished answers to one client. Further requests wait."""
    server_bytes: int = 2**26
    """Bytes of unfinished answers to all clients. Further requests wait."""
    client_snapshots: int = 32
    """Number of snapshots of one client, identified by its key, or else by its connection."""
    server_snapshots: int = 256
    """Number of snapshots of all clients."""
    clients: int = 4096
    """Number of clients with requests."""
    connections: int = 1024
    """Number of connections, including silent ones. Excess connections are closed, newcomers first.

    The number never exceeds three quarters of the process's file descriptors.
    """

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(cast("Any", ServeLimits)):
            count = to_count(getattr(self, field.name), f"the limit {field.name}")
            if not count:
                raise ExtentError(f"the limit {field.name} must be at least 1")

    def of_messages(self) -> Limits:
        """Return the message limits for requests."""
        found = _OF_MESSAGES.get(self)
        if found is None:
            # Bounded, because a process has few servers.
            if len(_OF_MESSAGES) > 64:
                _OF_MESSAGES.clear()
            found = _OF_MESSAGES[self] = self._of_messages()
        return found

    def _of_messages(self) -> Limits:
        return Limits(
            label_bytes=self.label_bytes,
            label_items=self.items,
            depth=self.depth,
            digits=20,
            parts=2 * self.selections + 16,
            total_bytes=self.request_bytes,
            received_bytes=self.request_bytes,
        )


_OF_MESSAGES: Final[dict[ServeLimits, Limits]] = {}
"""Validate message limits once per server, not per request."""
