"""One layout after another: exact, by proof or by construction."""

from tensorwrapper.errors import LayoutError
from tensorwrapper.layout._layout import Layout, wrap_layout
from tensorwrapper.layout.algebra._carry import compose_modes, merged
from tensorwrapper.layout.algebra._operand import (
    AnyLayout,
    InexactPolicy,
    OutOfBoundsPolicy,
    Parts,
    as_modes,
    check_exact,
    check_orders,
    check_outside,
    finish,
    parts_of,
)
from tensorwrapper.layout.algebra._tiler import Piece, Plan, Tiler, fit, fit_bounds, plan_of
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._hierarchical import Hierarchical
from tensorwrapper.layout.boxes._hierarchy import (
    IntTree,
    OrdinalOrder,
    compact,
    leaf_modes,
    leaves,
    map_tree,
    modes_of,
    rebuild_pairs,
    size_of,
    slowest_replaced,
)
from tensorwrapper.layout.boxes._strided import new_strided
from tensorwrapper.layout.boxes._swizzle import Swizzle
from tensorwrapper.layout.operations._composite import Stage
from tensorwrapper.layout.operations._user_layout import PartLayout


def compose(
    outer: AnyLayout | Swizzle,
    inner: Tiler,
    *,
    exact: InexactPolicy = "composite",
    outside: OutOfBoundsPolicy = "raise",
) -> AnyLayout:
    """Return the composition, first `inner`, then `outer`: a layout over the modes of `inner`.

    Law: ``compose(A, B).offset_of_ordinal(k) == A.offset_of_ordinal(B.offset_of_ordinal(k))`` for every
    ordinal k of B. The same holds at every coordinate of B, whose nesting the result refines.

    Both may have an origin, a jagged shape, or gathers. Then
    ``compose(A, B).offset_of(i) == A.offset_of_ordinal(B.offset_of(i))`` for every index i of B's shape,
    which is that of the result.

    The result is a layout with nested modes if that can be proved. The positions that the modes of B add up
    in each (coalesced) mode of A must stay inside it, without a carry. Each mode of B that fills a mode of A
    must do so in a number of steps that divides the rest of it. Otherwise it is the exact composite of the
    two, which has all methods of a layout, but no strides.

    Parameters
    ----------
    outer
        The layout or swizzle that is applied last.
    inner
        The layout that is applied first. Or by mode: a tuple with a layout, an integer n (for ``n:1``) or
        None (unchanged) for each of the first modes of `outer`; the other modes are dropped. An integer alone
        is ``n:1``.
    exact
        Policy if no single layout can be proved: "composite", or "raise".
    outside
        Policy if `inner` exceeds the last ordinal of `outer`: "raise", or "extend". With "extend" the slowest
        mode of `outer` (or of the mode, if by mode) continues beyond its extent, as in CuTe.

    Raises
    ------
    LayoutError
        If the orders differ, or are "colex" with an operand that is not a layout of nested modes from zero.
        Also if `inner` leaves the ordinals of `outer`, or with ``exact="raise"``; then the text names the
        mode and the divisor that prevent it.
    ConversionError
        If an operand is neither a layout nor another allowed value.

    Notes
    -----
    O(modes of A times modes of B). Source: the layout algebra of NVIDIA's CuTe, as the CUTLASS documentation
    describes it, with another condition.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import Swizzle, compose
    >>> A, B = Layout.parse("(6,4):(1,6)"), Layout.parse("(2,2):(8,1)")
    >>> c = compose(A, B)
    >>> str(c), [c.offset_of_ordinal(k) for k in range(4)]
    ('(2,2):(2,6)', [0, 6, 2, 8])
    >>> [A.offset_of_ordinal(B.offset_of_ordinal(k)) for k in range(4)]
    [0, 6, 2, 8]

    With carries, the composite is exact, and ``exact="raise"`` reports the reason:

    >>> str(compose(Layout.parse("(4,4):(1,4)"), Layout.parse("6:1")))
    '(4,4):(1,4) o 0 o 6:1'
    >>> compose(Layout.parse("(4,4):(1,4)"), Layout.parse("6:1"), exact="raise")
    Traceback (most recent call last):
    tensorwrapper.errors.LayoutError: ... in 4 steps, and 4 does not divide 6

    Rows of B, and its origin, are kept:

    >>> from tensorwrapper import Shape
    >>> rows = compose(Layout(Shape(2, 3), order="F"), Layout(Shape.jagged([2, 0, 1]), offset=3))
    >>> rows.shape, [rows.offset_of(index) for index in rows.shape.indices()]
    (Shape.jagged([2, 0, 1]), [1, 3, 5])

    By mode, and after a swizzle:

    >>> str(compose(Layout.parse("(6,4):(4,1)"), (Layout.parse("3:2"), 2)))
    '(3,2):(8,1)'
    >>> str(compose(Swizzle(1, 0, 2), Layout.parse("(4,4):(4,1)")))
    'S<1,0,2> o 0 o (4,4):(4,1)'
    """
    check_exact(exact)
    check_outside(outside)
    if type(inner) is Layout:
        if isinstance(outer, Swizzle):
            return _swizzled(outer, parts_of(inner, "compose"), exact)
        if type(outer) is not Layout:
            parts_of(outer, "compose")  # for what it raises
        first, second = outer.implementation.algebra_parts(), inner.implementation.algebra_parts()
        if first is None or second is None:
            return _of_elements(outer, inner, exact)
        check_orders(first[3], second[3], "compose")
        if second[4]:
            return _stacked(first, second, exact, outside)
        return taken_at(first, second[0], second[1], second[2], exact, outside)
    if isinstance(outer, Swizzle):
        raise LayoutError("a swizzle has no modes: compose it with the layout whose offsets it permutes")
    parts = parts_of(outer, "compose")
    order = parts[3]
    plan = plan_of(inner, order, "compose")
    extents = fit(parts[0], plan, order, outside)
    index_extents, index_strides, start = _indexed(extents, plan, order, 1)
    return taken_at((extents, *parts[1:]), index_extents, index_strides, start, exact)


def _of_elements(outer: AnyLayout, inner: AnyLayout, exact: InexactPolicy) -> AnyLayout:
    """Return the composite of layouts of which one has an origin, or is over a jagged shape, or gathers."""
    first, second = [layout.implementation.without_layers() for layout in (outer, inner)]
    check_orders(first.ordinal_order, second.ordinal_order, "compose")
    least, greatest = second.bounds()
    if least < 0 or greatest >= first.shape.size:
        raise LayoutError(
            f"the inner layout has offsets from {least} to {greatest}, which are not ordinals of the outer: "
            f"{first.shape} has {first.shape.size} elements"
        )
    strided = [_at_zero(layout) for layout in (first, second)]
    if strided[0] is not None and strided[1] is not None:
        made = compose(wrap_layout(strided[0]), wrap_layout(strided[1])).implementation
        if made.mode_strides is not None and made.shape.extents == second.shape.extents:
            return wrap_layout(made.moved_to(second.shape))
    if exact == "raise":
        raise LayoutError("no layout of strides is proved: an operand has an origin, rows or tables")
    if first.ordinal_order == "colex":
        raise LayoutError('a layout in order "colex" is composed with one whose indices start at 0 only')
    return wrap_layout(PartLayout(first, second))


def _at_zero(layout: LayoutCommon) -> LayoutCommon | None:
    """Return a strided layout in row-major order without its origin."""
    box = layout.strided_box() if layout.ordinal_order == "lex" else None
    return None if box is None else new_strided(box[0], (0,) * len(box[0]), box[2], box[3])


def _indexed(extents: IntTree, plan: Plan, order: OrdinalOrder, step: int) -> tuple[IntTree, IntTree, int]:
    """Return the ordinals that a plan takes, as extents, strides and offset; ``step`` scales them."""
    if plan is None:
        return extents, compact(extents, order, step), 0
    if isinstance(plan, Piece):
        strides = plan.strides if step == 1 else map_tree(plan.strides, step)
        return plan.extents, strides, plan.offset * step
    modes = as_modes(extents)
    weights = leaves(compact(tuple([size_of(mode) for mode in modes]), order, step))
    found = [_indexed(m, p, order, w) for m, p, w in zip(modes, plan, weights, strict=False)]
    return tuple([e for e, _, _ in found]), tuple([s for _, s, _ in found]), sum([o for _, _, o in found])


def taken_at(
    outer: Parts,
    extents: IntTree,
    strides: IntTree,
    start: int,
    exact: InexactPolicy,
    outside: OutOfBoundsPolicy = "raise",
) -> AnyLayout:
    """Return a layout taken at the ordinals that another one gives."""
    outer_extents, outer_strides, offset, order, stages = outer
    inner = leaf_modes(extents, strides)
    least = greatest = start
    for extent, stride in inner:
        if not extent:
            return finish(extents, strides, 0, order, stages)
        reach = (extent - 1) * stride
        if reach < 0:
            least += reach
        else:
            greatest += reach
    modes = merged(modes_of(outer_extents, outer_strides, order))
    size = 1
    for extent, _ in modes:
        size *= extent
    if least < 0 or greatest >= size:
        outer_extents = fit_bounds(outer_extents, (least, greatest), order, outside, "the outer layout")
        modes = merged(modes_of(outer_extents, outer_strides, order))
    made = compose_modes(modes, inner, start, order)
    if isinstance(made, str):
        if exact == "raise":
            raise LayoutError(f"no layout of strides is proved: {made}")
        last = Hierarchical(outer_extents, outer_strides, offset, order)
        return finish(extents, strides, start, order, (*stages, last))
    found, value = made
    new_extents, new_strides = rebuild_pairs(extents, found)
    return finish(new_extents, new_strides, offset + value, order, stages)


def _swizzled(swizzle: Swizzle, inner: Parts, exact: InexactPolicy) -> AnyLayout:
    extents, strides, offset, order, stages = inner
    made = finish(extents, strides, offset, order, (swizzle, *stages))
    _, greatest = finish(extents, strides, offset, order, stages).bounds()
    if greatest < 1 << swizzle.source_place or not swizzle.bits:
        return finish(extents, strides, offset, order, stages)
    if exact == "raise":
        raise LayoutError(f"{swizzle} moves offsets up to {greatest}: no layout of strides does that")
    return made


def _stacked(outer: Parts, inner: Parts, exact: InexactPolicy, outside: OutOfBoundsPolicy) -> AnyLayout:
    """Return the composite of a layout and a composite."""
    extents, strides, offset, order, stages = outer
    if exact == "raise":
        raise LayoutError("the inner layout is a composite, so no layout of strides is proved")
    if outside == "extend":
        _, greatest = finish(*inner).bounds()
        extents = slowest_replaced(extents, order, greatest)
    last: Stage = Hierarchical(extents, strides, offset, order)
    return finish(*inner[:4], (*stages, last, *inner[4]))
