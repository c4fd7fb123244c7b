"""`Layout`, the one class that users meet: where each index of a shape lives, counted in elements."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, SupportsIndex, cast, final

import attrs
import numpy.typing as npt

from tensorwrapper._integers import to_int, to_ints
from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout._common import LayoutCommon
from tensorwrapper.layout._packed import contiguous
from tensorwrapper.layout._strided import Strided, packed_strides
from tensorwrapper.layout._tiled import TiledStrided
from tensorwrapper.shape import Shape, ShapeLike, Tiling, as_shape
from tensorwrapper.shape._keys import mode_of
from tensorwrapper.shape._smooth import to_permutation
from tensorwrapper.typing import Extents, Index, IndexT_co, IntArray, Order, PositionalKey

__all__ = ["Layout", "wrap_layout"]


@final
@attrs.frozen(init=False, repr=False, getstate_setstate=False)
class Layout(Generic[IndexT_co]):
    """Where each index of a shape lives, as an offset in elements.

    Over a box a layout is strided; over a jagged shape it is packed, row after row (over a tiled shape:
    tile after tile); `tiled` gives the tiled view of a strided layout. A layout holds no data.

    Parameters
    ----------
    shape
        The shape whose indices get places.
    order
        Which modes run fastest: "C" (the last), "F" (the first), or a permutation whose entry k is the
        k-th fastest mode, as Boost's storage order.
    ascend
        Per mode, whether the places go up with the index; all do if not given.
    strides
        The step of each mode, instead of `order` and `ascend`.
    offset
        The place of the element at the shape's origin; by default the least that makes all places
        non-negative (0 with `strides`).

    Raises
    ------
    LayoutError
        If options do not go together, or a jagged shape is given anything but row-major order.

    Examples
    --------
    >>> from tensorwrapper import Layout, Shape
    >>> row = Layout(Shape(3, 4))
    >>> row.strides, row.offset_of((2, 1)), row.index_of(9)
    ((4, 1), 9, (2, 1))
    """

    _held: LayoutCommon

    def __init__(
        self,
        shape: Shape[IndexT_co],
        *,
        order: Order | Iterable[SupportsIndex] = "C",
        ascend: Iterable[bool] | None = None,
        strides: Iterable[SupportsIndex] | None = None,
        offset: SupportsIndex | None = None,
    ) -> None:
        space = as_shape(shape)
        start = None if offset is None else to_int(offset, "an offset")
        held: LayoutCommon
        if strides is not None:
            if not _is_default(order) or ascend is not None:
                raise LayoutError("give either strides, or order and ascend")
            held = _from_strides(space, to_ints(strides, "strides"), start or 0)
        elif space.kind != "smooth":
            if not _is_default(order) or ascend is not None:
                raise LayoutError(f"a {space.kind} shape is packed in row-major order; it has no other")
            held = contiguous(space, start or 0)
        else:
            held = _from_order(space, order, ascend, start)
        object.__setattr__(self, "_held", held)

    @property
    def shape(self) -> Shape[IndexT_co]:
        """The shape whose indices have places."""
        return self._held.shape

    @property
    def strides(self) -> Index:
        """The step of each mode, in elements.

        Raises
        ------
        LayoutError
            If the layout is not strided.
        """
        return self._strided("strides").strides

    @property
    def offset(self) -> int:
        """The place of the element at the shape's origin."""
        return self._held.offset

    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest offset; (0, -1) if there is no element. O(rank)."""
        return self._held.bounds()

    @property
    def span(self) -> int:
        """How many places lie from the least offset to the greatest, both included."""
        return self._held.span

    @property
    def is_strided(self) -> bool:
        """Whether every mode has one step."""
        return isinstance(self._held, Strided)

    @property
    def is_tiled(self) -> bool:
        """Whether this is the tiled view of a strided layout."""
        return isinstance(self._held, TiledStrided)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements in row-major order lie at consecutive offsets."""
        return self._held.is_contiguous

    @property
    def is_injective(self) -> bool:
        """Whether no two elements share a place.

        Decided by rule where no mode steps into another, else by a search of up to 2**20 elements; an
        undecided larger layout counts as not injective.
        """
        return self._held.is_injective

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        """Return the place of the element at an absolute index.

        Raises
        ------
        OutOfBoundsError
            If the index is not in the shape.
        RankError
            If it has another number of entries.
        """
        return self._held.offset_of(index)

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        """Return the place of each row of an ``(..., rank)`` array of absolute indices.

        Raises
        ------
        OutOfBoundsError
            If an index is not in the shape.
        SizeOverflowError
            If a place does not fit into 64 bits; `offset_of` answers.
        """
        return self._held.offsets_of(indices)

    def index_of(self, offset: SupportsIndex) -> IndexT_co:
        """Return the first index, in row-major order, whose element lies at `offset`.

        Raises
        ------
        OutOfBoundsError
            If no element lies there.
        """
        return cast("IndexT_co", self._held.index_of(offset))

    def to_numpy(self) -> IntArray:
        """Return the offsets of all elements: an array of the shape's extents, or flat if it is jagged."""
        return self._held.to_numpy()

    def __getitem__(self, key: PositionalKey) -> "Layout[tuple[int, ...]]":
        """Return the layout of what a positional key selects, as NumPy's basic indexing does."""
        return wrap_layout(self._held.at(key))

    def window(self, region: ShapeLike) -> "Layout[IndexT_co]":
        """Return the layout of a part of the shape; the result keeps the origin of `region`.

        Raises
        ------
        LayoutError
            If the region is of another kind or rank, or does not consist of whole rows or tiles.
        OutOfBoundsError
            If it leaves the shape.
        """
        return cast("Layout[IndexT_co]", wrap_layout(self._held.window(as_shape(region))))

    def permute(self, order: Iterable[SupportsIndex]) -> "Layout[IndexT_co]":
        """Return the layout whose mode k is mode ``order[k]`` of this one; no memory moves.

        Raises
        ------
        LayoutError
            If the layout is packed, or tile modes and inner modes would not move alike.
        RankError
            If `order` is not a permutation of the modes.
        """
        held = self._held
        if isinstance(held, TiledStrided):
            return cast("Layout[IndexT_co]", wrap_layout(held.permute(order)))
        return cast("Layout[IndexT_co]", wrap_layout(self._strided("permute").permute(order)))

    def reverse(self, *modes: SupportsIndex) -> "Layout[IndexT_co]":
        """Return the layout with the order of the given modes reversed; all of them if none is given."""
        held = self._strided("reverse")
        rank = held.shape.rank
        chosen = {mode_of(mode, rank) for mode in modes} if modes else set(range(rank))
        return cast("Layout[IndexT_co]", wrap_layout(held.reverse(sorted(chosen))))

    def broadcast(self, shape: ShapeLike) -> "Layout[tuple[int, ...]]":
        """Return the layout over `shape` that repeats modes of extent 1 and adds leading modes.

        Raises
        ------
        LayoutError
            If the layout is not strided, or another mode would have to change its extent.
        """
        return wrap_layout(self._strided("broadcast").broadcast(as_shape(shape)))

    def tiled(self, tiling: Tiling) -> "Layout[tuple[int, ...]]":
        """Return the tiled view: rank 2r, tile numbers first; memory stays as it is.

        Raises
        ------
        LayoutError
            If the layout is not strided, or the tiling does not cover just its shape.
        """
        held, tiling = self._strided("tiled"), _to_tiling(tiling)
        if tiling.elements != held.shape:
            raise LayoutError(f"a tiling of {tiling.elements} does not cover the shape {held.shape}")
        if not tiling.rank:
            raise LayoutError("a scalar has no tiles")
        return wrap_layout(TiledStrided(tiling, held, (0,) * tiling.rank))

    def _strided(self, what: str) -> Strided:
        if isinstance(self._held, Strided):
            return self._held
        raise LayoutError(f"{what} needs a strided layout; this one is over {self._held.shape}")

    def __len__(self) -> int:
        raise TypeError("a layout has no len: its shape has extents, rank and size")

    def __iter__(self) -> None:
        raise TypeError("a layout is not iterable: to_numpy() has its offsets")

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        if isinstance(self._held, Strided):
            return f"Layout({self.shape!r}, strides={self.strides}, offset={self.offset})"
        if isinstance(self._held, TiledStrided):
            under = self._held.under
            return f"Layout({under.shape!r}, strides={under.strides}).tiled({self._held.tiling!r})"
        return f"Layout({self.shape!r}, offset={self.offset})"

    def __reduce__(self) -> tuple[Callable[[LayoutCommon], "Layout[Any]"], tuple[LayoutCommon]]:
        return wrap_layout, (self._held,)


def wrap_layout(held: LayoutCommon) -> "Layout[Any]":
    """Return the facade over an implementation."""
    layout: Layout[Any] = object.__new__(Layout)
    object.__setattr__(layout, "_held", held)
    return layout


def _to_tiling(tiling: object) -> Tiling:
    if isinstance(tiling, Tiling):
        return tiling
    raise ConversionError(f"tiled needs a Tiling, such as Tiling(*sizes), not {tiling!r}")


def _is_default(order: Order | Iterable[SupportsIndex]) -> bool:
    # Arrays compare element by element, so the type is asked first.
    return isinstance(order, str) and order == "C"


def _from_strides(shape: Shape[Any], strides: Index, offset: int) -> Strided:
    if shape.kind != "smooth":
        raise LayoutError(f"strides describe boxes, not the jagged shape {shape}")
    if len(strides) != shape.rank:
        raise LayoutError(f"{len(strides)} strides do not fit a shape of rank {shape.rank}")
    return Strided(shape, strides, offset)


def _from_order(
    shape: Shape[Any],
    order: Order | Iterable[SupportsIndex],
    ascend: object,
    offset: int | None,
) -> LayoutCommon:
    rank = shape.rank
    if _is_default(order) and ascend is None:
        return contiguous(shape, offset or 0)
    if isinstance(order, str):
        if order not in ("C", "F"):
            raise ConversionError(f'order must be "C", "F" or a permutation, not {order!r}')
        modes: Extents = tuple(range(rank)) if order == "F" else tuple(range(rank - 1, -1, -1))
    else:
        modes = to_permutation(order, rank)
    layout = Strided(shape, packed_strides(shape.extents, modes), 0)
    if ascend is not None:
        flags = list(cast("Iterable[object]", ascend)) if isinstance(ascend, Iterable) else None
        if flags is None or len(flags) != rank or any(type(flag) is not bool for flag in flags):
            raise LayoutError(f"ascend must have one bool per mode of {rank}, not {flags or ascend}")
        layout = layout.reverse([mode for mode, up in enumerate(flags) if not up])
    return layout if offset is None else Strided(shape, layout.strides, offset)
