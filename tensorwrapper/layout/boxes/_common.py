"""What every layout can do, however it computes an element's place."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    LayoutError,
    OutOfBoundsError,
    ReadOnlyError,
    SizeOverflowError,
)
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import integer_array, to_index_array
from tensorwrapper.typing import Index, IntArray, PositionalKey

__all__ = [
    "LayoutCommon",
    "check_int64",
    "check_out",
    "check_region",
    "fits_int64",
    "search_injective",
    "to_inside",
    "to_offset_array",
]

_SEARCHED = 1 << 20  # elements up to which overlaps that no rule decides are looked for


def check_region(region: Shape[Any], shape: Shape[Any], allowed: str) -> None:
    """Raise if `region` cannot be a window of `shape`: another kind, or another number of modes."""
    if region.kind != shape.kind or region.rank != shape.rank:
        raise LayoutError(f"a window of {shape} is {allowed}, not the {region.kind} shape {region}")


def to_inside(indices: npt.ArrayLike, shape: Shape[Any]) -> IntArray:
    """Return an ``(..., rank)`` array of indices as int64; the error names the first that is outside."""
    # In int64, whatever was given: a product with a stride must not wrap in uint8.
    array = to_index_array(indices, shape.rank)
    inside = shape.contains(array)
    if not inside.all():
        place = np.unravel_index(int(np.argmin(inside)), inside.shape)
        raise OutOfBoundsError(f"index {tuple(array[place].tolist())} is not in {shape}")
    return array


def to_offset_array(offsets: npt.ArrayLike) -> IntArray:
    """Return offsets, which users gave, as int64."""
    return to_index_array(integer_array(offsets, "offsets")[..., np.newaxis], 1)[..., 0]


def fits_int64(layout: "LayoutCommon", base: int) -> bool:
    """Tell whether offsets, the distances between them, and what they are counted from fit into 64 bits."""
    least, greatest = layout.bounds()
    return min(least, base) >= -MAX_INT64 and max(greatest, base, greatest - least) <= MAX_INT64


def check_int64(layout: "LayoutCommon", base: int) -> None:
    """Raise unless `fits_int64`: before any array is made that would wrap."""
    if not fits_int64(layout, base):
        least, greatest = layout.bounds()
        raise SizeOverflowError(
            f"offsets from {least} to {greatest}, counted from {base}, or the distance between them leave 64 "
            "bits; use offset_of() and index_of()"
        )


def check_out(out: object, shape: Shape[Any]) -> None:
    """Raise unless the offsets of all elements of `shape` can be written over `out`."""
    if not isinstance(out, np.ndarray):
        raise ConversionError(f"out must be an array, not {out!r} ({type(out).__name__})")
    array = cast("npt.NDArray[Any]", out)
    if array.dtype != np.int64:
        raise DTypeError(f"offsets are written over an array of type int64, not {array.dtype}")
    extents = shape.extents if shape.kind == "smooth" else (shape.size,)
    if array.shape != extents:
        raise ExtentMismatchError(f"the offsets form an array of shape {extents}, but out has {array.shape}")
    if not array.flags.writeable:
        raise ReadOnlyError("out is read-only, so no offsets can be written over it")


def search_injective(layout: "LayoutCommon", base: int) -> bool:
    """Tell by looking whether no two elements share a place: for layouts that no rule decides.

    A layout that is too large to search counts as overlapping, which makes what lies on it read-only: the
    safe side.
    """
    size: int = layout.shape.size
    if size > _SEARCHED or not fits_int64(layout, base):
        return False
    return len(np.unique(layout.to_numpy())) == size


class LayoutCommon(ABC):
    """Abstract: all that follows but `write_offsets` and `span`.

    A layout is a function from the indices of a shape to offsets, counted in elements.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> Shape[Any]:
        """The shape whose indices have places."""

    @property
    @abstractmethod
    def offset(self) -> int:
        """The place of the element at the shape's origin."""

    @abstractmethod
    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest offset; (0, -1) if there is no element."""

    @property
    @abstractmethod
    def is_contiguous(self) -> bool:
        """Whether the elements in row-major order lie at consecutive offsets."""

    @property
    @abstractmethod
    def is_injective(self) -> bool:
        """Whether no two elements share a place."""

    @abstractmethod
    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        """Return the place of the element at an absolute index."""

    @abstractmethod
    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        """Return the place of each row of an ``(..., rank)`` array of absolute indices."""

    @abstractmethod
    def index_of(self, offset: SupportsIndex) -> Index:
        """Return the first index, in row-major order, whose element lies at `offset`."""

    @abstractmethod
    def to_numpy(self) -> IntArray:
        """Return the offsets of all elements: an array of the shape's extents, or flat if it is jagged."""

    def write_offsets(self, out: IntArray) -> None:
        """Write what `to_numpy` returns over `out`, which is of that type and shape."""
        # Overridden for speed, where the offsets need not be made elsewhere first.
        out[...] = self.to_numpy()

    @abstractmethod
    def at(self, key: PositionalKey) -> "LayoutCommon":
        """Return the layout of what a positional key selects; the result starts at zero."""

    @abstractmethod
    def window(self, region: Shape[Any]) -> "LayoutCommon":
        """Return the layout of a part of the shape; the result keeps the origin of `region`."""

    @property
    def span(self) -> int:
        """How many places lie from the least offset to the greatest, both included."""
        least, greatest = self.bounds()
        return greatest - least + 1
