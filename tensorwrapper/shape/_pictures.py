"""The picture of a shape of any kind, and that of a tiling: which drawing fits."""

from collections.abc import Sequence

from tensorwrapper.drawing import Drawing, count_text, range_text, stacked
from tensorwrapper.shape._nested import Flat, NestedCommon
from tensorwrapper.shape._partition import Partition
from tensorwrapper.shape._picture_boxes import draw_box, draw_few
from tensorwrapper.shape._picture_cells import MOST_CELLS, draw_cells, draw_volumes
from tensorwrapper.shape._picture_layers import draw_layers
from tensorwrapper.shape._picture_rows import MOST_BANDS, bands_of_triangle, draw_bands, draw_rows
from tensorwrapper.shape._picture_tiles import draw_tiles, mode_texts
from tensorwrapper.shape._smooth import SmoothCommon
from tensorwrapper.shape._text import shape_str
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.shape._triangular import Triangular

__all__ = ["draw_shape", "draw_tiling_of", "short_text"]

_LONG = 100  # characters of a shape's text


def short_text(text: str) -> str:
    """Return a text, cut short with an ellipsis, after a whole number, where it is long."""
    if len(text) <= _LONG:
        return text
    head = text[: _LONG - 3]
    return f"{head[: max(head.rfind('|'), head.rfind(',')) + 1]}..."


def draw_shape(shape: Flat | NestedCommon) -> Drawing:
    """Return a picture of a shape, to scale as far as it can be seen; O(rows), in array operations.

    It has at most `MOST_MARKS` marks: many rows are drawn as bands, many tiles as densities, of many cells
    the sizes are counted, and of nested shapes the first cells are drawn.
    """
    title = f"{shape.kind} shape {short_text(shape_str(shape))}, {count_text(shape.size)} elements"
    if not shape.size or not shape.rank:
        extents = ", ".join([range_text(*shape.extent_bounds(mode)) for mode in range(shape.rank)])
        return draw_few(shape.size, shape.rank, f"({extents})", title=title)
    if isinstance(shape, NestedCommon):
        # One layer, and layers without modes around it, are no nesting that could be seen.
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
