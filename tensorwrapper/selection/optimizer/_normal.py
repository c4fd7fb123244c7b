"""The normal form: selections pushed into operands as far as they go, and pieces that fit made one.

Nothing is computed here. The normal form of a chain over one source is its layout; that of any other view is
a tree of pieces, each of them one layout of one source or generator. How far a selection goes into a node is
the node's to say (`Node.lowered`, `Node.selected`).
"""

from typing import Any, cast

import attrs

from tensorwrapper.errors import ConversionError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import (
    new_row_major,
    wrap_layout,
)
from tensorwrapper.selection.expressions._expression import Expression, Normalize, at_zero, check_boxes, whole
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.expressions._ordinals import Whole, pushed, sampled
from tensorwrapper.selection.expressions._routing import handed_on, settled
from tensorwrapper.selection.jagged._flatten import in_order
from tensorwrapper.selection.transforms._layouts import box
from tensorwrapper.selection.transforms._maps import canonical, maps_of, moved
from tensorwrapper.selection.transforms._transform import Transform, take_apart

__all__ = ["normalized"]


def normalized(view: Expression, normalize: Normalize) -> Expression:
    """Return the normal form of a view: the same elements at the same indices.

    `normalize` returns that of the parts of operands that the view selects.
    """
    node = view.node
    if not view.is_box:
        if node.is_leaf:
            return Expression(node, view.layout)
        if len(node.extents) == 1:
            # Rows are ordinals: the elements are a box of rank 1, under the rows of the view.
            return Expression(Whole(normalize(in_order(view))), Layout(view.shape))
        return _as_it_lies(view, normalize)
    extents = view.extents
    if node.is_constant or 0 in extents:
        value = _nothing(node.dtype) if 0 in extents else cast("Filling", node).value
        return _placed(whole(Filling(box(extents), value, node.dtype)), view)
    if node.is_leaf:
        return Expression(node, canonical(view.layout))
    return _placed(_lowered(view, normalize), view)


def _nothing(dtype: Any) -> object:  # noqa: ANN401 - a type of elements
    return "" if dtype.kind in "TSUO" else 0


def _placed(found: Expression, view: Expression) -> Expression:
    """Return a view with the origin of another one of its extents."""
    origin = view.origin
    return found if found.origin == origin else Expression(found.node, moved(found.layout, origin, 0))


def _lowered(view: Expression, normalize: Normalize) -> Expression:
    """Return the normal form of a view over a node with operands."""
    node = view.node
    lowered = node.lowered()
    if lowered is not node:
        return normalize(Expression(lowered, view.layout))
    handed = handed_on(at_zero(view), normalize)
    if handed is not None:
        return handed
    transform = take_apart(view.layout, node.extents)
    if transform is not None:
        transform = attrs.evolve(transform, origin=(0,) * len(transform.extents))
        found = node.selected(transform, normalize)
        if found is not None:
            return found
        if node.is_cellwise:
            check_boxes(node)
            return sampled(node, transform, normalize)
    return _spread(view, normalize)


def _spread(view: Expression, normalize: Normalize) -> Expression:
    """Return a view whose node is evaluated only for the rows of its first mode that the layout reaches."""
    node, ordered = view.node, view.node.ordered
    if maps_of(view.layout) is None or (ordered is not None and maps_of(ordered.layout) is None):
        return _as_it_lies(view, normalize)
    least, greatest = view.layout.bounds()
    row = node.size // node.extents[0]
    first, last = least // row, greatest // row
    rows = wrap_layout(new_row_major(node.extents))[first : last + 1]
    if ordered is None and rows == view.layout:
        raise ConversionError(
            f"{node.name!r} is not cellwise, and does not say what rows of it are: it needs `selected`, "
            "`lowered` or `ordered`"
        )
    if ordered is not None:
        transform = cast("Transform", take_apart(rows, node.extents))  # A slice moves each mode by itself.
        inner = pushed(ordered, transform)
    else:
        inner = Expression(node, rows)
    layout = moved(view.layout, (0,) * view.shape.rank, first * row)
    return settled(normalize(inner), layout, normalize)


def _as_it_lies(view: Expression, normalize: Normalize) -> Expression:
    """Return a view of all elements of its node in their order, where they are not taken apart."""
    node, ordered = view.node, view.node.ordered
    inner = normalize(whole(node) if ordered is None else ordered)
    return Expression(Whole(inner), canonical(view.layout))
