"""Packed elements of a box, or of another packing of it, after a check that the others follow from them."""

import math
import numbers
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._error_text import brief
from tensorwrapper._memory import new_memory
from tensorwrapper.buffer.copies._symmetric_copy import elements_at, pack_box, square_of
from tensorwrapper.errors import ConversionError, SymmetryError
from tensorwrapper.shape import Operation, Symmetry
from tensorwrapper.shape.lowlevel import Copies, Row, closed_form, columns_of, fold_columns
from tensorwrapper.typing import Array, Extents, Index, IntArray

_Reader: TypeAlias = Callable[[tuple[IntArray, ...]], Array]
"""Returns the elements at indices of each mode, which broadcast."""

_STRIP = 128  # positions of the first mode that are compared at a time
_CHUNK = 1 << 18  # elements at a time


def pack_checked(array: Array, symmetry: Symmetry, tolerance: float) -> Array:
    """Return the packed elements of a box; a copy.

    A stored element is the one at the canonical index, not a mean. Of an element that its own conjugate
    decides, only the real part (or the imaginary one) is stored.

    Raises
    ------
    SymmetryError
        If an element differs by more than `tolerance` from the one that the packed elements give back. The
        text has the first index of such an element in row-major order.
    """
    packed = pack_box(array, symmetry)
    if tolerance == 0 and all(_is_fixed(array, own) for own in symmetry.generators):
        return packed

    def read(columns: tuple[IntArray, ...]) -> Array:
        # A slab of the first mode needs no gather.
        if columns and all(own.size == n for own, n in zip(columns[1:], array.shape[1:], strict=True)):
            start = int(columns[0].flat[0])
            return array[start : start + columns[0].size]
        return np.asarray(array[columns])

    check_packed(read, packed, symmetry, array.shape, tolerance)
    return packed


def check_own_conjugates(values: Array, symmetry: Symmetry, extents: Extents) -> None:
    """Raise unless packed elements that are their own conjugates are real, or imaginary if they are negated.

    O(n) for a Hermitian matrix of n rows; never more than O(stored) for each exchange of modes.

    Raises
    ------
    SymmetryError
        At the first such element in packed order; the text has its index.
    """
    wrong: list[int] = []
    for places, sign in _fixed_elements(symmetry, extents) if values.dtype.kind == "c" else ():
        fixed = values[places]
        differs = ((fixed.imag if sign > 0 else fixed.real) != 0) & ~np.isnan(fixed)
        wrong += places[differs].min(initial=len(values), keepdims=True).tolist()
    first = min(wrong, default=len(values))
    if first < len(values):
        ordinal = symmetry.ordinals(extents)[first : first + 1]
        index = tuple([int(column[0]) for column in columns_of(ordinal, extents)])
        raise SymmetryError(mismatch_text(lambda _: values[first:], symmetry, index, 0.0))


def repack_checked(
    values: Array, source: Symmetry, target: Symmetry, extents: Extents, tolerance: float
) -> Array:
    """Return the packed elements of one symmetry from those of another; raises as `pack_checked`.

    It never holds all elements of the box. Between s8 and s4, and all other pairs of equal blocks, it takes
    one pass over the packed elements.
    """
    one, two = closed_form(source), closed_form(target)
    if isinstance(one, Copies) and isinstance(two, Row) and _are_copies(two, one):
        return square_of(values, one, extents[: one.block.width]).reshape(-1)
    if isinstance(one, Row) and isinstance(two, Copies) and _are_copies(one, two):
        count = two.block.count(extents[: two.block.width])
        matrix, exchange = values.reshape(count, count), Operation((1, 0), two.sign, two.conjugate)
        packed = pack_box(matrix, Symmetry(2, [exchange]))
        if tolerance == 0 and _is_fixed(matrix, exchange):
            return packed
    else:
        packed = _values_at(values, source, target.ordinals(extents), extents)
        if target <= source:
            return packed

    def read(columns: tuple[IntArray, ...]) -> Array:
        return elements_at(values, fold_columns(source, columns, extents))

    check_packed(read, packed, target, extents, tolerance)
    return packed


def _are_copies(row: Row, copies: Copies) -> bool:
    return copies.copies == 2 and row.blocks == (copies.block, copies.block)


def _values_at(values: Array, symmetry: Symmetry, ordinals: IntArray, extents: Extents) -> Array:
    found = new_memory((len(ordinals),), values.dtype)
    for start in range(0, len(ordinals), _CHUNK):
        part = slice(start, start + _CHUNK)
        folded = fold_columns(symmetry, columns_of(ordinals[part], extents), extents)
        found[part] = elements_at(values, folded)
    return found


def _is_fixed(array: Array, operation: Operation) -> bool:
    """Return True if an operation keeps an array without NaN: a strip of the first mode at a time."""
    permutation, sign, conjugate = operation.permutation, operation.sign, operation.conjugate
    moved = array.transpose(permutation)
    if not array.ndim:
        return bool(acted(moved, sign, conjugate=conjugate) == array)
    # For swapped modes, the half is enough where the second is not before the first.
    other = permutation[0]
    halves = other if permutation[other] == 0 and other else None
    step = max(min(_STRIP, _CHUNK // max(math.prod(array.shape[1:]), 1)), 1)
    for start in range(0, len(array), step):
        part: list[slice] = [slice(start, start + step), *[slice(None)] * (array.ndim - 1)]
        if halves is not None:
            part[halves] = slice(start, None)
        key = tuple(part)
        if not np.array_equal(array[key], acted(moved[key], sign, conjugate=conjugate)):
            return False
    return True


def acted(part: Array, sign: int, *, conjugate: bool) -> Array:
    """Return elements after an operation with this sign, which may conjugate them."""
    own = part if sign > 0 else np.negative(part)
    return np.conjugate(own) if conjugate else own


class _Fixed(NamedTuple):
    """The packed elements that an operation maps to their own conjugates."""

    places: IntArray
    sign: int


def _fixed_elements(symmetry: Symmetry, extents: Extents) -> list[_Fixed]:
    own = _least_joined([operation for operation in symmetry.operations if operation.conjugate])
    if not own:
        return []
    count = symmetry.count(extents)
    meshes = [_fixed_indices(joined, extents) for joined, _ in own]
    if extents and sum(math.prod(np.broadcast_shapes(*[c.shape for c in mesh])) for mesh in meshes) <= count:
        offsets = [fold_columns(symmetry, mesh, extents).offsets.reshape(-1) for mesh in meshes]
        # An element that is zero has no place.
        return [_Fixed(places[places >= 0], sign) for places, (_, sign) in zip(offsets, own, strict=True)]
    columns = columns_of(symmetry.ordinals(extents), extents)
    return [_Fixed(np.flatnonzero(_stays(columns, joined, count)), sign) for joined, sign in own]


def _least_joined(operations: list[Operation]) -> list[tuple[Index, int]]:
    """Return the first mode of each mode's cycle, and the sign, of operations that leave most indices.

    Operations that fix no further index are left out. If one of them has the other sign, these indices
    have zeros.
    """
    found: dict[Index, int] = {}
    cycles = {_first_of_cycles(own.permutation): own.sign for own in operations}
    for joined in sorted(cycles, key=lambda own: (-len(set(own)), own)):
        if not any(all(joined[one] == joined[k] for k, one in enumerate(less)) for less in found):
            found[joined] = cycles[joined]
    return list(found.items())


def _first_of_cycles(permutation: Index) -> Index:
    first = list(range(len(permutation)))
    for start in range(len(permutation)):
        mode = permutation[start]
        while first[start] == start and mode != start:
            first[mode], mode = start, permutation[mode]
    return tuple(first)


def _fixed_indices(joined: Index, extents: Extents) -> tuple[IntArray, ...]:
    """Return all indices with equal numbers in joined modes; the columns broadcast."""
    axes = sorted(set(joined))
    mesh = np.ogrid[tuple([slice(extents[mode]) for mode in axes])]
    return tuple([mesh[axes.index(first)] for first in joined])


def _stays(columns: tuple[IntArray, ...], joined: Index, count: int) -> "npt.NDArray[np.bool_]":
    stays = np.ones(count, np.bool_)
    for mode, first in enumerate(joined):
        if mode != first:
            stays &= columns[mode] == columns[first]
    return stays


def project_conjugates(packed: Array, symmetry: Symmetry, extents: tuple[int, ...]) -> None:
    """Leave the real parts, or the imaginary ones, of packed elements that are their own conjugates."""
    for places, sign in _fixed_elements(symmetry, extents):
        if sign > 0:
            packed.imag[places] = 0
        else:
            packed.real[places] = 0


def check_packed(
    read: _Reader, packed: Array, symmetry: Symmetry, extents: Extents, tolerance: float
) -> None:
    """Raise at the first element that packed elements do not give back; O(size), some at a time."""
    project_conjugates(packed, symmetry, extents)
    step = max(_CHUNK // max(math.prod(extents[1:]), 1), 1)
    mesh = [*np.ogrid[tuple([slice(n) for n in extents])]]
    for start in range(0, extents[0] if extents else 1, step):
        columns = tuple([own[start : start + step] if not mode else own for mode, own in enumerate(mesh)])
        given = read(columns)
        expected = elements_at(packed, fold_columns(symmetry, columns, extents)).reshape(given.shape)
        wrong = differ(given, expected, tolerance)
        if wrong.any():
            first = np.unravel_index(int(wrong.argmax()), given.shape) if given.ndim else ()
            index = tuple([int(own) + (start if not mode else 0) for mode, own in enumerate(first)])
            raise SymmetryError(mismatch_text(read, symmetry, index, tolerance))


def check_tolerance(tolerance: float) -> None:
    """Raise ConversionError unless a tolerance is a number, and SymmetryError unless it is 0 or more."""
    if not isinstance(cast("object", tolerance), numbers.Real):
        raise ConversionError(f"a tolerance is a number, not {brief(tolerance)}")
    if math.isnan(tolerance) or tolerance < 0:
        raise SymmetryError(f"a tolerance is 0 or more, not {tolerance}")


def differ(given: Array, expected: Array, tolerance: float) -> "npt.NDArray[np.bool_]":
    """Return True where elements differ by more than the tolerance; two NaN are equal."""
    wrong = np.not_equal(given, expected)
    if given.dtype.kind in "fcmM":
        wrong &= ~(np.isnan(given) & np.isnan(expected))
    if tolerance:
        kind = given.dtype.kind
        # Differences of integers may leave their type.
        sides: Any = (given, expected) if kind in "fc" else (given.astype(float), expected.astype(float))
        with np.errstate(invalid="ignore"):
            wrong &= ~(np.abs(sides[0] - sides[1]) <= tolerance)
    return wrong


def mismatch_text(read: _Reader, symmetry: Symmetry, index: Index, tolerance: float) -> str:
    """Return the error text of an element: its value, that of its partner, and their difference."""
    target, sign, conjugate = symmetry.canonical(index)
    value = _value_at(read, index)
    limit = f"more than tolerance {tolerance:g}"
    if not sign:
        return f"x{_key(index)} is {value}, but the symmetry makes it 0: they differ by {abs(value)}, {limit}"
    if target == index:
        # The symmetry makes the element equal to its own conjugate, or to the negative of that.
        own = next(own for own in symmetry.operations if own.conjugate and _image(own, index) == index)
        kind, size = ("real", abs(value.imag)) if own.sign > 0 else ("imaginary", abs(value.real))
        return f"x{_key(index)} is {value}, but the symmetry makes it {kind}: they differ by {size}, {limit}"
    other = _value_at(read, target)
    other = -other if sign < 0 else other
    other = other.conjugate() if conjugate else other
    name = f"{'+' if sign > 0 else '-'}{f'conj(x{_key(target)})' if conjugate else f'x{_key(target)}'}"
    return f"x{_key(index)} is {value}, but {name} is {other}: they differ by {abs(value - other)}, {limit}"


def _value_at(read: _Reader, index: Index) -> Any:  # noqa: ANN401 - a number of Python
    columns = tuple([np.array(number).reshape((1,) * len(index)) for number in index])
    return read(columns).reshape(-1)[0].item()


def _image(operation: Operation, index: Index) -> Index:
    return tuple([index[mode] for mode in operation.permutation])


def _key(index: Index) -> str:
    return f"[{', '.join(map(str, index))}]"
