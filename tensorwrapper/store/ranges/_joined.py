"""Join neighbouring spans to requests of limited length."""

from typing import Final

import numpy as np

from tensorwrapper.typing import IntArray

LONGEST: Final = 2**24
"""Maximum bytes per request, unless a single span is longer."""


def joined(starts: IntArray, stops: IntArray, gap: int, longest: int = LONGEST) -> IntArray:
    """Return the numbers of the spans that begin a request, and the number of spans. O(spans).

    Parameters
    ----------
    starts, stops
        Ascending spans, in bytes or in elements.
    gap
        Largest gap between two spans that is fetched rather than skipped.
    longest
        Requests are split at multiples of it.

    Examples
    --------
    >>> import numpy as np
    >>> joined(np.array([0, 12, 90]), np.array([10, 20, 95]), gap=8).tolist()
    [0, 2, 3]
    """
    far = starts[1:] - stops[:-1] > gap
    far |= np.diff(starts // longest) > 0
    return np.concatenate([[0], np.flatnonzero(far) + 1, [len(starts)]])
