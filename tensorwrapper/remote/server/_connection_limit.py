"""How many connections a server has at most, and which are cut where there are more."""

import sys
from collections.abc import Collection, Sequence
from typing import Final

__all__ = ["excess", "most_connections"]

_PART: Final = 4
"""Of so many descriptors of the process one is left for files, and for all else."""


def most_connections(limit: int) -> int:
    """Return how many connections there may be: a limit, and three quarters of what the system allows."""
    if sys.platform == "win32":
        return limit
    # There is none elsewhere.
    import resource  # noqa: PLC0415

    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed == resource.RLIM_INFINITY:
        return limit
    return max(min(limit, allowed - allowed // _PART), 1)


def excess(guests: Sequence[int], known: Collection[int], most: int) -> list[int]:
    """Return which guests leave where there are too many, oldest first: those of whom nothing is known.

    Where all are known those leave that came last.

    Examples
    --------
    >>> excess([4, 5, 6, 7], {4, 6}, 3), excess([4, 5, 6, 7], {4, 5, 6, 7}, 3)
    ([5], [7])
    """
    count = max(len(guests) - most, 0)
    found = [own for own in guests if own not in known][:count]
    left = [own for own in guests if own in known]
    return [*found, *left[len(left) - (count - len(found)) :]]
