"""Plans for all cells of a shape at once, made from shapes alone: permuted, or paired with others.

A plan has positions of elements in row-major order, and no elements, so one plan works for all data over its
shapes.
"""

from collections.abc import Callable, Iterable
from typing import Literal, SupportsIndex, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, frozen_array, splits_of
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, ExtentMismatchError, JaggedModeError, RankError
from tensorwrapper.shape._shape import Shape, as_shape, wrap
from tensorwrapper.shape._shape_base import ShapeLike
from tensorwrapper.shape.boxes._smooth import to_permutation
from tensorwrapper.shape.kinds._jagged import Jagged, JaggedCommon
from tensorwrapper.shape.rows._cell_table import CellTable
from tensorwrapper.shape.rows._compare import unroll
from tensorwrapper.typing import Index, IntArray

CellPairing: TypeAlias = Literal["index", "number"]
"""Pairing of the cells of two shapes: by equal outer indices, or by equal numbers."""


@final
@frozen(eq=False, repr=False, getstate_setstate=False)
class CellPermutation:
    """The old position of each element after every cell is permuted; made by `permute_cells`.

    Two are equal if they permute the same shape in the same order.
    """

    source: Shape
    """The shape whose cells are permuted."""
    order: Index
    """Mode ``k`` of the result is mode ``order[k]`` of the source."""
    shape: Shape
    """The result: ``source.permute(order)``."""
    cells: IntArray
    """For each cell of the result, the number of the source's cell; read-only."""
    places: IntArray
    """For each element of the result, its ordinal in the source; read-only.

    ``elements.take(places)`` of the elements of the source are those of the result.
    """

    def inverse(self) -> "CellPermutation":
        """Return the plan that leads back.

        Examples
        --------
        >>> from tensorwrapper.shape import Shape, permute_cells
        >>> plan = permute_cells(Shape.jagged([Shape(2, 2), Shape(1, 3)]))
        >>> plan.places[plan.inverse().places].tolist()
        [0, 1, 2, 3, 4, 5, 6]
        """
        return permute_cells(self.shape, np.argsort(self.order).tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CellPermutation):
            return NotImplemented
        return (self.source, self.order) == (other.source, other.order)

    def __hash__(self) -> int:
        return hash((self.source, self.order))

    def __repr__(self) -> str:
        return f"<CellPermutation {self.order}: {len(self.places)} elements in {len(self.cells)} cells>"

    def __reduce__(self) -> "tuple[Callable[..., CellPermutation], tuple[object, ...]]":
        # The positions are found again: the shape and the order are all there is to know.
        return permute_cells, (self.source, self.order)


def permute_cells(shape: ShapeLike, order: Iterable[SupportsIndex] | None = None) -> CellPermutation:
    """Return the old positions of the elements of a shape after every cell is permuted; O(elements).

    Cells are what `Shape.cells` yields: the tiles of a tiled shape, the boxes of `Shape.from_cells`, the
    elements of the outer layers of a nested shape.

    Parameters
    ----------
    shape
        A jagged or nested shape.
    order
        For each mode of the result the mode of the source, as in `Shape.permute`. Outer modes are permuted
        among themselves, which changes the order of cells, as are modes of cells. By default the modes of
        cells are reversed: every cell is transposed.

    Raises
    ------
    JaggedModeError
        If the shape is a box without layers, or an outer mode would become a mode of cells.
    LayerError
        If a mode would leave its layer.
    SizeOverflowError
        If there are more elements than 64 bits can count.

    Examples
    --------
    >>> from tensorwrapper.shape import Shape, permute_cells
    >>> plan = permute_cells(Shape.jagged([Shape(2, 2), Shape(1, 3)]))
    >>> plan.shape, plan.places.tolist()
    (Shape.jagged([Shape(2, 2), Shape(3, 1)]), [0, 2, 1, 3, 4, 5, 6])
    """
    source = as_shape(shape)
    table, outer, rank = source.cell_table(), source.outer_rank, source.rank
    modes = tuple(range(outer)) + tuple(range(rank - 1, outer - 1, -1))
    modes = modes if order is None else to_permutation(order, rank)
    front, back = modes[:outer], modes[outer:]
    if sorted(front) != list(range(outer)):
        raise JaggedModeError(
            f"the order {modes} takes a mode of cells for an outer one: the first {outer} modes number the "
            "cells, and stay the first"
        )
    inner = [mode - outer for mode in back]
    cells = np.arange(len(table.extents), dtype=np.int64)
    extents, starts, strides = table.extents[:, inner], table.offsets[:-1], _strides(table.extents)[:, inner]
    if front != tuple(range(outer)):
        cells = np.lexsort([table.indices[:, mode] for mode in reversed(front)])
        extents, starts, strides = extents[cells], starts[cells], strides[cells]
    places = _spread(starts, extents, strides)
    return CellPermutation(source, modes, _permuted(source, modes), frozen_array(cells), frozen_array(places))


def _permuted(source: Shape, modes: Index) -> Shape:
    """Return the permuted shape with as many cells as the source: equal ones could be stored as one."""
    result = source.permute(modes)
    if result.outer_rank == source.outer_rank:
        return result
    rows = unroll(cast("JaggedCommon", result.implementation).rows, source.outer_rank)
    return wrap(Jagged(rows), result._names)


def _strides(extents: IntArray) -> IntArray:
    """Return the row-major strides of boxes with these extents, one in each row."""
    strides = np.ones_like(extents)
    for mode in range(extents.shape[1] - 2, -1, -1):
        np.multiply(strides[:, mode + 1], extents[:, mode + 1], out=strides[:, mode])
    return strides


def _spread(starts: IntArray, extents: IntArray, strides: IntArray) -> IntArray:
    """Return the places of all elements of boxes that start and step as given, one box after the other."""
    filled = (extents > 0).all(axis=1)
    if not filled.all():
        starts, extents, strides = starts[filled], extents[filled], strides[filled]
    if not len(starts):
        return starts
    sizes = [np.ascontiguousarray(column) for column in extents.T]
    steps = [np.ascontiguousarray(column) for column in strides.T]
    while sizes:
        # Every place so far becomes the start of a run.
        counts, step = sizes.pop(0), steps.pop(0)
        ends = np.cumsum(counts)
        moves = _repeat(step, ends)
        moves[0] = starts[0]
        moves[ends[:-1]] = starts[1:] - (starts + (counts - 1) * step)[:-1]
        # As sums of the moves from place to place: a third of the passes that products take.
        starts = np.cumsum(moves, out=moves)
        sizes, steps = [_repeat(size, ends) for size in sizes], [_repeat(s, ends) for s in steps]
    return starts


def _repeat(values: IntArray, ends: IntArray) -> IntArray:
    """Return each value up to its end: NumPy's repeat of short runs, in half the time."""
    if (values == values[0]).all():
        return np.full(ends.item(-1), values[0], dtype=np.int64)
    moves = np.zeros(ends.item(-1), dtype=np.int64)
    moves[0] = values[0]
    moves[ends[:-1]] = np.diff(values)
    return np.cumsum(moves, out=moves)


@final
@frozen(eq=False, repr=False, getstate_setstate=False)
class CellMatch:
    """The positions of the elements of paired cells in each of two shapes; made by `match_cells`.

    Pair ``p`` has the elements ``left[offsets[p]:offsets[p + 1]]`` of the one and those of ``right`` of the
    other, in one order. Two matches are equal if they pair the same shapes in the same way.
    """

    shapes: tuple[Shape, Shape]
    """The shapes whose cells are paired."""
    order: Index
    """In which order the modes of the right one are taken."""
    by: CellPairing
    """The pairing of cells."""
    cells: IntArray
    """The (n, 2) numbers of the cells of each pair; read-only."""
    offsets: IntArray
    """How many elements come before each pair, and (last) in all; read-only."""
    left: IntArray
    """The ordinals of the elements in the left shape; read-only."""
    right: IntArray
    """The ordinals of the same elements in the right shape; read-only."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CellMatch):
            return NotImplemented
        return (self.shapes, self.order, self.by) == (other.shapes, other.order, other.by)

    def __hash__(self) -> int:
        return hash((self.shapes, self.order, self.by))

    def __repr__(self) -> str:
        return f"<CellMatch by {self.by}: {len(self.left)} elements in {len(self.cells)} pairs of cells>"

    def __reduce__(self) -> "tuple[Callable[..., CellMatch], tuple[object, ...]]":
        return _match, (*self.shapes, self.order, self.by)


def match_cells(
    left: ShapeLike,
    right: ShapeLike,
    *,
    order: Iterable[SupportsIndex] | None = None,
    by: CellPairing = "index",
) -> CellMatch:
    """Return the positions of the elements of paired cells of two shapes; O(elements).

    The first elements of paired cells are paired, whatever their origins. `tensorwrapper.align` pairs
    elements by their indices instead, including origins of cells, and drops those of only one shape.

    Parameters
    ----------
    left, right
        Jagged or nested shapes whose cells have one rank.
    order
        The order of the modes of the right shape, as in `permute_cells`: with ``(0, 2, 1)`` the cells of the
        left are paired with transposed ones. By default the order is unchanged.
    by
        ``"index"`` pairs the cells with the same outer indices, and drops those of only one shape.
        ``"number"`` pairs the first with the first, and so on.

    Raises
    ------
    ExtentMismatchError
        If the cells of a pair differ in extents and are not both empty, or, by number, one shape has more
        cells; the text has the position.
    RankError
        If the shapes have other numbers of modes.
    JaggedModeError
        As `permute_cells`.

    Examples
    --------
    >>> from tensorwrapper.shape import Shape, match_cells
    >>> a, b = Shape.from_cells((2,), [(2, 2), (1, 3)]), Shape.from_cells((3,), [(2, 2), (3, 1), (5, 5)])
    >>> plan = match_cells(a, b, order=(0, 2, 1))
    >>> plan.cells.tolist(), plan.left.tolist(), plan.right.tolist()
    ([[0, 0], [1, 1]], [0, 1, 2, 3, 4, 5, 6], [0, 2, 1, 3, 4, 5, 6])
    """
    if by not in ("index", "number"):
        raise ConversionError(f'cells are paired by "index" or by "number", not by {by!r}')
    second = as_shape(right)
    modes = tuple(range(second.rank)) if order is None else to_permutation(order, second.rank)
    return _match(as_shape(left), second, modes, by)


def _match(left: Shape, right: Shape, order: Index, by: CellPairing) -> CellMatch:
    turned = permute_cells(right, order)
    mine, theirs = left.cell_table(), turned.shape.cell_table()
    if mine.extents.shape[1] != theirs.extents.shape[1] or (by == "index" and left.rank != right.rank):
        raise RankError(f"the cells of {left} and of {right} have other numbers of modes")
    first, second = _pairs(left, mine, theirs, by)
    extents, counts = mine.extents[first], np.diff(mine.offsets)[first]
    # Of cells without elements no index says how long the inner modes are: equal shapes may differ there.
    filled = (counts > 0) | (np.diff(theirs.offsets)[second] > 0)
    wrong = (extents != theirs.extents[second]).any(axis=1) & filled
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ExtentMismatchError(
            f"cell {tuple(mine.indices[first[k]].tolist())} of the left shape has the extents "
            f"{tuple(extents[k].tolist())}, but its partner {tuple(theirs.indices[second[k]].tolist())} "
            f"of the right one {tuple(theirs.extents[second[k]].tolist())}"
        )
    places = _elements(theirs.offsets, second)
    return CellMatch(
        (left, right),
        order,
        by,
        frozen_array(np.stack([first, turned.cells[second]], axis=1)),
        splits_of(counts),
        frozen_array(_elements(mine.offsets, first)),
        frozen_array(turned.places if len(places) == len(turned.places) else turned.places[places]),
    )


def _elements(offsets: IntArray, cells: IntArray) -> IntArray:
    """Return the ordinals of the elements of cells, whose numbers ascend."""
    if len(cells) and cells[-1] - cells[0] == len(cells) - 1:
        return np.arange(offsets.item(cells[0]), offsets.item(cells[-1] + 1), dtype=np.int64)
    return concatenated_ranges(offsets[cells], offsets[cells + 1] - offsets[cells])


def _pairs(left: Shape, mine: CellTable, theirs: CellTable, by: CellPairing) -> tuple[IntArray, IntArray]:
    """Return the numbers of the cells that belong together."""
    if by == "number":
        if len(mine.extents) != len(theirs.extents):
            raise ExtentMismatchError(
                f"cells are paired by number, but there are {len(mine.extents)} on the left and "
                f"{len(theirs.extents)} on the right"
            )
        numbers = np.arange(len(mine.extents), dtype=np.int64)
        return numbers, numbers
    outer = left.leading(left.outer_rank)
    found = outer.contains(theirs.indices)
    return outer.ordinals(theirs.indices[found]), cast("IntArray", np.flatnonzero(found))
