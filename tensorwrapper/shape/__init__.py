"""Which indices exist: shapes of every kind, tilings, and iteration over them.

`Shape` is the class to use. The mixins `SmoothCommon`, `JaggedCommon` and `NestedCommon` are for those who
add a representation of their own; `as_shape` puts any of them behind the facade.
"""

from tensorwrapper.shape._blocks import BlockTable
from tensorwrapper.shape._common import ShapeCommon
from tensorwrapper.shape._indices import IndexIterator, Indices
from tensorwrapper.shape._jagged import Jagged, JaggedCommon, JaggedView
from tensorwrapper.shape._nested import Nested, NestedCommon, NestedView
from tensorwrapper.shape._partition import Partition
from tensorwrapper.shape._queries import ShapeLike
from tensorwrapper.shape._retile import Overlaps, RetileCost, RetilePieces, RetilePlan
from tensorwrapper.shape._rows import CellTable, Rows
from tensorwrapper.shape._shape import Shape, as_shape
from tensorwrapper.shape._smooth import Smooth, SmoothCommon, SmoothView
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.shape._tiling import Tiling
from tensorwrapper.shape._triangular import Triangular

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
