"""The arithmetic of carries: when the composition of two layouts is a layout again.

The ordinals of the outer layout are numbers whose digits are the positions in its modes, and its value is a
sum over the digits. Each step of an inner mode adds some digits. As long as no sum of digits reaches the
extent of its mode, there is no carry, and the digits of the sum are the sums of the digits. So the value is a
sum over the inner modes: a layout. This is the condition checked here. It is the no-carry form of the
divisibility conditions of NVIDIA's CuTe, and also holds in cases that those refuse.
"""

from collections.abc import Iterable
from typing import TypeAlias

from tensorwrapper.layout.boxes._hierarchy import IntTree, Mode, OrdinalOrder, from_modes

Replaced: TypeAlias = tuple[IntTree, IntTree]
"""Extents and strides of the replacement of one mode."""


def merged(modes: Iterable[Mode]) -> list[Mode]:
    """Return the fewest modes, fastest first, with the same offset at every ordinal.

    Examples
    --------
    >>> merged([(2, 1), (1, 7), (6, 2), (3, 5)]), merged([(2, 1), (0, 7)])
    ([(12, 1), (3, 5)], [(0, 0)])
    """
    found: list[Mode] = []
    extent, stride = 1, 0
    for count, step in modes:
        if count == 1:
            continue
        if not count:
            return [(0, 0)]
        if extent == 1:
            extent, stride = count, step
        elif step == extent * stride:
            extent *= count
        else:
            found.append((extent, stride))
            extent, stride = count, step
    if extent > 1:
        found.append((extent, stride))
    return found


def compose_modes(
    outer: list[Mode], inner: list[Mode], start: int, order: OrdinalOrder
) -> tuple[list[Replaced], int] | str:
    """Return the replacement of each inner mode, and the value at the inner origin; or the obstacle.

    Parameters
    ----------
    outer
        Merged modes, fastest first.
    inner
        Any modes, from left to right. The numbers that they reach from `start` are ordinals of `outer`.
    start
        The ordinal at the inner origin.
    order
        Order of nesting of a replacement, and of the numbers of outer modes in errors.

    Examples
    --------
    >>> compose_modes([(4, 3), (3, 1)], [(6, 2)], 0, "colex")
    ([((2, 3), (6, 1))], 0)
    >>> compose_modes([(4, 3), (3, 1)], [(6, 1)], 0, "colex")
    'mode 0 of the inner layout (6:1) fills mode 0 of the outer one (4:3) in 4 steps, and 4 does not divide 6'
    """
    if len(outer) < 2:
        step = outer[0][1] if outer else 0
        return [(extent, stride * step) for extent, stride in inner], start * step
    # Descending modes are counted from their end, so that all digits are added.
    least = start
    for extent, stride in inner:
        if stride < 0:
            least += (extent - 1) * stride
    sums, value = _digits(least, outer) if least else ([0] * len(outer), 0)
    found: list[Replaced] = []
    for number, (extent, stride) in enumerate(inner):
        if extent == 1 or not stride:
            found.append((extent, 0))
            continue
        parts = _split(outer, sums, extent, abs(stride))
        if isinstance(parts, tuple):
            full, run, rest = parts
            return (
                f"mode {number} of the inner layout ({extent}:{stride}) fills "
                f"{_mode_text(full, outer, order)} in {run} steps, and {run} does not divide {rest}"
            )
        if stride < 0:
            value += sum([(count - 1) * offset for count, offset in parts])
            parts = [(count, -offset) for count, offset in parts]
        found.append(parts[0] if len(parts) == 1 else from_modes(parts, order))
    for place in range(len(outer) - 1):
        if sums[place] >= outer[place][0]:
            return (
                f"together the modes of the inner layout reach position {sums[place]} of "
                f"{_mode_text(place, outer, order)}, so they carry into the next mode"
            )
    return found, value


def _split(outer: list[Mode], sums: list[int], rest: int, step: int) -> list[Mode] | tuple[int, int, int]:
    """Return the modes that replace one of `rest` steps, and add their last digits to `sums`.

    Or the outer mode that is filled, in how many steps, and what that number should divide.
    """
    parts: list[Mode] = []
    while True:
        left, offset, run, full = step, 0, rest, 0
        digits: list[int] = []
        for extent, stride in outer:
            # Not divmod, which is a call: this loop takes most of the time for small layouts.
            digit = left % extent
            if digit:
                offset += digit * stride
                # Never in the slowest mode: all that is reached is inside.
                if digit * (run - 1) >= extent:
                    run, full = -(-extent // digit), len(digits)
            digits.append(digit)
            left //= extent
            if not left:
                break
        if rest % run:
            return full, run, rest
        for place, digit in enumerate(digits):
            if digit:
                sums[place] += digit * (run - 1)
        parts.append((run, offset))
        if run == rest:
            return parts
        step *= run
        rest //= run


def _digits(ordinal: int, outer: list[Mode]) -> tuple[list[int], int]:
    """Return the positions in the outer modes at an ordinal, and the value there."""
    digits: list[int] = []
    value = 0
    for extent, stride in outer:
        # The slowest mode takes what is left: the ordinal is inside.
        ordinal, digit = divmod(ordinal, extent)
        digits.append(digit)
        value += digit * stride
    return digits, value


def _mode_text(place: int, outer: list[Mode], order: OrdinalOrder) -> str:
    number = place if order == "colex" else len(outer) - 1 - place
    return f"mode {number} of the outer one ({outer[place][0]}:{outer[place][1]})"
