"""Division of a layout by a tiler: which tile, and where in it."""

from collections.abc import Callable
from typing import TypeAlias, cast, final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout.algebra._complement import filled
from tensorwrapper.layout.algebra._compose import taken_at
from tensorwrapper.layout.algebra._operand import (
    AnyLayout,
    InexactPolicy,
    OutOfBoundsPolicy,
    as_modes,
    check_exact,
    check_outside,
    parts_of,
    rising_modes,
)
from tensorwrapper.layout.algebra._tiler import Piece, Plan, Tiler, check_entries, piece_of
from tensorwrapper.layout.boxes._hierarchy import (
    IntTree,
    Mode,
    OrdinalOrder,
    compact,
    from_modes,
    leaves,
    map_tree,
    size_of,
    slowest_replaced,
)

_Pair: TypeAlias = tuple[IntTree, IntTree]
"""Extents and strides of ordinals."""


def logical_divide(
    layout: AnyLayout,
    tiler: Tiler,
    *,
    exact: InexactPolicy = "composite",
    outside: OutOfBoundsPolicy = "raise",
) -> AnyLayout:
    """Return the layout with each tiled mode split in two: the position in the tile, then the tile.

    Law: for one tiler B over the whole layout A, with C the complement of B in the ordinals of A,
    ``R((i, j)) == A(B(i) + C(j))``, where ``A(k)`` is short for ``A.offset_of_ordinal(k)``. Every element of
    A occurs exactly once, unless B repeats some. By mode the same holds in each mode; modes beyond the tiler
    do not change. The first of two is the tile in either order.

    Parameters
    ----------
    layout
        The layout to divide: a layout of strides, or a composite, whose inner layout is divided.
    tiler
        A layout of ordinals, an integer n (for ``n:1``: n neighbours), or a tuple with a tiler per mode, in
        which None keeps a mode unchanged.
    exact
        Policy if no layout of strides is proved: "composite", or "raise". See `compose`.
    outside
        Policy if tiles do not fill the layout, or leave it: "raise", or "extend". With "extend" its slowest
        mode continues beyond its extent, as in CuTe, and the result is larger.

    Raises
    ------
    LayoutError
        If the tiles leave ordinals out, are not disjoint, or leave the layout; the text has the position.

    Notes
    -----
    Source: the layout algebra of NVIDIA's CuTe, as the CUTLASS documentation describes it, with the
    additional condition that the tiles fill the layout.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import complement, logical_divide
    >>> A = Layout.parse("(4,6):(6,1)")
    >>> R = logical_divide(A, (2, 3))
    >>> str(R), R.offset_of_ordinal(((1, 1), (2, 0)))
    ('((2,2),(3,2)):((6,12),(1,3))', 20)
    >>> B = Layout.parse("2:12")
    >>> R, C = logical_divide(A, B), complement(B, 24)
    >>> a, b, c, r = [layout.offset_of_ordinal for layout in (A, B, C, R)]
    >>> str(R), all(r((i, j)) == a(b(i) + c(j)) for i in range(2) for j in range(12))
    ('(2,12):(12,1)', True)
    >>> logical_divide(A, (3, None))
    Traceback (most recent call last):
    tensorwrapper.errors.LayoutError: ... 3 ... mode 0 ...
    """
    return _divided(layout, tiler, exact, outside, "logical_divide", None)


def zipped_divide(
    layout: AnyLayout,
    tiler: Tiler,
    *,
    exact: InexactPolicy = "composite",
    outside: OutOfBoundsPolicy = "raise",
) -> AnyLayout:
    """Return the division with two modes: the place in the tile, and which tile.

    Law: `logical_divide` with the first halves of all modes gathered in one mode, the second halves and the
    modes beyond the tiler in another. A mode that the tiler leaves as it is (None) must have two modes, which
    count as its halves. Parameters and errors are those of `logical_divide`.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import logical_divide, zipped_divide
    >>> A = Layout.parse("(4,6):(6,1)")
    >>> R, logical = zipped_divide(A, (2, 3)), logical_divide(A, (2, 3))
    >>> str(R), R.offset_of_ordinal(((1, 2), (0, 1))) == logical.offset_of_ordinal(((1, 0), (2, 1)))
    ('((2,3),(2,2)):((6,1),(12,3))', True)
    """
    return _divided(layout, tiler, exact, outside, "zipped_divide", lambda tile, rest: (tile, rest))


def tiled_divide(
    layout: AnyLayout,
    tiler: Tiler,
    *,
    exact: InexactPolicy = "composite",
    outside: OutOfBoundsPolicy = "raise",
) -> AnyLayout:
    """Return `zipped_divide` with the modes that tell which tile unpacked: the tile is mode 0.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import tiled_divide
    >>> str(tiled_divide(Layout.parse("(4,6):(6,1)"), (2, 3)))
    '((2,3),2,2):((6,1),12,3)'
    """
    return _divided(layout, tiler, exact, outside, "tiled_divide", lambda tile, rest: (tile, *as_modes(rest)))


def flat_divide(
    layout: AnyLayout,
    tiler: Tiler,
    *,
    exact: InexactPolicy = "composite",
    outside: OutOfBoundsPolicy = "raise",
) -> AnyLayout:
    """Return `zipped_divide` with the modes of both halves unpacked.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import flat_divide
    >>> str(flat_divide(Layout.parse("(4,6):(6,1)"), (2, 3)))
    '(2,3,2,2):(6,1,12,3)'
    """
    return _divided(
        layout, tiler, exact, outside, "flat_divide", lambda tile, rest: (*as_modes(tile), *as_modes(rest))
    )


_Group: TypeAlias = Callable[[IntTree, IntTree], IntTree]
"""How a tree of tiles and a tree of rests become one."""


def _divided(
    layout: AnyLayout,
    tiler: Tiler,
    exact: InexactPolicy,
    outside: OutOfBoundsPolicy,
    what: str,
    group: _Group | None,
) -> AnyLayout:
    check_exact(exact)
    check_outside(outside)
    parts = parts_of(layout, what)
    order = parts[3]
    cutter = _Cutter(order, outside, what)
    extents, plan = cutter.cut(parts[0], tiler, "the layout")
    if group is None:
        index, start = _joined(extents, plan, order, 1)
    else:
        tile, rest, start = _halves(extents, plan, order, 1)
        index = (group(tile[0], rest[0]), group(tile[1], rest[1]))
    if extents is not parts[0]:
        parts = (extents, *parts[1:])
    return taken_at(parts, *index, start, exact)


@final
@frozen
class _Cutter:
    """Reads tilers against what they divide; the same order and options for all modes."""

    order: OrdinalOrder
    outside: OutOfBoundsPolicy
    what: str

    def cut(self, extents: IntTree, tiler: Tiler, where: str) -> tuple[IntTree, Plan]:
        """Return the extents, enlarged if tiles stick out and may, and the plan: where copies begin."""
        if tiler is None:
            return extents, None
        if isinstance(tiler, tuple):
            modes = as_modes(extents)
            check_entries(tiler, modes, where)
            found = [
                self.cut(mode, part, f"mode {k} of {where}")
                for k, (mode, part) in enumerate(zip(modes, tiler, strict=False))
            ]
            plans = tuple([plan for _, plan in found])
            if all(new is old for (new, _), old in zip(found, modes, strict=False)):
                return extents, plans
            fitted = (*[new for new, _ in found], *modes[len(found) :])
            return fitted[0] if isinstance(extents, int) else fitted, plans
        piece = piece_of(tiler, self.order, self.what)
        size = size_of(extents)
        gaps, span = self._gaps(piece, size, where)
        copies, over = divmod(size, span)
        if over:
            if self.outside == "raise":
                raise LayoutError(
                    f"{self.what}: tiles that span {span} ordinals do not divide the {size} of {where}; "
                    'outside="extend" lets the last ones stick out'
                )
            copies += 1
            extents = slowest_replaced(extents, self.order, span * copies - 1)
        if copies > 1:
            gaps.append((copies, span))
        rest = Piece(*from_modes(gaps, self.order), 0)
        return extents, Piece(piece.extents, piece.strides, piece.offset, rest)

    def _gaps(self, piece: Piece, size: int, where: str) -> tuple[list[Mode], int]:
        """Return the modes between the modes of a tile, and how many ordinals all span."""
        if not size:
            raise LayoutError(f"{self.what}: {where} has no element to divide")
        modes, least = rising_modes(piece.extents, piece.strides, piece.offset, self.order, self.what)
        if least:
            raise LayoutError(f"{self.what}: the first tile of {where} begins at ordinal {least}, not at 0")
        gaps, span, leftover = filled(modes)
        if leftover is not None:
            raise LayoutError(f"{self.what}: the tiles leave ordinals of {where} out: {leftover}")
        return gaps, span


def _scaled(piece: Piece, step: int) -> _Pair:
    return piece.extents, piece.strides if step == 1 else map_tree(piece.strides, step)


def _whole(extents: IntTree, order: OrdinalOrder, step: int) -> _Pair:
    return extents, compact(extents, order, step)


def _weights(modes: tuple[IntTree, ...], order: OrdinalOrder, step: int) -> list[int]:
    return leaves(compact(tuple([size_of(mode) for mode in modes]), order, step))


def _joined(extents: IntTree, plan: Plan, order: OrdinalOrder, step: int) -> tuple[_Pair, int]:
    """Return the ordinals with each tiled mode as a pair of tile and rest, and where they start."""
    if plan is None:
        return _whole(extents, order, step), 0
    if isinstance(plan, Piece):
        tile, rest = _scaled(plan, step), _scaled(cast("Piece", plan.rest), step)
        return ((tile[0], rest[0]), (tile[1], rest[1])), plan.offset * step
    modes = as_modes(extents)
    plans = (*plan, *[None] * (len(modes) - len(plan)))
    weights = _weights(modes, order, step)
    found = [_joined(mode, part, order, w) for mode, part, w in zip(modes, plans, weights, strict=True)]
    pairs = [pair for pair, _ in found]
    return (tuple([e for e, _ in pairs]), tuple([s for _, s in pairs])), sum([start for _, start in found])


def _halves(extents: IntTree, plan: Plan, order: OrdinalOrder, step: int) -> tuple[_Pair, _Pair, int]:
    """Return the ordinals in tiles, those of the tiles, and where they start."""
    modes = as_modes(extents)
    if isinstance(plan, Piece):
        return _scaled(plan, step), _scaled(cast("Piece", plan.rest), step), plan.offset * step
    weights = _weights(modes, order, step)
    if plan is None:
        if isinstance(extents, int) or len(modes) != 2:
            raise LayoutError(
                f"a mode that is left as it is must have two modes, a tile and a rest, not {extents}"
            )
        tile, rest = [_whole(mode, order, w) for mode, w in zip(modes, weights, strict=True)]
        return tile, rest, 0
    found = [_halves(mode, part, order, w) for mode, part, w in zip(modes, plan, weights, strict=False)]
    others = [_whole(mode, order, w) for mode, w in list(zip(modes, weights, strict=True))[len(plan) :]]
    rests = [*[rest for _, rest, _ in found], *others]
    return (
        (tuple([tile[0] for tile, _, _ in found]), tuple([tile[1] for tile, _, _ in found])),
        (tuple([rest[0] for rest in rests]), tuple([rest[1] for rest in rests])),
        sum([start for _, _, start in found]),
    )
