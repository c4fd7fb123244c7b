"""Products: a layout repeated as another one says."""

import itertools
import math
from collections.abc import Callable
from typing import SupportsIndex, TypeAlias, cast

from tensorwrapper._integers import to_int
from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout._layout import Layout
from tensorwrapper.layout.algebra._carry import compose_modes, merged
from tensorwrapper.layout.algebra._complement import filled
from tensorwrapper.layout.algebra._operand import (
    AnyLayout,
    InexactPolicy,
    as_modes,
    check_exact,
    check_orders,
    finish,
    parts_of,
    rising_modes,
    strided_parts,
)
from tensorwrapper.layout.boxes._hierarchical import Hierarchical
from tensorwrapper.layout.boxes._hierarchy import (
    IntTree,
    Mode,
    OrdinalOrder,
    compact,
    from_modes,
    leaf_modes,
    map_tree,
    rebuild_pairs,
    size_of,
)
from tensorwrapper.layout.operations._composite import Stage

Copies: TypeAlias = AnyLayout | SupportsIndex
"""A layout that says which copy is where, or an integer n for ``n:1``."""

_Side: TypeAlias = tuple[IntTree, tuple[IntTree, ...]]
"""A tree, and the trees of its modes: those that it had before modes of it were split."""

_Group: TypeAlias = Callable[[_Side, _Side, int, OrdinalOrder], IntTree]
"""How two sides become one tree; the integer stands for a mode that one of them lacks."""


def logical_product(block: AnyLayout, tiler: Copies, *, exact: InexactPolicy = "composite") -> AnyLayout:
    """Return `block` repeated once per element of `tiler`, with the copies in the order of `tiler`.

    Law: with C the complement of A (moved to offset 0), as far as B needs it,
    ``R((i, j)) == A(i) + C(B(j))``, where ``A(k)`` is short for ``A.offset_of_ordinal(k)``. Copy j of A is at
    position B(j), counted in copies. The copies interleave if A has gaps, and their elements share an offset
    only if two of A or of B do. The first mode is the block in either order.

    Parameters
    ----------
    block
        The layout to repeat: a layout of strides, or the inner layout of a composite.
    tiler
        The positions of the copies: a layout of ordinals from 0 on, or an integer n (for ``n:1``).
    exact
        Policy if no layout of strides is proved: "composite", or "raise". See `compose`.

    Raises
    ------
    LayoutError
        If the orders differ, modes of the block overlap (see `complement`), or ordinals are negative.
    ConversionError
        If the tiler is a tuple: copies by mode would overlap; use `blocked_product` or `raked_product`.

    Notes
    -----
    Source: the layout algebra of NVIDIA's CuTe, as the CUTLASS documentation describes it.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import complement, logical_product
    >>> A, B = Layout.parse("(2,2):(4,1)"), Layout.parse("6:1")
    >>> R, C = logical_product(A, B), complement(A, 24)
    >>> str(R), R.offset_of_ordinal(((1, 0), 3))
    ('((2,2),(3,2)):((4,1),(8,2))', 14)
    >>> a, b, c, r = [layout.offset_of_ordinal for layout in (A, B, C, R)]
    >>> all(r((i, j)) == a(i) + c(b(j)) for i in range(4) for j in range(6))
    True
    >>> str(logical_product(Layout.parse("6:1"), 3))
    '(6,3):(1,6)'
    """
    return _product(block, tiler, exact, "logical_product", lambda a, b, _, __: (a[0], b[0]))


def zipped_product(block: AnyLayout, tiler: Copies, *, exact: InexactPolicy = "composite") -> AnyLayout:
    """Return the product with two modes: the place in the block, and which copy. It is `logical_product`.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import zipped_product
    >>> str(zipped_product(Layout.parse("(3,4):(4,1)"), Layout.parse("(2,5):(5,1)")))
    '((3,4),(2,5)):((4,1),(60,12))'
    """
    return _product(block, tiler, exact, "zipped_product", lambda a, b, _, __: (a[0], b[0]))


def tiled_product(block: AnyLayout, tiler: Copies, *, exact: InexactPolicy = "composite") -> AnyLayout:
    """Return `logical_product` with the modes of the tiler unpacked: the block is mode 0.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import tiled_product
    >>> str(tiled_product(Layout.parse("(3,4):(4,1)"), Layout.parse("(2,5):(5,1)")))
    '((3,4),2,5):((4,1),60,12)'
    """
    return _product(block, tiler, exact, "tiled_product", lambda a, b, _, __: (a[0], *b[1]))


def flat_product(block: AnyLayout, tiler: Copies, *, exact: InexactPolicy = "composite") -> AnyLayout:
    """Return `logical_product` with the modes of both unpacked.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import flat_product
    >>> str(flat_product(Layout.parse("(3,4):(4,1)"), Layout.parse("(2,5):(5,1)")))
    '(3,4,2,5):(4,1,60,12)'
    """
    return _product(block, tiler, exact, "flat_product", lambda a, b, _, __: (*a[1], *b[1]))


def blocked_product(block: AnyLayout, tiler: AnyLayout, *, exact: InexactPolicy = "composite") -> AnyLayout:
    """Return `logical_product` with mode k of the block and mode k of the tiler as one: blocks side by side.

    Law: in each mode, position ``t * n + b`` is place b (of n) in copy t, so that a block is a box of
    neighbours. Modes that one of the two lacks have extent 1. Parameters and errors are those of
    `logical_product`.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import blocked_product, logical_product
    >>> A, B = Layout.parse("(2,2):(2,1)"), Layout.parse("(1,3):(3,1)")
    >>> R, logical = blocked_product(A, B), logical_product(A, B)
    >>> str(R), R.to_numpy().reshape(2, 6).tolist()
    ('((1,2),(3,2)):((12,2),(4,1))', [[0, 1, 4, 5, 8, 9], [2, 3, 6, 7, 10, 11]])
    >>> pairs = [(t, b) for t in range(3) for b in range(2)]
    >>> r, l = R.offset_of_ordinal, logical.offset_of_ordinal
    >>> all(r((0, t * 2 + b)) == l(((0, b), (0, t))) for t, b in pairs)
    True
    """
    return _product(block, tiler, exact, "blocked_product", _block_fastest)


def raked_product(block: AnyLayout, tiler: AnyLayout, *, exact: InexactPolicy = "composite") -> AnyLayout:
    """Return `logical_product` with mode k of both as one: elements of all blocks in turn.

    Law: in each mode, position ``b * m + t`` is place b in copy t (of m), so that the elements of a block
    lie apart by the number of copies. Otherwise as `blocked_product`.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import logical_product, raked_product
    >>> A, B = Layout.parse("(2,2):(2,1)"), Layout.parse("(1,3):(3,1)")
    >>> R, logical = raked_product(A, B), logical_product(A, B)
    >>> R.to_numpy().reshape(2, 6).tolist()
    [[0, 4, 8, 1, 5, 9], [2, 6, 10, 3, 7, 11]]
    >>> pairs = [(t, b) for t in range(3) for b in range(2)]
    >>> r, l = R.offset_of_ordinal, logical.offset_of_ordinal
    >>> all(r((0, b * 3 + t)) == l(((0, b), (0, t))) for t, b in pairs)
    True
    """
    return _product(block, tiler, exact, "raked_product", _tiler_fastest)


def _block_fastest(a: _Side, b: _Side, missing: int, order: OrdinalOrder) -> IntTree:
    return _in_pairs(a[1], b[1], missing) if order == "colex" else _in_pairs(b[1], a[1], missing)


def _tiler_fastest(a: _Side, b: _Side, missing: int, order: OrdinalOrder) -> IntTree:
    return _in_pairs(b[1], a[1], missing) if order == "colex" else _in_pairs(a[1], b[1], missing)


def _in_pairs(a: tuple[IntTree, ...], b: tuple[IntTree, ...], missing: int) -> IntTree:
    return tuple(itertools.zip_longest(a, b, fillvalue=missing))


def _product(block: AnyLayout, tiler: Copies, exact: InexactPolicy, what: str, group: _Group) -> AnyLayout:
    check_exact(exact)
    extents, strides, offset, order, stages = parts_of(block, what)
    modes, _ = rising_modes(extents, strides, offset, order, what)
    copies = _copies(tiler, order, what)
    gaps, span, _ = filled(modes)
    _, greatest = copies.bounds()
    gaps.append((greatest // math.prod([extent for extent, _ in gaps]) + 1, span))
    own = leaf_modes(copies.extents, copies.nested_strides)
    # Without a copy there is nothing to compose: any strides do.
    outer: list[Mode] = merged(gaps) if copies.size else []
    made = compose_modes(outer, own, copies.offset, order)
    # The modes of the tiler are those it was given with, even where one of them is split.
    single = isinstance(copies.extents, int)
    if isinstance(made, str):
        if exact == "raise":
            raise LayoutError(f"{what}: no layout of strides is proved: {made}")
        size = size_of(extents)
        stages = (*stages, _with_copies(extents, strides, offset, gaps, order))
        counted = map_tree(copies.nested_strides, size)
        offset = copies.offset * size
        strides = compact(extents, order)
        pairs = ((extents, copies.extents, 1), (strides, counted, 0))
    else:
        found, value = made
        offset += value
        copied_extents, copied_strides = rebuild_pairs(copies.extents, found)
        pairs = ((extents, copied_extents, 1), (strides, copied_strides, 0))
    trees = [
        group((a, as_modes(a)), (b, (b,) if single else as_modes(b)), missing, order)
        for a, b, missing in pairs
    ]
    return finish(trees[0], trees[1], offset, order, stages)


def _copies(tiler: object, order: OrdinalOrder, what: str) -> Hierarchical:
    if isinstance(tiler, Layout):
        extents, strides, offset, own = strided_parts(cast("AnyLayout", tiler), what)
        check_orders(order, own, what)
    elif isinstance(tiler, tuple):
        raise ConversionError(f"{what} takes no tuple: by mode copies would overlap; see blocked_product")
    else:
        extents, strides, offset = to_int(cast("SupportsIndex", tiler), f"a tiler of {what}"), 1, 0
        if extents < 0:
            raise LayoutError(f"{what} cannot make {extents} copies")
    copies = Hierarchical(extents, strides, offset, order)
    if copies.bounds()[0] < 0:
        raise LayoutError(
            f"{what} counts copies from 0, but the tiler {tiler} begins at {copies.bounds()[0]}"
        )
    return copies


def _with_copies(
    extents: IntTree, strides: IntTree, offset: int, gaps: list[Mode], order: OrdinalOrder
) -> Stage:
    """Return the block with its complement as slower modes."""
    more_extents, more_strides = from_modes(gaps, order)
    if order == "lex":
        return Hierarchical((more_extents, extents), (more_strides, strides), offset, order)
    return Hierarchical((extents, more_extents), (strides, more_strides), offset, order)
