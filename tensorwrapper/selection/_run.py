"""Views computed: memory for the result, and what is written into it."""

from typing import Any, Literal, TypeAlias, cast

import numpy as np

from tensorwrapper.buffer._copy import write_elements
from tensorwrapper.buffer._dense import Dense
from tensorwrapper.buffer._strings import buffer_of
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError, ReadOnlyError
from tensorwrapper.layout import Layout
from tensorwrapper.selection._expression import Expression
from tensorwrapper.selection._nodes import Reading
from tensorwrapper.selection._run_blocks import full_window
from tensorwrapper.selection._run_leaves import Runner
from tensorwrapper.selection._run_nodes import CastRunner
from tensorwrapper.selection._run_view import runner_of
from tensorwrapper.selection._source import TensorSource
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor._places import memory_of, packed_layout
from tensorwrapper.typing import Array

__all__ = ["Target", "new_tensor", "source_tensor", "target_array"]

Target: TypeAlias = "Tensor[Any] | Array"
"""Where the elements of a view are written: a tensor in strides, or an array."""


def source_tensor(view: Expression) -> Tensor[Any] | None:
    """Return the tensor that a view is, if it selects from one tensor and a layout says what."""
    node = view.node
    if isinstance(node, Reading) and isinstance(node.source, TensorSource):
        return Tensor._make(view.layout, node.source.tensor.buffer)
    return None


def target_array(out: Target, shape: Shape[Any], dtype: "np.dtype[Any]") -> Array:
    """Return the array over the memory that a view of this shape and type is written into.

    Raises
    ------
    ExtentMismatchError
        If it has other extents.
    DTypeError
        If elements of the type do not become ones of its type as NumPy's "same_kind" allows.
    ReadOnlyError
        If it cannot be written to.
    ConversionError
        If it is a tensor that is no array.
    """
    if isinstance(out, Tensor):
        array = memory_of(out.layout._held, out.buffer)
        if array is None:
            raise ConversionError(f"a view is written into an array, or a tensor with strides, not {out!r}")
        readonly = out.is_readonly
    else:
        array, readonly = out, not out.flags.writeable
    if array.shape != shape.extents:
        raise ExtentMismatchError(f"a view of extents {shape.extents} does not fit into {array.shape}")
    if readonly:
        raise ReadOnlyError("the target cannot be written to, or has one place for several indices")
    if not np.can_cast(dtype, array.dtype, casting="same_kind"):
        raise DTypeError(f"elements of {dtype} do not become ones of {array.dtype}; astype() says that they do")
    return array


def new_tensor(array: Array, shape: Shape[Any], order: Literal["C", "F"] = "C") -> Tensor[Any]:
    """Return the tensor over an array of its own, without gaps in this order, at the indices of a shape."""
    if array.dtype.kind in "US":
        kind: Any = np.dtypes.StringDType() if array.dtype.kind == "U" else np.object_
        strings: Array = np.empty(array.shape, kind)
        write_elements(strings, array)
        array = strings
    if order == "F" and array.ndim > 1:
        return Tensor._make(Layout(shape, order="F"), buffer_of(array.T.reshape(-1)))
    return Tensor._make(packed_layout(shape), buffer_of(array.reshape(-1)))
