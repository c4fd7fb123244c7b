"""Limit on the connections of a server, and the connections to cut above it."""

import sys
from collections.abc import Collection, Sequence
from typing import Final

__all__ = ["excess", "most_connections"]

_PART: Final = 4
"""Of so many descriptors of the process one is reserved for files, and for everything else."""


def most_connections(limit: int) -> int:
    """Return the number of allowed connections: at most `limit`, and three quarters of the system's limit."""
    if sys.platform == "win32":
        return limit
    # There is none elsewhere.
    import resource  # noqa: PLC0415

    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed == resource.RLIM_INFINITY:
        return limit
    return max(min(limit, allowed - allowed // _PART), 1)


def excess(guests: Sequence[int], known: Collection[int], most: int) -> list[int]:
    """Return the connections to cut where there are too many, oldest first: those without a known client.

    If all are known, the latest ones are cut.

    Examples
    --------
    >>> excess([4, 5, 6, 7], {4, 6}, 3), excess([4, 5, 6, 7], {4, 5, 6, 7}, 3)
    ([5], [7])
    """
    count = max(len(guests) - most, 0)
    found = [own for own in guests if own not in known][:count]
    left = [own for own in guests if own in known]
    return [*found, *left[len(left) - (count - len(found)) :]]
