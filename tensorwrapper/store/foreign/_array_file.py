"""`ArrayFile`: a file of NumPy or of safetensors as a mapping from names to tensors."""

import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, TensorNameError, TensorWrapperError
from tensorwrapper.store.foreign._npy import compressed_member, is_stored, mapped_array, members_of, span_of
from tensorwrapper.store.foreign._safetensors import read_safetensors
from tensorwrapper.store.records._entry import Entry
from tensorwrapper.store.system._map import FileMap, map_file
from tensorwrapper.store.system._system import of_stranger, reading
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Array
from tensorwrapper.wire import Limits

if TYPE_CHECKING:
    from tensorwrapper.selection import View
    from tensorwrapper.store.foreign._member import Member

__all__ = ["ONE", "ArrayFile", "is_array_file"]

ONE: Final = "array"
"""The name of the array that a .npy file has: the format gives it none."""

_BATCH: Final = 2**20


@final
@frozen
class _Held:
    """What a file has under one name."""

    start: int
    """Where it begins in the file."""
    nbytes: int
    """The bytes that it takes there."""
    packing: str
    read: "Callable[[], Array | Member]"
    """Reads what is said about the array, and none of its elements."""


@final
class ArrayFile(Mapping[str, "Tensor[Any] | View[Any]"]):
    """An open ``.npy``, ``.npz`` or ``.safetensors`` file: a mapping from names to tensors, made by `open`.

    Nothing but names is read when it is opened. A tensor is a read-only view of the file in memory: what it
    is asked for is read, and nothing else (bools are all looked at). A member of a compressed archive is a
    `View`, whose elements are inflated when it is computed, up to the last that it needs. The one array of a
    ``.npy`` file is called ``array``.

    Tensors stay valid when the file is closed, and it needs not be closed: it holds nothing that others wait
    for. Check sums of archives are compared by `convert`, not here.
    """

    __slots__ = ("__weakref__", "_held", "_losses", "_metadata", "_path")

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        self._metadata: dict[str, Any] = {}
        self._losses: tuple[str, ...] = ()
        self._held: dict[str, _Held] | None = None
        self._held = _KINDS[path.suffix.lower()](self, limits)

    def _begin_npy(self, _limits: Limits) -> dict[str, _Held]:
        memory = self._mapped()
        return {ONE: _Held(0, len(memory), "dense", partial(mapped_array, memory, 0, len(memory)))}

    def _begin_npz(self, limits: Limits) -> dict[str, _Held]:
        memory = self._mapped()
        with of_stranger(self._path, ".npz"):
            infos = members_of(memory)
        arrays = [info for info in infos if info.filename.endswith(".npy")]
        others = [info.filename for info in infos if info not in arrays]
        self._losses = tuple([f"the archive holds {name!r}, which is no array" for name in others])
        held = {
            info.filename.removesuffix(".npy"): _Held(
                info.header_offset,
                info.compress_size,
                "dense" if is_stored(info) else "deflated",
                partial(_member, memory, info, limits.decompressed_bytes),
            )
            for info in arrays
        }
        if len(held) != len(arrays):
            raise DataFileError(f"{self._path} has a member twice")
        return held

    def _begin_safetensors(self, _limits: Limits) -> dict[str, _Held]:
        arrays, metadata = read_safetensors(self._path)
        self._metadata.update(metadata)
        return {
            name: _Held(start, own.nbytes, "dense", partial(_same, own))
            for name, (start, own) in arrays.items()
        }

    def _mapped(self) -> FileMap:
        with reading(self._path, self._path.suffix.lower()) as stream:
            return map_file(stream.fileno(), 0, self._path)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._path

    @property
    def mode(self) -> Literal["r"]:
        """How the file was opened: `convert` writes such files."""
        return "r"

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._held is None

    @property
    def metadata(self) -> dict[str, Any]:
        """What is said about the file as a whole, by safetensors alone; it may be changed freely."""
        return dict(self._metadata)

    @property
    def losses(self) -> tuple[str, ...]:
        """What the file holds and cannot be read as a tensor, a sentence each."""
        return self._losses

    def __getitem__(self, name: str) -> "Tensor[Any] | View[Any]":
        held = self._find(name)
        with of_stranger(self._path, self._path.suffix.lower()):
            found = held.read()
        try:
            if not isinstance(found, np.ndarray):
                from tensorwrapper.selection import as_view  # noqa: PLC0415 - only compressed members need views

                return as_view(found)
            _check_bools(found)
            found.flags.writeable = False
            return as_tensor(found)
        except TensorWrapperError as error:
            raise DataFileError(f"{self._path}: {name!r} cannot be read: {error}") from error

    def _find(self, name: str) -> _Held:
        if self._held is None:
            raise DataFileError(f"{self._path} is closed")
        held = self._held.get(name)
        if held is None:
            raise TensorNameError(f"{self._path} has no tensor {name!r}")
        return held

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._held or ()))

    def __len__(self) -> int:
        return len(self._held or ())

    def __contains__(self, name: object) -> bool:
        return name in (self._held or ())

    def __eq__(self, other: object) -> bool:
        # As a mapping it would compare tensors, which are not equal unless they are the same.
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def describe(self, name: str) -> Entry:
        """Return what is stored under a name, without its elements.

        Raises
        ------
        TensorNameError
            If there is no such tensor.
        DataFileError
            If what the file says of it is damaged.
        """
        held, tensor = self._find(name), self[name]
        return Entry(
            name, tensor.shape, str(tensor.dtype), held.packing, tensor.size, held.nbytes, 1, held.start
        )

    def tensor_metadata(self, name: str) -> Mapping[str, Any]:
        """Return what is said about a tensor: nothing, in these kinds of file."""
        self._find(name)
        return {}

    def close(self) -> None:
        """Give out no more tensors; those that are at hand stay valid."""
        self._held = None

    def __enter__(self) -> "ArrayFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{len(self)} tensors"
        return f"ArrayFile({str(self._path)!r}, {state})"


_KINDS: Final[Mapping[str, Callable[[ArrayFile, Limits], dict[str, _Held]]]] = {
    ".npy": ArrayFile._begin_npy,
    ".npz": ArrayFile._begin_npz,
    ".safetensors": ArrayFile._begin_safetensors,
}


def is_array_file(path: Path) -> bool:
    """Tell by the end of its name whether a file is one of NumPy or of safetensors."""
    return path.suffix.lower() in _KINDS


def _member(memory: FileMap, info: zipfile.ZipInfo, most: int) -> "Array | Member":
    if is_stored(info):
        return mapped_array(memory, *span_of(memory, info))
    return compressed_member(memory, info, most)


def _same(array: Array) -> Array:
    return array


def _check_bools(array: Array) -> None:
    if array.dtype.kind != "b" or not array.size:
        return
    # A byte other than 0 or 1 would be a third truth value.
    raw = array.reshape(-1, order="A").view(np.uint8)
    for start in range(0, len(raw), _BATCH):
        if int(raw[start : start + _BATCH].max()) > 1:
            raise DataFileError("a bool is neither 0 nor 1")
