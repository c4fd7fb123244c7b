"""Pads: modes that go on beyond their ends, in copies of their own positions."""

from collections.abc import Iterable, Sequence
from typing import Literal, SupportsIndex, TypeAlias, cast, get_args

import numpy as np

from tensorwrapper._integers import to_counts
from tensorwrapper.errors import ConversionError, LayoutError, RankError
from tensorwrapper.layout._axis import AxisMap, Based
from tensorwrapper.layout._common import LayoutCommon
from tensorwrapper.layout._separable import Separable, axes_of, from_axes
from tensorwrapper.layout._strided import Strided
from tensorwrapper.shape._shape import wrap
from tensorwrapper.shape._smooth import make_smooth
from tensorwrapper.typing import IntArray

__all__ = ["PadMode", "Widths", "pad", "pad_positions"]

PadMode: TypeAlias = Literal["wrap", "edge", "reflect", "symmetric"]
"""How a mode goes on beyond its ends; the words are those of ``numpy.pad``."""
Widths: TypeAlias = "Iterable[tuple[SupportsIndex, SupportsIndex]]"
"""How many positions come before and after each mode."""


def pad_positions(extent: int, before: int, after: int, mode: PadMode) -> IntArray:
    """Return the positions of a mode that a padded mode consists of; each is in ``[0, extent)``.

    Examples
    --------
    >>> pad_positions(3, 4, 2, "reflect").tolist(), pad_positions(3, 4, 2, "symmetric").tolist()
    ([0, 1, 2, 1, 0, 1, 2, 1, 0], [2, 2, 1, 0, 0, 1, 2, 2, 1])
    """
    places = np.arange(-before, extent + after, dtype=np.int64)
    if mode == "wrap":
        return places % extent
    if mode == "edge" or extent == 1:
        return np.clip(places, 0, extent - 1)
    # There and back again: with both ends twice, or each once.
    period = 2 * extent if mode == "symmetric" else 2 * extent - 2
    places %= period
    mirrored: IntArray = np.minimum(places, (period - 1 if mode == "symmetric" else period) - places)
    return mirrored


def pad(layout: LayoutCommon, widths: Widths, mode: PadMode) -> Strided | Separable:
    """Return the layout whose modes go on beyond their ends; the elements keep their indices."""
    base, axes = axes_of(layout, "pad")
    if not isinstance(cast("object", mode), str) or mode not in get_args(PadMode):
        raise ConversionError(
            f'mode must be "wrap", "edge", "reflect" or "symmetric", not {mode!r}: a layout repeats places, '
            "it has none for a constant"
        )
    counts = _to_widths(widths, len(axes))
    parts = [
        _padded(axis, number, *own, mode) for number, (axis, own) in enumerate(zip(axes, counts, strict=True))
    ]
    maps = tuple([axis for _, axis in parts])
    extents = tuple([axis.extent for axis in maps])
    origin = [start - before for start, (before, _) in zip(layout.shape.origin, counts, strict=True)]
    start = base + sum([more for more, _ in parts]) if 0 not in extents else base
    return from_axes(wrap(make_smooth(extents, tuple(origin))), start, maps)


def _padded(axis: AxisMap, number: int, before: int, after: int, mode: PadMode) -> Based:
    if not before and not after:
        return 0, axis
    if not axis.extent:
        raise LayoutError(f"mode {number} has extent 0: there is no position to pad it with")
    if mode == "wrap":
        return axis.wrap_pad(before, after)
    return axis.gather(pad_positions(axis.extent, before, after, mode))


def _to_widths(widths: Widths, rank: int) -> Sequence[tuple[int, int]]:
    try:
        pairs = list(widths)
    except TypeError as error:
        raise ConversionError(f"widths are one pair (before, after) per mode, not {widths!r}") from error
    counts = [to_counts(pair, "the widths of a pad") for pair in pairs]
    if len(counts) != rank or any(len(pair) != 2 for pair in counts):
        raise RankError(f"widths are one pair (before, after) per mode, {rank} in all, not {counts}")
    return [(before, after) for before, after in counts]
