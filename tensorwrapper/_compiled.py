"""Loops over rows, masks, runs and strings in C, where they were built. They must equal what NumPy does.

`TENSORWRAPPER_COMPILED=0` leaves them out. Each function returns None where there is none for its operands.
"""

import importlib
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

    from tensorwrapper.typing import Array, IntArray

_Strings: TypeAlias = "tuple[npt.NDArray[np.uint8], IntArray, IntArray]"

_MOST_SORTED: Final = 16
"""The longest row that is sorted here: beyond it NumPy's vectors win."""

_SHORT: Final = 16
"""Elements of a row, on average, up to which extremes are found here: beyond it NumPy's vectors win."""

_MOST_MODES: Final = 64
"""The modes of a block that is copied here."""

_TYPES: Final = frozenset(["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"])


@cache
def _module() -> Any:  # noqa: ANN401 - a module that need not be there
    if os.environ.get("TENSORWRAPPER_COMPILED") == "0":
        return None
    try:
        return importlib.import_module("tensorwrapper._kernels")
    except ImportError:
        return None


def is_compiled() -> bool:
    """Return True if the loops in C are there and in use."""
    return _module() is not None


def _code(flat: "Array") -> str:
    """Return the type of elements as the kernels name it; an empty text if they do not take them."""
    dtype = flat.dtype
    code = dtype.str[1:]
    is_plain = flat.flags.c_contiguous and flat.flags.aligned and dtype.isnative
    return code if is_plain and code in _TYPES else ""


def _own(numbers: "IntArray") -> "IntArray":
    flags = numbers.flags
    if numbers.dtype == np.int64 and flags.c_contiguous and flags.aligned:
        return numbers
    own = np.ascontiguousarray(numbers, dtype=np.int64)
    return own if own.flags.aligned else own.copy()


def _buffer(array: "npt.NDArray[Any]") -> "Buffer":
    return cast("Buffer", array)


def reduced(ufunc: np.ufunc, flat: "Array", splits: "IntArray", result: "np.dtype[Any]") -> "Array | None":
    """Return a number of type `result` for each row, 0 for an empty one. O(n).

    Sums of floats have the bits of `numpy.add.reduceat`.
    """
    name = ufunc.__name__
    kernel: Callable[..., None] | None = getattr(_module(), name, None) if name in _REDUCED else None
    code = _code(flat)
    if kernel is None or not code or result != _result_of(code, name):
        return None
    if name != "add" and len(flat) > _SHORT * (len(splits) - 1):
        return None
    out: Array = np.zeros(len(splits) - 1, result)
    kernel(code, _buffer(flat), _own(splits), _buffer(out))
    # NumPy warns of infinite results, so let it compute these again.
    return None if name == "add" and result.kind == "f" and not np.isfinite(out).all() else out


_REDUCED: Final = ("add", "maximum", "minimum")


def _result_of(code: str, name: str) -> "np.dtype[Any]":
    if name != "add" or code[0] == "f":
        return np.dtype(code)
    return np.dtype(np.uint64 if code[0] == "u" else np.int64)


def places_of(which: Literal["max", "min"], flat: "Array", splits: "IntArray") -> "IntArray | None":
    """Return the first position of the extreme of each row, or of NaN; 0 of an empty row. O(n)."""
    module, code = _module(), _code(flat)
    if module is None or not code:
        return None
    out: IntArray = np.zeros(len(splits) - 1, np.int64)
    kernel = module.argmax if which == "max" else module.argmin
    kernel(code, _buffer(flat), _own(splits), _buffer(out))
    return out


def running(flat: "Array", splits: "IntArray", result: "np.dtype[Any]") -> "Array | None":
    """Return the running sums of each row, of type `result`; rows cover all elements. O(n)."""
    module, code = _module(), _code(flat)
    if module is None or not code or result != _result_of(code, "add"):
        return None
    out: Array = np.empty(len(flat), result)
    module.add_running(code, _buffer(flat), _own(splits), _buffer(out))
    if result.kind == "f" and len(flat):
        # Infinity and NaN last to the end of their row; NumPy warns of them.
        ends = splits[1:][splits[1:] > splits[:-1]]
        return out if np.isfinite(out[ends - 1]).all() else None
    return out


def sorted_in(out: "Array", flat: "Array", splits: "IntArray", *, places: bool = False) -> int:
    """Sort rows of up to 16 elements into `out`, NaN last, and return 16; 0 if nothing was done.

    With `places`, the sorting positions within each row are written instead of elements.
    """
    module, code = _module(), _code(flat)
    if module is None or not code or not out.flags.c_contiguous:
        return 0
    kernel = module.argsort if places else module.sort
    kernel(code, _buffer(flat), _own(splits), _buffer(out))
    return _MOST_SORTED


def nonzero(mask: "npt.NDArray[np.bool_]") -> "IntArray":
    """Return the places where a flat mask is true, as `numpy.flatnonzero`. O(n)."""
    module = _module()
    if module is None or not mask.flags.c_contiguous:
        return np.flatnonzero(mask)
    count = int(np.count_nonzero(mask))
    out: IntArray = np.empty(count, np.int64)
    # A mask that another thread changes meanwhile has fewer places: no others are given.
    return out[: module.nonzero(_buffer(mask), _buffer(out))]


def copy_runs(
    source: "Array", target: "Array", starts: "IntArray", goals: "IntArray", stops: "IntArray", shift: int = 0
) -> bool:
    """Copy runs of a flat array, and tell whether that was done. O(runs + elements).

    Run k begins at ``starts[k]`` and goes to places ``shift + goals[k]`` to ``shift + stops[k]``. Both arrays
    are of one type, and do not overlap.
    """
    module, ours, theirs = _module(), target.flags, source.flags
    if module is None or source.dtype.hasobject or not (ours.c_contiguous and theirs.c_contiguous):
        return False
    if not (ours.aligned and theirs.aligned):
        return False
    raw, room = source.view(np.uint8), target.view(np.uint8)
    module.copy_runs(source.dtype.itemsize, raw, _own(starts), _own(goals), _own(stops), shift, room)
    return True


def copy_boxes(
    source: "Array",
    target: "Array",
    extents: "IntArray",
    sides: "tuple[IntArray, IntArray, IntArray, IntArray]",
) -> bool:
    """Copy strided blocks of a flat array, and tell whether that was done. O(blocks + elements).

    `sides` has starts and an (n, modes) table of strides of both arrays, the source first. Both are without
    gaps, of one type, and do not overlap.
    """
    module, dtype = _module(), source.dtype
    if module is None or dtype.hasobject or extents.shape[1] > _MOST_MODES:
        return False
    raw, room = source.view(np.uint8), target.view(np.uint8)
    module.copy_boxes(dtype.itemsize, raw, _own(extents), *map(_own, sides), room)
    return True


def copy_window(source: "Array", starts: "IntArray", ends: "IntArray", first: int, target: "Array") -> bool:
    """Fill `target` with elements of joined runs, from element `first` on; tell whether that was done.

    Run k begins at ``starts[k]`` of a flat array of the same type, and has the elements ``ends[k]`` to
    ``ends[k + 1]`` of all. The elements of a run that begins at -1 are left as they are.
    O(log(runs) + runs of the window + elements).
    """
    module, dtype = _module(), source.dtype
    if module is None or dtype.hasobject:
        return False
    module.copy_window(dtype.itemsize, _buffer(source), starts, ends, first, _buffer(target))
    return True


def numbers_of(rows: list[object]) -> "tuple[Array, IntArray] | None":
    """Return all elements of lists of numbers, and the lengths of the lists. O(n).

    None if rows are not lists or tuples of plain floats and plain integers of 64 bits, one at least.
    """
    module = _module()
    if module is None:
        return None
    lengths: IntArray = np.empty(len(rows), np.int64)
    code: str | None = module.measure_lists(rows, _buffer(lengths))
    if code is None:
        return None
    flat: Array = np.empty(int(lengths.sum()), code)
    return (flat, lengths) if module.fill_lists(code, rows, _buffer(lengths), _buffer(flat)) else None


def mix(factor: int, shift: int, lanes: "npt.NDArray[np.uint64]", words: "bytes | memoryview") -> bool:
    """Add whole blocks of words to the lanes of a checksum, and tell whether that was done. O(bytes)."""
    module = _module()
    if module is None or sys.byteorder != "little":
        return False
    module.mix(factor, shift, lanes, words)
    return True


def find_alike(
    file: "npt.NDArray[np.uint8]",
    records: "tuple[IntArray, IntArray, IntArray, IntArray]",
    texts: tuple[bytes, ...],
    plan: list[int],
    found: tuple["npt.NDArray[np.bool_]", "IntArray", "IntArray"],
) -> bool:
    """Find the records of a file whose labels have these texts, and tell whether that was done. O(records).

    Parameters
    ----------
    records
        Start, length, rows before, and rows of each.
    plan
        Number of the text before the extent, number of frames, elements of a row, bytes of an element, the
        longest record, the version of a header, and the frames to find.
    found
        A mask of the records, and places and sizes of frames in rows of tables, to write into. They may have
        more columns, of which the last are written.
    """
    module = _module()
    if module is None:
        return False
    ends: IntArray = np.cumsum([len(text) for text in texts], dtype=np.int64)
    columns = [_own(column) for column in records]
    numbers = ends, np.asarray(plan, np.int64)
    module.alike(_buffer(file), *columns, b"".join(texts), *numbers, *map(_buffer, found))
    return True


def compared(
    one: "_Strings", other: "_Strings", size: int, *, only_equal: bool = False
) -> "npt.NDArray[np.int8] | None":
    """Return -1, 0 or 1 for each pair of strings, by their bytes. O(pairs + bytes).

    Each side has bytes, starts and stops, of as many strings as pairs or of one for all. If `only_equal`,
    unequal strings give any number but 0.
    """
    module = _module()
    if module is None:
        return None
    out = np.empty(size, np.int8)
    sides = [
        (_buffer(np.ascontiguousarray(own[0])), *map(_buffer, map(_own, own[1:]))) for own in (one, other)
    ]
    module.compare(only_equal, *sides[0], *sides[1], _buffer(out))
    return out
