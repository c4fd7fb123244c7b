"""Index maps: integer affine maps from the indices of an operation to those of an operand."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64, to_count, to_ints
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ConversionError, RankError, SizeOverflowError
from tensorwrapper.shape.lowlevel import mode_of, to_index, to_index_array
from tensorwrapper.sharding._affine_text import affine_text, parse_affine
from tensorwrapper.typing import Index, IntArray

Matrix: TypeAlias = tuple[Index, ...]
"""One row per output, one column per input; Python integers, so that nothing wraps."""

_WORD = 1 << 64


def to_modes(order: Iterable[SupportsIndex], rank: int) -> tuple[int, ...]:
    """Return a permutation of modes, which may count from the last; each mode occurs once."""
    given = to_ints(order, "a permutation")
    modes = tuple([mode_of(mode, rank) for mode in given])
    if sorted(modes) != list(range(rank)):
        raise RankError(f"{given} is not a permutation of the modes 0 to {rank - 1}")
    return modes


def _read_matrix(
    matrix: "Iterable[Iterable[SupportsIndex]] | npt.NDArray[np.integer[Any]]", columns: int | None
) -> tuple[Matrix, int]:
    if isinstance(matrix, np.ndarray):
        array = cast("npt.NDArray[np.integer[Any]]", matrix)
        if array.ndim != 2:
            raise RankError(f"a matrix has 2 modes, but the array has the shape {array.shape}")
        columns = array.shape[1] if columns is None else columns
        matrix = cast("list[list[int]]", array.tolist() if array.dtype.kind in "iu" else list(array))
    rows = tuple([to_ints(row, f"row {k} of a matrix") for k, row in enumerate(matrix)])
    width = len(rows[0]) if rows and columns is None else columns
    if width is None:
        raise RankError("a matrix without rows does not tell its number of columns: give input_rank")
    for k, row in enumerate(rows):
        if len(row) != width:
            raise RankError(f"row {k} of the matrix has {len(row)} entries, but {width} columns are needed")
    return rows, width


@final
@value_class(repr=False, getstate_setstate=False)
class IndexMap:
    """The map ``A x + b`` of an index to an index, with integers of any size.

    Parameters
    ----------
    matrix
        One row per mode of the result, one column per mode of the input.
    offset
        The constant term, one integer per row; zeros if not given.
    input_rank
        The number of columns, needed only where there are no rows to tell it.

    Raises
    ------
    RankError
        If rows differ in length, or the offset has another length than there are rows.

    Examples
    --------
    >>> from tensorwrapper.sharding import IndexMap
    >>> m = IndexMap([[1, 0], [0, 2], [1, 2]], (4, 5, 6))
    >>> m((1, 1)), str(m)
    ((5, 7, 9), '(i0, i1) -> (i0 + 4, 2*i1 + 5, i0 + 2*i1 + 6)')
    >>> m == IndexMap.parse("(row, col) -> (row + 4, 2*col + 5, row + 2*col + 6)")
    True
    """

    matrix: Matrix
    """The coefficients: one step of input `c` adds ``matrix[d][c]`` to output `d`."""
    offset: Index
    """The index to which zeros go."""
    input_rank: int
    """The number of modes of an index that is mapped."""

    def __init__(
        self,
        matrix: "Iterable[Iterable[SupportsIndex]] | npt.NDArray[np.integer[Any]]",
        offset: Iterable[SupportsIndex] | None = None,
        *,
        input_rank: SupportsIndex | None = None,
    ) -> None:
        columns = None if input_rank is None else to_count(input_rank, "an input rank")
        rows, width = _read_matrix(matrix, columns)
        shift = (0,) * len(rows) if offset is None else to_ints(offset, "an offset")
        if len(shift) != len(rows):
            raise RankError(
                f"the matrix has {len(rows)} rows, but the offset {shift} has {len(shift)} entries"
            )
        object.__setattr__(self, "matrix", rows)
        object.__setattr__(self, "offset", shift)
        object.__setattr__(self, "input_rank", width)

    @classmethod
    def identity(cls, rank: SupportsIndex) -> "IndexMap":
        """Return the map of every index of this rank to itself."""
        return cls.diagonal([1] * to_count(rank, "a rank"))

    @classmethod
    def diagonal(
        cls, steps: Iterable[SupportsIndex], offset: Iterable[SupportsIndex] | None = None
    ) -> "IndexMap":
        """Return the map that multiplies every mode by its factor.

        Examples
        --------
        >>> from tensorwrapper.sharding import IndexMap
        >>> IndexMap.diagonal([1, -2])((3, 4))
        (3, -8)
        """
        factors = to_ints(steps, "steps")
        return cls(_diagonal(factors), offset, input_rank=len(factors))

    @classmethod
    def parse(cls, text: str) -> "IndexMap":
        """Return the map that a text describes, as `str` writes it; the inputs may have any names.

        Raises
        ------
        ParseError
            If it is not the text of a map; the message says where.

        Examples
        --------
        >>> from tensorwrapper.sharding import IndexMap
        >>> IndexMap.parse("(m, n, k) -> (m, k)").matrix
        ((1, 0, 0), (0, 0, 1))
        """
        rank, rows, offset = parse_affine(text)
        return cls(rows, offset, input_rank=rank)

    @property
    def output_rank(self) -> int:
        """The number of modes of the result."""
        return len(self.offset)

    def __call__(self, index: Iterable[SupportsIndex]) -> Index:
        """Return where an index goes; one of another rank raises `RankError`."""
        point = to_ints(index, "an index")
        if len(point) != self.input_rank:
            raise RankError(
                f"{point} has {len(point)} entries, but the matrix has {len(self.matrix)} rows and "
                f"{self.input_rank} columns, one per entry"
            )
        return self._apply(point)

    def _apply(self, point: Index) -> Index:
        rows = zip(self.matrix, self.offset, strict=True)
        return tuple([sum([a * x for a, x in zip(row, point, strict=True)], shift) for row, shift in rows])

    def apply_many(self, indices: npt.ArrayLike) -> IntArray:
        """Return where each row of an ``(..., input_rank)`` array of indices goes.

        Raises
        ------
        SizeOverflowError
            If an entry of a result does not fit into 64 bits.

        Examples
        --------
        >>> from tensorwrapper.sharding import IndexMap
        >>> IndexMap([[1, -1]]).apply_many([[0, 0], [5, 2]]).tolist()
        [[0], [3]]
        """
        points = to_index_array(indices, self.input_rank)
        if self._fits(points):
            # Multiplication and addition wrap: a result that fits is right, whatever the intermediate values.
            matrix = _wrapped(
                np.array(self.matrix, dtype=np.object_).reshape(self.output_rank, self.input_rank)
            )
            mapped: IntArray = points @ matrix.T + _wrapped(np.array(self.offset, dtype=np.object_))
            return mapped
        exact = points.astype(np.object_) @ np.array(self.matrix, dtype=np.object_).T
        exact = exact + np.array(self.offset, dtype=np.object_)
        try:
            mapped = exact.astype(np.int64)
        except OverflowError as error:
            raise SizeOverflowError(f"{self} takes an index beyond 64 bits") from error
        return mapped

    def _fits(self, points: IntArray) -> bool:
        count = math.prod(points.shape[:-1])
        if not count:
            return True
        flat = points.reshape(count, self.input_rank)
        first, last = flat.min(axis=0).tolist(), flat.max(axis=0).tolist()
        low, high = self._bounds(first, last)
        return all(a >= -MAX_INT64 for a in low) and all(b <= MAX_INT64 for b in high)

    def _bounds(self, first: Sequence[int], last: Sequence[int]) -> tuple[Index, Index]:
        """Return the least and the greatest result, mode by mode, over a box given by its two corners."""
        low, high = list(self.offset), list(self.offset)
        for d, row in enumerate(self.matrix):
            for a, x, y in zip(row, first, last, strict=True):
                if a:
                    low[d] += a * (x if a > 0 else y)
                    high[d] += a * (y if a > 0 else x)
        return tuple(low), tuple(high)

    def apply_broadcast(self, index: Iterable[SupportsIndex]) -> Index:
        """Return where an index goes; entries before those of the map come through unchanged.

        Examples
        --------
        >>> from tensorwrapper.sharding import IndexMap
        >>> IndexMap([[1, 2]]).apply_broadcast((100, 20, 1, 1))
        (100, 20, 3)
        """
        point = to_ints(index, "an index")
        lead = len(point) - self.input_rank
        if lead < 0:
            raise RankError(f"{point} has {len(point)} entries, but the map takes at least {self.input_rank}")
        return (*point[:lead], *self._apply(point[lead:]))

    def translate(self, offset: Iterable[SupportsIndex]) -> "IndexMap":
        """Return the map whose results are moved by `offset`."""
        moves = to_index(offset, self.output_rank, "an offset")
        shift = [a + b for a, b in zip(self.offset, moves, strict=True)]
        return IndexMap(self.matrix, shift, input_rank=self.input_rank)

    def permute_input(self, order: Iterable[SupportsIndex]) -> "IndexMap":
        """Return the map of indices whose entry `k` was entry ``order[k]``: columns change place."""
        modes = to_modes(order, self.input_rank)
        rows = [[row[mode] for mode in modes] for row in self.matrix]
        return IndexMap(rows, self.offset, input_rank=self.input_rank)

    def permute_output(self, order: Iterable[SupportsIndex]) -> "IndexMap":
        """Return the map whose result has as entry `k` the former entry ``order[k]``."""
        modes = to_modes(order, self.output_rank)
        shift = [self.offset[mode] for mode in modes]
        return IndexMap([self.matrix[mode] for mode in modes], shift, input_rank=self.input_rank)

    def embed(self, input_rank: SupportsIndex, extra: Literal["drop", "keep"] = "drop") -> "IndexMap":
        """Return the map for indices with more modes, the new ones first.

        Parameters
        ----------
        input_rank
            How many modes there shall be.
        extra
            Treatment of the new ones: they do not count (``"drop"``), or they come through unchanged
            and are the first modes of the result (``"keep"``).

        Examples
        --------
        >>> from tensorwrapper.sharding import IndexMap
        >>> m = IndexMap.diagonal([1, 2], (-1, -1))
        >>> str(m.embed(3)), str(m.embed(3, "keep"))
        ('(i0, i1, i2) -> (i1 - 1, 2*i2 - 1)', '(i0, i1, i2) -> (i0, i1 - 1, 2*i2 - 1)')
        """
        count = to_count(input_rank, "an input rank")
        new = count - self.input_rank
        if new < 0:
            raise RankError(f"a map of {self.input_rank} inputs cannot have {count}: only more")
        if extra not in ("drop", "keep"):
            raise ConversionError(f'extra must be "drop" or "keep", not {extra!r}')
        rows = [(*[0] * new, *row) for row in self.matrix]
        if extra == "drop":
            return IndexMap(rows, self.offset, input_rank=count)
        kept = [(*row, *[0] * self.input_rank) for row in _diagonal([1] * new)]
        return IndexMap([*kept, *rows], (*[0] * new, *self.offset), input_rank=count)

    def compose(self, first: "IndexMap") -> "IndexMap":
        """Return the map that does `first` and then this one.

        Examples
        --------
        >>> from tensorwrapper.sharding import IndexMap
        >>> str(IndexMap([[2, 1]]).compose(IndexMap([[1], [3]], (0, 5))))
        '(i0) -> (5*i0 + 5)'
        """
        if first.output_rank != self.input_rank:
            raise RankError(
                f"the first map makes indices of rank {first.output_rank}, and the second takes "
                f"{self.input_rank}"
            )
        columns = list(zip(*first.matrix, strict=True)) if first.matrix else [()] * first.input_rank
        rows = [
            [sum([a * b for a, b in zip(row, col, strict=True)]) for col in columns] for row in self.matrix
        ]
        return IndexMap(rows, self._apply(first.offset), input_rank=first.input_rank)

    def __str__(self) -> str:
        return affine_text(self.input_rank, self.matrix, self.offset)

    def __repr__(self) -> str:
        return f"IndexMap.parse({str(self)!r})"

    def __reduce__(self) -> "tuple[Callable[..., IndexMap], tuple[Matrix, Index, int]]":
        return _of_parts, (self.matrix, self.offset, self.input_rank)


def _of_parts(matrix: Matrix, offset: Index, input_rank: int) -> IndexMap:
    return IndexMap(matrix, offset, input_rank=input_rank)


def _diagonal(factors: Sequence[int]) -> list[list[int]]:
    return [[factor if c == d else 0 for c in range(len(factors))] for d, factor in enumerate(factors)]


def _wrapped(numbers: npt.NDArray[np.object_]) -> IntArray:
    """Return Python integers modulo 2**64, as int64."""
    words: IntArray = (numbers % _WORD).astype(np.uint64).view(np.int64)
    return words
