"""Operations of every layout, for any computation of offsets."""
# ruff: noqa: ARG002 - what a layout without a rule refuses does not look at what it is given

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from operator import add
from typing import Any, ClassVar, SupportsIndex, TypeAlias, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import different
from tensorwrapper._error_text import brief, shortened
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    LayoutError,
    OutOfBoundsError,
    ReadOnlyError,
    SizeOverflowError,
)
from tensorwrapper.layout.axes._axis import AxisMap
from tensorwrapper.layout.axes._search import all_positions, first_positions
from tensorwrapper.layout.axes._sums import Budget
from tensorwrapper.layout.boxes._hierarchy import IntTree, OrdinalOrder
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.shape.lowlevel import ModeNames, integer_array, to_index_array
from tensorwrapper.typing import Extents, Index, IntArray, PositionalKey

_SEARCHED = 1 << 20  # elements up to which overlaps that no rule decides are looked for
_STEPS = 1 << 18  # of a search for the elements at an offset, where modes interleave


def check_region(region: Shape[Any], shape: Shape[Any], allowed: str) -> None:
    """Raise if `region` cannot be a window of `shape`: another kind, or another number of modes."""
    if region.kind != shape.kind or region.rank != shape.rank:
        raise LayoutError(
            f"a window of {shortened(str(shape))} is {allowed}, not the {region.kind} shape "
            f"{shortened(str(region))}"
        )


def to_inside(indices: npt.ArrayLike, shape: Shape[Any]) -> IntArray:
    """Return an ``(..., rank)`` array of indices as int64; the error names the first that is outside."""
    # In int64, whatever was given: a product with a stride must not wrap in uint8.
    array = to_index_array(indices, shape.rank)
    inside = shape.contains(array)
    if not inside.all():
        place = np.unravel_index(int(np.argmin(inside)), inside.shape)
        raise OutOfBoundsError(f"index {brief(tuple(array[place].tolist()))} is not in {shape}")
    return array


def to_offset_array(offsets: npt.ArrayLike) -> IntArray:
    """Return offsets, which users gave, as int64."""
    return to_index_array(integer_array(offsets, "offsets")[..., np.newaxis], 1)[..., 0]


def fits_int64(layout: "LayoutCommon", base: int) -> bool:
    """Tell whether offsets, the distances between them, and what they are counted from fit into 64 bits."""
    for find in (layout.reach, layout.bounds):
        least, greatest = find()
        if min(least, base) >= -MAX_INT64 and max(greatest, base, greatest - least) <= MAX_INT64:
            return True
    return False


def check_int64(layout: "LayoutCommon", base: int) -> None:
    """Raise unless `fits_int64`: before any array is made that would wrap."""
    if not fits_int64(layout, base):
        least, greatest = layout.bounds()
        raise SizeOverflowError(
            f"offsets from {least} to {greatest}, counted from {base}, or the distance between them leave 64 "
            "bits; use offset_of() and index_of()"
        )


def new_table(extents: Extents) -> IntArray:
    """Return an empty array for the offsets of a box; `SizeOverflowError` if it cannot exist."""
    try:
        return np.empty(extents, dtype=np.int64)
    except (MemoryError, ValueError) as error:
        raise SizeOverflowError(f"no array has the shape {extents}, not in this memory: {error}") from error


def check_out(out: object, shape: Shape[Any]) -> None:
    """Raise unless the offsets of all elements of `shape` can be written over `out`."""
    if not isinstance(out, np.ndarray):
        raise ConversionError(f"out must be an array, not {out!r} ({type(out).__name__})")
    array = cast("npt.NDArray[Any]", out)
    if array.dtype != np.int64:
        raise DTypeError(f"offsets are written over an array of type int64, not {array.dtype}")
    extents = shape.extents if shape.is_box else (shape.size,)
    if array.shape != extents:
        raise ExtentMismatchError(f"the offsets form an array of shape {extents}, but out has {array.shape}")
    if not array.flags.writeable:
        raise ReadOnlyError("out is read-only, so no offsets can be written over it")


def first_index_at(layout: "LayoutCommon", offset: int) -> Index:
    """Return the first index at `offset`, in row-major order, of a layout with a map per mode."""
    shape, (base, axes) = layout.shape, layout.mode_maps("index_of")
    budget = Budget(_STEPS, f"which index of {shape} lies at offset {offset}")
    found = first_positions(axes, offset - base, budget) if shape.size else None
    if found is None:
        raise no_element(shape, offset)
    return tuple(map(add, found, shape.origin))


def no_element(shape: Shape[Any], offset: int) -> OutOfBoundsError:
    """Return the error for an offset at which there is no element."""
    return OutOfBoundsError(f"no element of {shape} lies at offset {offset}")


def search_injective(layout: "LayoutCommon", base: int) -> bool:
    """Return True if a search finds no shared offset: for layouts that no rule decides.

    A layout that is too large to search counts as overlapping, so tensors over it are read-only: the safe
    side.
    """
    size: int = layout.shape.size
    if size > _SEARCHED or not fits_int64(layout, base):
        return False
    return len(different(layout.to_numpy())) == size


ListTable: TypeAlias = tuple[IntArray, IntArray, int]
"""How many elements come before each row, and the total; where each begins, if it has any; the step."""

StridedBox: TypeAlias = tuple[Extents, Index, Index, int]
"""Extents, origin, strides, and the offset at the origin: all there is to say of a box with strides."""


@final
@frozen
class TileView:
    """A box seen through a tiling: the layout of the box, its tiles, and the number of the first of them."""

    tiling: Tiling
    under: "LayoutCommon"
    grid_origin: Index


AlgebraParts: TypeAlias = tuple[IntTree, IntTree, int, OrdinalOrder, tuple[Any, ...]]
"""The parts of a layout in the algebra: extents, strides, offset, order, and the later stages."""


@final
@frozen
class ModeOperation:
    """An operation on the modes of a layout, with one implementation per family of layouts.

    `LayoutCommon.change` selects the implementation of its family, so callers need not test classes.
    """

    name: str
    """What errors call it."""
    of_maps: "Callable[[LayoutCommon], LayoutCommon]"
    """Of a layout that has `mode_maps`; it asks for them, and those without refuse."""
    of_cells: "Callable[[LayoutCommon], LayoutCommon] | None" = None
    """Of a layout of cells; refused if None."""
    of_tiles: "Callable[[LayoutCommon], LayoutCommon] | None" = None
    """For a box with a separate position for each tile; the same as `of_maps` if None."""
    modes: "Callable[[LayoutCommon], Iterable[int | None]] | None" = None
    """The source mode of each mode of the result, None for a new one; unchanged by default.

    Called after the operation, which has checked its arguments. Layers and names of modes follow it."""


class LayoutCommon(ABC):
    """Abstract base: the marked methods are the primitives.

    A layout is a function from the indices of a shape to offsets, counted in elements. Below the primitives
    are other methods, with defaults for layouts without a rule: None, or an error with the reason.
    `CustomLayout` derives all of them from two primitives.
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

    def reach(self) -> tuple[int, int]:
        """Return numbers between which all offsets are known to lie, where bounds would have to be found."""
        return self.bounds()

    @property
    @abstractmethod
    def is_contiguous(self) -> bool:
        """Return True if the elements in row-major order have consecutive offsets."""

    @property
    @abstractmethod
    def is_injective(self) -> bool:
        """Return True if all elements have different offsets."""

    @abstractmethod
    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        """Return the place of the element at an absolute index."""

    @abstractmethod
    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        """Return the place of each row of an ``(..., rank)`` array of absolute indices."""

    @abstractmethod
    def index_of(self, offset: SupportsIndex) -> Index:
        """Return the first index, in row-major order, whose element has this `offset`."""

    @abstractmethod
    def to_numpy(self) -> IntArray:
        """Return the offsets of all elements: an array of the shape's extents, or flat if it is jagged."""

    def write_offsets(self, out: IntArray) -> None:
        """Write what `to_numpy` returns over `out`, which is of that type and shape."""
        # Overridden for speed, where the offsets need not be made elsewhere first.
        out[...] = self.to_numpy()

    @abstractmethod
    def at(self, key: PositionalKey) -> "LayoutCommon":
        """Return the layout of a selection by a positional key; the result starts at zero."""

    @abstractmethod
    def window(self, region: Shape[Any]) -> "LayoutCommon":
        """Return the layout of a part of the shape; the result keeps the origin of `region`."""

    @property
    def span(self) -> int:
        """Number of offsets from the least to the greatest, both included."""
        least, greatest = self.bounds()
        return greatest - least + 1

    def refusal(self, what: str) -> LayoutError:
        """Return the error that says why `what` cannot be done to this layout."""
        shape = self.shape
        if shape.is_box:
            return LayoutError(
                f"{what} needs a layout with one rule per mode; this one over {shape} is composite or keeps "
                f"tiles together: `t.to_dense().{what}(...)` is of a tensor in tiles"
            )
        layered = ", which has layers: flatten() it first" if shape.has_layers else ""
        return LayoutError(f"{what} needs a layout over a box; this one is over {shape}{layered}")

    @property
    def rank(self) -> int:
        """Number of modes."""
        return self.shape.rank

    @property
    def names(self) -> ModeNames | None:
        """The name of each mode, or None for an unnamed mode; None if all are unnamed."""
        return None

    def unnamed(self) -> "LayoutCommon":
        """Return the same layout without names of its modes."""
        return self

    # Properties of its rules.

    has_mode_maps: ClassVar[bool] = False
    """Whether `mode_maps` answers: an offset is a base plus one number per mode, over a box."""

    def mode_maps(self, what: str) -> tuple[int, tuple[AxisMap, ...]]:
        """Return the base and one axis map per mode; ``what`` names the operation that needs them."""
        raise self.refusal(what)

    @property
    def mode_strides(self) -> Index | None:
        """The step of each mode, over a box; None if a mode has no single one."""
        return None

    def outer(self, key: object) -> "LayoutCommon | None":
        """Return the outer product that a key selects, where that is known at once; else None."""
        return None

    def gathered(self, mode: SupportsIndex, positions: object) -> "LayoutCommon | None":
        """Return the positions of a mode, where what they select is known at once; else None."""
        return None

    def strided_box(self) -> StridedBox | None:
        """Return extents, origin, strides and offset, over a box; None if a mode has no single step."""
        return None

    def run(self) -> slice | None:
        """Return where the elements are if they are as in new memory; None if they are not.

        They are one after the other, in row-major order. Over a box, each mode has the stride of new memory,
        also those of one or no index, whose stride moves nothing.
        """
        return slice(self.offset, self.offset + self.shape.size) if self.is_contiguous else None

    def moved_to_zero(self) -> "LayoutCommon | None":
        """Return the same layout with the offset 0; None without a rule."""
        return None

    def repeated_mode(self) -> int | None:
        """Return the first mode that gives several elements one place by itself, if there is one."""
        return None

    def cell_table(self) -> tuple[IntArray, IntArray] | None:
        """Return the offset of each cell of a jagged shape, or of each row of a box, and its strides.

        None if cells are not strided; without modes every element is a cell.
        """
        return None

    def list_table(self) -> ListTable | None:
        """Return the rows of elements that the cells are, if all have one step; else None."""
        return None

    def places_between(self, first: int, last: int) -> Iterator[IntArray] | None:
        """Return the offsets of the ordinals of a run, some at a time; None without a rule.

        They may be read-only.
        """
        return None

    def cell(self, number: int) -> "LayoutCommon":
        """Return the layout of one cell of a jagged shape, counted from 0 in row-major order."""
        raise self.refusal("a cell")

    @property
    def is_packed(self) -> bool:
        """Return True if, over a jagged shape, an offset is the first one plus the ordinal."""
        return False

    @property
    def is_composite(self) -> bool:
        """Return True for a composition of layouts, whose properties mostly need a search."""
        return False

    @property
    def padded_box(self) -> "LayoutCommon | None":
        """The layout of the bounding box in which the elements of a jagged shape have their places."""
        return None

    @property
    def tiled(self) -> TileView | None:
        """The box, and its tiles, through which it is seen; None if it is not."""
        return None

    @property
    def tiles(self) -> Tiling | None:
        """The tiles that storage keeps together, each in one piece."""
        return None

    @property
    def placed_tiles(self) -> Tiling | None:
        """Tiles at any positions, each with separate strides."""
        return None

    @property
    def inner_order(self) -> Index | None:
        """The modes of a tile that storage keeps together, the fastest first."""
        return None

    @property
    def keeps_tiles(self) -> bool:
        """Return True if the offset of an element depends on its tile."""
        return self.tiles is not None or self.placed_tiles is not None

    @property
    def cell_rank(self) -> int | None:
        """Number of modes of a cell of a jagged shape, each with a stride; None if not strided."""
        return None

    @property
    def layers(self) -> tuple[int, ...]:
        """Number of modes of each layer; empty if the shape has no layers."""
        return ()

    def without_layers(self) -> "LayoutCommon":
        """Return the same layout without layers."""
        return self

    def as_strided(self) -> "LayoutCommon | None":
        """Return the same layout as `Strided`, without nested modes; None if a mode has several steps."""
        return None

    def copy_form(self) -> "LayoutCommon":
        """Return the same layout in the form that copies know best."""
        return self.as_strided() or self

    # Ordinals and nested modes.

    @property
    def ordinal_order(self) -> OrdinalOrder:
        """Order of ordinals: "lex" (the last mode fastest) or "colex" (the first)."""
        return "lex"

    @property
    def mode_tree(self) -> "IntTree | None":
        """The extents as modes are nested; None if they cannot be."""
        return None

    @property
    def stride_tree(self) -> "IntTree | None":
        """The strides as modes are nested; None if there are none."""
        return self.mode_strides

    @property
    def has_ordinals(self) -> bool:
        """Return True if it belongs to the algebra of nested modes, with its own order of ordinals."""
        return False

    def algebra_parts(self) -> AlgebraParts | None:
        """Return the parts of this layout in the algebra; None if it does not belong to it."""
        return None

    def offset_of_ordinal(self, ordinal: object) -> int:
        """Return the offset at an ordinal, or at a tuple with one ordinal per mode of `mode_tree`."""
        if isinstance(ordinal, tuple | list):
            raise LayoutError(
                f"offset_of_ordinal needs a strided layout, which this one over {self.shape} is not, for "
                "an entry per mode"
            )
        return self.offset_of(self.shape.index(cast("SupportsIndex", ordinal)))

    def by_ordinal(self) -> IntArray:
        """Return the offsets of all elements in the layout's own order, in one dimension."""
        return self.to_numpy().ravel()

    # From offsets to indices.

    def indices_of(self, offset: int, limit: int) -> list[Index]:
        """Return all indices whose elements have this `offset`, in row-major order; never an empty list.

        `LayoutError` if there are more than `limit`.
        """
        if not self.has_mode_maps:
            if not self.is_injective:
                raise self.refusal("indices_of")
            return [self.index_of(offset)]
        shape, (base, axes) = self.shape, self.mode_maps("indices_of")
        budget = Budget(_STEPS, f"which indices of {shape} lie at offset {offset}")
        found = all_positions(axes, offset - base, budget, limit) if shape.size else []
        if not found:
            raise no_element(shape, offset)
        return [tuple(map(add, places, shape.origin)) for places in found] if any(shape.origin) else found

    def indices_at(self, offsets: IntArray) -> IntArray:
        """Return the first index whose element has each of a flat array of offsets."""
        raise self.refusal("indices_at")

    def locate(self, offsets: IntArray) -> tuple[IntArray, IntArray] | None:
        """Return which of some ascending offsets have elements, and their ordinals; None without a rule."""
        return None

    # Other layouts of the same memory.

    def permute(self, order: Iterable[SupportsIndex]) -> "LayoutCommon":
        """Return the layout whose mode k is mode ``order[k]`` of this one."""
        raise self.refusal("permute")

    def reverse(self, modes: Iterable[int]) -> "LayoutCommon":
        """Return the layout with the order of some modes reversed."""
        raise self.refusal("reverse")

    def gather(self, mode: SupportsIndex, positions: npt.ArrayLike) -> "LayoutCommon":
        """Return the layout of the given positions of a mode, under every prefix the same ones; of cells."""
        raise self.refusal("gather")

    def change(self, operation: ModeOperation) -> "LayoutCommon":
        """Return what an operation makes of the modes of this layout."""
        in_tiles = self.keeps_tiles and not self.has_mode_maps and self.shape.is_box
        if operation.of_tiles is not None and in_tiles:
            return operation.of_tiles(self)
        return operation.of_maps(self)

    def as_tiled(self, tiling: Tiling) -> "LayoutCommon | None":
        """Return the view of storage by a tiling of its box, if it has a special rule."""
        return None

    def moved_to(self, shape: Shape[Any]) -> "LayoutCommon":
        """Return the layout over `shape`, which differs from its own at most in the origin."""
        return cast("LayoutCommon", attrs.evolve(cast("Any", self), shape=shape))

    # As text.

    def text(self) -> str | None:
        """Return the text of the layout in CuTe's notation; None if it has no such notation."""
        return None

    def expression(self) -> str:
        """Return what makes the layout again, or between angle brackets what it is."""
        return f"Layout({self.shape!r}, offset={self.offset})"
