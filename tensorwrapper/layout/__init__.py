"""Where each index lives: layouts of boxes, of jagged shapes, tiled views, and the algebra of layouts.

The algebra is a set of functions from layouts to layouts: `coalesce`, `compose`, `complement`, the inverses,
divisions and products. They take layouts with nested modes, as `Layout.parse` and `make_layout` make them,
and plain strided layouts as well; each either proves its law or refuses.
"""

from tensorwrapper.layout._array_interface import ArrayInterface
from tensorwrapper.layout._coalesce import coalesce, flatten
from tensorwrapper.layout._common import LayoutCommon
from tensorwrapper.layout._complement import complement
from tensorwrapper.layout._compose import compose
from tensorwrapper.layout._copy_plan import CopyMethod, CopyPlan
from tensorwrapper.layout._divide import flat_divide, logical_divide, tiled_divide, zipped_divide
from tensorwrapper.layout._dlpack import DLTensor
from tensorwrapper.layout._hierarchy import IntTree, NestedInts, OrdinalOrder
from tensorwrapper.layout._hints import BlockHints, LayoutHints
from tensorwrapper.layout._inverse import left_inverse, right_inverse
from tensorwrapper.layout._layout import Layout
from tensorwrapper.layout._losses import Fact, Form, LossReport
from tensorwrapper.layout._mdspan import MdspanKind, MdspanMapping
from tensorwrapper.layout._memory import MemoryLayout
from tensorwrapper.layout._operand import AnyLayout, Exact, Outside
from tensorwrapper.layout._ordered import make_layout, make_ordered_layout, tile_to_shape
from tensorwrapper.layout._pads import PadMode
from tensorwrapper.layout._pep3118 import BufferInfo
from tensorwrapper.layout._product import (
    blocked_product,
    flat_product,
    logical_product,
    raked_product,
    tiled_product,
    zipped_product,
)
from tensorwrapper.layout._storage_order import HalideBuffer, StorageOrder
from tensorwrapper.layout._swizzle import Swizzle
from tensorwrapper.layout._tensorstore import IndexDomain, IndexTransform, OutputMap
from tensorwrapper.layout._tiler import Tiler, parse_tiler, tiler_text

__all__ = [
    "AnyLayout",
    "ArrayInterface",
    "BlockHints",
    "BufferInfo",
    "CopyMethod",
    "CopyPlan",
    "DLTensor",
    "Exact",
    "Fact",
    "Form",
    "HalideBuffer",
    "IndexDomain",
    "IndexTransform",
    "IntTree",
    "Layout",
    "LayoutCommon",
    "LayoutHints",
    "LossReport",
    "MdspanKind",
    "MdspanMapping",
    "MemoryLayout",
    "NestedInts",
    "OrdinalOrder",
    "OutputMap",
    "Outside",
    "PadMode",
    "StorageOrder",
    "Swizzle",
    "Tiler",
    "blocked_product",
    "coalesce",
    "complement",
    "compose",
    "flat_divide",
    "flat_product",
    "flatten",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "make_layout",
    "make_ordered_layout",
    "parse_tiler",
    "raked_product",
    "right_inverse",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "tiler_text",
    "zipped_divide",
    "zipped_product",
]
