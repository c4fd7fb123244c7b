"""Operands of tensors in NumPy calls: numbers, strings, arrays, lists, tensors and views."""

from collections.abc import Iterable
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np

from tensorwrapper._arrays import check_shown, unmasked_array
from tensorwrapper._error_text import brief
from tensorwrapper.buffer.lowlevel import convert_elements
from tensorwrapper.errors import ConversionError, DTypeError, JaggedModeError, TensorWrapperError
from tensorwrapper.shape import Shape
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._lazy_imports import has_tensor, may_have_nulls, nullable_of, with_its_nulls
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.protocols._null_lists import has_null
from tensorwrapper.typing import Array

Operand: TypeAlias = "TensorBase[Any] | Array | complex | str | bytes"
"""A tensor, an array, or a weak number or string of Python, which takes on the type of the others."""

_WEAK = (bool, int, float, complex, str, bytes)
_TYPED = (TensorBase, np.ndarray, np.generic)
_NUMBERS = {bool, int, float, complex}


def is_tensor(value: object) -> TypeGuard[TensorBase[Any]]:
    """Return True if a value is a tensor rather than a view, a number or an array."""
    return isinstance(value, TensorBase)


def is_tensor_or_view(value: object) -> TypeGuard[TensorCommon[Any]]:
    """Return True for a tensor or a view."""
    return isinstance(value, TensorCommon)


def is_foreign(value: object) -> bool:
    """Return True if a value implements NumPy's protocol in another way than arrays and tensors.

    Not of pandas: its columns compare a whole tensor with each object, or raise; here they are operands.
    """
    if isinstance(value, TensorCommon) or type(value).__module__.partition(".")[0] == "pandas":
        return False
    answer = getattr(type(value), "__array_ufunc__", None)
    return (
        answer is not None and answer is not np.ndarray.__array_ufunc__ and not isinstance(value, np.generic)
    )


def refuse_strangers(kinds: "Iterable[type]", what: str) -> None:
    """Raise if one of the types is an array of xarray, Dask or pydata/sparse.

    The call of xarray would end in an error about shapes. Dask leaves calls to tensors, so ``==`` would be
    False.

    Raises
    ------
    ConversionError
        If one is: it has names, which a tensor beside it may not, or it is not computed.
    """
    for kind in kinds:
        library = kind.__module__
        if library.startswith("dask.array"):
            raise ConversionError(
                f"{what}: an array of Dask is not computed here: `t.to_dask() + x` is one, too, and "
                "`t + tw.as_tensor(x)` computes all of it"
            )
        if library.partition(".")[0] == "sparse":
            raise ConversionError(
                f"{what}: a sparse array has few elements: `t + tw.as_tensor(x).to_dense()` has all"
            )
        if library.partition(".")[0] == "xarray":
            raise ConversionError(
                f"{what}: a {kind.__name__} of xarray goes by its names: "
                "`t.to_xarray() + t.to_xarray()` does so, and `t + t.to_xarray().values` goes by position"
            )


def is_several(value: object) -> bool:
    """Return True for lists, arrays of any library and tensors; not for numbers, times and strings."""
    if isinstance(value, np.generic | str | bytes):
        return False
    is_list = isinstance(value, list | tuple | range | bytearray | memoryview | TensorCommon)
    return is_list or (hasattr(value, "__len__") and (hasattr(value, "__array__") or may_have_nulls(value)))


def read_where(where: object, name: str) -> Operand:
    """Return ``where=`` of a function as an operand of bools; a null selects nothing.

    Raises
    ------
    DTypeError
        If it has other elements.
    """
    mask = read_mask(where, name)
    dtype = mask.dtype if isinstance(mask, TensorBase | np.ndarray) else np.asarray(mask).dtype
    if dtype != np.bool_:
        raise DTypeError(f"{name}: where= has elements of type bool, not {dtype}")
    return mask


def read_mask(where: object, what: str) -> Operand:
    """Return a condition as an operand; a null selects nothing."""
    mask: Any = read_operand(where, what)
    may_be_null = is_tensor_or_view(mask) and cast("Any", mask).is_nullable
    return cast("Operand", mask.fill_null(False) if may_be_null else mask)


def read_operands(values: "tuple[Any, ...]", what: str) -> list[Operand]:
    """Return operands to compute with; a repeated view is computed once."""
    seen: dict[int, Operand] = {}
    found = [
        seen[id(value)] if id(value) in seen else seen.setdefault(id(value), read_operand(value, what))
        for value in values
    ]
    found = in_one_unit(found, what)
    lists = [has_no_origin(value) for value in values]
    if not any(is_list and isinstance(own, TensorBase) for is_list, own in zip(lists, found, strict=True)):
        return found
    # They get the origin of the first tensor.
    beside = (own for own, is_list in zip(found, lists, strict=True) if is_tensor(own) and not is_list)
    first = next(beside, None)
    if first is None:
        return found
    flat = first.shape.flatten()
    return [placed(own, flat) if is_list else own for own, is_list in zip(found, lists, strict=True)]


def in_one_unit(operands: list[Operand], what: str) -> list[Operand]:
    """Return operands of which times have one unit: where NumPy casts to a finer one, it wraps.

    Raises
    ------
    DTypeError
        If no unit divides those of all.
    SizeOverflowError
        If a time is beyond the range of the finest unit.
    """
    times: list[Any] = [own.dtype for own in operands if isinstance(own, _TYPED) and own.dtype.kind in "mM"]
    if len({np.datetime_data(own) for own in times}) < 2:
        return operands
    try:
        unit, count = np.datetime_data(np.result_type(*times))
    except (OverflowError, TypeError) as error:
        given = ", ".join(map(str, dict.fromkeys(times)))
        raise DTypeError(f"{what}: {given} have no unit in common") from error
    return [_in_unit(own, f"8[{count}{unit}]") for own in operands]


def _in_unit(operand: Operand, unit: str) -> Operand:
    if not isinstance(operand, _TYPED) or operand.dtype.kind not in "mM":
        return operand
    dtype = np.dtype(operand.dtype.kind + unit)
    if isinstance(operand, TensorBase):
        return cast("TensorBase[Any]", cast("Any", operand).astype(dtype))
    return convert_elements(np.asarray(operand), dtype, checked=True)


def has_no_origin(value: object) -> bool:
    """Return True for lists and arrays of any library, also those that become tensors for their nulls."""
    return isinstance(value, list | tuple | np.ndarray) or not (
        is_tensor_or_view(value) or isinstance(value, _WEAK)
    )


def placed(operand: Operand, beside: Shape[Any]) -> Operand:
    """Return an operand without an origin as one that begins where a shape without layers does."""
    place = origin_of(beside)
    if not is_tensor(operand) or not any(place):
        return operand
    rank = operand.shape.rank
    # Operands of rows have their first modes, and operands of boxes their last ones.
    own = place[max(len(place) - rank, 0) :] if beside.is_box or rank > len(place) else place[:rank]
    origin = (*[0] * (rank - len(own)), *own)
    return cast("TensorBase[Any]", cast("Any", operand).translate_to(origin))


def _at_zero(tensor: TensorBase[Any]) -> TensorBase[Any]:
    """Return a tensor that another library counts from elsewhere, by position."""
    place = origin_of(tensor.shape)
    return cast("Any", tensor).translate_to([0] * len(place)) if any(place) else tensor


def origin_of(shape: Shape[Any]) -> tuple[int, ...]:
    """Return where the modes start; nothing if one starts in many places."""
    try:
        return cast("tuple[int, ...]", shape.origin)
    except JaggedModeError:
        return ()


def read_operand(value: object, what: str) -> Operand:
    """Return one operand to compute with.

    Raises
    ------
    ConversionError
        If it is not a valid operand.
    DTypeError
        If it is an array of objects.
    """
    if isinstance(value, np.str_ | np.bytes_):
        value = value[:]  # a text of Python, as NumPy's drops NULs at its end
    if type(value) in _WEAK:
        return cast("complex", value)
    if is_tensor_or_view(value):
        # At rank 0 it is a number with a dtype.
        tensor: Any = value._as_operand()
        # A number, whatever its container.
        number = (tensor.buffer.fill_value is not None or tensor.buffer.stores_orbits) and not tensor.rank
        return cast("TensorBase[Any]", tensor.to_dense() if number else tensor)
    if isinstance(value, np.ndarray | np.generic):
        array = cast("Array", value)
        return cast("TensorBase[Any]", nullable_of(array)) if hides_nulls(array) else _checked(array, what)
    if isinstance(value, range | bytearray | memoryview):
        return _read_array(value, what)
    if isinstance(value, list | tuple):
        return _read_list(cast("list[object]", value), what)
    if hasattr(type(value), "__array__"):
        foreign = with_its_nulls(value)
        return _at_zero(foreign) if is_tensor(foreign) else _read_foreign(value, what)
    if isinstance(value, _WEAK):
        # A subclass, such as an enumeration, is used by its value.
        return cast("complex", value)
    raise ConversionError(
        f"{what}: tensors are compared and computed with numbers, strings, arrays and tensors, not with "
        f"{brief(value)}{'; `t is None` tells whether there is a tensor' if value is None else ''}"
    )


def _read_list(value: "list[object] | tuple[object, ...]", what: str) -> Operand:
    """Return a list as an array, or as a nullable tensor if None is in it."""
    try:
        array = _read_array(value, what)
    except (ConversionError, DTypeError):
        if not has_null(value) and not has_tensor(value):
            raise
    else:
        if array.dtype.kind not in "SUT":
            return array
    # Read text item by item: NumPy's fixed-width types drop NULs at its end, and its StringDType takes the
    # word "None" for a null tensor of rank 0.
    return cast("TensorBase[Any]", nullable_of(value))


def hidden_operand(value: object, what: str) -> "Operand | None":
    """Return an argument of a function of arrays as an operand, if NumPy would read it otherwise.

    NumPy makes NaN, texts or objects of nulls in lists and in arrays of other libraries, and drops NULs at
    the end of text.
    """
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return _read_foreign(value, what) if _are_items(value.reshape(-1).tolist()) else None
        return read_operand(value, what) if value.dtype.kind == "T" and hides_nulls(value) else None
    if isinstance(value, bytes):
        return np.array(value[:], dtype=object) if value.endswith(b"\0") else None
    if isinstance(value, str):
        return np.array(value[:], np.dtypes.StringDType()) if value.endswith("\0") else None
    if type(value) in (list, tuple):
        return read_operand(value, what) if _are_items(cast("list[object]", value)) else None
    return read_operand(value, what) if may_have_nulls(value) else None


def _are_items(value: "list[object] | tuple[object, ...]") -> bool:
    """Return True for lists of elements, of any depth, with nulls, tensors of rank 0 or text that NumPy cuts.

    Lists of arrays are several operands, and no list of elements.
    """
    left, found = [value], False
    while left:
        items = left.pop()
        if set(map(type, items)) <= _NUMBERS:
            continue
        for item in items:
            if isinstance(item, list | tuple):
                left.append(cast("list[object]", item))
            elif isinstance(item, str | bytes):
                found = found or item[-1:] in ("\0", b"\0")
            elif np.ndim(cast("Any", item)) or may_have_nulls(item):
                return False
            elif item is None or isinstance(item, TensorCommon):
                found = True
    return found


def _read_foreign(value: object, what: str) -> Operand:
    """Return an array of another library; its text, which NumPy reads as objects, is a tensor."""
    try:
        return _read_array(value, what)
    except DTypeError:
        try:
            return _at_zero(nullable_of(value))
        except TensorWrapperError:
            pass
        raise


def hides_nulls(array: Array) -> bool:
    """Return True if a mask hides an element, or text is missing."""
    if array.dtype.kind == "T" and hasattr(array.dtype, "na_object"):
        missing: object = array.dtype.na_object
        if isinstance(missing, str):
            return False  # A text like others.
        given: Any = array
        # Only None is equal to itself.
        return bool(np.any(np.equal(given, cast("Any", None)) if missing is None else np.isnan(given)))
    return isinstance(array, np.ma.MaskedArray) and bool(np.ma.is_masked(cast("Any", array)))


def check_argument(value: object, what: str) -> None:
    """Raise if an argument, or an item of it, is a masked array whose mask hides an element.

    Raises
    ------
    DTypeError
        If it is: NumPy would read, or write, the hidden elements.
    """
    given: Any = value
    items: Iterable[Any] = given if isinstance(value, list | tuple) else (given,)
    for item in items:
        try:
            check_shown(item)
        except ConversionError as error:
            raise _masked(what) from error


def _masked(what: str) -> DTypeError:
    return DTypeError(
        f"{what}: a masked array is not an operand, as its mask would be lost; tw.as_tensor(x) has nulls for "
        "it, x.filled() is an array"
    )


def _read_array(value: object, what: str) -> Array:
    try:
        array = unmasked_array(value)
    except (TensorWrapperError, RuntimeError) as error:
        if isinstance(error, TensorWrapperError) and error.__cause__ is None:
            raise  # not of NumPy
        kind = type(value).__name__
        rows = "; `tw.jagged([[1], [2, 3]])` makes rows of lists" if isinstance(value, list | tuple) else ""
        raise ConversionError(
            f"{what}: a {kind} does not make an array: {str(error).rstrip('.')}{rows}"
        ) from error
    return _checked(array, what)


def _checked(given: Array, what: str) -> Array:
    array = np.asarray(given)
    if array.dtype.kind == "O":
        raise DTypeError(f"{what}: an array of objects is not an operand")
    return array


def first_tensor(values: "Iterable[object]") -> TensorBase[Any]:
    """Return the first tensor among values, the model for results."""
    return next(value for value in values if is_tensor(value))


def is_text(operand: Operand) -> bool:
    """Return True if an operand has strings: text or bytes."""
    if isinstance(operand, str | bytes):
        return True
    return not isinstance(operand, complex | float | int) and operand.dtype.kind in "SUTO"
