"""Readers by byte ranges, by file format."""

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

FETCHED: Final[Mapping[str, Callable[[Ranges, Opening], Contents]]] = {
    "tens": fetched_tens,
    "npy": fetched_npy,
    "npz": fetched_npz,
    "safetensors": fetched_safetensors,
}
"""Formats that are read by byte ranges. Files of other formats are copied as a whole."""

_MOST: Final = 2**28
"""Size limit of a copied file in bytes."""
_CHUNK: Final = 2**24
"""Bytes copied at a time."""


def spooled(ranges: Ranges, kind: str, read: Callable[[Path], Contents]) -> Contents:
    """Copy a file to a temporary file, and return its contents.

    Raises
    ------
    DataFileError
        If it exceeds 256 MiB.
    """
    if ranges.size > _MOST:
        raise DataFileError(
            f"{ranges.name} has the format {kind!r}, which is copied as a whole, but its "
            f"{ranges.size} bytes exceed the limit of {_MOST}; download the file first"
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
    """A path of a temporary file that is deleted with this object."""
