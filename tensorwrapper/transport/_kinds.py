"""The kinds of socket: their abilities, their envelopes, and which of them this ZeroMQ can run."""

from collections.abc import Mapping
from typing import Final, Literal, final

import zmq

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import UnsupportedSocketError

__all__ = ["Kind", "SocketKind", "check_kind"]

SocketKind = Literal[
    "PUSH", "PULL", "PUB", "SUB", "REQ", "REP", "DEALER", "ROUTER", "PAIR", "CLIENT", "SERVER"
]
"""The kinds of socket; CLIENT and SERVER need a ZeroMQ that is built with its draft API."""


@final
@frozen
class Kind:
    """Abilities of a kind of socket, and the envelope around the frames of its messages."""

    name: SocketKind
    sends: bool = True
    receives: bool = True
    delimiter: bool = False
    """True if an empty frame precedes a message; it is added and removed here."""
    hidden: int = 0
    """Empty frames that ZeroMQ itself puts before a message, on the wire."""
    addressed: bool = False
    """True if the first frame names the peer, and never leaves the process."""
    single: bool = False
    """True if a message is one frame, and its peer is a number beside it."""
    waits: bool = True
    """True if sending waits for a peer with room; else a message without a receiver is lost."""

    @property
    def number(self) -> int:
        """ZeroMQ's number for it."""
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
        If there is no such kind, or this build of ZeroMQ would abort the process when one is used.
    """
    found = _KINDS.get(kind)
    if found is not None:
        return found
    draft = _DRAFT.get(kind)
    if draft is None:
        # Only listed kinds: using a draft kind may abort the process.
        raise UnsupportedSocketError(f"there is no socket of kind {kind!r}; {', '.join(_KINDS)} are known")
    if not zmq.has("draft") or not zmq.DRAFT_API:
        raise UnsupportedSocketError(
            f"{kind} sockets need a ZeroMQ and a pyzmq with the draft API; with this one "
            f"({zmq.zmq_version()}) using one aborts the process. DEALER and ROUTER do the same work"
        )
    return draft
