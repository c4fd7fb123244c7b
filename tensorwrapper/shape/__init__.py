"""Which indices exist: shapes of every kind, tilings, and iteration over them.

`Shape` is the class to use. The mixins `SmoothCommon` and `JaggedCommon` are for those who add a
representation of their own; `as_shape` puts any of them behind the facade.
"""

from tensorwrapper.shape._common import ShapeCommon
from tensorwrapper.shape._indices import IndexIterator, Indices
from tensorwrapper.shape._jagged import Jagged, JaggedCommon, JaggedView
from tensorwrapper.shape._rows import CellTable
from tensorwrapper.shape._shape import Shape, ShapeLike, as_shape
from tensorwrapper.shape._smooth import Smooth, SmoothCommon, SmoothView
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.shape._tiling import Tiling

__all__ = [
    "CellTable",
    "IndexIterator",
    "Indices",
    "Jagged",
    "JaggedCommon",
    "JaggedView",
    "Shape",
    "ShapeCommon",
    "ShapeLike",
    "Smooth",
    "SmoothCommon",
    "SmoothView",
    "Tiled",
    "Tiling",
    "as_shape",
]
