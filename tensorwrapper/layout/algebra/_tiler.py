"""Tilers: the ordinals of a layout, or of each of its modes, that make a tile.

A tiler is a layout of ordinals, an integer n, which means ``n:1``, or a tuple with one tiler per mode, in
which None keeps a mode unchanged. A tuple may be shorter than the modes: it applies to the first of them, in
either order.
"""

from typing import SupportsIndex, TypeAlias, cast, final

from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout._layout import Layout
from tensorwrapper.layout.algebra._operand import (
    AnyLayout,
    OutOfBoundsPolicy,
    as_modes,
    check_orders,
    strided_parts,
)
from tensorwrapper.layout.boxes._hierarchy import (
    IntTree,
    OrdinalOrder,
    leaf_modes,
    size_of,
    slowest_replaced,
    tree_text,
)
from tensorwrapper.layout.pictures._text import check_length, split_tiler

Tiler: TypeAlias = "Layout | SupportsIndex | tuple[Tiler, ...] | None"
"""A layout of ordinals, an integer n for ``n:1``, or a tuple with a tiler (or None) per mode."""


def bounds_of(extents: IntTree, strides: IntTree, offset: int) -> tuple[int, int]:
    """Return the least and the greatest offset; (0, -1) if there is none."""
    least = greatest = offset
    for extent, stride in leaf_modes(extents, strides):
        if not extent:
            return 0, -1
        reach = (extent - 1) * stride
        if reach < 0:
            least += reach
        else:
            greatest += reach
    return least, greatest


@final
@frozen
class Piece:
    """A layout of ordinals: a parsed tiler."""

    extents: IntTree
    strides: IntTree
    offset: int
    rest: "Piece | None" = None
    """Where the copies of the piece begin, once a division has found out."""

    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest ordinal of one copy; (0, -1) if there is none."""
        return bounds_of(self.extents, self.strides, self.offset)


Plan: TypeAlias = "Piece | tuple[Plan, ...] | None"
"""A tiler that was read."""


def plan_of(tiler: Tiler, order: OrdinalOrder, what: str) -> Plan:
    """Return a tiler with its layouts taken apart; their order must be that of the layout to be tiled."""
    if isinstance(tiler, tuple):
        return tuple([plan_of(part, order, what) for part in tiler])
    return None if tiler is None else piece_of(tiler, order, what)


def piece_of(tiler: "AnyLayout | SupportsIndex", order: OrdinalOrder, what: str) -> Piece:
    """Return one layout of a tiler taken apart."""
    if type(tiler) is Layout:
        extents, strides, offset, own = strided_parts(tiler, what)
        check_orders(order, own, what)
        return Piece(extents, strides, offset)
    count = to_int(tiler, f"a tiler of {what}")
    if count < 1:
        raise LayoutError(f"{what} by {count}: a tile has at least one element")
    return Piece(count, 1, 0)


def fit_bounds(
    extents: IntTree, bounds: tuple[int, int], order: OrdinalOrder, outside: OutOfBoundsPolicy, where: str
) -> IntTree:
    """Return extents that hold the ordinals from one to another; see `fit`."""
    least, greatest = bounds
    size = size_of(extents)
    if least >= 0 and greatest < size:
        return extents
    extendable = least >= 0 and size > 0 and extents != ()
    if outside == "raise" or not extendable:
        raise LayoutError(
            f"ordinals from {least} to {greatest} are needed, outside those of {where}, which go from 0 "
            f"to {size - 1}{_HINT if extendable else ''}"
        )
    return slowest_replaced(extents, order, greatest)


def fit(
    extents: IntTree, plan: Plan, order: OrdinalOrder, outside: OutOfBoundsPolicy, where: str = "the layout"
) -> IntTree:
    """Return extents that hold all ordinals of a plan; only the slowest mode may grow, and only if allowed.

    Raises
    ------
    LayoutError
        If the plan needs other ordinals than there are, or has entries for modes that do not exist.
    """
    if plan is None:
        return extents
    if isinstance(plan, Piece):
        return fit_bounds(extents, plan.bounds(), order, outside, where)
    parts = as_modes(extents)
    check_entries(plan, parts, where)
    fitted = [
        fit(part, entry, order, outside, f"mode {k} of {where}")
        for k, (part, entry) in enumerate(zip(parts, plan, strict=False))
    ]
    if isinstance(extents, int):
        return fitted[0] if fitted else extents
    return (*fitted, *parts[len(fitted) :])


_HINT = '; outside="extend" lets the slowest mode count on'


def check_entries(plan: tuple[object, ...], parts: tuple[IntTree, ...], where: str) -> None:
    """Raise if a tiler has entries for modes that do not exist."""
    if len(plan) > len(parts):
        raise LayoutError(
            f"a tiler with {len(plan)} entries does not fit {where}, {tree_text(parts)}: {len(parts)} modes"
        )


def parse_tiler(text: str, *, order: OrdinalOrder = "lex") -> Tiler:
    """Return the tiler of CuTe's `text`: ``[4:1;(2,2):(1,8);_]``, or a single layout.

    Raises
    ------
    LayoutError
        If the text is not a tiler.

    Examples
    --------
    >>> from tensorwrapper.layout import parse_tiler, tiler_text
    >>> tiler = parse_tiler("[4:1;[2:1;_]]")
    >>> str(tiler[0]), len(tiler[1]), tiler[1][1], tiler_text(tiler)
    ('4:1', 2, None, '[4:1;[2:1;_]]')
    """
    if not isinstance(cast("object", text), str):
        raise ConversionError(f"a tiler is parsed from text, not from {brief(text)}")
    check_length(text)
    return _parsed(text.strip(), order)


def _parsed(text: str, order: OrdinalOrder) -> Tiler:
    if text == "_":
        return None
    if text.startswith("["):
        return tuple([_parsed(part.strip(), order) for part in split_tiler(text)])
    return Layout.parse(text, order=order)


def tiler_text(tiler: Tiler) -> str:
    """Return a tiler as CuTe writes it."""
    if tiler is None:
        return "_"
    if isinstance(tiler, tuple):
        return f"[{';'.join([tiler_text(part) for part in tiler])}]"
    return str(tiler) if isinstance(tiler, Layout) else f"{to_int(tiler, 'a tiler')}:1"
