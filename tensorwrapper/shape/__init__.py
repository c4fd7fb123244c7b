"""Which indices exist: shapes of every kind, tilings, and iteration over them.

`Shape` is the class to use. The mixins `SmoothCommon`, `JaggedCommon` and `NestedCommon` are for those who
add a representation of their own; `as_shape` puts any of them behind the facade.

Tilings are loaded when they are first used: a tenth of what shapes cost to import.
"""

import importlib
from typing import TYPE_CHECKING

from tensorwrapper.shape._blocks import BlockTable
from tensorwrapper.shape._common import ShapeCommon
from tensorwrapper.shape._indices import IndexIterator, Indices
from tensorwrapper.shape._jagged import Jagged, JaggedCommon, JaggedView
from tensorwrapper.shape._nested import Nested, NestedCommon, NestedView
from tensorwrapper.shape._partition import Partition
from tensorwrapper.shape._queries import ShapeLike
from tensorwrapper.shape._rows import CellTable, Rows
from tensorwrapper.shape._shape import Shape, as_shape
from tensorwrapper.shape._smooth import Smooth, SmoothCommon, SmoothView
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.shape._triangular import Triangular

if TYPE_CHECKING:
    from tensorwrapper.shape._retile import Overlaps as Overlaps
    from tensorwrapper.shape._retile import RetileCost as RetileCost
    from tensorwrapper.shape._retile import RetilePieces as RetilePieces
    from tensorwrapper.shape._retile import RetilePlan as RetilePlan
    from tensorwrapper.shape._tiling import Tiling as Tiling

__all__ = [
    "BlockTable",
    "CellTable",
    "IndexIterator",
    "Indices",
    "Jagged",
    "JaggedCommon",
    "JaggedView",
    "Nested",
    "NestedCommon",
    "NestedView",
    "Overlaps",
    "Partition",
    "RetileCost",
    "RetilePieces",
    "RetilePlan",
    "Rows",
    "Shape",
    "ShapeCommon",
    "ShapeLike",
    "Smooth",
    "SmoothCommon",
    "SmoothView",
    "Tiled",
    "Tiling",
    "Triangular",
    "as_shape",
]

_HOMES = {
    "Overlaps": "_retile",
    "RetileCost": "_retile",
    "RetilePieces": "_retile",
    "RetilePlan": "_retile",
    "Tiling": "_tiling",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
