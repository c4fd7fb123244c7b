"""Jagged shapes from what users have: row lengths, nested lists, child shapes, extents per cell."""

from collections.abc import Iterable, Sequence
from typing import SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64, to_int
from tensorwrapper.errors import ConversionError, ExtentError, RankError, SizeOverflowError
from tensorwrapper.shape._columns import Columns, Origins, check_int64, run_of, splits_of, tidy_origins
from tensorwrapper.shape._common import ShapeCommon, integer_array
from tensorwrapper.shape._jagged import Jagged, JaggedCommon
from tensorwrapper.shape._partition import Partition, int64_array
from tensorwrapper.shape._rearrange import build_rows
from tensorwrapper.shape._rows import Rows
from tensorwrapper.shape._smooth import SmoothCommon
from tensorwrapper.shape._unroll import unroll, unrolls_exactly
from tensorwrapper.typing import Array, IntArray

__all__ = ["jagged_from_cells", "jagged_from_children", "jagged_from_lengths"]

_Level = tuple[IntArray, IntArray]


def jagged_from_lengths(lengths: npt.NDArray[np.integer], rank: int | None) -> Jagged:
    """Return the jagged matrix whose row k has ``lengths[k]`` elements; O(n)."""
    if lengths.ndim != 1:
        raise ConversionError(
            f"an array of row lengths has one axis, not {lengths.ndim}; for a table of extents per cell "
            "use Shape.from_cells"
        )
    # An array of no lengths is of floats unless somebody says otherwise.
    sizes = cast("IntArray", lengths) if lengths.size else np.zeros(0, dtype=np.int64)
    marks = Partition.of_sizes(sizes, what="row lengths").marks
    return _checked(Jagged(Rows.whole(Columns((), marks, (0,), (0,)))), rank)


def jagged_from_children(children: list[object], rank: int | None) -> Jagged:
    """Return the jagged shape with these children: integers, shapes, or sequences of them."""
    rank = None if rank is None else to_int(rank, "the rank of a jagged shape")
    if not children and rank is None:
        raise RankError("a jagged shape without rows needs rank=")
    if not children and rank is not None and rank < 2:
        raise RankError(f"a jagged shape has at least rank 2, not {rank}")
    depth_levels: list[_Level] = []
    row = children
    while True:
        kinds = _sorts_of(row)
        if len(kinds) > 1:
            raise ConversionError(
                f"the children of one level must be of one sort, but these are {', '.join(sorted(kinds))}"
            )
        if kinds != {"sequence"}:
            break
        depth_levels.append(_lengths_level(row))
        row = [grandchild for child in row for grandchild in cast("Iterable[object]", child)]
    top: list[_Level] = [(np.array([len(children)]), np.array([0])), *depth_levels]
    if kinds == {"integer"}:
        lengths = int64_array(row, "row lengths")
        _check_lengths(lengths, depth_levels)
        jagged = _build(top, lengths[:, np.newaxis], np.zeros((len(row), 1), dtype=np.int64))
    elif kinds == {"shape"}:
        jagged = _stack(top, cast("list[ShapeCommon]", row))
    elif rank is not None and rank > len(top):
        # No rows, or sequences all the way down without a leaf: `rank` tells what the leaves would be.
        nothing = np.zeros((0, rank - len(top)), dtype=np.int64)
        jagged = _build(top, nothing, nothing)
    else:
        # Without it, the last sequences are empty rows of rank 1.
        counts_, _ = depth_levels[-1]
        jagged = _build(top[:-1], counts_[:, np.newaxis], np.zeros((len(counts_), 1), dtype=np.int64))
    return _checked(jagged, rank)


def _checked(jagged: Jagged, rank: int | None) -> Jagged:
    if rank is not None and jagged.rank != rank:
        raise RankError(f"the children make a shape of rank {jagged.rank}, but rank={rank} was given")
    return jagged


def _check_lengths(lengths: IntArray, levels: list[_Level]) -> None:
    """Raise if a row, which lies under the counts of `levels`, has a negative length."""
    if not (lengths < 0).any():
        return
    place = int(np.argmax(lengths < 0))
    length, row = lengths[place], list[int]()
    for counts, _ in reversed(levels):
        splits = splits_of(counts)
        parent = int(run_of(splits, np.array(place)))
        row.insert(0, place - int(splits[parent]))
        place = parent
    where = (place, *row) if row else place
    raise ExtentError(f"an extent must not be negative, but row {where} has {length}")


def _sorts_of(row: list[object]) -> set[str]:
    """Return the sorts of the children, asked once per type: each question costs microseconds."""
    samples = {type(child): child for child in reversed(row)}
    if any(issubclass(kind, np.ndarray) for kind in samples):
        # What an array is depends on its axes.
        return {_sort_of(child) for child in row}
    return {_sort_of(child) for child in samples.values()}


def _sort_of(child: object) -> str:
    if isinstance(child, ShapeCommon):
        return "shape"
    if isinstance(child, Sequence) and not isinstance(child, str | bytes):
        return "sequence"
    if isinstance(child, np.ndarray) and cast("Array", child).ndim == 1:
        return "sequence"
    if isinstance(child, SupportsIndex) and not isinstance(child, bool):
        return "integer"
    raise ConversionError(f"a child must be an extent, a shape, or a sequence of them, not {child!r}")


def _lengths_level(row: list[object]) -> _Level:
    counts = np.array([len(cast("Sequence[object]", child)) for child in row], dtype=np.int64)
    return counts, np.zeros(len(row), dtype=np.int64)


def _build(levels: list[_Level], extents: IntArray, origins: IntArray) -> Jagged:
    columns = [*levels, *zip(extents.T, origins.T, strict=True)]
    for mode, (counts, starts) in enumerate(columns):
        beyond = starts > MAX_INT64 - counts
        if beyond.any():
            place = int(np.argmax(beyond))
            check_int64(mode, int(starts[place]), int(counts[place]))
    tidied: list[tuple[IntArray, Origins]] = [(counts, tidy_origins(starts)) for counts, starts in levels]
    return Jagged(build_rows(tidied, extents, [tidy_origins(column) for column in origins.T]))


def _stack(levels: list[_Level], shapes: list[ShapeCommon]) -> Jagged:
    ranks = sorted({shape.rank for shape in shapes})
    if len(ranks) > 1:
        raise RankError(f"children of one jagged shape must have one rank, but these have {ranks}")
    if ranks == [0]:
        raise RankError("children of rank 0 leave no mode to vary: give their number as an extent")
    smooth = [shape for shape in shapes if isinstance(shape, SmoothCommon)]
    if len(smooth) == len(shapes):
        extents = _table([shape.extents for shape in smooth])
        return _build(levels, extents, _table([shape.origin for shape in smooth]))
    outer = max(shape.outer_rank for shape in shapes if isinstance(shape, JaggedCommon))
    parts = [unroll(_rows_of(shape), outer) for shape in shapes]
    if not all(unrolls_exactly(_rows_of(shape), outer) for shape in shapes):
        raise ExtentError("a child has extents after an empty mode that the other children cannot express")
    inner = [_joined(parts, mode) for mode in range(outer)]
    leaves = [_joined(parts, mode) for mode in range(outer, ranks[0])]
    extents, origins = (np.stack([leaf[side] for leaf in leaves], axis=1) for side in (0, 1))
    return _build([*levels, *inner], extents, origins)


def _joined(parts: list[Rows], mode: int) -> _Level:
    ranges = [part.ranges(mode) for part in parts]
    return np.concatenate([r[0] for r in ranges]), np.concatenate([r[1] for r in ranges])


def _rows_of(shape: ShapeCommon) -> Rows:
    if isinstance(shape, JaggedCommon):
        return shape.rows
    extents, origin = shape.bounding_box()
    first, rest = extents[0], extents[1:]
    leaf = np.broadcast_to(np.array(rest or (1,), dtype=np.int64), (first, max(len(rest), 1))).copy()
    return build_rows([(np.array([first]), origin[0])], leaf, list(origin[1:]) or [0])


def _table(rows: list[tuple[int, ...]]) -> IntArray:
    try:
        return np.array(rows, dtype=np.int64)
    except OverflowError as error:
        raise SizeOverflowError("extents and origins of jagged shapes must fit into 64 bits") from error


def _int64_table(table: npt.NDArray[np.integer], what: str) -> IntArray:
    """Return a copy of `table` as int64, which unsigned numbers must not wrap into."""
    if table.size and int(table.max()) > MAX_INT64:
        raise SizeOverflowError(f"{what} must fit into 64 bits, but one is {table.max()}")
    return table.astype(np.int64)


def jagged_from_cells(outer: ShapeCommon, extents: npt.ArrayLike, origins: npt.ArrayLike | None) -> Jagged:
    """Return the jagged shape whose cell k, in the order of `outer`, has extents ``extents[k]``."""
    table = integer_array(extents, "cell extents")
    if table.ndim != 2 or len(table) != outer.size or not table.shape[1]:
        raise ExtentError(
            f"{outer.size} cells need a table of extents of shape ({outer.size}, rank), not {table.shape}"
        )
    if not outer.rank:
        raise RankError("the outer shape of a jagged shape has at least one mode")
    table = _int64_table(table, "cell extents")
    if (table < 0).any():
        cell = int(np.argmax((table < 0).any(axis=1)))
        raise ExtentError(
            f"an extent must not be negative, but cell {cell} has {tuple(table[cell].tolist())}"
        )
    starts = np.zeros_like(table)
    if origins is not None:
        given = integer_array(origins, "cell origins")
        if given.shape not in {table.shape, table.shape[1:]}:
            raise ExtentError(
                f"cell origins have shape {table.shape} or {table.shape[1:]}, not {given.shape}"
            )
        starts = np.broadcast_to(_int64_table(given, "cell origins"), table.shape).copy()
    levels: list[_Level] = []
    if isinstance(outer, JaggedCommon):
        rows = unroll(outer.rows, outer.rank - 1)
        levels = [rows.ranges(mode) for mode in range(rows.rank)]
    else:
        nodes = 1
        box, origin = outer.bounding_box()
        for count, start in zip(box, origin, strict=True):
            levels.append((np.full(nodes, count), np.full(nodes, start)))
            nodes *= count
    return _build(levels, table, starts)
