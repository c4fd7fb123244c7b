"""`Missing`: the runs of one part of a tensor that were not received or sent yet."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import final

from tensorwrapper.errors import RemoteProtocolError

MOST_RUNS = 65_536
"""Limit on the missing runs of one part, because an untrusted peer chooses the gaps."""


@final
class Missing:
    """A set of integers below `count`, stored as runs of consecutive numbers.

    Examples
    --------
    >>> missing = Missing(10)
    >>> missing.remove(2, 3), list(missing.runs()), missing.count
    (True, [(0, 2), (5, 5)], 7)
    >>> missing.room(5), missing.room(2), missing.remove(4, 2)
    (5, 0, False)
    """

    __slots__ = ("_starts", "_stops", "count")

    def __init__(self, count: int) -> None:
        self._starts = [0] if count else []
        self._stops = [count] if count else []
        self.count = count
        """Number of missing elements or bytes."""

    def room(self, first: int) -> int:
        """Return the length of the missing run that starts at `first`."""
        at = bisect_right(self._starts, first) - 1
        return max(self._stops[at] - first, 0) if at >= 0 else 0

    def remove(self, first: int, count: int) -> bool:
        """Remove a run; return False, and remove nothing, unless all of it is missing.

        There are few runs where chunks arrive in order; then this takes constant time.

        Raises
        ------
        RemoteProtocolError
            If the number of missing runs would exceed the limit.
        """
        at = bisect_right(self._starts, first) - 1
        if at < 0 or count < 1 or first + count > self._stops[at]:
            return False
        start, stop = self._starts[at], self._stops[at]
        left = [(a, b) for a, b in ((start, first), (first + count, stop)) if a < b]
        if len(self._starts) + len(left) - 1 > MOST_RUNS:
            raise RemoteProtocolError("limit", f"chunks leave more than {MOST_RUNS} gaps")
        self._starts[at : at + 1] = [a for a, _ in left]
        self._stops[at : at + 1] = [b for _, b in left]
        self.count -= count
        return True

    def runs(self) -> Iterator[tuple[int, int]]:
        """Return the start and length of each run, in ascending order."""
        for start, stop in zip(self._starts, self._stops, strict=True):
            yield start, stop - start
