"""Merge pieces of a mode into one view: continued, interleaved, or repeated constants."""

from typing import Any, TypeAlias

from tensorwrapper.layout import AxisMap, Layout, Stride
from tensorwrapper.layout.lowlevel import new_strided, over_box, wrap_layout
from tensorwrapper.selection.expressions._axis_pieces import Piece
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.transforms._maps import maps_of
from tensorwrapper.typing import Extents, Index

__all__ = ["merged"]

_Box: TypeAlias = "tuple[Extents, Index, Index, int]"
"""Extents, origin, strides and offset of a layout in strides."""


def merged(pieces: list[Piece], mode: int) -> list[Piece]:
    """Return the same positions in fewer pieces, where one layout or constant says several; in order."""
    # Turns first: of three turns over four positions, the last two also follow one another.
    found = _interleaved(pieces, mode)
    return _interleaved(_joined(pieces, mode), mode) if len(found) > 1 else found


def _joined(pieces: list[Piece], mode: int) -> list[Piece]:
    """Return pieces of which no two neighbours without gaps are one."""
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last is not None and last.step == piece.step == 1 and last.start + last.count(mode) == piece.start:
            view = _continued(last.view, piece.view, mode)
            if view is not None:
                merged[-1] = Piece(last.start, 1, view)
                continue
        merged.append(piece)
    return merged


def _continued(first: Expression, second: Expression, mode: int) -> Expression | None:
    """Return the view of two that follow one another along a mode, if one layout or constant says both."""
    a, b = first.node, second.node
    extents = first.extents
    counts = extents[mode], second.extents[mode]
    together = (*extents[:mode], sum(counts), *extents[mode + 1 :])
    if isinstance(a, Filling) and a.is_like(b):
        return a.over(together)
    if not a.is_leaf:
        return None
    one, two = first.layout.implementation.strided_box(), second.layout.implementation.strided_box()
    if one is not None and two is not None:
        # The short way, without axis maps; most pieces fail here, and are not compared.
        layout = _one_line(together, one, two, mode)
        return None if layout is None or a != b else Expression(a, layout)
    if a != b:
        return None
    here, there = maps_of(first.layout), maps_of(second.layout)
    if here is None or there is None:
        return None
    (base, axes), (further, others) = here, there
    steps = axes[mode], others[mode]
    if not isinstance(steps[0], Stride) or not isinstance(steps[1], Stride):
        return None
    if axes[:mode] + axes[mode + 1 :] != others[:mode] + others[mode + 1 :]:
        return None
    step = steps[0].step if counts[0] > 1 else further - base
    if (counts[1] > 1 and steps[1].step != step) or further != base + step * counts[0]:
        return None
    return _strided(first, base, axes, mode, Stride(sum(counts), step))


def _one_line(extents: Extents, one: _Box, two: _Box, mode: int) -> Layout[Any] | None:
    """Return the layout of two in strides that follow one another along a mode, if it has strides, too."""
    counts, _, strides, base = one
    further, steps = two[3], two[2]
    step = strides[mode] if counts[mode] > 1 else further - base
    if further != base + step * counts[mode] or (two[0][mode] > 1 and steps[mode] != step):
        return None
    if strides[:mode] + strides[mode + 1 :] != steps[:mode] + steps[mode + 1 :]:
        return None
    steps = (*strides[:mode], step, *strides[mode + 1 :])
    return wrap_layout(new_strided(extents, (0,) * len(extents), steps, base))


def _interleaved(pieces: list[Piece], mode: int) -> list[Piece]:
    """Return one piece if all of them take turns and one layout says them all, else the pieces."""
    if not _take_turns(pieces, mode):
        return pieces
    first, many = pieces[0].view, len(pieces)
    maps = [found for piece in pieces if (found := maps_of(piece.view.layout)) is not None]
    if len(maps) < many:
        return pieces
    base, axes = maps[0]
    step = maps[1][0] - base
    for number, (own_base, own_axes) in enumerate(maps):
        own = own_axes[mode]
        if own_base != base + step * number or not isinstance(own, Stride):
            return pieces
        if own.extent > 1 and own.step != step * many:
            return pieces
        if own_axes[:mode] + own_axes[mode + 1 :] != axes[:mode] + axes[mode + 1 :]:
            return pieces
    total = sum([piece.count(mode) for piece in pieces])
    return [Piece(0, 1, _strided(first, base, axes, mode, Stride(total, step)))]


def _take_turns(pieces: list[Piece], mode: int) -> bool:
    """Return True if pieces are the first, the second and so on of equal turns, and of one source."""
    many, node = len(pieces), pieces[0].view.node
    return (
        many > 1
        and pieces[1].start == 1  # Most do not take turns, and are found out here.
        and all(piece.start == n for n, piece in enumerate(pieces))
        and all(piece.step == many or piece.count(mode) == 1 for piece in pieces)
        and node.is_leaf
        and not node.is_constant
        and all(piece.view.node == node for piece in pieces)
    )


def _strided(view: Expression, base: int, axes: tuple[AxisMap, ...], mode: int, axis: Stride) -> Expression:
    maps = (*axes[:mode], axis, *axes[mode + 1 :])
    extents = tuple([own.extent for own in maps])
    return Expression(view.node, wrap_layout(over_box(extents, (0,) * len(extents), base, maps)))
