"""Coalescing: modes that one stride serves are joined; the function from ordinals to offsets stays."""

from tensorwrapper.errors import LayoutError
from tensorwrapper.layout._layout import wrap_layout
from tensorwrapper.layout.algebra._carry import merged
from tensorwrapper.layout.algebra._operand import AnyLayout, finish, parts_of
from tensorwrapper.layout.boxes._hierarchical import new_hierarchical
from tensorwrapper.layout.boxes._hierarchy import (
    IntTree,
    NestedInts,
    OrdinalOrder,
    from_modes,
    is_flat,
    leaves,
    modes_of,
    to_tree,
    tree_text,
)


def coalesce(layout: AnyLayout, profile: "NestedInts | None" = None) -> AnyLayout:
    """Return the layout with the fewest modes that has the same offset at every ordinal.

    Law: ``coalesce(A).offset_of_ordinal(k) == A.offset_of_ordinal(k)`` for every ordinal k, in A's own
    order. Modes of extent 1 go, and neighbours merge where the slower continues the faster. O(rank).

    Parameters
    ----------
    layout
        Any layout of strides over indices from 0 on, or a composite, of which the inner layout is coalesced.
    profile
        A nested tuple: coalesce each mode for itself where it has an integer, whichever, and the modes of a
        mode where it has a tuple. Modes that it does not reach stay as they are.

    Raises
    ------
    LayoutError
        If the profile has more entries than there are modes, or the layout is not one of strides.

    Notes
    -----
    Source: the layout algebra of NVIDIA's CuTe, as the CUTLASS documentation describes it.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import coalesce
    >>> str(coalesce(Layout.parse("(4,8):(8,1)"))), str(coalesce(Layout.parse("(4,8):(1,4)", order="colex")))
    ('32:1', '32:1')
    >>> A = Layout.parse("(2,(1,6)):(6,(6,1))")
    >>> B = coalesce(A)
    >>> str(B), all(A.offset_of_ordinal(k) == B.offset_of_ordinal(k) for k in range(12))
    ('12:1', True)
    >>> str(coalesce(A, (0, 0)))
    '(2,6):(6,1)'
    """
    extents, strides, offset, order, stages = parts_of(layout, "coalesce")
    if profile is not None:
        new = _by_mode(extents, strides, to_tree(profile, "a profile"), order)
        return finish(*new, offset, order, stages)
    modes = modes_of(extents, strides, order)
    fewest = merged(modes)
    count = len(fewest)
    if count == 1 and not stages:
        return wrap_layout(new_hierarchical(*fewest[0], offset, order))
    if count == len(modes) > 1 and is_flat(extents):
        return layout
    return finish(*from_modes(fewest, order), offset, order, stages)


def _by_mode(
    extents: IntTree, strides: IntTree, profile: IntTree, order: OrdinalOrder
) -> tuple[IntTree, IntTree]:
    if isinstance(profile, int):
        return from_modes(merged(modes_of(extents, strides, order)), order)
    if isinstance(extents, int) or isinstance(strides, int):
        if len(profile) > 1:
            raise LayoutError(f"the profile {tree_text(profile)} has more entries than the mode {extents}")
        return extents, strides
    if len(profile) > len(extents):
        raise LayoutError(
            f"the profile {tree_text(profile)} has {len(profile)} entries for the {len(extents)} modes of "
            f"{tree_text(extents)}"
        )
    pairs = [_by_mode(e, s, p, order) for e, s, p in zip(extents, strides, profile, strict=False)]
    rest = len(profile)
    return (
        (*[e for e, _ in pairs], *extents[rest:]),
        (*[s for _, s in pairs], *strides[rest:]),
    )


def flatten(layout: AnyLayout) -> AnyLayout:
    """Return the layout with the same leaf modes and no nesting.

    Law: the same offset at every ordinal, and at every index of the shape, which stays. O(rank).

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import flatten
    >>> A = Layout.parse("(3,(4,5)):(8,(1,4))")
    >>> B = flatten(A)
    >>> str(B), B.shape == A.shape, all(A.offset_of_ordinal(k) == B.offset_of_ordinal(k) for k in range(60))
    ('(3,4,5):(8,1,4)', True, True)
    """
    extents, strides, offset, order, stages = parts_of(layout, "flatten")
    return finish(tuple(leaves(extents)), tuple(leaves(strides)), offset, order, stages)
