"""The same elements in the same order with the fewest modes: what copies and comparisons start from."""

from typing import Any

from tensorwrapper.layout.axes._axis import AxisMap, Based, Cycle, Stride
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._separable import from_axes
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.typing import Extents


def simplify(layout: LayoutCommon) -> LayoutCommon:
    """Return a layout with the fewest modes and the same offsets in row-major order; it starts at zero.

    Modes of extent 1 are dropped, and neighbours are merged if the outer continues the inner. A layout of
    another kind becomes one mode if it is contiguous, and else does not change. O(modes).
    """
    layout = layout.without_layers()
    if layout.has_mode_maps:
        return _of_axes(layout)
    # Whether a composite is contiguous is known only when all its offsets are.
    if layout.is_composite or not layout.is_contiguous:
        return layout
    return Strided(_box((layout.shape.size,)), (1,), layout.offset)


def _box(extents: Extents) -> Shape[Any]:
    return wrap(make_smooth(extents, (0,) * len(extents)))


def _of_axes(layout: LayoutCommon) -> LayoutCommon:
    base, axes = layout.mode_maps("simplify")
    if any(axis.extent == 0 for axis in axes):
        return Strided(_box((0,)), (1,), layout.offset)
    fewest: list[AxisMap] = []
    for axis in axes:
        if axis.extent == 1:
            base += axis.at(0)
            continue
        joined = _joined(fewest[-1], axis) if fewest else None
        if joined is None:
            fewest.append(axis)
        else:
            base += joined[0]
            fewest[-1] = joined[1]
    return from_axes(_box(tuple([axis.extent for axis in fewest])), base, tuple(fewest))


def _joined(outer: AxisMap, inner: AxisMap) -> "Based | None":
    """Return the map of two modes counted together, if there is one; two strides never become a cycle."""
    if isinstance(inner, Stride):
        reach = inner.extent * inner.step
        if isinstance(outer, Stride) and outer.step == reach:
            return 0, Stride(outer.extent * inner.extent, inner.step)
        if isinstance(outer, Cycle) and outer.divisor == 1 and abs(outer.increment) == 1:
            return _wound(outer, inner) if outer.step * outer.increment == reach else None
        return None
    if isinstance(outer, Stride) and isinstance(inner, Cycle):
        return _dwelling(outer, inner)
    return None


def _wound(outer: Cycle, inner: Stride) -> Based:
    """Return a cycle over whole runs of the inner mode as a cycle over its positions."""
    count, turn = inner.extent, outer.increment
    # A run that is gone through backwards starts at its end.
    start = outer.start * count + (count - 1 if turn < 0 else 0)
    modulus = None if outer.modulus is None else outer.modulus * count
    fine = Cycle(outer.extent * count, start, turn, modulus, 1, inner.step * turn)
    base, simple = fine.simplify()
    return base + outer.at(0) - fine.at(0), simple


def _dwelling(outer: Stride, inner: Cycle) -> "Based | None":
    """Return an inner mode that repeats each position, continued by the outer one."""
    whole = inner.modulus is None and inner.increment == 1 and inner.extent % inner.divisor == 0
    if not whole or outer.step * inner.divisor != inner.step * inner.extent:
        return None
    return Cycle(outer.extent * inner.extent, inner.start, 1, None, inner.divisor, inner.step).simplify()
