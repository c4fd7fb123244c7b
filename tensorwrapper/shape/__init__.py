"""Index spaces: shapes of every kind, tilings, and iteration over indices.

`Shape` is the class to use. The mixins `SmoothCommon`, `JaggedCommon` and `NestedCommon` are for new
representations; `as_shape` wraps any of them in `Shape`.

Tilings and patterns are imported on first use, which saves a tenth of the import time of shapes.
"""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.shape._shape import Shape, as_shape
    from tensorwrapper.shape._shape_base import ShapeLike
    from tensorwrapper.shape.boxes._common import ShapeCommon
    from tensorwrapper.shape.boxes._names import NamedRanges
    from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon, SmoothView
    from tensorwrapper.shape.combining._alignment import ModeAlignment, align_modes, broadcast_shapes
    from tensorwrapper.shape.combining._cell_operations import (
        CellMatch,
        CellPairing,
        CellPermutation,
        match_cells,
        permute_cells,
    )
    from tensorwrapper.shape.combining._einsum import einsum_shape
    from tensorwrapper.shape.contractions._contraction import Contraction, contraction
    from tensorwrapper.shape.facade._indices import IndexIterator, Indices
    from tensorwrapper.shape.interchange._arrow import ArrowList
    from tensorwrapper.shape.interchange._losses import LossKind, LossReport
    from tensorwrapper.shape.interchange._row_partitions import RowPartition
    from tensorwrapper.shape.interchange._tensorflow import RowPartitions
    from tensorwrapper.shape.interchange._zarr import ZarrGrid
    from tensorwrapper.shape.kinds._blocks import BlockTable
    from tensorwrapper.shape.kinds._jagged import Jagged, JaggedCommon, JaggedView
    from tensorwrapper.shape.kinds._nested import Nested, NestedCommon, NestedView
    from tensorwrapper.shape.kinds._tiled import Tiled
    from tensorwrapper.shape.kinds._triangular import Triangular
    from tensorwrapper.shape.labels._classes import IndexClasses, classify_indices
    from tensorwrapper.shape.labels._labels import (
        LabeledShape,
        ScaledShape,
        ShapeExpression,
        ShapeProduct,
        ShapeSum,
    )
    from tensorwrapper.shape.labels._labels_text import Labels, LabelsLike
    from tensorwrapper.shape.masks._keys import MaskItem
    from tensorwrapper.shape.masks._mask import Mask
    from tensorwrapper.shape.masks._pattern import ShapeMatch, ShapePattern
    from tensorwrapper.shape.masks._source_positions import MaskWay
    from tensorwrapper.shape.patterns._block_pattern import BlockPattern
    from tensorwrapper.shape.rows._cell_table import CellTable
    from tensorwrapper.shape.rows._partition import Partition
    from tensorwrapper.shape.rows._rows import Rows
    from tensorwrapper.shape.symmetry._canonical import Canonical
    from tensorwrapper.shape.symmetry._operations import Operation
    from tensorwrapper.shape.symmetry._symmetry import PackedOffsets, Symmetry, SymmetryLike, as_symmetry
    from tensorwrapper.shape.tilings._retile import Overlaps, RetileCost, RetilePieces, RetilePlan
    from tensorwrapper.shape.tilings._tiling import Tiling

__all__ = [
    "ArrowList",
    "BlockPattern",
    "BlockTable",
    "Canonical",
    "CellMatch",
    "CellPairing",
    "CellPermutation",
    "CellTable",
    "Contraction",
    "IndexClasses",
    "IndexIterator",
    "Indices",
    "Jagged",
    "JaggedCommon",
    "JaggedView",
    "LabeledShape",
    "Labels",
    "LabelsLike",
    "LossKind",
    "LossReport",
    "Mask",
    "MaskItem",
    "MaskWay",
    "ModeAlignment",
    "NamedRanges",
    "Nested",
    "NestedCommon",
    "NestedView",
    "Operation",
    "Overlaps",
    "PackedOffsets",
    "Partition",
    "RetileCost",
    "RetilePieces",
    "RetilePlan",
    "RowPartition",
    "RowPartitions",
    "Rows",
    "ScaledShape",
    "Shape",
    "ShapeCommon",
    "ShapeExpression",
    "ShapeLike",
    "ShapeMatch",
    "ShapePattern",
    "ShapeProduct",
    "ShapeSum",
    "Smooth",
    "SmoothCommon",
    "SmoothView",
    "Symmetry",
    "SymmetryLike",
    "Tiled",
    "Tiling",
    "Triangular",
    "ZarrGrid",
    "align_modes",
    "as_shape",
    "as_symmetry",
    "broadcast_shapes",
    "classify_indices",
    "contraction",
    "einsum_shape",
    "match_cells",
    "permute_cells",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "combining._alignment": ("ModeAlignment", "align_modes", "broadcast_shapes"),
            "combining._cell_operations": (
                "CellMatch",
                "CellPairing",
                "CellPermutation",
                "match_cells",
                "permute_cells",
            ),
            "combining._einsum": ("einsum_shape",),
            "contractions._contraction": ("Contraction", "contraction"),
            "_shape_base": ("ShapeLike",),
            "facade._indices": ("IndexIterator", "Indices"),
            "_shape": ("Shape", "as_shape"),
            "boxes._common": ("ShapeCommon",),
            "boxes._names": ("NamedRanges",),
            "boxes._smooth": ("Smooth", "SmoothCommon", "SmoothView"),
            "interchange._arrow": ("ArrowList",),
            "interchange._losses": ("LossKind", "LossReport"),
            "interchange._row_partitions": ("RowPartition",),
            "interchange._tensorflow": ("RowPartitions",),
            "interchange._zarr": ("ZarrGrid",),
            "kinds._blocks": ("BlockTable",),
            "kinds._jagged": ("Jagged", "JaggedCommon", "JaggedView"),
            "kinds._nested": ("Nested", "NestedCommon", "NestedView"),
            "kinds._tiled": ("Tiled",),
            "kinds._triangular": ("Triangular",),
            "labels._classes": ("IndexClasses", "classify_indices"),
            "labels._labels": ("LabeledShape", "ScaledShape", "ShapeExpression", "ShapeProduct", "ShapeSum"),
            "labels._labels_text": ("Labels", "LabelsLike"),
            "masks._keys": ("MaskItem",),
            "masks._mask": ("Mask",),
            "masks._pattern": ("ShapeMatch", "ShapePattern"),
            "masks._source_positions": ("MaskWay",),
            "patterns._block_pattern": ("BlockPattern",),
            "rows._partition": ("Partition",),
            "rows._cell_table": ("CellTable",),
            "rows._rows": ("Rows",),
            "symmetry._canonical": ("Canonical",),
            "symmetry._operations": ("Operation",),
            "symmetry._symmetry": ("PackedOffsets", "Symmetry", "SymmetryLike", "as_symmetry"),
            "tilings._retile": ("Overlaps", "RetileCost", "RetilePieces", "RetilePlan"),
            "tilings._tiling": ("Tiling",),
        },
    )
