"""What is missing of a box, as disjoint boxes from which others are taken away."""

from typing import final

import numpy as np

from tensorwrapper.shape import Shape
from tensorwrapper.typing import Extents, Index, IntArray

__all__ = ["Missing"]


@final
class Missing:
    """The places of a box from zero on that nobody has taken yet; fewer than 2**63 of them.

    Work and memory grow with the number of boxes that the missing places make up, not with the places.
    """

    __slots__ = ("_boxes", "_count")

    def __init__(self, extents: Extents) -> None:
        # Rows of starts and stops; those from the count on are free.
        self._boxes: IntArray = np.zeros((1, 2, len(extents)), dtype=np.int64)
        self._boxes[0, 1] = extents
        self._count = 0 if 0 in extents else 1

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """How many bytes the boxes take."""
        return self._boxes.nbytes

    def shapes(self, origin: Index) -> tuple[Shape, ...]:
        """Return the boxes, in the order of where they start, moved to `origin`."""
        boxes = self._boxes[: self._count]
        extents = (boxes[:, 1] - boxes[:, 0]).tolist()
        # Added as Python's integers: an origin may be near the end of 64 bits.
        starts = [tuple([s + o for s, o in zip(row, origin, strict=True)]) for row in boxes[:, 0].tolist()]
        moved = sorted(zip(starts, extents, strict=True))
        return tuple([Shape(*extent, origin=start) for start, extent in moved])

    def find(self, start: Index, stop: Index) -> IntArray | None:
        """Return the numbers of the boxes that have the places from `start` to `stop`; None if one is taken.

        There is one place at least.
        """
        low, high = np.array(start, dtype=np.int64), np.array(stop, dtype=np.int64)
        starts, stops = self._boxes[: self._count, 0], self._boxes[: self._count, 1]
        hits = np.flatnonzero(((starts < high) & (stops > low)).all(axis=1))
        shared = np.minimum(stops[hits], high) - np.maximum(starts[hits], low)
        # Boxes are disjoint, so what they share with this one adds up.
        found = int(np.multiply.reduce(shared, axis=1).sum())
        return hits if found == int(np.multiply.reduce(high - low)) else None

    def growth(self, hits: IntArray) -> int:
        """Return how many bytes at most the boxes take more when places of these are taken away."""
        rank = self._boxes.shape[2]
        # One box before and one behind in every mode. Memory is at least doubled when it does not suffice.
        more = 2 * rank * len(hits)
        return 0 if self._count + more <= len(self._boxes) else max(more * 16 * rank, self.nbytes)

    def take(self, hits: IntArray, start: Index, stop: Index) -> None:
        """Take away the places from `start` up to `stop`, which `find` found in these boxes."""
        boxes = self._boxes[hits]
        pieces: list[IntArray] = []
        for mode, (low, high) in enumerate(zip(start, stop, strict=True)):
            # What lies before and behind in this mode stays; the rest is cut in the next.
            before, behind = boxes[boxes[:, 0, mode] < low], boxes[boxes[:, 1, mode] > high]
            before[:, 1, mode] = low
            behind[:, 0, mode] = high
            pieces += [before, behind]
            boxes[:, 0, mode] = np.maximum(boxes[:, 0, mode], low)
            boxes[:, 1, mode] = np.minimum(boxes[:, 1, mode], high)
        self._replace(hits, np.concatenate([boxes[:0], *pieces]))

    def _replace(self, hits: IntArray, pieces: IntArray) -> None:
        """Put pieces where boxes were, more of them at the end, and the last boxes where places are left."""
        fitting = min(len(hits), len(pieces))
        self._boxes[hits[:fitting]] = pieces[:fitting]
        count = self._count + len(pieces) - len(hits)
        if count > len(self._boxes):
            grown = np.zeros((max(count, 2 * len(self._boxes)), *self._boxes.shape[1:]), dtype=np.int64)
            grown[: self._count] = self._boxes[: self._count]
            self._boxes = grown
        if count > self._count:
            self._boxes[self._count : count] = pieces[fitting:]
        elif count < self._count:
            holes = hits[fitting:]
            last = np.setdiff1d(np.arange(count, self._count), holes)
            self._boxes[holes[holes < count]] = self._boxes[last]
        self._count = count
