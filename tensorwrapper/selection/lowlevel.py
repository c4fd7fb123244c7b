"""What those who add a node of views may use of selections beside the public names.

A node is one class over `Node` (public), made known by `register_node`;
``tensorwrapper.testing.NodeContract`` tests it.

**Where elements come from**: a `Transform` is what ``selected`` is given: for each mode of the node's box a
`Coordinate`, the position there as a sum of what the modes of the view add; coordinates are added and
multiplied. `pushed` is the part of an operand that a transform selects.
"""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.selection.expressions._ordinals import pushed
    from tensorwrapper.selection.transforms._transform import Coordinate, Transform

__all__ = ["Coordinate", "Transform", "pushed"]

if not TYPE_CHECKING:  # for checkers there are the names above, and no others
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "expressions._ordinals": ("pushed",),
            "transforms._transform": ("Coordinate", "Transform"),
        },
    )
