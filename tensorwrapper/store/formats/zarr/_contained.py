"""Symbolic links in a Zarr store. Links out of the store and dangling links are not followed."""

import functools
import importlib
import os
import stat
from pathlib import Path
from typing import Any

from tensorwrapper._below import is_below
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats.zarr._keys import Keyed, Place
from tensorwrapper.store.records._loss import Loss


def is_inside(path: Path, root: str) -> bool:
    """Return True if the real path of an object is inside a folder."""
    return path.exists() and is_below(path, root)


def link_refusal(path: Place, root: str, name: str, what: str) -> Loss | None:
    """Return why a link is not followed; None for a link within the store, or a path that is not a link.

    `what` describes the link in words.
    """
    if isinstance(path, Keyed) or not path.is_symlink() or is_inside(path, root):
        return None
    target = repr(str(path.readlink())[:120])
    if not path.exists():
        return Loss(f"{what} is a link of the system to {target}, where nothing is", name, "link")
    text = f"{what} is a link of the system out of the store, to {target}, and is not followed"
    return Loss(text, name, "link", "`cp -rL` makes a copy of a store without links")


def check_links(folder: Path, key: str, root: str) -> None:
    """Raise if a chunk, or a folder of chunks, is an invalid link, or one in place of the other.

    The zarr library treats a folder in place of a chunk, and a file in place of a folder, as unwritten data
    full of the fill value.

    Raises
    ------
    DataFileError
        If it is.
    """
    at, parts = str(folder), key.split("/")
    for number, part in enumerate(parts, start=1):
        at = f"{at}{os.sep}{part}"
        try:
            mode = os.lstat(at).st_mode
        except OSError:
            # The chunk is missing, or reading it raises the error.
            return
        if stat.S_ISLNK(mode):
            loss = link_refusal(Path(at), root, "", f"{at}, where chunks are,")
            if loss is not None:
                raise DataFileError(loss)
        elif stat.S_ISDIR(mode) == (number == len(parts)):
            raise DataFileError(
                f"{at} is {'a folder, not a chunk' if stat.S_ISDIR(mode) else 'not a folder'}"
            )


def contained_store(folder: str, root: str) -> Any:  # noqa: ANN401 - its types are partly unknown
    """Return a store of the zarr library over the folder of an array, which reads only inside `root`."""
    local = importlib.import_module("zarr.storage").LocalStore(folder, read_only=True)
    return _class_of_stores()(local, root)


@functools.cache
def _class_of_stores() -> Any:  # noqa: ANN401 - as above
    storage: Any = importlib.import_module("zarr.storage")

    class ContainedStore(storage.WrapperStore):  # type: ignore[misc] # its types are partly unknown
        """A folder that does not follow links out of the store."""

        def __init__(self, store: Any, inside: str) -> None:  # noqa: ANN401 - as above
            storage.WrapperStore.__init__(self, store)
            self._inside = inside

        def _with_store(self, store: Any) -> "ContainedStore":  # noqa: ANN401 - as above
            return ContainedStore(store, self._inside)

        async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:  # noqa: ANN401 - as above
            check_links(self._store.root, key, self._inside)
            return await self._store.get(key, prototype, byte_range)

        async def get_partial_values(self, prototype: Any, key_ranges: Any) -> Any:  # noqa: ANN401 - as above
            wanted = list(key_ranges)
            for key, _ in wanted:
                check_links(self._store.root, key, self._inside)
            return await self._store.get_partial_values(prototype, wanted)

        def __str__(self) -> str:
            return str(self._store)

        def __reduce__(self) -> tuple[Any, tuple[str, str]]:
            return contained_store, (str(self._store.root), self._inside)

    return ContainedStore
