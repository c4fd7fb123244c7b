"""Pictures of views: where each cell comes from."""

from typing import final

import numpy as np

from tensorwrapper._value_class import frozen
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
    layer_color,
    note,
    text_width,
)
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.operations._positions import unravel
from tensorwrapper.selection.routing._topological import Demand, Order
from tensorwrapper.typing import IntArray

__all__ = ["view_svg"]

_MOST = 400  # cells that are drawn
_HEIGHT = 22.0
_LEGEND = 8  # sources that a legend names


@final
@frozen(eq=False)
class _Origins:
    """Number of the source node of each cell, and its position in that source."""

    nodes: IntArray
    places: IntArray


def view_svg(view: Expression, normal: Expression) -> str:
    """Return a picture of a view of rank 2 or less: one cell per element, coloured by its source."""
    shape = view.shape
    if not shape.is_box or shape.rank > 2 or not 0 < shape.size <= _MOST:
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
    sources = [n for n, leaf in enumerate(leaves) if leaf.source is not None]
    lead = f"{sources.index(number)}: " if number in sources and len(sources) > 1 else ""
    return lead + _title(leaves[number])


def _pairs(found: _Origins) -> list[tuple[int, int]]:
    return list(zip(found.nodes.reshape(-1).tolist(), found.places.reshape(-1).tolist(), strict=True))


def _origins(view: Expression, leaves: list[Node]) -> _Origins:
    """Return where the cells of a view in normal form come from, and add nodes that are new to `leaves`."""
    places = view.layout.to_numpy()
    found = _Origins(np.zeros(places.size, dtype=np.int64), np.zeros(places.size, dtype=np.int64))
    demand = Demand(Order(_node_of))
    demand.ask(view.node, places.reshape(-1), np.arange(places.size))
    while demand:
        node, (there, cells) = demand.pop()
        parts = None if node.deciding else node.shares(unravel(there, node.extents), ())
        if parts is None:
            number = next((n for n, leaf in enumerate(leaves) if _is_same(leaf, node)), len(leaves))
            if number == len(leaves):
                leaves.append(node)
            found.nodes[cells], found.places[cells] = number, there
            continue
        for operand, chosen, own in parts:
            if len(own):
                indices = own + np.array(operand.shape.origin, dtype=np.int64)
                demand.ask(operand.node, operand.layout.offsets_of(indices), cells[chosen])
    return _Origins(found.nodes.reshape(places.shape), found.places.reshape(places.shape))


def _node_of(view: Expression) -> Node:
    return view.node


def _is_same(a: Node, b: Node) -> bool:
    # Constants have one colour, whatever their box.
    if a.is_constant and b.is_constant:
        return a.title == b.title
    return a == b


def _color(leaves: list[Node], number: int) -> str:
    if leaves[number].is_constant:
        return EMPTY
    if leaves[number].source is None:
        return FAINT
    sources = [n for n, leaf in enumerate(leaves) if leaf.source is not None]
    return layer_color(sources.index(number), len(sources))


def _text(node: Node, place: int) -> str:
    """Return the text of a cell: the index in the source, or the constant."""
    text = node.text_at
    return "" if text is None else text(place)


def _title(node: Node) -> str:
    return node.name if node.source is None else repr(node.source)
