"""`ArrayFile`: a file in another format, as a mapping from names to tensors."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, SupportsIndex, cast, final, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import are_truths
from tensorwrapper._error_text import counted, shortened, type_text
from tensorwrapper._json import Json
from tensorwrapper.errors import (
    DataFileError,
    OutOfBoundsError,
    ParseError,
    TensorNameError,
    TensorWrapperError,
    VersionChangedError,
)
from tensorwrapper.store.formats._contents import Contents, Held
from tensorwrapper.store.records._entry import Entry
from tensorwrapper.store.records._loss import Loss, loss_in
from tensorwrapper.store.records._origin import (
    FileOrigin,
    remember,
    remember_elements,
    stat_of,
    version_of_path,
)
from tensorwrapper.store.records._taking import take_rows, to_rows
from tensorwrapper.store.system._system import of_stranger
from tensorwrapper.store.system._viewed import Viewable
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Array
from tensorwrapper.wirecell import TensorSet

if TYPE_CHECKING:
    from tensorwrapper.fields import Records
    from tensorwrapper.selection import View
    from tensorwrapper.store.ranges._ranges import Ranges

_NO_SERVER: Final = nullcontext()


@final
class ArrayFile(Viewable, Mapping[str, "Tensor[Any] | View[Any]"]):
    """An open file in a format other than `.tens`: a mapping from names to tensors, created by `open`.

    Opening reads only names. A dataset stored as in memory becomes a tensor, a read-only view of the mapped
    file that reads only the accessed elements. (All bools are checked.) Chunked datasets, rows, and
    compressed archives become a `View`, which reads the needed parts on `compute`. The single array of a
    ``.npy`` file is named ``array``. A dataset in groups of HDF5 or Zarr is named by its path.

    Tensors and views stay valid after the file is closed. Closing is optional, as the file holds no locks.
    Only HDF5 refuses writers until the file is closed and its views are deleted. `convert` verifies checksums
    of archives; reading does not.

    For a tensor file of Wire-Cell, `sets` returns its tensor sets. Opening a file that is compressed as a
    whole decompresses it to an unnamed temporary file.
    """

    __slots__ = (
        "__weakref__",
        "_contents",
        "_is_far",
        "_options",
        "_origin",
        "_path",
        "_ranges",
        "_status",
        "_version",
        "_where",
    )

    def __init__(
        self,
        path: Path,
        contents: Contents,
        ranges: "Ranges | None" = None,
        *,
        options: Mapping[str, Json] | None = None,
        is_far: bool = False,
        status: "os.stat_result | None" = None,
    ) -> None:
        self._path = path
        # Status of the file on opening; without it, accessing a tensor asks the system.
        self._status = status
        self._is_far = is_far or ranges is not None
        self._where = path if self._is_far else path.absolute()
        self._ranges = ranges
        self._contents: Contents | None = contents
        self._options = options or {}
        self._origin: FileOrigin | None = None
        self._version = ""

    @property
    def path(self) -> Path:
        """Path of the file; for a file at an address only its name."""
        return self._path

    @property
    def ranges(self) -> "Ranges | None":
        """Byte ranges of a file without a path, with their counters; None for a path."""
        return self._ranges

    @property
    def mode(self) -> Literal["r"]:
        """Mode of the open file. Only `convert` writes such files."""
        return "r"

    @property
    def closed(self) -> bool:
        """True if `close` was called."""
        return self._contents is None

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata of the file, if the format supports it.

        Damaged metadata are omitted and listed in `losses`.
        """
        said: Mapping[str, Any] = self._contents.metadata if self._contents else {}
        found: dict[str, Any] = {}
        for key in said:
            with suppress(DataFileError):
                found[key] = said[key]
        return found

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Contents that cannot be read as tensors, each with a sentence, a name and a code."""
        if not self._contents:
            return ()
        with self._unbroken():
            return (*self._contents.losses, *self._contents.told())

    @property
    def aliases(self) -> Mapping[str, str]:
        """Other names of tensors in the file, such as links, each with the listed name."""
        return dict(self._contents.aliases) if self._contents else {}

    def __getitem__(self, name: str) -> "Tensor[Any] | View[Any]":
        found = self._read(name)
        origin = self._origin or self._as_origin()
        if origin is None:
            return found
        if isinstance(found, Tensor):
            remember_elements(found.buffer.owner, origin, name, found.layout, None)
        else:
            remember(found, origin, name)
        return found

    def _as_origin(self) -> FileOrigin | None:
        """Return the file origin that is attached to tensors; None for a file without a path."""
        if self._is_far:
            return None
        status = self._status
        if status is None:
            try:
                status = self._where.stat()
            except OSError:
                return None
        self._origin = FileOrigin(str(self._where), stat_of(status, of_ours=False), None, self._options)
        return self._origin

    def _as_source(self, name: str, through: object) -> "tuple[Tensor[Any] | View[Any], str]":  # noqa: ARG002
        """Return a tensor, or a view, and the version of the file."""
        if not self._version:
            self._version = version_of_path(str(self._where))
        return self[name], self._version

    def _problem_of(self, name: str, through: object) -> str:  # noqa: ARG002
        """Return an empty string, because views of such files have no sources."""
        return ""

    def _read(self, name: str) -> "Tensor[Any] | View[Any]":
        held = self._find(name)
        try:
            if self._ranges is None:
                found = held.read()
            else:
                with self._ranges.unbroken():
                    found = held.read()
        except Exception as error:  # noqa: BLE001 - the readers of other libraries raise anything
            self._refuse(name, error)
        try:
            if not isinstance(found, np.ndarray):
                if isinstance(found, Tensor):
                    return cast("Tensor[Any]", found)
                from tensorwrapper.selection import View, as_view  # noqa: PLC0415 - mapped files need no views

                return cast("View[Any]", found) if isinstance(found, View) else as_view(cast("Any", found))
            array = cast("Array", found)
            if array.dtype.kind == "b" and not are_truths(array):
                raise DataFileError("a bool is neither 0 nor 1")
            array.flags.writeable = False
            return as_tensor(array)
        except TensorWrapperError as error:
            raise DataFileError(f"{self._path}: {name!r} cannot be read: {error}") from error

    def _refuse(self, name: str, error: Exception) -> NoReturn:
        """Raise the error of reading a tensor as one of this package."""
        with of_stranger(self._path, name=name):
            if not isinstance(error, TensorWrapperError) or isinstance(
                error, ParseError | VersionChangedError
            ):
                raise error
            if isinstance(error, DataFileError) and (
                isinstance(error, OSError) or loss_in(error) is not None or str(self._path) in str(error)
            ):
                raise error
            # The content is damaged, or valid and not a tensor.
            raise DataFileError(f"{self._path}: {name!r} cannot be read: {error}") from error

    def _unbroken(self) -> AbstractContextManager[None]:
        """Return a context in which a server failure is an error instead of a loss."""
        return _NO_SERVER if self._ranges is None else self._ranges.unbroken()

    def _find(self, name: str) -> Held:
        if self._contents is None:
            raise DataFileError(f"{self._path} is closed")
        found = self._contents.find(name)
        if found is None:
            raise TensorNameError(f"{self._path} has no tensor {name!r}{self._why_not(name)}")
        return self._contents.held[found]

    def _why_not(self, name: str) -> str:
        """Return the loss of a name, or of its part before a dot, as the end of a sentence."""
        said = [loss for loss in self.losses if loss.name and f"{name}.".startswith(f"{loss.name}.")]
        return f": {said[0]}" if said else ""

    @property
    def _names(self) -> Mapping[str, Held]:
        return self._contents.held if self._contents else {}

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._names))

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        if self._contents is None or not isinstance(name, str):
            return False
        return self._contents.find(name) is not None

    def __eq__(self, other: object) -> bool:
        # Mapping equality would compare tensors by identity.
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def describe(self, name: str) -> Entry:
        """Return the entry of a name, without reading elements.

        Raises
        ------
        TensorNameError
            If there is no such tensor.
        DataFileError
            If the description of the tensor is damaged.
        """
        held, tensor = self._find(name), self[name]
        nbytes = tensor.nbytes if held.nbytes is None else held.nbytes
        packing = held.packing if isinstance(held.packing, str) else held.packing()
        return Entry(
            name, tensor.shape, type_text(tensor.dtype), packing, tensor.size, nbytes, held.pieces, held.start
        )

    def tensor_metadata(self, name: str) -> Mapping[str, Any]:
        """Return the metadata of a tensor, if the format supports it."""
        return dict(self._find(name).metadata)

    def take(self, name: str, indices: "npt.ArrayLike") -> Tensor[Any]:
        """Return selected rows of a tensor, in the given order.

        For rows in a `.tens` file this reads two splits per row, whereas ``f[name]`` reads all splits.

        Parameters
        ----------
        name
            As in ``f[name]``.
        indices
            Row numbers: integers, counted from the end if negative, possibly repeated.

        Raises
        ------
        TensorNameError
            If there is no such tensor.
        OutOfBoundsError
            If there is no such row.
        DataFileError
            If the file is damaged, or closed.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import tensorwrapper as tw
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.tens"
        >>> tw.save(path, {"hits": tw.jagged([[5, 1], [], [7]])})
        >>> tw.open(path.read_bytes()).take("hits", [2, 0]).tolist()
        [[7], [5, 1]]
        """
        held, rows = self._find(name), to_rows(indices)
        if held.take is None:
            return take_rows(self[name], rows)
        with of_stranger(self._path, name=name):
            try:
                return held.take(rows)
            except OutOfBoundsError as error:
                refused = error
        raise refused

    def records(self, names: "str | Iterable[str] | None" = None, *, under: str | None = None) -> "Records":
        """Return tensors with the same rows as one `Records` value. A lazy tensor becomes a lazy field.

        Parameters
        ----------
        names
            Names of the tensors; None for all. For a `.tens` file also the name of stored records.
        under
            A group of HDF5 or Zarr whose tensors become fields, without the name of the group. Nested groups,
            such as the codes and categories of AnnData, are ignored.

        Raises
        ------
        TensorNameError
            If there is no tensor of a name, or the name is not valid for a field.
        ExtentMismatchError
            If the tensors have different rows.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.npz"
        >>> np.savez(path, run=[10, 20], xyz=np.zeros((2, 3)))
        >>> tw.open(path).records()[1:].to_dict()
        {'run': [20], 'xyz': [[0.0, 0.0, 0.0]]}
        """
        from tensorwrapper.fields import records  # noqa: PLC0415 - few files are asked for records

        stored: Mapping[str, tuple[str, ...]] = self._contents.stored if self._contents else {}
        if isinstance(names, str) and names in stored:
            return records({field: self[f"{names}.{field}"] for field in stored[names]})
        if isinstance(names, str):
            raise TensorNameError(f"only .tens files have named records; use f.records([{names!r}])")
        group = (under or "").strip("/")
        start = f"{group}/" if group else ""
        if names is None:
            names = [name.removeprefix(start) for name in self if name.startswith(start)]
            if under is not None:
                names = [name for name in names if "/" not in name]
                if not names:
                    raise TensorNameError(f"{self._path} has no tensors in the group {under!r}")
        return records({name: self[start + name] for name in names})

    def sets(self, prefix: str | None = None) -> Mapping[int, TensorSet]:
        """Return Wire-Cell's tensor sets by their numbers; empty for files without tensor sets.

        Accessing a set reads its metadata; its tensors are read lazily. Damaged metadata are omitted and
        listed in `losses`.

        Parameters
        ----------
        prefix
            Prefix of the member names, required if the file has several prefixes.

        Raises
        ------
        DataFileError
            If there are several prefixes and `prefix` is missing, or the file is closed.
        TensorNameError
            If there is no set with that prefix.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import tensorwrapper as tw
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "points.tar"
        >>> tw.save(path, {"tensor_7_0": [1.5, 2.5]}, metadata={"tensorset_7": {"run": 3}})
        >>> points = tw.open(path).sets()[7]
        >>> points, points.metadata, points.tensors[0].tolist()
        (TensorSet(7, 1 tensor), {'run': 3}, [1.5, 2.5])
        """
        if self._contents is None:
            raise DataFileError(f"{self._path} is closed")
        prefixes = sorted({own for own, _ in self._contents.sets})
        if prefix is None and len(prefixes) > 1:
            raise DataFileError(
                f"{self._path} has sets with several prefixes: {prefixes[:8]}; specify prefix="
            )
        if prefix is not None and prefix not in prefixes:
            raise TensorNameError(
                f"{self._path} has no sets with the prefix {prefix!r}; existing: {prefixes[:8]}"
            )
        return _Sets(self, self._contents, (prefixes or [""])[0] if prefix is None else prefix)

    def close(self) -> None:
        """Close the file; existing tensors and views stay valid."""
        self._contents = None

    def __enter__(self) -> "ArrayFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the path, and a table of the first tensors."""
        from tensorwrapper.store.records._picture import file_html  # noqa: PLC0415 - few are shown

        return file_html(shortened(repr(self)), *self._display_args())

    def __str__(self) -> str:
        from tensorwrapper.store.records._picture import file_text  # noqa: PLC0415 - few are shown

        return file_text(repr(self), *self._display_args())

    def _display_args(self) -> "tuple[Collection[str], Callable[[str], Entry] | None]":
        """Return the names, and `describe`; None for a file at an address, which would need requests."""
        return () if self.closed else self, None if self._is_far else self.describe

    def __repr__(self) -> str:
        state = "closed" if self.closed else counted(len(self), "tensor")
        return f"<ArrayFile {str(self._path)!r}, {state}>"


@final
class _Sets(Mapping[int, TensorSet]):
    """The sets of a file by number, created on access."""

    __slots__ = ("_contents", "_file", "_prefix")

    def __init__(self, file: ArrayFile, contents: Contents, prefix: str) -> None:
        self._file = file
        self._contents = contents
        self._prefix = prefix

    def __getitem__(self, ident: int) -> TensorSet:
        names = self._contents.sets[self._prefix, ident]
        said: list[Mapping[str, Any]] = [{} for _ in names]
        for own, name in zip(said, names, strict=True):
            with suppress(DataFileError):
                cast("dict[str, Any]", own).update(self._file.tensor_metadata(name))
        whole: Mapping[str, Any] | None = None
        with suppress(DataFileError):
            whole = self._contents.metadata.get(f"{self._prefix}tensorset_{ident}")
        return TensorSet(ident, _Tensors(self._file, names), said, whole)

    def __iter__(self) -> Iterator[int]:
        return iter([ident for prefix, ident in self._contents.sets if prefix == self._prefix])

    def __len__(self) -> int:
        return sum([prefix == self._prefix for prefix, _ in self._contents.sets])

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'tensor set')} of {self._file!r}>"


@final
class _Tensors(Sequence["Tensor[Any] | View[Any]"]):
    """Tensors of a file, read on access."""

    __slots__ = ("_file", "_names")

    def __init__(self, file: ArrayFile, names: tuple[str, ...]) -> None:
        self._file = file
        self._names = names

    @overload
    def __getitem__(self, key: SupportsIndex) -> "Tensor[Any] | View[Any]": ...
    @overload
    def __getitem__(self, key: slice) -> "_Tensors": ...
    def __getitem__(self, key: SupportsIndex | slice) -> "Tensor[Any] | View[Any] | _Tensors":
        if isinstance(key, slice):
            return _Tensors(self._file, self._names[key])
        return self._file[self._names[key]]

    def __len__(self) -> int:
        return len(self._names)
