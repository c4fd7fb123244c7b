"""What other libraries call what layouts have; `l` stands for one in what is said."""

from typing import Final

__all__ = ["NAMES"]

NAMES: Final = {
    "ndim rank": "`l.shape.rank` is the number of modes",
    "size numel": "`l.shape.size` is the number of indices, `l.span` that of the elements they lie among",
    "extents dims extent": "`l.shape.extents`",
    "T transpose": "`l.permute(1, 0)` says the modes in their new order",
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
    "copy": "layouts never change, and need no copy: `l.simplify()` is one of the same places",
}
"""Names of other libraries, and what to say to who asks for them."""
