"""Replace the sources and shared nodes of a normal form by memory."""

from collections import Counter
from collections.abc import Callable
from typing import Any, final

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import buffer_of
from tensorwrapper.selection.execution._write_in_memory import ALONE, new_array
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.expressions._source_node import in_memory
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.plans._source_reads import is_away
from tensorwrapper.selection.runners._leaves import full_window

__all__ = ["Made", "brought_here"]

Made = dict[int, BufferCommon[Any]]
"""Memory of cached nodes, by the id of the node, which must outlive it."""

ReadOf = Callable[[Expression], Expression]
"""Function that returns the read elements of a part of a view as a view of memory."""


def brought_here(
    view: Expression,
    read: ReadOf | None = None,
    made: Made | None = None,
    check: Callable[[], None] | None = None,
) -> Expression:
    """Return a view in normal form as a view of memory.

    Shared nodes are computed here, each once; their memory is released after their last use.

    Parameters
    ----------
    view
        In normal form.
    read
        Function that returns the elements of remote sources; needed only if it reads some.
    made
        Memory of shared nodes that earlier calls computed. Shared nodes at the top of the view are added.
    check
        Raises if it is not to go on.

    Raises
    ------
    ConversionError
        If it reads a sparse tensor, of which only parts can be had.
    """
    return _Bringing(view, read, {} if made is None else made, check).run()


@final
class _Bringing:
    """The parts of a view in order, each after its operands."""

    __slots__ = ("_check", "_done", "_made", "_order", "_read", "_stay", "_users", "_uses", "_view", "_views")

    def __init__(
        self, view: Expression, read: ReadOf | None, made: Made, check: Callable[[], None] | None
    ) -> None:
        self._view = view
        self._read = read
        self._made = made
        self._check = check
        self._stay = set(made) | {id(node) for node in _kept_at_top(view)}
        self._order = operands_first([view], lambda own: id(own.node) in made)
        nodes = {id(own.node): own.node for own in self._order}.values()
        self._users = Counter([id(part.node) for node in nodes for part in node.operands])
        """Number of nodes that still select from each node."""
        self._uses = Counter([id(part) for node in nodes for part in node.operands])
        """Number of nodes that still need each view."""
        self._views = Counter([id(own.node) for own in self._order])
        """Number of remaining views of each node."""
        self._done: dict[int, Expression] = {}

    def run(self) -> Expression:
        nodes: dict[int, Node] = {}
        for own in self._order:
            node, key = own.node, id(own.node)
            self._views[key] -= 1
            if is_away(own):
                self._done[id(own)] = self._read(own) if self._read is not None else own
            elif node.is_kept:
                if key not in self._made:
                    self._made[key] = self._make(node)
            elif node.operands:
                if key not in nodes:
                    nodes[key] = node.with_operands(tuple(map(self._here, node.operands)))
                    self._done_with(node)
                new = nodes[key] if self._views[key] else nodes.pop(key)
                self._done[id(own)] = Expression(new, own.layout)
            else:
                self._done[id(own)] = own
        return self._here(self._view)

    def _here(self, view: Expression) -> Expression:
        buffer = self._made.get(id(view.node))
        return self._done[id(view)] if buffer is None else in_memory(buffer, view.layout)

    def _make(self, node: Node) -> BufferCommon[Any]:
        if self._check is not None:
            self._check()
        (operand,) = map(self._here, node.operands)
        array = new_array(operand.extents, operand.dtype, tuple(range(len(operand.extents) - 1, -1, -1)))
        ALONE.elements(operand).fill(full_window(array.shape), array)
        self._done_with(node)
        return buffer_of(array.reshape(-1))

    def _done_with(self, node: Node) -> None:
        """Release the operands of a node; memory of shared nodes goes with their last user."""
        for part in node.operands:
            self._uses[id(part)] -= 1
            self._users[id(part.node)] -= 1
            if not self._uses[id(part)]:
                self._done.pop(id(part), None)
            if not self._users[id(part.node)] and id(part.node) not in self._stay:
                self._made.pop(id(part.node), None)


def _kept_at_top(view: Expression) -> list[Node]:
    """Return the cached nodes that are reached first, not through other cached nodes."""
    parts = operands_first([view], lambda own: own.node.is_kept)
    below = [part for own in parts for part in own.node.operands if part.node.is_kept]
    return [own.node for own in (view, *below) if own.node.is_kept]
