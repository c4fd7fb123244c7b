"""Table of all operations by name, and the atoms of recorded calls."""

from collections.abc import Mapping
from types import MappingProxyType

from tensorwrapper.errors import LayoutError
from tensorwrapper.selection.operations import _indexing as indexing
from tensorwrapper.selection.operations import _rearranging as rearranging
from tensorwrapper.selection.operations._atom import Atom, Call
from tensorwrapper.selection.operations._operation import Operation
from tensorwrapper.typing import Extents, IntArray

__all__ = ["OPERATIONS", "atoms_of", "positions_before"]

_ALL: tuple[Operation, ...] = (
    indexing.Key(),
    indexing.Window(),
    indexing.Slice(),
    indexing.Chip(),
    indexing.Points(),
    indexing.Gather(),
    rearranging.Permute(),
    rearranging.Reverse(),
    indexing.Squeeze(),
    indexing.Unsqueeze(),
    rearranging.Rotate(),
    rearranging.Repeat(),
    rearranging.RepeatEach(),
    rearranging.Broadcast(),
    rearranging.SlidingWindow(),
    rearranging.Diagonal(),
    rearranging.Reshape(),
    rearranging.SplitMode(),
    rearranging.MergeModes(),
    rearranging.Pad(),
)

OPERATIONS: Mapping[str, Operation] = MappingProxyType({own.name: own for own in _ALL})
"""Operations by name. Those that take arguments from JSON are steps of it."""


def atoms_of(call: Call) -> list[Atom]:
    """Return the simple steps of a call, in order; empty if it changes nothing.

    Their box has the extents of the result; its origin may differ.
    """
    name, arguments, shape = call
    if not shape.is_box:
        return [Atom("index" if name == "__getitem__" else name, arguments)]
    operation = OPERATIONS.get(name)
    return [Atom(name, arguments)] if operation is None else operation.atoms(arguments, shape)


def positions_before(call: Call, positions: IntArray) -> IntArray:
    """Return where the positions after a call were in the box before it; all of them must exist.

    O(positions times modes), and memory of as many numbers.
    """
    shape = call[2]
    steps: list[tuple[Operation, Atom, Extents]] = []
    extents: Extents = shape.extents
    for atom in atoms_of(call):
        operation = OPERATIONS.get(atom.operation)
        if operation is None:
            raise LayoutError(f"{atom.operation} does not say where each single position comes from")
        steps.append((operation, atom, extents))
        extents = operation.after(extents, *atom.arguments)
    for operation, atom, before in reversed(steps):
        more = (shape.origin,) if atom.operation == "window" else ()
        positions = operation.before(positions, before, *atom.arguments, *more)
    return positions
