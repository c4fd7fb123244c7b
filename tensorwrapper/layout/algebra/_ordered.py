"""Layouts from nested extents: given strides, in a given order of speed, or tiled by a block."""

from typing import SupportsIndex

from tensorwrapper._integers import to_int
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout.algebra._operand import (
    AnyLayout,
    OutOfBoundsPolicy,
    as_modes,
    check_outside,
    finish,
    parts_of,
)
from tensorwrapper.layout.algebra._product import blocked_product
from tensorwrapper.layout.boxes._hierarchical import make_hierarchical
from tensorwrapper.layout.boxes._hierarchy import (
    IntTree,
    NestedInts,
    OrdinalOrder,
    check_order,
    compact,
    leaves,
    rebuild,
    size_of,
    to_tree,
    tree_text,
)


def make_layout(
    extents: "NestedInts",
    strides: "NestedInts | None" = None,
    *,
    offset: SupportsIndex = 0,
    order: OrdinalOrder = "lex",
) -> AnyLayout:
    """Return the layout of nested extents and strides.

    Parameters
    ----------
    extents, strides
        Integers, or tuples nested alike. Without strides there are no gaps, in the given order.
    offset
        The place of the first element.
    order
        Which mode runs fastest: the last ("lex"), or the first ("colex").

    Raises
    ------
    LayoutError
        If strides are not nested as the extents are.

    Examples
    --------
    >>> from tensorwrapper.layout import make_layout
    >>> str(make_layout(((2, 3), 4))), str(make_layout(((2, 3), 4), order="colex"))
    ('((2,3),4):((12,4),1)', '((2,3),4):((1,2),6)')
    """
    check_order(order)
    tree = to_tree(extents, "extents")
    steps = compact(tree, order) if strides is None else to_tree(strides, "strides")
    checked = make_hierarchical(tree, steps, to_int(offset, "an offset"), order)
    return finish(checked.extents, checked.nested_strides, checked.offset, order)


def make_ordered_layout(
    extents: "NestedInts", ranks: "NestedInts", *, order: OrdinalOrder = "lex"
) -> AnyLayout:
    """Return the layout without gaps whose modes run the faster the lower they rank.

    Law: its offsets are 0 to ``size - 1``, each once; of two modes that with the lower rank has the smaller
    strides. Modes of one rank, and the modes of a mode that has one rank, run in the given order.

    Parameters
    ----------
    extents
        An integer, or a nested tuple.
    ranks
        Integers nested as the extents, or less deeply; only their comparison counts. (`Layout` takes the
        inverse of it: which mode is the k-th fastest.)
    order
        Which mode runs fastest: the last ("lex"), or the first ("colex").

    Raises
    ------
    LayoutError
        If there is not one rank per mode.

    Notes
    -----
    O(rank log rank). Source: the layout algebra of NVIDIA's CuTe, as the CUTLASS documentation describes it.

    Examples
    --------
    >>> from tensorwrapper.layout import make_ordered_layout
    >>> R = make_ordered_layout((2, 3, 4), (2, 1, 3))
    >>> str(R), sorted(R.offsets_of_ordinals().tolist()) == list(range(24))
    ('(2,3,4):(3,1,6)', True)
    >>> str(make_ordered_layout((2, (2, 2)), (0, 1)))
    '(2,(2,2)):(1,(4,2))'
    >>> str(make_ordered_layout((2, (2, 2)), (0, 1), order="colex"))
    '(2,(2,2)):(1,(2,4))'
    """
    check_order(order)
    tree = to_tree(extents, "extents")
    ranking = _spread(tree, to_tree(ranks, "ranks"))
    numbers = leaves(tree)
    places = range(len(numbers))
    by_rank = sorted(reversed(places) if order == "lex" else places, key=lambda place: ranking[place])
    strides, step = [0] * len(numbers), 1
    for place in by_rank:
        strides[place] = step
        step *= numbers[place]
    return make_layout(tree, rebuild(tree, strides), order=order)


def _spread(extents: IntTree, ranks: IntTree) -> list[int]:
    """Return the rank of every leaf."""
    if isinstance(ranks, int):
        return [ranks] * len(leaves(extents))
    if isinstance(extents, int) or len(extents) != len(ranks):
        raise LayoutError(f"ranks {tree_text(ranks)} do not fit extents {tree_text(extents)}")
    found: list[int] = []
    for part, rank in zip(extents, ranks, strict=True):
        found += _spread(part, rank)
    return found


def tile_to_shape(
    block: AnyLayout,
    extents: "NestedInts",
    ranks: "NestedInts | None" = None,
    *,
    outside: OutOfBoundsPolicy = "raise",
) -> AnyLayout:
    """Return `block` repeated until it fills extents: copies side by side, contiguous in memory.

    Law: ``blocked_product(block, make_ordered_layout(counts, ranks))``, with as many copies per mode as the
    extents need. So each mode has its extent, and position ``t * n + b`` is place b (of n) in copy t.

    Parameters
    ----------
    block
        A layout of strides; modes that it lacks have extent 1.
    extents
        The extents to fill: one entry per mode. Only the size of nested entries counts.
    ranks
        The order of the modes of copies, as in `make_ordered_layout`; by default that of the block.
    outside
        Policy if blocks do not divide an extent: "raise", or "extend", which lets the last one exceed it.

    Raises
    ------
    LayoutError
        If the block does not divide an extent (the text names mode and divisor), or has more modes.

    Notes
    -----
    Source: the layout algebra of NVIDIA's CuTe, as the CUTLASS documentation describes it.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import blocked_product, make_ordered_layout, tile_to_shape
    >>> R = tile_to_shape(Layout.parse("(2,2):(2,1)"), (4, 4))
    >>> R == blocked_product(Layout.parse("(2,2):(2,1)"), make_ordered_layout((2, 2), 0))
    True
    >>> str(R), R.to_numpy().reshape(4, 4).tolist()
    ('((2,2),(2,2)):((8,2),(4,1))', [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]])
    """
    check_outside(outside)
    parts = parts_of(block, "tile_to_shape")
    sizes = [size_of(mode) for mode in as_modes(parts[0])]
    wanted = [size_of(mode) for mode in as_modes(to_tree(extents, "extents"))]
    if len(sizes) > len(wanted):
        raise LayoutError(f"a block of {len(sizes)} modes does not fill {len(wanted)}: {tuple(wanted)}")
    sizes += [1] * (len(wanted) - len(sizes))
    counts: list[int] = []
    for mode, (size, extent) in enumerate(zip(sizes, wanted, strict=True)):
        if not size or extent < 0 or (extent % size and outside == "raise"):
            raise LayoutError(
                f"the block has size {size} in mode {mode}, which does not divide {extent}; "
                'outside="extend" lets the last block stick out'
            )
        counts.append(-(-extent // size))
    order = parts[3]
    copies = make_ordered_layout(tuple(counts), 0 if ranks is None else ranks, order=order)
    return blocked_product(block, copies)
