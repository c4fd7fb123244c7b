"""What other libraries call what shapes, tilings and masks have; `s`, `g` and `m` stand for one of each."""

from typing import Final

__all__ = [
    "MASK_CALLS",
    "MASK_IS",
    "MASK_NAMES",
    "MASK_OPERATORS",
    "SHAPE_CALLS",
    "SHAPE_IS",
    "SHAPE_NAMES",
    "SHAPE_ON_SETTING",
    "SHAPE_OPERATORS",
    "TILING_CALLS",
    "TILING_IS",
    "TILING_NAMES",
    "TILING_OPERATORS",
]

SHAPE_IS: Final = (
    "a shape has indices and no elements: `tw.zeros(s)` has, and `s.extents` is a tuple of integers"
)
SHAPE_ON_SETTING: Final = {
    "extents": "`tw.Shape(3, 2)` has others",
    "origin": "`s.translate_to((5, 5))` begins elsewhere",
    "names": "`s.named('x', 'y')` has names",
    "rank": "`tw.Shape.product([s, tw.Shape(4)])` has a mode more",
    "size": "`tw.Shape(3, 2)` has another",
}
"""What works in place of setting an attribute."""
SHAPE_OPERATORS: Final = {
    "+": "`s.translate_by((1, 1))` stands elsewhere, `tw.Shape.product([s, tw.Shape(4)])` has a mode more",
    "-": "`s.translate_by((-1, -1))` stands elsewhere",
    "*": "`tw.Shape.product([s, tw.Shape(4)])` has the modes of both, and `s.extents` is a tuple of integers",
    "&": "`s.intersect(s)`",
    "|": "`s.hull(s)` is the smallest box around both",
    "int()": "`s.extents[0]` is an extent, `s.size` the number of indices",
    "else": "`s.extents` is a tuple of integers, `s.size` the number of indices",
}
"""What is said of operators on shapes."""

SHAPE_NAMES: Final = {
    "ndim ndims dim": "`s.rank` is the number of modes",
    "numel num_elements prod": "`s.size` is the number of indices",
    "T mT transpose swapaxes moveaxis": "`s.permute(1, 0)` says the modes in their new order",
    "strides stride": "`tw.Layout(s).strides` counts them in elements",
    "dims shape as_list tolist to_list dimensions sizes values": "`s.extents` is a tuple of integers",
    "dtype itemsize nbytes": "a shape has indices and no elements: `tw.zeros(s)` has",
    "count": "`s.extents.count(3)`",
    "max min": "`{name}(s.extents)`",
    "append insert extend": "shapes never change: `tw.Shape.product([s, tw.Shape(4)])` has a mode more",
    "start stop lower upper lobound upbound inclusive_min exclusive_max": "`s.origin` and `s.extents`",
    "labels": "`s.names`",
    "chunks": "`tw.Tiling([1, 1], [3]).chunks` are those of a tiling, which a box may be cut by",
    "counts row_lengths": "`r.shape.lengths(1)` is how many indices each row has",
    "row_splits": "`r.shape.splits(1)` is where rows begin and end",
    "from_numpy from_array of": "`tw.as_shape((2, 3))` makes one of extents",
    "broadcast_to broadcast": "`tw.Layout(s).broadcast((5, 2, 3)).shape`",
    "translate": "`s.translate_to((5, 5))`, or `s.translate_by((1, 1))`",
    "intersection": "`s.intersect(s)`",
    "union": "`s.hull(s)` is the smallest box around both",
    "squeeze ravel": "`s.reshape(6)`",
    "expand_dims unsqueeze": "`s.reshape(1, 2, 3)`",
    "all any": "`{name}(s.extents)`",
    "take select": "`s[:, 0:2]` is a part, `tw.Mask(s, [1, 0])` picks any indices",
    "copy clone": "`s` itself: shapes never change",
    "pad": "`tw.Shape(4, 5, origin=(-1, -1))` is a box of one more on every side",
}
"""Names of other libraries that shapes do not have, and what to say to who asks for them."""

TILING_IS: Final = (
    "a tiling has boundaries and no elements: `tw.zeros(g.elements).tiled(g)` has, and `g.chunks` are "
    "tuples of integers"
)
TILING_OPERATORS: Final = {
    "+": "`tw.Tiling.concat([g, g])` stands behind, `g.chunks` are tuples of integers",
    "else": "`g.chunks` are tuples of integers",
}
"""What is said of operators on tilings."""

TILING_NAMES: Final = {
    "ndim dim": "`g.rank` is the number of modes",
    "T mT transpose swapaxes moveaxis": "`g.permute(1, 0)` says the modes in their new order",
    "size numel": "`g.elements.size` is how many indices, `g.grid.size` how many tiles",
    "extents dims sizes": "`g.elements.extents` are those of the box, `g.grid.extents` the numbers of tiles",
    "numblocks cdata_shape blocks partitions_shape": "`g.grid.extents` is how many tiles each mode has",
    "nchunks npartitions": "`g.grid.size` is the number of tiles",
    "tolist to_list": "`g.chunks`",
    "copy clone": "`g` itself: tilings never change",
    "split": "`g.tile((0, 0))` is the shape of one tile",
    "chunksize": "`g.largest_tile` and `g.chunks`",
    "trange tiles_range": "`g.grid` has the indices of the tiles",
    "elements_range": "`g.elements` has the indices of the elements",
    "rechunk": "`g.retile(tw.Tiling([2, 1], [2, 1]))`",
    "tile_extent": "`g.tile((0, 0)).extents`",
}
"""Names of other libraries that tilings do not have, and what to say to who asks for them."""

MASK_IS: Final = (
    "a mask has places and no elements: `m.gather(tw.zeros(m.source))` is what it picks of a tensor, "
    "`m.contains(m.source.indices().to_numpy())` one bool for each index"
)
MASK_OPERATORS: Final = {
    "&": "`m.intersect(m)`",
    "|": "`m.union(m)`",
    "+": "`m.union(m)`",
    "~": "`m.complement()`",
    "-": "`m.complement()`, and `m.intersect(m)` is what is in both",
    "^": "`m.union(m)`, `m.intersect(m)` and `m.complement()`",
}
"""What is said of operators on masks."""

MASK_NAMES: Final = {
    "sum count": "`m.size` is how many indices are picked",
    "any": "`m.size > 0`",
    "all": "`m.size == m.source.size`",
    "all_close array_equal equals": "`m == m`",
    "nonzero indices argwhere": "`m.source.indices_at(m.ordinals())` are the indices that are picked",
    "copy clone": "`m` itself: masks never change",
    "to_numpy numpy tolist to_list values": "`m.ordinals()` are the places of what is picked",
    "invert": "`m.complement()`",
    "T mT transpose permute swapaxes moveaxis": (
        "`tw.Mask(m.source.permute(0), [0, 2])` picks of a permuted shape"
    ),
    "ndim": "`m.rank` is the number of modes",
    "dtype astype": "a mask has places, no elements of bool: `m.contains((0,))` asks for one",
}
"""Names of other libraries that masks do not have, and what to say to who asks for them."""

SHAPE_CALLS: Final = {
    "__call__": "`s.extents` and `s.size` are attributes; a call names modes, `s('i,j')`",
    "jagged": "`tw.Shape.jagged([3, 1, 2])` takes the extents of the rows as one sequence",
    "from_cells": (
        "`tw.Shape.from_cells((2,), [(1, 2), (3, 4)])` says the outer extents, then those of each cell"
    ),
    "nested": "`tw.Shape.nested(tw.Shape(2, 3), layers=(1, 1))`",
    "copy": "`s` itself: shapes never change",
    "tiled": "`tw.Shape.tiled([1, 2], [3])` says how each mode is cut",
    "cells": "`r.shape.cells()` takes nothing: it goes over all",
    "concat stack product": "`tw.Shape.{name}([s, s])` takes shapes as one sequence",
    "reshape": "`s.reshape(3, 2)` has as many indices",
    "named": "`s.named('x', 'y')` names every mode, loose or as one sequence",
    "flatten": "`s.flatten()` is without layers, `s.reshape(6)` of one mode",
}
"""How methods of shapes are called, said to who calls them otherwise."""

TILING_CALLS: Final = {
    "tile": "`g.tile((0, 0))` says an index as one tuple",
    "find tile_of": "`g.{name}((2, 1))` says an index as one tuple",
    "permute": "`g.permute(1, 0)` says the modes in their new order",
    "translate_to translate_by": "`g.{name}((1, 1))` says one number for each mode",
    "concat": "`tw.Tiling.concat([g, g])` takes tilings as one sequence",
}
"""How methods of tilings are called, said to who calls them otherwise."""

MASK_CALLS: Final = {
    "gather": "`m.gather(tw.zeros(m.source))` lays it on a tensor or a layout",
    "intersect union": "`m.{name}(m)` takes one mask",
}
"""How methods of masks are called, said to who calls them otherwise."""
