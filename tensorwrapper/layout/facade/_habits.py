"""What other libraries call what layouts have; `l` stands for one in what is said."""

from typing import Final

__all__ = ["CALLS", "IS", "NAMES", "OPERATORS"]

IS: Final = (
    "a layout has places and no elements: `tw.zeros(l.shape, layout=l)` has, and `l.strides` are integers"
)
OPERATORS: Final = {
    "@": "`tw.layout.compose(l, tw.Layout((3, 2)))`",
    "*": "`tw.layout.logical_product(l, tw.Layout((2,)))`",
    "/": "`tw.layout.logical_divide(l, tw.Layout((2,)))`",
    "//": "`tw.layout.logical_divide(l, tw.Layout((2,)))`",
    "+": "`l.strides` and `l.offset` are integers",
    "-": "`l.strides` and `l.offset` are integers",
}
"""What is said of operators on layouts."""

NAMES: Final = {
    "ndim rank dim": "`l.shape.rank` is the number of modes",
    "size numel sizes": (
        "`l.shape.size` is the number of indices, `l.span` that of the elements they lie among"
    ),
    "extents dims extent": "`l.shape.extents`",
    "T mT transpose": "`l.permute(1, 0)` says the modes in their new order",
    "stride": "`l.strides` counts them in elements",
    "order": "`l.storage_order()` says which mode runs fastest, `tw.Layout(l.shape, order='F')` chooses",
    "itemsize nbytes dtype": "a layout counts in elements; `t.dtype` belongs to a tensor",
    "flags contiguous c_contiguous": "`l.is_contiguous`",
    "cosize required_span_size": "`l.span`",
    "is_unique": "`l.is_injective`",
    "coalesce": "`tw.layout.coalesce(l)`",
    "complement": "`tw.layout.complement(l, 12)`",
    "compose": "`tw.layout.compose(l, tw.Layout((3, 2)))`",
    "domain": "`l.shape` has the indices",
    "transform": "`l.to_tensorstore(l.shape)`",
    "ravel": "`l.flatten()`",
    "flip": "`l.reverse(0)`, or `l[::-1]`",
    "roll": "`l.rotate((1, 0))` says a shift for each mode",
    "broadcast_to": "`l.broadcast((5, 2, 3))`",
    "expand_dims": "`l.unsqueeze(0)`",
    "swapaxes moveaxis": "`l.permute(1, 0)` says the modes in their new order",
    "tolist to_list": "`l.to_numpy().tolist()` are the offsets",
    "copy clone": "layouts never change, and need no copy: `l.simplify()` is one of the same places",
}
"""Names of other libraries, and what to say to who asks for them."""

CALLS: Final = {
    "reverse": "`l.reverse(0)` says modes, loose or as one sequence",
    "rotate": "`l.rotate((1, 0))` says a shift for each mode",
    "repeat": "`l.repeat((2, 1))` repeats the whole along each mode",
    "repeat_each": "`l.repeat_each(0, 2)` repeats every element along a mode",
    "broadcast": "`l.broadcast((5, 2, 3))` takes extents as one sequence, or a shape",
    "squeeze": "`l[:1].squeeze(0)` says modes, loose or as one sequence",
    "unsqueeze": "`l.unsqueeze(0)` says where new modes stand",
    "flatten": "`l.flatten()` is without layers, `l.reshape(6)` of one mode",
    "sliding_window": "`l.sliding_window(1, 2)` says the mode, then the length",
    "diagonal": "`l.diagonal(0, 1)` says two modes",
    "pad": "`l.pad([(1, 1), (0, 0)], boundary='edge')` says before and after for each mode",
    "named": "`l.named('x', 'y')` names every mode, loose or as one sequence",
    "window": "`l.window(tw.Shape(1, 2))` says a region as one shape",
    "translate_to": "`l.translate_to((5, 5))` says an index as one tuple",
    "merge_modes": "`l.merge_modes(0, 1)` says the first mode and the last",
    "split_mode": "`l.split_mode(1, (3, 1))` says the mode, then its extents",
    "tiled": "`tw.Layout.tiled(tw.Tiling([1, 1], [3]))` lies tile by tile",
    "to_numpy": "`l.to_numpy()` has the offsets",
}
"""How methods are called, said to who calls them otherwise; not those that each view of a tensor calls."""
