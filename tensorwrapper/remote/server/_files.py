"""Serve all tensors of files, with versions that follow changes of the file."""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import cast

from tensorwrapper import store
from tensorwrapper._error_text import brief
from tensorwrapper.errors import ConversionError, DataFileNotFoundError
from tensorwrapper.remote.server._catalogue import Catalogue
from tensorwrapper.tensor import Tensor


def put_files(
    catalogue: Catalogue,
    given: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]",
    files: ExitStack,
    *,
    into_memory: bool = False,
) -> None:
    """Put all tensors of files and folders into a catalogue; `files` closes them.

    Writable tensors are read into memory: the file is not changed.
    """
    paths = [given] if isinstance(given, str | os.PathLike) else _several(given)
    found = [path for place in paths for path in _files_at(Path(place))]
    stems = [path.stem for path in found]
    for path in found:
        prefix = ""
        if len(found) > 1:
            # Add the folder to the names of equally named files.
            prefix = f"{path.stem}/" if stems.count(path.stem) == 1 else f"{path.parent.name}/{path.stem}/"
        file = files.enter_context(store.open(path))
        check = partial(_version, path)
        grouped = file.record_fields if isinstance(file, store.TensFile) else {}
        for name in grouped:
            records = cast("store.TensFile", file).records(name)
            catalogue.put(
                prefix + name, records.copy() if into_memory else records, None if into_memory else check
            )
        fields = {f"{owner}.{own}" for owner, names in grouped.items() for own in names}
        for name in [own for own in file if own not in fields]:
            if into_memory:
                whole = file[name]
                catalogue.put(prefix + name, whole.copy() if isinstance(whole, Tensor) else whole.compute())
            else:
                catalogue.put(prefix + name, file[name], check)


def _several(given: object) -> list[str | os.PathLike[str]]:
    whole = given
    # A tensor is also iterable, but its rows are not paths.
    paths = (
        list(cast("Iterable[object]", given)) if isinstance(given, list | tuple | set | Iterator) else None
    )
    if paths is None or not all(isinstance(path, str | os.PathLike) for path in paths):
        raise ConversionError(
            f"a server needs a mapping such as {{'t': t}}, a path or several paths, not {brief(whole)}"
        )
    return cast("list[str | os.PathLike[str]]", paths)


def _files_at(place: Path) -> list[Path]:
    try:
        is_folder = place.is_dir()
    except OSError:  # a name too long for any file: opening it reports that
        is_folder = False
    if not is_folder or place.suffix == ".zarr":
        return [place]
    found = sorted(place.glob("*.tens"))
    if not found:
        raise DataFileNotFoundError(2, f"there is no .tens file in {place}")
    return found


def _version(path: Path) -> str:
    """Return a version of a file that changes with writes, and survives a restart of the server.

    A replaced file is still open, and a shortened file must not be read; both count as changed.
    """
    try:
        state = path.stat()
    except OSError:
        return "gone"
    return f"{state.st_dev:x}-{state.st_ino:x}-{state.st_size:x}-{state.st_mtime_ns:x}"
