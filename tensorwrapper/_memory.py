"""How much memory there is, and errors for what would take more."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Final

from tensorwrapper.errors import SizeOverflowError

__all__ = ["memory_for", "memory_share"]

_LEAST: Final = 2**28
_MOST: Final = 2**36


@cache
def memory_share() -> int:
    """Return a quarter of the memory that a process may have: of the machine's, or of its control group's."""
    found: list[int] = []
    with suppress(OSError, ValueError, AttributeError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):
        from pathlib import Path  # noqa: PLC0415 - a twentieth of what a first use of tensors loads

        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return min(max(min(found, default=4 * _LEAST) // 4, _LEAST), _MOST)


@contextmanager
def memory_for(count: int, what: str = "indices") -> Generator[None]:
    """Raise `SizeOverflowError` where so many numbers, one by one, are more than memory holds.

    More than all of it, at 8 bytes a number, is not even asked for: a few numbers of a stranger may stand for
    any number of others, and a system that promises memory that it has not ends a process that uses it.
    """
    error = SizeOverflowError(f"{count} {what}, one by one, are more than memory holds")
    if 8 * count > 4 * memory_share():
        raise error
    try:
        yield
    except MemoryError as cause:
        raise error from cause
