"""Arguments and results of the algebra: layouts in parts."""

from typing import Literal, TypeAlias, get_args

from tensorwrapper._error_text import brief
from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout._layout import Layout, wrap_layout
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._hierarchical import Hierarchical, make_strided
from tensorwrapper.layout.boxes._hierarchy import IntTree, OrdinalOrder, modes_of
from tensorwrapper.layout.operations._composite import Stage, make_composite

AnyLayout: TypeAlias = Layout
"""A layout of any rank."""

InexactPolicy: TypeAlias = Literal["composite", "raise"]
"""Policy if no single layout is exact: return the exact composite, or raise."""

OutOfBoundsPolicy: TypeAlias = Literal["raise", "extend"]
"""Policy if an operand is exceeded: raise, or extend its slowest mode, as CuTe does."""

Parts: TypeAlias = tuple[IntTree, IntTree, int, OrdinalOrder, tuple[Stage, ...]]
"""Extents, strides, offset, order, and the stages that come after."""

Rising: TypeAlias = tuple[int, int, int, int]
"""Stride, extent and weight of a mode, made to rise, and 1 or -1 for how it went before."""


def parts_of(layout: AnyLayout, what: str) -> Parts:
    """Return the parts of a layout; ``what`` is the operation, for errors.

    Raises
    ------
    ConversionError
        If it is not a layout.
    LayoutError
        If it is over a jagged shape, gathers, or does not start at zero.
    """
    # All these classes are final: asking for the type is many times cheaper than for an instance, which
    # abstract classes answer themselves.
    if type(layout) is not Layout:
        raise ConversionError(f"{what} takes layouts, not {brief(layout)}; Layout.parse reads CuTe's text")
    implementation: LayoutCommon = layout.implementation
    parts = implementation.algebra_parts()
    if parts is not None:
        return parts
    if implementation.mode_tree is None:
        raise LayoutError(f"{what} takes layouts with one stride per mode, not {layout!r}")
    raise LayoutError(f"{what} takes layouts whose indices start at 0, not over {implementation.shape!r}")


def strided_parts(layout: AnyLayout, what: str) -> tuple[IntTree, IntTree, int, OrdinalOrder]:
    """Return what a layout is made of that is not a composite."""
    extents, strides, offset, order, stages = parts_of(layout, what)
    if stages:
        raise LayoutError(f"{what} takes a layout of strides, not the composite {layout}")
    return extents, strides, offset, order


def finish(
    extents: IntTree, strides: IntTree, offset: int, order: OrdinalOrder, stages: tuple[Stage, ...] = ()
) -> AnyLayout:
    """Return the layout that is made of these parts."""
    if stages:
        return wrap_layout(make_composite(stages, Hierarchical(extents, strides, offset, order)))
    return wrap_layout(make_strided(extents, strides, offset, order))


def check_orders(first: OrdinalOrder, second: OrdinalOrder, what: str) -> None:
    """Raise if two operands count their ordinals in different orders."""
    if first != second:
        raise LayoutError(
            f'{what}: one operand is in order "{first}", the other in "{second}"; none is guessed'
        )


_EXACT: tuple[str, ...] = get_args(InexactPolicy)
_OUTSIDE: tuple[str, ...] = get_args(OutOfBoundsPolicy)


def check_exact(exact: object) -> None:
    """Raise if this is not a valid policy for results without a single exact layout."""
    if not isinstance(exact, str) or exact not in _EXACT:
        raise ConversionError(f'exact must be "composite" or "raise", not {exact!r}')


def check_outside(outside: object) -> None:
    """Raise if this is not a valid policy for exceeded operands."""
    if not isinstance(outside, str) or outside not in _OUTSIDE:
        raise ConversionError(f'outside must be "raise" or "extend", not {outside!r}')


def rising_modes(
    extents: IntTree, strides: IntTree, offset: int, order: OrdinalOrder, what: str
) -> tuple[list[Rising], int]:
    """Return the modes that move, all made to rise, by stride, and the least offset.

    A mode that goes down is counted from its end. The weight of a mode is the step of the ordinal.

    Raises
    ------
    LayoutError
        If there is no element.
    """
    found: list[Rising] = []
    weight, least = 1, offset
    for extent, stride in modes_of(extents, strides, order):
        if extent > 1 and stride:
            found.append((abs(stride), extent, weight, 1 if stride > 0 else -1))
            least += min(stride, 0) * (extent - 1)
        weight *= extent
    if not weight:
        raise LayoutError(f"{what} of a layout without elements is not defined")
    found.sort()
    return found, least


def as_modes(tree: IntTree) -> tuple[IntTree, ...]:
    """Return the trees of the modes; a leaf is its own only mode."""
    return (tree,) if isinstance(tree, int) else tree
