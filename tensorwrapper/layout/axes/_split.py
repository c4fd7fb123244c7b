"""One mode as several: whether its offsets are sums over the parts, by looking or, if it is long, by rule."""

from collections.abc import Sequence

import numpy as np

from tensorwrapper._progressions import progression_bounds
from tensorwrapper.layout.axes._axis import AxisMap, Cycle, Stride
from tensorwrapper.layout.axes._tables import sum_table

SEARCHED = 1 << 20  # positions up to which it is looked whether offsets are sums


def split_axis(axis: AxisMap, counts: Sequence[int]) -> list[tuple[int, AxisMap]] | None:
    """Return one map per part if the offsets are sums over the parts."""
    parts: list[tuple[int, AxisMap]] = []
    step = axis.extent
    for count in counts:
        step //= count or 1
        parts.append(axis.take(0, step, count) if axis.extent else (0, Stride(count, 0)))
    if isinstance(axis, Stride) or not axis.extent:
        return parts
    start = axis.at(0)
    # Each part holds the offset of position 0; it must count once.
    parts = [(more - start, part) for more, part in parts]
    if isinstance(axis, Cycle) and axis.extent > SEARCHED:
        first, *rest = parts
        return [(first[0] + start, first[1]), *rest] if is_sum(axis, counts) else None
    sums = sum_table(0, [part.offsets() + more for more, part in parts]).reshape(-1)
    if not np.array_equal(sums + start, axis.offsets()):
        return None
    first, *rest = parts
    return [(first[0] + start, first[1]), *rest]


def is_sum(axis: AxisMap, counts: Sequence[int]) -> bool:
    """Tell whether the offsets of a long mode are sums over its parts; False where no rule says so."""
    for count in counts:
        if not isinstance(axis, Cycle):
            return isinstance(axis, Stride)
        inner = axis.extent // count
        move, modulus = axis.increment * inner, axis.modulus
        rounds = modulus is not None and move % modulus == 0
        if not rounds and (move % axis.divisor or (modulus or 0) % axis.divisor):
            return False
        if not rounds and modulus is not None:
            # Where a part begins, none may wrap.
            low, high = progression_bounds(axis.start, move, modulus, count)
            last = axis.increment * (inner - 1)
            if low + min(last, 0) < 0 or high + max(last, 0) >= modulus:
                return False
        _, axis = axis.take(0, 1, inner)
    return True
