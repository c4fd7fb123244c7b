"""The kinds of socket: their abilities, their envelopes, and whether this ZeroMQ supports them."""

from collections.abc import Mapping
from typing import Final, Literal, final

import zmq

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import UnsupportedSocketError

SocketKind = Literal[
    "PUSH", "PULL", "PUB", "SUB", "REQ", "REP", "DEALER", "ROUTER", "PAIR", "CLIENT", "SERVER"
]
"""The kinds of socket; CLIENT and SERVER need a ZeroMQ built with the draft API."""


@final
@frozen
class Kind:
    """Abilities of a kind of socket, and the envelope around the frames of its messages."""

    name: SocketKind
    sends: bool = True
    receives: bool = True
    delimiter: bool = False
    """True if an empty frame precedes each message. This library adds and removes it."""
    hidden: int = 0
    """Number of empty frames that ZeroMQ itself prepends to each message on the wire."""
    addressed: bool = False
    """True if the first frame names the peer; it is not sent."""
    single: bool = False
    """True if a message is one frame with the number of its peer as metadata."""
    waits: bool = True
    """True if sending waits for a peer with room; otherwise a message without a receiver is lost."""

    @property
    def number(self) -> int:
        """ZeroMQ's number of this kind."""
        return int(zmq.SocketType[self.name])


_KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind("PUSH", receives=False),
        Kind("PULL", sends=False),
        Kind("PUB", receives=False, waits=False),
        Kind("SUB", sends=False),
        Kind("REQ", hidden=1),
        Kind("REP", hidden=1),
        Kind("DEALER", delimiter=True),
        Kind("ROUTER", delimiter=True, addressed=True),
        Kind("PAIR"),
    )
}

_DRAFT: Final[Mapping[str, Kind]] = {
    kind.name: kind for kind in (Kind("CLIENT", single=True), Kind("SERVER", single=True, addressed=True))
}


def check_kind(kind: SocketKind) -> Kind:
    """Return the abilities of a kind of socket.

    Raises
    ------
    UnsupportedSocketError
        If the kind is unknown, or would make this build of ZeroMQ abort the process.
    """
    found = _KINDS.get(kind)
    if found is not None:
        return found
    draft = _DRAFT.get(kind)
    if draft is None:
        # Accept only listed kinds, because using a draft kind may abort the process.
        raise UnsupportedSocketError(f"unknown kind of socket {kind!r}; allowed: {', '.join(_KINDS)}")
    if not zmq.has("draft") or not zmq.DRAFT_API:
        raise UnsupportedSocketError(
            f"{kind} sockets need a ZeroMQ and a pyzmq with the draft API; with this one "
            f"({zmq.zmq_version()}) using one aborts the process. DEALER and ROUTER do the same work"
        )
    return draft
