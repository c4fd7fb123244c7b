"""Arguments for other libraries: tensors and parts of them unchanged, other views computed."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer.lowlevel import clear_nulls, convert_elements
from tensorwrapper.errors import ConversionError, DTypeError, SizeOverflowError
from tensorwrapper.selection import View
from tensorwrapper.selection.lowlevel import expression_of, source_tensor
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Array

Marks: TypeAlias = npt.NDArray[np.bool_]
"""One bool per element."""

TensorLike: TypeAlias = Tensor[Any, Any] | View[Any, Any]


def part_or_view(value: TensorLike) -> TensorLike:
    """Return a view that selects from one tensor as the part of that tensor, and any other value unchanged.

    So both are refused alike, and neither is copied.
    """
    found = None if isinstance(value, Tensor) else source_tensor(expression_of(value))
    return value if found is None else found


def tensor_of(value: TensorLike) -> Tensor[Any]:
    """Return a tensor; a view of several sources, or of one elsewhere, is computed."""
    return as_tensor(part_or_view(value))


def dense_of(value: TensorLike, library: str) -> Tensor[Any]:
    """Return a tensor, or raise if it is sparse.

    Raises
    ------
    ConversionError
        If it is sparse.
    """
    tensor = tensor_of(value)
    if tensor.is_sparse:
        raise ConversionError(
            f"{library} has no sparse tensors: to_dense() has all elements of this one, to_scipy() and "
            "to_pydata() are sparse"
        )
    return tensor


def check_unit(dtype: "np.dtype[Any]", library: str) -> None:
    """Raise for times that a library cuts to nanoseconds, or does not count.

    Raises
    ------
    DTypeError
        If the unit is finer than nanoseconds, several of one, or missing.
    """
    unit, count = np.datetime_data(dtype) if dtype.kind in "mM" else ("s", 1)
    if unit in ("generic", "ps", "fs", "as") or count != 1:
        raise DTypeError(
            f"{library} has no times of type {dtype}: t.astype('{dtype.kind}8[ns]') has nanoseconds"
        )


@contextmanager
def times_in_range(dtype: "np.dtype[Any]", library: str) -> Generator[None]:
    """Convert the errors of pandas for times beyond those that it counts.

    Raises
    ------
    SizeOverflowError
        If a time is as far from 1970 as that.
    """
    try:
        yield
    except ValueError as error:
        if not type(error).__name__.startswith("OutOfBounds"):
            raise
        raise SizeOverflowError(f"{library} counts seconds, and a time of type {dtype} is beyond") from error


def native(elements: Array) -> Array:
    """Return elements in native byte order, the only one that most libraries support."""
    dtype: np.dtype[Any] = elements.dtype
    return elements if dtype.isnative else convert_elements(elements, dtype.newbyteorder("="))


def elements_of(tensor: Tensor[Any]) -> tuple[Array, Marks | None]:
    """Return the elements in row-major order, and their validity; None if not nullable.

    Values under nulls are zero, in a copy if they were not.
    """
    buffer, held = tensor.buffer, tensor.layout.implementation
    if buffer.sides is None:
        return tensor.elements(), None
    elements, valid = buffer.sides[0].elements_of(held), buffer.valid_of(held)
    return clear_nulls(elements, valid), valid
