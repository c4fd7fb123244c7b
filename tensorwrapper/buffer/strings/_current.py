"""The strings of a buffer: replaced as a whole by large writes, and written one by one beside them."""

import threading
from typing import Final, cast, final

import numpy as np

from tensorwrapper.buffer.strings._data import StringData
from tensorwrapper.buffer.strings._merge import replace_strings

_FEWEST: Final = 64
_SHARE: Final = 8
"""Written strings are merged once they are an eighth of all: then each has cost a pass over eight."""

_MISSING: Final = object()


@final
class CurrentStrings:
    """Strings that are replaced atomically. A reader takes them and is unaffected by later writes.

    Strings that are written one by one are kept separately until all strings are read, so that a loop of
    writes does not pass over all elements each time. A reader needs no lock.
    """

    __slots__ = ("_lock", "_strings", "_written")

    def __init__(self, strings: StringData) -> None:
        self._strings = strings
        self._written: dict[int, str | bytes | None] = {}
        self._lock = threading.Lock()

    @property
    def unmerged(self) -> StringData:
        """Strings of the same kind and number, of which some may since have been written."""
        return self._strings

    @property
    def is_merged(self) -> bool:
        """True if no strings are kept separately."""
        return not self._written

    @property
    def value(self) -> StringData:
        """All strings at one moment."""
        if self._written:
            with self._lock:
                self._merge()
        return self._strings

    def item(self, place: int) -> str | bytes | None:
        """Return one string, as it is now."""
        # First the written ones: a merge replaces the strings before it drops these.
        found = self._written.get(place, _MISSING)
        return self._strings.item(place) if found is _MISSING else cast("str | bytes | None", found)

    def keep(self, place: int, item: str | bytes | None) -> None:
        """Write one string that fits."""
        with self._lock:
            self._written[place] = item
            if len(self._written) > max(_FEWEST, len(self._strings) // _SHARE):
                self._merge()

    def replace(self, places: "np.ndarray[tuple[int], np.dtype[np.int64]]", strings: StringData) -> None:
        """Write one string to each place, none of which comes twice."""
        with self._lock:
            self._merge()
            self._strings = replace_strings(self._strings, places, strings)

    def _merge(self) -> None:
        written = self._written
        if written:
            places = np.fromiter(written, dtype=np.int64, count=len(written))
            new = StringData.from_list([*written.values()], kind=self._strings.kind)
            self._strings = replace_strings(self._strings, places, new)
            self._written = {}
