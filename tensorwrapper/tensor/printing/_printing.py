"""Tensors as text: facts first, then elements as NumPy writes them. Only shown elements are read."""

import math
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from tensorwrapper._error_text import type_text
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.drawing import bytes_text, count_text
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import shape_words
from tensorwrapper.typing import Array, Index

_DOTS = "..."
_LINES = 20
_THRESHOLD = 1000  # NumPy's own, from which on it summarises
_LONGEST = 60  # characters of a string that are shown
_MOST = 100_000  # elements that are shown: six modes with NumPy's options
_SEPARATOR = "\0"  # NumPy's text of no number has it

_Texts: TypeAlias = "str | list[_Texts]"
"""Texts of elements in lists nested by rank; `_DOTS` stands for omitted elements."""


@frozen(eq=False)
class _Box:
    """The shown part of a box: its elements, and the modes that are shortened."""

    shown: Array
    cut: tuple[bool, ...]


_Parts: TypeAlias = "_Box | list[_Parts] | None"
"""Boxes in lists, one list per mode in front of them; None for rows that are left out."""


def tensor_head(layout: Layout[Any], buffer: BufferCommon[Any], nbytes: int) -> str:
    """Return shape, type and bytes on one line; of a sparse tensor also how many elements it stores."""
    dtype = buffer.dtype
    kind = type_text(dtype)
    if buffer.sides is not None:
        kind = f"nullable {kind}"
    stored = ""
    if buffer.fill_value is not None:
        stored = (
            f", {count_text(buffer.count_stored(layout.implementation))} stored, else {buffer.fill_value}"
        )
    return f"{shape_words(layout.shape)}, {kind}{stored}, {bytes_text(nbytes)}"


def tensor_str(layout: Layout[Any], buffer: BufferCommon[Any], *, most: int = _LINES) -> str:
    """Return the elements in nested brackets, or the stored ones as ``{index: element}``; few lines.

    NumPy's print options hold. Unless its ``threshold`` was changed, a text of more than `most` lines is
    summarised: fewer entries at both ends of each mode, and at last fewer lines.
    """
    if buffer.fill_value is not None:
        return _entries(layout, buffer)
    options, flat = np.get_printoptions(), layout.flatten()
    edge, is_large = options["edgeitems"], _is_large(flat.shape, options["threshold"])
    if options["threshold"] != _THRESHOLD:
        return _body(flat, buffer, options, edge if is_large else None)
    # All elements, or fewer and fewer entries; a text that is certainly too long is not made.
    edges = [k for k in range(edge, 1, -1) if _least_lines(flat.shape, k) <= most]
    for k in [*([] if is_large else [None]), *edges, min(edge, 1)]:
        text = _body(flat, buffer, options, k)
        if text.count("\n") < most:
            return text
    lines = text.split("\n")
    ends = (most - 1) // 2
    return "\n".join([*lines[:ends], _DOTS, *lines[-ends:]])


def tensor_repr(layout: Layout[Any], buffer: BufferCommon[Any], nbytes: int) -> str:
    """Return the facts, with the elements on the same line if they fit, otherwise below."""
    head, text = tensor_head(layout, buffer, nbytes), tensor_str(layout, buffer, most=_LINES - 1)
    if "\n" not in text and len(head) + len(text) < np.get_printoptions()["linewidth"] - len("<Tensor : >"):
        return f"<Tensor {head}: {text}>"
    return f"<Tensor {head}>\n{text}"


def _body(
    layout: Layout[Any], buffer: BufferCommon[Any], options: Mapping[str, Any], entries: int | None
) -> str:
    """Return nested brackets: all elements, or so many entries at both ends of each mode."""
    if layout.shape.is_box and not layout.shape.size:
        return "[]"
    edge = None if entries is None else _edge_of(layout.shape, entries)
    array = _numbers_of(layout, buffer) if edge == entries else None
    if array is not None and not options["formatter"] and not options["legacy"]:
        threshold = sys.maxsize if edge is None else 0
        with np.printoptions(threshold=threshold, edgeitems=edge or 0):
            return np.array2string(array)
    parts = _collect(layout, buffer, edge)
    texts = iter(_texts([box.shown.reshape(-1) for box in _boxes(parts)]))
    tree = _fill(parts, texts, edge or 0)
    rank = layout.shape.rank
    # NumPy leaves room for the brackets that close.
    return _render(tree, rank, 0, options["linewidth"] - rank)


def _numbers_of(layout: Layout[Any], buffer: BufferCommon[Any]) -> Array | None:
    """Return the array of a box of numbers in memory, which NumPy formats; None for others."""
    if type(buffer) is not Dense or buffer.dtype.kind not in "biufcmM" or not layout.shape.is_box:
        return None
    if layout.shape.size * buffer.dtype.itemsize > MAX_INT64:  # repeated elements, more than an array has
        return None
    return buffer.memory_of(layout.implementation)


def _entries(layout: Layout[Any], buffer: BufferCommon[Any]) -> str:
    ordinals, values = buffer.stored_of(layout.implementation)
    edge = np.get_printoptions()["edgeitems"]
    cut = len(ordinals) > 4 * edge
    if cut:
        ordinals, values = np.delete(ordinals, slice(edge, -edge)), np.delete(values, slice(edge, -edge))
    indices = map(tuple, layout.shape.indices_at(ordinals).tolist())
    entries = [f"{index}: {text.strip()}" for index, text in zip(indices, _texts([values]), strict=True)]
    if cut:
        entries.insert(edge, _DOTS)
    return "{" + ", ".join(entries) + "}"


def _least_lines(shape: Shape[Any], edge: int) -> int:
    """Return a lower bound for the lines of a text with so many entries at each end of a mode."""
    if not shape.size:
        return 1
    edge = _edge_of(shape, edge)
    return math.prod([min(shape.extent_bounds(mode)[0], 2 * edge) or 1 for mode in range(shape.rank - 1)])


def _edge_of(shape: Shape[Any], edge: int) -> int:
    """Return how many entries are shown at each end of a mode: fewer, or none, where modes are many."""
    extents = shape.extents if shape.is_box else (2 * edge,) * shape.rank
    while edge and math.prod([min(n, 2 * edge) for n in extents]) > _MOST:
        edge -= 1
    return edge


def _is_large(shape: Shape[Any], threshold: int) -> bool:
    # Brackets count as well: a million rows, or a cell of 2**36 by 0, may hold no element.
    return shape.size > threshold or (not shape.is_box and _brackets(shape, (), threshold) > threshold)


def _brackets(shape: Shape[Any], prefix: Index, limit: int) -> int:
    """Return how many elements or empty brackets are under a prefix, counted no farther than `limit`."""
    if len(prefix) == shape.outer_rank:
        count = 1
        for extent in shape.chip(prefix).extents if prefix else shape.extents:
            if not extent:
                break
            count *= extent
        return count
    extent = shape.extent_at(prefix)
    if extent > limit or (shape.rank == 2 and not prefix):
        return max(extent, 1)
    start, count = shape.origin_at(prefix), 0
    for row in range(start, start + extent):
        count += _brackets(shape, (*prefix, row), limit - count)
        if count > limit:
            break
    return max(count, 1)


def _collect(
    layout: Layout[Any], buffer: BufferCommon[Any], edge: int | None, row: Index = (), prefix: Index = ()
) -> _Parts:
    """Read what is shown of a tensor under the `row`, in places, or `prefix`, in indices: rows of boxes."""
    shape = layout.shape
    if len(row) < shape.outer_rank:
        extent, start = shape.extent_at(prefix), shape.origin_at(prefix)
        shown = _shown(extent, edge)
        parts: list[_Parts] = [_collect(layout, buffer, edge, (*row, k), (*prefix, start + k)) for k in shown]
        if len(shown) < extent:
            parts.insert(edge or 0, None)
        return parts
    if row:
        layout = layout[row]
        shape = layout.shape
    cut = tuple([len(_shown(n, edge)) < n for n in shape.extents])
    for mode, (extent, is_cut) in enumerate(zip(shape.extents, cut, strict=True)):
        if is_cut:
            layout = layout.gather(mode, _shown(extent, edge))
    return _Box(_shown_elements(layout, buffer).reshape(layout.shape.extents), cut)


def _shown_elements(layout: Layout[Any], buffer: BufferCommon[Any]) -> Array:
    """Return elements as a flat array, in which nulls are masked."""
    held, sides = layout.implementation, buffer.sides
    if sides is None:
        return buffer.elements_of(held)
    return np.ma.masked_array(sides[0].elements_of(held), ~sides[1].elements_of(held))


def _shown(extent: int, edge: int | None) -> Sequence[int]:
    if edge is None or extent <= 2 * edge:
        return range(extent)
    return [*range(edge), *range(extent - edge, extent)]


def _boxes(parts: _Parts) -> Iterator[_Box]:
    if isinstance(parts, list):
        for part in parts:
            yield from _boxes(part)
    elif parts is not None:
        yield parts


def _texts(arrays: Sequence[Array]) -> list[str]:
    """Return the text of every element, padded to one width as in NumPy."""
    sizes = sum(array.size for array in arrays)
    if not sizes:
        return []
    flat = np.empty(sizes, arrays[0].dtype)
    nulls = np.zeros(sizes, np.bool_)
    start = 0
    for array in arrays:
        flat[start : start + array.size] = array
        nulls[start : start + array.size] = np.ma.getmaskarray(array)
        start += array.size
    if nulls.any():
        return _beside_nulls(flat[~nulls], nulls)
    if flat.dtype.kind in "OTSU":
        return _padded([_quoted(item) for item in flat.tolist()])
    text = np.array2string(flat, separator=_SEPARATOR, threshold=sizes + 1, max_line_width=1 << 60)
    return text[1:-1].split(_SEPARATOR)


def _beside_nulls(valid: Array, nulls: Array) -> list[str]:
    """Return texts of elements and of nulls, filled in front to one width, as numbers are."""
    texts: Array = np.full(len(nulls), "None", dtype=np.object_)
    texts[np.logical_not(nulls)] = _texts([valid])
    width = max(map(len, texts.tolist()))
    return [text.rjust(width) for text in texts.tolist()]


def _quoted(item: object) -> str:
    """Return a string in quotes; dots after them stand for the end of a long one."""
    if isinstance(item, str | bytes) and len(item) > _LONGEST:
        return f"{item[:_LONGEST]!r}{_DOTS}"
    return repr(item)


def _padded(texts: list[str]) -> list[str]:
    """Return texts filled to the width of the widest on a screen, where many Asian signs take two columns."""
    widths = [_width(text) for text in texts]
    most = max(widths)
    return [text + " " * (most - width) for text, width in zip(texts, widths, strict=True)]


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    signs = [sign for sign in text if not unicodedata.combining(sign)]
    return len(signs) + sum(unicodedata.east_asian_width(sign) in "WF" for sign in signs)


def _fill(parts: _Parts, texts: Iterator[str], edge: int) -> _Texts:
    """Return the texts in the structure of the elements."""
    if parts is None:
        return _DOTS
    if isinstance(parts, list):
        return [_fill(part, texts, edge) for part in parts]
    return _fill_box(parts.shown.shape, parts.cut, texts, edge)


def _fill_box(extents: tuple[int, ...], cut: tuple[bool, ...], texts: Iterator[str], edge: int) -> _Texts:
    if not extents:
        return next(texts)
    items = [_fill_box(extents[1:], cut[1:], texts, edge) for _ in range(extents[0])]
    if cut[0]:
        items.insert(edge, _DOTS)
    return items


def _render(tree: _Texts, rank: int, indent: int, width: int) -> str:
    """Return nested brackets: one line per row of the last mode, wrapped at `width` columns."""
    if isinstance(tree, str):
        return tree.strip()
    if rank == 1:
        return _row(cast("list[str]", tree), indent, width)
    inner = [_render(item, rank - 1, indent + 1, width) for item in tree]
    return "[" + ("\n" * (rank - 1) + " " * (indent + 1)).join(inner) + "]"


def _row(texts: list[str], indent: int, width: int) -> str:
    lines = [texts[0]] if texts else [""]
    for text in texts[1:]:
        if indent + 1 + _width(lines[-1]) + 1 + _width(text) > width:
            lines.append(text)
        else:
            lines[-1] += " " + text
    # NumPy's numbers keep what fills them up before the last bracket; a string ends with its quote or dots.
    last = lines[-1].rstrip() if lines[-1].rstrip().endswith(("'", '"', _DOTS)) else lines[-1]
    return "[" + ("\n" + " " * (indent + 1)).join([*[line.rstrip() for line in lines[:-1]], last]) + "]"
