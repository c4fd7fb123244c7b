"""Operations of every shape, for all kinds and representations."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import shown_array, tuples_of
from tensorwrapper._error_text import brief, counted
from tensorwrapper._integers import MAX_INT64, to_int, to_ints
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    JaggedModeError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape.boxes._keys import Entry, mode_of
from tensorwrapper.typing import Extents, Index, IntArray, Kind, Order

BATCH = 8192  # indices made at a time by walks: large enough to amortise, small enough to stay in cache


def to_index(index: Iterable[SupportsIndex], rank: int, what: str = "an index") -> Index:
    """Return `index` as a tuple of `rank` integers; ``what`` names it in the error."""
    numbers = to_ints(index, what)
    if len(numbers) != rank:
        raise RankError(
            f"{brief(numbers)} has {counted(len(numbers), 'entry')}, but {what} of a shape of rank {rank} "
            f"has {rank}"
        )
    return numbers


def integer_array(values: npt.ArrayLike, what: str) -> npt.NDArray[np.integer[Any]]:
    """Return `values` as an array of integers of any type; ``what`` names them in the error."""
    try:
        array: npt.NDArray[Any] = shown_array(values)
    except DTypeError as error:
        raise ConversionError(f"{what} must be integers, not {brief(values)}") from error
    except ValueError as error:
        raise ConversionError(
            f"{what} must form a rectangular array of integers, not {brief(values)}"
        ) from error
    if isinstance(values, list | tuple):
        return _array_of_items(cast("Sequence[object]", values), array, what)
    if array.dtype.kind in "iu" or not array.size:
        return array
    raise ConversionError(f"{what} must be integers, not {array.dtype}")


def _array_of_items(
    values: Sequence[object], array: npt.NDArray[Any], what: str
) -> npt.NDArray[np.integer[Any]]:
    """Return the `array` that NumPy makes of nested lists, if their items are integers and nothing else."""
    items, types = values, set(map(type, values))
    while types & {list, tuple, np.ndarray}:
        if np.ndarray in types:
            rows = [cast("npt.NDArray[Any]", item) for item in items if isinstance(item, np.ndarray)]
            for row in rows:
                if row.dtype.kind not in "iu" and row.size:
                    raise ConversionError(f"{what} must be integers, not {row.dtype}")
            if len(rows) == len(items) and array.dtype.kind in "iu":
                return array
            items = [item.tolist() if isinstance(item, np.ndarray) else item for item in items]
        if not set(map(type, items)) <= {list, tuple}:
            break
        items = list(itertools.chain.from_iterable(cast("Iterable[Iterable[object]]", items)))
        types = set(map(type, items))
    if types != {int}:
        # NumPy turns bools among integers into integers, integers of some types together into floats, and
        # knows no other objects with an ``__index__``.
        items = [_to_item(item, array, what) for item in items]
    if array.dtype.kind in "iu" or not array.size:
        return array
    numbers = cast("Sequence[int]", items)
    if not all(-MAX_INT64 <= number <= MAX_INT64 for number in numbers):
        raise SizeOverflowError(f"{what} must fit into 64 bits, not {brief(values)}")
    return np.array(numbers, dtype=np.int64).reshape(array.shape)


def _to_item(item: object, array: npt.NDArray[Any], what: str) -> int:
    try:
        return to_int(cast("SupportsIndex", item), what)
    except ConversionError as error:
        raise ConversionError(
            f"{what} must be integers, but {item!r} is a {type(item).__name__}, and an array of all of them "
            f"has the type {array.dtype}"
        ) from error


def to_index_array(indices: npt.ArrayLike, rank: int) -> IntArray:
    """Return `indices` as an int64 array whose last axis holds one index each."""
    array = integer_array(indices, "indices")
    if array.ndim < 1 or array.shape[-1] != rank:
        raise RankError(f"an array of indices of rank {rank} has shape (..., {rank}), not {array.shape}")
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        raise OutOfBoundsError("an index above the range of int64 is in no shape that arrays can address")
    return array.astype(np.int64, copy=False)


def to_ordinal_array(ordinals: npt.ArrayLike) -> IntArray:
    """Return `ordinals` as an int64 array."""
    return to_index_array(integer_array(ordinals, "ordinals")[..., np.newaxis], 1)[..., 0]


def walk_batches(size: int, indices_at: Callable[[IntArray], IntArray]) -> Iterator[Index]:
    """Return an iterator over the indices with the ordinals 0 to `size`, made a batch at a time."""
    starts = range(0, size, BATCH)
    return tuples_of(
        indices_at(np.arange(start, min(start + BATCH, size), dtype=np.int64)) for start in starts
    )


class ShapeCommon(ABC):
    """Abstract: all that follows but `__hash__`, `layers`, `extents`, `extent` and `padding`.

    The mixin of each kind (`SmoothCommon`, `JaggedCommon`) reduces it to a few primitives.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """The kind of the shape: a box, a shape with dependent modes, or one with layers."""

    is_box: ClassVar[bool] = False
    """True if the shape is of the kind ``"smooth"``: one extent for each mode, and no layers."""

    has_layers: ClassVar[bool] = False
    """True if the shape is of the kind ``"nested"``, even with one layer."""

    @property
    @abstractmethod
    def rank(self) -> int:
        """The number of modes."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of elements, as a Python integer of any size."""

    @property
    @abstractmethod
    def origin(self) -> Index:
        """The first index of every mode; a mode whose origin varies raises `JaggedModeError`."""

    @abstractmethod
    def extent_at(self, prefix: Iterable[SupportsIndex]) -> int:
        """Return the extent of mode ``len(prefix)`` under the absolute indices `prefix`."""

    @abstractmethod
    def origin_at(self, prefix: Iterable[SupportsIndex]) -> int:
        """Return the first index of mode ``len(prefix)`` under the absolute indices `prefix`."""

    @abstractmethod
    def extent_bounds(self, mode: SupportsIndex) -> tuple[int, int]:
        """Return the least and the greatest extent of `mode`; (0, 0) if no prefix leads to it."""

    @abstractmethod
    def is_uniform(self, mode: SupportsIndex) -> bool:
        """Tell whether `mode` has one extent whatever came before."""

    @abstractmethod
    def dependencies(self, mode: SupportsIndex) -> tuple[int, ...]:
        """Return the earlier modes on which the extent or the origin of `mode` depends."""

    @abstractmethod
    def bounding_box(self, prefix: Index = ()) -> tuple[Extents, Index]:
        """Return extents and origin of the smallest box around what is left under `prefix`."""

    @abstractmethod
    def __contains__(self, index: object) -> bool: ...

    @abstractmethod
    def contains(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return a mask of the indices, an ``(..., rank)`` array, that are in the shape."""

    @abstractmethod
    def ordinal(self, index: Iterable[SupportsIndex]) -> int:
        """Return how many indices come before `index` in row-major order."""

    @abstractmethod
    def index(self, ordinal: SupportsIndex) -> Index:
        """Return the index with `ordinal` indices before it in row-major order."""

    @abstractmethod
    def ordinals(self, indices: npt.ArrayLike) -> IntArray:
        """Return the ordinal of each row of an ``(..., rank)`` array of indices."""

    @abstractmethod
    def indices_at(self, ordinals: npt.ArrayLike) -> IntArray:
        """Return the ``(..., rank)`` array of the indices with these ordinals."""

    @abstractmethod
    def walk(self, order: Order) -> Iterator[Index]:
        """Return an iterator over all absolute indices."""

    @abstractmethod
    def select(self, entries: tuple[Entry, ...], *, clip: bool = False) -> "ShapeCommon":
        """Return the part of the shape that one entry per mode selects."""

    @abstractmethod
    def slice(
        self, first: Iterable[SupportsIndex], last: Iterable[SupportsIndex], *, clip: bool = False
    ) -> "ShapeCommon":
        """Return the part from index `first` up to, not including, `last` in every mode."""

    @abstractmethod
    def chip(self, *leading: SupportsIndex) -> "ShapeCommon":
        """Return what is left when the leading modes are pinned to `leading`; they are dropped."""

    @abstractmethod
    def leading(self, modes: SupportsIndex) -> "ShapeCommon":
        """Return the shape of the prefixes of `modes` indices: the leading modes without the rest."""

    @abstractmethod
    def translate_to(self, origin: Iterable[SupportsIndex]) -> "ShapeCommon":
        """Return the shape moved so that it starts at `origin`."""

    @abstractmethod
    def translate_by(self, offset: Iterable[SupportsIndex]) -> "ShapeCommon":
        """Return the shape moved by `offset`, one integer per mode."""

    @abstractmethod
    def permute(self, order: Iterable[SupportsIndex]) -> "ShapeCommon":
        """Return the shape whose mode ``k`` is mode ``order[k]`` of this one (NumPy's transpose)."""

    @abstractmethod
    def is_congruent(self, other: "ShapeCommon") -> bool:
        """Tell whether kind and extents agree at every prefix, wherever the two shapes lie."""

    @abstractmethod
    def __eq__(self, other: object) -> bool: ...

    def __hash__(self) -> int:
        # The one place where shapes are hashed: facts that every representation of equal shapes answers
        # alike, and none walks its rows for.
        return hash((self.kind, self.layers, self.rank, self.size, self.bounding_box()))

    @abstractmethod
    def token(self) -> tuple[object, ...]:
        """Return what tells the shape from others of its kind and layers, as integers and texts."""

    @property
    def layers(self) -> tuple[int, ...]:
        """Number of modes of each layer: one layer unless the shape is nested."""
        return (self.rank,)

    @property
    def extents(self) -> Extents:
        """The extent of every mode; a mode that is not uniform raises `JaggedModeError`."""
        return tuple([self.extent(mode) for mode in range(self.rank)])

    @property
    def padding(self) -> int:
        """Number of elements that the bounding box has in addition to the shape."""
        volume = 1
        for extent in self.bounding_box()[0]:
            volume *= extent
        return volume - self.size

    def extent(self, mode: SupportsIndex) -> int:
        """Return the extent of `mode`, counted from the last if negative.

        Raises
        ------
        JaggedModeError
            If the mode is not uniform; the text names the least and greatest extent.
        RankError
            If there is no such mode.
        """
        number = mode_of(mode, self.rank)
        least, greatest = self.extent_bounds(number)
        if least != greatest:
            raise JaggedModeError(
                f"mode {number} has no single extent: it varies from {least} to {greatest} with the modes "
                f"{self.dependencies(number)}; extent_at(prefix) and extent_bounds({number}) answer"
            )
        return greatest
