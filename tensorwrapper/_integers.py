"""Integers as users give them: anything with ``__index__``, never bool or float."""

import math
import operator
from collections.abc import Iterable
from typing import Any, Final, SupportsIndex

import numpy as np

from tensorwrapper._error_text import brief, counted
from tensorwrapper.errors import ConversionError, ExtentError, RankError, SizeOverflowError

_MOST_THREADS = 64

MAX_DIGITS: Final = 640
"""The most digits of a number in a text that every Python reads and writes, whatever its settings."""

MAX_INT64 = 2**63 - 1

_TOO_LARGE = 10**MAX_DIGITS

UNFIT: Final[tuple[type[object], ...]] = (str, bytes, dict, set, frozenset)
"""Iterables that are not sequences of numbers: texts, and those without an order."""


def one_sequence(values: tuple[Any, ...]) -> Iterable[Any]:
    """Return separate arguments, ``(1, 0)`` of ``f(1, 0)``, or the one sequence of ``f((1, 0))``.

    A string is one entry, the name of a mode; an integer is one as well, also as an array of rank 0.

    Examples
    --------
    >>> one_sequence((1, 0)), one_sequence(((1, 0),)), one_sequence((1,))
    ((1, 0), (1, 0), (1,))
    """
    if len(values) == 1:
        first = values[0]
        given: object = first
        kind = type(given)
        # Fast path for the usual types, without the price of an exception.
        if kind is tuple or kind is list:
            listed: Iterable[Any] = first
            return listed
        if kind is not int and first is not None and not isinstance(first, str):
            try:
                operator.index(first)
            except TypeError:
                # A single value that is neither is an entry, which the caller refuses with its own message.
                if hasattr(kind, "__iter__") or hasattr(kind, "__getitem__"):
                    sequence: Iterable[Any] = first
                    return sequence
    return values


def to_int(value: SupportsIndex, what: str) -> int:
    """Return `value` as a Python integer; ``what`` names it in the error."""
    if type(value) is int:
        return value
    # NumPy 2.0 still lends its bools an __index__.
    if isinstance(value, bool | np.bool_):
        raise ConversionError(f"{what} must be an integer, not the bool {value}")
    try:
        return operator.index(value)
    except TypeError as error:
        raise ConversionError(
            f"{what} must be an integer, not {brief(value)} ({type(value).__name__})"
        ) from error


def to_ints(values: Iterable[SupportsIndex], what: str) -> tuple[int, ...]:
    """Return `values` as a tuple of Python integers."""
    if not isinstance(values, tuple) and issubclass(type(values), UNFIT):
        raise _unfit(values, what)
    try:
        # Fast path for the exact type: a call for each would take half of the time for short tuples.
        return tuple([value if type(value) is int else to_int(value, what) for value in values])
    except TypeError as error:
        if isinstance(error, ConversionError):
            # Only an error of `to_int` names them: that of one entry, which is not a sequence.
            raise (
                ConversionError(f"an entry of {error}") if str(error).startswith(what) else error
            ) from error
        raise ConversionError(f"{what} must be a sequence of integers, not {brief(values)}") from error


def _unfit(values: object, what: str) -> ConversionError:
    kind = "text" if isinstance(values, str | bytes) else type(values).__name__
    return ConversionError(f"{what} must be integers in order, not the {kind} {brief(values)}")


def to_count(value: SupportsIndex, what: str) -> int:
    """Return `value` as a Python integer that is not negative."""
    count = to_int(value, what)
    if count < 0:
        raise ExtentError(f"{what} must not be negative, but is {count}")
    return count


def to_positive(value: SupportsIndex, what: str) -> int:
    """Return `value` as a Python integer of 1 or more."""
    number = to_int(value, what)
    if number < 1:
        raise ExtentError(f"{what} must be at least 1, but is {number}")
    return number


def to_counts(values: Iterable[SupportsIndex], what: str) -> tuple[int, ...]:
    """Return `values` as a tuple of Python integers that are not negative."""
    counts = to_ints(values, what)
    for mode, count in enumerate(counts):
        if count < 0:
            raise ExtentError(f"{what} must not be negative, but is {count} for mode {mode} of {counts}")
    return counts


def number_text(number: int, *, full: bool) -> str:
    """Return a number; an ellipsis for one of more than 640 digits, which raises in a full text."""
    if -_TOO_LARGE < number < _TOO_LARGE:
        return str(number)
    if full:
        raise SizeOverflowError(
            f"a number of more than {MAX_DIGITS} digits cannot be written; it has {number.bit_length()} bits"
        )
    return "..."


def completed(extents: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return extents, with -1 replaced by the extent that the others leave of `size` elements.

    Examples
    --------
    >>> completed((2, -1), 6), completed((2, 3), 6)
    ((2, 3), (2, 3))
    """
    if -1 not in extents:
        return to_counts(extents, "the extents")
    rest = math.prod(to_counts([n for n in extents if n != -1], "the extents"))
    if extents.count(-1) > 1 or not rest or size % rest:
        raise ExtentError(f"{extents} leaves no one extent for {size} elements")
    return tuple([size // rest if extent == -1 else extent for extent in extents])


def new_modes(modes: Iterable[SupportsIndex], rank: int) -> list[int]:
    """Return the modes that come to `rank` others, in order, as they count where all of them are there.

    Examples
    --------
    >>> new_modes((-1, 0), 2)
    [0, 3]
    """
    given = to_ints(modes, "modes")
    total = rank + len(given)
    numbers = sorted([mode + total if mode < 0 else mode for mode in given])
    if numbers and not 0 <= numbers[0] <= numbers[-1] < total:
        raise RankError(f"new modes {brief(given)} are outside the {counted(total, 'mode')} of the result")
    if len(set(numbers)) < len(numbers):
        raise RankError(f"new modes are different ones, not {brief(given)} beside {rank} others")
    return numbers


def to_threads(threads: SupportsIndex) -> int:
    """Return a number of threads, which is at least one and not more than any machine has a use for.

    Raises
    ------
    ExtentError
        If it is less than one.
    """
    count = to_int(threads, "threads")
    if count < 1:
        raise ExtentError(f"threads must be at least 1, not {count}")
    return min(count, _MOST_THREADS)
