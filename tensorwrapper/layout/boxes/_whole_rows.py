"""Rows turned round and repeated as wholes: gathers along mode 0, which leave every row as it is."""

from collections.abc import Iterable
from typing import SupportsIndex

import numpy as np

from tensorwrapper._integers import to_count, to_counts, to_ints
from tensorwrapper.errors import JaggedModeError, RankError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.shape.lowlevel import mode_of
from tensorwrapper.typing import IntArray


def rotated(layout: LayoutCommon, shifts: Iterable[SupportsIndex]) -> LayoutCommon:
    """Return a layout of rows whose row j is row ``(j - shift) mod n``; other modes stay."""
    first = _of_mode_0(layout, to_ints(shifts, "shifts"), 0, "rotate")
    rows = _rows_of(layout)
    return layout.gather(0, np.roll(rows, first % max(len(rows), 1)))


def repeated(layout: LayoutCommon, times: Iterable[SupportsIndex]) -> LayoutCommon:
    """Return a layout of all rows, `times` of mode 0 after one another; other modes stay."""
    first = _of_mode_0(layout, to_counts(times, "times"), 1, "repeat")
    return layout.gather(0, np.tile(_rows_of(layout), first))


def repeated_each(layout: LayoutCommon, mode: SupportsIndex, times: SupportsIndex) -> LayoutCommon:
    """Return a layout of all rows, each of them several times."""
    number, count = mode_of(mode, layout.rank), to_count(times, "times")
    if number:
        raise _inner(number, "repeat_each", layout)
    return layout.gather(0, np.repeat(_rows_of(layout), count))


def _rows_of(layout: LayoutCommon) -> IntArray:
    return np.arange(layout.shape.extent(0), dtype=np.int64)


def _of_mode_0(layout: LayoutCommon, given: tuple[int, ...], idle: int, what: str) -> int:
    if len(given) != layout.rank:
        raise RankError(f"{what} takes one number for each of {layout.rank} modes, not {len(given)}")
    for mode, own in enumerate(given[1:], 1):
        if own != idle:
            raise _inner(mode, what, layout)
    return given[0]


def _inner(mode: int, what: str, layout: LayoutCommon) -> JaggedModeError:
    return JaggedModeError(
        f"{what} moves whole rows along mode 0, and mode {mode} of {layout.shape} leads into them"
    )
