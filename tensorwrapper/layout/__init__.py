"""Layouts map indices to offsets: of boxes, of jagged shapes, tiled views, and the algebra of layouts.

The algebra is a set of functions from layouts to layouts: `coalesce`, `compose`, `complement`, the inverses,
divisions and products. They take layouts with nested modes, as `Layout.parse` and `make_layout` make them,
and plain strided layouts; each either proves its law or raises an error.
"""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.layout._layout import Layout, as_layout
    from tensorwrapper.layout.algebra._coalesce import coalesce, flatten
    from tensorwrapper.layout.algebra._complement import complement
    from tensorwrapper.layout.algebra._compose import compose
    from tensorwrapper.layout.algebra._divide import flat_divide, logical_divide, tiled_divide, zipped_divide
    from tensorwrapper.layout.algebra._inverse import left_inverse, right_inverse
    from tensorwrapper.layout.algebra._operand import AnyLayout, InexactPolicy, OutOfBoundsPolicy
    from tensorwrapper.layout.algebra._ordered import make_layout, make_ordered_layout, tile_to_shape
    from tensorwrapper.layout.algebra._product import (
        blocked_product,
        flat_product,
        logical_product,
        raked_product,
        tiled_product,
        zipped_product,
    )
    from tensorwrapper.layout.algebra._tiler import Tiler, parse_tiler, tiler_text
    from tensorwrapper.layout.axes._axis import AxisMap, Cycle, Stride, Table
    from tensorwrapper.layout.boxes._common import LayoutCommon
    from tensorwrapper.layout.boxes._hierarchy import IntTree, NestedInts, OrdinalOrder
    from tensorwrapper.layout.boxes._modes import Boundary, PadWidths
    from tensorwrapper.layout.boxes._swizzle import Swizzle
    from tensorwrapper.layout.copies._hints import BlockHints, LayoutHints
    from tensorwrapper.layout.copies._plan import CopyMethod, CopyPlan
    from tensorwrapper.layout.interchange._array_interface import ArrayInterface
    from tensorwrapper.layout.interchange._dlpack import DLTensor
    from tensorwrapper.layout.interchange._losses import ExchangeFormat
    from tensorwrapper.layout.interchange._mdspan import MdspanKind, MdspanMapping
    from tensorwrapper.layout.interchange._memory import MemoryLayout
    from tensorwrapper.layout.interchange._pep3118 import BufferInfo
    from tensorwrapper.layout.interchange._storage_order import HalideBuffer, StorageOrder
    from tensorwrapper.layout.interchange._tensorstore import IndexDomain, IndexTransform, OutputMap
    from tensorwrapper.layout.operations._user_layout import CustomLayout
    from tensorwrapper.shape import LossKind, LossReport

__all__ = [
    "AnyLayout",
    "ArrayInterface",
    "AxisMap",
    "BlockHints",
    "Boundary",
    "BufferInfo",
    "CopyMethod",
    "CopyPlan",
    "CustomLayout",
    "Cycle",
    "DLTensor",
    "ExchangeFormat",
    "HalideBuffer",
    "IndexDomain",
    "IndexTransform",
    "InexactPolicy",
    "IntTree",
    "Layout",
    "LayoutCommon",
    "LayoutHints",
    "LossKind",
    "LossReport",
    "MdspanKind",
    "MdspanMapping",
    "MemoryLayout",
    "NestedInts",
    "OrdinalOrder",
    "OutOfBoundsPolicy",
    "OutputMap",
    "PadWidths",
    "StorageOrder",
    "Stride",
    "Swizzle",
    "Table",
    "Tiler",
    "as_layout",
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

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_layout": ("Layout", "as_layout"),
            "algebra._coalesce": ("coalesce", "flatten"),
            "algebra._complement": ("complement",),
            "algebra._compose": ("compose",),
            "algebra._divide": ("flat_divide", "logical_divide", "tiled_divide", "zipped_divide"),
            "algebra._inverse": ("left_inverse", "right_inverse"),
            "algebra._operand": ("AnyLayout", "InexactPolicy", "OutOfBoundsPolicy"),
            "algebra._ordered": ("make_layout", "make_ordered_layout", "tile_to_shape"),
            "algebra._product": (
                "blocked_product",
                "flat_product",
                "logical_product",
                "raked_product",
                "tiled_product",
                "zipped_product",
            ),
            "algebra._tiler": ("Tiler", "parse_tiler", "tiler_text"),
            "axes._axis": ("AxisMap", "Cycle", "Stride", "Table"),
            "boxes._common": ("LayoutCommon",),
            "boxes._hierarchy": ("IntTree", "NestedInts", "OrdinalOrder"),
            "boxes._modes": ("Boundary", "PadWidths"),
            "boxes._swizzle": ("Swizzle",),
            "copies._hints": ("BlockHints", "LayoutHints"),
            "copies._plan": ("CopyMethod", "CopyPlan"),
            "interchange._array_interface": ("ArrayInterface",),
            "interchange._dlpack": ("DLTensor",),
            "interchange._losses": ("LossKind", "ExchangeFormat", "LossReport"),
            "interchange._mdspan": ("MdspanKind", "MdspanMapping"),
            "interchange._memory": ("MemoryLayout",),
            "interchange._pep3118": ("BufferInfo",),
            "interchange._storage_order": ("HalideBuffer", "StorageOrder"),
            "operations._user_layout": ("CustomLayout",),
            "interchange._tensorstore": ("IndexDomain", "IndexTransform", "OutputMap"),
        },
    )
