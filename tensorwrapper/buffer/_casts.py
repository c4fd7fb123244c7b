"""One rule for casts: which types go into which, and which elements a type cannot hold.

No cast that is checked makes or loses a value, a not-a-number or a not-a-time. `check_write` serves every
write, `convert_elements` every conversion that a caller asks for, `fit_number` single numbers.
"""

import math
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import surely_fits, times_like
from tensorwrapper._arrays import numpy_kind, unmasked_array
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.buffer.copies._copy import copy_elements
from tensorwrapper.buffer.strings._checks import fit_string
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError, SizeOverflowError
from tensorwrapper.typing import Array, WriteCasting

_Kind: TypeAlias = Literal["b", "i", "f", "c", "m", "M", "other"]
_Mask: TypeAlias = "npt.NDArray[np.bool_]"

_LEAST = -(2**63)  # not-a-time, as an integer


def kind_of_numbers(dtype: "np.dtype[Any]") -> _Kind:
    """Return the kind of elements; unsigned integers count as integers, ml_dtypes by their names."""
    if dtype.type.__module__ == "ml_dtypes":
        return "i" if "int" in dtype.name else "f"
    kind = "i" if dtype.kind == "u" else dtype.kind
    return cast("_Kind", kind) if kind in "bifcmM" else "other"


def integer_range(dtype: "np.dtype[Any]") -> tuple[int, int]:
    """Return the least and the greatest integer of a type; of durations and dates, not-a-time apart."""
    if dtype.kind in "iu":
        info = np.iinfo(cast("Any", dtype))
        return int(info.min), int(info.max)
    if dtype.kind in "mM":
        return _LEAST + 1, -_LEAST - 1
    bits = int(dtype.name.lstrip("uint"))  # of ml_dtypes
    return (0, 2**bits - 1) if dtype.name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


# Types.


def is_within_kind(given: "np.dtype[Any]", dtype: "np.dtype[Any]") -> bool:
    """Return True if elements of one type may be written as ones of another: NumPy's ``same_kind``.

    NumPy lets numbers of ml_dtypes become anything; here their integers are integers, the rest floats.
    """
    if "ml_dtypes" not in (given.type.__module__, dtype.type.__module__):
        return np.can_cast(given, dtype, "same_kind")
    order = "bifc"
    one, other = kind_of_numbers(given), kind_of_numbers(dtype)
    if one not in order or other not in order or given == dtype:
        return given == dtype
    return order.index(one) <= order.index(other)


def check_kinds(given: "np.dtype[Any]", dtype: "np.dtype[Any]") -> None:
    """Raise unless elements of one type may be written as ones of another.

    Raises
    ------
    DTypeError
        If they may not.
    """
    if not is_within_kind(given, dtype):
        raise DTypeError(
            f"elements of type {given} do not go into elements of type {dtype}: only within one kind, or to "
            'a wider one; astype() converts, assign(value, casting="unsafe") accepts losses'
        )


# Elements.


def convert_elements(
    array: Array, dtype: "np.dtype[Any]", *, checked: bool = True, copy: bool = True
) -> Array:
    """Return the elements as ones of this type, without gaps, in new memory.

    Fractions are dropped where the type has none, and other floats rounded. Without `copy` elements that
    surely fit are returned as they are, whatever their type.

    Raises
    ------
    SizeOverflowError
        If they are checked and the type cannot hold one; else integers wrap round as NumPy's.
    DTypeError
        If one has an imaginary part, and the type has none; if durations would become dates of another unit,
        or dates durations.
    ConversionError
        If one is a null, and the type has no place for it.
    """
    if array.dtype.kind == "T" and hasattr(array.dtype, "na_object") and not hasattr(dtype, "na_object"):
        nulls = array.reshape(-1).tolist().count(None)
        if nulls:  # NumPy would write the word None.
            raise ConversionError(f"{nulls} elements are nulls, which {dtype} cannot store")
    if not checked or surely_fits(array.dtype, dtype):
        return _copied(array, dtype) if copy else array
    return _cast(array, dtype)


def check_write(
    value: object,
    dtype: "np.dtype[Any]",
    *,
    casting: WriteCasting = "same_kind",
    weak: bool | None = None,
) -> Array:
    """Return a value as an array to write into elements of a type; refuse values that do not fit.

    Arrays and NumPy's numbers are cast within their kind, as NumPy's ``same_kind``. Python's numbers, and
    lists of them, have no dtype, so their values decide. A cast value is compared with the original.

    Parameters
    ----------
    value
        A number, an array, or lists of numbers.
    casting
        ``"unsafe"`` casts as NumPy does, even with losses.
    weak
        Whether the array was made of Python's numbers; found out by default.

    Raises
    ------
    DTypeError
        If the kinds differ: floats into integers, complex numbers into floats, text into numbers.
    ConversionError
        If an element is None.
    SizeOverflowError
        If an integer is not in the range of the type, a finite number would become infinite or zero, or a
        number no time.
    """
    array = _array_of(value, dtype)
    given = array.dtype
    if given.kind == "O" and any(item is None for item in array.reshape(-1).tolist()):
        raise ConversionError(f"elements of {dtype} cannot be null: `tw.nullable(t)` makes a nullable tensor")
    if given.kind in "SUTO" and type(value) is not int and casting != "unsafe":
        raise DTypeError(f"elements of type {given} do not go into elements of type {dtype}")
    if type(value) is int and given.kind == "O":
        raise SizeOverflowError(f"{value} does not fit elements of type {dtype}")
    if given == dtype or casting == "unsafe" or surely_fits(given, dtype):
        return array
    if weak is None:
        weak = isinstance(value, list | tuple | int | float | complex) and not isinstance(value, np.generic)
    # Empty lists have no dtype either, whatever NumPy makes of them.
    fits = not array.size or (given.kind in "biu" and kind_of_numbers(dtype) in "bif")
    if not (weak and fits):
        check_kinds(given, dtype)
    return _cast(array, dtype, exact=True)


_EXACT: Final = 2**53  # integers up to which each is a float of eight bytes


def fit_number(value: object, dtype: "np.dtype[Any]", what: str) -> Array:
    """Return a number, or a string, as an array of rank 0 of this type, if the type can say it.

    Raises
    ------
    SizeOverflowError
        If the type cannot hold the number.
    DTypeError
        If it is a float, and the elements are integers.
    ConversionError
        If it is not a number at all, or not-a-number where the type has none.
    """
    if dtype.kind in "TO":
        return fit_string(value, dtype, what)
    # Any such value fits, so skip the other checks.
    if dtype.itemsize == 8 and (
        (type(value) is float and dtype.char == "d")
        or (type(value) is int and dtype.char in "dlq" and -_EXACT <= value <= _EXACT)
    ):
        return np.array(value, dtype=dtype)
    try:
        own = unmasked_array(value)
        given = own.dtype.kind
        apart = not own.ndim and _is_apart(own.dtype, dtype)
        with np.errstate(all="ignore"):
            number = np.zeros((), dtype) if apart else np.array(value, dtype=dtype)
    except OverflowError as error:
        raise SizeOverflowError(f"{what}={value!r} does not fit elements of type {dtype}") from error
    except (TypeError, ValueError) as error:
        raise ConversionError(f"{what}={value!r} is nothing that elements of type {dtype} can be") from error
    if given in "fc" and dtype.kind in "iu" and np.ndim(cast("Any", value)) == 0 and bool(value == value):  # noqa: PLR0124
        raise DTypeError(f"{what}={value!r} has another kind than elements of type {dtype}")
    # NumPy reads text as a number, None as not-a-number, and takes any object for true.
    if dtype.kind not in "mM" and (value is None or given in "SUT" or given + dtype.kind == "Ob"):
        raise ConversionError(f"{what}={value!r} is nothing that elements of type {dtype} can be")
    if number.ndim:
        raise ConversionError(f"{what} must be one number, not an array of {number.shape}")
    if apart or number.dtype != dtype:
        odd = "another kind than" if apart else f"a unit, {number.dtype}, unlike"
        raise DTypeError(f"{what}={value!r} has {odd} elements of type {dtype}")
    with np.errstate(all="ignore"):
        lost = None if surely_fits(own.dtype, dtype) else _lost(own, number, exact=True)
    if lost is not None and lost.any():
        raise SizeOverflowError(f"{what}={value!r} does not fit elements of type {dtype}")
    return number


def _is_apart(given: "np.dtype[Any]", dtype: "np.dtype[Any]") -> bool:
    """Return True if no number of one type is a number of another, whatever its value."""
    one, other = kind_of_numbers(given), kind_of_numbers(dtype)
    if one in "mM":
        # A time with a unit cannot be converted to one without.
        return other not in (one, "other") or times_like(dtype, given) != dtype
    if one == "c":
        return other in "bifmM"
    # Floats are checked by value, since not-a-number is a special case.
    small = "ml_dtypes" in (given.type.__module__, dtype.type.__module__)
    return one == "f" and (other in "bmM" or (small and other == "i"))


def _array_of(value: object, dtype: "np.dtype[Any]") -> Array:
    kind = type(value)
    if issubclass(kind, np.ndarray) and not issubclass(kind, np.ma.MaskedArray):
        return cast("Array", value)
    try:
        array = unmasked_array(value)
        # Times are written as text, which is none of NumPy's own.
        return np.array(value, dtype) if dtype.kind in "mM" and array.dtype.kind == "U" else array
    except OverflowError as error:
        raise SizeOverflowError(
            f"there are integers that do not fit elements of type {dtype}: {error}"
        ) from error
    except ValueError as error:
        raise ExtentMismatchError(f"a {type(value).__name__} is not a box of numbers: {error}") from error


def _cast(array: Array, dtype: "np.dtype[Any]", *, exact: bool = False) -> Array:
    """Return elements as ones of a type that not all of them fit; raise if it cannot hold one.

    With `exact`, only zero becomes zero, only 0 and 1 become bools, and no time loses fractions.
    """
    given = array.dtype
    if not exact and numpy_kind(given) == "f" == numpy_kind(dtype):
        with np.errstate(all="ignore", over="raise"):
            try:
                return _copied(array, dtype)
            except FloatingPointError:
                pass  # The slow way finds the first element that does not fit.
    one, other = kind_of_numbers(given), kind_of_numbers(dtype)
    if {one, other} == {"m", "M"} and _have_other_units(given, dtype):
        raise DTypeError(
            f"elements of type {given} do not become ones of type {dtype}, whose unit differs: "
            f"astype('{one}8{dtype.str[3:]}') converts it first"
        )
    if one == "c" and other != "c":
        numbers = cast("npt.NDArray[np.complexfloating[Any, Any]]", array)
        if bool(np.any(numbers.imag)):
            raise DTypeError(f"elements of {given} have imaginary parts, which type {dtype} cannot hold")
        real: Array = numbers.real
        return (
            copy_elements(real, dtype) if surely_fits(real.dtype, dtype) else _cast(real, dtype, exact=exact)
        )
    with np.errstate(all="ignore"):
        fitted = _copied(array, dtype)
        if one in "mM" and other in "fc":
            fitted[np.isnat(cast("npt.NDArray[np.datetime64]", array))] = math.nan
        lost = _lost(array, fitted, exact=exact)
    if lost is not None and lost.any():
        first = array.reshape(-1)[int(np.argmax(lost.reshape(-1)))]
        raise SizeOverflowError(
            f"there are elements of {given} that do not fit elements of type {dtype}, the first is {first}"
        )
    return fitted


def _copied(array: Array, dtype: "np.dtype[Any]") -> Array:
    try:
        return copy_elements(array, dtype)
    except TypeError as error:
        # NumPy knows no way from one type of ml_dtypes to another, or to times.
        raise DTypeError(f"elements of type {array.dtype} do not become ones of type {dtype}") from error
    except SizeOverflowError:
        raise
    except OverflowError as error:
        # A week has more attoseconds than 64 bits count, whatever the elements are.
        raise SizeOverflowError(
            f"elements of type {array.dtype} fit none of type {dtype}: {error}"
        ) from error


def _lost(array: Array, fitted: Array, *, exact: bool) -> "_Mask | None":
    """Return which elements another type cannot hold; None for none of them."""
    given, dtype = array.dtype, fitted.dtype
    one, other = kind_of_numbers(given), kind_of_numbers(dtype)
    if "other" in (one, other) or not array.size:
        return None
    if other == "b":
        return _lost_truth(array, exact=exact)
    if one in "mM" and other in "mM":
        return _lost_times(array, fitted, exact=exact)
    if one == "c" or other == "c":
        return _lost_complex(array, fitted, exact=exact)
    if other == "f":
        return _lost_floats(array, fitted, exact=exact)
    if one == "f":
        return _lost_fractions(array, dtype)
    if one == "b":
        return None
    if one in "mM":
        array = array.view(np.dtype(np.int64).newbyteorder(given.byteorder))
    return _out_of_range(array, dtype, is_time=one in "mM")


def _out_of_range(array: Array, dtype: "np.dtype[Any]", *, is_time: bool = False) -> "_Mask | None":
    """Return which integers are beyond a type; the ends of an array tell that there is none."""
    if array.dtype.kind == "V":
        array = array.astype(np.int64)
    least, most = integer_range(dtype)
    if is_time:
        least = max(least, _LEAST + 1)
    low, high = int(array.min()), int(array.max())
    if least <= low and high <= most:
        return None
    # Compared as Python's integers, of which NumPy knows which are beyond a type.
    numbers: Any = array
    return cast("_Mask", (numbers < least) | (numbers > most))


def _lost_fractions(array: Array, dtype: "np.dtype[Any]") -> "_Mask | None":
    """Return which floats are beyond a type of integers, or of times, of which not-a-number is not a time."""
    numbers: Any = array.astype(np.float64) if array.dtype.type.__module__ == "ml_dtypes" else array
    absent: Any = np.isnan(numbers)
    any_absent = bool(absent.any())
    if any_absent and dtype.kind not in "mM":
        return cast("_Mask", absent | ~_within(numbers, dtype))
    present = numbers[~absent] if any_absent else numbers
    if not present.size:
        return None
    ends = np.asarray([present.min(), present.max()])
    if _within(ends, dtype).all():
        return None
    return cast("_Mask", ~absent & ~_within(numbers, dtype))


def _within(numbers: Any, dtype: "np.dtype[Any]") -> Any:  # noqa: ANN401 - floats, of any type
    """Tell which floats have a whole part in the range of a type of integers.

    Its ends are next to powers of two, which every float knows or takes for infinite.
    """
    least, most = integer_range(dtype)
    whole = np.trunc(numbers)
    above = whole > float(_LEAST) if dtype.kind in "mM" else whole >= float(least)
    return above & (whole < float(most + 1)) & np.isfinite(numbers)


def _lost_floats(array: Array, fitted: Array, *, exact: bool) -> "_Mask | None":
    """Return which numbers, or times, another type of floats cannot hold."""
    if array.dtype.kind in "mM":
        absent: Any = np.isnat(cast("npt.NDArray[np.datetime64]", array))
        found: Any = fitted
        return cast("_Mask", (np.isnan(found) != absent) | np.isinf(found))
    dtype, floats = fitted.dtype, kind_of_numbers(array.dtype) == "f"
    numbers: Any = array if floats or array.dtype.kind != "V" else array.astype(np.int8)
    made: Any = fitted
    lost: Any = None
    finite = np.isfinite(made)
    if not finite.all():
        same = (np.isnan(made) == np.isnan(numbers)) & (np.isinf(made) == np.isinf(numbers))
        lost = ~same
    elif floats and dtype.type.__module__ == "ml_dtypes":
        lost = ~np.isfinite(numbers)  # Of types without infinities or without not-a-number.
    most = _greatest_of_finite(dtype)
    if most is not None:
        beyond = np.abs(numbers.astype(np.float64)) > most
        lost = beyond if lost is None else lost | beyond
    if exact:
        zero = made == 0
        if zero.any():
            lost = zero & (numbers != 0) if lost is None else lost | (zero & (numbers != 0))
    return cast("_Mask | None", lost)


def _greatest_of_finite(dtype: "np.dtype[Any]") -> float | None:
    """Return the greatest number of a type that has no infinity and takes this one instead; else None."""
    if dtype.type.__module__ != "ml_dtypes":
        return None
    most = float(np.array(math.inf).astype(dtype))
    return most if math.isfinite(most) else None


def _lost_complex(array: Array, fitted: Array, *, exact: bool) -> "_Mask | None":
    lost: Any = None
    for one, made in zip(_parts_of(array), _parts_of(fitted), strict=False):
        own = _lost(one, made, exact=exact)
        if own is not None:
            lost = own if lost is None else lost | own
    return cast("_Mask | None", lost)


def _parts_of(array: Array) -> tuple[Array, ...]:
    numbers = cast("npt.NDArray[np.complexfloating[Any, Any]]", array)
    return (numbers.real, numbers.imag) if array.dtype.kind == "c" else (array,)


def _lost_truth(array: Array, *, exact: bool) -> "_Mask | None":
    """Return which elements are neither true nor false: not-a-number and not-a-time."""
    if exact and array.dtype.kind in "iuf":
        numbers: Any = array
        return cast("_Mask", (numbers != 0) & (numbers != 1))
    if array.dtype.kind in "mM":
        return cast("_Mask", np.isnat(cast("npt.NDArray[np.datetime64]", array)))
    return cast("_Mask", np.isnan(cast("Any", array))) if kind_of_numbers(array.dtype) in "fc" else None


def _lost_times(array: Array, fitted: Array, *, exact: bool) -> "_Mask | None":
    """Return which times another unit cannot count: a finer one has fewer years, a coarser no fractions."""
    if array.dtype == fitted.dtype:
        return None
    times = cast("npt.NDArray[np.datetime64]", array)
    known = ~np.isnat(times)
    try:
        if exact or _is_finer(fitted.dtype, array.dtype):
            return cast("_Mask", known & (fitted.astype(array.dtype) != array))
        most = MAX_INT64 // _multiplier(array.dtype, fitted.dtype)
    except OverflowError:
        return known  # 64 bits do not count one unit in the other.
    counts: Any = array.astype(np.int64)
    # NumPy rounds values near the least time past it: compare the signs.
    past = (counts < 0) & (fitted.astype(np.int64) >= 0)
    beyond = (counts > most) | (counts < -most)
    return cast("_Mask", (known & (past | beyond)) | (known == np.isnat(cast("Any", fitted))))


def _have_other_units(given: "np.dtype[Any]", dtype: "np.dtype[Any]") -> bool:
    """Return True if NumPy would take the count of one unit for that of another."""
    unit = np.datetime_data(given)
    return unit[0] != "generic" and unit != np.datetime_data(dtype)


def _multiplier(given: "np.dtype[Any]", dtype: "np.dtype[Any]") -> int:
    """Return by how much NumPy multiplies counts of one unit before it divides them into a longer one.

    The product may exceed 64 bits where the quotient does not, as of 3 days counted in pairs of weeks.
    """
    units = [np.datetime_data(own) for own in (given, dtype)]
    first, second = [np.dtype(f"m8[{name}]") for name, _ in units]
    finer = second if _is_finer(second, first) else first
    lengths = [np.ones(1, f"m8[{count}{name}]").astype(finer).astype(np.int64)[0] for name, count in units]
    own, theirs = map(int, lengths)
    return own // math.gcd(own, theirs) if given.kind == "m" else own


def _is_finer(dtype: "np.dtype[Any]", other: "np.dtype[Any]") -> bool:
    """Return True if the unit of a time is at most as long as that of another."""
    # Compare durations of both units: the unit of a type follows its kind, as in <M8[ns].
    own, theirs = [np.dtype(f"m8{one.str[3:]}") for one in (dtype, other)]
    return bool(np.ones(1, theirs).astype(own).astype(np.int64)[0] >= 1)


def equal_elements(one: Array, other: Array, *, equal_nan: bool = False) -> bool:
    """Return True if two arrays are equal; times of two units are compared in one that holds both. O(n).

    NumPy would wrap those beyond its range, which equal none within it.
    """
    if one.dtype != other.dtype and {one.dtype.kind, other.dtype.kind} <= {*"mM"}:
        common = np.result_type(one.dtype, other.dtype)
        try:
            one, other = (convert_elements(own, common, checked=True) for own in (one, other))
        except SizeOverflowError:
            return False
    return np.array_equal(one, other, equal_nan=equal_nan)
