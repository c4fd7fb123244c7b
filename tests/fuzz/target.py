"""What a fuzz target is, and what one input may cost: memory and time of the processor."""

import contextlib
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tensorwrapper.errors import TensorWrapperError
from tests.fuzz.mutate import Mutate, mutate_bytes

MEMORY = 2**30
"""Bytes of address space that one input may take on top of what the process has."""

SECONDS = 10
"""Of the processor, for one input: hundreds of times what the slowest takes."""


class Target(NamedTuple):
    """One reader, or several that read the same: any bytes are read or refused."""

    name: str
    read: Callable[[bytes], Any]
    seeds: Callable[[], list[bytes]]
    readers: tuple[str, ...]
    """Public names that are behind this target."""
    use: Callable[[Any], object] = repr
    """Does with what was read what its reader would."""
    refusals: tuple[type[Exception], ...] = (TensorWrapperError,)
    """What reading may raise; using it may raise any error of ours."""
    mutate: Mutate = mutate_bytes


class SlowInputError(BaseException):
    """An input took too long: no `Exception`, so that no code under test takes it for a refusal."""


class HungryInputError(Exception):
    """An input was refused for want of memory: a refusal comes before that is asked for."""


def try_input(target: Target, data: bytes) -> bool:
    """Return whether an input was read; raise if it was neither read nor refused as it should be."""
    try:
        value = target.read(data)
    except target.refusals as error:
        if MemoryError not in target.refusals:
            _check_cause(error)
        return False
    try:
        target.use(value)
    except TensorWrapperError as error:
        _check_cause(error)
    return True


def _check_cause(error: BaseException) -> None:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError):
            raise HungryInputError(str(error)) from error
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)


def limit_memory():
    """Allow what the process has, and as much more as one input may take."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(
        resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard)
    )


@contextlib.contextmanager
def memory_limited():
    """Refuse more memory than one input may take, while the block runs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit_memory()
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextlib.contextmanager
def time_limited():
    """Raise `SlowInputError` where the block uses the processor for too long; no clock is looked at."""

    def late(_number, _frame):
        raise SlowInputError(f"an input took {SECONDS} s of the processor")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
