"""`give_back`: return free memory of the allocator to the system, where this is possible."""

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["give_back"]


@cache
def _trim() -> Callable[[int], Any] | None:
    if sys.platform != "linux":
        return None
    try:
        found: Callable[[int], Any] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # another library of C has no such thing
        return None
    return found


def give_back() -> None:
    """Return free memory. ZeroMQ takes 34 bytes per byte that encodes an empty frame; glibc keeps them."""
    trim = _trim()
    if trim is not None:
        trim(0)
