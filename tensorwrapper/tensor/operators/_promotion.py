"""The type that several are promoted to, one rule for tensors and views."""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import surely_fits, to_dtype
from tensorwrapper._arrays import unmasked_array
from tensorwrapper._error_text import type_text
from tensorwrapper.buffer.lowlevel import check_write, convert_elements
from tensorwrapper.errors import DTypeError
from tensorwrapper.typing import Array

NO_BYTES: Final = "{}: ufuncs of bytes are comparisons; text has the others, as NumPy's StringDType"


def promoted(
    dtypes: Iterable["np.dtype[Any]"], what: str, numbers: Sequence[complex] = ()
) -> "np.dtype[Any]":
    """Return NumPy's promoted dtype of dtypes and Python numbers; `what` names the operation.

    Raises
    ------
    DTypeError
        If there is none, or one of the types would change its kind: a duration is not a date.
    """
    given = list(dict.fromkeys(dtypes))
    if any(isinstance(cast("object", own), str | bytes) for own in numbers):
        # NumPy would read it as the name of a type.
        raise DTypeError(f"{what}: text and numbers have no type in common")
    if not given and all(type(own) is int for own in numbers):
        # NumPy has int64 for integers beyond it, too.
        given = [unmasked_array(list(numbers)).dtype]
    try:
        weak = [type(own) for own in numbers]
        if weak and bool not in weak and any(own.isbuiltin == 2 for own in given):
            # Beside the types of ml_dtypes, only ufuncs know numbers without a type.
            return np.result_type(reduce(_of_two, weak, reduce(_of_two, given)))
        found: np.dtype[Any] = np.result_type(*given, *numbers)
    except (TypeError, OverflowError) as error:
        raise _nothing_in_common(given, what) from error
    if {"m", "M"} <= {dtype.kind for dtype in given}:
        # NumPy promotes them to dates, and casts no duration to one.
        raise _nothing_in_common(given, what)
    return found


def type_of_extreme(
    dtypes: Iterable["np.dtype[Any]"], what: str, numbers: Sequence[complex] = ()
) -> "np.dtype[Any]":
    """Return the type in which `numpy.minimum` compares elements of several types, and Python's numbers.

    It differs from that of `promoted` for the types of ml_dtypes: a bfloat16 and an integer meet as floats.

    Raises
    ------
    DTypeError
        As `promoted` does; and of bytes, which are compared alone.
    """
    given = list(dict.fromkeys(dtypes))
    if not given:
        return promoted(given, what, numbers)
    if any(dtype.kind == "O" for dtype in given):
        raise DTypeError(NO_BYTES.format(what))
    try:
        # Also one type alone: as of NumPy's results, its bytes are in the order of this machine.
        return np.result_type(reduce(_of_two, map(type, numbers), reduce(_of_two, given)))
    except (TypeError, OverflowError):
        return promoted(given, what, numbers)  # NumPy compares no texts, and not all units of time.


def check_computed_in(given: "np.dtype[Any]", dtype: npt.DTypeLike, what: str) -> None:
    """Raise unless elements of a type may become the type that ``dtype=`` of a reduction computes in.

    NumPy casts them even with losses, and makes a number of not-a-number.

    Raises
    ------
    DTypeError
        If they may not: floats are not integers, complex numbers no floats.
    """
    wanted = to_dtype(dtype)
    try:
        check_write(np.empty(0, given), wanted)  # of no elements: the types alone
    except DTypeError as error:
        raise DTypeError(
            f"{what}: dtype={wanted} is not a type to compute with elements of type {given} in: only one of "
            f"their kind, or a wider one; `t.astype('{wanted}')` converts them first"
        ) from error


def check_elements_computed_in(elements: Array, dtype: npt.DTypeLike, what: str) -> None:
    """Raise unless elements may become ones of the type that ``dtype=`` computes in, by `check_computed_in`.

    NumPy would wrap integers and times.

    Raises
    ------
    DTypeError
        As `check_computed_in`.
    SizeOverflowError
        If an element does not fit. O(elements), where the type is narrower.
    """
    wanted = to_dtype(dtype)
    check_computed_in(elements.dtype, wanted, what)
    if not surely_fits(elements.dtype, wanted):
        convert_elements(elements, wanted, checked=True)


def _of_two(one: "np.dtype[Any]", other: "np.dtype[Any] | type[complex]") -> "np.dtype[Any]":
    found: np.dtype[Any] = np.minimum.resolve_dtypes((one, other, None))[2]
    return found


def _nothing_in_common(dtypes: Sequence["np.dtype[Any]"], what: str) -> DTypeError:
    return DTypeError(f"{what}: {', '.join(map(type_text, dtypes))} have no type in common")
