"""Wire-Cell's tensor data model: sets of tensors, which name one another by paths, and trees of point clouds.

Sets come from files (`tensorwrapper.open`, whose `TensorSetFile` has them) and from messages, and go there.
"""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.wirecell._paths import DataItem, DataTree
    from tensorwrapper.wirecell._point_tree import PointTree
    from tensorwrapper.wirecell._tensor_set import TensorSet

__all__ = ["DataItem", "DataTree", "PointTree", "TensorSet"]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_paths": ("DataItem", "DataTree"),
            "_point_tree": ("PointTree",),
            "_tensor_set": ("TensorSet",),
        },
    )
