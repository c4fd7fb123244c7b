"""Delivered tensors of an assembler, remembered to recognise repeated structure."""

from collections.abc import Iterable
from itertools import takewhile
from typing import Final, final

from tensorwrapper._value_class import frozen
from tensorwrapper.wire.blocks._blocks import Block
from tensorwrapper.wire.blocks._pending import Pending, Structure

_MOST: Final = 256
"""Tensors that are remembered."""


@final
@frozen(eq=False)
class _Known:
    """One tensor that was delivered."""

    entry: Pending
    """Without its parts."""
    structure: Structure
    nbytes: int
    seen: float
    again: bool
    """True if its structure was repeated."""

    def says(self, block: Block) -> bool:
        """Return True if a block only repeats the structure of this tensor, without new elements."""
        whole = self.entry.whole
        if block.whole != whole:
            return False
        if whole is None:
            same = (block.total, block.tensor.dtype) == (self.entry.total, self.entry.dtype)
            return same and not block.tensor.size
        data = None if block.part == whole.elements else self.structure.get(block.part)
        if data is None:
            return not block.tensor.size
        return block.total == data.shape and data.window(block.tensor.shape).array_equal(block.tensor)


@final
class Delivered:
    """The last tensors that were delivered, in the order in which something was last heard of them.

    Only tensors are remembered whose structure can be repeated without an element: tables of positions, or
    the absence of elements.
    """

    __slots__ = ("_known", "_nbytes", "_room")

    def __init__(self, room: int) -> None:
        self._room = room
        self._known: dict[str, _Known] = {}
        self._nbytes = 0

    def says(self, block: Block) -> bool:
        """Return True if a block only repeats the structure of a delivered tensor."""
        known = self._known.get(block.name)
        return known is not None and known.says(block)

    def structure(self, block: Block, *, again: bool) -> Structure:
        """Return the repeated structure of the tensor that a block begins again, or an empty mapping."""
        known = self._known.get(block.name)
        if known is None or known.entry.whole != block.whole or not (again or known.again):
            return {}
        return known.structure

    def keep(self, entry: Pending, now: float) -> None:
        """Remember a complete tensor in place of the one of its name."""
        self._forget(entry.name)
        if entry.whole is None and entry.total.size:
            return
        structure = entry.structure()
        nbytes = entry.notes + sum([data.nbytes for data in structure.values()])
        # Check before copying; the copy stays as it is when the tensor changes.
        if nbytes > self._room:
            return
        while self._known and (len(self._known) == _MOST or self._nbytes + nbytes > self._room):
            self._forget(next(iter(self._known)))
        copies = {number: data.copy() for number, data in structure.items()}
        self._known[entry.name] = _Known(entry.without_parts(), copies, nbytes, now, again=False)
        self._nbytes += nbytes

    def heard(self, names: Iterable[str], now: float) -> None:
        """Note that the structure of some tensors was repeated."""
        for name in names:
            known = self._known.pop(name, None)
            if known is not None:
                self._known[name] = _Known(known.entry, known.structure, known.nbytes, now, again=True)

    def evict(self, oldest: float) -> None:
        """Forget those of which nothing was heard since."""
        for name in tuple(takewhile(lambda name: self._known[name].seen < oldest, self._known)):
            self._forget(name)

    def _forget(self, name: str) -> None:
        known = self._known.pop(name, None)
        if known is not None:
            self._nbytes -= known.nbytes
