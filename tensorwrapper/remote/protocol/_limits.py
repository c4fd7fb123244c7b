"""`ServeLimits`: limits of a server on requests and answers, suitable for untrusted clients."""

from typing import Any, Final, cast, final

import attrs

from tensorwrapper._integers import to_count
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ExtentError
from tensorwrapper.wire import Limits

__all__ = ["CAPABILITIES", "PROTOCOL", "ServeLimits"]

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
    """Bounds of one server: each is checked before anything is allocated on a client's word.

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
    """The label of a request, in bytes."""
    depth: int = 16
    """Depth of nesting of a label."""
    items: int = 4096
    """Number of values of a label."""
    selections: int = 512
    """Selections in one request."""
    positions: int = 2**22
    """Positions, and runs, that a request names, all selections together."""
    request_bytes: int = 2**25
    """Bytes of all frames of a request together."""
    answer_bytes: int = 2**22
    """The elements of one answer. A client that wants more asks for it in several requests."""
    shape_bytes: int = 2**26
    """The JSON of a shape that is not described by its rows."""
    work_bytes: int = 2**34
    """The bytes that a view which is computed here may be made of."""
    in_flight: int = 64
    """Requests of one client that wait, or are being answered."""
    requests_per_second: int = 20_000
    """Requests of one client, on average; for a second there may be twice as many."""
    client_bytes: int = 2**24
    """Bytes of answers to one client that are being made or sent. Further requests wait."""
    server_bytes: int = 2**26
    """Bytes of answers to all clients that are being made or sent. Further requests wait."""
    client_snapshots: int = 32
    """The snapshots that one client has: a key if there are keys, else a connection."""
    server_snapshots: int = 256
    """The snapshots of all clients together."""
    clients: int = 4096
    """Clients that have requests."""
    connections: int = 1024
    """Connections, including silent ones. Further ones are cut, those of newcomers first.

    There are at most three quarters of the file descriptors that the system allows the process.
    """

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(cast("Any", ServeLimits)):
            count = to_count(getattr(self, field.name), f"the limit {field.name}")
            if not count:
                raise ExtentError(f"the limit {field.name} must be 1 or more")

    def of_messages(self) -> Limits:
        """Return the limits of the messages that a request may be."""
        found = _OF_MESSAGES.get(self)
        if found is None:
            # Bounded: a process has a few servers.
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
"""The limits of messages are checked when they are made: once for a server, not for each request."""
