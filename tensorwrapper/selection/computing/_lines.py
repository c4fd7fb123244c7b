"""Rows of what is in memory, computed as they are written: pieces block by block, without a normal form.

A normal form says of each element where it comes from, so that sources elsewhere are asked for no more, and
a plan counts each once. Of short rows that is as many numbers as elements. Where all is in memory already,
elements are found when their block is written, and forgotten with it.
"""

from typing import Any, final

import numpy as np

from tensorwrapper.selection.expressions._documents import LineMaker
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.rows._flat import in_order
from tensorwrapper.selection.runners._blocks import BLOCK
from tensorwrapper.selection.runners._joined import ReversedRunner
from tensorwrapper.selection.runners._leaves import MemoryLeaf, Runner
from tensorwrapper.selection.runners._pieces import PlacedRunner, ShiftedRunner
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array

__all__ = ["line_of"]

_DEEP = 40  # views inside one another up to which recursion goes down
_FAR = 16  # places between the ends of a selection for each one that it has, up to which all are looked at


class _OtherwiseError(Exception):
    """Elements that are elsewhere, stored in a form of their own, or needed by several."""


def line_of(view: Expression) -> Runner | None:
    """Return what writes the elements of rows in row-major order; None if their normal form is to do it."""
    if not view.node.comes_in_line(view.layout):
        return None
    try:
        return _Lines().line(view)
    except _OtherwiseError:
        return None


def _is_over(node: Node, view: Expression) -> bool:
    """Tell whether a node is made of a view: no layout of its own places says the order of its elements."""
    # What is not made yet is nobody's view.
    return not node.is_unmade and bool(node.operands) and node.operands[0] is view


@final
class _Lines(LineMaker):
    """Runners of views on their way down; a node with operands that is met twice ends it."""

    __slots__ = ("_depth", "_met")

    def __init__(self) -> None:
        self._met: dict[int, Node] = {}
        self._depth = 0

    def line(self, view: Expression) -> Runner:
        """Return what writes all elements of a view."""
        line = in_order(view)
        if _is_over(line.node, view):
            line = view
        box = line.layout.implementation.strided_box()
        if box is None or len(box[0]) != 1:
            return self._placed(line)
        (count,), _, (step,), first = box
        if line.node.tensor is not None:
            return MemoryLeaf(_strided(_memory_of(line.node.tensor), first, step, count))
        if count > 1 and not step:
            one = self._run(line.node, first, 1).part((slice(0, 1),))
            return MemoryLeaf(np.broadcast_to(one, (count,)))
        if count > 1 and step == -1:
            return ReversedRunner(self._run(line.node, first - (count - 1), count))
        if count > 1 and step != 1:
            return self._placed(line)
        return self._run(line.node, first, count)

    def _placed(self, view: Expression) -> Runner:
        """Return what writes elements that lie anywhere among those of a node."""
        node, layout, size = view.node, view.layout, view.shape.size
        if node.tensor is not None:
            return PlacedRunner(MemoryLeaf(_memory_of(node.tensor)), layout, 0)
        low, high = layout.implementation.reach() if size else (0, -1)
        if high - low >= _FAR * size and high - low > BLOCK:
            low, high = layout.bounds()
        run = self._run(node, low, high + 1 - low)
        if high - low >= _FAR * size and high - low > BLOCK and not run.has_places:
            raise _OtherwiseError
        return PlacedRunner(run, layout, low)

    def _run(self, node: Node, first: int, count: int) -> Runner:
        """Return what writes a run of the places of a node."""
        if not count:
            return MemoryLeaf(np.empty(0, node.dtype))
        tensor = node.tensor
        if tensor is not None:
            return MemoryLeaf(_memory_of(tensor)[first : first + count])
        if node.is_constant:
            return self._made(node, first, count)
        self._depth += 1
        if id(node) in self._met or self._depth > _DEEP or node.dtype.kind in "TO":
            raise _OtherwiseError
        self._met[id(node)] = node
        found = self._made(node, first, count)
        self._depth -= 1
        return found

    def _made(self, node: Node, first: int, count: int) -> Runner:
        found = node.run(self, first, count)
        if found is None:
            raise _OtherwiseError
        return found

    def cut(self, view: Expression, first: int, count: int) -> Runner:
        """Return what writes a run of the elements of a view."""
        if (first, count) == (0, view.shape.size):
            return self.line(view)
        line = in_order(view)
        if _is_over(line.node, view):
            return ShiftedRunner(self.line(view), first, count)
        return self.line(Expression(line.node, line.layout[first : first + count]))


def _memory_of(tensor: Tensor[Any]) -> Array:
    memory = tensor.buffer.memory
    if memory is None or memory.dtype.kind in "TO":
        raise _OtherwiseError
    return memory


def _strided(memory: Array, first: int, step: int, count: int) -> Array:
    if not step or count < 2:
        return np.broadcast_to(memory[first : first + 1], (count,))
    last = first + step * (count - 1)
    # A slice that runs down to place 0 has no end that a number could say.
    stop = None if last + step < 0 else last + (1 if step > 0 else -1)
    return memory[first:stop:step]
