"""Projections: the box of an operand that one index of an operation, or a block of them, touches."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import SupportsIndex, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64, to_counts, to_ints
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    Finding,
    ParseError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.shape.lowlevel import mode_of, to_index, to_index_array
from tensorwrapper.sharding._affine_text import checked_text, parse_tuple
from tensorwrapper.sharding._boxes import Box, as_box, box_text
from tensorwrapper.sharding._index_map import IndexMap, Matrix
from tensorwrapper.sharding._ranges import Ranges
from tensorwrapper.typing import Extents, Index, IntArray

_GRID = 1 << 26  # elements that are counted one by one


def count_reached(index_map: IndexMap, extents: Extents, index: Extents, spans: Extents) -> int:
    """Return how many elements are in the box of at least one index.

    Parameters
    ----------
    index_map, extents
        Those of the projection.
    index
        The extents of the index range; none is zero.
    spans
        The extents of the box around all that is touched.
    """
    if 0 in extents:
        return 0
    moving = [c for c, n in enumerate(index) if n > 1]
    moved = [[d for d, row in enumerate(index_map.matrix) if row[c]] for c in moving]
    if all(len(modes) < 2 for modes in moved):
        # Each input moves one mode: the touched indices are a product over the modes.
        counts = [
            _count_line(extent, [(abs(row[c]), index[c]) for c in moving if row[c]])
            for row, extent in zip(index_map.matrix, extents, strict=True)
        ]
        known = [count for count in counts if count is not None]
        if len(known) == len(counts):
            return math.prod(known)
    return _count_on_grid(index_map, extents, index, spans)


def _count_line(extent: int, steps: list[tuple[int, int]]) -> int | None:
    """Return how many places runs of one extent cover that are repeated by steps; ``None`` if undecided."""
    count = span = extent
    for step, times in sorted(steps):
        if step < span and count < span:
            return None
        # Runs without gaps stay so if they touch; others lie side by side, gaps and all.
        count = span + step * (times - 1) if step <= span == count else count * times
        span += step * (times - 1)
    return count


def _count_on_grid(index_map: IndexMap, extents: Extents, index: Extents, spans: Extents) -> int:
    most = max(math.prod(spans), math.prod(index))
    if most > _GRID:
        raise SizeOverflowError(
            f"what the map {index_map} touches is counted one by one, and {most} elements are over {_GRID}"
        )
    relative = IndexMap(index_map.matrix, _start(index_map, index), input_rank=index_map.input_rank)
    places = relative.apply_many(Shape.smooth(index).indices_at(np.arange(math.prod(index))))
    count = np.zeros([span + 1 for span in spans], dtype=np.int64)
    count[tuple(places.T)] = 1
    for mode, extent in enumerate(extents):
        # Each place becomes a run: the sum of all before it, less those that have ended.
        total = np.cumsum(count, axis=mode)
        count = total.copy()
        later, earlier = [slice(None)] * count.ndim, [slice(None)] * count.ndim
        later[mode], earlier[mode] = slice(extent, None), slice(None, -extent)
        count[tuple(later)] -= total[tuple(earlier)]
    return int(np.count_nonzero(count))


def _start(index_map: IndexMap, index: Extents) -> Index:
    """Return the offset with which the least result is zero in every mode."""
    origin = IndexMap(index_map.matrix, input_rank=index_map.input_rank)
    low, _ = origin._bounds([0] * len(index), [n - 1 for n in index])
    return tuple([-a for a in low])


def _to_tables(ranges: "Iterable[Ranges | None] | None", rank: int) -> tuple[Ranges | None, ...]:
    tables = () if ranges is None else tuple(ranges)
    for table in tables:
        if not isinstance(cast("object", table), Ranges | None):
            raise ConversionError(f"ranges are one table or None for each mode, not {table!r}")
    if ranges is not None and len(tables) != rank:
        raise RankError(f"the map has {rank} outputs, but there are tables of ranges for {len(tables)}")
    return tables if any(table is not None for table in tables) else ()


def _to_map(index_map: object) -> IndexMap:
    parsed = IndexMap.parse(index_map) if isinstance(index_map, str) else index_map
    if not isinstance(parsed, IndexMap):
        raise ConversionError(f"a projection has an IndexMap or its text, not {parsed!r}")
    return parsed


@final
@value_class(repr=False, getstate_setstate=False)
class Projection:
    """An index map whose every result is the first index of a box of fixed extents.

    An operation over the indices of a box has one projection per operand, which maps an index to the box that
    it reads or writes there. A block of indices then touches a box, too, which is known without a loop over
    it.

    Parameters
    ----------
    index_map
        Where the box of an index begins; a text is parsed.
    extents
        The extents of the box; ones if not given.
    ranges
        For each mode of the operand None, or a table of ranges: the map and the extents then count rows or
        tiles along it, and the touched box has the elements of these. None if no mode has one.

    Raises
    ------
    RankError
        If there are not as many extents as the map has outputs.
    ExtentError
        If an extent is negative.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> from tensorwrapper.sharding import Projection
    >>> rows = Projection("(m, n) -> (m, 0)", (1, 5))
    >>> rows((3, 7)), rows.of_box(Shape(2, 4, origin=(3, 7)))
    (Shape(1, 5, origin=(3, 0)), Shape(2, 5, origin=(3, 0)))
    """

    index_map: IndexMap
    """Map of an index to the first index of its box."""
    extents: Extents
    """The extents of the box of one index."""
    ranges: tuple[Ranges | None, ...] = ()
    """For each mode of the operand None or a table of ranges; empty if no mode has one."""

    def __init__(
        self,
        index_map: IndexMap | str,
        extents: Iterable[SupportsIndex] | None = None,
        ranges: "Iterable[Ranges | None] | None" = None,
    ) -> None:
        parsed = _to_map(index_map)
        sizes = (1,) * parsed.output_rank if extents is None else to_counts(extents, "extents")
        if len(sizes) != parsed.output_rank:
            raise RankError(
                f"the map has {parsed.output_rank} outputs, but there are {len(sizes)} extents: {sizes}"
            )
        object.__setattr__(self, "index_map", parsed)
        object.__setattr__(self, "extents", sizes)
        object.__setattr__(self, "ranges", _to_tables(ranges, len(sizes)))

    @classmethod
    def parse(cls, text: str) -> "Projection":
        """Return the projection that a text describes, as `str` writes it.

        Without ``by`` the extents are ones.

        Examples
        --------
        >>> from tensorwrapper.sharding import Projection
        >>> str(Projection.parse("(m, n) -> (m, 0) by (1, 5)"))
        '(i0, i1) -> (i0, 0) by (1, 5)'
        """
        mapped, by, extents = checked_text(text).rpartition(" by ")
        if not by:
            return cls(text)
        try:
            return cls(mapped, parse_tuple(extents))
        except (ExtentError, RankError) as error:
            raise ParseError(f"{text[:80]!r} is not the text of a projection: {error}") from error

    @property
    def matrix(self) -> Matrix:
        """The coefficients of the map."""
        return self.index_map.matrix

    @property
    def input_rank(self) -> int:
        """The number of modes of an index."""
        return self.index_map.input_rank

    @property
    def output_rank(self) -> int:
        """The number of modes of the box that an index touches."""
        return len(self.extents)

    def __call__(self, index: Iterable[SupportsIndex]) -> Box:
        """Return the box that one index touches; another rank raises `RankError`."""
        return self._through(self.index_map(index), self.extents)

    def _through(self, origin: Iterable[int], extents: Iterable[int]) -> Box:
        """Return the box of elements that a box of rows and tiles is."""
        if not self.ranges:
            return Shape.smooth(extents, origin=origin)
        low, high = list(origin), [a + n for a, n in zip(origin, extents, strict=True)]
        for mode, table in enumerate(self.ranges):
            if table is not None:
                low[mode], high[mode] = table.mark(low[mode]), table.mark(high[mode])
        return Shape.from_bounds(low, high)

    def of_box(self, box: ShapeLike) -> Box:
        """Return the bounding box of all indices that a box touches; exact, O(inputs * outputs).

        For an empty box it is empty, at the place of its origin; but a box of rank 0 is never empty.
        With `Ranges` it reaches from the begin of the first row to the end of the last, empty or not.

        Source: per output the sum over the inputs of the least and the greatest that each of them adds.

        Examples
        --------
        >>> from tensorwrapper.sharding import Projection
        >>> Projection("(i, j) -> (i - j)").of_box((3, 3))
        Shape(5, origin=(-2,))
        """
        index = as_box(box, "an index range")
        if index.rank != self.input_rank:
            raise RankError(
                f"the index range has rank {index.rank}, but the projection takes {self.input_rank}"
            )
        if not index.size:
            return self._through(self.index_map(index.origin), (0,) * self.output_rank)
        last = [start + extent - 1 for start, extent in zip(index.origin, index.extents, strict=True)]
        low, high = self.index_map._bounds(index.origin, last)
        spans = [b - a + s for a, b, s in zip(low, high, self.extents, strict=True)]
        return self._through(low, spans)

    def of_boxes(self, origins: npt.ArrayLike, extents: npt.ArrayLike) -> tuple[IntArray, IntArray]:
        """Return origins and extents of the boxes that many boxes touch, as `of_box` does for each.

        Parameters
        ----------
        origins, extents
            Of the boxes: ``(n, input_rank)`` each.

        Returns
        -------
        tuple
            Two ``(n, output_rank)`` arrays.

        Raises
        ------
        SizeOverflowError
            If a corner does not fit into 64 bits.

        Examples
        --------
        >>> from tensorwrapper.sharding import Projection
        >>> halves = Projection("(i) -> (2*i)", (3,)).of_boxes([[0], [5]], [[5], [0]])
        >>> [part.tolist() for part in halves]
        [[[0], [10]], [[11], [0]]]
        """
        starts, sizes = to_index_array(origins, self.input_rank), to_index_array(extents, self.input_rank)
        if starts.shape != sizes.shape or starts.ndim != 2:
            raise RankError(
                f"origins {starts.shape} and extents {sizes.shape} must be two tables of one shape"
            )
        if sizes.size and int(sizes.min()) < 0:
            raise ExtentError(f"an extent must not be negative, but one is {sizes.min()}")
        if not len(starts):
            nothing = np.empty((0, self.output_rank), dtype=np.int64)
            return nothing, nothing
        filled = cast("npt.NDArray[np.bool_]", (sizes > 0).all(axis=1))
        steps = np.where(filled[:, None], sizes - 1, 0)
        self._check_corners(starts, steps)
        low = self.index_map.apply_many(starts)
        spans = np.tile(np.array(self.extents, dtype=np.int64), (len(starts), 1))
        for d, row in enumerate(self.matrix):
            for c, a in enumerate(row):
                # A factor over 64 bits is not a fault where the input does not move.
                if a and steps[:, c].any():
                    reach: IntArray = steps[:, c] * a
                    spans[:, d] += np.abs(reach)
                    low[:, d] += np.minimum(reach, 0)
        spans[~filled] = 0
        for d, table in enumerate(self.ranges):
            if table is not None:
                first = table.marks_at(low[:, d])
                spans[:, d] = table.marks_at(low[:, d] + spans[:, d]) - first
                low[:, d] = first
        return low, spans

    def _check_corners(self, starts: IntArray, steps: IntArray) -> None:
        """Raise if a result could leave 64 bits, by bounds over all boxes in Python integers."""
        most, largest = steps.max(axis=0).tolist(), MAX_INT64 // 4 if self.ranges else MAX_INT64
        low, high = self.index_map._bounds(starts.min(axis=0).tolist(), starts.max(axis=0).tolist())
        for d, row in enumerate(self.matrix):
            reach = sum([abs(a) * step for a, step in zip(row, most, strict=True)]) + self.extents[d]
            if low[d] - reach < -largest or high[d] + reach > largest:
                raise SizeOverflowError(f"mode {d} of {self} could leave 64 bits for these boxes")

    def broadcast(self, index: Iterable[SupportsIndex]) -> Box:
        """Return the box of an index whose first entries come through unchanged, with extent 1 each.

        Examples
        --------
        >>> from tensorwrapper.sharding import Projection
        >>> Projection("(i) -> (2*i)", (4,)).broadcast((100, 3))
        Shape(1, 4, origin=(100, 6))
        """
        point = to_ints(index, "an index")
        origin = self.index_map.apply_broadcast(point)
        lead = len(origin) - self.output_rank
        own = self._through(origin[lead:], self.extents)
        return Shape.smooth((*[1] * lead, *own.extents), origin=(*origin[:lead], *own.origin))

    def translate(self, offset: Iterable[SupportsIndex]) -> "Projection":
        """Return the projection whose boxes are moved by `offset`."""
        if not self.ranges:
            return Projection(self.index_map.translate(offset), self.extents)
        moves = to_index(offset, self.output_rank, "an offset")
        # The elements of rows and tiles are moved, and their numbers are not.
        pairs = list(zip(self.ranges, moves, strict=True))
        plain = [move if table is None else 0 for table, move in pairs]
        tables = [None if table is None else table.translate(move) for table, move in pairs]
        return Projection(self.index_map.translate(plain), self.extents, tables)

    def counted(self) -> "Projection":
        """Return the projection onto rows and tiles themselves, by their numbers."""
        return Projection(self.index_map, self.extents) if self.ranges else self

    def overlaps(self, mode: SupportsIndex) -> Extents:
        """Return, per mode of the operand, in how many places the boxes of an index and the next overlap.

        The next is one step along input `mode`.

        Examples
        --------
        >>> from tensorwrapper.sharding import Projection
        >>> taps = Projection("(row, col) -> (row, 2*col)", (3, 3))
        >>> taps.overlaps(0), taps.overlaps(1), taps.marginal_overlap(1)
        ((2, 3), (3, 1), 3)
        """
        self._check_alike("overlaps")
        return tuple([max(0, s - a) for s, a in zip(self.extents, self._steps(mode), strict=True)])

    def gaps(self, mode: SupportsIndex) -> Extents:
        """Return, per mode of the operand, how many places lie between the boxes of an index and the next."""
        self._check_alike("gaps")
        return tuple([max(0, a - s) for s, a in zip(self.extents, self._steps(mode), strict=True)])

    def marginal_overlap(self, mode: SupportsIndex) -> int:
        """Return how many elements an index and the next along input `mode` both touch."""
        return math.prod(self.overlaps(mode))

    def waste(self, box: ShapeLike) -> int:
        """Return how many elements of the bounding box of a block are touched by no index.

        O(inputs * outputs) where each input moves at most one mode, by steps that nest; else the elements
        are counted, in array operations.

        Raises
        ------
        SizeOverflowError
            If more than 2**26 elements would have to be counted.

        Examples
        --------
        >>> from tensorwrapper.sharding import Projection
        >>> Projection("(i, j) -> (i, 3*j)", (1, 2)).waste((4, 5))
        16
        """
        index = as_box(box, "an index range")
        touched = self.of_box(index)
        if not (index.size and touched.size):
            return 0
        if not self.ranges:
            return touched.size - count_reached(self.index_map, self.extents, index.extents, touched.extents)
        own = self.counted()
        if not own.waste(index):
            return 0
        raise ExtentError("waste() does not count rows or tiles in between: counted().waste() does")

    def _check_alike(self, what: str) -> None:
        if self.ranges:
            raise ExtentError(
                f"{what} differ from index to index where modes have tables of ranges: counted() has those "
                "of rows and tiles, of_boxes() what each index touches"
            )

    def _steps(self, mode: SupportsIndex) -> list[int]:
        number = mode_of(mode, self.input_rank)
        return [abs(row[number]) for row in self.matrix]

    def __str__(self) -> str:
        own = str(self.index_map)
        if any(extent != 1 for extent in self.extents):
            own = f"{own} by ({', '.join(map(str, self.extents))})"
        if not self.ranges:
            return own
        tables = ["all" if table is None else f"{len(table)} ranges" for table in self.ranges]
        return f"{own} in ({', '.join(tables)})"

    def __repr__(self) -> str:
        return f"<Projection {self}>" if self.ranges else f"Projection.parse({str(self)!r})"

    def __reduce__(self) -> "tuple[Callable[..., Projection], tuple[object, ...]]":
        return Projection, (self.index_map, self.extents, self.ranges or None)


def output_findings(projection: Projection, index: Box, output: Box, where: str) -> Iterator[Finding]:
    """Return errors that keep the boxes of the indices from tiling an output: exact, O(inputs * outputs)."""
    find = _range_findings if projection.ranges else _box_findings
    return find(projection, index, output, where)


def _box_findings(projection: Projection, index: Box, output: Box, where: str) -> Iterator[Finding]:
    reached = projection.of_box(index)
    # A box of rank 0 has an element even where nothing writes it.
    if not (index.size and reached.size):
        if output.size:
            yield Finding("coverage", where, f"nothing is written of the output {box_text(output)}")
        return
    if reached != output:
        text = f"the map reaches {box_text(reached)}, but the output is {box_text(output)}"
        yield Finding("projection", where, text)
    moving = [mode for mode, extent in enumerate(index.extents) if extent > 1]
    moved = {c: [d for d, row in enumerate(projection.matrix) if row[c]] for c in moving}
    for c, modes in moved.items():
        if not modes:
            text = f"all {index.extents[c]} indices of input {c} write to one place: its column is zero"
            yield Finding("coverage", where, text)
        if len(modes) > 1:
            together = ", ".join(map(str, modes))
            text = f"input {c} moves the modes {together} of the output together, and leaves gaps"
            yield Finding("coverage", where, text)
    for d, extent in enumerate(projection.extents):
        run = extent
        steps = sorted((abs(projection.matrix[d][c]), c) for c in moving if moved[c] == [d])
        for step, c in steps:
            if step != run:
                fault = "overlap" if step < run else "leave gaps"
                text = f"runs of {run} in mode {d} of the output {fault}: input {c} moves them by {step}"
                yield Finding("coverage", where, text)
                break
            run *= index.extents[c]


def _range_findings(projection: Projection, index: Box, output: Box, where: str) -> Iterator[Finding]:
    """Return errors that keep ranges from tiling an output: tables that are not all of it, or not tiled."""
    low, high = list(output.origin), [a + n for a, n in zip(output.origin, output.extents, strict=True)]
    for mode, table in enumerate(projection.ranges):
        if table is None:
            continue
        if (table.start, table.stop) != (low[mode], high[mode]):
            text = (
                f"the ranges of mode {mode} are [{table.start}:{table.stop}], "
                f"but the output is [{low[mode]}:{high[mode]}]"
            )
            yield Finding("projection", where, text)
        low[mode], high[mode] = table.origin, table.origin + len(table)
    yield from _box_findings(projection.counted(), index, Shape.from_bounds(low, high), where)
