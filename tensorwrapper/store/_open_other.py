"""Open files in formats other than `.tens`, and files without a path."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import get_args

from tensorwrapper._json import Json
from tensorwrapper._lazy import naming_extras
from tensorwrapper._value_class import evolve
from tensorwrapper.errors import ConversionError, DataFileError, DataFileSystemError
from tensorwrapper.store.formats._array_file import ArrayFile
from tensorwrapper.store.formats._contents import Contents, Opening
from tensorwrapper.store.formats.zarr._remote_folders import FarStore, open_far
from tensorwrapper.store.system._system import of_stranger
from tensorwrapper.store.wirecell._kinds import read_as, read_ranges_as
from tensorwrapper.store.wirecell._recognise import (
    FileKind,
    Recognised,
    opened_at,
    recognise,
    recognise_path,
    recognise_ranges,
)
from tensorwrapper.typing import NullRows
from tensorwrapper.wire import Limits


def open_other(
    where: Path, kind: FileKind | None, limits: Limits, null_rows: NullRows, *, raw: bool, follow: str | None
) -> ArrayFile | None:
    """Open a file that is not a `.tens` file; return None if its content is one after all."""
    if kind in ("npz", "wirecell"):
        # Archive readers skip bytes before and after an archive.
        _check_archive(where, kind)
    found, opened = recognise_path(where) if kind is None else (Recognised(_known(kind), "name"), None)
    # With an open file the content has named the format, and not the caller.
    with naming_extras(), opened or _naming_format(kind, where, lambda: recognise(where)):
        if found.kind == "tens":
            return None
        how = Opening(limits, found.note, null_rows, raw, follow, opened)
        contents = read_as(found.kind, where, how)
    if kind == "wirecell":
        _check_sets(where, contents, lambda: recognise(where))
    options: dict[str, Json] = {"kind": kind} if kind is not None else {}
    if raw:
        options["raw"] = True
    if null_rows != "refuse":
        options["null_rows"] = null_rows
    return ArrayFile(where, contents, options=options, status=None if opened is None else opened.status)


def open_ranges(
    source: object,
    kind: FileKind | None,
    limits: Limits,
    null_rows: NullRows,
    *,
    raw: bool,
    follow: str | None,
) -> ArrayFile:
    """Open a file without a path by byte ranges."""
    how = Opening(limits, "", null_rows, raw, follow)
    with naming_extras():
        opened = opened_at(source, None if kind is None else _known(kind))
        if isinstance(opened, FarStore):
            path = Path(PurePosixPath(opened.folder.name).name)
            return ArrayFile(path, open_far(opened, how), is_far=True)
        ranges, found = opened
        how = evolve(how, note=found.note)
        with (
            _naming_format(kind, ranges.name, lambda: recognise_ranges(ranges)),
            of_stranger(ranges.name, found.kind),
            ranges.unbroken(),
        ):
            contents = read_ranges_as(found.kind, ranges, how)
        if kind == "wirecell":
            _check_sets(ranges.name, contents, lambda: recognise_ranges(ranges))
    return ArrayFile(Path(PurePosixPath(ranges.name).name), contents, ranges)


@contextmanager
def _naming_format(
    kind: "FileKind | None", where: object, recognised: "Callable[[], Recognised]"
) -> Generator[None, None, None]:
    """Report the format of the content if a file does not open in the caller's format."""
    try:
        yield
    except DataFileSystemError:
        raise
    except DataFileError as error:
        if kind is None:
            raise
        try:
            found = recognised()
        except DataFileError:
            # The content has no known format, so keep the reader's error.
            raise error from None
        if found.by == "name" or found.kind == kind or {found.kind, kind} <= {"npz", "wirecell"}:
            raise
        raise _other_content(where, found.kind, kind) from error


def _other_content(where: object, found: "FileKind", kind: "FileKind") -> DataFileError:
    return DataFileError(f"{where} has the format {found!r} by its content, not {kind!r}")


def _check_sets(where: object, contents: "Contents", recognised: "Callable[[], Recognised]") -> None:
    """Raise if an archive has no member of a tensor set, and is empty or has another format."""
    if contents.sets or contents.held or any(loss.code != "member" for loss in contents.losses):
        return
    found = recognised().kind
    if contents.losses and found == "wirecell":
        return
    other = "" if found == "wirecell" else f", and has the format {found!r}: tw.open(path) reads it"
    raise DataFileError(f"{where} is not an archive of tensor sets: it has no member of a set{other}")


def _check_archive(where: Path, kind: "FileKind") -> None:
    """Raise if a file is not an archive by its content; it would otherwise seem empty."""
    try:
        found = recognise(where)
    except DataFileError:
        # The format is unknown, and the reader will raise a better error.
        return
    if found.by != "name" and found.kind not in ("npz", "wirecell"):
        raise _other_content(where, found.kind, kind)


def _known(kind: "FileKind") -> "FileKind":
    if kind not in get_args(FileKind):
        raise ConversionError(f"kind must be one of {', '.join(sorted(get_args(FileKind)))}, not {kind!r}")
    return kind
