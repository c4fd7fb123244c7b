"""Ufuncs of tensors of strings: comparisons on bytes, without a conversion; the rest is NumPy's StringDType.

The order of UTF-8 is that of code points, so bytes and text are compared alike. A null equals a null and
nothing else; it has no order.
"""

import functools
import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array
from tensorwrapper._compiled import compared
from tensorwrapper._text_order import by_methods_of_text, extreme_of_texts
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import Dense, StringData, Strings
from tensorwrapper.buffer.lowlevel import holds_strings, packed_layout
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._operand import (
    Operand,
    first_tensor,
    has_no_origin,
    in_one_unit,
    is_text,
    read_operand,
    read_operands,
)
from tensorwrapper.tensor.operators._promotion import NO_BYTES
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.operators._shapes import (
    leading_modes,
    shape_of,
)
from tensorwrapper.tensor.protocols._string_values import read_strings
from tensorwrapper.typing import Array, IntArray

_Words: TypeAlias = "npt.NDArray[np.uint64]"

_BLOCK: Final = 1 << 15
"""Pairs of strings compared at a time, so that they stay in the cache of a processor."""
_MOST_CUTS: Final = 256
_MOST_BYTES: Final = 1 << 22
_NO_LENGTHS: Final = frozen_array(np.zeros(0, np.int64))
_NONE: Final = frozen_array(np.zeros(1, np.int64)).view(np.uint64)
_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}


def compute_strings(ufunc: np.ufunc, operands: list[Operand], options: dict[str, Any]) -> TensorBase[Any]:
    """Return the result of a ufunc with at least one tensor of strings."""
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
    are_texts = all(isinstance(own, np.ndarray) and own.dtype.kind == "T" for own in arrays)
    is_extreme = ufunc in (np.maximum, np.minimum) and not options and are_texts
    with text_refusals(name):
        result = extreme_of_texts(ufunc, *arrays) if is_extreme else call_exactly(ufunc, arrays, options)
    return _over_texts(result, shape, operands)


def call_on_texts(
    function: Callable[..., Any], name: str, arguments: "tuple[Any, ...]", options: dict[str, Any]
) -> object:
    """Return the result of a function of ``np.strings`` for rows: one tensor, or one for each result."""
    values = (*arguments, *options.values())
    read = read_operands(tuple([value for value in values if _has_elements(value)]), name)
    shape, reference = shape_of(read, name)
    rest = iter(read)
    flat: list[Any] = []
    for value in values:
        if _has_elements(value):
            flat.append(_array_of(next(rest), shape, reference, name))
        else:
            flat.append(value)
    named = dict(zip(options, flat[len(arguments) :], strict=True))
    with text_refusals(name):
        result = call_exactly(function, flat[: len(arguments)], named)
    if isinstance(result, tuple):
        return tuple([_over_texts(part, shape, read) for part in cast("tuple[Array, ...]", result)])
    return _over_texts(result, shape, read)


def call_exactly(function: Callable[..., Any], arguments: Sequence[Any], options: dict[str, Any]) -> object:
    """Return the result of a function of NumPy for text, exact also for text with NULs."""
    if getattr(function, "__module__", "") == "numpy.strings":
        # Beside a StringDType NumPy's partition takes no other text, and others drop NULs of `numpy.str_`.
        texts = np.dtypes.StringDType()
        arguments = [np.array(own[:], texts) if isinstance(own, str) else own for own in arguments]
    found = by_methods_of_text(function, arguments, options)
    return function(*arguments, **options) if found is NotImplemented else found


def _has_elements(value: object) -> bool:
    return isinstance(value, TensorCommon | np.ndarray)


@contextmanager
def text_refusals(name: str) -> Generator[None]:
    """Convert exceptions of NumPy; for nulls add a hint how to fill them."""
    with refusals(name):
        try:
            yield
        except (ValueError, TypeError) as error:
            if "null" not in str(error) and "NoneType" not in str(error):
                raise
            raise ConversionError(f"{name}: a null is not text; fill_null() gives it one") from error


def _over_texts(result: object, shape: Shape[Any], operands: Sequence[Operand]) -> TensorBase[Any]:
    """Return a tensor of NumPy's results for texts, one for each element."""
    flat = np.asarray(cast("Array", result)).reshape(-1)
    if flat.dtype.kind == "T":
        found, _ = read_strings(flat, "utf8")
        return first_tensor(operands)._make(packed_layout(shape), strings_of(found, operands))
    return first_tensor(operands)._make(packed_layout(shape), Dense(cast("Any", flat)))


def _times(arrays: list[Array]) -> list[Array]:
    """Return texts and how often to repeat them; one without characters never.

    NumPy repeats it one by one any number of times, and -1 is 2^64 - 1 there.
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
    """Return the strings of an operand, in row-major order of its indices."""
    if isinstance(operand, TensorBase):
        if not holds_strings(operand.dtype):
            raise DTypeError("strings are compared with strings, as in `st == 'ab'`")
        return operand.buffer.strings_of(operand.layout.implementation)
    return read_strings(operand, kind_of(operand))[0]


@functools.wraps(np.isin)
def isin(
    element: Array,
    test_elements: Any,  # noqa: ANN401 - whatever is looked for
    assume_unique: bool = False,  # noqa: FBT001, FBT002 - as NumPy has it
    invert: bool = False,  # noqa: FBT001, FBT002
    **options: Any,  # noqa: ANN401
) -> Array:
    """Return `numpy.isin`, which for text is exact: NumPy 2.4 drops NULs at the end of the tests."""
    elements, tests = np.asarray(element), np.asarray(test_elements)
    if elements.dtype.kind not in "TUO" or tests.dtype.kind not in "TUO":
        elements, tests = map(np.asarray, in_one_unit([elements, tests], "isin"))
        return np.isin(elements, tests, assume_unique, invert, **options)
    wanted = set(tests.reshape(-1).tolist())
    there = map(wanted.__contains__, elements.reshape(-1).tolist())
    found: Array = np.fromiter(there, np.bool_, elements.size).reshape(elements.shape)
    return cast("Array", np.logical_not(found)) if invert else found


def as_tests(value: object) -> object:
    """Return what `isin` looks for as an array: without nulls, and text of lists item by item."""
    if isinstance(value, str):
        return np.array(value[:], np.dtypes.StringDType())
    found = read_operand(value, "isin") if has_no_origin(value) else value
    if isinstance(found, np.ndarray):
        return found
    if not isinstance(found, TensorCommon) or found.shape.rank == 0:
        return value
    tensor: Any = found._as_operand()
    return tensor.drop_null().elements() if tensor.buffer.nullable else tensor


def strings_of(data: StringData, operands: Iterable[object]) -> Strings:
    """Return the buffer of strings made from operands: it has room for nulls if one of them has."""
    types = [getattr(own, "dtype", None) for own in operands]
    room = any(isinstance(own, TensorBase) and own.buffer.nullable for own in operands)
    return Strings(data, nullable=room or any(hasattr(own, "na_object") for own in types) or None)


def places_of(
    operand: Operand, shape: Shape[Any], reference: "TensorBase[Any] | None", name: str
) -> "IntArray | None":
    """Return which string of an operand is at each element of the result; None if they are in order."""
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
            raise DTypeError(NO_BYTES.format(name))
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
    """Return the result of a comparison of each pair of strings."""
    only_equal = name in ("equal", "not_equal")
    for strings in data:
        if strings.null_count and not only_equal:
            raise ConversionError(f"{name}: nulls have no order; fill_null() gives them a text")
    sides = [_Side.of(strings, at) for strings, at in zip(data, places, strict=True)]
    result = np.empty(size, np.bool_)
    comparison: np.ufunc = getattr(np, name)
    for first in range(0, size, _BLOCK):
        part = slice(first, first + _BLOCK)
        one, other = [side.part(part) for side in sides]
        out = result[part]
        if only_equal:
            comparison(_equal(one, other, len(out)), np.True_, out=out)
        else:
            comparison(_order(one, other, len(out)), 0, out=out)
    return result


def _equal(one: "_Side", other: "_Side", count: int) -> "npt.NDArray[np.bool_]":
    """Return where pairs of strings are equal or both null."""
    order = compared(one.runs, other.runs, count, only_equal=True)
    found = _same_bytes(one, other, count) if order is None else order == 0
    for side in (one, other):
        if side.valid is not None:
            found &= side.valid
    if one.valid is not None and other.valid is not None:
        found |= ~one.valid & ~other.valid
    return found


def _same_bytes(one: "_Side", other: "_Side", count: int) -> "npt.NDArray[np.bool_]":
    """Return where pairs of strings have the same bytes, comparing lengths first."""
    found: npt.NDArray[np.bool_] = one.lengths == other.lengths
    found = found if len(found) == count else np.repeat(found, count)
    shifts = _shifts(one, other)
    if shifts is None:
        for pairs, differ, *_ in _words_of_both(one, other, np.flatnonzero(found)):
            found[pairs[differ]] = False
    else:
        for first, last in itertools.pairwise(shifts):
            begin, end = one.span(first, last)
            start, stop = other.span(first, last)
            size = min(end - begin, stop - start)
            wrong = np.flatnonzero(one.data[begin : begin + size] != other.data[start : start + size])
            found[first + np.searchsorted(one.starts[first:last], wrong + begin, "right") - 1] = False
    return found


def _shifts(one: "_Side", other: "_Side") -> list[int] | None:
    """Return the marks of runs of pairs that lie equally far apart on both sides.

    Return None if the distance changes often, or if strings have gaps or many bytes. Words compare those.
    """
    if len(one.starts) != len(other.starts) or not one.is_packed or not other.is_packed:
        return None
    shift = other.starts - one.starts
    cuts = np.flatnonzero(shift[1:] != shift[:-1]) + 1
    if len(cuts) > _MOST_CUTS:
        return None
    return [0, *cuts.tolist(), len(shift)]


def _order(one: "_Side", other: "_Side", count: int) -> "npt.NDArray[np.signedinteger[Any]]":
    """Return -1, 0 or 1 for pairs of strings."""
    compiled = compared(one.runs, other.runs, count)
    if compiled is not None:
        return compiled
    # A prefix sorts before the longer string.
    order = np.sign(np.broadcast_to(one.lengths - other.lengths, count))
    for pairs, differ, words, behind in _words_of_both(one, other, np.arange(count)):
        own = behind[differ] if len(behind) > 1 else behind
        first, second = [np.broadcast_to(word, len(pairs))[differ].byteswap() >> own for word in words]
        order[pairs[differ]] = np.where(first < second, -1, 1)
    return cast("IntArray", order)


def _words_of_both(
    one: "_Side", other: "_Side", pairs: IntArray
) -> "Iterator[tuple[IntArray, npt.NDArray[np.bool_], tuple[_Words, _Words], _Words]]":
    """Yield eight bytes at a time of the pairs that agree so far.

    Each item has the pairs, whether they differ there, and the words of both sides, first byte lowest. The
    last part is how many of the highest bits of each word follow the end of the shorter string.
    """
    lengths = np.minimum(one.lengths, other.lengths)
    shorter = np.broadcast_to(lengths, len(pairs)) if len(lengths) == 1 else lengths[pairs]
    own, theirs = one.starts_of(pairs), other.starts_of(pairs)
    # Decided pairs remain in the arrays until they are half of all: removing them costs a copy.
    step, left = 0, shorter > 0
    while n_left := np.count_nonzero(left):
        if 2 * n_left < len(pairs):
            pairs, shorter = pairs[left], shorter[left]
            own, theirs = _kept(own, left), _kept(theirs, left)
            left = np.ones(n_left, np.bool_)
        words = one.words(own, step), other.words(theirs, step)
        apart: _Words = words[0] ^ words[1]
        behind: _Words = _NONE
        if shorter.min() < step + 8:
            behind = (64 - 8 * np.clip(shorter - step, 0, 8)).astype(np.uint64)
            apart = apart << behind
        differ = (apart != 0) & left
        if differ.any():
            yield pairs, differ, words, behind
            left &= ~differ
        step += 8
        left &= shorter > step


def _kept(starts: IntArray, kept: "npt.NDArray[np.bool_]") -> IntArray:
    return starts if len(starts) == 1 < len(kept) else starts[kept]


@final
@frozen(eq=False)
class _Side:
    """The strings on one side of a comparison: one for each pair, or one for all."""

    data: "npt.NDArray[np.uint8]"
    """The bytes, eight or more."""
    starts: IntArray
    stops: IntArray
    lengths: IntArray
    valid: "npt.NDArray[np.bool_] | None"
    """Validity; None if there are no nulls."""

    @classmethod
    def of(cls, strings: StringData, at: "IntArray | None") -> "_Side":
        """Return the strings at some places; `part` gives them lengths."""
        data = np.asarray(strings.data)
        if len(data) < 8:
            data = np.concatenate([data, np.zeros(8 - len(data), np.uint8)])
        starts, stops = strings.starts, strings.stops
        valid = strings.is_valid() if strings.null_count else None
        if at is not None:
            starts, stops = starts[at], stops[at]
            valid = None if valid is None else valid[at]
        return cls(data, starts, stops, _NO_LENGTHS, valid)

    def part(self, part: slice) -> "_Side":
        """Return some of the strings, or the one for all."""
        own = part if len(self.starts) > 1 else slice(None)
        starts, stops = self.starts[own], self.stops[own]
        return _Side(
            self.data, starts, stops, stops - starts, None if self.valid is None else self.valid[own]
        )

    @property
    def runs(self) -> "tuple[npt.NDArray[np.uint8], IntArray, IntArray]":
        """The bytes, and where each string begins and ends."""
        return self.data, self.starts, self.stops

    def starts_of(self, pairs: IntArray) -> IntArray:
        """Return where the strings of some pairs begin, or the one for all."""
        return self.starts if len(self.starts) == 1 else self.starts[pairs]

    @property
    def is_packed(self) -> bool:
        """True if each string begins at the end of the one before it, and all have few bytes together."""
        starts, lengths = self.starts, self.lengths
        few = len(starts) > 1 and self.stops.item(-1) - starts.item(0) <= _MOST_BYTES
        return few and bool((starts[1:] == starts[:-1] + lengths[:-1]).all())

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return where the bytes of strings that are packed begin and end."""
        return self.starts.item(first), self.starts.item(last - 1) + self.lengths.item(last - 1)

    def words(self, starts: IntArray, step: int) -> "_Words":
        """Return eight bytes of each string from a position on, padded with zeros at the end of the data."""
        last = len(self.data) - 8
        apart = starts.item(1) - starts.item(0) if len(starts) > 1 else 0
        if apart > 0 and starts.item(-1) + step <= last and (np.diff(starts) == apart).all():
            # Evenly spaced strings are an array without a copy.
            return np.ndarray(starts.shape, "<u8", self.data, starts.item(0) + step, (apart,))
        places = starts + step
        over = np.ndarray((last + 1,), "<u8", self.data, strides=(1,))
        if places.max() <= last:
            return over[places]
        found: _Words = over[np.minimum(places, last)]
        found >>= (8 * np.maximum(places - last, 0)).view(np.uint64)
        return found
