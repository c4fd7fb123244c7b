"""Inverses: from offsets back to ordinals."""

import itertools
from contextlib import suppress

from tensorwrapper.errors import LayoutError
from tensorwrapper.layout.algebra._carry import merged
from tensorwrapper.layout.algebra._operand import (
    AnyLayout,
    OutOfBoundsPolicy,
    Rising,
    check_outside,
    finish,
    rising_modes,
    strided_parts,
)
from tensorwrapper.layout.boxes._hierarchy import IntTree, Mode, OrdinalOrder, from_modes, leaves, size_of


def right_inverse(layout: AnyLayout) -> AnyLayout:
    """Return the layout that maps each offset from 0 on to an ordinal of `layout` with that offset.

    Law: ``A.offset_of_ordinal(right_inverse(A).offset_of_ordinal(i)) == i`` for every i below the size of the
    inverse. This size is the largest that whole modes of A reach without a gap: 1 if no mode has stride 1.
    Modes of stride 0 and unneeded modes stay at their first position.

    Parameters
    ----------
    layout
        A layout of strides with offset 0; or one whose descending modes end at offset 0.

    Raises
    ------
    LayoutError
        If no ordinal is known to have offset 0, or the layout is empty.

    Notes
    -----
    O(rank log rank) unless strides repeat. Source: the layout algebra of NVIDIA's CuTe, as the CUTLASS
    documentation describes it; of several modes with one stride the longest is taken.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import right_inverse
    >>> A = Layout.parse("(3,5,2):(2,0,1)")
    >>> R = right_inverse(A)
    >>> str(R), [A.offset_of_ordinal(R.offset_of_ordinal(i)) for i in range(6)]
    ('(3,2):(10,1)', [0, 1, 2, 3, 4, 5])
    >>> str(right_inverse(Layout.parse("(4,2):(10,1)"))), str(right_inverse(Layout.parse("4:2")))
    ('2:1', '1:0')
    """
    extents, strides, offset, order = strided_parts(layout, "right_inverse")
    modes, least = rising_modes(extents, strides, offset, order, "right_inverse")
    if least and offset:
        raise LayoutError(
            f"no ordinal of {layout} is known to have offset 0: the first has {offset}, the least is {least}"
        )
    if least:
        # Modes that go down leave 0 at once; they stay at their first position, which has offset 0.
        modes = [mode for mode in modes if mode[3] > 0]
    chain = _longest_chain(modes, 1)
    start = sum([weight * (extent - 1) for _, extent, weight, sign in modes if sign < 0])
    return _made([(extent, weight * sign) for _, extent, weight, sign in chain], start, order)


def _longest_chain(modes: list[Rising], span: int) -> list[Rising]:
    """Return the modes whose strides follow one another without gaps from `span` on, to the furthest end."""
    best: list[Rising] = []
    reached = span
    for mode in modes:
        if mode[0] == span:
            chain = [mode, *_longest_chain(modes, span * mode[1])]
            end = chain[-1][0] * chain[-1][1]
            if end > reached:
                best, reached = chain, end
    return best


def _made(modes: list[Mode], start: int, order: OrdinalOrder) -> AnyLayout:
    return finish(*from_modes(merged(modes), order), start, order)


def left_inverse(layout: AnyLayout, *, outside: OutOfBoundsPolicy = "raise") -> AnyLayout:
    """Return the layout that maps each offset of `layout` to an ordinal with that offset.

    Law: ``A.offset_of_ordinal(L.offset_of_ordinal(A.offset_of_ordinal(k))) == A.offset_of_ordinal(k)`` for
    every ordinal k of A; if all offsets are distinct, ``L.offset_of_ordinal(A.offset_of_ordinal(k)) == k``.
    At ordinals that are not offsets of A the value of the inverse is meaningless.

    Digits of an offset can be separated if, ordered by size, each stride divides the next, and each mode ends
    before the next begins. Modes of stride 0 stay at their first position.

    Parameters
    ----------
    layout
        A layout of strides with the least offset 0.
    outside
        "extend" allows overlapping modes, if the slowest mode of both layouts can compensate by continuing
        beyond its extent, as in CuTe. The first law then holds for the extended layouts.

    Raises
    ------
    LayoutError
        If the least offset is not 0, a stride does not divide the next, or modes overlap. The text names
        them, and the result with ``outside="extend"``. Also if the layout is empty.

    Notes
    -----
    O(rank log rank). Source: the layout algebra of NVIDIA's CuTe, as the CUTLASS documentation describes it,
    with other conditions.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import left_inverse
    >>> A = Layout.parse("(4,2):(1,10)")
    >>> L = left_inverse(A)
    >>> str(L), [L.offset_of_ordinal(A.offset_of_ordinal(k)) for k in range(8)]
    ('(2,10):(1,2)', [0, 1, 2, 3, 4, 5, 6, 7])
    >>> left_inverse(Layout.parse("(4,2):(3,2)"))
    Traceback (most recent call last):
    tensorwrapper.errors.LayoutError: the stride 2 does not divide the next, 3, so offsets have ...
    """
    check_outside(outside)
    extents, strides, offset, order = strided_parts(layout, "left_inverse")
    modes, least = rising_modes(extents, strides, offset, order, "left_inverse")
    if least:
        raise LayoutError(f"an inverse takes offsets from 0 on, but the least offset of {layout} is {least}")
    start = sum([weight * (extent - 1) for _, extent, weight, sign in modes if sign < 0])
    if outside == "extend" and not start:
        return _made(_overlapping_digits(modes, extents, order), 0, order)
    try:
        return _made(_digits(modes), start, order)
    except LayoutError as error:
        if start:
            raise
        wide = None
        with suppress(LayoutError):
            wide = _made(_overlapping_digits(modes, extents, order), 0, order)
        if wide is None:
            raise
        hint = f'outside="extend" gives {wide}, which leads beyond the slowest mode'
        raise LayoutError(f"{error}; {hint}") from None


def _digits(modes: list[Rising]) -> list[Mode]:
    """Return the modes of the inverse, fastest first, of modes that do not overlap."""
    found: list[Mode] = [(modes[0][0], 0)] if modes else []
    for (stride, extent, weight, sign), (following, count, _, _) in itertools.pairwise(modes):
        ratio = _ratio(stride, following)
        if ratio < extent:
            raise LayoutError(
                f"the modes {extent}:{stride} and {count}:{following} overlap, so offsets do not tell their "
                "positions apart"
            )
        found.append((ratio, weight * sign))
    return [*found, *[(extent, weight * sign) for _, extent, weight, sign in modes[-1:]]]


def _ratio(stride: int, following: int) -> int:
    ratio, over = divmod(following, stride)
    if over:
        raise LayoutError(
            f"the stride {stride} does not divide the next, {following}, so offsets have no digits"
        )
    return ratio


def _overlapping_digits(modes: list[Rising], extents: IntTree, order: OrdinalOrder) -> list[Mode]:
    """Return the modes of the inverse where the slowest mode of the layout counts on beyond its extent."""
    if not modes:
        return []
    modes = sorted(modes, key=lambda mode: (mode[0], mode[2]))
    numbers = leaves(extents)
    slowest = size_of(extents) // numbers[0 if order == "lex" else -1]
    try:
        return _reaching(modes, slowest, all_digits=False)
    except LayoutError:
        # The slowest mode reaches whatever the wider ones do, if all offsets are multiples of the finest.
        place = next((k for k, mode in enumerate(modes) if mode[2] == slowest), None)
        if place is None or any(mode[0] % modes[0][0] for mode in modes):
            raise
        return _reaching(modes[: place + 1], slowest, all_digits=True)


def _reaching(modes: list[Rising], slowest: int, *, all_digits: bool) -> list[Mode]:
    """Return the modes of the inverse, if the digits of every offset are positions.

    ``slowest`` is the weight of the mode whose positions do not end; with ``all_digits`` any digit may occur.
    """
    found: list[Mode] = [(modes[0][0], 0)]
    most = 0  # maximum of the present digit, including carries from overlapping finer modes
    for (stride, extent, weight, _), (following, _, _, _) in itertools.pairwise(modes):
        ratio = _ratio(stride, following)
        most += extent - 1
        if ratio > extent and weight != slowest and (all_digits or most >= extent):
            raise LayoutError(f"offsets have digits up to {most} in the mode {extent}:{stride}")
        most //= ratio
        found.append((ratio, weight))
    stride, extent, weight, _ = modes[-1]
    if most and weight != slowest:
        raise LayoutError(
            f"finer modes reach into {extent}:{stride}, which is not the slowest mode, so it cannot count on"
        )
    return [*found, (extent, weight)]
