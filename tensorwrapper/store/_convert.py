"""`convert`: copy tensors between file formats, a run of rows at a time."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, final

import attrs

from tensorwrapper._error_text import shortened
from tensorwrapper._lazy import naming_extras
from tensorwrapper.errors import ConversionError, DataFileError, DataFileExistsError, TensorWrapperError
from tensorwrapper.store._file import TensFile
from tensorwrapper.store.formats._array_file import ArrayFile
from tensorwrapper.store.formats._contents import (
    Conversion,
    Named,
    Opening,
    Options,
    leaving_out,
    unsaid_attributes,
)
from tensorwrapper.store.formats._kinds import PATHS
from tensorwrapper.store.formats._names import TRUE_NAME, names_before, tens_names
from tensorwrapper.store.formats._select_names import NameFilter
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.system._system import to_path
from tensorwrapper.store.wirecell._kinds import KINDS, end_of, read_as
from tensorwrapper.store.wirecell._read import check_members
from tensorwrapper.store.wirecell._recognise import Recognised, recognise
from tensorwrapper.tensor import as_tensor
from tensorwrapper.wire import DEFAULT_LIMITS
from tensorwrapper.wire.lowlevel import is_records

_WAY_OUT: Final = "strict=False leaves it out"
"""End of errors about one tensor."""


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    only: str | Iterable[str] | None = None,
    skip: str | Iterable[str] = (),
    strict: bool = True,
    overwrite: bool = False,
    keep_views: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Conversion:
    """Write the tensors of one file to another, in the format of its extension.

    Kinds are ``.tens``, ``.npy`` (one tensor, named ``array``), ``.npz``, ``.safetensors``, HDF5 (``.h5``,
    ``.hdf5``), Parquet (``.parquet``), Feather (``.feather``, ``.arrow``), folders of Zarr 3 (``.zarr``), and
    Wire-Cell's tensor files (``.tar``, ``.tar.gz``, ``.tgz``, ``.tar.bz2``, ``.tbz2``, ``.zip``, and ``.npz``
    if the tensors have Wire-Cell names). In a tensor file, tensors with other names form set 0, with their
    names as paths. A name that is invalid in a `.tens` file gets dots for slashes, and a suffix ``~1`` if the
    result is taken. The metadata key ``name`` stores the original name, which formats with paths as names use
    again. Elements are read from the mapped file a run of rows at a time, so memory use does not grow with
    the file size. Chunked and compressed tensors are read whole into a ``.tens`` file. Records of a `.tens`
    file stay records in another one if all of their fields are written. Other formats have a tensor for each
    field, such as ``ev.t``. `target` is created once everything is written.

    Parameters
    ----------
    source, target
        The files.
    only, skip
        Tensors to write, and tensors to skip: names, or shell patterns (``"w*"``). An exact name takes
        precedence over a pattern. The name of records in a ``.tens`` file selects all fields.
    strict
        Whether a tensor that cannot be read or written is an error. If not, it is skipped and listed in
        `lost`. Columns with null rows are always skipped.
    overwrite
        Whether to replace an existing file at `target`; its permissions are kept.
    keep_views
        Whether stored views stay views in another `.tens` file. Otherwise their elements are written.
    progress
        Function called after each tensor with the amount written and the total: bytes of elements for a
        ``.tens`` source, numbers of tensors otherwise.

    Raises
    ------
    ConversionError
        If a format is unknown, or the format of `target` cannot store a tensor.
    TensorNameError
        If an entry of `only` or `skip` matches no name.
    DataFileExistsError
        If `target` exists and `overwrite` is False.
    DataFileError
        If a file is missing, damaged, or cannot be written.
    ModuleNotFoundError
        If the library for such a file is not installed; the error names the extra.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> np.savez(folder / "a.npz", x=np.arange(6).reshape(2, 3))
    >>> convert(folder / "a.npz", folder / "a.tens").names
    ('x',)
    >>> with TensFile(folder / "a.tens") as f:
    ...     f["x"].tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    first, second = to_path(source), to_path(target)
    write = _WRITE.get(end_of(second))
    if write is None:
        raise ConversionError(
            f"{shortened(str(second))} has no known extension; allowed: {', '.join(_WRITE)}"
        )
    if not overwrite and os.path.lexists(second):
        raise DataFileExistsError(errno.EEXIST, f"{second} already exists; use overwrite=True to replace it")
    wanted = NameFilter.of(only, skip)
    with naming_extras():
        found = recognise(first)
        read = _from_tens if found.kind == "tens" else partial(_from_foreign, found)
        return read(
            first,
            second,
            partial(write, second),
            wanted,
            Options(strict=strict, way_out=_WAY_OUT, keep_views=keep_views and end_of(second) == ".tens"),
            progress,
        )


@final
@attrs.frozen(eq=False)
class _KeptView:
    """A view to write as a view."""

    view: object
    home: object
    """Reader of the source file."""


_Write: TypeAlias = Callable[[Iterator[Named], Mapping[str, Any], Options], Conversion]
_Progress: TypeAlias = Callable[[int, int], object] | None


def _with_progress(tensors: Iterator[Named], sizes: Iterable[int], progress: _Progress) -> Iterator[Named]:
    """Yield the tensors, and report progress after each."""
    if progress is None:
        yield from tensors
        return
    parts = list(sizes)
    done, total, left = 0, sum(parts), iter(parts)
    for given in tensors:
        yield given
        done += next(left, 0)  # skipped tensors count as well
        progress(done, total)


def _from_tens(
    path: Path, target: Path, write: _Write, wanted: NameFilter, options: Options, progress: _Progress
) -> Conversion:
    with TensFile(path) as file:
        fields = {owner: [f"{owner}.{own}" for own in names] for owner, names in file.record_fields.items()}
        wanted = wanted.with_fields(fields)
        names = wanted.among(list(file), {}, file.losses)
        lost: list[Loss] = []
        called = _called_before(file, names) if end_of(target) in PATHS else {}
        units = _units(file, names) if end_of(target) == ".tens" else dict.fromkeys(names, False)
        if options.keep_views:
            # Sources must precede their views.
            units = dict(sorted(units.items(), key=lambda unit: file._directory.has_view(unit[0])))

        def tensors() -> Iterator[Named]:
            for name, as_records in units.items():
                read: list[tuple[object, Mapping[str, Any]]] = []
                with leaving_out(name, options, lost):
                    whole = _whole_records(file, name) if as_records else _whole(file, name)
                    if options.keep_views and file._directory.has_view(name):
                        whole = _KeptView(whole, file._as_origin().home)
                    read.append((whole, {} if as_records else file.tensor_metadata(name)))
                for tensor, said in read:
                    now = called.get(name, name)
                    if now not in (name, said.get(TRUE_NAME)):
                        lost.append(Loss(f"the name {name!r}, written as {now!r}", name, "name"))
                    elif now != name:
                        said = {key: own for key, own in said.items() if key != TRUE_NAME}  # noqa: PLW2901
                    yield now, tensor, said

        found = ((file.records if own else file.__getitem__)(name) for name, own in units.items())
        sizes = (own.nbytes for own in found) if options.strict else [1] * len(units)
        done = write(_with_progress(tensors(), sizes, progress), file.metadata, options)
        return attrs.evolve(done, lost=(*wanted.told(file.losses), *lost, *done.lost))


def _units(file: TensFile, names: Sequence[str]) -> dict[str, bool]:
    """Return the tensors to write; records count as a unit if all of their fields are selected."""
    wanted = set(names)
    owners: dict[str, str] = {}
    for owner, fields in file._directory.records.items():
        dotted = [f"{owner}.{field}" for field in fields]
        if wanted.issuperset(dotted):
            owners.update(dict.fromkeys(dotted, owner))
    return {owners.get(name, name): name in owners for name in names}


def _called_before(file: TensFile, names: Iterable[str]) -> dict[str, str]:
    """Return the original names of the tensors in a `.tens` file, for formats with paths as names."""
    said: dict[str, Mapping[str, Any]] = {}
    for name in names:
        said[name] = {}
        # The error of damaged metadata is raised when the tensor is written.
        with suppress(TensorWrapperError):
            said[name] = file.tensor_metadata(name)
    return names_before(said)


def _whole(file: TensFile, name: str) -> object:
    """Return a tensor to write in runs of rows. A view is computed first."""
    if file._directory.has_view(name):
        return file[name]
    parts = file._parts(name)
    return parts[0] if len(parts) == 1 else file[name]


def _whole_records(file: TensFile, name: str) -> object:
    """Return records whose fields are read in runs of rows."""
    from tensorwrapper.fields import records  # noqa: PLC0415 - few files have records

    found = file.records(name)
    return records({own: _whole(file, f"{name}.{own}") for own in found.names}, shape=found.shape)


def _from_foreign(
    found: Recognised,
    path: Path,
    target: Path,
    write: _Write,
    wanted: NameFilter,
    options: Options,
    progress: _Progress,
) -> Conversion:
    with path.open("rb") if path.is_file() else nullcontext() as stream:
        if found.kind in ("npz", "wirecell") and stream is not None and stream.read(2) == b"PK":
            # Reading verifies the checksums of compressed members.
            check_members(path)
    contents = read_as(found.kind, path, Opening(note=found.note))
    with ArrayFile(path, contents) as file:
        names = wanted.among(list(file), file.aliases, file.losses)
        called = tens_names(names) if end_of(target) == ".tens" else dict(zip(names, names, strict=True))
        lost: list[Loss] = []

        def tensors() -> Iterator[Named]:
            for name in names:
                read: list[Named] = []
                with leaving_out(name, options, lost):
                    read.append((called[name], file[name], _metadata_of(file, name, options)))
                for _, tensor, said in read:
                    yield called[name], tensor, _with_name(name, called[name], said, lost)

        done = write(_with_progress(tensors(), [1] * len(names), progress), file.metadata, options)
        others = [
            Loss(f"the name {alias!r}, which also leads to {name!r}", alias, "link")
            for alias, name in file.aliases.items()
            if name in called
        ]
        said = [*contents.unsaid(), *unsaid_attributes(contents.attributes())]
        return attrs.evolve(done, lost=(*wanted.told([*file.losses, *said]), *others, *lost, *done.lost))


def _metadata_of(file: ArrayFile, name: str, options: Options) -> Mapping[str, Any]:
    """Return the metadata of a tensor. Damaged metadata become a loss, and the elements stay readable."""
    try:
        return file.tensor_metadata(name)
    except DataFileError:
        if options.strict:
            raise
        return {}


def _with_name(name: str, called: str, said: Mapping[str, Any], lost: list[Loss]) -> Mapping[str, Any]:
    """Return the metadata of a tensor, with its original name if it is written under another."""
    if name == called:
        return said
    lost.append(Loss(f"the name {name!r}, written as {called!r}", name, "name"))
    # JSON cannot represent a name with a lone surrogate.
    is_text = name == name.encode("utf-8", "replace").decode()
    return {**said, TRUE_NAME: name} if is_text and TRUE_NAME not in said else said


def _to_tens(
    path: Path, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    names: list[str] = []
    lost: list[Loss] = []
    nbytes = 0
    with TensFile(path, "w", metadata=metadata) as file:
        for name, given, said in tensors:
            with leaving_out(name, options, lost):
                try:
                    kept = isinstance(given, _KeptView)
                    own = given.view if isinstance(given, _KeptView) else given
                    whole: Any = own if kept or is_records(own) else as_tensor(own)
                    file._moved = (given.home, set(names)) if isinstance(given, _KeptView) else (None, ())
                    # Allow the nesting depth of the source.
                    file.append(
                        name,
                        whole,
                        metadata=said or None,
                        metadata_depth=DEFAULT_LIMITS.depth,
                        keep_view=kept,
                    )
                except DataFileError:
                    raise
                except TensorWrapperError as error:
                    raise ConversionError(f"{name!r} cannot be written to {path}: {error}") from error
                names += [f"{name}.{own}" for own in whole.names] if is_records(whole) else [name]
                nbytes += whole.nbytes
    return Conversion(tuple(names), nbytes, tuple(lost))


_WRITE: Final[Mapping[str, Callable[[Path, Iterator[Named], Mapping[str, Any], Options], Conversion]]] = {
    ".tens": _to_tens,
    **{end: kind.write for end, kind in KINDS.items()},
}
