"""Text with NULs: NumPy 2.4 compares and searches elements of StringDType only up to a NUL.

To be ordered, texts are replaced by their places among all distinct ones, which NumPy orders as it orders
integers. What looks into text with NULs is computed by the methods of Python's text.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import numpy as np

from tensorwrapper.errors import ConversionError
from tensorwrapper.typing import Array, IntArray

_OF_TEXTS: Final = frozenset(
    (
        *("amax", "amin", "intersect1d", "max", "min", "partition", "setdiff1d", "setxor1d", "sort"),
        *("union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
    )
)
"""Functions by order whose result, or first result, has texts."""

_OF_PLACES: Final = frozenset(
    (
        *("argmax", "argmin", "argpartition", "argsort", "array_equal", "array_equiv", "lexsort"),
        "searchsorted",
    )
)
"""Functions by order, or equality, whose results have no texts."""

_OPTIONS: Final = frozenset(("axis", "kind", "kth", "order", "out", "side", "sorter", "where"))
"""Arguments that are not compared with elements, beside truth values."""


class _Places:
    """Distinct texts in order, and places among them."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._texts = sorted({text for array in arrays for text in array.reshape(-1).tolist()})
        self._places = {text: place for place, text in enumerate(self._texts)}

    def of(self, array: Array) -> Array:
        """Return the place of each text."""
        found = list(map(self._places.__getitem__, array.reshape(-1).tolist()))
        return np.array(found, np.int64).reshape(array.shape)

    def texts(self, places: Array, dtype: "np.dtype[Any]") -> Array:
        """Return the texts at places."""
        # NumPy makes a text of Python of one place.
        return np.asarray(np.array(self._texts, dtype)[places], dtype)


def numbers_of_texts(texts: Array) -> IntArray:
    """Return a number for each text, or null, of an array; equal ones have one number."""
    numbers: dict[str | None, int] = {}
    listed: list[str | None] = texts.reshape(-1).tolist()
    found = [numbers.setdefault(text, len(numbers)) for text in listed]
    return np.array(found, np.int64).reshape(texts.shape)


def extreme_of_texts(ufunc: np.ufunc, one: Array, other: Array) -> Array:
    """Return `np.maximum` or `np.minimum` of arrays of StringDType, exact for text with NULs. O(n log n)."""
    dtype = one.dtype if hasattr(one.dtype, "na_object") else other.dtype
    if not any("\0" in "".join(own.reshape(-1).tolist()) for own in (one, other)):
        return np.asarray(ufunc(one, other), dtype)  # NumPy makes a text of Python of rank 0
    known = _Places([one, other])
    return known.texts(ufunc(known.of(one), known.of(other)), dtype)


def by_exact_order(
    function: Callable[..., Any], arguments: Sequence[object], options: dict[str, Any]
) -> object:
    """Return the result of a function of NumPy by the order of texts; NotImplemented for other functions.

    Raises
    ------
    ConversionError
        If a text is null.
    """
    name, values = function.__name__, [*arguments, *options.values()]
    if not (name in _OF_TEXTS or name in _OF_PLACES) or not any(map(_has_text, values)):
        return NotImplemented
    given = inspect.signature(function).bind(*arguments, **options)
    texts = {key: _as_texts(own) for key, own in given.arguments.items() if key not in _OPTIONS}
    found = [own for own in texts.values() if own is not None]
    if any(map(has_null_texts, found)):
        raise ConversionError("an array cannot store nulls: `t.drop_null()` leaves them out")
    beside = [given.arguments[key] for key, own in texts.items() if own is None]
    if not all(own is None or isinstance(own, bool | np.bool_) for own in beside):
        return NotImplemented  # text and numbers have no order
    known = _Places(found)
    given.arguments.update({key: known.of(own) for key, own in texts.items() if own is not None})
    result: Any = function(*given.args, **given.kwargs)
    if name in _OF_PLACES:
        return cast("object", result)
    dtype = np.dtypes.StringDType()
    if not isinstance(result, tuple):
        return known.texts(result, dtype)
    first, *rest = cast("tuple[Array, ...]", result)
    parts = (known.texts(first, dtype), *rest)
    return parts if type(result) is tuple else type(result)(*parts)


def has_null_texts(array: Array) -> bool:
    """Return True if an array of StringDType has a null."""
    return hasattr(array.dtype, "na_object") and None in array.reshape(-1).tolist()


def _has_text(value: object) -> bool:
    """Return True for an array of StringDType, and for a list in which one is."""
    if isinstance(value, list | tuple):
        return any(map(_has_text, cast("list[object]", value[:1])))
    return isinstance(value, np.ndarray) and value.dtype.kind == "T"


def _as_texts(value: object) -> Array | None:
    """Return text, or a list or array of it, as an array; None of other values."""
    if isinstance(value, list | tuple):
        flat = np.array(value, dtype=object)
        is_text = all(isinstance(own, str) for own in flat.reshape(-1).tolist())
        return flat.astype(np.dtypes.StringDType()) if is_text else None
    if isinstance(value, str):
        return np.array(value, np.dtypes.StringDType())
    return value if isinstance(value, np.ndarray) and value.dtype.kind in "TU" else None


def _slice(text: str, start: int, stop: int, step: int, *_: object) -> str:
    return text[start:stop:step]


def _encode(text: str, encoding: str | None = None, errors: str | None = None) -> bytes:
    return str.encode(text, encoding or "utf-8", errors or "strict")


_TEXT = np.dtypes.StringDType()
_MARKS = (
    *("endswith", "isalnum", "isalpha", "isdecimal", "isdigit", "islower", "isnumeric", "isspace"),
    *("istitle", "isupper", "startswith"),
)
_METHODS: "Final[dict[str, tuple[Callable[..., object], type | np.dtypes.StringDType]]]" = {
    "encode": (_encode, object),  # of a fixed width, bytes would lose NULs
    "str_len": (len, np.intp),
    **{name: (getattr(str, name), np.intp) for name in ("count", "find", "index", "rfind", "rindex")},
    **{name: (getattr(str, name), np.bool_) for name in _MARKS},
    **{
        name: (getattr(str, name), _TEXT)
        for name in ("center", "expandtabs", "ljust", "replace", "rjust", "zfill")
    },
    # Names of the ufuncs that NumPy calls for those without an underscore.
    "_slice": (_slice, _TEXT),
    **{f"_{name}_chars": (getattr(str, name), _TEXT) for name in ("lstrip", "rstrip", "strip")},
    **{f"_{name}_whitespace": (getattr(str, name), _TEXT) for name in ("lstrip", "rstrip", "strip")},
}
"""Functions of ``np.strings`` that NULs mislead, as methods of the same arguments, and their results."""


def by_methods_of_text(
    function: Callable[..., Any], arguments: Sequence[Any], options: dict[str, Any]
) -> object:
    """Return the result of a function of ``np.strings`` for text with NULs; else NotImplemented."""
    found = _METHODS.get(function.__name__)
    if found is None or not any(map(_has_nul, [*arguments, *options.values()])):
        return NotImplemented
    given = list(arguments)
    if options:
        given = list(inspect.signature(function).bind(*arguments, **options).args)
    method, dtype = found
    # A method takes no array of one text.
    arrays = [np.asarray(own, dtype=object) for own in given]
    made = np.frompyfunc(method, len(arrays), 1)(*arrays)
    return np.asarray(made, dtype=object).astype(dtype)


def _has_nul(value: object) -> bool:
    if isinstance(value, str):
        return "\0" in value
    is_text = isinstance(value, np.ndarray) and value.dtype.kind in "TU"
    return is_text and any(
        "\0" in text for text in cast("Array", value).reshape(-1).tolist() if text is not None
    )
