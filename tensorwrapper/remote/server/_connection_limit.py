"""Limit the connections of a server, and choose the connections to close."""

import sys
from collections.abc import Collection, Sequence
from typing import Final

_PART: Final = 4
"""One of this many descriptors is reserved for files and other uses."""


def most_connections(limit: int) -> int:
    """Return the number of allowed connections: at most `limit`, and three quarters of the system's limit."""
    if sys.platform == "win32":
        return limit
    # Other systems have no such limit.
    import resource  # noqa: PLC0415

    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed == resource.RLIM_INFINITY:
        return limit
    return max(min(limit, allowed - allowed // _PART), 1)


def excess(guests: Sequence[int], known: Collection[int], most: int) -> list[int]:
    """Return the excess connections to close, oldest first: those without a known client.

    If all are known, the latest ones are closed.

    Examples
    --------
    >>> excess([4, 5, 6, 7], {4, 6}, 3), excess([4, 5, 6, 7], {4, 5, 6, 7}, 3)
    ([5], [7])
    """
    count = max(len(guests) - most, 0)
    found = [own for own in guests if own not in known][:count]
    left = [own for own in guests if own in known]
    return [*found, *left[len(left) - (count - len(found)) :]]
