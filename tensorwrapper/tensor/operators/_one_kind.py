"""Values of one call of NumPy have one kind: text, bytes or numbers. NumPy would make text of the others."""

import inspect
from collections.abc import Callable, Iterator
from functools import cache, wraps
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_dtype
from tensorwrapper._arrays import shown_array, unmasked_array
from tensorwrapper._error_text import brief
from tensorwrapper._text_order import has_null_texts
from tensorwrapper.buffer.lowlevel import check_write, convert_elements
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.tensor.operators._operand import is_tensor_or_view
from tensorwrapper.tensor.operators._promotion import check_elements_computed_in, promoted
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.rows._reduce import fit_initial
from tensorwrapper.typing import Array

_Kind: TypeAlias = Literal["text", "bytes", "numbers"]

_REDUCED: Final = frozenset(("max", "min", "nanmax", "nanmin", "nanprod", "nansum", "prod", "sum"))
_LISTED: Final = frozenset(("column_stack", "dstack", "hstack", "vstack"))

_VALUES: Final = {
    "append": ("arr", "values"),
    "array_equal": ("a1", "a2"),
    "block": ("arrays",),
    "choose": ("choices",),
    "full_like": ("a", "fill_value"),
    "insert": ("arr", "values"),
    "pad": ("array", "constant_values"),
    "piecewise": ("x", "funclist"),
    "searchsorted": ("a", "v"),
    "select": ("choicelist", "default"),
    **dict.fromkeys(_LISTED, ("tup",)),
    **dict.fromkeys(_REDUCED, ("a", "initial")),
    **dict.fromkeys(("intersect1d", "setdiff1d", "setxor1d", "union1d"), ("ar1", "ar2")),
}
"""Functions, and those of their parameters that are elements, or lists of such."""

_FILLED: Final = {"pad": "constant_values", "select": "default"}
"""Functions that take zeros if this argument is not given."""

_LISTS: Final = frozenset(("arrays", "choices", "choicelist", "tup"))
"""Parameters that are lists of arrays."""

_WRITTEN: Final = frozenset(("full_like", "insert", "pad", "piecewise"))
"""Functions whose results have the type of the first argument."""


def with_one_kind(
    function: Callable[..., Any], arguments: "list[Any]", options: dict[str, Any], name: str
) -> "tuple[tuple[Any, ...], dict[str, Any]]":
    """Return the arguments of a call, with lists of text and bytes as arrays that keep NULs.

    Raises
    ------
    ConversionError
        If a null would become a text, or zeros would be filled in among text.
    DTypeError
        If there are values of several kinds.
    """
    short = function.__name__
    if function is np.apply_along_axis:
        first, *rest = _signature(function).bind(*arguments, **options).args
        return (_held(first), *rest), {}
    values = _VALUES.get(short)
    if values is None or _are_plain(short, arguments, options):
        return tuple(arguments), options
    with refusals(name):
        bound = _signature(function).bind(*arguments, **options)
    # `np.pad` has arguments that its signature does not name.
    found: dict[str, Any] = {**bound.arguments, **bound.arguments.get("kwargs", {})}
    given = {key: found[key] for key in values if key in found}
    kinds = {kind for own in given.values() for kind in _kinds_of(own)}
    if len(kinds) > 1:
        if short in ("array_equal", "setdiff1d"):
            return tuple(arguments), options  # They differ.
        raise DTypeError(f"{name}: {' and '.join(sorted(kinds))} have no type in common")
    if not kinds or kinds == {"numbers"}:
        asked = None if found.get("casting") == "unsafe" else found.get("dtype")
        given = _numbers(short, given, asked, name)
        _put_in(bound.arguments, given)
        return bound.args, bound.kwargs
    _check_filled(short, found, name)
    if short in _REDUCED and given.get("initial") is not None and np.ndim(given["initial"]):
        raise ConversionError(f"{name}: initial= is one element, not {brief(given['initial'])}")
    if short in ("sum", *_WRITTEN) and any(_has_null(own) for own in given.values()):
        raise ConversionError(f"{name}: an array cannot store nulls: `t.fill_null('')` replaces them")
    dtype = np.dtypes.StringDType() if kinds == {"text"} else np.dtype(object)
    # NumPy takes bytes of any length to begin with.
    kept = {key for key, own in given.items() if key == "initial" and isinstance(own, bytes)}
    _put_in(bound.arguments, {key: _typed(own, dtype) for key, own in given.items() if key not in kept})
    return bound.args, bound.kwargs


def _put_in(call: dict[str, Any], given: dict[str, Any]) -> None:
    for key, own in given.items():
        (call if key in call else call["kwargs"])[key] = own


def _numbers(short: str, given: dict[str, Any], asked: object, name: str) -> dict[str, Any]:
    """Return numbers that NumPy casts without a loss: it would wrap integers and times.

    Raises
    ------
    DTypeError, SizeOverflowError
        If some do not fit the type of the first argument, where they are written among its elements, or the
        type of all, where they are joined.
    """
    first, *others = given
    if short in _WRITTEN:
        target: Any = given[first].dtype if asked is None else to_dtype(cast("npt.DTypeLike", asked))
        return {first: given[first], **{key: _written(given[key], target) for key in others}}
    if given.get("initial") is not None:
        elements: Any = np.asarray(given[first])
        with refusals(name):
            return {**given, "initial": fitting_initial(short, given["initial"], elements.dtype, asked)}
    arrays = [own for key in given for own in _arrays_in(given[key])]
    if asked is not None:
        for own in arrays:
            check_elements_computed_in(own, cast("npt.DTypeLike", asked), name)
    types = list({own.dtype for own in arrays if own.dtype.kind in "biufcmM"})
    default = given.get("default")
    if type(default) is int and types and (dtype := promoted(types, name)).kind in "iu":
        check_write(default, dtype)
    times = {own.kind for own in types} & {*"mM"}
    wanted = promoted(types, name) if len(types) > 1 and times else None
    return {key: _exact(own, wanted, is_list=key in _LISTS) for key, own in given.items()}


def fitting_initial(short: str, initial: object, dtype: "np.dtype[Any]", asked: object) -> Array:
    """Return ``initial=`` of a reduction of elements of a type as an element of its result."""
    if short in ("nanprod", "nansum", "prod", "sum"):
        dtype = np.add.reduce(np.zeros(0, dtype), dtype=cast("npt.DTypeLike", asked)).dtype
    return fit_initial(np.asarray(initial)[()] if is_tensor_or_view(initial) else initial, dtype)


def _arrays_in(value: object) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list | tuple):
        for item in cast("list[object]", value):
            yield from _arrays_in(item)


def _exact(value: Any, dtype: "np.dtype[Any] | None", *, is_list: bool) -> Any:  # noqa: ANN401 - any argument
    """Return integers of lists as they are, not as floats, and times cast to one unit."""
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        if is_list or any(isinstance(own, np.ndarray) for own in items):
            return type(value)(_exact(own, dtype, is_list=False) for own in items)
        return unmasked_array(value) if {int} == set(map(type, items)) else value
    if dtype is not None and isinstance(value, np.ndarray) and value.dtype != dtype:
        return convert_elements(cast("Any", value), dtype, checked=True)
    return value


def _written(value: Any, dtype: "np.dtype[Any]") -> Any:  # noqa: ANN401 - any argument
    if value is None:
        return value
    if callable(value):
        return _held(value, dtype)
    if isinstance(value, list) and any(callable(own) for own in value):
        return [_written(own, dtype) for own in value]
    return check_write(value, dtype).astype(dtype, copy=False)


def _held(function: Callable[..., Any], dtype: "np.dtype[Any] | None" = None) -> Callable[..., Any]:
    """Return a function whose results are elements of a type: of that of the first result if none is given.

    Raises
    ------
    DTypeError, SizeOverflowError, ConversionError
        By that function, if a result does not fit, or hides nulls: NumPy cuts and wraps, and drops masks.
    """
    held = dtype

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - of any function
        nonlocal held
        made = shown_array(function(*arguments, **options))
        if held is None:
            held = made.dtype
        # `check_write` refuses all texts and objects; only longer texts would be cut.
        is_other = made.dtype.kind in "USO" and np.can_cast(made.dtype, held)
        return (made if is_other else check_write(made, held)).astype(held, copy=False)

    return call


_signature = cache(inspect.signature)


def _are_plain(short: str, arguments: "list[Any]", options: dict[str, Any]) -> bool:
    """Return True for numbers that NumPy takes as they are, of which most calls are."""
    if short in _REDUCED:
        return "initial" not in options and len(arguments) < 4 and _is_plain(arguments[0])
    if options or short in _WRITTEN:
        return False
    parts: Any = arguments[0] if short in _LISTED else arguments
    return isinstance(parts, list | tuple) and all(map(_is_plain, cast("list[object]", parts)))


def _is_plain(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biufc"


def _check_filled(short: str, given: dict[str, Any], name: str) -> None:
    """Raise if NumPy would fill in a zero."""
    wanted = _FILLED.get(short)
    if wanted is None or wanted in given or (short == "pad" and given.get("mode", "constant") != "constant"):
        return
    raise ConversionError(f"{name}: there is no zero among strings: {wanted}='' has the empty one")


def _kinds_of(value: object) -> Iterator[_Kind]:
    """Yield the kinds of elements of an argument, which may repeat."""
    if isinstance(value, str):
        yield "text"
    elif isinstance(value, bytes):
        yield "bytes"
    elif isinstance(value, list | tuple):
        items = cast("list[object]", value)
        seen: set[type] = set()
        for item in items:
            # Elements of one type are of one kind.
            if type(item) in seen and not isinstance(item, list | tuple | np.ndarray):
                continue
            seen.add(type(item))
            yield from _kinds_of(item)
    elif isinstance(value, np.ndarray):
        yield from _kinds_in(value)
    elif value is not None and not callable(value):
        yield "numbers"


def _kinds_in(array: Any) -> Iterator[_Kind]:  # noqa: ANN401 - an array of any elements
    kind: str = array.dtype.kind
    if kind in "UT":
        yield "text"
    elif kind == "S":
        yield "bytes"
    elif kind == "O":
        yield from _kinds_of(array.reshape(-1).tolist())
    elif array.size or kind != "f":
        yield "numbers"


def _has_null(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_null, cast("list[object]", value)))
    return value is None or (isinstance(value, np.ndarray) and has_null_texts(value))


def _typed(value: Any, dtype: "np.dtype[Any]") -> Any:  # noqa: ANN401 - any argument
    """Return text or bytes as an array; items of lists of arrays one by one."""
    if isinstance(value, np.ndarray):
        return value.astype(dtype) if value.dtype.kind in ("USO" if dtype.kind == "T" else "US") else value
    if isinstance(value, list | tuple) and _has_parts(value):
        return [_typed(own, dtype) for own in cast("list[object]", value)]
    return value if value is None or callable(value) else np.array(value, dtype)


def _has_parts(value: object) -> bool:
    """Return True if lists have arrays or functions in them."""
    if isinstance(value, list | tuple):
        return any(map(_has_parts, cast("list[object]", value)))
    return isinstance(value, np.ndarray) or callable(value)
