"""Numbers as short text: for ticks, notes and tables."""

import math
from collections.abc import Sequence
from itertools import count

_EXACT = 10**12  # numbers below are written out


def count_text(number: int) -> str:
    """Return an integer of any size as short text: with separators, or rounded where it is very long.

    Examples
    --------
    >>> count_text(12_345), count_text(-3), count_text(2**200), count_text(10**15 - 1)
    ('12,345', '-3', '1.61e60', '1.00e15')
    """
    if abs(number) < _EXACT:
        return f"{number:,}"
    # Not through a float: it ends at 1e308, and the digits of str() have a limit, too.
    digits = math.log10(abs(number))
    exponent = int(digits)
    mantissa = f"{10 ** (digits - exponent):.2f}"
    if mantissa == "10.00":
        mantissa, exponent = "1.00", exponent + 1
    return f"{'-' if number < 0 else ''}{mantissa}e{exponent}"


def range_text(least: int, greatest: int) -> str:
    """Return one number, or the least and the greatest.

    Examples
    --------
    >>> range_text(3, 3), range_text(0, 1000)
    ('3', '0 to 1,000')
    """
    if least == greatest:
        return count_text(least)
    return f"{count_text(least)} to {count_text(greatest)}"


def index_text(index: Sequence[int]) -> str:
    """Return an index as it is written: a number alone, or a tuple.

    Examples
    --------
    >>> index_text([3]), index_text([3, -1])
    ('3', '(3, -1)')
    """
    return str(index[0]) if len(index) == 1 else f"({', '.join(map(str, index))})"


def bytes_text(number: int) -> str:
    """Return a number of bytes in a unit that makes it short.

    Examples
    --------
    >>> bytes_text(24), bytes_text(80_000_008)
    ('24 B', '80.0 MB')
    """
    if number < 1000:
        return f"{number} B"
    power = min(int(math.log10(number)) // 3, 4)
    return f"{number / 1000**power:.1f} {('B', 'kB', 'MB', 'GB', 'TB')[power]}"


def ticks(first: int, end: int, most: int) -> list[int]:
    """Return round numbers from `first` to `end`, with both of them: about `most` at equal distances.

    Examples
    --------
    >>> ticks(0, 100, 5), ticks(-3, 8, 5), ticks(4, 4, 5)
    ([0, 20, 40, 60, 80, 100], [-3, 0, 5, 8], [4])
    """
    if first >= end:
        return [first]
    extent = end - first
    steps = (digit * 10**power for power in count() for digit in (1, 2, 5))
    step = next(step for step in steps if extent <= most * step)
    inner = range(-(-first // step) * step, end, step)
    # Labels that would overlap those at the ends are left out.
    return [first, *[n for n in inner if 2 * (n - first) >= step and 2 * (end - n) > step], end]
