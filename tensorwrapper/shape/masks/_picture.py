"""Pictures of masks: how much of each part of a plane is picked, however large the plane is."""

import itertools
import math
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._displays import html_block
from tensorwrapper._error_text import shortened
from tensorwrapper.drawing import Drawing, count_text, draw_grid
from tensorwrapper.shape.masks._positions import Positions
from tensorwrapper.typing import IntArray

if TYPE_CHECKING:
    from tensorwrapper.shape.masks._mask import Mask

_Shares: TypeAlias = npt.NDArray[np.float64]

_PARTS = 64  # of each mode
_MOST = 1_000_000  # points that are counted


def draw_mask(mask: "Mask[Any]", *, title: str = "", full: str = "picked") -> Drawing:
    """Return a picture of the last two modes of the source, each part as dark as much of it is picked.

    A title says what is picked of what, and `full` what a part is of which all is picked.
    """
    box = mask.source.flatten().as_smooth()
    ends = list(zip(box.origin, box.extents, strict=True))
    if mask.way == "rows":
        ends = ends[:1]
    notes = [f"modes {len(ends) - 2} and {len(ends) - 1} of {len(ends)}"] if len(ends) > 2 else []
    shares: _Shares
    if mask.way == "points":
        shares, more = _shares_of_points(mask, ends)
        notes += more
    else:
        columns = [_share(pick, *end) for pick, end in zip(mask.picks, ends, strict=True)]
        across = columns[-1] if columns else np.ones(1)
        shares = across[np.newaxis] if len(columns) < 2 else columns[-2][:, np.newaxis] * across
    counts = f"{count_text(mask.size)} of {count_text(mask.source.size)}"
    down, right = ((0, 0), (0, 0), *ends)[-2:]
    return draw_grid(
        cast("list[list[float]]", shares.tolist()),
        down=down if len(ends) > 1 else (0, 0),
        across=right,
        full=full,
        notes=notes,
        title=title or f"picked {counts} indices of {shortened(str(mask.source))}",
    )


def _bounds(first: int, extent: int) -> list[int]:
    """Return where the parts of a mode begin, and where the last ends."""
    count = max(min(extent, _PARTS), 1)
    return [first + extent * k // count for k in range(count + 1)]


def _share(pick: "Positions | int", first: int, extent: int) -> _Shares:
    """Return for each part of a mode how much of it is picked."""
    bounds = _bounds(first, extent)
    if isinstance(pick, int):
        counts = [int(a <= pick < b) for a, b in itertools.pairwise(bounds)]
    elif isinstance(pick.places, range):
        # Counted by arithmetic: a range may have more places than there is memory.
        places = pick.places if pick.places.step > 0 else pick.places[::-1]
        before = [min(max(-((places.start - bound) // places.step), 0), len(places)) for bound in bounds]
        counts = [b - a for a, b in itertools.pairwise(before)]
    else:
        before = np.searchsorted(np.sort(pick.to_numpy()), bounds).tolist()
        counts = [b - a for a, b in itertools.pairwise(before)]
    sizes = [max(b - a, 1) for a, b in itertools.pairwise(bounds)]
    return np.array([n / size for n, size in zip(counts, sizes, strict=True)])


def _shares_of_points(mask: "Mask[Any]", ends: list[tuple[int, int]]) -> tuple[_Shares, list[str]]:
    if not ends:
        return np.full((1, 1), float(mask.size)), []
    pick = mask.picks[0]
    places = np.array([pick]) if isinstance(pick, int) else _sample(pick)
    every = max(-(-mask.size // max(len(places), 1)), 1)
    indices: IntArray = mask.source.flatten().indices_at(places)
    bounds = [_bounds(*end) for end in ends[-2:]]
    parts = [
        np.searchsorted(bound, indices[:, k - len(bounds)], side="right") - 1
        for k, bound in enumerate(bounds)
    ]
    shape = tuple(len(bound) - 1 for bound in bounds)
    counts = np.zeros(shape)
    np.add.at(counts, tuple(parts), 1.0)
    sizes = [np.maximum(np.diff(np.array(bound, dtype=np.float64)), 1.0) for bound in bounds]
    area = sizes[-1] if len(sizes) < 2 else sizes[0][:, np.newaxis] * sizes[1]
    area = area * math.prod([max(extent, 1) for _, extent in ends[:-2]])
    shares = np.minimum(counts * every / area, 1.0)
    more = [f"every {every}th of the points is drawn"] if every > 1 else []
    return (shares if shares.ndim == 2 else shares[np.newaxis]), more


def _sample(pick: Positions) -> IntArray:
    every = -(-len(pick.places) // _MOST)
    places = pick.places[:: max(every, 1)]
    return np.array(places, dtype=np.int64) if isinstance(places, range) else places


def mask_html(mask: "Mask[Any]", text: str) -> str:
    """Return what notebooks show of a mask, of which `text` is the representation."""
    facts = [
        ("source", shortened(str(mask.source))),
        ("result", shortened(str(mask.shape))),
        ("picked", f"{count_text(mask.size)} of {count_text(mask.source.size)} indices"),
        ("by", mask.way),
    ]
    return html_block(shortened(text), facts, draw_mask(mask).to_svg())
