"""Shapes as text: ``str`` (short, with the extents of every mode) and ``repr`` (what rebuilds the shape).

Long shapes are summarised, so printing touches only what it shows.
"""

from tensorwrapper.shape._common import ShapeCommon
from tensorwrapper.shape._jagged import JaggedCommon
from tensorwrapper.shape._nested import NestedCommon
from tensorwrapper.shape._rows import Rows
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.typing import Index, IntArray

__all__ = ["list_text", "shape_repr", "shape_str"]

_SHOWN = 12  # numbers or rows of one level that are printed before "..."


def shape_str(shape: ShapeCommon) -> str:
    """Return the extents of every mode, with ``|`` between those of a mode that varies.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> str(Shape(3, 4, origin=(1, 0))), str(Shape.jagged([3, 1, 2]))
    ('(3, 4)@(1, 0)', '(3, 3|1|2)')
    """
    if isinstance(shape, NestedCommon):
        return _nested_str(shape)
    if not isinstance(shape, JaggedCommon):
        return _box_text(shape.extents, shape.origin)
    rows = shape.rows
    columns = [rows.ranges(mode) for mode in range(rows.rank)]
    varying = [not _is_constant(extents) for extents, _ in columns]
    # A jagged shape must not print as a box: without any varying mode, the last is written out.
    varying[-1] = varying[-1] or not any(varying)
    extents = ", ".join(_mode_text(e, spread=v) for (e, _), v in zip(columns, varying, strict=True))
    text = f"({extents})"
    if any(origins.any() for _, origins in columns):
        text += f"@({', '.join(_mode_text(o, spread=not _is_constant(o)) for _, o in columns)})"
    return text


def _nested_str(shape: NestedCommon) -> str:
    text = shape_str(shape.flat)
    inner, _, at = text[1:].partition(")")
    modes = iter(inner.rstrip(",").split(", "))
    parts = [", ".join([next(modes) for _ in range(count)]) for count in shape.layers]
    return f"({'; '.join(parts)}){at}"


def _box_text(extents: Index, origin: Index) -> str:
    inner = ", ".join(map(str, extents)) + ("," if len(extents) == 1 else "")
    at = ", ".join(map(str, origin)) + ("," if len(origin) == 1 else "")
    return f"({inner})@({at})" if any(origin) else f"({inner})"


def _is_constant(values: IntArray) -> bool:
    return bool((values == values[0]).all()) if len(values) else True


def _mode_text(values: IntArray, *, spread: bool) -> str:
    if not len(values):
        return "0"
    if not spread:
        return str(int(values[0]))
    shown = [str(v) for v in values[:_SHOWN].tolist()]
    if len(values) == 1:
        return shown[0] + "|"
    return "|".join(shown) + ("|..." if len(values) > _SHOWN else "")


def shape_repr(shape: ShapeCommon) -> str:
    """Return the call that makes the shape; a long one is cut short with an ellipsis.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> Shape.jagged([Shape(1, 2), Shape(3, 4)])
    Shape.jagged([Shape(1, 2), Shape(3, 4)])
    """
    if isinstance(shape, NestedCommon):
        return f"Shape.nested({shape_repr(shape.flat)}, layers={shape.layers})"
    if not isinstance(shape, JaggedCommon):
        return _smooth_repr(shape.extents, shape.origin)
    if isinstance(shape, Tiled):
        sizes = ", ".join(list_text(p.sizes) for p in shape.partitions)
        return _moved(f"Shape.tiled({sizes})", shape.origin)
    rows = shape.rows
    uniform = rows.columns.leaf_rank == 1 and all(
        isinstance(o, int) for o in (*rows.columns.origins, *rows.columns.leaf_origins)
    )
    if uniform and rows.outer_rank <= 2:
        # Without a single row length the numbers do not tell how deep the lists go.
        rank = "" if rows.leaves[0] < rows.leaves[1] else f", rank={rows.rank}"
        return _moved(f"Shape.jagged({_nested_text(rows)}{rank})", rows.uniform_origin())
    children = ", ".join(shape_repr(shape.chip(rows.first + k)) for k in range(min(rows.count, _SHOWN))) + (
        ", ..." if rows.count > _SHOWN else ""
    )
    rank = "" if rows.count else f", rank={rows.rank}"
    return _moved(f"Shape.jagged([{children}]{rank})", (rows.first,) + (0,) * (rows.rank - 1))


def _smooth_repr(extents: Index, origin: Index) -> str:
    inner = ", ".join(map(str, extents))
    if not any(origin):
        return f"Shape({inner})"
    return f"Shape({inner}, origin={origin})"


def _moved(call: str, origin: Index) -> str:
    return f"{call[:-1]}, origin={origin})" if any(origin) else call


def list_text(values: IntArray) -> str:
    """Return the numbers as a list, cut short where it is long."""
    shown = ", ".join(map(str, values[:_SHOWN].tolist()))
    return f"[{shown}{', ...' if len(values) > _SHOWN else ''}]"


def _nested_text(rows: Rows) -> str:
    if rows.outer_rank == 1:
        a, b = rows.leaves
        return list_text(rows.columns.leaf_extents(a, min(b, a + _SHOWN + 1))[:, 0])
    depth = rows.depth + 1
    parts: list[str] = []
    for row in range(rows.start, min(rows.stop, rows.start + _SHOWN)):
        start, stop = rows.columns.children(depth, row)
        parts.append(_nested_text(Rows(rows.columns, depth, start, stop, 0)))
    return f"[{', '.join(parts)}{', ...' if rows.count > _SHOWN else ''}]"
