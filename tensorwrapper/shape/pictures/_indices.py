"""Pictures of runs of indices: the position of each in its order, for any number."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.drawing import Drawing, count_text, draw_grid
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.kinds._nested import Flat
from tensorwrapper.typing import Index, IntArray, Order

_Floats: TypeAlias = npt.NDArray[np.float64]
_PARTS = 64  # of each mode that is drawn
_OTHERS = 4  # of some other modes of a box
_NUMBERED = 12  # indices of a mode, up to which each has its number and a line leads through all
_EACH = 1 << 12  # maximal number of indices that are drawn one by one
_SAMPLE = 1 << 17  # number of sampled indices of a larger run
_GOLDEN = 0.6180339887498949  # its multiples are scattered evenly, and are the same everywhere


def draw_indices(shape: Flat, order: Order, places: range, index: Callable[[int], Index]) -> Drawing:
    """Return a picture of the last two modes, each part as dark as its indices come late in the run.

    Parameters
    ----------
    places
        Those of the run, among all indices of the shape in its order.
    index
        Returns the index at a place.
    """
    rank, count = shape.rank, _length_of(places)
    extents, low = shape.bounding_box()
    ends = [*[(0, 1)] * (2 - rank), *zip(low, extents, strict=True)][-2:]
    counts = [max(min(extent, _PARTS), 1) for _, extent in ends]
    where, moments = _looked_at(shape, order, places, index)
    found = [(part * n).astype(np.int64) for part, n in zip(_last_two(where), counts, strict=True)]
    shares = _means([np.minimum(part, n - 1) for part, n in zip(found, counts, strict=True)], moments, counts)
    numbered = rank in (1, 2) and max(counts) <= _NUMBERED and count <= _EACH
    walk = list(zip(*[part.tolist() for part in found], strict=True)) if numbered else []
    notes = [f"modes {rank - 2} and {rank - 1} of {rank}"] if rank > 2 else []
    way = "the last mode fastest" if order == "C" else "the first mode fastest"
    return draw_grid(
        shares.tolist(),
        down=ends[0] if rank > 1 else (0, 0),
        across=ends[1] if rank else (0, 0),
        names=(f"mode {rank - 2}", f"mode {rank - 1}"),
        full="last",
        others=("none", "first"),
        texts=_numbers(walk, counts),
        walk=walk,
        notes=notes,
        title=f"{count_text(count)} of {count_text(shape.size)} indices, {way}",
    )


def _length_of(places: range) -> int:
    return max(0, -((places.start - places.stop) // places.step))


def _last_two(where: _Floats) -> list[_Floats]:
    missing: list[_Floats] = [np.zeros(len(where))] * max(2 - where.shape[1], 0)
    return [*missing, *where.T[-2:]]


def _numbers(walk: Sequence[tuple[int, int]], counts: Sequence[int]) -> list[list[str]]:
    texts = [[""] * counts[1] for _ in range(counts[0])] if walk else []
    for number, (row, column) in enumerate(walk):
        texts[row][column] = str(number)
    return texts


def _means(parts: Sequence[IntArray], moments: _Floats, counts: Sequence[int]) -> _Floats:
    """Return the mean moment of each part; 0 where there is nothing."""
    sums, many = np.zeros(counts), np.zeros(counts)
    np.add.at(sums, tuple(parts), np.maximum(moments, 1e-9))
    np.add.at(many, tuple(parts), 1.0)
    return sums / np.maximum(many, 1.0)


def _looked_at(
    shape: Flat, order: Order, places: range, index: Callable[[int], Index]
) -> tuple[_Floats, _Floats]:
    """Return where indices of the run lie in each mode, and when each comes, both from 0 to 1.

    A few are all looked at, of many so many that it looks the same.
    """
    count = _length_of(places)
    where, moments = np.empty((0, shape.rank)), np.empty(0)
    if count > _EACH:
        where, moments = _sampled(shape, order, places)
    if not len(moments):
        # Also if the run is too small a part of the sample.
        some = places[:: -(-count // _EACH)] if count else places
        box = list(zip(*shape.bounding_box(), strict=True))
        rows = [[(i - a) / n for i, (n, a) in zip(index(place), box, strict=True)] for place in some]
        where = np.array(rows).reshape(len(rows), shape.rank)
        moments = (np.arange(len(rows)) + 1.0) / max(len(rows), 1)
    return where, moments


def _sampled(shape: Flat, order: Order, places: range) -> tuple[_Floats, _Floats]:
    """Return the same of indices from everywhere in the shape, without those that are not of the run."""
    extents, low = shape.bounding_box()
    if isinstance(shape, SmoothCommon):
        # Parts of a box come in the order of its indices, however many each has.
        first = max(shape.rank - 5, 0)
        counts = [min(n, 1 if k < first else _OTHERS) for k, n in enumerate(extents[:-2])]
        counts += [min(n, _PARTS) for n in extents[-2:]]
        table = np.indices(counts).reshape(shape.rank, -1).T
        where = (table + 0.5) / counts
    else:
        numbers = np.arange(_SAMPLE)
        picks = (numbers + numbers * _GOLDEN % 1.0) / _SAMPLE * min(shape.size, MAX_INT64)
        table = shape.indices_at(picks.astype(np.int64))
        where = (table - np.array(low)) / np.array(extents)
    if order == "F":
        where = where[np.lexsort(table.T)]
    # Python divides integers of any size.
    size = shape.size
    moments = (np.arange(len(where)) + 0.5) / len(where) - places.start / size
    moments /= (places.step * _length_of(places)) / size
    chosen = (moments >= 0.0) & (moments <= 1.0)
    return where[chosen], moments[chosen]
