"""Files that are served: each tensor of them, at a version that a change of the file changes."""

import os
from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import cast

from tensorwrapper import store
from tensorwrapper.errors import ConversionError, DataFileNotFoundError
from tensorwrapper.remote.server._catalogue import Catalogue

__all__ = ["put_files"]


def put_files(
    catalogue: Catalogue, given: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]", files: ExitStack
) -> None:
    """Put all tensors of files and folders into a catalogue; `files` closes them."""
    paths = [given] if isinstance(given, str | os.PathLike) else list(_several(given))
    found = [path for place in paths for path in _files_at(Path(place))]
    stems = [path.stem for path in found]
    for path in found:
        prefix = ""
        if len(found) > 1:
            # Files of one name in two folders are told apart by the folder.
            prefix = f"{path.stem}/" if stems.count(path.stem) == 1 else f"{path.parent.name}/{path.stem}/"
        file = files.enter_context(store.open(path))
        check = partial(_version, path)
        for name in file:
            catalogue.put(prefix + name, file[name], check)


def _several(given: object) -> Iterable[str | os.PathLike[str]]:
    if not isinstance(given, Iterable):
        raise ConversionError(f"what is served is a mapping, a path or several paths, not {given!r}")
    return cast("Iterable[str | os.PathLike[str]]", given)


def _files_at(place: Path) -> list[Path]:
    if not place.is_dir() or place.suffix == ".zarr":
        return [place]
    found = sorted(place.glob("*.tens"))
    if not found:
        raise DataFileNotFoundError(2, f"there is no .tens file in {place}")
    return found


def _version(path: Path) -> str:
    """Return what tells a file from one that was written later; it survives a restart of the server.

    A file that was replaced is still open, and one that was shortened must not be read: both are changed.
    """
    try:
        state = path.stat()
    except OSError:
        return "gone"
    return f"{state.st_dev:x}-{state.st_ino:x}-{state.st_size:x}-{state.st_mtime_ns:x}"
