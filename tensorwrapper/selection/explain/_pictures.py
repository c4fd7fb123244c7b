"""Pictures of views: where each cell comes from."""

from typing import final

import attrs
import numpy as np

from tensorwrapper.drawing import (
    EMPTY,
    FAINT,
    INK,
    PAPER,
    Axis,
    Mark,
    Rectangle,
    Swatch,
    Text,
    framed,
    index_text,
    layer_color,
    note,
    text_width,
)
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.expressions._generators import Filling, Generator
from tensorwrapper.selection.expressions._nodes import Casting, Piece, Reading, Routing, Whole
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.typing import IntArray

__all__ = ["view_svg"]

_MOST = 400  # cells that are drawn
_HEIGHT = 22.0
_LEGEND = 8  # sources that a legend names


@final
@attrs.frozen(eq=False)
class _Origins:
    """For each cell the number of the node that it comes from, and its place there."""

    nodes: IntArray
    places: IntArray


def view_svg(view: Expression, normal: Expression) -> str:
    """Return a picture of a view of rank 2 or less: one cell per element, coloured by its source."""
    shape = view.shape
    if shape.kind != "smooth" or shape.rank > 2 or not 0 < shape.size <= _MOST:
        lines = (f"a view of {shape}", f"boxes of rank 2 or less with up to {_MOST} elements are drawn")
        return note(lines, title=str(shape)).to_svg()
    leaves: list[Node] = []
    found = _origins(normal, leaves)
    rows, columns = (1, 1, *shape.extents)[-2:]
    texts = [_text(leaves[n], place) for n, place in _pairs(found)]
    width = max([26.0, *[text_width(text, 10.0) + 6.0 for text in texts]])
    marks: list[Mark] = []
    for number, (text, (leaf, _)) in enumerate(zip(texts, _pairs(found), strict=True)):
        row, column = divmod(number, columns)
        fill = _color(leaves, leaf)
        box = (column * width, row * _HEIGHT, width, _HEIGHT)
        marks.append(Rectangle(*box, fill, f"{_title(leaves[leaf])} {text}", "cell", PAPER))
        marks.append(Text((column + 0.5) * width, row * _HEIGHT + 14.5, text, 10.0, INK, "middle"))
    origin = (0, 0, *shape.origin)[-2:]
    size = (columns * width, rows * _HEIGHT)
    across = Axis(origin[1], origin[1] + columns, size[0], f"mode {shape.rank - 1}")
    down = Axis(origin[0], origin[0] + rows, size[1], "mode 0")
    return framed(
        marks,
        size,
        across=across if shape.rank else None,
        down=down if shape.rank == 2 else None,
        legend=[Swatch(_color(leaves, n), _named(leaves, n)) for n in range(min(len(leaves), _LEGEND))],
        title=f"where the elements of a view of {shape} come from",
    ).to_svg()


def _named(leaves: list[Node], number: int) -> str:
    """Return the title of a node; sources, which may look alike, are numbered."""
    sources = [n for n, leaf in enumerate(leaves) if isinstance(leaf, Reading)]
    lead = f"{sources.index(number)}: " if number in sources and len(sources) > 1 else ""
    return lead + _title(leaves[number])


def _pairs(found: _Origins) -> list[tuple[int, int]]:
    return list(zip(found.nodes.reshape(-1).tolist(), found.places.reshape(-1).tolist(), strict=True))


def _origins(view: Expression, leaves: list[Node]) -> _Origins:
    """Return where the cells of a view in normal form come from, and add nodes that are new to `leaves`."""
    node = view.node
    if isinstance(node, Reading | Generator) or not isinstance(node, Casting | Routing | Whole):
        places = view.layout.to_numpy()
        number = next((n for n, leaf in enumerate(leaves) if _is_same(leaf, node)), len(leaves))
        if number == len(leaves):
            leaves.append(node)
        return _Origins(np.full(places.shape, number, dtype=np.int64), places)
    if isinstance(node, Routing):
        whole = _joined(node, [(piece, _origins(piece.view, leaves)) for piece in node.pieces])
    else:
        whole = _origins(node.operand, leaves)
    places = view.layout.to_numpy()
    return _Origins(whole.nodes.reshape(-1)[places], whole.places.reshape(-1)[places])


def _is_same(a: Node, b: Node) -> bool:
    # Constants are one colour, whatever box they fill.
    if isinstance(a, Filling) and isinstance(b, Filling):
        return bool(a.value == b.value)
    return a == b


def _joined(node: Routing, parts: list[tuple[Piece, _Origins]]) -> _Origins:
    whole = _Origins(np.zeros(node.extents, dtype=np.int64), np.zeros(node.extents, dtype=np.int64))
    for piece, own in parts:
        last = piece.start + piece.step * (piece.count(node.mode) - 1)
        key = (slice(None),) * node.mode + (slice(piece.start, last + 1, piece.step),)
        whole.nodes[key], whole.places[key] = own.nodes, own.places
    return whole


def _color(leaves: list[Node], number: int) -> str:
    if isinstance(leaves[number], Filling):
        return EMPTY
    if not isinstance(leaves[number], Reading):
        return FAINT
    sources = [n for n, leaf in enumerate(leaves) if isinstance(leaf, Reading)]
    return layer_color(sources.index(number), len(sources))


def _text(node: Node, place: int) -> str:
    """Return what stands in a cell: the index in the source, or the constant."""
    if isinstance(node, Filling):
        return str(node.value)
    if isinstance(node, Reading):
        source = node.source
        if not isinstance(source, TensorSource):
            return index_text(source.shape.index(place))
        # Of a tensor that is part of a buffer, elements outside it may be meant as well.
        inside = source.shape.size == source.tensor.buffer.size
        return index_text(source.tensor.layout.index_of(place)) if inside else str(place)
    return ""


def _title(node: Node) -> str:
    if isinstance(node, Reading):
        return repr(node.source)
    return f"{node.name}"
