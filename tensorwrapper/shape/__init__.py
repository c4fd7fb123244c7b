"""Which indices exist: shapes of every kind, tilings, and iteration over them.

`Shape` is the class to use. The mixins `SmoothCommon`, `JaggedCommon` and `NestedCommon` are for those who
add a representation of their own; `as_shape` puts any of them behind the facade.

Tilings and patterns are loaded when they are first used: a tenth of what shapes cost to import.
"""

import importlib
from typing import TYPE_CHECKING

from tensorwrapper.shape._blocks import BlockTable
from tensorwrapper.shape._common import ShapeCommon
from tensorwrapper.shape._indices import IndexIterator, Indices
from tensorwrapper.shape._jagged import Jagged, JaggedCommon, JaggedView
from tensorwrapper.shape._losses import Fact, LossReport
from tensorwrapper.shape._nested import Nested, NestedCommon, NestedView
from tensorwrapper.shape._partition import Partition
from tensorwrapper.shape._queries import ShapeLike
from tensorwrapper.shape._rows import CellTable, Rows
from tensorwrapper.shape._shape import Shape, as_shape
from tensorwrapper.shape._smooth import Smooth, SmoothCommon, SmoothView
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.shape._triangular import Triangular

if TYPE_CHECKING:
    from tensorwrapper.shape._alignment import ModeAlignment as ModeAlignment
    from tensorwrapper.shape._alignment import align_modes as align_modes
    from tensorwrapper.shape._alignment import broadcast_shapes as broadcast_shapes
    from tensorwrapper.shape._arrow_lists import ArrowList as ArrowList
    from tensorwrapper.shape._cell_plans import CellMatch as CellMatch
    from tensorwrapper.shape._cell_plans import CellPairing as CellPairing
    from tensorwrapper.shape._cell_plans import CellPermutation as CellPermutation
    from tensorwrapper.shape._cell_plans import match_cells as match_cells
    from tensorwrapper.shape._cell_plans import permute_cells as permute_cells
    from tensorwrapper.shape._einsum import einsum_shape as einsum_shape
    from tensorwrapper.shape._label_classes import IndexClasses as IndexClasses
    from tensorwrapper.shape._label_classes import classify_indices as classify_indices
    from tensorwrapper.shape._label_text import Labels as Labels
    from tensorwrapper.shape._label_text import LabelsLike as LabelsLike
    from tensorwrapper.shape._labels import LabeledShape as LabeledShape
    from tensorwrapper.shape._labels import ScaledShape as ScaledShape
    from tensorwrapper.shape._labels import ShapeExpression as ShapeExpression
    from tensorwrapper.shape._labels import ShapeProduct as ShapeProduct
    from tensorwrapper.shape._labels import ShapeSum as ShapeSum
    from tensorwrapper.shape._mask import Mask as Mask
    from tensorwrapper.shape._mask import MaskItem as MaskItem
    from tensorwrapper.shape._mask import MaskWay as MaskWay
    from tensorwrapper.shape._named_ranges import NamedRanges as NamedRanges
    from tensorwrapper.shape._pattern import ShapeMatch as ShapeMatch
    from tensorwrapper.shape._pattern import ShapePattern as ShapePattern
    from tensorwrapper.shape._retile import Overlaps as Overlaps
    from tensorwrapper.shape._retile import RetileCost as RetileCost
    from tensorwrapper.shape._retile import RetilePieces as RetilePieces
    from tensorwrapper.shape._retile import RetilePlan as RetilePlan
    from tensorwrapper.shape._row_partition import RowPartition as RowPartition
    from tensorwrapper.shape._row_partitions import RowPartitions as RowPartitions
    from tensorwrapper.shape._tiling import Tiling as Tiling
    from tensorwrapper.shape._zarr_grid import ZarrGrid as ZarrGrid

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
    "ArrowList": "_arrow_lists",
    "RowPartition": "_row_partition",
    "RowPartitions": "_row_partitions",
    "ZarrGrid": "_zarr_grid",
    "IndexClasses": "_label_classes",
    "LabeledShape": "_labels",
    "Labels": "_label_text",
    "LabelsLike": "_label_text",
    "ScaledShape": "_labels",
    "ShapeExpression": "_labels",
    "ShapeProduct": "_labels",
    "ShapeSum": "_labels",
    "classify_indices": "_label_classes",
    "einsum_shape": "_einsum",
    "ModeAlignment": "_alignment",
    "NamedRanges": "_named_ranges",
    "align_modes": "_alignment",
    "broadcast_shapes": "_alignment",
    "Mask": "_mask",
    "MaskItem": "_mask",
    "MaskWay": "_mask",
    "Overlaps": "_retile",
    "RetileCost": "_retile",
    "RetilePieces": "_retile",
    "RetilePlan": "_retile",
    "ShapeMatch": "_pattern",
    "ShapePattern": "_pattern",
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
