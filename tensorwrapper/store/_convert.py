"""`convert`: tensors from one kind of file into another, a run of rows at a time."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import attrs

from tensorwrapper._lazy import naming_extras
from tensorwrapper._wording import shortened
from tensorwrapper.errors import ConversionError, DataFileError, DataFileExistsError, TensorWrapperError
from tensorwrapper.store._file import TensFile
from tensorwrapper.store.foreign._array_file import ArrayFile
from tensorwrapper.store.foreign._contents import Conversion, Named, Options
from tensorwrapper.store.foreign._kinds import GROUPED
from tensorwrapper.store.foreign._npy import ONE, read_npy, read_npz
from tensorwrapper.store.sets._kinds import KINDS, end_of, kind_of
from tensorwrapper.store.sets._read import check_members
from tensorwrapper.store.system._system import to_path
from tensorwrapper.tensor import as_tensor
from tensorwrapper.wire import DEFAULT_LIMITS

__all__ = ["convert"]


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Conversion:
    """Write the tensors of one file to another; the ends of the names say which kinds they are.

    Kinds are ``.tens``, ``.npy`` (one tensor, which is called ``array``), ``.npz``, ``.safetensors``, HDF5
    (``.h5``, ``.hdf5``), Parquet (``.parquet``), Feather (``.feather``, ``.arrow``), folders of Zarr 3
    (``.zarr``), and Wire-Cell's tensor files (``.tar``, ``.tar.gz``, ``.tgz``, ``.tar.bz2``, ``.tbz2``,
    ``.zip``, and ``.npz`` of tensors that are called as there). Tensors of other names are set 0 of a tensor
    file, with their names as paths.
    Elements are read from the mapped file a run of rows at a time, so that the memory needed does not grow
    with the files; what lies in chunks, or in a compressed archive, is read as a whole into a ``.tens`` file.
    `target` appears when all is written.

    Parameters
    ----------
    source, target
        The files.
    overwrite
        Whether a file at `target` may be replaced; its permissions stay.
    progress
        Called after each tensor with how much is written and how much there is: in bytes of elements, or in
        tensors if they come from another file than ``.tens``.

    Raises
    ------
    ConversionError
        If a kind is not known, or that of `target` cannot hold a tensor that is there.
    DataFileExistsError
        If there is a file at `target`, and it may not be replaced.
    DataFileError
        If a file is missing, damaged, or cannot be written.
    ModuleNotFoundError
        If what reads or writes such a file is not installed; it says what brings it.

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
    read, write = _READ.get(end_of(first)), _WRITE.get(end_of(second))
    if read is None or write is None:
        unknown = first if read is None else second
        raise ConversionError(f"{shortened(str(unknown))} is of no kind that is known: {', '.join(_READ)}")
    if not overwrite and os.path.lexists(second):
        raise DataFileExistsError(errno.EEXIST, f"{second} is there already; overwrite=True replaces it")
    with naming_extras():
        return read(first, partial(write, second), progress)


_Write: TypeAlias = Callable[[Iterator[Named], Mapping[str, Any], Options], Conversion]
_Progress: TypeAlias = Callable[[int, int], object] | None


def _told(tensors: Iterator[Named], sizes: Iterable[int], progress: _Progress) -> Iterator[Named]:
    """Pass tensors on, and tell after each how much is done."""
    if progress is None:
        yield from tensors
        return
    parts = list(sizes)
    done, total, left = 0, sum(parts), iter(parts)
    for given in tensors:
        yield given
        done += next(left, 0)  # an archive may hold more than it lists
        progress(done, total)


def _from_tens(path: Path, write: _Write, progress: _Progress) -> Conversion:
    with TensFile(path) as file:
        tensors = ((name, _whole(file, name), file.tensor_metadata(name)) for name in file)
        sizes = (file[name].nbytes for name in file)
        return write(_told(tensors, sizes, progress), file.metadata, Options())


def _whole(file: TensFile, name: str) -> object:
    """Return what is written in runs of rows: a view would be computed before."""
    parts = file._parts(name)
    return parts[0] if len(parts) == 1 else file[name]


def _from_npy(path: Path, write: _Write, progress: _Progress) -> Conversion:
    tensors: Iterator[Named] = ((name, array, {}) for name, array in [(ONE, read_npy(path))])
    return write(_told(tensors, [1], progress), {}, Options())


def _from_npz(path: Path, write: _Write, progress: _Progress) -> Conversion:
    contents = kind_of(path).read(path, DEFAULT_LIMITS)
    if contents.sets:
        return _from_zip(path, write, progress)
    # Not as it is opened: here check sums are compared.
    tensors: Iterator[Named] = ((name, array, {}) for name, array in read_npz(path))
    return write(_told(tensors, [1] * len(contents.held), progress), {}, Options())


def _from_zip(path: Path, write: _Write, progress: _Progress) -> Conversion:
    # What is deflated is compared as it is read.
    check_members(path)
    return _from_foreign(path, write, progress)


def _from_foreign(path: Path, write: _Write, progress: _Progress) -> Conversion:
    with ArrayFile(path, kind_of(path).read(path, DEFAULT_LIMITS)) as file:
        options = Options(names_are_paths=path.suffix.lower() in GROUPED)
        tensors = ((name, file[name], file.tensor_metadata(name)) for name in file)
        done = write(_told(tensors, [1] * len(file), progress), file.metadata, options)
        return attrs.evolve(done, lost=(*file.losses, *done.lost))


def _to_tens(
    path: Path, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    names: list[str] = []
    lost: list[str] = []
    nbytes = 0
    with TensFile(path, "w", metadata=metadata) as file:
        for given_name, given, said in tensors:
            # A name is no path here.
            name = given_name.replace("/", ".") if options.names_are_paths else given_name
            if name != given_name:
                lost.append(f"the groups of {given_name!r}, written as {name!r}")
            try:
                tensor = as_tensor(given)
                # As deep as it was read.
                file.append(name, tensor, metadata=said or None, metadata_depth=DEFAULT_LIMITS.depth)
            except DataFileError:
                raise
            except TensorWrapperError as error:
                raise ConversionError(f"{given_name!r} cannot be written to {path}: {error}") from error
            names.append(name)
            nbytes += tensor.nbytes
    return Conversion(tuple(names), nbytes, tuple(lost))


_READ: Final[Mapping[str, Callable[[Path, _Write, _Progress], Conversion]]] = {
    ".tens": _from_tens,
    **dict.fromkeys(KINDS, _from_foreign),
    ".npy": _from_npy,
    ".npz": _from_npz,
    ".zip": _from_zip,
}
_WRITE: Final[Mapping[str, Callable[[Path, Iterator[Named], Mapping[str, Any], Options], Conversion]]] = {
    ".tens": _to_tens,
    **{end: kind.write for end, kind in KINDS.items()},
}
