"""Arithmetic on arrays of int64 that columns, partitions and rows share; it knows nothing of shapes.

Small arrays are worked on in plain Python where a call to NumPy would cost more than the work.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Final, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentError,
    SizeOverflowError,
    TensorWrapperError,
)
from tensorwrapper.typing import Array, Index, IntArray

_MASKED: Final = "a masked array would lose its mask; fill it, or pass its data and mask apart"

_S = TypeVar("_S", bound=np.generic)

Sizes: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.object_]
"""Numbers of elements: int64, or Python integers in an object array where 64 bits do not suffice."""

ArrayState: TypeAlias = bytes | IntArray | tuple[Index, int]
"""Pickled form of an array: little-endian bytes, the array, or a row and how often it occurs."""

BATCH: Final = 1 << 20
"""Places looked up at a time, so that a gather needs 8 MiB of indices and not 8 bytes for each element."""

CACHED: Final = 1 << 12  # elements up to which a copy fits in a cache
SMALL: Final = 64  # numbers up to which plain Python is faster than two calls to NumPy
_SPARSE: Final = 16  # numbers between the ends for each one up to which they are marked, and not sorted
_CHUNK: Final = 2**15  # numbers compared at a time: they stay in cache, and a difference ends the work
_INT64: Final = np.dtype("<i8")  # how arrays pickle as bytes on every machine
_BYTES: Final = 2**12  # arrays up to this size pickle as bytes, at a tenth of the cost of an array


_FEW_BYTES = 1024


def are_truths(array: "npt.NDArray[Any]") -> bool:
    """Return True if all bytes of truth values are 0 or 1; of any other type, always. O(elements), no copy.

    A byte of another number would be a third truth value: NumPy takes bytes as they are.

    Examples
    --------
    >>> are_truths(np.array([0, 1, 2], np.uint8).view(np.bool_)), are_truths(np.array([2]))
    (False, True)
    """
    if array.dtype.kind != "b":
        return True
    if array.size <= _FEW_BYTES:
        # A reduction of NumPy takes microseconds to start.
        return not array.tobytes().translate(None, b"\0\1")
    return int(array.view(np.uint8).max()) <= 1


def as_truths(array: Array) -> Array:
    r"""Return an array to be written: truth values of other bytes than 0 and 1 become 1, in a copy.

    NumPy takes any byte but 0 for true, and a reader refuses such bytes.

    Examples
    --------
    >>> as_truths(np.array([0, 1, 2], np.uint8).view(np.bool_)).tobytes()
    b'\x00\x01\x01'
    """
    return array if are_truths(array) else array.view(np.uint8) != 0


def numpy_kind(dtype: "np.dtype[Any]") -> str:
    """Return the kind of a type; "V" of all types of ml_dtypes, though float8_e5m2 calls itself "f".

    NumPy's rules for floats do not fit them: they have few digits, and NumPy sorts their NaN anywhere.

    Examples
    --------
    >>> import ml_dtypes
    >>> [numpy_kind(np.dtype(own)) for own in (ml_dtypes.float8_e5m2, ml_dtypes.bfloat16, ">f8")]
    ['V', 'V', 'f']
    """
    return "V" if dtype.isbuiltin == 2 else dtype.kind  # 2 says that a package added the type


def strided(flat: Array, extents: tuple[int, ...], steps: tuple[int, ...], *, writeable: bool) -> Array:
    """Return `numpy.lib.stride_tricks.as_strided` of elements of any type.

    NumPy reads the types of ml_dtypes by a name that some of them do not have; integers have one.
    """
    is_own = flat.dtype.isbuiltin == 2
    plain: Array = flat.view(f"u{flat.dtype.itemsize}") if is_own else flat
    found = np.lib.stride_tricks.as_strided(plain, extents, steps, writeable=writeable)
    return found.view(flat.dtype) if is_own else found


def frozen_array(array: IntArray) -> IntArray:
    """Return `array` as int64 memory that cannot be changed through the result."""
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def immutable_copy(array: Array) -> Array:
    """Return a copy that nobody can ever write to, as far as NumPy has one: of numbers, over `bytes`."""
    if array.dtype.kind in "biu" and array.size:
        found = np.frombuffer(array.tobytes(), array.dtype)
        return found if array.ndim == 1 else found.reshape(array.shape)
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def is_immutable(array: Array) -> bool:
    """Return True if nobody can ever write to the memory of an array: then it may be shared."""
    base: object = array
    while isinstance(base, np.ndarray):
        base = cast("Array", base).base
    return type(base) is bytes


def frozen_values(values: npt.NDArray[_S]) -> npt.NDArray[_S]:
    """Return elements of any type as memory that cannot be changed through the result."""
    if values.flags.writeable:
        values = values.view()
        values.flags.writeable = False
    return values


_NULLS: Final = "an array cannot store nulls: `tw.as_tensor(x)` has them, `tw.as_tensor(x).fill_null(0)` none"


def unmasked_array(value: object, *, copy: bool | None = None) -> Array:
    """Return the result of `np.asarray`; refuse elements that a mask hides.

    Raises
    ------
    ConversionError
        If it is a masked array, or an object or a list that gives one whose mask hides an element.
    DTypeError
        If it is a list of dates and durations.
    """
    if isinstance(cast("Any", value), np.ma.MaskedArray):
        raise ConversionError(_MASKED)
    given: object = value  # which checkers do not narrow
    return shown_array(given, copy=copy)


def shown_array(value: object, *, copy: bool | None = None) -> Array:
    """Return the result of `np.asarray`; a masked array must not hide an element.

    Raises
    ------
    ConversionError
        If a mask hides an element, of the value itself or of an item of a list; or if it is no array.
    ExtentError
        If it is a list of lists of several lengths.
    DTypeError
        If it is a list of dates and durations, or of text and others: NumPy would make one of the other.
    """
    if type(value) is np.ndarray:
        return cast("Array", value if not copy else value.copy())
    if not isinstance(value, list | tuple):
        return _shown(_with_all_shown(value), copy=copy)
    items = cast("Sequence[object]", value)
    found = _shown(_parts(items), copy=copy)
    if found.dtype.kind in "fc" and np.isnan(cast("Any", found)).any() and _has_masked(items):
        raise ConversionError(_MASKED)
    return found


def _with_all_shown(value: Any) -> object:  # noqa: ANN401 - of any library
    """Return an array of Dask as NumPy's, whose mask is known; raise for nulls, which NumPy reads as NaN."""
    if type(value).__module__.partition(".")[0] == "dask" and hasattr(value, "__dask_graph__"):
        return cast("object", value.compute())
    if _null_count(value):
        raise ConversionError(_NULLS)
    return cast("object", value)


def _null_count(value: Any) -> int:  # noqa: ANN401 - of any library
    """Return how many nulls an array of pandas, Polars or pyarrow has. NaN of NumPy's types is a number."""
    library = type(value).__module__.partition(".")[0]
    count: Any = 0
    if library == "pandas" and hasattr(value, "isna"):
        types: list[object] = [value.dtype] if hasattr(value, "dtype") else [*value.dtypes]
        count = 0 if all(isinstance(own, np.dtype) for own in types) else value.isna()
    elif library in ("polars", "pyarrow"):
        count = getattr(value, "null_count", 0)
        count = count() if callable(count) else count
    return int(np.sum(np.asarray(count)))


_PLAIN: Final = frozenset((bool, complex, float, int, str, bytes))


def _parts(items: Sequence[object]) -> Sequence[object]:
    """Return items with arrays for those of libraries: NumPy would drop masks, and make NaN of nulls."""
    if not items or type(items[0]) in _PLAIN:
        return items
    if type(items[0]) is list and _are_rows_of_numbers(items):
        return items
    kinds = set(map(type, items))
    if any(hasattr(kind, "__array__") and not issubclass(kind, np.generic) for kind in kinds):
        return [_part(item) for item in items]
    if kinds <= {list, tuple}:
        rows = cast("Sequence[Sequence[object]]", items)
        return [_parts(row) for row in rows]
    return items


def _are_rows_of_numbers(rows: Any) -> bool:  # noqa: ANN401 - items of lists
    """Return True for lists that begin with numbers or text, of which most lists of lists consist."""
    try:
        return {type(row[0]) for row in rows if row} <= _PLAIN
    except (IndexError, KeyError, TypeError, ValueError):
        return False  # of arrays, which have no truth value, and others


def _part(item: Any) -> object:  # noqa: ANN401 - an item of a list
    if not hasattr(type(item), "__array__"):
        return item
    count = _null_count(item)
    if count:
        raise ConversionError(
            f"an array cannot store the nulls of a row ({count} here): `tw.jagged([[1, None], [2]])` can"
        )
    return _shown(_with_all_shown(item))


def _has_masked(items: Sequence[object]) -> bool:
    """Return True if the constant of NumPy that is masked is among items, which becomes NaN."""
    lists = [cast("Sequence[object]", item) for item in items if isinstance(item, list | tuple)]
    return any(item is np.ma.masked for item in items) or any(map(_has_masked, lists))


def check_shown(value: object) -> None:
    """Raise if a value is a masked array whose mask hides an element.

    Raises
    ------
    ConversionError
        If it is.
    """
    given: Any = value
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise ConversionError(_MASKED)


def _shown(value: object, *, copy: bool | None = None) -> Array:
    try:
        found: Array = np.array(value, copy=copy, subok=True)
    except TensorWrapperError:
        raise
    except ValueError as error:  # lists of several lengths, or no memory to share
        raise ExtentError(str(error)) from error
    except (TypeError, RuntimeError) as error:  # objects of other packages that are no arrays
        raise ConversionError(str(error)) from error
    _check_items(value, found.dtype.kind)
    if found.dtype == np.float64 and isinstance(value, list | tuple):
        found = _exact_integers(cast("Sequence[object]", value), found)
    if type(found) is np.ndarray:
        return found
    check_shown(value)
    if isinstance(found, np.ma.MaskedArray) and np.ma.is_masked(found):
        kind = type(value).__name__
        raise ConversionError(f"a {kind} gives a masked array, whose mask would be lost: fill it first")
    return np.asarray(found)


def _check_items(value: object, kind: str) -> None:
    """Raise if NumPy made dates of durations, or text of other items of lists."""
    if kind == "M" and _has_durations(value):
        raise DTypeError("a list has dates and durations, which have no type in common")
    if kind in "SU" and _has_others(value, str if kind == "U" else bytes):
        raise DTypeError("a list has text, or bytes, and other elements, which have no type in common")


def _exact_integers(items: Sequence[object], floats: Array) -> Array:
    """Return lists of integers of which some exceed int64 as uint64; NumPy rounds them. Others stay."""
    if not np.greater_equal(floats, 2**63).any() or not are_integers(items):
        return floats
    try:
        return np.array(items, dtype=np.uint64)
    except OverflowError as error:
        raise DTypeError(
            "a list has integers below 0 and integers from 2**63 on, which no type of integers holds: "
            "`np.array(x, dtype=float)` rounds them"
        ) from error


def are_integers(value: object) -> bool:
    """Return True for integers, and for lists of nothing else."""
    if not isinstance(value, list | tuple):
        given: Any = value
        return isinstance(value, int) or (np.ndim(given) == 0 and np.asarray(given).dtype.kind in "iu")
    items = cast("Sequence[object]", value)
    return set(map(type, items)) == {int} or all(map(are_integers, items))


def _has_durations(value: object) -> bool:
    """Return True if a value is a duration, or a list, or a list of lists, in which one is."""
    dtype: object = getattr(value, "dtype", None)
    if dtype is not None or not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return getattr(dtype, "kind", None) == "m"
    items = cast("Sequence[object]", value)
    kinds = set(map(type, items))
    # Many dates are one type: only lists and arrays of them are visited one by one.
    return np.timedelta64 in kinds or (kinds != {np.datetime64} and any(map(_has_durations, items)))


def _has_others(value: object, kind: type[str | bytes]) -> bool:
    """Return True if a value is neither text, or bytes, nor lists of them: NumPy makes text of numbers."""
    if isinstance(value, kind) or np.dtype(kind).kind == getattr(getattr(value, "dtype", None), "kind", None):
        return False
    if not isinstance(value, list | tuple):
        return hasattr(value, "__index__") or not hasattr(value, "__array__")
    items = cast("Sequence[object]", value)
    # Much text is one type: only lists of it are visited one by one.
    return set(map(type, items)) != {kind} and any(_has_others(item, kind) for item in items)


def has_type(value: object) -> bool:
    """Return True if a value has a dtype, as arrays, tensors and buffers do, and lists do not.

    NumPy makes an array of floats of an empty list, whatever its purpose.

    Examples
    --------
    >>> has_type(np.zeros(0)), has_type([])
    (True, False)
    """
    if hasattr(type(value), "__array__") or hasattr(value, "__array_interface__"):
        return True
    try:
        memoryview(cast("Any", value))
    except TypeError:
        return False
    return True


def digest_of(numbers: IntArray) -> str:
    """Return a digest of the numbers of an array."""
    import hashlib  # noqa: PLC0415 - its libraries are a hundredth of an import, and few ask for a digest

    return hashlib.blake2b(np.ascontiguousarray(numbers).tobytes(), digest_size=16).hexdigest()


def splits_of(counts: npt.NDArray[np.integer[Any]] | list[int]) -> IntArray:
    """Return the row splits of `counts`, integers of any type: 0, then their cumulative sums; O(n)."""
    if len(counts) <= SMALL:
        return splits_of_list(counts if isinstance(counts, list) else counts.tolist())
    if isinstance(counts, list):
        counts = np.array(counts, dtype=np.int64)
    # Read without signs, negative ones are above all others: one look at the memory tells both ends.
    most = int(counts.view(counts.dtype.str.replace("i", "u")).max())
    if counts.dtype.kind == "i" and most >> (8 * counts.dtype.itemsize - 1):
        row = int(np.argmax(counts < 0))
        raise _negative_row(row, int(counts[row]))
    if most * len(counts) > MAX_INT64 and sum(counts.tolist()) > MAX_INT64:
        raise _too_long()
    splits = np.empty(len(counts) + 1, dtype=np.int64)
    splits[0] = 0
    sums = splits[1:]
    if counts.dtype == np.int64:
        np.cumsum(counts, out=sums)
    else:
        # Convert into the result: NumPy would allocate a converted copy.
        sums[:] = counts
        np.cumsum(sums, out=sums)
    splits.setflags(write=False)
    return splits


def splits_of_list(counts: list[int]) -> IntArray:
    """Return the row splits of `counts`, which are few: `splits_of` in plain Python."""
    if counts and min(counts) < 0:
        row = next(k for k, count in enumerate(counts) if count < 0)
        raise _negative_row(row, counts[row])
    sums = list(accumulate(counts, initial=0))
    if sums[-1] > MAX_INT64:
        raise _too_long()
    splits = np.array(sums, dtype=np.int64)
    splits.setflags(write=False)
    return splits


def _negative_row(row: int, count: int) -> ExtentError:
    return ExtentError(f"an extent must not be negative, but row {row} has {count}")


def _too_long() -> SizeOverflowError:
    return SizeOverflowError("the extents of the rows add up to more than 64 bits hold")


def positions_array(positions: "range | IntArray") -> IntArray:
    """Return positions as an array; of a range without a Python integer for each, as `asarray` makes them."""
    if isinstance(positions, range):
        return np.arange(positions.start, positions.stop, positions.step, dtype=np.int64)
    return np.asarray(positions, dtype=np.int64)


def positions_before(positions: "range | IntArray", marks: IntArray) -> IntArray:
    """Return how many of ascending positions come before each mark. O(marks), of an array times log n."""
    if not isinstance(positions, range):
        return positions.searchsorted(marks)
    found: IntArray = np.clip(-((positions.start - marks) // positions.step), 0, len(positions))
    return found


def elements_at(array: Array, modes: "Sequence[range | IntArray]") -> Array:
    """Return the elements at positions of each mode; without a copy if all are evenly spaced, ascending."""
    if all(isinstance(own, range) for own in modes):
        return array[tuple([slice(own.start, own.stop, own.step) for own in cast("Sequence[range]", modes)])]
    return array[np.ix_(*map(positions_array, modes))]


def concatenated_ranges(starts: IntArray, counts: IntArray) -> IntArray:
    """Return ``range(starts[k], starts[k] + counts[k])`` for every k, one after the other."""
    splits = splits_of(counts)
    shift = np.repeat(starts - splits[:-1], counts)
    return shift + np.arange(len(shift), dtype=np.int64)


def different(values: IntArray) -> IntArray:
    """Return the different numbers of an array, ascending.

    O(n) where they are close together, as places of memory usually are; else they are sorted.
    """
    flags = _marks(values)
    if flags is None:
        # `np.unique` of integers is a set of hashes since NumPy 2.3, which takes up to 50 times as long.
        ordered: IntArray = np.sort(values, axis=None)
        first = np.ones(len(ordered), np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
        return ordered[first]
    found: IntArray = np.flatnonzero(flags)
    found += values.min()
    return found


def ranked(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the different numbers of an array as `different` does, and for each which of them it is."""
    flags = _marks(values)
    if flags is None:
        distinct, ranks = np.unique(values, return_inverse=True)
        return distinct, ranks.reshape(values.shape).astype(np.int64, copy=False)
    numbers = np.cumsum(flags, dtype=np.int64)
    numbers -= 1
    return different(values), numbers[values - values.min()]


def _marks(values: IntArray) -> npt.NDArray[np.bool_] | None:
    """Return for each number from the least on whether it occurs; None if they are too far apart."""
    if values.size < SMALL:
        return None
    low = int(values.min())
    span = int(values.max()) - low + 1
    if span > _SPARSE * values.size:
        return None
    flags = np.zeros(span, dtype=np.bool_)
    flags[(values - low).reshape(-1)] = True
    return flags


def file_beneath(array: object) -> str | None:
    """Return the path of the file whose bytes an array shows, if its map knows it."""
    while array is not None:
        filename: object = getattr(array, "filename", None)
        if filename is not None:
            return str(filename)
        array = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
    return None


def run_of(marks: Sizes, values: IntArray) -> IntArray:
    """Return for each value the last k with ``marks[k] <= value``: the run that holds it; O(log n) each."""
    found: IntArray = np.searchsorted(cast("IntArray", marks), values, side="right")
    return found - 1


def last_run(marks: Sizes, value: int) -> int:
    """Return the last k with ``marks[k] <= value``: `run_of` for one value, in a quarter of the time."""
    return int(marks.searchsorted(value, "right")) - 1


def run_between(offsets: IntArray, least: int, greatest: int) -> tuple[int, int]:
    """Return the number of the first of ascending offsets from `least` to `greatest`, and after the last."""
    first = np.searchsorted(offsets, max(least, -MAX_INT64))
    return int(first), int(np.searchsorted(offsets, min(greatest, MAX_INT64), side="right"))


def check_rows(count: int, width: int = 1) -> None:
    """Raise if a table of `count` rows of `width` numbers is larger than any memory."""
    if count * width > MAX_INT64 // 8:
        raise SizeOverflowError(
            f"{count} rows of {width} numbers are more than 64 bits can address: {MAX_INT64 // 8} numbers"
        )


def shared_table(row: Index, n_rows: int) -> IntArray:
    """Return the read-only table of `n_rows` rows that are all `row`, in the memory of one; O(rank)."""
    check_rows(n_rows, len(row))
    return np.broadcast_to(np.array(row, dtype=np.int64), (n_rows, len(row)))


def shared_row(table: IntArray) -> Index | None:
    """Return the row that all rows of `table` are, if it is stored once for all of them."""
    return tuple(table[0].tolist()) if not table.strides[0] and len(table) else None


def tidy_table(table: IntArray) -> IntArray:
    """Return `table`, read-only, with one row in memory if all of them are alike; O(n) at most."""
    if len(table) > 1 and table.strides[0] and (table[0] == table[-1]).all():
        shared = shared_table(tuple(table[0].tolist()), len(table))
        if same_values(table, shared):
            return shared
    return frozen_array(table)


def same_values(left: IntArray, right: IntArray, shift: int = 0) -> bool:
    """Return True if `left`, with `shift` added, and `right` have one shape and the same numbers; O(n)."""
    if left.shape != right.shape:
        return False
    if left.size <= SMALL and not shift:
        return left.tobytes() == right.tobytes()
    start, stop = 0, SMALL  # differences are often early
    while start < len(left):
        part = left[start:stop]
        if not ((part + shift if shift else part) == right[start:stop]).all():
            return False
        start, stop = stop, stop + _CHUNK
    return True


def array_state(array: IntArray) -> ArrayState:
    """Return the pickled form of an array of rank 1 or 2; `array_of_state` restores the array."""
    if array.ndim == 2:
        # Bytes of a table without rows would not tell it from an array of rank 1.
        row = shared_row(array) if len(array) else (0,) * array.shape[1]
        if row is not None:
            return row, len(array)
    if array.nbytes > _BYTES:
        # A native array is pickled without a copy, out of band if the reader supports that.
        return np.ascontiguousarray(array)
    return (array if _INT64.isnative else array.astype(_INT64)).tobytes()


def array_of_state(state: ArrayState, width: int) -> IntArray:
    """Return the read-only array of a state: a table with `width` columns, or rank 1 if that is 0."""
    if isinstance(state, tuple):
        return shared_table(*state)
    if isinstance(state, bytes):
        # Bytes are immutable, and so is an array over them.
        array = np.frombuffer(state, _INT64)
        if not _INT64.isnative:
            array = frozen_array(array.astype(np.int64))
        return array.reshape(-1, width) if width else array
    return frozen_array(state)


def tuples_of(tables: Iterable[IntArray]) -> Iterator[Index]:
    """Return an iterator over the rows of all (n, rank) `tables`, as tuples."""
    return itertools.chain.from_iterable(map(_rows_of, tables))


def _rows_of(table: IntArray) -> Iterator[Index]:
    if table.shape[1] == 0:
        return itertools.repeat((), len(table))
    return zip(*table.T.tolist(), strict=True)
