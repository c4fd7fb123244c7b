"""What other libraries call what shapes, tilings and masks have; `s`, `g` and `m` stand for one of each."""

from typing import Final

__all__ = ["MASK_NAMES", "SHAPE_NAMES", "TILING_NAMES"]

SHAPE_NAMES: Final = {
    "ndim ndims dim": "`s.rank` is the number of modes",
    "numel num_elements prod": "`s.size` is the number of indices",
    "T transpose": "`s.permute(1, 0)` says the modes in their new order",
    "strides": "`tw.Layout(s).strides` counts them in elements",
    "dims shape as_list tolist dimensions sizes": "`s.extents` is a tuple of integers",
    "dtype itemsize nbytes": "a shape has indices and no elements: `tw.zeros(s)` has",
    "append insert": "shapes never change: `tw.Shape.product([s, tw.Shape(4)])` has a mode more",
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
    "squeeze": "`s.reshape(6)`",
    "pad": "`tw.Shape(4, 5, origin=(-1, -1))` is a box of one more on every side",
}
"""Names of other libraries that shapes do not have, and what to say to who asks for them."""

TILING_NAMES: Final = {
    "ndim": "`g.rank` is the number of modes",
    "T transpose": "`g.permute(1, 0)` says the modes in their new order",
    "size": "`g.elements.size` is how many indices, `g.grid.size` how many tiles",
    "extents dims": "`g.elements.extents` are those of the box, `g.grid.extents` the numbers of tiles",
    "numblocks cdata_shape": "`g.grid.extents` is how many tiles each mode has",
    "nchunks npartitions": "`g.grid.size` is the number of tiles",
    "chunksize": "`g.largest_tile` and `g.chunks`",
    "trange tiles_range": "`g.grid` has the indices of the tiles",
    "elements_range": "`g.elements` has the indices of the elements",
    "rechunk": "`g.retile(tw.Tiling([2, 1], [2, 1]))`",
    "tile_extent": "`g.tile((0, 0)).extents`",
}
"""Names of other libraries that tilings do not have, and what to say to who asks for them."""

MASK_NAMES: Final = {
    "sum count": "`m.size` is how many indices are picked",
    "any": "`m.size > 0`",
    "all": "`m.size == m.source.size`",
    "nonzero indices argwhere": "`m.source.indices_at(m.ordinals())` are the indices that are picked",
    "to_numpy tolist": "`m.ordinals()` are the places of what is picked",
    "invert": "`m.complement()`",
    "T transpose permute": "`tw.Mask(m.source.permute(0), [0, 2])` picks of a permuted shape",
    "ndim": "`m.rank` is the number of modes",
    "dtype astype": "a mask has places, no elements of bool: `m.contains((0,))` asks for one",
}
"""Names of other libraries that masks do not have, and what to say to who asks for them."""
