"""The model that every law compares with: a tree made from `extent_at` and `origin_at` alone.

It stores every prefix as a Python object, so use it only for small shapes.
"""

from collections.abc import Iterator, Sequence
from typing import final

import pytest

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Index

_MOST = 20_000  # limit on the prefixes of one shape


@final
@frozen
class Tree:
    """Subtree under a prefix: the origin of the next mode, and the subtree of each of its indices."""

    origin: int
    children: "tuple[Tree | None, ...]"
    """Subtrees of the indices; None under a whole index."""

    @property
    def end(self) -> int:
        """One more than the last index."""
        return self.origin + len(self.children)


@final
@frozen
class Node:
    """A prefix, with the expected origin and extent under it."""

    prefix: Index
    extent: int
    origin: int


def tree_of(shape: Shape) -> Tree | None:
    """Return the tree of a shape, queried one prefix at a time; None for a shape of rank 0."""
    left = _MOST

    def under(prefix: Index) -> Tree | None:
        nonlocal left
        if len(prefix) == shape.rank:
            return None
        origin, extent = shape.origin_at(prefix), shape.extent_at(prefix)
        left -= extent
        if left < 0:
            pytest.fail(f"a contract looks at every prefix, so its shapes may have {_MOST} of them at most")
        return Tree(origin, tuple([under((*prefix, origin + k)) for k in range(extent)]))

    return under(())


def indices_of(tree: Tree | None, prefix: Index = ()) -> Iterator[Index]:
    """Return an iterator over the indices in a tree, in lexicographic order."""
    if tree is None:
        yield prefix
        return
    for k, child in enumerate(tree.children, tree.origin):
        yield from indices_of(child, (*prefix, k))


def nodes_of(tree: Tree | None, mode: int, prefix: Index = ()) -> Iterator[Node]:
    """Return an iterator over the prefixes that lead to `mode`."""
    if tree is None:
        return
    if not mode:
        yield Node(prefix, len(tree.children), tree.origin)
        return
    for k, child in enumerate(tree.children, tree.origin):
        yield from nodes_of(child, mode - 1, (*prefix, k))


def moved(tree: Tree | None, offset: Sequence[int]) -> Tree | None:
    """Return the tree with every index moved by `offset`."""
    if tree is None:
        return None
    return Tree(tree.origin + offset[0], tuple([moved(child, offset[1:]) for child in tree.children]))


def zeroed(tree: Tree | None) -> Tree | None:
    """Return the tree with every mode starting at 0 under every prefix."""
    return None if tree is None else Tree(0, tuple([zeroed(child) for child in tree.children]))


def selected(tree: Tree | None, entries: Sequence[int | slice], *, clip: bool = False) -> Tree | None:
    """Return the tree of a selection.

    Raises
    ------
    OutOfBoundsError
        If a bound or a pinned index leaves a row that is selected.
    """
    if tree is None:
        return None
    entry, rest = entries[0], entries[1:]
    if not isinstance(entry, slice):
        if not tree.origin <= entry < tree.end:
            raise OutOfBoundsError(entry)
        return selected(tree.children[entry - tree.origin], rest, clip=clip)
    low = tree.origin if entry.start is None else entry.start
    high = tree.end if entry.stop is None else entry.stop
    if clip:
        low = min(max(low, tree.origin), tree.end)
        high = max(min(high, tree.end), low)
    if not tree.origin <= low <= high <= tree.end:
        raise OutOfBoundsError(entry)
    kept = tree.children[low - tree.origin : high - tree.origin]
    return Tree(low, tuple([selected(child, rest, clip=clip) for child in kept]))


def rows_of(tree: Tree, rank: int) -> Shape:
    """Return the jagged shape with this tree, in which every mode but the last is unrolled."""
    children: list[Shape] = []
    for child in tree.children:
        if child is not None:
            leaf = Shape(len(child.children), origin=(child.origin,))
            children.append(leaf if rank == 2 else rows_of(child, rank - 1))
    return Shape.jagged(children, rank=rank, origin=(tree.origin, *[0] * (rank - 1)))
