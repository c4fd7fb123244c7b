"""Copy many short strided lines of elements, one after the other."""

import numpy as np

from tensorwrapper._arrays import different, splits_of
from tensorwrapper.layout.lowlevel import CopyTable
from tensorwrapper.typing import Array, IntArray

_SHORT = 32  # elements of a line, on average, up to which a table of all places is faster than line by line
_MANY = 64  # lines from which it pays
_ELEMENTS = 1 << 16  # places at a time


def copy_lines(table: CopyTable, source: Array, target: Array) -> bool:
    """Write lines of a flat array one after the other into another one; tell whether they are such lines.

    Further memory is used only for the places of a few lines at a time.
    """
    if len(table) < _MANY or table.extents.shape[1] != 1:
        return False
    lengths: IntArray = table.extents[:, 0]
    goals, first = table.target, table.target.item(0)
    splits = splits_of(lengths)
    count = splits.item(-1)
    follows = (table.target_strides[:, 0] == 1) | (lengths == 1)
    if count > _SHORT * len(table) or not follows.all() or not (goals - first == splits[:-1]).all():
        return False
    marks = np.searchsorted(splits, np.arange(0, count, _ELEMENTS), "right") - 1
    marks = np.append(different(marks), len(table))
    for low, high in zip(marks[:-1].tolist(), marks[1:].tolist(), strict=True):
        _copy(table.part(slice(low, high)), splits[low : high + 1], first, source, target)
    return True


def _copy(table: CopyTable, splits: IntArray, first: int, source: Array, target: Array) -> None:
    low, high = splits.item(0), splits.item(-1)
    lengths, steps = table.extents[:, 0], table.source_strides[:, 0]
    taken = steps[lengths > 1]
    step = taken.item(0) if len(taken) else 1
    places: IntArray = np.arange(high - low, dtype=np.int64)
    if (taken == step).all():
        starts = table.source - step * (splits[:-1] - low)
        if step != 1:
            places *= step
    else:
        starts = table.source - steps * (splits[:-1] - low)
        places *= np.repeat(steps, lengths)
    places += np.repeat(starts, lengths)
    # A plan was checked against its memory before: another look would copy the target.
    np.take(source, places, out=target[first + low : first + high], mode="clip")
