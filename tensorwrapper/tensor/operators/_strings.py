"""Ufuncs of tensors of strings: comparisons on bytes, without a conversion; the rest is NumPy's StringDType.

The order of UTF-8 is that of code points, so bytes and text are compared alike. A null equals a null and
nothing else; it has no order.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import Dense, StringData, Strings
from tensorwrapper.buffer.lowlevel import holds_strings, packed_layout
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._operand import Operand, first_tensor, is_text, read_operands
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.operators._shapes import (
    leading_modes,
    shape_of,
)
from tensorwrapper.tensor.reading._string_values import read_strings
from tensorwrapper.typing import Array, IntArray

_E = TypeVar("_E", bound=np.generic)

__all__ = ["call_on_texts", "compute_strings", "data_of", "kind_of", "places_of"]

_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}


def compute_strings(ufunc: np.ufunc, operands: list[Operand], options: dict[str, Any]) -> TensorBase[Any]:
    """Return the tensor of a ufunc of which at least one operand is a tensor of strings."""
    name = ufunc.__name__
    if ufunc.nout != 1:
        raise DTypeError(f"{name}: no ufunc of strings has {ufunc.nout} results")
    compares = name in _COMPARISONS and len(operands) == 2
    if compares and not all(map(is_text, operands)):
        raise DTypeError(f"{name}: strings are compared with strings, as in `st == 'ab'`")
    shape, reference = shape_of(operands, name)
    if compares:
        kinds = {kind_of(operand) for operand in operands}
        if len(kinds) > 1:
            raise DTypeError(f"{name}: text is compared with text, and bytes with bytes")
        data = [data_of(operand) for operand in operands]
        places = [places_of(operand, shape, reference, name) for operand in operands]
        flat = _compare(name, data, places, shape.size)
        return first_tensor(operands)._make(packed_layout(shape), Dense(cast("Any", flat)))
    arrays = [_array_of(operand, shape, reference, name) for operand in operands]
    if name == "multiply" and len(arrays) == 2:
        arrays = _times(arrays)
    with _text_refusals(name):
        result = ufunc(*arrays, **options)
    return _over_texts(result, shape, operands)


def call_on_texts(
    function: Callable[..., Any], name: str, arguments: "tuple[Any, ...]", options: dict[str, Any]
) -> object:
    """Return what a function of ``np.strings`` makes of rows: a tensor, or one for each of its results."""
    values = (*arguments, *options.values())
    read = read_operands(tuple([value for value in values if _has_elements(value)]), name)
    shape, reference = shape_of(read, name)
    rest = iter(read)
    flat: list[Any] = []
    for value in values:
        if _has_elements(value):
            flat.append(_array_of(next(rest), shape, reference, name))
        else:
            # NumPy's partition takes no other text beside those of a StringDType.
            flat.append(np.asarray(value, np.dtypes.StringDType()) if isinstance(value, str) else value)
    named = dict(zip(options, flat[len(arguments) :], strict=True))
    with _text_refusals(name):
        result = function(*flat[: len(arguments)], **named)
    if isinstance(result, tuple):
        return tuple([_over_texts(part, shape, read) for part in cast("tuple[Array, ...]", result)])
    return _over_texts(result, shape, read)


def _has_elements(value: object) -> bool:
    return isinstance(value, TensorCommon | np.ndarray)


@contextmanager
def _text_refusals(name: str) -> Generator[None]:
    """Turn exceptions of NumPy into ours, and say of nulls what gives them a text."""
    with refusals(name):
        try:
            yield
        except (ValueError, TypeError) as error:
            if "null" not in str(error) and "NoneType" not in str(error):
                raise
            raise ConversionError(f"{name}: a null is no text; fill_null() gives it one") from error


def _over_texts(result: object, shape: Shape[Any], operands: Sequence[Operand]) -> TensorBase[Any]:
    """Return a tensor of what NumPy made of texts, one for each element."""
    flat = np.asarray(cast("Array", result)).reshape(-1)
    if flat.dtype.kind == "T":
        found, _ = read_strings(flat, "utf8")
        return first_tensor(operands)._make(packed_layout(shape), Strings(found))
    return first_tensor(operands)._make(packed_layout(shape), Dense(cast("Any", flat)))


def _times(arrays: list[Array]) -> list[Array]:
    """Return texts and how often to repeat them; one without characters never.

    NumPy repeats it one by one as often as it is told, and -1 is 2^64 - 1 there.
    """
    first, second = map(np.asarray, arrays)
    if second.dtype.kind in "iu":
        return [first, np.where(first == "", 0, second)]
    if first.dtype.kind in "iu":
        return [np.where(second == "", 0, first), second]
    return arrays


def kind_of(operand: Operand) -> Literal["utf8", "binary"]:
    if isinstance(operand, str):
        return "utf8"
    if isinstance(operand, bytes):
        return "binary"
    return "binary" if cast("Array", operand).dtype.kind in "SO" else "utf8"


def data_of(operand: Operand) -> StringData:
    """Return the strings of an operand, in row-major order of its own indices."""
    if isinstance(operand, TensorBase):
        if not holds_strings(operand.dtype):
            raise DTypeError("strings are compared with strings, as in `st == 'ab'`")
        return operand.buffer.strings_of(operand.layout.implementation)
    return read_strings(operand, kind_of(operand))[0]


def places_of(
    operand: Operand, shape: Shape[Any], reference: "TensorBase[Any] | None", name: str
) -> "IntArray | None":
    """Return which string of an operand stands at each element of the result; None: as they come."""
    extents = operand.shape if isinstance(operand, np.ndarray) else ()
    rank = operand.shape.rank if isinstance(operand, TensorBase) else len(extents)
    if not rank:
        return np.zeros(1, np.int64)
    if reference is not None:
        plain = shape.flatten()
        modes = leading_modes(operand, plain, name)
        if modes == plain.rank:
            return None
        splits = OperandShapes.splits_under(plain, modes)
        return np.repeat(np.arange(len(splits) - 1), np.diff(splits))
    given = operand.shape.extents if isinstance(operand, TensorBase) else extents
    if given == shape.extents:
        return None
    numbers = np.arange(int(np.prod(given, dtype=np.int64))).reshape(given)
    return np.broadcast_to(numbers, shape.extents).reshape(-1)


def _array_of(operand: Operand, shape: Shape[Any], reference: "TensorBase[Any] | None", name: str) -> Any:  # noqa: ANN401
    """Return an operand as NumPy's: text as StringDType, one for each element, or one for all."""
    if is_text(operand):
        if kind_of(operand) == "binary":
            raise DTypeError(
                f"{name}: ufuncs of bytes are comparisons; text has the others, as NumPy's StringDType"
            )
        strings = Strings(data_of(operand))
        flat = strings.array_of(strings.stored)
    elif isinstance(operand, TensorBase):
        flat = operand.elements()
    else:
        flat = np.asarray(operand).reshape(-1)
        if not np.ndim(operand):
            return operand
    places = places_of(operand, shape, reference, name)
    return flat if places is None or len(flat) == 1 else flat[places]


def _compare(
    name: str, data: list[StringData], places: "list[IntArray | None]", size: int
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return what a comparison says of each pair of strings."""
    left, right = data
    if name in ("equal", "not_equal"):
        found = _equal(left, right, places, size)
        return found if name == "equal" else ~found
    for strings in data:
        if strings.null_count:
            raise ConversionError(f"{name}: nulls have no order; fill_null() gives them a text")
    order = _order(left, right, places, size)
    return {
        "less": order < 0,
        "less_equal": order <= 0,
        "greater": order > 0,
        "greater_equal": order >= 0,
    }[name]


def _spread(array: "npt.NDArray[_E]", places: "IntArray | None") -> "npt.NDArray[_E]":
    return array if places is None or len(places) == 1 else array[places]


def _equal(
    left: StringData, right: StringData, places: "list[IntArray | None]", size: int
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return where two strings have the same bytes, or both are nulls: lengths first, then bytes."""
    valid = [_spread(strings.is_valid(), at) for strings, at in zip((left, right), places, strict=True)]
    lengths = [_spread(strings.lengths(), at) for strings, at in zip((left, right), places, strict=True)]
    found = np.broadcast_to((lengths[0] == lengths[1]) & valid[0] & valid[1], (size,)).copy()
    candidates = np.flatnonzero(found & (np.broadcast_to(lengths[0], (size,)) > 0))
    if len(candidates):
        found[candidates] = _order_at(left, right, places, candidates) == 0
    if left.null_count and right.null_count:
        found |= np.broadcast_to(~valid[0] & ~valid[1], (size,))
    return found


def _order(left: StringData, right: StringData, places: "list[IntArray | None]", size: int) -> IntArray:
    return _order_at(left, right, places, np.arange(size))


def _order_at(
    left: StringData, right: StringData, places: "list[IntArray | None]", numbers: IntArray
) -> IntArray:
    """Return -1, 0 or 1 for pairs of strings: byte by byte, of the pairs that agree so far.

    As many steps as the longest common prefix has bytes, each over the pairs that are left.
    """
    sides: list[tuple[Any, IntArray, IntArray]] = []
    for strings, at in zip((left, right), places, strict=True):
        own = numbers if at is None else np.zeros(len(numbers), np.int64) if len(at) == 1 else at[numbers]
        sides.append((np.asarray(strings.data), strings.starts[own], strings.lengths()[own]))
    (a, a_starts, a_lengths), (b, b_starts, b_lengths) = sides
    # Where one string is the beginning of the other, the shorter one comes first.
    order = np.sign(a_lengths - b_lengths)
    shorter = np.minimum(a_lengths, b_lengths)
    open_pairs = np.flatnonzero(shorter > 0)
    step = 0
    while len(open_pairs):
        one, other = a[a_starts[open_pairs] + step], b[b_starts[open_pairs] + step]
        differ = one != other
        order[open_pairs[differ]] = np.where(one[differ] < other[differ], -1, 1)
        step += 1
        open_pairs = open_pairs[~differ & (shorter[open_pairs] > step)]
    return cast("IntArray", order)
