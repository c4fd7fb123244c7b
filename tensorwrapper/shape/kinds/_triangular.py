"""Triangular shapes: half of a square of indices, from two numbers and two choices.

A triangular matrix, or a symmetric one that is stored once, is a jagged matrix: row ``i`` is as long as the
triangle is wide there. Nothing is stored per row. The closed forms rest on one function, the triangular
number ``T(k) = k (k + 1) / 2``, and on its inverse, an integer square root; they are exact at any size.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import check_rows
from tensorwrapper._integers import MAX_INT64, to_count, to_int, to_ints
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import (
    ConversionError,
    JaggedModeError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape.boxes._common import ShapeCommon, to_index, to_index_array, to_ordinal_array
from tensorwrapper.shape.boxes._keys import WHOLE, Entry, mode_count, mode_of
from tensorwrapper.shape.boxes._smooth import SmoothCommon, SmoothView, box_ordinal, make_smooth
from tensorwrapper.shape.kinds._jagged import JaggedCommon, JaggedView
from tensorwrapper.shape.rows._canonical import MOST_ROWS_OF_TOKENS, triangular_token
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import Extents, Half, Index, IntArray, Order


def _to_side(n: SupportsIndex) -> int:
    side = to_count(n, "the side of a triangle")
    if side > MAX_INT64:
        raise SizeOverflowError(f"the indices of jagged shapes must fit into 64 bits, but the side is {side}")
    return side


def _check_half(_self: object, _attribute: object, half: object) -> None:
    if not isinstance(half, str) or half not in {"upper", "lower"}:
        raise ConversionError(f'half must be "upper" or "lower", not {half!r}')


def _check_diagonal(_self: object, _attribute: object, diagonal: object) -> None:
    if not isinstance(diagonal, bool):
        raise ConversionError(f"diagonal must be True or False, not {diagonal!r}")


@final
@frozen(eq=False, getstate_setstate=False)
class Triangular(JaggedCommon):
    """The upper or lower half of the indices ``(i, j)`` of an n x n square; O(1) memory and time.

    Users make one by ``Shape.triangular``.

    Parameters
    ----------
    n
        The side of the square, which is the extent of mode 0.
    half
        ``"lower"``: row i has the columns 0 to i. ``"upper"``: row i has the columns i to n - 1.
    diagonal
        Whether the pairs ``(i, i)`` belong to it.

    Examples
    --------
    >>> upper = Triangular(3, "upper")
    >>> upper.size, upper.ordinal((1, 2)), upper.index(5), upper.extent_at((1,)), upper.origin_at((1,))
    (6, 4, (2, 2), 2, 1)
    """

    n: int = attrs.field(converter=_to_side)
    """The side of the square."""
    half: Half = attrs.field(default="lower", validator=_check_half)
    """Which half."""
    diagonal: bool = attrs.field(default=True, kw_only=True, validator=_check_diagonal)
    """Whether the pairs ``(i, i)`` belong to it."""

    @property
    def rows(self) -> Rows:
        """The shape as columns, one row of the triangle per row: made when asked for, and not kept."""
        check_rows(self.n)
        numbers = np.arange(self.n, dtype=np.int64)
        if self.half == "lower":
            return Rows.of_lengths(numbers + (1 - self._skip))
        return Rows.of_lengths(numbers[::-1] + (1 - self._skip), origins=[numbers + self._skip])

    # Closed forms: what follows overrides the derived methods for speed, and gives the same answers.

    @property
    def _skip(self) -> int:
        """Distance of the triangle from the diagonal."""
        return 0 if self.diagonal else 1

    @property
    def _legs(self) -> int:
        """Number of nonempty rows."""
        return max(self.n - self._skip, 0)

    def _row(self, i: int) -> tuple[int, int]:
        """Return extent and origin of row `i`."""
        n, skip = self.n, self._skip
        if not 0 <= i < n:
            raise OutOfBoundsError(f"index {i} is outside [0, {n}) of mode 0")
        return (i + 1 - skip, 0) if self.half == "lower" else (n - i - skip, i + skip)

    @property
    def rank(self) -> int:
        return 2

    @property
    def outer_rank(self) -> int:
        return 1

    @property
    def size(self) -> int:
        return _triangle(self._legs)

    @property
    def origin(self) -> Index:
        if self.n > 1 and self.half == "upper":
            raise JaggedModeError(
                f"mode 1 has no single origin: it varies from {self._skip} to {self.n - 1 + self._skip}; "
                "origin_at(prefix) answers"
            )
        return (0, self._row(0)[1] if self.n else 0)

    def bounding_box(self, prefix: Index = ()) -> tuple[Extents, Index]:
        if prefix:
            extent, start = self._row(prefix[0])
            return make_smooth((extent,), (start,)).bounding_box(prefix[1:])
        return (self.n, self._legs), (0, self._row(0)[1] if self.n else 0)

    def _range(self, prefix: Iterable[SupportsIndex]) -> tuple[int, int]:
        numbers = to_ints(prefix, "a prefix")
        if len(numbers) > 1:
            raise RankError(f"the prefix {numbers} leaves no mode of a shape of rank 2")
        return self._row(numbers[0]) if numbers else (self.n, 0)

    def extent_at(self, prefix: Iterable[SupportsIndex]) -> int:
        return self._range(prefix)[0]

    def origin_at(self, prefix: Iterable[SupportsIndex]) -> int:
        return self._range(prefix)[1]

    def extent_bounds(self, mode: SupportsIndex) -> tuple[int, int]:
        if mode_of(mode, 2):
            return (1 - self._skip, self._legs) if self.n else (0, 0)
        return self.n, self.n

    def dependencies(self, mode: SupportsIndex) -> tuple[int, ...]:
        return (0,) if mode_of(mode, 2) and self.n > 1 else ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Triangular):
            # The first row tells the half and the diagonal, except where they make no difference.
            return self.n == other.n and (not self.n or self._row(0) == other._row(0))
        return JaggedCommon.__eq__(self, other)

    def token(self) -> tuple[object, ...]:
        return (
            JaggedCommon.token(self)
            if self.n <= MOST_ROWS_OF_TOKENS
            else triangular_token(self.n, self._row(0))
        )

    def __hash__(self) -> int:
        # Defining __eq__ takes the inherited hash away.
        return JaggedCommon.__hash__(self)

    def is_congruent(self, other: ShapeCommon) -> bool:
        if isinstance(other, Triangular):
            ends = {0, self.n - 1} if self.n else set[int]()
            return self.n == other.n and all(self._row(i)[0] == other._row(i)[0] for i in ends)
        return JaggedCommon.is_congruent(self, other)

    def ordinal(self, index: Iterable[SupportsIndex]) -> int:
        i, j = to_index(index, 2)
        extent, start = self._row(i)
        return self._before(i) + box_ordinal((extent,), (start,), (j,), (i,))

    def _before(self, i: int) -> int:
        """Return how many elements the rows before row `i` have."""
        if self.half == "lower":
            return _triangle(i - self._skip)
        return self.size - _triangle(self._legs - i)

    def index(self, ordinal: SupportsIndex) -> Index:
        number, size = to_int(ordinal, "an ordinal"), self.size
        if not 0 <= number < size:
            raise OutOfBoundsError(f"ordinal {number} is outside [0, {size})")
        # Counted from the tip of the triangle, row r begins at T(r); the tip of the upper half is its end.
        place = number if self.half == "lower" else size - 1 - number
        row = (math.isqrt(8 * place + 1) - 1) // 2
        i = row + self._skip if self.half == "lower" else self._legs - 1 - row
        return i, self._row(i)[1] + number - self._before(i)

    def contains(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        array = to_index_array(indices, 2)
        i, j = array[..., 0], array[..., 1]
        low, high = (j, i) if self.half == "lower" else (i, j)
        # Comparisons alone, so that no index is too large for them.
        inside = (low >= 0) & (high < self.n)
        return np.asarray(inside & ((low <= high) if self.diagonal else (low < high)))

    def ordinals(self, indices: npt.ArrayLike) -> IntArray:
        array = to_index_array(indices, 2)
        self._check_int64()
        inside = self.contains(array)
        if not inside.all():
            place = np.unravel_index(int(np.argmin(inside)), inside.shape)
            raise OutOfBoundsError(f"index {tuple(array[place].tolist())} is not in this shape")
        i, j = array[..., 0], array[..., 1]
        if self.half == "lower":
            return np.asarray(_triangles(i - self._skip) + j)
        return np.asarray(self.size - _triangles(self._legs - i) + (j - i - self._skip))

    def indices_at(self, ordinals: npt.ArrayLike) -> IntArray:
        # First what the shape is: an ordinal beyond 64 bits may well be in it.
        self._check_int64()
        numbers = to_ordinal_array(ordinals)
        size = self.size
        if numbers.size and not (int(numbers.min()) >= 0 and int(numbers.max()) < size):
            raise OutOfBoundsError(f"ordinals from {numbers.min()} to {numbers.max()} leave [0, {size})")
        indices = np.empty((*numbers.shape, 2), dtype=np.int64)
        lower = self.half == "lower"
        row, place = _triangle_roots(numbers if lower else size - 1 - numbers)
        if lower:
            indices[..., 0] = row + self._skip
            indices[..., 1] = place
        else:
            indices[..., 0] = self._legs - 1 - row
            indices[..., 1] = self.n - 1 - place
        return indices

    def _check_int64(self) -> None:
        if self.size > MAX_INT64:
            raise SizeOverflowError("this shape has ordinals beyond 64 bits; use ordinal() and index()")

    def walk(self, order: Order) -> Iterator[Index]:
        n, skip = self.n, self._skip
        if (self.half == "lower") == (order == "C"):
            lines = ((k, range(k + 1 - skip)) for k in range(n))
        else:
            lines = ((k, range(k + skip, n)) for k in range(n))
        if order == "C":
            return itertools.chain.from_iterable(zip(itertools.repeat(k), line) for k, line in lines)
        return itertools.chain.from_iterable(zip(line, itertools.repeat(k)) for k, line in lines)

    def select(self, entries: tuple[Entry, ...], *, clip: bool = False) -> SmoothCommon | JaggedCommon:
        row, columns = entries
        if type(row) is int:
            self._row(row)
            leaf = SmoothView(self, (row,))
            return leaf if columns == WHOLE else leaf.select((columns,), clip=clip, lead=(row,))
        return self if entries == (WHOLE, WHOLE) else JaggedCommon.select(self, entries, clip=clip)

    def leading(self, modes: SupportsIndex) -> SmoothCommon | JaggedCommon:
        count = mode_count(modes, 2)
        return self if count == 2 else make_smooth((self.n,)[:count], (0,)[:count])

    def in_rows(self) -> JaggedCommon:
        return JaggedView(self, self.rows)

    def zero_based(self) -> JaggedCommon:
        return self if self.half == "lower" else JaggedCommon.zero_based(self)

    def __reduce__(self) -> tuple[Callable[[int, Half, bool], "Triangular"], tuple[int, Half, bool]]:
        return _triangular, (self.n, self.half, self.diagonal)


def _triangular(n: int, half: Half, diagonal: bool) -> Triangular:  # noqa: FBT001 - pickle gives it so
    return Triangular(n, half, diagonal=diagonal)


def _triangle(k: int) -> int:
    """Return ``T(k)``, how many elements the first `k` rows of a lower triangle have; ``T(-1)`` is 0."""
    return k * (k + 1) // 2


def _triangles(k: IntArray) -> IntArray:
    """Return ``T(k)``; the even one of ``k`` and ``k + 1`` is halved first, or their product would wrap."""
    odd = k & 1
    return (k + odd) // 2 * (k + 1 - odd)


def _triangle_roots(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Return the greatest r with ``T(r) <= numbers``, and ``numbers - T(r)``.

    The root of a float is off by less than one row, so the guess starts one row early and goes on, in
    integers, by two rows at most.
    """
    guess = ((np.sqrt(8.0 * numbers + 1.0) - 1.0) / 2.0).astype(np.int64)
    row = np.maximum(guess - 1, 0)
    place = numbers - _triangles(row)
    for _ in range(2):
        late = place > row
        place = place - late * (row + 1)
        row = row + late
    return row, place
