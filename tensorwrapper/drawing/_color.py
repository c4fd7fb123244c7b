"""Colours for numbers: a ramp from pale to dark that also reads in grey."""

import math

__all__ = ["log_color", "ramp"]

_STOPS = ((247, 251, 255), (158, 202, 225), (33, 113, 181), (8, 48, 107))
EMPTY = "#f2f2f2"
"""The colour of what is zero or not there."""


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


def log_color(value: float, least: float, greatest: float) -> str:
    """Return the colour of a magnitude on a logarithmic scale; what is below `least` is empty."""
    if not value >= least:
        return EMPTY
    if greatest <= least:
        return ramp(1.0)
    return ramp(math.log(value / least) / math.log(greatest / least))
