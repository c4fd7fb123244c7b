"""Colours: a ramp from pale to dark for numbers, shades for layers, and ink on paper.

Drawings bring their own light paper, so they read the same in light and dark notebooks and in print. The
ramp also reads in grey, and the accent differs from it for any colour vision.
"""

import math
from typing import Final

_STOPS = ((247, 251, 255), (158, 202, 225), (33, 113, 181), (8, 48, 107))
EMPTY: Final = "#f2f2f2"
"""The colour of zero and missing elements."""
PAPER: Final = "#ffffff"
"""Background of drawings."""
INK: Final = "#1f2933"
"""Text and heavy lines."""
MUTED: Final = "#66707c"
"""Numbers at axes, notes, fine lines."""
FAINT: Final = "#d5dae0"
"""Guide lines."""
ACCENT: Final = "#d95f02"
"""The one mark that must be found: an origin, a mean."""


def ramp(place: float) -> str:
    """Return the colour at `place`, from 0 (pale) to 1 (dark).

    Examples
    --------
    >>> ramp(0.0), ramp(1.0)
    ('#f7fbff', '#08306b')
    """
    scaled = min(max(place, 0.0), 1.0) * (len(_STOPS) - 1)
    low = min(int(scaled), len(_STOPS) - 2)
    part = scaled - low
    pairs = zip(_STOPS[low], _STOPS[low + 1], strict=True)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)


def layer_color(layer: int, layers: int) -> str:
    """Return the colour of a layer: the outermost (0) is the palest, and no two of them are alike.

    Examples
    --------
    >>> layer_color(0, 2), layer_color(1, 2)
    ('#dfeef7', '#609ecb')
    """
    return ramp(0.09 + 0.41 * layer / (layers - 1)) if layers > 1 else ramp(0.5)


def log_color(value: float, least: float, greatest: float) -> str:
    """Return the colour of a magnitude on a logarithmic scale; values below `least` are empty."""
    if not value >= least:
        return EMPTY
    if greatest <= least:
        return ramp(1.0)
    return ramp(math.log(value / least) / math.log(greatest / least))
