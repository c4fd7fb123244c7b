"""The view that a convention has of a file, and its answer: HDF5 and Zarr give the same."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.records._loss import Loss, unread
from tensorwrapper.typing import Array, Extents, IntArray, NullRows
from tensorwrapper.wire import Limits

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "RAW",
    "ROOT",
    "Group",
    "Part",
    "Put",
    "Read",
    "broken",
    "counted",
    "integers_of",
    "refused",
    "whole",
]

Read: TypeAlias = Callable[[], object]
"""Reads a tensor or a view, lazily where the parts allow that."""

RAW: Final = "tw.open(path, raw=True) lists its arrays"
ROOT: Final = "array"
"""The name of the tensor that is a file by itself."""


@final
@frozen(eq=False)
class Part:
    """One array of a file before any element is read."""

    name: str
    extents: Extents
    dtype: "np.dtype[Any]"
    """The type of the elements; `StringDType` for text of any kind."""
    read: Read


@final
@frozen(eq=False)
class Group:
    """A group of arrays with attributes."""

    name: str
    attribute: Callable[[str], object]
    """Returns an attribute as a value of Python, or None if it is missing or has another type."""
    part: Callable[[str], Part | None]
    """Returns the array with a path in the group, or None if the path is free.

    Raises `DataFileError` if the object with this path cannot be a part.
    """
    limits: Limits
    null_rows: NullRows = "refuse"


@final
@frozen(eq=False)
class Put:
    """The tensors that a convention makes of a group."""

    packing: str
    parts: tuple[str, ...]
    """Paths of the arrays that lose their own names."""
    tensors: tuple[tuple[str, Read], ...]
    """Ends of names with their readers: "" is the group itself, ".x" its field x."""
    attributes: frozenset[str]
    """Attributes of the group that the tensors say in full."""
    losses: tuple[Loss, ...] = attrs.field(default=())


def broken(name: str, convention: str, why: Exception) -> Loss:
    """Return the loss of a group that declares a convention and breaks it."""
    return unread(
        f"the group {name!r} declares {convention}, and its arrays are listed instead",
        name,
        why,
        "convention",
    )


def refused(name: str, why: str) -> DataFileError:
    """Return the error of a tensor whose parts contradict each other."""
    return DataFileError(Loss(f"{name!r} cannot be put together, {why}", name, "convention", RAW))


def whole(part: Part, limits: Limits) -> Array:
    """Return all elements of a part."""
    check_bytes(np.prod(part.extents, dtype=float) * part.dtype.itemsize, part.name, limits)
    return np.asarray(cast("npt.ArrayLike", part.read()))


def integers_of(part: Part, limits: Limits) -> IntArray:
    """Return all elements of a part of integers; numbers above 63 bits are below 0, and fail every check."""
    return whole(part, limits).astype(np.int64, copy=False)


def counted(value: object, limits: Limits) -> int | None:
    """Return an integer that can be an extent, or None."""
    return value if type(value) is int and 0 <= value <= limits.extent else None
