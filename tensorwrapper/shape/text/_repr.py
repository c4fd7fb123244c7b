"""The representation of a shape: the call that makes it, cut short where it has more than 1000 numbers."""

import re
from typing import assert_never

from tensorwrapper._integers import MAX_INT64, number_text
from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon
from tensorwrapper.shape.kinds._jagged import Jagged, JaggedCommon, JaggedView
from tensorwrapper.shape.kinds._nested import Flat, NestedCommon
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.kinds._triangular import Triangular
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.shape.rows._written_numbers import WrittenNumbers, starts_of
from tensorwrapper.shape.text._text import MOST_NUMBERS, SHOWN, format_shape, list_text, shape_str
from tensorwrapper.typing import Index

_NUMBER = re.compile(r"\d+")
_DEEP = 32  # unrolled modes beyond which lists of lists are no longer read well, by Python least of all


def shape_repr(shape: Flat | NestedCommon) -> str:
    """Return the call that makes the shape; a long one is cut short with an ellipsis.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> Shape.jagged([Shape(1, 2), Shape(3, 4)])
    Shape.jagged([Shape(1, 2), Shape(3, 4)])
    """
    if type(shape) is Smooth and shape.rank <= _DEEP:
        return _box_call(shape, None)  # The most frequent case, which is never long.
    if type(shape) is Jagged or type(shape) is JaggedView:
        text = _long_rows(shape.rows)
        if text is not None:
            return text
    if _most_numbers(shape) <= MOST_NUMBERS:
        text = _call(shape, None)
        if sum(1 for _ in _NUMBER.finditer(text)) <= MOST_NUMBERS:
            return text
    return _call(shape, SHOWN)


def _long_rows(rows: Rows) -> str | None:
    """Return the call of many rows of elements that all start alike, as errors name them; None for others."""
    if len(rows.columns.origins) - rows.depth > 1 or rows.columns.leaf_rank > 1 or rows.count <= MOST_NUMBERS:
        return None
    start = rows.stored_origin(1)
    if not isinstance(start, int):
        return None
    few = rows.columns.leaf_extents(rows.start, rows.start + SHOWN)[:, 0].tolist()
    origin = _origin((rows.first, start), SHOWN)
    return f"Shape.jagged([{', '.join(map(str, few))}, ...]{origin})"


def _most_numbers(shape: Flat | NestedCommon) -> int:
    """Return how many extents are to be written; rows without numbers count too, as empty lists are long."""
    flat = shape.flat if isinstance(shape, NestedCommon) else shape
    if isinstance(flat, Triangular):
        return 1
    if isinstance(flat, Tiled):
        return sum(p.count for p in flat.partitions)
    if isinstance(flat, SmoothCommon):
        return flat.rank
    rows = flat.rows
    if rows.outer_rank > _DEEP:
        return 0
    runs = [rows.run(mode) for mode in range(1, rows.outer_rank + 1)]
    return sum(b - a for a, b in runs[:-1]) + (runs[-1][1] - runs[-1][0]) * rows.columns.leaf_rank


def _call(shape: Flat | NestedCommon, shown: int | None) -> str:
    """Return the call; if `shown` is given, only so many rows or numbers of each level."""
    match shape:
        case NestedCommon():
            return f"Shape.nested({_call(shape.flat, shown)}, layers={_tuple(shape.layers, shown)})"
        case Triangular():
            strict = "" if shape.diagonal else ", diagonal=False"
            return f'Shape.triangular({shape.n}, "{shape.half}"{strict})'
        case Tiled():
            sizes = [list_text(p.sizes) if shown else str(p.sizes.tolist()) for p in shape.partitions]
            return f"Shape.tiled({', '.join(_cut(sizes, shown))}{_origin(shape.origin, shown)})"
        case JaggedCommon():
            return _jagged_call(shape, shown)
        case SmoothCommon():
            return _box_call(shape, shown)
        case _:
            assert_never(shape)


def _box_call(shape: SmoothCommon, shown: int | None) -> str:
    return f"Shape({', '.join(_numbers(shape.extents, shown))}{_origin(shape.origin, shown)})"


def _cut(parts: list[str], shown: int | None) -> list[str]:
    """Return the modes that are written, which do not become fewer with the rows."""
    return parts if shown is None or len(parts) <= SHOWN else [*parts[:SHOWN], "..."]


def _numbers(numbers: Index, shown: int | None) -> list[str]:
    few = numbers if shown is None else numbers[: SHOWN + 1]
    return _cut([number_text(number, full=False) for number in few], shown)


def _tuple(numbers: Index, shown: int | None) -> str:
    texts = _numbers(numbers, shown)
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def _origin(origin: Index, shown: int | None) -> str:
    return f", origin={_tuple(origin, shown)}" if any(origin) else ""


def _jagged_call(shape: JaggedCommon, shown: int | None) -> str:
    rows, rank = shape.rows, shape.rank
    if rows.outer_rank > _DEEP or _hides_cells(rows):
        return f'Shape.parse("{shape_str(shape)}")'
    if shown is None and rows.columns.leaf_rank == 1 and rows.size > MAX_INT64:
        # Rows that are all alike are not bound to 64 bits; a list of lengths is.
        return f'Shape.parse("{format_shape(shape, "full")}")'
    outer, starts = rows.outer_rank, starts_of(rows)
    inner = [numbers.alike() for numbers in starts[1:outer]]
    a, b = rows.leaves
    if None in inner:
        # Rows that start in different places say so themselves.
        first = rows.first
        count = rows.count if shown is None else min(rows.count, shown)
        fewer = None if shown is None else max(shown // 2, 1)
        children = [_call(shape.chip(first + k), fewer) for k in range(count)]
        text = f"[{', '.join(_with_rest(children, rows.count))}]"
        origin: Index = (first, *[0] * (rank - 1))
        needs_rank = not rows.count
    else:
        leaf = _alike_leaf(starts[outer:])
        text = _lists(shape, outer, shown, numbers=leaf is not None)
        moved = (0,) * (rank - outer) if leaf is None else (leaf,)
        origin = (rows.first, *[o for o in inner if o is not None], *moved)
        # Without a single cell the lists do not tell how deep they go.
        needs_rank = a == b
    return f"Shape.jagged({text}{f', rank={rank}' if needs_rank else ''}{_origin(origin, shown)})"


def _hides_cells(rows: Rows) -> bool:
    """Tell whether extents or starts of cells are stored though there is no cell, which lists cannot say."""
    a, b = rows.leaves
    cells = range(rows.outer_rank, rows.rank) if rows.columns.leaf_rank > 1 else ()
    return a == b and (any(rows.absent) or any(rows.stored_origin(mode) for mode in cells))


def _alike_leaf(starts: list[WrittenNumbers]) -> int | None:
    """Return where all cells of rank 1 start; None if cells have another rank, or start apart."""
    return starts[0].alike() if len(starts) == 1 else None


def _lists(shape: JaggedCommon, depth: int, shown: int | None, *, numbers: bool) -> str:
    """Return the cells as lists of lists: of their extents if they are but numbers, else of boxes."""
    first, count = shape.rows.first, shape.rows.count
    # A summary of deep lists shows fewer rows of each level, so that it stays a few lines long.
    few = count if shown is None else min(count, max(shown >> (depth - 1), 1))
    if depth > 1:
        below = [shape.chip(first + k) for k in range(few)]
        texts = [
            _lists(row, depth - 1, shown, numbers=numbers) for row in below if isinstance(row, JaggedCommon)
        ]
    elif numbers:
        rows = shape.rows
        texts = [str(n) for n in rows.columns.leaf_extents(rows.start, rows.start + few)[:, 0].tolist()]
    else:
        texts = [_call(shape.chip(first + k), shown) for k in range(few)]
    return f"[{', '.join(_with_rest(texts, count))}]"


def _with_rest(texts: list[str], count: int) -> list[str]:
    return texts if len(texts) == count else [*texts, "..."]
