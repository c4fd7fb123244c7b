"""`Counters`: messages and bytes of a socket, also as sent on the wire."""

from typing import Final, final

from tensorwrapper._value_class import frozen

_SHORT: Final = 255
"""Largest frame, in bytes, whose length is encoded in one byte."""

_COMMAND: Final = 33
"""Bytes that CURVE adds to each frame: command name, nonce, flags and authenticator."""


@final
@frozen
class Counters:
    """Messages, frames and bytes that a socket has sent and received so far, in whole messages.

    Bytes of frames include the delimiter and the header frames of a message, but not the identity of a
    ROUTER's peer, which stays in the process. Bytes on the wire add the framing of ZMTP, the protocol of
    ZeroMQ over ``tcp`` and ``ipc``: 2 bytes for a frame of up to 255 bytes, 9 for a longer one, and 33
    more with CURVE. Connecting and keeping a connection alive are not counted.
    """

    messages_sent: int = 0
    frames_sent: int = 0
    bytes_sent: int = 0
    bytes_sent_on_wire: int = 0
    messages_received: int = 0
    frames_received: int = 0
    bytes_received: int = 0
    bytes_received_on_wire: int = 0
    messages_dropped: int = 0
    """Messages that a SUB missed: gaps in the numbers (`seqno`) of messages of one `origin`.

    A PUB silently drops messages if a subscriber is too slow, so number its messages consecutively.
    """


def bytes_on_wire(length: int, *, is_encrypted: bool) -> int:
    """Return the bytes of a frame in ZMTP 3; CURVE sends each frame as a command.

    Examples
    --------
    >>> bytes_on_wire(255, is_encrypted=False), bytes_on_wire(256, is_encrypted=False)
    (257, 265)
    """
    length += _COMMAND if is_encrypted else 0
    return length + (2 if length <= _SHORT else 9)


def count_message(counts: list[int], lengths: list[int], *, hidden: int, is_encrypted: bool) -> None:
    """Add a message to the counts of messages, frames, payload bytes and bytes on the wire.

    ZeroMQ itself prepends `hidden` empty frames.

    Examples
    --------
    >>> counts = [0, 0, 0, 0]
    >>> count_message(counts, [10, 300], hidden=1, is_encrypted=False)
    >>> counts
    [1, 3, 310, 323]
    """
    total, frames = sum(lengths), len(lengths) + hidden
    counts[0] += 1
    counts[1] += frames
    counts[2] += total
    # Equals the sum of `bytes_on_wire`, without a call per frame.
    more, most = (_COMMAND + 2, _SHORT - _COMMAND) if is_encrypted else (2, _SHORT)
    counts[3] += total + frames * more
    if total > most:
        counts[3] += 7 * len([length for length in lengths if length > most])
