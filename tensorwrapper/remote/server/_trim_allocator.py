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
    """Give what is free back. ZeroMQ takes 34 bytes for each that says an empty frame; glibc keeps them."""
    trim = _trim()
    if trim is not None:
        trim(0)
