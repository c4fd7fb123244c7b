"""The type that several are promoted to, one rule for tensors and views."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tensorwrapper.errors import DTypeError

__all__ = ["promoted"]


def promoted(
    dtypes: Iterable["np.dtype[Any]"], what: str, numbers: Sequence[complex] = ()
) -> "np.dtype[Any]":
    """Return the type that NumPy promotes types, and Python's numbers, to; `what` is done with them.

    Raises
    ------
    DTypeError
        If there is none, or one of the types would change its kind: a duration is no date.
    """
    given = list(dict.fromkeys(dtypes))
    try:
        found: np.dtype[Any] = np.result_type(*given, *numbers)
    except (TypeError, OverflowError) as error:
        raise _nothing_in_common(given, what) from error
    if {"m", "M"} <= {dtype.kind for dtype in given}:
        # NumPy promotes them to dates, and casts no duration to one.
        raise _nothing_in_common(given, what)
    return found


def _nothing_in_common(dtypes: Sequence["np.dtype[Any]"], what: str) -> DTypeError:
    return DTypeError(f"{what}: {', '.join(map(str, dtypes))} have no type in common")
