"""The text of a shape: ``str``, which `Shape.parse` reads.

White space is free:

=============================  =====================================================================
``(2, 3)``, ``(3,)``, ``()``   a box
``(3, 3|1|2)``                 jagged: of each unrolled mode, and of cells of rank 1, either the extents
                               under all prefixes, in row-major order, or one number that all are
``(1000000, 5|)``              a bar after one number: the extent of all rows, of which a box would not
                               be told apart without it
``(0, |)``                     a bar alone: no prefix leads to the mode, and nothing is stored of it
``(2, 10x20|30x40)``           cells of a higher rank; one cell, ``10x20``, stands for all, and ``|x``
                               says that there are no cells of rank 2
``tiled(5|15|10, 30)``         a tiled box: the tiles of each mode
``triangular(5, lower)``       a triangle; ``strictly lower`` has no diagonal
``...@(-1, 0|4|2)``            the origin where it is not zero, in the same notation: one number for a
                               mode, or one for each prefix (of cells, one per mode and cell); those of
                               a tiled box are the numbers of its first tiles
``(10; 20, 30)``               nested: a semicolon for the comma where a layer ends; layers may be empty
``(10, 20) layers (2,)``       nested, where that says nothing (one layer) or a layer ends within cells
``(2, 3) names (atom, _)``     the names of the modes, and an underscore for a mode without one
=============================  =====================================================================

Texts of more than 1000 numbers are summarized with ``...``, and only the printed numbers are read.
``format(shape, "full")`` writes all.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Final, assert_never, final

import numpy as np

from tensorwrapper._integers import number_text
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._nested import Flat, NestedCommon
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.kinds._triangular import Triangular
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.shape.rows._written_numbers import (
    WrittenNumbers,
    alike_cells,
    cells_between,
    compact_modes,
    extents_of,
    starts_of,
)
from tensorwrapper.typing import Index, IntArray

MOST_NUMBERS: Final = 1000
"""How many numbers a text has before it is summarised."""

SHOWN: Final = 12
"""How many numbers of each mode, or rows of each level, a summary shows."""

_MODES = 64  # modes that a summary shows


def shape_str(shape: Flat | NestedCommon) -> str:
    """Return the text of a shape, a summary if it has more than 1000 numbers.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> str(Shape(3, 4, origin=(1, 0))), str(Shape.jagged([3, 1, 2]))
    ('(3, 4)@(1, 0)', '(3, 3|1|2)')
    """
    return _write(shape, MOST_NUMBERS)


def format_shape(shape: Flat | NestedCommon, spec: str) -> str:
    """Return the text of a shape: as ``str`` gives it for ``""``, all of it for ``"full"``.

    Raises
    ------
    ConversionError
        For any other format.
    SizeOverflowError
        If all of it would have a number of more than 640 digits.
    """
    if spec == "full":
        return _write(shape, None)
    if spec:
        raise ConversionError(
            f'a shape is formatted as "" (its str) or "full" (never a summary), not {spec!r}; '
            "to fill or align its text, format str(shape)"
        )
    return shape_str(shape)


@final
@frozen
class _Text:
    """The text of a shape without layers, in pieces."""

    name: str
    items: list[str]
    origin: list[str]
    numbers: int

    def join(self, layers: tuple[int, ...] | None, *, semicolons: bool, summary: bool) -> str:
        """Return the text as a whole; of a summary the first modes."""
        items, at = _cut(self.items, summary=summary), _cut(self.origin, summary=summary)
        origin = f"@({_commas(at)})" if at else ""
        inner = _commas(items) if not self.name else ", ".join(items)
        if layers is None:
            return f"{self.name}({inner}){origin}"
        if semicolons and items == self.items:
            return f"({'; '.join(self._layered(layers))}){origin}"
        counts = _commas(_cut(list(map(str, layers)), summary=summary))
        return f"{self.name}({inner}){origin} layers ({counts})"

    def _layered(self, layers: tuple[int, ...]) -> list[str]:
        """Return the items of each layer."""
        # The last item may stand for several modes, which are in one layer.
        ends = [min(end, len(self.items)) for end in accumulate(layers, initial=0)]
        return [", ".join(self.items[a:b]) for a, b in pairwise(ends)]


def _cut(parts: list[str], *, summary: bool) -> list[str]:
    """Return the first parts and an ellipsis, if there are more than a summary shows."""
    return [*parts[:_MODES], "..."] if summary and len(parts) > _MODES else parts


def _commas(parts: list[str]) -> str:
    return f"{parts[0]}," if len(parts) == 1 else ", ".join(parts)


def _write(shape: Flat | NestedCommon, limit: int | None) -> str:
    """Return the text of a shape, a summary if it has more numbers than the limit."""
    layers = shape.layers if isinstance(shape, NestedCommon) else None
    flat = shape.flat if isinstance(shape, NestedCommon) else shape
    semicolons = layers is not None and _end_at_commas(flat, layers)
    room = limit if limit is None or layers is None or semicolons else limit - len(layers)
    match flat:
        case Triangular():
            text = _triangular(flat)
        case Tiled():
            text = _tiled(flat, room)
        case JaggedCommon():
            text = _jagged(flat.rows, room)
        case SmoothCommon():
            text = _box(flat.extents, flat.origin, full=limit is None)
        case _:
            assert_never(flat)
    summary = room is not None and text.numbers > room
    return text.join(layers, semicolons=semicolons, summary=summary)


def _end_at_commas(flat: Flat, layers: tuple[int, ...]) -> bool:
    """Tell whether semicolons can say what the layers are."""
    if len(layers) < 2 or isinstance(flat, Tiled | Triangular):
        return False
    outer = flat.outer_rank if isinstance(flat, JaggedCommon) else flat.rank
    return all(end <= outer or end == flat.rank for end in accumulate(layers))


def _numbers(numbers: Iterable[int], *, full: bool) -> list[str]:
    return [number_text(number, full=full) for number in numbers]


def _box(extents: Index, origin: Index, *, full: bool) -> _Text:
    at = _numbers(origin, full=full) if any(origin) else []
    return _Text("", _numbers(extents, full=full), at, len(extents) + len(at))


def _triangular(shape: Triangular) -> _Text:
    half = shape.half if shape.diagonal else f"strictly {shape.half}"
    return _Text("triangular", [str(shape.n), half], [], 1)


def _tiled(shape: Tiled, limit: int | None) -> _Text:
    origin = shape.grid.origin
    at = _numbers(origin, full=True) if any(origin) else []
    numbers = len(at) + sum(p.count for p in shape.partitions)
    end = _end(numbers, limit)
    items: list[str] = []
    for partition in shape.partitions:
        sizes = np.diff(partition.marks if end is None else partition.marks[: end + 1])
        items.append(_bars(sizes, partition.count) if partition.count != 1 else str(sizes.item(0)))
    return _Text("tiled", items, at, numbers)


def _end(numbers: int, limit: int | None) -> int | None:
    """Return how many numbers of each mode are shown, None for all."""
    return SHOWN if limit is not None and numbers > limit else None


def _bars(values: IntArray, count: int) -> str:
    """Return the first of `count` numbers, with an ellipsis if these are not all."""
    return _barred(map(str, values.tolist()), len(values), count)


def _barred(texts: Iterable[str], shown: int, count: int) -> str:
    joined = "|".join(texts)
    if shown < count:
        return f"{joined}|..."
    return joined if count > 1 else f"{joined}|"


def _jagged(rows: Rows, limit: int | None) -> _Text:
    outer, extents = rows.outer_rank, extents_of(rows)
    modes, cells = extents[:outer], extents[outer:]
    single, alike = compact_modes(modes), alike_cells(cells)
    starts = starts_of(rows)
    origin = [numbers.alike() for numbers in starts]
    if not any(o is None or o for o in origin):
        starts, origin = [], []
    numbers = _count(modes, single) + _count(starts, origin)
    # Without a bar, rows of one length would read as a box.
    bar = len(cells) == 1 and alike is not None and None not in single
    if bar and 0 < cells[0].count <= MOST_NUMBERS - numbers:
        # Up to a readable number, equal numbers are written out; a number and a bar would have the same
        # meaning.
        alike = None
    numbers += sum(s.count for s in cells) if alike is None else len(alike)
    end = _end(numbers, limit)
    items = [_numbers_text(s, n, end) for s, n in zip(modes, single, strict=True)]
    items.append(_cells_text(rows, cells, end) if alike is None else _cell_text(alike, end) + "|" * bar)
    at = [_numbers_text(s, o, end) for s, o in zip(starts, origin, strict=True)]
    return _Text("", items, at, numbers)


def _count(modes: list[WrittenNumbers], single: list[int | None]) -> int:
    """Return how many numbers are written for modes, where a single one may stand for all of a mode."""
    return sum(s.count if n is None else 1 for s, n in zip(modes, single, strict=True))


def _numbers_text(numbers: WrittenNumbers, alike: int | None, end: int | None) -> str:
    if alike is not None:
        return str(alike)
    count = numbers.count
    return _bars(numbers.values(0, count if end is None else end), count)


def _cells_text(rows: Rows, cells: list[WrittenNumbers], end: int | None) -> str:
    count, inner = cells[0].count, len(cells)
    if inner == 1:
        return _numbers_text(cells[0], None, end)
    if not count:
        return "|" + "x" * (inner - 1)
    table = cells_between(rows, 0, count if end is None else end)
    if end is not None:
        return _barred([_cell_text(cell, end) for cell in table.tolist()], len(table), count)
    # Of each cell the next `inner` of all numbers, without a list for any of them.
    numbers = map(str, table.reshape(-1).tolist())
    return _barred(map("x".join, zip(*[numbers] * inner, strict=True)), count, count)


def _cell_text(extents: Sequence[int], end: int | None) -> str:
    shown = extents if end is None else extents[:_MODES]
    return "x".join(map(str, shown)) + "x..." * (len(shown) < len(extents))


def list_text(values: IntArray) -> str:
    """Return the numbers as a list, cut short where it is long."""
    shown = ", ".join(map(str, values[:SHOWN].tolist()))
    return f"[{shown}{', ...' if len(values) > SHOWN else ''}]"
