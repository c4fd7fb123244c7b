"""The readers by byte ranges, by kind of file."""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final, final

import numpy as np

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.fetched._arrays import fetched_npy, fetched_npz, fetched_safetensors
from tensorwrapper.store.fetched._tens import fetched_tens
from tensorwrapper.store.formats._contents import Contents, Opening
from tensorwrapper.store.ranges._ranges import Ranges

__all__ = ["FETCHED", "spooled"]

FETCHED: Final[Mapping[str, Callable[[Ranges, Opening], Contents]]] = {
    "tens": fetched_tens,
    "npy": fetched_npy,
    "npz": fetched_npz,
    "safetensors": fetched_safetensors,
}
"""The kinds that are read by byte ranges; files of other kinds are copied as a whole."""

_MOST: Final = 2**28
"""Bytes of a file that is copied."""
_CHUNK: Final = 2**24
"""Bytes that are copied at a time."""


def spooled(ranges: Ranges, kind: str, read: Callable[[Path], Contents]) -> Contents:
    """Copy a file to a temporary one, and return its contents.

    Raises
    ------
    DataFileError
        If it has over 256 MiB.
    """
    if ranges.size > _MOST:
        raise DataFileError(
            f"{ranges.name} is of kind {kind!r}, which is copied as a whole, and has {ranges.size} bytes; "
            f"{_MOST} are allowed: download it, and open that"
        )
    folder = tempfile.mkdtemp(prefix="tensorwrapper-")
    path = _Spooled(folder) / (PurePosixPath(ranges.name).name[-100:] or "file")
    weakref.finalize(path, shutil.rmtree, folder, ignore_errors=True)
    with path.open("wb") as file:
        for start in range(0, ranges.size, _CHUNK):
            stop = min(start + _CHUNK, ranges.size)
            file.write(ranges.fetch(np.array([start]), np.array([stop]))[0])
    return read(path)


@final
class _Spooled(type(Path())):  # type: ignore[misc] # which class paths have, the system says
    """The path of a temporary file, which is deleted with this value."""
