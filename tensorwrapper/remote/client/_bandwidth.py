"""`Link`: the speed of the link to a server, measured by reads, and the resulting sizes of requests."""

from typing import Final, cast, final

from tensorwrapper.transport import is_local

__all__ = ["Link"]

_PIECE: Final = 2**21
"""Bytes of elements from which an answer is not made larger: several are on the way at once."""
_SINGLE: Final = 2**22
"""Bytes of a read on this machine up to which one answer is faster than two."""
_LEAST: Final = 2**14
_FIRST: Final = 2**17
"""Bytes of an answer over a link of which nothing is known."""
_AHEAD: Final = 0.02
"""Seconds of data under way: a cancelled read, or a small one, waits so long."""
_AT_ONCE: Final = 4
_SECONDS: Final = 0.005
"""Seconds below which a read tells nothing: it is the pause before it, and not the link."""
_LONGEST: Final = 1.0
_WEIGHT: Final = 0.25
_PACKS: Final = 60e6
"""Bytes a second that are packed, about: zlib at its fastest, of numbers that it makes smaller."""


@final
class Link:
    """Measurements of the link to a server. Any thread may use it."""

    __slots__ = ("bandwidth", "is_local", "ratio", "round_trip")

    def __init__(self, address: str) -> None:
        # Connecting refuses an invalid address.
        self.is_local: bool = isinstance(cast("object", address), str) and is_local(address)
        """True if the server is on this machine, where packing and small pieces never pay."""
        self.bandwidth: float | None = None
        """Bytes a second; None before a read was long enough to tell."""
        self.round_trip: float = _LONGEST
        """Seconds from a request to its answer, at best."""
        self.ratio: float = 2.0
        """Factor by which the last packed answer was smaller."""

    def note(self, nbytes: int, seconds: float) -> None:
        """Take in that so many bytes came in so many seconds."""
        if self.is_local or seconds < _SECONDS:
            return
        now, before = nbytes / seconds, self.bandwidth
        self.bandwidth = now if before is None else before + _WEIGHT * (now - before)

    def note_round_trip(self, seconds: float) -> None:
        """Take in how long a small request took."""
        self.round_trip = min(self.round_trip, seconds)

    def note_ratio(self, before: int, after: int) -> None:
        """Note by how much a packed answer was smaller; a ratio of 1 if packing did not pay."""
        self.ratio += 0.5 * (before / max(after, 1) - self.ratio)

    @property
    def piece_bytes(self) -> int:
        """Bytes of one answer, chosen so that the answers under way take a moment on any link."""
        if self.is_local:
            return _PIECE
        if self.bandwidth is None:
            return _FIRST
        # The data under way must last until the next request arrives, or the link idles.
        ahead = _AHEAD + (self.round_trip if self.round_trip < _LONGEST else 0.0)
        return min(max(int(self.bandwidth * ahead / _AT_ONCE), _LEAST), _PIECE)

    def piece_of(self, total: int) -> int:
        """Return how many bytes one answer has of a read of so many."""
        return max(self.piece_bytes, total) if self.is_local and total <= _SINGLE else self.piece_bytes

    @property
    def packs(self) -> bool:
        """True if packed answers arrive sooner."""
        if self.is_local or self.bandwidth is None:
            return False
        return self.bandwidth < _PACKS * (1 - 1 / max(self.ratio, 1.0))

    def forget_ratio(self) -> None:
        """Try again whether packing pays: it depends on the tensor."""
        self.ratio = max(self.ratio, 2.0)
