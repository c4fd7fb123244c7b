"""Checks of arguments, which refuse values of a wrong kind before they are used.

Also missing attributes: a property that raises an error of this package raises an `AttributeError`.
"""

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from tensorwrapper._error_text import brief, shortened
from tensorwrapper.errors import ConversionError, DTypeError, TensorWrapperError
from tensorwrapper.typing import NullRows, WriteCasting

_S = TypeVar("_S")
_T = TypeVar("_T")
_NULL_ROWS: Final[tuple[str, ...]] = get_args(NullRows)


def check_kind_of(value: object, kind: type[object] | tuple[type[object], ...], what: str) -> None:
    """Raise unless a value is of a kind; `what` says which: "the target must be a tensor or a view".

    Examples
    --------
    >>> check_kind_of(3, str, "a name must be a text")
    Traceback (most recent call last):
    tensorwrapper.errors.ConversionError: a name must be a text, not 3 (int)
    """
    if not isinstance(value, kind):
        raise ConversionError(f"{what}, not {brief(value)} ({type(value).__name__})")


def check_null_rows(null_rows: object) -> None:
    """Raise unless this is a treatment of a null in place of a row.

    Examples
    --------
    >>> check_null_rows("drop")
    Traceback (most recent call last):
    tensorwrapper.errors.ConversionError: null_rows is 'refuse' or 'empty', not 'drop'
    """
    if null_rows not in _NULL_ROWS:
        raise ConversionError(f"null_rows is 'refuse' or 'empty', not {brief(null_rows)}")


def check_casting(casting: object, allowed: object = WriteCasting) -> None:
    """Raise unless a way to cast is one of a literal type.

    Examples
    --------
    >>> check_casting("safe")
    Traceback (most recent call last):
    tensorwrapper.errors.ConversionError: casting is 'same_kind' or 'unsafe', not 'safe'
    """
    if casting not in get_args(allowed):
        raise ConversionError(f"casting is {' or '.join(map(repr, get_args(allowed)))}, not {brief(casting)}")


def to_items_of(values: Iterable[_T], what: str) -> list[_T]:
    """Return the items of an iterable as a list.

    Examples
    --------
    >>> to_items_of(3, "tilings must be a sequence")
    Traceback (most recent call last):
    tensorwrapper.errors.ConversionError: tilings must be a sequence, not 3 (int)
    """
    try:
        items = iter(values)
    except TypeError as error:
        raise ConversionError(f"{what}, not {brief(values)} ({type(values).__name__})") from error
    return list(items)


def to_dtype(dtype: npt.DTypeLike) -> "np.dtype[Any]":
    """Return the type of NumPy that is named, whether or not tensors have such elements.

    Examples
    --------
    >>> to_dtype("f4"), to_dtype(bool)
    (dtype('float32'), dtype('bool'))
    >>> to_dtype("real")
    Traceback (most recent call last):
    tensorwrapper.errors.DTypeError: 'real' is not a type of elements: data type 'real' not understood
    """
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError, OverflowError, AttributeError) as error:
        raise DTypeError(f"{brief(dtype)} is not a type of elements: {shortened(str(error))}") from error


def times_like(dtype: "np.dtype[Any]", given: "np.dtype[Any]") -> "np.dtype[Any]":
    """Return a type of times without a unit as one with that of the given times; any other as it is.

    Examples
    --------
    >>> times_like(np.dtype("m8"), np.dtype("M8[D]")), times_like(np.dtype("m8"), np.dtype("i8"))
    (dtype('<m8[D]'), dtype('<m8'))
    """
    if dtype.kind in "mM" and given.kind in "mM" and np.datetime_data(dtype)[0] == "generic":
        order = (given if given.kind == dtype.kind else dtype).str[0]
        return np.dtype(f"{order}{dtype.str[1:3]}{given.str[3:]}")
    return dtype


def absent(error: TensorWrapperError) -> TensorWrapperError:
    """Return an error as one that is an `AttributeError` too: of a property that a value does not have.

    Python's `hasattr` is then False, and ``getattr`` with a default gives that.

    Examples
    --------
    >>> error = absent(DTypeError("no numbers"))
    >>> isinstance(error, DTypeError), isinstance(error, AttributeError), type(error).__name__
    (True, True, 'DTypeError')
    """
    return also(error, AttributeError)


def also(error: TensorWrapperError, builtin: type[Exception]) -> TensorWrapperError:
    """Return an error as one that is a builtin one too, which callers of others catch.

    Examples
    --------
    >>> error = also(DTypeError("no integers"), ValueError)
    >>> isinstance(error, DTypeError), isinstance(error, ValueError), type(error).__name__
    (True, True, 'DTypeError')
    """
    if isinstance(error, builtin):
        return error
    kind = type(error)
    found = _ALSO.get((kind, builtin)) or _ALSO.setdefault((kind, builtin), _joined_class(kind, builtin))
    return found(*error.args).with_traceback(error.__traceback__)


_ALSO: Final[dict[tuple[type[TensorWrapperError], type[Exception]], type[TensorWrapperError]]] = {}


def _joined_class(kind: type[TensorWrapperError], builtin: type[Exception]) -> type[TensorWrapperError]:
    def reduce(self: TensorWrapperError) -> object:
        # A class made here cannot be found by name when unpickling; the original class can.
        return kind, self.args

    body = {"__doc__": kind.__doc__, "__module__": kind.__module__, "__reduce__": reduce}
    return type(kind.__name__, (kind, builtin), body)


def or_absent(getter: Callable[[_S], _T]) -> Callable[[_S], _T]:
    """Return the result of a property's function; convert errors of this package as `absent` does."""
    if TYPE_CHECKING:
        return getter

    @functools.wraps(getter)
    def get(value: _S) -> _T:
        try:
            return getter(value)
        except TensorWrapperError as error:
            raise absent(error) from error.__cause__

    return get


def surely_fits(given: "np.dtype[Any]", dtype: "np.dtype[Any]") -> bool:
    """Return True if any element of a type is one of another: NumPy's ``safe``, but for times.

    A finer unit of time has fewer years, and the least integer is not a duration.

    Examples
    --------
    >>> surely_fits(np.dtype("i2"), np.dtype("f4")), surely_fits(np.dtype("M8[s]"), np.dtype("M8[ns]"))
    (True, False)
    """
    if given == dtype:
        return True
    # NumPy calls casts of ml_dtypes safe that may lose not-a-number, or saturate.
    is_small = [own.type.__module__ == "ml_dtypes" for own in (given, dtype)]
    if is_small[1] or (is_small[0] and not (dtype.kind in "fc" and dtype.itemsize >= 4)):
        return False
    return np.can_cast(given, dtype, "safe") and not (given.kind in "iumM" and dtype.kind in "mM")
