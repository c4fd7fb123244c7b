"""Which indices exist: shapes of every kind, tilings, and iteration over them.

`Shape` is the class to use. The mixins `SmoothCommon`, `JaggedCommon` and `NestedCommon` are for those who
add a representation of their own; `as_shape` puts any of them behind the facade.

Tilings and patterns are loaded when they are first used: a tenth of what shapes cost to import.
"""

import importlib
from typing import TYPE_CHECKING

from tensorwrapper.shape._facade import ShapeLike
from tensorwrapper.shape._indices import IndexIterator, Indices
from tensorwrapper.shape._shape import Shape, as_shape
from tensorwrapper.shape.boxes._common import ShapeCommon
from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon, SmoothView
from tensorwrapper.shape.interchange._losses import Fact, LossReport
from tensorwrapper.shape.kinds._blocks import BlockTable
from tensorwrapper.shape.kinds._jagged import Jagged, JaggedCommon, JaggedView
from tensorwrapper.shape.kinds._nested import Nested, NestedCommon, NestedView
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.kinds._triangular import Triangular
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.rows._rows import CellTable, Rows

if TYPE_CHECKING:
    from tensorwrapper.shape._alignment import ModeAlignment as ModeAlignment
    from tensorwrapper.shape._alignment import align_modes as align_modes
    from tensorwrapper.shape._alignment import broadcast_shapes as broadcast_shapes
    from tensorwrapper.shape._cell_plans import CellMatch as CellMatch
    from tensorwrapper.shape._cell_plans import CellPairing as CellPairing
    from tensorwrapper.shape._cell_plans import CellPermutation as CellPermutation
    from tensorwrapper.shape._cell_plans import match_cells as match_cells
    from tensorwrapper.shape._cell_plans import permute_cells as permute_cells
    from tensorwrapper.shape._einsum import einsum_shape as einsum_shape
    from tensorwrapper.shape.boxes._names import NamedRanges as NamedRanges
    from tensorwrapper.shape.interchange._arrow import ArrowList as ArrowList
    from tensorwrapper.shape.interchange._row_partitions import RowPartition as RowPartition
    from tensorwrapper.shape.interchange._tensorflow import RowPartitions as RowPartitions
    from tensorwrapper.shape.interchange._zarr import ZarrGrid as ZarrGrid
    from tensorwrapper.shape.labels._classes import IndexClasses as IndexClasses
    from tensorwrapper.shape.labels._classes import classify_indices as classify_indices
    from tensorwrapper.shape.labels._labels import LabeledShape as LabeledShape
    from tensorwrapper.shape.labels._labels import ScaledShape as ScaledShape
    from tensorwrapper.shape.labels._labels import ShapeExpression as ShapeExpression
    from tensorwrapper.shape.labels._labels import ShapeProduct as ShapeProduct
    from tensorwrapper.shape.labels._labels import ShapeSum as ShapeSum
    from tensorwrapper.shape.labels._labels_text import Labels as Labels
    from tensorwrapper.shape.labels._labels_text import LabelsLike as LabelsLike
    from tensorwrapper.shape.masks._mask import Mask as Mask
    from tensorwrapper.shape.masks._mask import MaskItem as MaskItem
    from tensorwrapper.shape.masks._mask import MaskWay as MaskWay
    from tensorwrapper.shape.masks._pattern import ShapeMatch as ShapeMatch
    from tensorwrapper.shape.masks._pattern import ShapePattern as ShapePattern
    from tensorwrapper.shape.tilings._retile import Overlaps as Overlaps
    from tensorwrapper.shape.tilings._retile import RetileCost as RetileCost
    from tensorwrapper.shape.tilings._retile import RetilePieces as RetilePieces
    from tensorwrapper.shape.tilings._retile import RetilePlan as RetilePlan
    from tensorwrapper.shape.tilings._tiling import Tiling as Tiling

__all__ = [
    "ArrowList",
    "BlockTable",
    "CellMatch",
    "CellPairing",
    "CellPermutation",
    "CellTable",
    "Fact",
    "IndexClasses",
    "IndexIterator",
    "Indices",
    "Jagged",
    "JaggedCommon",
    "JaggedView",
    "LabeledShape",
    "Labels",
    "LabelsLike",
    "LossReport",
    "Mask",
    "MaskItem",
    "MaskWay",
    "ModeAlignment",
    "NamedRanges",
    "Nested",
    "NestedCommon",
    "NestedView",
    "Overlaps",
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
    "Tiled",
    "Tiling",
    "Triangular",
    "ZarrGrid",
    "align_modes",
    "as_shape",
    "broadcast_shapes",
    "classify_indices",
    "einsum_shape",
    "match_cells",
    "permute_cells",
]

_HOMES = {
    "CellMatch": "_cell_plans",
    "CellPairing": "_cell_plans",
    "CellPermutation": "_cell_plans",
    "match_cells": "_cell_plans",
    "permute_cells": "_cell_plans",
    "ArrowList": "interchange._arrow",
    "RowPartition": "interchange._row_partitions",
    "RowPartitions": "interchange._tensorflow",
    "ZarrGrid": "interchange._zarr",
    "IndexClasses": "labels._classes",
    "LabeledShape": "labels._labels",
    "Labels": "labels._labels_text",
    "LabelsLike": "labels._labels_text",
    "ScaledShape": "labels._labels",
    "ShapeExpression": "labels._labels",
    "ShapeProduct": "labels._labels",
    "ShapeSum": "labels._labels",
    "classify_indices": "labels._classes",
    "einsum_shape": "_einsum",
    "ModeAlignment": "_alignment",
    "NamedRanges": "boxes._names",
    "align_modes": "_alignment",
    "broadcast_shapes": "_alignment",
    "Mask": "masks._mask",
    "MaskItem": "masks._mask",
    "MaskWay": "masks._mask",
    "Overlaps": "tilings._retile",
    "RetileCost": "tilings._retile",
    "RetilePieces": "tilings._retile",
    "RetilePlan": "tilings._retile",
    "ShapeMatch": "masks._pattern",
    "ShapePattern": "masks._pattern",
    "Tiling": "tilings._tiling",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
