"""Several cases in one test. A failure names its case."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["case"]


@contextmanager
def case(*what: object) -> Iterator[None]:
    """Let whatever fails within say in which case it did."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in the case {what}")
        raise
