"""Spread and median of all elements of sparse or symmetric tensors, by multiplicities."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import numpy_kind
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.typing import Array, IntArray


def variance_of(tensor: Any, ddof: float) -> Any:  # noqa: ANN401 - a tensor, and a number
    """Return the mean of squared distances from the mean. Nothing is unpacked where symmetry survives it."""
    if numpy_kind(tensor.dtype) not in "biufc":
        raise DTypeError(f"a variance needs numbers or truth values, not {tensor.dtype}")
    values = tensor.astype(np.float64) if tensor.dtype.kind in "biu" else tensor
    values = values.astype(np.float32) if values.dtype == np.float16 else values
    size = tensor.shape.size
    with np.errstate(all="ignore"):
        mean = np.sum(values) / np.float64(size)
        # Subtracting a real number keeps conjugates.
        center = mean.real if values.dtype.kind == "c" and not mean.imag else mean
        apart = np.absolute(values - center.astype(values.dtype)) if mean else np.absolute(values)
        found = np.sum(np.square(apart)) / np.float64(max(size - ddof, 0))
    kind = tensor.dtype if tensor.dtype.kind == "f" else np.dtype(np.zeros(0, values.dtype).real.dtype)
    return found.astype(kind)


def median_of(tensor: TensorBase[Any]) -> Any:  # noqa: ANN401 - a number
    """Return the median of all elements. O(stored log stored)."""
    if numpy_kind(tensor.dtype) not in "biuf":
        raise ConversionError(
            f"np.median of a sparse or symmetric tensor of {tensor.dtype}: `s.to_dense()` has all elements"
        )
    values, counts = _counted(tensor)
    chosen = values[:0]
    if len(values):
        order = np.argsort(values, kind="stable")
        ends, total = np.cumsum(counts[order]), int(counts.sum())
        chosen = values[order][np.searchsorted(ends, [(total - 1) // 2, total // 2], "right")]
        if values.dtype.kind == "f" and np.isnan(values).any():
            chosen = np.full(2, np.nan, values.dtype)
    middle: Any = chosen  # of real numbers, which its type does not say
    return np.median(middle)


def _counted(tensor: TensorBase[Any]) -> tuple[Array, IntArray]:
    """Return elements, and how often each comes; of each twice as often, if others are their negatives."""
    buffer, layout, size = tensor.buffer, tensor.layout.implementation, tensor.shape.size
    symmetry, packed = buffer.symmetry_of(layout), buffer.packed_of(layout)
    values: Array
    counts: npt.NDArray[np.int64]
    if symmetry is None or packed is None:
        values = tensor.elements() if buffer.fill_value is None else buffer.stored_of(layout)[1]
        counts = np.ones(len(values), np.int64)
    elif buffer.in_tiles:
        orbits: Any = buffer
        values, counts = packed, np.repeat(orbits.orbit_sizes(), orbits.stored.volumes())
    else:
        values, counts = packed, symmetry.multiplicities(tensor.shape.extents)
    left = size - int(counts.sum())
    if left:
        # All others are the fill, or zeros required by the symmetry.
        rest = np.zeros((), values.dtype) if buffer.fill_value is None else np.asarray(buffer.fill_value)
        values, counts = np.append(values, rest), np.append(counts, left)
    if symmetry is not None and packed is not None and symmetry.positive != symmetry:
        values, counts = np.concatenate([values, np.negative(values)]), np.concatenate([counts, counts])
    return values, counts
