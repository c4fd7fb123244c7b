"""Serve all tensors of files, with versions that follow changes of the file."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, cast

from tensorwrapper import store
from tensorwrapper._error_text import brief
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    DataFileNotFoundError,
    DTypeError,
    TensorNameError,
    TensorWrapperError,
)
from tensorwrapper.remote.server._catalogue import Catalogue
from tensorwrapper.selection import View
from tensorwrapper.store import Loss, LossCode


def put_files(
    catalogue: Catalogue,
    given: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]",
    files: ExitStack,
    *,
    into_memory: bool = False,
) -> list[Loss]:
    """Put all tensors of files and folders into a catalogue, and return what is left out.

    `files` closes them. Writable tensors are read into memory: the file is not changed.

    Raises
    ------
    TensorWrapperError
        If a file that is named cannot be opened, or nothing at all can be served.
    """
    paths = [given] if isinstance(given, str | os.PathLike) else _several(given)
    places = [(path, Path(place)) for place in paths for path in _files_at(Path(place))]
    found = [path for path, _ in places]
    stems = [path.stem for path in found]
    losses: list[Loss] = []
    refused: TensorWrapperError | None = None
    for path, place in places:
        prefix = ""
        if len(found) > 1:
            # Add the folder to the names of equally named files.
            prefix = f"{path.stem}/" if stems.count(path.stem) == 1 else f"{path.parent.name}/{path.stem}/"
        try:
            file: Any = files.enter_context(store.open(path))
        except DataFileError as error:
            if path == place:
                raise
            refused = refused or error
            losses.append(_loss(path.name, error))
            continue
        losses += file.losses
        for name, read in _parts_of(file):
            try:
                if into_memory:
                    catalogue.put(prefix + name, _own(read()))
                else:
                    catalogue.put(prefix + name, read(), partial(_version, path))
            except (ConversionError, DTypeError, DataFileError, TensorNameError) as error:
                if prefix + name in catalogue.names():
                    raise  # of two files
                refused = refused or error
                losses.append(_loss(prefix + name, error))
    try:
        if refused is not None and not catalogue.names():
            raise refused
    finally:
        del refused  # its traceback has this frame
    return losses


def _parts_of(file: "store.TensFile | store.ArrayFile") -> "Iterator[tuple[str, Callable[[], Any]]]":
    """Yield the records and the other tensors of a file: their names and functions that read them."""
    grouped = file.record_fields if isinstance(file, store.TensFile) else {}
    for name in grouped:
        yield name, partial(cast("store.TensFile", file).records, name)
    fields = {f"{owner}.{own}" for owner, names in grouped.items() for own in names}
    yield from ((own, partial(file.__getitem__, own)) for own in file if own not in fields)


def _loss(name: str, error: TensorWrapperError) -> Loss:
    said: object = error.args[0]
    if isinstance(said, Loss):
        return Loss(f"{name!r} is not served, {said}", name, said.code)
    codes: list[tuple[type[Exception], LossCode]] = [(TensorNameError, "name"), (DataFileError, "damage")]
    code: LossCode = next((own for kind, own in codes if isinstance(error, kind)), "kind")
    return Loss(f"{name!r} is not served, {error}", name, code)


def _own(given: Any) -> Any:  # noqa: ANN401 - a tensor, a view or records
    """Return a copy in memory."""
    return given.compute() if isinstance(given, View) else given.copy()


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
