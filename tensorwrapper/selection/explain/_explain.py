"""Explanations: the steps of a view, and how they are executed."""

import itertools
from html import escape
from typing import Any, final

import attrs

from tensorwrapper._displays import Fold, html_block
from tensorwrapper._error_text import shortened
from tensorwrapper._value_class import frozen
from tensorwrapper.drawing import bytes_text
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.operations._atom import Call
from tensorwrapper.selection.operations._table import atoms_of
from tensorwrapper.selection.plans._plan import SourceRead
from tensorwrapper.shape import Shape

__all__ = ["Branch", "branch_of", "explain", "to_text", "view_html"]

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
    for text, note in steps:
        branch = Branch(text, note, (branch,))
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
