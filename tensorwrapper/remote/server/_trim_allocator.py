"""`give_back`: return free memory of the allocator to the system, where this is possible."""

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def _trim() -> Callable[[int], Any] | None:
    if sys.platform != "linux":
        return None
    try:
        found: Callable[[int], Any] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # other C libraries lack this function
        return None
    return found


def give_back() -> None:
    """Return free memory. ZeroMQ allocates 34 bytes per encoded byte of empty frames, which glibc keeps."""
    trim = _trim()
    if trim is not None:
        trim(0)
