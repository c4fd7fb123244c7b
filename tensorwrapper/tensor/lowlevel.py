"""What upper floors and those who extend this one may use of tensors, beside the public names."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import Names, OfName, lazy_names

if TYPE_CHECKING:
    from tensorwrapper.tensor._advanced import (
        ArrayKey,
        addresses_of_key,
        is_basic,
        positions_of,
        split_points,
        to_items,
    )
    from tensorwrapper.tensor._common import TensorCommon
    from tensorwrapper.tensor._facade import guard
    from tensorwrapper.tensor._operators import Operators
    from tensorwrapper.tensor._tensor import make_tensor
    from tensorwrapper.tensor._writes import fit_extents, fit_values

__all__ = [
    "ArrayKey",
    "Operators",
    "TensorCommon",
    "addresses_of_key",
    "fit_extents",
    "fit_values",
    "guard",
    "is_basic",
    "make_tensor",
    "positions_of",
    "split_points",
    "to_items",
]

__getattr__: OfName
__dir__: Names
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_advanced": ("ArrayKey", "addresses_of_key", "is_basic", "positions_of", "split_points", "to_items"),
        "_common": ("TensorCommon",),
        "_facade": ("guard",),
        "_operators": ("Operators",),
        "_tensor": ("make_tensor",),
        "_writes": ("fit_extents", "fit_values"),
    },
)
