"""What runs a view in normal form: the runner of its node, over those of the operands."""

from collections import Counter
from collections.abc import Callable
from typing import Any, final

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import buffer_of
from tensorwrapper.selection.computing._targets import new_array
from tensorwrapper.selection.expressions._expression import Expression, Node, ReaderOf, unread
from tensorwrapper.selection.expressions._walks import operands_first
from tensorwrapper.selection.runners._blocks import full_window
from tensorwrapper.selection.runners._leaves import Runner, leaf_of

__all__ = ["Made", "runner_of"]

Made = dict[int, BufferCommon[Any]]
"""By node, which it must outlive, the memory of what is made once."""


def runner_of(
    view: Expression,
    reader: ReaderOf = unread,
    made: Made | None = None,
    check: Callable[[], None] | None = None,
) -> Runner:
    """Return what writes the elements of a view in normal form.

    What is used many times is made here, each in turn, and given back when its last user was made.

    Parameters
    ----------
    view
        In normal form.
    reader
        Has what was read for it.
    made
        What was made before, which is not made again; what the view uses at its top is added.
    check
        Raises if it is not to go on.

    Raises
    ------
    ConversionError
        If it reads a sparse tensor, of which only parts can be had.
    """
    node = view.node
    operands = node.operands
    if not node.is_kept and not any(part.node.operands for part in operands):
        # The short way of what follows: each is used here alone.
        return node.runner(view, tuple([part.node.runner(part, (), reader) for part in operands]), reader)
    return _Making(view, reader, {} if made is None else made, check).run()


@final
class _Making:
    """The parts of a view on the way, each in turn behind what it is made of."""

    __slots__ = ("_check", "_made", "_order", "_reader", "_running", "_stay", "_users", "_uses", "_view")

    def __init__(
        self, view: Expression, reader: ReaderOf, made: Made, check: Callable[[], None] | None
    ) -> None:
        self._view = view
        self._reader = reader
        self._made = made
        self._check = check
        self._stay = set(made) | {id(node) for node in _kept_at_top(view)}
        self._order = operands_first([view], lambda own: id(own.node) in made)
        once = {id(own.node): own for own in self._order if own.node.is_kept}
        users = [own for own in self._order if once.get(id(own.node), own) is own]
        self._users = Counter([id(part.node) for own in users for part in own.node.operands])
        """By node how many views still select from it."""
        self._uses = Counter([id(part) for own in users for part in own.node.operands])
        """How many parts still need the runner of each."""
        self._running: dict[int, Runner] = {}

    def run(self) -> Runner:
        for own in self._order:
            self._running[id(own)] = self._runner(own)
        return self._of(self._view)

    def _of(self, view: Expression) -> Runner:
        buffer = self._made.get(id(view.node))
        return self._running[id(view)] if buffer is None else leaf_of(view.layout, buffer)

    def _runner(self, own: Expression) -> Runner:
        node = own.node
        if not node.is_kept:
            given = tuple([self._of(part) for part in node.operands])
            self._done_with(own)
            return node.runner(own, given, self._reader)
        buffer = self._made.get(id(node))
        if buffer is None:
            buffer = self._made[id(node)] = self._make(own)
            self._done_with(own)
        return leaf_of(own.layout, buffer)

    def _make(self, own: Expression) -> BufferCommon[Any]:
        if self._check is not None:
            self._check()
        (operand,) = own.node.operands
        array = new_array(operand.extents, operand.dtype, tuple(range(len(operand.extents) - 1, -1, -1)))
        self._of(operand).fill(full_window(array.shape), array)
        return buffer_of(array.reshape(-1))

    def _done_with(self, own: Expression) -> None:
        """Let go of what only this part needed: memory of what was made goes with its last runner."""
        for part in own.node.operands:
            self._uses[id(part)] -= 1
            self._users[id(part.node)] -= 1
            if not self._uses[id(part)]:
                self._running.pop(id(part), None)
            if not self._users[id(part.node)] and id(part.node) not in self._stay:
                self._made.pop(id(part.node), None)


def _kept_at_top(view: Expression) -> list[Node]:
    """Return what is made once and met on the way down before anything else that is."""
    parts = operands_first([view], lambda own: own.node.is_kept)
    below = [part for own in parts for part in own.node.operands if part.node.is_kept]
    return [own.node for own in (view, *below) if own.node.is_kept]
