"""Shapes and tilings in notebooks: their text, a small table of facts, and the picture."""

from collections.abc import Iterable
from html import escape
from math import prod

from tensorwrapper.drawing import FAINT, INK, MUTED, PAPER, bytes_text, count_text
from tensorwrapper.shape._columns import Columns
from tensorwrapper.shape._jagged import Jagged, JaggedCommon, JaggedView
from tensorwrapper.shape._names import Names, text_of_names
from tensorwrapper.shape._nested import Flat, NestedCommon, flat_of
from tensorwrapper.shape._partition import Partition
from tensorwrapper.shape._pictures import draw_shape, draw_tiling_of, short_text
from tensorwrapper.shape._text import list_text, shape_str
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.typing import IntArray

__all__ = ["block_html", "shape_html", "tiling_html"]


def shape_html(shape: Flat | NestedCommon, names: Names = None) -> str:
    """Return a block of HTML that needs nothing from elsewhere; the styles stand in it."""
    text = short_text(shape_str(shape) + text_of_names(names))
    return block_html(text, _facts(shape), draw_shape(shape).to_svg())


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
    return block_html(short_text(text), facts, draw_tiling_of(partitions).to_svg())


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


def block_html(text: str, facts: Iterable[tuple[str, str]], svg: str) -> str:
    """Return a text, a table of facts and a picture as one block."""
    cell = "padding:1px 14px 1px 0;text-align:left;border:none;background:none"
    lines = [
        f'<tr style="background:none"><th style="{cell};color:{MUTED};font-weight:normal">{escape(name)}</th>'
        f'<td style="{cell};color:{INK}">{escape(value)}</td></tr>'
        for name, value in facts
    ]
    frame = (
        "display:inline-block;max-width:100%;padding:8px 12px;font:12px system-ui,sans-serif;"
        f"border:1px solid {FAINT};background:{PAPER};color:{INK}"
    )
    head = [
        f'<div class="tensorwrapper" style="{frame}">',
        f'<code style="color:{INK};background:none;white-space:pre-wrap">{escape(text)}</code>',
        '<table style="border:none;margin:6px 0;font-size:12px;border-collapse:collapse">',
    ]
    return "\n".join([*head, *lines, "</table>", svg, "</div>"])
