"""Find the chunks of a mode that a selection touches."""

from typing import final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.typing import IntArray


@final
@frozen(eq=False)
class ChunkSelection:
    """A chunk of a mode, and its selected positions."""

    chunk: int
    target: slice
    """Its positions in the selection."""
    inner: IntArray
    """The positions in the chunk."""


def by_chunk(places: IntArray, chunks: IntArray, starts: IntArray) -> list[ChunkSelection]:
    """Return the chunks that ascending positions touch.

    Parameters
    ----------
    places
        The positions.
    chunks, starts
        For each position, the number of its chunk and the first position of that chunk.

    Examples
    --------
    >>> import numpy as np
    >>> places = np.array([0, 3, 7])
    >>> found = by_chunk(places, places // 4, places // 4 * 4)
    >>> [(own.chunk, own.target, own.inner.tolist()) for own in found]
    [(0, slice(0, 2, None), [0, 3]), (1, slice(2, 3, None), [3])]
    """
    firsts = np.flatnonzero(np.diff(chunks, prepend=-1))
    ends = np.append(firsts[1:], len(places))
    inner = places - starts
    return [
        ChunkSelection(int(chunks[first]), slice(first, end), inner[first:end])
        for first, end in zip(firsts.tolist(), ends.tolist(), strict=True)
    ]
