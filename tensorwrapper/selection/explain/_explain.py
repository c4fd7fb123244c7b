"""Explanations: the steps of a view, and how they are executed."""

import itertools
from html import escape
from operator import attrgetter
from typing import Any, final

import attrs
import numpy as np

from tensorwrapper._displays import Fold, html_block
from tensorwrapper._error_text import shortened
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
    bytes_text,
    framed,
    layer_color,
    note,
    text_width,
)
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.operations._operation import Call, atoms_of, unravel
from tensorwrapper.selection.plans._plan import SourceRead
from tensorwrapper.selection.routing._routes import Demand, Order
from tensorwrapper.shape import Shape
from tensorwrapper.typing import IntArray

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
    demand = Demand(Order(attrgetter("node")))
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


_LINES = 400  # that an explanation has, about
_SHOWN = 8  # operands of one node that an explanation lists
_OPEN, _CLOSE = '<ul style="font-family:monospace;list-style:none">', "</ul>"
_STEPS = 16  # calls at each end of a chain that it lists
_DEEP = 120  # views inside one another that it shows: texts are indented, so more would be quadratic


@final
@frozen
class Branch:
    """One line of an explanation, and the lines that belong to it."""

    text: str
    note: str = ""
    branches: "tuple[Branch, ...]" = ()


def explain(view: Expression, normal: Expression, reads: tuple[SourceRead, ...]) -> tuple[Branch, ...]:
    """Return the recorded steps of a view, and below them its normal form, if that is different."""
    written = branch_of(view)
    if view == normal and not view.calls:
        return (attrs.evolve(written, note=f"{written.note}; {_reads(reads)}"),)
    steps = sum([len(atoms_of(call)) for call in view.calls])
    became = f"{steps} step{'s' * (steps != 1)} on {view.node.title}"
    return written, Branch("runs as", f"{became}; {_reads(reads)}", (branch_of(normal),))


def branch_of(view: Expression) -> Branch:
    """Return the tree of an expression: its last step first, and its source or operands at the bottom."""
    return _branch(view, {}, 0, _LINES)


def _branch(view: Expression, shown: dict[int, Node], depth: int, lines: int) -> Branch:
    """Return the tree of an expression in about `lines` lines; repeated nodes are shown once."""
    node, steps = view.node, _steps(view)
    facts = _facts(view.layout if not view.calls else None, node)
    if id(node) in shown:
        branch = Branch(node.title, f"{facts}; as above" if facts else "as above")
    elif depth == _DEEP:
        branch = Branch(f"... {len(operands_first([view]))} views inside one another")
    else:
        if node.operands:
            shown[id(node)] = node
        branch = Branch(node.title, facts, _operands(node, shown, depth + 1, lines - 1 - len(steps)))
    for text, remark in steps:
        branch = Branch(text, remark, (branch,))
    return branch


def _steps(view: Expression) -> list[tuple[str, str]]:
    """Return the text and the note of each step, in order; of many those at both ends."""
    after = [*[call[2] for call in view.calls[1:]], view.shape]
    pairs = list(zip(view.calls, after, strict=False))  # Without calls there is a shape all the same.
    if len(pairs) > 2 * _STEPS:
        first, last = pairs[:_STEPS], pairs[-_STEPS:]
        left = f"... {len(pairs) - 2 * _STEPS} more"
        return [*_atoms(first, view.node), (left, ""), *_atoms(last, view.node)]
    return _atoms(pairs, view.node)


def _atoms(pairs: "list[tuple[Call, Shape[Any]]]", node: Node) -> list[tuple[str, str]]:
    return [(str(atom), _size(shape, node)) for call, shape in pairs for atom in atoms_of(call)]


def _operands(node: Node, shown_before: dict[int, Node], depth: int, lines: int) -> tuple[Branch, ...]:
    operands = node.operands
    count = max(min(len(operands), _SHOWN, lines), 0)
    shown: list[Branch] = []
    for number, operand in enumerate(operands[:count]):
        # Each operand gets two thirds of the remaining lines, so the first ones are shown down to their
        # sources.
        branch = _branch(operand, shown_before, depth, lines - (lines // 3 if number + 1 < count else 0))
        lines -= _lines_of(branch)
        shown.append(attrs.evolve(branch, text=f"{node.label(number)}{branch.text}"))
    if len(operands) > count:
        shown.append(Branch(f"... {len(operands) - count} more"))
    return tuple(shown)


def _lines_of(branch: Branch) -> int:
    count, waiting = 0, [branch]
    while waiting:
        count += 1
        waiting += waiting.pop().branches
    return count


def _size(shape: Shape[Any], node: Node) -> str:
    return f"{shape!r} {node.dtype}"


def _facts(layout: Layout[Any] | None, node: Node) -> str:
    if layout is None:
        # Before the first step: all of it.
        return ""
    size = _size(layout.shape, node)
    if not node.is_leaf:
        return size
    implementation = layout.implementation
    strides = implementation.mode_strides
    if strides is not None:
        return f"{size}, strides {strides}, offset {implementation.offset}"
    if not layout.shape.is_box:
        return f"{size}, row by row"
    if implementation.has_mode_maps:
        return f"{size}, an axis map per mode"
    return f"{size}, {'tile by tile' if implementation.keeps_tiles else 'by a rule of its own'}"


def _reads(reads: tuple[SourceRead, ...]) -> str:
    total, sources = sum([own.nbytes for own in reads]), len(reads)
    return f"reads {bytes_text(total)} of {sources} source{'s' * (sources != 1)}"


def to_text(branches: tuple[Branch, ...], depth: int = 0) -> str:
    """Return one line per step, indented by depth."""
    lines: list[str] = []
    # Not by recursion: a chain of a thousand steps nests as deep.
    waiting = [(depth, branch) for branch in reversed(branches)]
    while waiting:
        level, branch = waiting.pop()
        note = f"  # {branch.note}" if branch.note else ""
        lines.append(f"{'  ' * level}{branch.text}{note}")
        waiting += [(level + 1, inner) for inner in reversed(branch.branches)]
    return "\n".join(lines)


def view_html(view: Expression, head: str) -> str:
    """Return facts of a view, its sources, and a list of its steps as they were written; O(nodes)."""
    leaves = {id(own.node): own.node for own in operands_first([view]) if own.node.source is not None}
    names = [shortened(repr(leaf.source)) for leaf in itertools.islice(leaves.values(), _SHOWN)]
    if len(leaves) > _SHOWN:
        names.append(f"... {len(leaves) - _SHOWN} more")
    facts = [("state", "not computed; compute() returns a tensor, plan() counts the bytes to read")]
    facts += [("sources" if not number else "", name) for number, name in enumerate(names)]
    steps = Fold("steps", _list_html((branch_of(view),)), opened=True)
    return html_block(f"View {head}", facts, folds=[steps])


def _list_html(branches: tuple[Branch, ...]) -> str:
    """Return nested lists."""
    parts: list[str] = []
    waiting: list[Branch | str] = [_CLOSE, *reversed(branches), _OPEN]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        note = f' <span style="opacity:0.6">{escape(item.note)}</span>' if item.note else ""
        parts.append(f"<li><b>{escape(item.text)}</b>{note}")
        waiting.append("</li>")
        if item.branches:
            waiting += [_CLOSE, *reversed(item.branches), _OPEN]
    return "".join(parts)
