"""Tensors: a shape, a layout and a buffer, with NumPy's indexing and exchange."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.tensor._align import Alignment, align
    from tensorwrapper.tensor._tensor import Tensor
    from tensorwrapper.tensor.contractions._contract import contract
    from tensorwrapper.tensor.creation._blocks_convert import blocks
    from tensorwrapper.tensor.creation._convert import as_tensor, jagged
    from tensorwrapper.tensor.creation._create import empty, eye, full, zeros
    from tensorwrapper.tensor.creation._from_buffer import from_buffer
    from tensorwrapper.tensor.creation._nullable_convert import nullable
    from tensorwrapper.tensor.creation._packed_convert import from_packed
    from tensorwrapper.tensor.creation._sparse_convert import sparse
    from tensorwrapper.tensor.creation._string_convert import strings
    from tensorwrapper.tensor.facade._cells import CellGroup
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

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_align": ("Alignment", "align"),
            "contractions._contract": ("contract",),
            "facade._cells": ("CellGroup",),
            "creation._blocks_convert": ("blocks",),
            "creation._convert": ("as_tensor", "jagged"),
            "creation._create": ("empty", "eye", "full", "zeros"),
            "creation._from_buffer": ("from_buffer",),
            "within._rows": ("TensorRows",),
            "creation._nullable_convert": ("nullable",),
            "creation._packed_convert": ("from_packed",),
            "creation._sparse_convert": ("sparse",),
            "creation._string_convert": ("strings",),
            "_tensor": ("Tensor",),
        },
    )
