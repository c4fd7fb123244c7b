"""Lazy arrays of other libraries as sources: of h5py, Zarr, Dask, TensorStore, xarray, and similar ones.

Each is read by its fastest interface. TensorStore and Dask take outer selections and write them in place;
Zarr takes them and answers in blocks; all others are read by slices. Positions within a chunk, or within a
page where there are no chunks, are read in one slice and picked here: the array reads as much from its file
anyway.
"""

import contextlib
import importlib
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard, cast, final

import attrs
import numpy as np

from tensorwrapper._boxes import cut_box
from tensorwrapper._value_class import frozen, value_class
from tensorwrapper.buffer.lowlevel import check_dtype, check_write, convert_elements, write_elements
from tensorwrapper.errors import ConversionError, DataFileError, DTypeError, VersionChangedError
from tensorwrapper.selection.sources._read_source import boxes_of
from tensorwrapper.selection.sources._runs import (
    Outer,
    Positions,
    Run,
    Runs,
    Wanted,
    count_chunks,
    key_of,
    part_of,
    runs_of,
)
from tensorwrapper.selection.sources._source import Ability, Finished, ReadHandle
from tensorwrapper.shape import Shape
from tensorwrapper.tensor.lowlevel import labelled_shape, reading_lazily
from tensorwrapper.typing import Array, Extents, IntArray

_Box: TypeAlias = "tuple[slice, ...]"


def _cell_numbers(indices: tuple[IntArray, ...], cells: Extents) -> IntArray:
    """Return a number for the cell of each point; equal where the cells are."""
    grid = [own // cell for own, cell in zip(indices, cells, strict=True)]
    counts = [int(own.max(initial=0)) + 1 for own in grid]
    found: IntArray = np.zeros(len(indices[0]), dtype=np.int64)
    for own, count in zip(grid, counts, strict=True):
        # Only which are alike counts, so that no product of extents can be too great.
        found = np.unique(found * count + own, return_inverse=True)[1]
    return found


def count_cells(indices: tuple[IntArray, ...], cells: Extents) -> int:
    """Return how many cells of a grid have any of these points."""
    return int(_cell_numbers(indices, cells).max(initial=-1)) + 1


def read_cells(
    indices: tuple[IntArray, ...], cells: Extents, read: Callable[[_Box], Array], target: Array
) -> None:
    """Read points into an array of rank 1: the box around those of each cell at once, and pick them there.

    O(points log points), and a read for each cell.
    """
    numbers = _cell_numbers(indices, cells)
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers))
    for start, stop in zip((ends - np.diff(ends, prepend=0)).tolist(), ends.tolist(), strict=True):
        own = order[start:stop]
        points = [mode[own] for mode in indices]
        lows = [int(mode.min()) for mode in points]
        highs = [int(mode.max()) + 1 for mode in points]
        found = read(tuple([slice(a, b) for a, b in zip(lows, highs, strict=True)]))
        target[own] = found[tuple([mode - low for mode, low in zip(points, lows, strict=True)])]


_PAUSE = 0.05  # seconds
_BLOCK = 1 << 24  # bytes to request at a time: the answer is copied to its place
_ABLE: "frozenset[Ability]" = frozenset(("runs", "threads"))
_WRITABLE: "frozenset[Ability]" = frozenset(("write",))
_CASTING: "frozenset[Ability]" = frozenset(("casts",))
_PAGE = 4096  # bytes that a file reads at least


class LazyArray(Protocol):
    """An array with lazy elements: a shape, a type, and slices."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each mode."""
        ...

    @property
    def dtype(self) -> object:
        """The type of the elements, which NumPy knows."""
        ...

    def __getitem__(self, key: tuple[slice, ...], /) -> object:
        """Return the elements of a tuple of slices, as NumPy does."""
        ...


# Objects with these are in memory: they are shared, not read. Indexing by label ("iloc") is not slicing.
_IN_MEMORY = (
    "__array_interface__",
    "__dlpack__",
    "__arrow_c_array__",
    "__buffer__",
    "iloc",
    "isna",
    "tocoo",
    "todense",
)


def is_lazy(value: object) -> TypeGuard[LazyArray]:
    """Return True if a value is a lazy array of another library; O(1).

    Raises
    ------
    ConversionError
        If it is an array of Dask that does not know its extents.
    DataFileError
        If it is one of h5py whose file was closed.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from tensorwrapper import selection as sel
    >>> sel.is_lazy(da.ones(3)), sel.is_lazy(np.ones(3))
    (True, False)
    """
    kind = type(value)
    if kind.__module__ == "builtins" or any(hasattr(kind, name) for name in _IN_MEMORY):
        return False
    _check_open(value)
    shape = getattr(value, "shape", None)
    if not isinstance(shape, tuple) or not hasattr(kind, "__getitem__"):
        return False
    extents = cast("tuple[object, ...]", shape)
    if hasattr(value, "__dask_graph__") and any(extent != extent for extent in extents):  # noqa: PLR0124 - NaN
        raise ConversionError(
            f"an array of Dask of extents {extents} does not know its own length: compute_chunk_sizes() "
            "finds out, and computes for it"
        )
    return all(type(extent) is int for extent in extents) and _dtype_of(value) is not None


def _check_elements(array: LazyArray) -> None:
    """Raise if slices of an array are not arrays of its type: a view of it could never be computed."""
    where = type(array).__module__.partition(".")[0]
    held: object = getattr(getattr(array, "variable", array), "_data", array)
    blocks: object = getattr(held, "_meta", held)
    if any(hasattr(blocks, name) for name in ("tocoo", "todense")):
        raise ConversionError(
            f"an array of {where} of sparse blocks ({type(blocks).__name__}) makes no view: "
            "as_tensor() of it is a sparse tensor, whose views are computed"
        )
    if isinstance(blocks, np.ma.MaskedArray) and held is not array:
        raise ConversionError(
            f"an array of {where} of masked blocks makes no view, as their masks would be lost: as_tensor() "
            "of it has nulls, and views of that are computed"
        )
    if hasattr(array, "to_memory") and hasattr(array, "format"):
        raise ConversionError(
            f"an array of {where} is sparse, and makes no view: as_tensor(array.to_memory()) is a sparse "
            "tensor, whose views are computed"
        )
    attributes: Any = getattr(array, "ncattrs", None)
    said: list[str] = attributes() if attributes is not None and getattr(array, "scale", False) else []
    packed = [name for name in ("scale_factor", "add_offset", "_Unsigned") if name in said]
    if packed:
        raise ConversionError(
            f"a variable of {where} that says {', '.join(packed)} makes no view, as it gives numbers of "
            "another type: as_tensor() reads them; after set_auto_scale(False) a view has the stored values"
        )
    if getattr(array, "_isvlen", False):
        raise ConversionError(
            f"a variable of {where} of rows of any lengths makes no view: jagged() of it reads them all"
        )


def _by_place(array: object) -> Any:  # noqa: ANN401 - of another library
    """Return an object to index by position: xarray's arrays go by names, of which two may be equal."""
    variable = getattr(array, "variable", None)
    return variable if variable is not None and hasattr(array, "isel") else array


def _is_closed(array: object) -> bool:
    """Return True if an array of h5py is one of a file that was closed."""
    return type(array).__module__.startswith("h5py.") and not array


def _check_open(array: object) -> None:
    if _is_closed(array):
        raise DataFileError(
            f"{array!r} is of a file that was closed: open it, and keep it open while it is read"
        )


def _dtype_of(array: object) -> "np.dtype[Any] | None":
    try:
        given = getattr(array, "dtype", None)
    except TypeError as error:
        # Not its own text, which has the type.
        where = type(array).__module__.partition(".")[0]
        raise DTypeError(
            f"a {type(array).__name__} of {where} has elements of a type that NumPy has not ({error}): "
            "tw.open(path) of HDF5 reads integers of 3, 5, 6 and 7 bytes, and tells others in `losses`"
        ) from error
    # TensorStore's types have NumPy's beside them.
    found: object = getattr(given, "numpy_dtype", given)
    dtype: np.dtype[Any] | None = cast("Any", found) if isinstance(found, np.dtype) else None
    return dtype


@final
@value_class(eq=False, repr=False)
class ArraySource:
    """A lazy array of another library, read on request; equal if it is the same array.

    Parameters
    ----------
    array
        Anything with a shape, a NumPy dtype and slices whose elements are not in memory yet: a dataset of
        h5py, an array of Zarr, Dask or xarray, a TensorStore.

    Raises
    ------
    DTypeError
        If tensors cannot hold such elements.
    ConversionError
        If its slices are sparse, or rows: the text names a function that reads it.

    Examples
    --------
    >>> import dask.array as da
    >>> from tensorwrapper import selection as sel
    >>> view = sel.as_view(da.arange(12, chunks=5).reshape(3, 4))
    >>> view[1].plan().bytes_read, view[1].compute().tolist()
    (32, [4, 5, 6, 7])
    """

    array: LazyArray
    shape: Shape = attrs.field(init=False)
    """The indices of the array: those of a TensorStore's domain, and of the labels of xarray."""
    dtype: "np.dtype[Any]" = attrs.field(init=False)
    """The type of the elements."""

    if TYPE_CHECKING:

        def __init__(self, array: LazyArray) -> None: ...

    def __attrs_post_init__(self) -> None:
        _check_elements(self.array)
        dtype = cast("np.dtype[Any]", _dtype_of(self.array))
        try:
            check_dtype(dtype)
        except DTypeError as error:
            if not type(self.array).__module__.startswith(("h5py", "zarr")):
                raise
            raise DTypeError(
                f"{error}; as_tensor() reads the whole: text becomes strings, arrays of any length rows, and "
                "a structure has fields, dataset['field']"
            ) from error
        # h5py has the words of an enumeration beside the type; they are not part of the elements.
        object.__setattr__(
            self, "dtype", np.dtype(dtype.str) if dtype.metadata and dtype.kind in "biu" else dtype
        )
        shape = labelled_shape(self.array) or Shape(*self.array.shape)
        object.__setattr__(self, "shape", shape)

    @property
    def sides(self) -> "tuple[ArraySource, ArraySource] | None":
        """The values and the validity of a Dask array with masked chunks; None for any other array."""
        array: Any = self.array
        if not isinstance(getattr(array, "_meta", None), np.ma.MaskedArray):
            return None
        masked: Any = importlib.import_module("dask.array").ma
        values = masked.filled(array, 0)
        if not array.ndim:
            # A single masked element may be NumPy's constant, which is a float.
            values = values.map_blocks(np.asarray, array.dtype, dtype=array.dtype)
        return ArraySource(values), ArraySource(~masked.getmaskarray(array))

    @property
    def version(self) -> str:
        """Empty: these arrays do not report whether they were changed."""
        _check_open(self.array)  # The version is read before and after each read.
        return ""

    @property
    def abilities(self) -> frozenset[Ability]:
        """Reads points, each chunk once, and writes, unless it is read-only.

        Elements are cast block by block, and those of Dask where the tasks run. TensorStore's casts wrap.
        """
        able = _ABLE if hasattr(self.array, "domain") else _ABLE | _CASTING
        return able if self._is_readonly() else able | _WRITABLE

    def _is_readonly(self) -> bool:
        array: Any = self.array
        if _is_closed(array):
            return True
        if hasattr(array, "domain"):
            return not array.writable
        file = getattr(array, "file", None)
        mode = getattr(file, "mode", "r+")
        # Arrays of Dask and xarray are lazy results: assigning to them does not change their source.
        lazy = hasattr(array, "__dask_graph__") or not hasattr(array, "__setitem__")
        return lazy or mode == "r" or bool(getattr(array, "read_only", False))

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Read each selection into the array beside it; a TensorStore goes on while others are read."""
        _check_open(self.array)
        with reading_lazily(self.array):
            return self._read(selections, out)

    def _read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        if not self.shape.rank:
            # Every selection of a single element is that element.
            selections, out = [Outer([])] * len(out), [target.reshape(()) for target in out]
        if hasattr(self.array, "__dask_graph__"):
            return self._read_dask(selections, out)
        if hasattr(self.array, "domain"):
            return self._read_tensorstore(selections, out)
        for selection, target in zip(selections, out, strict=True):
            if isinstance(selection, Outer):
                self._read_blocks(selection, target)
            elif hasattr(self.array, "vindex"):
                points: Any = cast("Any", self.array).vindex
                self._put(target, self._checked(points[self._indices(selection)], target.shape))
            else:
                self._read_cells(selection, target)
        return Finished(len(selections))

    def write(self, selections: Sequence[Wanted], values: Sequence[Array]) -> None:
        """Write each array where the selection beside it is, in as few slices as that takes, one by one."""
        array: Any = self.array
        _check_open(array)
        for selection, given in zip(selections, values, strict=True):
            origin = self.shape.origin if hasattr(array, "domain") else (0,) * self.shape.rank
            boxes = [(selection, given)] if isinstance(selection, Outer) else None
            for own, part in boxes or boxes_of(cast("Runs", selection), given, self.shape.extents):
                runs = [runs_of(mode, 1) for mode in own.modes]
                for pieces in itertools.product(*runs):
                    places = tuple([place for place, _, _ in pieces])
                    key = tuple([_moved(box, by) for (_, box, _), by in zip(pieces, origin, strict=True)])
                    array[key] = part_of(part, places)

    def _indices(self, runs: Runs) -> tuple[IntArray, ...]:
        return np.unravel_index(runs.numbers(), self.shape.extents)

    def _read_dask(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        parts: list[Any] = []
        for selection, target in zip(selections, out, strict=True):
            part = _by_place(self.array)
            if isinstance(selection, Runs):
                parts.append(_cast_in_tasks(self._dask_points(selection), self.dtype, target.dtype))
                continue
            # Dask takes one list of positions at a time.
            for mode, own in enumerate(selection.modes):
                part = part[(*[slice(None)] * mode, key_of(own))]
            parts.append(_cast_in_tasks(part, self.dtype, target.dtype))
        # One graph for all, so that a chunk is made once.
        compute: Callable[..., tuple[Any, ...]] = importlib.import_module("dask").compute
        for target, found in zip(out, compute(*parts), strict=True):
            if found.dtype == target.dtype != self.dtype:
                write_elements(target, found)  # cast already, in tasks
            else:
                self._put(target, self._checked(found, target.shape))
        return Finished(len(selections))

    def _dask_points(self, runs: Runs) -> object:
        array = _by_place(self.array)
        indices = self._indices(runs)
        if hasattr(array, "isel"):
            # For xarray: points need a separate mode.
            return array[tuple([array.__class__("points", own) for own in indices])]
        return array.vindex[indices]

    def _read_tensorstore(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        wrapped: Callable[..., Any] = importlib.import_module("tensorstore").array
        array: Any = self.array
        origin = self.shape.origin
        futures: list[Any] = []
        for selection, target in zip(selections, out, strict=True):
            if isinstance(selection, Runs):
                pairs = zip(self._indices(selection), origin, strict=True)
                part = array.vindex[tuple([own + first for own, first in pairs])]
            else:
                key = tuple([key_of(own, first) for own, first in zip(selection.modes, origin, strict=True)])
                part = array.oindex[key]
            # TensorStore copies between equal domains: slices keep the places where they were.
            part = part.translate_to[(0,) * target.ndim] if target.ndim else part
            futures.append(wrapped(target, copy=False).write(part))
        return _Futures(tuple(futures))

    def _read_cells(self, runs: Runs, target: Array) -> None:
        """Read points cell by cell: a cell is a chunk, or a page where there are none."""
        array: Any = self.array

        def read(box: tuple[slice, ...]) -> Array:
            return self._checked(array[box], tuple([own.stop - own.start for own in box]))

        # A cell has unwanted elements, which need not fit the type.
        own = target if target.dtype == self.dtype else np.empty(target.shape, self.dtype)
        read_cells(self._indices(runs), self._cells(), read, own)
        if own is not target:
            self._put(target, own)

    def _cells(self) -> Extents:
        chunks, rank = self._chunks(), len(self.shape.extents)
        page = max(_PAGE // self.dtype.itemsize, 1)
        return chunks if chunks is not None else (1,) * (rank - 1) + (page,) * min(rank, 1)

    def _read_blocks(self, selection: Outer, target: Array) -> None:
        """Read block by block, each in as few slices as its positions need."""
        array: Any = self.array
        oindex = getattr(array, "oindex", None)
        size = max(_BLOCK // self.dtype.itemsize, 1)
        for window in cut_box(selection.extents, size, self._chunks()):
            modes = [own[part] for own, part in zip(selection.modes, window, strict=True)]
            part = part_of(target, window)
            if oindex is not None:
                outer = tuple([key_of(own) for own in modes])
                whole = all(isinstance(k, slice) for k in outer)
                self._put(part, self._checked((array if whole else oindex)[outer], part.shape))
                continue
            for pieces in itertools.product(*self._runs(modes)):
                reads = tuple([read for _, read, _ in pieces])
                wanted = tuple([len(range(r.start, r.stop, r.step or 1)) for r in reads])
                found = self._checked(array[reads], wanted)
                for mode, (_, _, picked) in enumerate(pieces):
                    key: Any = (*[slice(None)] * mode, picked)
                    found = found[key]
                self._put(part_of(part, tuple([place for place, _, _ in pieces])), found)

    def _checked(self, found: object, extents: Extents) -> Array:
        """Return the answer of an array, if it has the requested extents: foreign arrays are not trusted."""
        if isinstance(found, np.ma.MaskedArray) and np.ma.is_masked(cast("Any", found)):
            raise ConversionError(f"{self!r} has masked elements, whose mask would be lost: fill them first")
        try:
            array = np.asarray(found)
        except RuntimeError as error:
            raise ConversionError(f"{self!r} gave no array: {error}") from error
        if array.shape != extents:
            raise ConversionError(
                f"{self!r} gave an array of extents {array.shape} for a request of {extents}"
            )
        return array if array.dtype == self.dtype else check_write(array, self.dtype)

    def _put(self, target: Array, found: Array) -> None:
        """Write the wanted elements, and no others, into a target of any type."""
        same = target.dtype == self.dtype
        write_elements(target, found if same else convert_elements(found, target.dtype, copy=False))

    def _runs(self, modes: Sequence[Positions]) -> list[list[Run]]:
        """Return for each mode the slices that are read: positions within a chunk, or a page, are in one."""
        chunks = self._chunks() or (1,) * len(modes)
        runs: list[list[Run]] = []
        inner = self.dtype.itemsize
        for own, chunk in zip(reversed(modes), reversed(chunks), strict=True):
            runs.append(runs_of(own, max(chunk, _PAGE // inner)))
            inner *= max(len(own), 1)
        return runs[::-1]

    def _chunks(self) -> Extents | None:
        """Return the extents of chunks, if all are alike."""
        try:
            found = getattr(self.array, "chunks", None)
        except Exception:  # noqa: BLE001 - Zarr raises for irregular grids, and others what they like
            return None
        if not isinstance(found, tuple) or not all(type(n) is int for n in cast("tuple[object, ...]", found)):
            return None
        return cast("Extents", found)

    def cost(self, selection: Wanted) -> int:
        """Return the number of bytes read: whole chunks, or at least a page beside the selection."""
        chunks, own = self._chunks(), selection.size * self.dtype.itemsize
        if not self.shape.rank:
            return own + _PAGE
        if isinstance(selection, Runs):
            cells = self._cells()
            return count_cells(self._indices(selection), cells) * prod(cells) * self.dtype.itemsize
        if chunks is None:
            return own + _PAGE
        counts = [count_chunks(p, chunk) for p, chunk in zip(selection.modes, chunks, strict=True)]
        return prod(counts) * prod(chunks) * self.dtype.itemsize

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArraySource) and self.array is other.array

    def __hash__(self) -> int:
        return id(self.array)

    def __repr__(self) -> str:
        kind = type(self.array)
        library = kind.__module__.partition(".")[0]
        return f"{library}.{kind.__qualname__}({_where(self.array)}{self.shape!r}, {self.dtype})"

    def __reduce__(self) -> "tuple[Callable[..., ArraySource], tuple[Any, ...]]":
        array: Any = self.array
        if type(array).__module__.partition(".")[0] == "h5py":
            from pathlib import Path  # noqa: PLC0415 - other arrays need no paths

            path = Path(array.file.filename)
            if path.is_file():
                # h5py objects do not pickle: reopen the file in the other process, which sees the same files.
                own = str(path.resolve()), array.name, array.shape, array.dtype
                return _opened_dataset, (*own, _state_of(array.file))
        return ArraySource, (self.array,)


def _state_of(file: Any) -> tuple[int, int] | None:  # noqa: ANN401 - of h5py
    """Return size and time of the file that is open, which may be at its path no more; None of a writer."""
    if file.mode != "r" or file.driver != "sec2":
        return None
    found = os.fstat(file.id.get_vfd_handle())
    return found.st_size, found.st_mtime_ns


def _opened_dataset(
    path: str, name: str, extents: Extents, dtype: "np.dtype[Any]", state: tuple[int, int] | None
) -> ArraySource:
    """Return the dataset of this name in a file of HDF5, which stays open as long as it is used."""
    h5py: Any = importlib.import_module("h5py")
    try:
        file = h5py.File(path, "r")
        if state is not None and state != _state_of(file):
            raise VersionChangedError(f"{path} was changed or replaced after it was opened")
        found = file[name]
    except (OSError, KeyError) as error:
        raise DataFileError(f"{path}: the dataset {name!r} cannot be opened: {error}") from error
    if getattr(found, "shape", None) != extents or found.dtype != dtype:
        raise DataFileError(f"{path}: {name!r} is not the dataset of {extents} and {dtype} any more")
    return ArraySource(found)


@final
@frozen(eq=False)
class _Futures:
    """Reads that go on by themselves, in any order."""

    futures: tuple[Any, ...]

    def completed(self) -> Iterator[int | None]:
        left = list(range(len(self.futures)))
        while left:
            done = [number for number in left if self.futures[number].done()]
            for number in done:
                self.futures[number].result()
                yield number
            left = [number for number in left if number not in done]
            if left and not done:
                yield None
                self._wait(left[0])

    def _wait(self, number: int) -> None:
        with contextlib.suppress(TimeoutError):
            self.futures[number].result(timeout=_PAUSE)

    def cancel(self) -> None:
        for future in self.futures:
            future.cancel()


def _cast_in_tasks(part: Any, own: "np.dtype[Any]", wanted: "np.dtype[Any]") -> Any:  # noqa: ANN401 - of Dask
    """Return an array of Dask whose chunks are cast before they are sent; of xarray as it is."""
    if own == wanted or not part.ndim or not type(part).__module__.startswith("dask."):
        return part
    return part.map_blocks(partial(convert_elements, dtype=wanted), dtype=wanted, meta=np.empty(0, wanted))


def _moved(own: slice, by: int) -> slice:
    return slice(own.start + by, own.stop + by, own.step) if by else own


def _where(array: LazyArray) -> str:
    """Return in which file an array is, and under which name, where it says so."""
    if _is_closed(array):
        return "closed, "
    file = getattr(getattr(array, "file", None), "filename", None)
    # The name of an array of Zarr is its path in its store: "/" at the root of any.
    name = getattr(array, "store_path", None) or getattr(array, "name", None)
    found = [repr(str(word)) for word in (file, name) if word]
    return ", ".join(found) + ", " if found else ""
