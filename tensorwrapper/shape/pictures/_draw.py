"""The picture of a shape of any kind, and that of a tiling: which drawing fits."""

from collections.abc import Iterable, Sequence
from math import prod

from tensorwrapper._displays import html_block
from tensorwrapper.drawing import (
    Drawing,
    bytes_text,
    count_text,
    range_text,
    stacked,
)
from tensorwrapper.shape.boxes._names import Names, text_of_names
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.kinds._jagged import Jagged, JaggedCommon, JaggedView
from tensorwrapper.shape.kinds._nested import Flat, NestedCommon, flat_of
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.kinds._triangular import Triangular
from tensorwrapper.shape.pictures._boxes import draw_box, draw_few
from tensorwrapper.shape.pictures._cells import MOST_CELLS, draw_cells, draw_volumes
from tensorwrapper.shape.pictures._layers import draw_layers
from tensorwrapper.shape.pictures._rows import MOST_BANDS, bands_of_triangle, draw_bands, draw_rows
from tensorwrapper.shape.pictures._tiles import draw_tiles, mode_texts
from tensorwrapper.shape.rows._columns import Columns
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.text._text import list_text, shape_str
from tensorwrapper.typing import IntArray

_LONG = 100  # characters of a shape's text


def short_text(text: str) -> str:
    """Return a text, cut short with an ellipsis, after a whole number, where it is long."""
    if len(text) <= _LONG:
        return text
    head = text[: _LONG - 3]
    return f"{head[: max(head.rfind('|'), head.rfind(',')) + 1]}..."


def draw_shape(shape: Flat | NestedCommon) -> Drawing:
    """Return a picture of a shape, to scale as far as visible; O(rows), in array operations.

    It has at most `MOST_MARKS` marks: many rows are drawn as bands, many tiles as densities, many cells as a
    histogram of sizes. For nested shapes the first cells are drawn.
    """
    title = f"{shape.kind} shape {short_text(shape_str(shape))}, {count_text(shape.size)} elements"
    if not shape.size or not shape.rank:
        extents = ", ".join([range_text(*shape.extent_bounds(mode)) for mode in range(shape.rank)])
        return draw_few(shape.size, shape.rank, f"({extents})", title=title)
    if isinstance(shape, NestedCommon):
        # One layer, or one with only empty layers around it, is not visible as nesting.
        return draw_layers(shape, title=title) if len(shape.layers) > 1 else draw_shape(shape.flat)
    if isinstance(shape, SmoothCommon):
        return draw_box(*shape.bounding_box(), title=title)
    if isinstance(shape, Tiled):
        outer = shape.outer_rank
        names = [f"modes {mode} and {mode + outer}" for mode in range(outer)]
        return draw_tiles(
            shape.partitions, shape.grid.origin, mode_texts(shape.partitions, names), title=title
        )
    if isinstance(shape, Triangular) and shape.n > MOST_BANDS:
        (_, extent), (_, first) = shape.bounding_box()
        return draw_bands(bands_of_triangle(shape), (first, extent), first=0, modes=1, title=title)
    rows = shape.rows
    a, b = rows.leaves
    if rows.columns.leaf_rank == 1:
        return draw_rows(rows, title=title)
    if rows.columns.leaf_rank == 2 and b - a <= MOST_CELLS:
        return draw_cells(rows, title=title)
    return stacked([draw_shape(shape.outer()), draw_volumes(rows, title="")], title=title)


def draw_tiling_of(partitions: Sequence[Partition]) -> Drawing:
    """Return a picture of a box that is cut like this, tiles to scale; O(tiles per mode)."""
    extents, grid = [p.extent for p in partitions], [p.count for p in partitions]
    tiles = f"{' x '.join(map(count_text, grid))} tiles" if grid else "one tile"
    title = f"tiling of {' x '.join(map(count_text, extents)) or 'one'} elements into {tiles}"
    if not all(extents) or not extents:
        return draw_few(
            min(extents, default=1), len(extents), f"({', '.join(map(str, extents))})", title=title
        )
    names = [f"mode {mode}" for mode in range(len(partitions))]
    return draw_tiles(partitions, (0,) * len(partitions), mode_texts(partitions, names), title=title)


def shape_html(shape: Flat | NestedCommon, names: Names = None) -> str:
    """Return a self-contained block of HTML, with its styles."""
    text = short_text(shape_str(shape) + text_of_names(names))
    return html_block(text, _facts(shape), draw_shape(shape).to_svg())


def tiling_html(partitions: tuple[Partition, ...], text: str) -> str:
    """Return the block of a tiling, of which `text` is the representation."""
    facts = [
        ("tiles", count_text(prod([p.count for p in partitions]))),
        ("elements", count_text(prod([p.extent for p in partitions]))),
        *[
            (f"mode {k}", f"{list_text(p.sizes)} from {count_text(p.origin)}")
            for k, p in enumerate(partitions[:8])
        ],
        ("memory", bytes_text(_bytes_of(p.marks for p in partitions))),
    ]
    return html_block(short_text(text), facts, draw_tiling_of(partitions).to_svg())


def _facts(shape: Flat | NestedCommon) -> list[tuple[str, str]]:
    flat = flat_of(shape)
    facts = [("kind", f"{shape.kind}, tiled" if isinstance(flat, Tiled) else shape.kind)]
    facts.append(("rank", str(shape.rank)))
    if isinstance(shape, NestedCommon):
        facts.append(("layers", str(shape.layers)))
    facts.append(("size", count_text(shape.size)))
    if isinstance(flat, JaggedCommon):
        padding = shape.padding
        share = f" ({100 * padding / (padding + shape.size):.0f} % of the bounding box)" if padding else ""
        facts.append(("padding", f"{count_text(padding)}{share}"))
        facts += [("memory", text) for text in _memory(flat)]
    return facts


def _memory(shape: JaggedCommon) -> list[str]:
    """Return what the arrays of a shape take, for those that are stored as arrays."""
    if isinstance(shape, Tiled):
        return [bytes_text(_bytes_of(p.marks for p in shape.partitions))]
    if isinstance(shape, Jagged | JaggedView):
        text = bytes_text(_bytes_of(_arrays(shape.rows.columns)))
        return [f"a view of {text}" if isinstance(shape, JaggedView) else text]
    return []


def _arrays(columns: Columns) -> Iterable[IntArray]:
    yield from columns.splits
    yield columns.leaf
    yield from [o for o in (*columns.origins, *columns.leaf_origins) if not isinstance(o, int)]


def _bytes_of(arrays: Iterable[IntArray]) -> int:
    # Rows that are all alike are one row in memory.
    return sum(a.nbytes if all(a.strides) or not len(a) else a[0].nbytes for a in arrays)
