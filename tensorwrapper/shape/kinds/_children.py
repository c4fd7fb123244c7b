"""Jagged shapes from row lengths, nested lists, child shapes, or extents per cell."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import last_run, shared_table, splits_of
from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_INT64, to_int
from tensorwrapper.errors import ConversionError, ExtentError, LayerError, RankError, SizeOverflowError
from tensorwrapper.shape.boxes._common import ShapeCommon, integer_array
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.kinds._jagged import Jagged, JaggedCommon
from tensorwrapper.shape.rows._columns import Origins, check_int64, tidy_origins
from tensorwrapper.shape.rows._compare import unroll
from tensorwrapper.shape.rows._partition import int64_array
from tensorwrapper.shape.rows._rearrange import build_rows
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import Array, IntArray

_MOST_MODES = 1024  # a rank that is surely a mistake is refused before memory is allocated

_Level = tuple[IntArray, Origins]


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
        sequences = cast("list[Sequence[object]]", row)
        depth_levels.append((np.array(list(map(len, sequences)), dtype=np.int64), 0))
        row = list(chain.from_iterable(sequences))
    top: list[_Level] = [(np.array([len(children)]), 0), *depth_levels]
    if kinds == {"integer"}:
        lengths = _lengths_of(row)
        _check_lengths(lengths, depth_levels)
        jagged = _build(top, lengths[:, np.newaxis], (0,))
    elif kinds == {"shape"}:
        jagged = _stack(top, cast("list[ShapeCommon]", row))
    elif rank is not None and rank > len(top):
        # No rows, or sequences all the way down without a leaf: `rank` tells what the leaves would be.
        inner = rank - len(top)
        if inner > _MOST_MODES:
            raise RankError(
                f"cells of rank {inner} are more than the {_MOST_MODES} that can be told by rank="
            )
        jagged = _build(top, np.zeros((0, inner), dtype=np.int64), (0,) * inner)
    else:
        # Without it, the last sequences are empty rows of rank 1.
        counts, _ = depth_levels[-1]
        jagged = _build(top[:-1], counts[:, np.newaxis], (0,))
    return check_rank(jagged, rank)


def _lengths_of(row: list[object]) -> IntArray:
    if set(map(type, row)) != {int}:
        return int64_array(row, "row lengths")
    try:
        return np.array(row, dtype=np.int64)
    except OverflowError as error:
        raise SizeOverflowError("row lengths must fit into 64 bits") from error


def check_rank(jagged: Jagged, rank: int | None) -> Jagged:
    """Raise if the user said what the rank is, and it is another."""
    if rank is not None and jagged.rank != rank:
        raise RankError(f"the children make a shape of rank {jagged.rank}, but rank={rank} was given")
    return jagged


def _check_lengths(lengths: IntArray, levels: list[_Level]) -> None:
    """Raise if a row, under the counts of `levels`, has a negative length."""
    if not (lengths < 0).any():
        return
    place = int(np.argmax(lengths < 0))
    where = _path_of(place, levels)
    raise ExtentError(f"an extent must not be negative, but row {where} has {lengths[place]}")


def _path_of(place: int, levels: list[_Level]) -> int | tuple[int, ...]:
    """Return the position of a child, one number per level, or a single number for one level."""
    path: list[int] = []
    for counts, _ in reversed(levels):
        splits = splits_of(counts)
        parent = last_run(splits, place)
        path.insert(0, place - int(splits[parent]))
        place = parent
    return (place, *path) if path else place


def _sorts_of(row: list[object]) -> set[str]:
    """Return the sorts of the children, asked once per type: each question costs microseconds."""
    samples = {type(child): child for child in reversed(row)}
    if any(issubclass(kind, np.ndarray) for kind in samples):
        # The meaning of an array depends on its number of axes.
        return {_sort_of(child) for child in row}
    return {_sort_of(child) for child in samples.values()}


def _sort_of(child: object) -> str:
    if isinstance(child, ShapeCommon):
        if child.kind == "nested":
            raise LayerError(
                f"a child is nested, with the layers {child.layers}, but a jagged shape has no layers "
                "inside: flatten() the children, and nest the result"
            )
        return "shape"
    if isinstance(child, Sequence) and not isinstance(child, str | bytes):
        return "sequence"
    if isinstance(child, np.ndarray) and cast("Array", child).ndim == 1:
        return "sequence"
    if isinstance(child, SupportsIndex) and not isinstance(child, bool):
        return "integer"
    raise ConversionError(f"a child must be an extent, a shape, or a sequence of them, not {brief(child)}")


def _build(levels: list[_Level], extents: IntArray, origins: Sequence[Origins]) -> Jagged:
    for mode, (counts, starts) in enumerate([*levels, *zip(extents.T, origins, strict=True)]):
        if isinstance(starts, int):
            check_int64(mode, starts, int(counts.max(initial=0)))
            continue
        beyond = starts > MAX_INT64 - counts
        if beyond.any():
            place = int(np.argmax(beyond))
            check_int64(mode, int(starts[place]), int(counts[place]))
    return Jagged(build_rows(levels, extents, list(origins)))


def _stack(levels: list[_Level], shapes: list[ShapeCommon]) -> Jagged:
    if all(issubclass(kind, SmoothCommon) for kind in set(map(type, shapes))):
        return _stack_boxes(levels, cast("list[SmoothCommon]", shapes))
    ranks = sorted({shape.rank for shape in shapes})
    _check_ranks(ranks, shapes, levels)
    outer = max(shape.outer_rank for shape in shapes if isinstance(shape, JaggedCommon))
    parts = [unroll(_rows_of(shape), outer) for shape in shapes]
    inner = [_joined(parts, mode) for mode in range(outer)]
    leaves = [_joined(parts, mode) for mode in range(outer, ranks[0])]
    extents = np.stack([counts for counts, _ in leaves], axis=1)
    return _build([*levels, *inner], extents, [starts for _, starts in leaves])


def _stack_boxes(levels: list[_Level], boxes: list[SmoothCommon]) -> Jagged:
    # A repeated child is inspected once.
    distinct = dict(zip(map(id, boxes), boxes, strict=True))
    kept = list(distinct.values()) if len(distinct) * 2 < len(boxes) else boxes
    extents, origins = [box.extents for box in kept], [box.origin for box in kept]
    _check_ranks(sorted(set(map(len, extents))), boxes, levels)
    table, starts = _table(extents), _table(origins)
    if len(kept) == 1:
        return _build(levels, shared_table(extents[0], len(boxes)), origins[0])
    if kept is not boxes:
        number = {ident: k for k, ident in enumerate(distinct)}
        places = np.fromiter(map(number.__getitem__, map(id, boxes)), np.int64, len(boxes))
        table, starts = table[places], starts[places]
    return _build(levels, table, [tidy_origins(column) for column in starts.T])


def _check_ranks(ranks: list[int], children: Sequence[ShapeCommon], levels: list[_Level]) -> None:
    if len(ranks) > 1:
        first = children[0].rank
        place = next(k for k, child in enumerate(children) if child.rank != first)
        raise RankError(
            f"children of one jagged shape must have one rank, but these have {ranks}: child "
            f"{_path_of(place, levels[1:])} has {children[place].rank}, and the first child {first}"
        )
    if ranks == [0]:
        raise RankError("children of rank 0 leave no mode to vary: give their number as an extent")


def _joined(parts: list[Rows], mode: int) -> _Level:
    ranges = [part.ranges(mode) for part in parts]
    return np.concatenate([r[0] for r in ranges]), tidy_origins(np.concatenate([r[1] for r in ranges]))


def _rows_of(shape: ShapeCommon) -> Rows:
    if isinstance(shape, JaggedCommon):
        return shape.rows
    extents, origin = shape.bounding_box()
    leaf = shared_table(extents[1:] or (1,), extents[0])
    return build_rows([(np.array([extents[0]]), origin[0])], leaf, list(origin[1:]) or [0])


def _table(rows: list[tuple[int, ...]]) -> IntArray:
    width = len(rows[0])
    try:
        return np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * width).reshape(-1, width)
    except OverflowError as error:
        raise SizeOverflowError("extents and origins of jagged shapes must fit into 64 bits") from error


def _int64_table(table: npt.NDArray[np.integer[Any]], what: str) -> IntArray:
    """Return a copy of `table` as int64, which unsigned numbers must not wrap into."""
    if table.size and int(table.max()) > MAX_INT64:
        raise SizeOverflowError(f"{what} must fit into 64 bits, but one is {table.max()}")
    return table.astype(np.int64)


def _by_cells(table: npt.NDArray[np.integer[Any]], outer: ShapeCommon) -> npt.NDArray[np.integer[Any]]:
    """Return a table with one row for each cell, where it has the modes of the outer box for them."""
    box = outer.extents if isinstance(outer, SmoothCommon) else ()
    return table.reshape(outer.size, -1) if len(box) > 1 and table.shape[:-1] == box and table.size else table


def jagged_from_cells(outer: ShapeCommon, extents: npt.ArrayLike, origins: npt.ArrayLike | None) -> Jagged:
    """Return the jagged shape whose cell k, in the order of `outer`, has extents ``extents[k]``."""
    table = _by_cells(integer_array(extents, "cell extents"), outer)
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
    starts: list[Origins] = [0] * table.shape[1]
    if origins is not None:
        given = _by_cells(integer_array(origins, "cell origins"), outer)
        if given.shape not in {table.shape, table.shape[1:]}:
            raise ExtentError(
                f"cell origins have shape {table.shape} or {table.shape[1:]}, not {given.shape}"
            )
        at = _int64_table(given, "cell origins")
        starts = at.tolist() if at.ndim == 1 else [tidy_origins(column) for column in at.T]
    levels: list[_Level] = []
    if isinstance(outer, JaggedCommon):
        rows = unroll(outer.rows, outer.rank - 1)
        levels = [rows.ranges(mode) for mode in range(rows.rank)]
    else:
        nodes = 1
        box, origin = outer.bounding_box()
        for count, start in zip(box, origin, strict=True):
            levels.append((np.full(nodes, count), start))
            nodes *= count
    return _build(levels, table, starts)
