"""Interface between conventions and files, common to HDF5 and Zarr."""

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

Read: TypeAlias = Callable[[], object]
"""Function that returns a tensor or a view, lazily where possible."""

RAW: Final = "tw.open(path, raw=True) lists its arrays"
ROOT: Final = "array"
"""Name of a tensor that is a whole file."""


@final
@frozen(eq=False)
class Part:
    """One array of a file, before reading elements."""

    name: str
    extents: Extents
    dtype: "np.dtype[Any]"
    """Dtype of the elements; `StringDType` for any kind of text."""
    read: Read


@final
@frozen(eq=False)
class Group:
    """A group of arrays with attributes."""

    name: str
    attribute: Callable[[str], object]
    """Function that returns an attribute as a Python value, or None if it is missing or unsupported."""
    part: Callable[[str], Part | None]
    """Function that returns the array at a path in the group, or None if the path is free.

    It raises `DataFileError` if the object at this path cannot be a part.
    """
    limits: Limits
    null_rows: NullRows = "refuse"


@final
@frozen(eq=False)
class Put:
    """Tensors that a convention assembles from a group."""

    packing: str
    parts: tuple[str, ...]
    """Paths of the arrays that are hidden."""
    tensors: tuple[tuple[str, Read], ...]
    """Readers by suffix: "" is the group itself, ".x" its field x."""
    attributes: frozenset[str]
    """Attributes of the group that the tensors fully represent."""
    losses: tuple[Loss, ...] = attrs.field(default=())


def broken(name: str, convention: str, why: Exception) -> Loss:
    """Return the loss of a group that violates the convention that it declares."""
    return unread(
        f"the group {name!r} declares {convention}, and its arrays are listed instead",
        name,
        why,
        "convention",
    )


def refused(name: str, why: str) -> DataFileError:
    """Return the error of a tensor with inconsistent parts."""
    return DataFileError(Loss(f"cannot assemble {name!r}: {why}", name, "convention", RAW))


def whole(part: Part, limits: Limits) -> Array:
    """Return all elements of a part."""
    check_bytes(np.prod(part.extents, dtype=float) * part.dtype.itemsize, part.name, limits)
    return np.asarray(cast("npt.ArrayLike", part.read()))


def integers_of(part: Part, limits: Limits) -> IntArray:
    """Return all elements of an integer part. Numbers above 63 bits become negative, and fail every check."""
    return whole(part, limits).astype(np.int64, copy=False)


def counted(value: object, limits: Limits) -> int | None:
    """Return an integer that can be an extent, or None."""
    return value if type(value) is int and 0 <= value <= limits.extent else None
