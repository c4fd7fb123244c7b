"""Zarr stores whose keys are byte ranges of one or several files: archives and manifests.

`Keyed` is a folder or a key of such a store. It implements the path methods that readers of stores use.
"""

import asyncio
import functools
import importlib
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, ReadOnlyError

MARKS: Final = ("zarr.json", ".zarray", ".zgroup")
_METADATA: Final = frozenset((*MARKS, ".zattrs", ".zmetadata"))
_PACKED: Final = 64
"""Stored bytes allowed per byte of a chunk; a shard has at least 16 per inner chunk."""
_LEAST_MOST: Final = 2**20
"""Metadata keys, of which every node has at least one."""


class Entry(Protocol):
    """The bytes of a key, read on request."""

    @property
    def size(self) -> int:
        """Number of bytes.

        Raises
        ------
        DataFileError
            If the bytes cannot be read.
        """
        ...

    def read(self, start: int, stop: int) -> bytes:
        """Return some of the bytes.

        Raises
        ------
        DataFileError
            If the bytes cannot be read, or exceed the limit.
        """
        ...


@final
@frozen
class Inline:
    """Bytes in memory, such as those of a manifest."""

    data: bytes

    @property
    def size(self) -> int:
        """Number of bytes."""
        return len(self.data)

    def read(self, start: int, stop: int) -> bytes:
        """Return some of the bytes."""
        return self.data[start:stop]


@final
class Keys:
    """The keys of a store, with their bytes."""

    def __init__(
        self,
        path: Path | str,
        entries: Mapping[str, Entry],
        again: "tuple[Callable[..., Keys], tuple[Any, ...]]",
        *,
        is_far: bool = False,
    ) -> None:
        self.path = path
        self.is_far = is_far
        """True if reads wait for a network, and so should run in parallel."""
        self.entries = entries
        self._again = again
        self.children: dict[str, set[str]] = {}
        """Names of nodes, and of folders with nodes below them, by folder."""
        for key in entries:
            folder, _, last = key.rpartition("/")
            if last in MARKS:
                self._enter(folder)

    def _enter(self, folder: str) -> None:
        """Record the folder of a node, and its ancestors."""
        self.children.setdefault(folder, set())
        while folder:
            above, _, last = folder.rpartition("/")
            own = self.children.setdefault(above, set())
            if last in own:
                return
            own.add(last)
            folder = above

    def __reduce__(self) -> "tuple[Callable[..., Keys], tuple[Any, ...]]":
        return self._again


@final
@frozen
class Keyed:
    """A folder or a key of a store without folders."""

    keys: Keys
    name: str = ""

    def __truediv__(self, name: str) -> "Keyed":
        return Keyed(self.keys, f"{self.name}/{name}" if self.name else name)

    def __str__(self) -> str:
        return f"{self.keys.path}/{self.name}" if self.name else str(self.keys.path)

    def is_dir(self) -> bool:
        """Return True if there is a node here or below."""
        return not self.name or self.name in self.keys.children

    def is_file(self) -> bool:
        """Return True if this is a key."""
        return self.name in self.keys.entries

    def exists(self) -> bool:
        """Return True if this is a key, or a folder of nodes."""
        return self.is_dir() or self.is_file()

    def is_symlink(self) -> bool:
        """Return False: such stores have no links."""
        return False

    def nodes(self) -> list[str]:
        """Return the names of folders here that are nodes or have nodes below them."""
        return sorted(self.keys.children.get(self.name, ()), reverse=True)

    def read(self, most: int) -> bytes:
        """Return the bytes of a key, at most `most`."""
        entry = self.keys.entries[self.name]
        return entry.read(0, min(entry.size, most))


Place: TypeAlias = Path | Keyed
"""A folder or a file of a store."""


def keyed_store(folder: Keyed, chunk: int | None = None) -> Any:  # noqa: ANN401 - its types are partly unknown
    """Return a store of the zarr library over the keys in a folder, with chunks of `chunk` bytes."""
    return _class_of_stores()(folder, chunk)


class _OverKeys:
    """Methods of a read-only store of the zarr library."""

    supports_writes = False
    supports_deletes = False
    supports_listing = True
    folder: Keyed
    chunk: int | None
    """Decompressed size of a chunk in bytes; None if unknown."""

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:  # noqa: ANN401 - as above
        """Return the bytes of a key; None if there is no such key."""
        found = (
            await asyncio.to_thread(self._bytes, key, byte_range)
            if self.folder.keys.is_far
            else self._bytes(key, byte_range)
        )
        return None if found is None else prototype.buffer.from_bytes(found)

    def _bytes(self, key: str, byte_range: Any) -> bytes | None:  # noqa: ANN401 - as above
        entry = self.folder.keys.entries.get((self.folder / key).name)
        if entry is None:
            return None
        most = None if self.chunk is None else _LEAST_MOST + _PACKED * self.chunk
        if most is not None and entry.size > most and key.rpartition("/")[2] not in _METADATA:
            raise DataFileError(
                f"{self.folder / key} has {entry.size} bytes, but its array has chunks of {self.chunk}"
            )
        return entry.read(*_bounds(byte_range, entry.size))

    async def get_partial_values(self, prototype: Any, key_ranges: Any) -> Any:  # noqa: ANN401 - as above
        """Return parts of the bytes of keys."""
        return await asyncio.gather(*[self.get(key, prototype, wanted) for key, wanted in key_ranges])

    async def exists(self, key: str) -> bool:
        """Return True if the key exists."""
        return (self.folder / key).is_file()

    async def set(self, key: str, value: Any) -> None:  # noqa: ANN401 - as above
        """Refuse to write."""
        del value
        raise ReadOnlyError(f"{self.folder} is read-only; cannot write {key!r}")

    async def delete(self, key: str) -> None:
        """Refuse to delete."""
        raise ReadOnlyError(f"{self.folder} is read-only; cannot delete {key!r}")

    async def list(self) -> AsyncIterator[str]:
        """Yield all keys."""
        async for key in self.list_prefix(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yield the keys that start with a prefix."""
        above = f"{self.folder.name}/" if self.folder.name else ""
        for key in tuple(self.folder.keys.entries):
            if key.startswith(above + prefix):
                yield key.removeprefix(above)

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yield the names in a folder."""
        above = f"{prefix.rstrip('/')}/" if prefix else ""
        known = {key.removeprefix(above).partition("/")[0]: None async for key in self.list_prefix(above)}
        for own in known:
            yield own

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OverKeys) and self.folder == other.folder

    def __hash__(self) -> int:
        return hash(self.folder.name)

    def __str__(self) -> str:
        return str(self.folder)

    def __reduce__(self) -> tuple[Any, tuple[Keyed, int | None]]:
        return keyed_store, (self.folder, self.chunk)


@functools.cache
def _class_of_stores() -> Any:  # noqa: ANN401 - as above
    store: Any = importlib.import_module("zarr.abc.store")

    class KeyedStore(_OverKeys, store.Store):  # type: ignore[misc] # its types are partly unknown
        """Keys of an archive or a manifest."""

        def __init__(self, folder: Keyed, chunk: int | None) -> None:
            store.Store.__init__(self, read_only=True)
            self.folder, self.chunk = folder, chunk

    return KeyedStore


def _bounds(wanted: Any, size: int) -> tuple[int, int]:  # noqa: ANN401 - as above
    """Return the start and stop of a read request of the zarr library."""
    if wanted is None:
        return 0, size
    if hasattr(wanted, "suffix"):
        return max(size - wanted.suffix, 0), size
    start: int = min(wanted.start if hasattr(wanted, "start") else wanted.offset, size)
    return start, min(max(getattr(wanted, "end", size), start), size)
