"""Nested tuples of integers: hierarchical extents, strides, profiles and coordinates.

A tree is an integer (a leaf) or a tuple of trees, one per mode. Its leaves are numbered from left to right.
The order is ``"lex"`` if the last leaf is the fastest, ``"colex"`` if the first is.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any, Literal, SupportsIndex, TypeAlias, cast

from tensorwrapper._error_text import brief, counted
from tensorwrapper._integers import to_int
from tensorwrapper.errors import ConversionError, LayoutError, OutOfBoundsError
from tensorwrapper.typing import Index

IntTree: TypeAlias = "int | tuple[IntTree, ...]"
"""An integer, or a tuple with one tree per mode."""

NestedInts: TypeAlias = "SupportsIndex | tuple[NestedInts, ...]"
"""A value that converts to an `IntTree`: any integers, nested in tuples."""

OrdinalOrder: TypeAlias = Literal["lex", "colex"]
"""How ordinals count: the last mode fastest ("lex", row-major) or the first ("colex", CuTe's own)."""

Mode: TypeAlias = tuple[int, int]
"""The extent and the stride of one leaf."""

MAX_DEPTH = 32  # deeper nesting would reach Python's recursion limit before any real use


def check_order(order: object) -> OrdinalOrder:
    """Return `order` if it is one of the two there are."""
    if isinstance(order, str):
        if order == "lex":
            return "lex"
        if order == "colex":
            return "colex"
    raise ConversionError(f'order must be "lex" (last mode fastest) or "colex" (first), not {order!r}')


def leaves(tree: IntTree) -> list[int]:
    """Return the integers of a tree, from left to right.

    Examples
    --------
    >>> leaves(((2, 3), 4))
    [2, 3, 4]
    """
    if isinstance(tree, int):
        return [tree]
    found: list[int] = []
    for part in tree:
        if isinstance(part, int):
            found.append(part)
        else:
            found += leaves(part)
    return found


def size_of(tree: IntTree) -> int:
    """Return the product of all leaves; 1 if there are none."""
    return tree if isinstance(tree, int) else math.prod(leaves(tree))


def is_flat(tree: IntTree) -> bool:
    """Tell whether a tree is a tuple of integers: not a leaf by itself, and nothing nested."""
    if isinstance(tree, int):
        return False
    for part in tree:  # noqa: SIM110 - a generator would cost more than the rest of a small operation
        if not isinstance(part, int):
            return False
    return True


def is_congruent(a: IntTree, b: IntTree) -> bool:
    """Tell whether two trees are nested alike.

    Examples
    --------
    >>> is_congruent(((2, 3), 4), ((0, 0), 1)), is_congruent((4,), 4)
    (True, False)
    """
    if isinstance(a, int) or isinstance(b, int):
        return isinstance(a, int) and isinstance(b, int)
    return len(a) == len(b) and all(is_congruent(x, y) for x, y in zip(a, b, strict=True))


def rebuild(profile: IntTree, numbers: Iterable[IntTree]) -> IntTree:
    """Return the tree with the profile of another and new leaves, taken from left to right.

    Examples
    --------
    >>> rebuild(((2, 3), 4), [5, 6, 7])
    ((5, 6), 7)
    """
    return tuple(numbers) if is_flat(profile) else _rebuild(profile, iter(numbers))


def _rebuild(profile: IntTree, numbers: Iterator[IntTree]) -> IntTree:
    if isinstance(profile, int):
        return next(numbers)
    return tuple([_rebuild(part, numbers) for part in profile])


def rebuild_pairs(profile: IntTree, pairs: list[tuple[IntTree, IntTree]]) -> tuple[IntTree, IntTree]:
    """Return two trees with the profile of another, from pairs of leaves, from left to right.

    Examples
    --------
    >>> rebuild_pairs(((2, 3), 4), [(2, 12), (3, 4), (4, 1)])
    (((2, 3), 4), ((12, 4), 1))
    """
    if isinstance(profile, int):
        return pairs[0]
    return _rebuild_pairs(profile, iter(pairs))


def _rebuild_pairs(
    profile: tuple[IntTree, ...], pairs: Iterator[tuple[IntTree, IntTree]]
) -> tuple[IntTree, IntTree]:
    firsts: list[IntTree] = []
    seconds: list[IntTree] = []
    for part in profile:
        first, second = next(pairs) if isinstance(part, int) else _rebuild_pairs(part, pairs)
        firsts.append(first)
        seconds.append(second)
    return tuple(firsts), tuple(seconds)


def map_tree(tree: IntTree, factor: int) -> IntTree:
    """Return the tree with every leaf multiplied by `factor`."""
    return tree * factor if isinstance(tree, int) else tuple([map_tree(part, factor) for part in tree])


def modes_of(extents: IntTree, strides: IntTree, order: OrdinalOrder) -> list[Mode]:
    """Return extent and stride of every leaf, the fastest leaf first."""
    modes = leaf_modes(extents, strides)
    if order == "lex":
        modes.reverse()
    return modes


def leaf_modes(extents: IntTree, strides: IntTree) -> list[Mode]:
    """Return extent and stride of every leaf, from left to right."""
    # Strides are nested as extents are, which types do not say; a cast is a call, and this is called often.
    steps: Any = strides
    if isinstance(extents, int):
        return [(extents, steps)]
    for extent in extents:
        if not isinstance(extent, int):
            break
    else:
        # They are of one length, and to have that checked costs as much as all the rest.
        pairs: Any = zip(extents, steps)  # noqa: B905
        return list(pairs)
    modes: list[Mode] = []
    for extent, step in zip(extents, steps, strict=True):
        if isinstance(extent, int):
            modes.append((extent, step))
        else:
            modes += leaf_modes(extent, step)
    return modes


def from_modes(modes: list[Mode], order: OrdinalOrder) -> tuple[IntTree, IntTree]:
    """Return extents and strides of modes that are given fastest first: a leaf if there is but one.

    Examples
    --------
    >>> from_modes([(2, 1), (3, 5)], "lex"), from_modes([(4, 1)], "lex"), from_modes([], "lex")
    (((3, 2), (5, 1)), (4, 1), (1, 0))
    """
    if len(modes) == 1:
        return modes[0]
    if not modes:
        return 1, 0
    extents, strides = zip(*(reversed(modes) if order == "lex" else modes), strict=True)
    return extents, strides


def compact(extents: IntTree, order: OrdinalOrder, step: int = 1) -> IntTree:
    """Return the strides without gaps, in the tree's own order, from `step` on.

    Examples
    --------
    >>> compact(((2, 3), 4), "lex"), compact(((2, 3), 4), "colex")
    (((12, 4), 1), ((1, 2), 6))
    """
    numbers = leaves(extents)
    strides = [0] * len(numbers)
    places = range(len(numbers))
    for place in reversed(places) if order == "lex" else places:
        strides[place] = step
        step *= numbers[place]
    return rebuild(extents, strides)


def slowest_replaced(extents: IntTree, order: OrdinalOrder, largest: int) -> IntTree:
    """Return extents whose slowest leaf is enlarged, if need be, until ordinal `largest` exists.

    Examples
    --------
    >>> slowest_replaced((3, 4), "lex", 13), slowest_replaced((3, 4), "colex", 13)
    ((4, 4), (3, 5))
    """
    numbers = leaves(extents)
    size = math.prod(numbers)
    if largest < size or not numbers or not size:
        return extents
    place = 0 if order == "lex" else len(numbers) - 1
    numbers[place] = largest // (size // numbers[place]) + 1
    return rebuild(extents, numbers)


def leaf_index(extents: IntTree, coordinate: object, order: OrdinalOrder, where: Index = ()) -> list[int]:
    """Return the index of the leaf modes that a coordinate names.

    An integer stands for any tree and counts its ordinals; a tuple has one entry per mode.
    """
    if isinstance(coordinate, tuple | list):
        entries = cast("tuple[object, ...] | list[object]", coordinate)
        parts = (extents,) if isinstance(extents, int) else extents
        if len(entries) != len(parts):
            raise LayoutError(
                f"{brief(entries)} has {counted(len(entries), 'entry')}{_at(where)}, not {len(parts)}"
            )
        found: list[int] = []
        for k, (part, entry) in enumerate(zip(parts, entries, strict=True)):
            found += leaf_index(part, entry, order, (*where, k))
        return found
    if type(coordinate) is int and isinstance(extents, int) and 0 <= coordinate < extents:
        # Most entries are such; the text that an error would need costs more than all the rest.
        return [coordinate]
    ordinal = to_int(cast("SupportsIndex", coordinate), f"the coordinate{_at(where)}")
    if not 0 <= ordinal < size_of(extents):
        raise OutOfBoundsError(f"{ordinal} is outside 0 to {size_of(extents) - 1}{_at(where)}")
    return unravel(leaves(extents), ordinal, order)


def _at(where: Index) -> str:
    return f" at mode {'.'.join(map(str, where))}" if where else ""


def unravel(extents: list[int], ordinal: int, order: OrdinalOrder) -> list[int]:
    """Return the index with the given ordinal, which is inside."""
    index = [0] * len(extents)
    places = range(len(extents))
    for place in reversed(places) if order == "lex" else places:
        ordinal, index[place] = divmod(ordinal, extents[place])
    return index


def to_tree(value: object, what: str, depth: int = 0) -> IntTree:
    """Return nested sequences of integers as nested tuples of Python integers.

    Examples
    --------
    >>> to_tree([2, (3, 4)], "a profile")
    (2, (3, 4))
    """
    if isinstance(value, tuple | list):
        if depth == MAX_DEPTH:
            raise LayoutError(f"{what} is nested deeper than {MAX_DEPTH} levels")
        return tuple([to_tree(part, what, depth + 1) for part in cast("Iterable[object]", value)])
    return to_int(cast("SupportsIndex", value), what)


def tree_text(tree: IntTree) -> str:
    """Return a tree as CuTe writes it: no spaces, and no comma after a single entry.

    Examples
    --------
    >>> tree_text(((4,), 2)), tree_text(())
    ('((4),2)', '()')
    """
    return str(tree) if isinstance(tree, int) else f"({','.join([tree_text(part) for part in tree])})"


def layout_text(extents: IntTree, strides: IntTree, offset: int) -> str:
    """Return a layout as CuTe writes it, with our own addition: an offset behind the strides.

    Examples
    --------
    >>> layout_text((4,), (-1,), 3)
    '(4):(-1)+3'
    """
    return f"{tree_text(extents)}:{tree_text(strides)}" + (f"{offset:+d}" if offset else "")


def ordinal_offset(modes: list[Mode], offset: int, ordinal: int) -> int:
    """Return the offset at an ordinal, of modes that are given fastest first.

    Raises
    ------
    OutOfBoundsError
        If there are not so many elements, or the ordinal is negative.
    """
    left = ordinal
    for extent, stride in modes:
        if not extent:
            break
        left, place = divmod(left, extent)
        offset += place * stride
    else:
        if not left:
            return offset
    size = math.prod([extent for extent, _ in modes])
    raise OutOfBoundsError(f"the ordinal {ordinal} is outside 0 to {size - 1}")
