"""Tensors: a shape, a layout and a buffer, with NumPy's indexing and exchange."""

from tensorwrapper.tensor._convert import as_tensor, from_buffer, jagged
from tensorwrapper.tensor._create import empty, eye, full, zeros
from tensorwrapper.tensor._tensor import Tensor

__all__ = ["Tensor", "as_tensor", "empty", "eye", "from_buffer", "full", "jagged", "zeros"]
