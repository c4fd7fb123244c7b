"""Split row-major runs of a box into smaller boxes, each of which strided memory copies in one call."""

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

Key: TypeAlias = tuple[int | slice, ...]


def boxes_of_run(extents: Sequence[int], first: int, count: int, lead: Key = ()) -> Iterator[tuple[Key, int]]:
    """Return the boxes of a run of elements: the array key and the size of each.

    These are at most two boxes for each mode except the last, and one more. For a matrix: the rest of a row,
    whole rows, and the beginning of a row.

    Examples
    --------
    >>> list(boxes_of_run((4, 3), 2, 8))
    [((0, slice(2, 3, None)), 1), ((slice(1, 3, None),), 6), ((3, slice(0, 1, None)), 1)]
    """
    if not extents:
        yield lead, 1
        return
    inner = math.prod(extents[1:])
    row, at = divmod(first, inner)
    if at or count < inner:
        here = min(count, inner - at)
        yield from boxes_of_run(extents[1:], at, here, (*lead, row))
        row, count = row + 1, count - here
    rows = count // inner
    if rows:
        yield (*lead, slice(row, row + rows)), rows * inner
    if count % inner:
        yield from boxes_of_run(extents[1:], 0, count % inner, (*lead, row + rows))
