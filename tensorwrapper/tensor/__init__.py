"""Tensors: a shape, a layout and a buffer, with NumPy's indexing and exchange."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.tensor._align import Alignment, align
    from tensorwrapper.tensor._tensor import Tensor
    from tensorwrapper.tensor.contractions._contract import contract
    from tensorwrapper.tensor.facade._cells import CellGroup
    from tensorwrapper.tensor.making._blocks_convert import blocks
    from tensorwrapper.tensor.making._convert import as_tensor, jagged
    from tensorwrapper.tensor.making._create import empty, eye, full, zeros
    from tensorwrapper.tensor.making._from_buffer import from_buffer
    from tensorwrapper.tensor.making._nullable_convert import nullable
    from tensorwrapper.tensor.making._packed_convert import from_packed
    from tensorwrapper.tensor.making._sparse_convert import sparse
    from tensorwrapper.tensor.making._string_convert import strings
    from tensorwrapper.tensor.within._rows import TensorRows

__all__ = [
    "Alignment",
    "CellGroup",
    "Tensor",
    "TensorRows",
    "align",
    "as_tensor",
    "blocks",
    "contract",
    "empty",
    "eye",
    "from_buffer",
    "from_packed",
    "full",
    "jagged",
    "nullable",
    "sparse",
    "strings",
    "zeros",
]

if not TYPE_CHECKING:  # for checkers there are the names above, and no others
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_align": ("Alignment", "align"),
            "contractions._contract": ("contract",),
            "facade._cells": ("CellGroup",),
            "making._blocks_convert": ("blocks",),
            "making._convert": ("as_tensor", "jagged"),
            "making._create": ("empty", "eye", "full", "zeros"),
            "making._from_buffer": ("from_buffer",),
            "within._rows": ("TensorRows",),
            "making._nullable_convert": ("nullable",),
            "making._packed_convert": ("from_packed",),
            "making._sparse_convert": ("sparse",),
            "making._string_convert": ("strings",),
            "_tensor": ("Tensor",),
        },
    )
