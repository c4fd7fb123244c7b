"""A value that is replaced as a whole: readers need no lock, and writers wait for one another."""

import threading
from typing import Generic, TypeVar, final

_T = TypeVar("_T")


@final
class AtomicValue(Generic[_T]):
    """A value that is replaced atomically. A reader takes it and works on it, unaffected by later writes.

    A writer holds `lock` from when it takes the value until it has put another one in its place.
    """

    __slots__ = ("lock", "value")

    def __init__(self, value: _T) -> None:
        self.value: _T = value
        self.lock = threading.Lock()
