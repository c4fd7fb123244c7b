"""`convert`: tensors from one kind of file into another, a run of rows at a time."""

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, final

from tensorwrapper._json import dump_json
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError, DataFileError, DataFileExistsError, TensorWrapperError
from tensorwrapper.store._file import TensFile
from tensorwrapper.store.foreign._array_file import ONE
from tensorwrapper.store.foreign._npy import read_npy, read_npz, write_npy, write_npz
from tensorwrapper.store.foreign._safetensors import read_safetensors, write_safetensors
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.wire import DEFAULT_LIMITS

__all__ = ["Conversion", "convert"]

_Tensors: TypeAlias = Iterator[tuple[str, object, Mapping[str, Any]]]
"""Names, tensors, and what is said of each."""


@final
@frozen
class Conversion:
    """What was written, and what the kind of file that was written to cannot say."""

    names: tuple[str, ...]
    """The tensors, in the order in which they were read."""
    nbytes: int
    """The bytes of their elements."""
    lost: tuple[str, ...]
    """What was there and is not any more, a sentence each."""


def convert(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, overwrite: bool = False
) -> Conversion:
    """Write the tensors of one file to another; the ends of the names say which kinds they are.

    Kinds are ``.tens``, ``.npy`` (one tensor, which is called ``array``), ``.npz`` and ``.safetensors``.
    Elements are read from the mapped file a run of rows at a time, so that the memory needed does not grow
    with the files; members of a compressed archive are read as a whole. `target` appears when all is written.

    Parameters
    ----------
    source, target
        The files.
    overwrite
        Whether a file at `target` may be replaced; its permissions stay.

    Raises
    ------
    ConversionError
        If a kind is not known, or that of `target` cannot hold a tensor that is there.
    DataFileExistsError
        If there is a file at `target`, and it may not be replaced.
    DataFileError
        If a file is missing, damaged, or cannot be written.

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
    first, second = Path(source), Path(target)
    read, write = _READ.get(first.suffix.lower()), _WRITE.get(second.suffix.lower())
    if read is None or write is None:
        unknown = first if read is None else second
        raise ConversionError(f"{unknown} is of no kind that is known: {', '.join(_READ)}")
    if not overwrite and os.path.lexists(second):
        raise DataFileExistsError(errno.EEXIST, f"{second} is there already; overwrite=True replaces it")
    return read(first, partial(write, second))


_Write: TypeAlias = Callable[[_Tensors, Mapping[str, Any]], Conversion]


def _from_tens(path: Path, write: _Write) -> Conversion:
    with TensFile(path) as file:
        return write(((name, _whole(file, name), file.tensor_metadata(name)) for name in file), file.metadata)


def _whole(file: TensFile, name: str) -> object:
    """Return what is written in runs of rows: a view would be computed before."""
    parts = file._parts(name)
    return parts[0] if len(parts) == 1 else file[name]


def _from_npy(path: Path, write: _Write) -> Conversion:
    return write(((name, array, {}) for name, array in [(ONE, read_npy(path))]), {})


def _from_npz(path: Path, write: _Write) -> Conversion:
    return write(((name, array, {}) for name, array in read_npz(path)), {})


def _from_safetensors(path: Path, write: _Write) -> Conversion:
    arrays, metadata = read_safetensors(path)
    return write(((name, array, {}) for name, (_, array) in arrays.items()), metadata)


def _to_tens(path: Path, tensors: _Tensors, metadata: Mapping[str, Any]) -> Conversion:
    names: list[str] = []
    nbytes = 0
    with TensFile(path, "w", metadata=metadata) as file:
        for name, given, said in tensors:
            try:
                tensor = as_tensor(given)
                # As deep as it was read.
                file.append(name, tensor, metadata=said or None, metadata_depth=DEFAULT_LIMITS.depth)
            except DataFileError:
                raise
            except TensorWrapperError as error:
                raise ConversionError(f"{name!r} cannot be written to {path}: {error}") from error
            names.append(name)
            nbytes += tensor.nbytes
    return Conversion(tuple(names), nbytes, ())


def _dense(tensors: _Tensors, path: Path, lost: list[str]) -> Iterator[tuple[str, Tensor[Any]]]:
    """Yield tensors that are boxes from zero on, which is all that the other kinds of file can say."""
    for name, given, said in tensors:
        try:
            tensor = as_tensor(given)
        except TensorWrapperError as error:
            raise ConversionError(f"{name!r} cannot be written to {path}: {error}") from error
        fill = " and is sparse" if tensor.is_sparse else ""
        if not tensor.shape.is_box or fill or any(tensor.shape.origin):
            raise ConversionError(
                f"{name!r} has the shape {tensor.shape}{fill}; {path.suffix} holds dense boxes from zero on"
            )
        # Strings have no element type of a fixed size, and NumPy's files forget those of ml_dtypes.
        if holds_strings(tensor.dtype) or (
            path.suffix != ".safetensors" and tensor.dtype.type.__module__ != "numpy"
        ):
            raise ConversionError(f"{name!r} has elements {tensor.dtype}, which {path.suffix} cannot name")
        if any(tensor.shape.names):
            lost.append(f"the names of the modes of {name!r}")
        if said:
            lost.append(f"the metadata of {name!r}")
        yield name, tensor


def _to_npy(path: Path, tensors: _Tensors, metadata: Mapping[str, Any]) -> Conversion:
    lost = _said(metadata)
    found = list(_dense(tensors, path, lost))
    if len(found) != 1:
        raise ConversionError(f"{path} holds one tensor, not {len(found)}")
    ((name, tensor),) = found
    write_npy(path, tensor)
    lost += [] if name == ONE else [f"the name {name!r}"]
    return Conversion((name,), tensor.nbytes, tuple(lost))


def _to_npz(path: Path, tensors: _Tensors, metadata: Mapping[str, Any]) -> Conversion:
    lost = _said(metadata)
    done: list[tuple[str, int]] = []

    def noted() -> Iterator[tuple[str, Tensor[Any]]]:
        for name, tensor in _dense(tensors, path, lost):
            done.append((name, tensor.nbytes))
            yield name, tensor

    write_npz(path, noted())
    return Conversion(tuple([name for name, _ in done]), sum([n for _, n in done]), tuple(lost))


def _to_safetensors(path: Path, tensors: _Tensors, metadata: Mapping[str, Any]) -> Conversion:
    other = [key for key, value in metadata.items() if not isinstance(value, str)]
    lost = [f"the type of the metadata {key!r}, written as text" for key in other]
    found = list(_dense(tensors, path, lost))
    texts = {key: dump_json(value) if key in other else str(value) for key, value in metadata.items()}
    write_safetensors(path, found, texts)
    return Conversion(tuple([name for name, _ in found]), sum([t.nbytes for _, t in found]), tuple(lost))


def _said(metadata: Mapping[str, Any]) -> list[str]:
    return [f"the metadata {key!r}" for key in metadata]


_READ: Final[Mapping[str, Callable[[Path, _Write], Conversion]]] = {
    ".tens": _from_tens,
    ".npy": _from_npy,
    ".npz": _from_npz,
    ".safetensors": _from_safetensors,
}
_WRITE: Final[Mapping[str, Callable[[Path, _Tensors, Mapping[str, Any]], Conversion]]] = {
    ".tens": _to_tens,
    ".npy": _to_npy,
    ".npz": _to_npz,
    ".safetensors": _to_safetensors,
}
