"""`Cache`: cached answers of a server by tensor, version and selection, of limited size."""

import threading
from collections import OrderedDict
from typing import Final, TypeAlias, final

import numpy as np

from tensorwrapper.remote.protocol._events import AskRead, Elements
from tensorwrapper.selection import Outer, Wanted

_Key: TypeAlias = tuple[object, ...]
_OVERHEAD: Final = 512
"""Approximate overhead of a cached answer in bytes."""


@final
class Cache:
    """LRU cache of answers, usable from any thread. Answers for one version never change."""

    __slots__ = ("_found", "_lock", "limit", "nbytes")

    def __init__(self, limit: int) -> None:
        self.limit: int = limit
        self.nbytes: int = 0
        self._lock = threading.Lock()
        self._found: OrderedDict[_Key, Elements] = OrderedDict()

    def find(self, request: AskRead) -> Elements | None:
        """Return the cached answer to a request, if any."""
        if not self.limit:
            return None
        key = _key_of(request)
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
        return found

    def keep(self, request: AskRead, answer: Elements) -> None:
        """Store an answer, and evict the least recently used ones."""
        key = _key_of(request) if self.limit else ()
        nbytes = _bytes_of(key, answer)
        # A large one would evict all others.
        if 4 * nbytes > self.limit:
            return
        with self._lock:
            before = self._found.pop(key, None)
            self.nbytes += nbytes - (0 if before is None else nbytes)
            self._found[key] = answer
            while self.nbytes > self.limit:
                old, gone = self._found.popitem(last=False)
                self.nbytes -= _bytes_of(old, gone)


def _bytes_of(key: _Key, answer: Elements) -> int:
    told = sum([len(own) for own in key if isinstance(own, bytes)])
    return sum([frame.nbytes for frame in answer.frames]) + told + _OVERHEAD


def _key_of(request: AskRead) -> _Key:
    parts: list[object] = [request.name, request.version, request.dtype, request.box]
    for own in request.selections:
        parts += _parts_of(own)
    return tuple(parts)


def _parts_of(wanted: Wanted) -> list[object]:
    if not isinstance(wanted, Outer):
        return ["runs", wanted.starts.tobytes(), wanted.lengths.tobytes()]
    modes = [own if isinstance(own, range) else np.asarray(own, np.int64).tobytes() for own in wanted.modes]
    return ["modes", *modes]
