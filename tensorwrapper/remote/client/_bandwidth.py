"""`Link`: the speed of the link to a server, measured by reads, and the resulting sizes of requests."""

from typing import Final, cast, final

from tensorwrapper.transport import is_local

_PIECE: Final = 2**21
"""Maximum size of an answer in bytes, as several are under way at once."""
_SINGLE: Final = 2**22
"""Up to this many bytes, one answer is faster than two on the same machine."""
_LEAST: Final = 2**14
_FIRST: Final = 2**17
"""Size of an answer over an unmeasured link, in bytes."""
_AHEAD: Final = 0.02
"""Seconds of data under way, which delay a cancelled or small read."""
_AT_ONCE: Final = 4
_SECONDS: Final = 0.005
"""Shorter reads are not measured, because they depend on the pause before them."""
_LONGEST: Final = 1.0
_WEIGHT: Final = 0.25
_PACKS: Final = 60e6
"""Approximate rate of compression in bytes per second, for fast zlib and compressible numbers."""


@final
class Link:
    """Measurements of the link to a server. Any thread may use it."""

    __slots__ = ("bandwidth", "is_local", "ratio", "round_trip")

    def __init__(self, address: str) -> None:
        # Connecting raises for an invalid address.
        self.is_local: bool = isinstance(cast("object", address), str) and is_local(address)
        """True if the server is on this machine, where compression and small pieces never help."""
        self.bandwidth: float | None = None
        """Bytes per second; None before a sufficiently long read."""
        self.round_trip: float = _LONGEST
        """Shortest round trip in seconds."""
        self.ratio: float = 2.0
        """Compression ratio of the last compressed answer."""

    def note(self, nbytes: int, seconds: float) -> None:
        """Record that `nbytes` bytes took `seconds` seconds."""
        if self.is_local or seconds < _SECONDS:
            return
        now, before = nbytes / seconds, self.bandwidth
        self.bandwidth = now if before is None else before + _WEIGHT * (now - before)

    def note_round_trip(self, seconds: float) -> None:
        """Record the duration of a small request."""
        self.round_trip = min(self.round_trip, seconds)

    def note_ratio(self, before: int, after: int) -> None:
        """Record the compression ratio of an answer; 1 if compression did not help."""
        self.ratio += 0.5 * (before / max(after, 1) - self.ratio)

    @property
    def piece_bytes(self) -> int:
        """Size of one answer in bytes, chosen so that the answers under way take a fixed time."""
        if self.is_local:
            return _PIECE
        if self.bandwidth is None:
            return _FIRST
        # The data under way must last until the next request arrives, or the link idles.
        ahead = _AHEAD + (self.round_trip if self.round_trip < _LONGEST else 0.0)
        return min(max(int(self.bandwidth * ahead / _AT_ONCE), _LEAST), _PIECE)

    def piece_of(self, total: int) -> int:
        """Return the answer size in bytes for a read of `total` bytes."""
        return max(self.piece_bytes, total) if self.is_local and total <= _SINGLE else self.piece_bytes

    @property
    def packs(self) -> bool:
        """True if compressed answers arrive sooner."""
        if self.is_local or self.bandwidth is None:
            return False
        return self.bandwidth < _PACKS * (1 - 1 / max(self.ratio, 1.0))

    def forget_ratio(self) -> None:
        """Measure again if compression helps, as this depends on the tensor."""
        self.ratio = max(self.ratio, 2.0)
