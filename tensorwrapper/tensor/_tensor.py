"""`Tensor`: a shape, a layout and a buffer."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer._copy import assign_elements, copy_elements, scatter_elements, take_elements
from tensorwrapper.buffer._dense import Dense, fit_number
from tensorwrapper.errors import ConversionError, JaggedModeError, LayoutError, ReadOnlyError
from tensorwrapper.layout import Layout
from tensorwrapper.layout._layout import wrap_layout
from tensorwrapper.layout._packed import contiguous
from tensorwrapper.layout._strided import Strided
from tensorwrapper.layout._tiled import TiledStrided
from tensorwrapper.shape import JaggedCommon, Shape, ShapeLike, Tiling
from tensorwrapper.tensor._lists import nest, rows_of
from tensorwrapper.tensor._reduce import reduce_box, reduce_runs
from tensorwrapper.tensor._tiles import (
    BATCH,
    cell_layouts,
    places_of_tiles,
    tile_after_tile,
    tile_numbers,
)
from tensorwrapper.typing import Array, Index, PositionalKey, ScalarT_co

if TYPE_CHECKING:
    from typing_extensions import CapsuleType

__all__ = ["Tensor", "guard", "make_tensor"]


@final
@attrs.frozen(eq=False, repr=False, getstate_setstate=False)
class Tensor(Generic[ScalarT_co]):
    """Elements addressed by a shape: a layout says where in a buffer each one lies.

    Made by `as_tensor`, `jagged` and `from_buffer`. Everything that selects gives a view of the same
    memory; what copies says so. Two tensors are equal only if they are the same object: `array_equal`
    compares elements.

    Parameters
    ----------
    layout
        Where each index of the shape lives, in elements.
    buffer
        What holds the elements.

    Raises
    ------
    BufferSizeError
        If the layout leaves the buffer.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> t = tw.as_tensor(np.arange(24.0).reshape(4, 6))
    >>> t[1:3, ::-2].tolist()
    [[11.0, 9.0, 7.0], [17.0, 15.0, 13.0]]
    """

    _layout: Layout[Any]
    _buffer: Dense[ScalarT_co]

    def __attrs_post_init__(self) -> None:
        least, greatest = self._layout.bounds()
        if greatest >= least:
            self._buffer.check_bounds(least, greatest)
        object.__setattr__(self, "_buffer", guard(self._layout, self._buffer))

    @property
    def shape(self) -> Shape[tuple[int, ...]]:
        """The indices of the elements."""
        return self._layout.shape

    @property
    def layout(self) -> Layout[tuple[int, ...]]:
        """Where the elements lie in the buffer, in elements."""
        return self._layout

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the elements."""
        return self._buffer.dtype

    @property
    def rank(self) -> int:
        """The number of modes."""
        return self.shape.rank

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.shape.size

    @property
    def nbytes(self) -> int:
        """The number of bytes of the elements, as if they were packed."""
        return self.size * self.dtype.itemsize

    @property
    def is_readonly(self) -> bool:
        """Whether writing raises: the memory may not change, or several indices share a place."""
        return not (self._buffer.writeable and self._layout.is_injective)

    @property
    def tiling(self) -> Tiling:
        """How the box underneath a tiled tensor is cut.

        Raises
        ------
        LayoutError
            If the tensor is not a tiled view.
        """
        return self._tiled("tiling").tiling

    # Parts, without copies.

    def __getitem__(self, key: PositionalKey) -> "Tensor[ScalarT_co]":
        """Return a view of the selected part, as NumPy's basic indexing does; it starts at zero.

        Integers alone give a tensor of rank 0, never a bare number: ``item()`` or ``float()`` reads it.
        A jagged tensor gives runs of rows and single cells.
        """
        return make_tensor(self._layout[key], self._buffer)

    def window(self, region: ShapeLike) -> "Tensor[ScalarT_co]":
        """Return the view of the elements of `region`, which keeps its origin.

        Raises
        ------
        OutOfBoundsError
            If the region leaves the shape.
        """
        return make_tensor(self._layout.window(region), self._buffer)

    def permute(self, order: Iterable[SupportsIndex]) -> "Tensor[ScalarT_co]":
        """Return the view whose mode k is mode ``order[k]``."""
        return make_tensor(self._layout.permute(order), self._buffer)

    def reverse(self, *modes: SupportsIndex) -> "Tensor[ScalarT_co]":
        """Return the view with the order of the given modes reversed; all of them if none is given."""
        return make_tensor(self._layout.reverse(*modes), self._buffer)

    def broadcast(self, shape: ShapeLike) -> "Tensor[ScalarT_co]":
        """Return the view that repeats modes of extent 1 and adds leading modes; it is read-only."""
        layout = self._layout.broadcast(shape)
        return make_tensor(layout, guard(layout, self._buffer))

    def tiled(self, tiling: Tiling) -> "Tensor[ScalarT_co]":
        """Return the tiled view: rank 2r, tile numbers first; memory stays as it is."""
        return make_tensor(self._layout.as_tiled(tiling), self._buffer)

    def untiled(self) -> "Tensor[ScalarT_co]":
        """Return the box underneath a tiled view, where it lies."""
        return make_tensor(wrap_layout(self._tiled("untiled").under), self._buffer)

    def tile(self, *number: SupportsIndex) -> "Tensor[ScalarT_co]":
        """Return the view of one tile of a tiled view; its origin is where it lies in the box."""
        held = self._tiled("tile")
        return make_tensor(wrap_layout(held.tile(number)), self._buffer)

    def _tiled(self, what: str) -> TiledStrided:
        held = self._layout._held
        if isinstance(held, TiledStrided):
            return held
        raise LayoutError(f"{what} needs a tiled view; tiled(tiling) makes one of a box")

    def cells(self) -> "Iterator[tuple[Index, Tensor[ScalarT_co]]]":
        """Return an iterator over the smooth cells of a jagged tensor: index and view, origin kept.

        Raises
        ------
        JaggedModeError
            If the tensor is a box, which is one cell.
        """
        self._check_cells("cells")
        layouts = cell_layouts(self._layout._held, self.shape.cell_table())
        return ((index, make_tensor(wrap_layout(cell), self._buffer)) for index, cell in layouts)

    def _check_cells(self, what: str) -> None:
        if isinstance(self._layout._held, Strided):
            raise JaggedModeError(
                f"{what} needs a jagged or tiled tensor: a box is one cell; tiled(tiling) cuts it into tiles"
            )

    # Copies.

    def select_tiles(self, numbers: npt.ArrayLike) -> "Tensor[ScalarT_co]":
        """Return any set of tiles of a tiled view as one jagged tensor, packed: one copy of each element.

        Parameters
        ----------
        numbers
            An (n, rank) array of tile numbers, or a boolean array over the grid.

        Returns
        -------
        Tensor
            Row k is tile ``numbers[k]``; its origin is where the tile lies in the box.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(tw.Tiling([1, 2], [2, 1]))
        >>> tiles = t.select_tiles([(1, 0), (0, 1)])
        >>> tiles.shape
        Shape.jagged([Shape(2, 2, origin=(1, 0)), Shape(1, 1, origin=(0, 2))])
        >>> tiles[0].tolist()
        [[3, 4], [6, 7]]
        """
        held = self._tiled("select_tiles")
        shape, offsets = places_of_tiles(held, tile_numbers(held, np.asarray(numbers)))
        flat = take_elements(self._buffer.flat, offsets, shape.size)
        return make_tensor(wrap_layout(contiguous(shape, 0)), Dense(flat))

    def copy(self) -> "Tensor[ScalarT_co]":
        """Return the same elements in memory of their own, packed in row-major order."""
        held = self._layout._held
        if isinstance(held, TiledStrided):
            return _restore_tiled(self.untiled().copy(), held.tiling, held.grid_origin)
        if isinstance(held, Strided):
            flat = copy_elements(self._array(held)).reshape(-1)
        else:
            flat = copy_elements(self.elements())
        return make_tensor(wrap_layout(contiguous(self.shape, 0)), Dense(cast("Any", flat)))

    def elements(self) -> "npt.NDArray[ScalarT_co]":
        """Return the elements as a flat array in row-major order; a view if they lie so, else a copy."""
        held = self._layout._held
        size = self.size
        if held.is_contiguous:
            return self._buffer.flat[held.offset : held.offset + size] if size else self._buffer.flat[:0]
        if isinstance(held, Strided):
            return copy_elements(self._array(held)).reshape(-1)
        if isinstance(held, TiledStrided):
            return take_elements(self._buffer.flat, tile_after_tile(held), size)
        return take_elements(self._buffer.flat, iter([held.to_numpy()]), size)

    def to_padded(self, *, fill: object = 0) -> "npt.NDArray[ScalarT_co]":
        """Return an array over the bounding box, with `fill` where the shape has no element."""
        value = fit_number(fill, self.dtype, "fill")
        held, box = self._layout._held, self.shape.as_smooth()
        if isinstance(held, Strided):
            return copy_elements(self._array(held))
        origin = box.origin
        padded = np.full(box.extents, value, dtype=self.dtype)
        flat, start = self.elements(), 0
        for batch in self.shape.indices().batches(BATCH):
            places = tuple((batch - np.array(origin, dtype=np.int64)).T)
            scatter_elements(flat[start : start + len(batch)], places, padded)
            start += len(batch)
        return padded

    def tolist(self) -> Any:  # noqa: ANN401 - a number, or lists of them as deep as the rank
        """Return the elements as nested lists of Python numbers; a number if the rank is 0."""
        held = self._layout._held
        if isinstance(held, Strided):
            return self._array(held).tolist()
        rows = cast("JaggedCommon", self.shape._held).rows
        if rows.columns.leaf_rank == 1 and not isinstance(held, TiledStrided):
            return nest(rows_of(self.elements().tolist(), rows), rows)
        return nest([cell.tolist() for _, cell in self.cells()], rows)

    def item(self) -> Any:  # noqa: ANN401 - a Python number of whatever type the elements have
        """Return the only element as a Python number."""
        if self.size != 1:
            raise ConversionError(f"item() reads tensors with one element, not {self.size}")
        return self.elements().item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    # Writes.

    def __setitem__(self, key: PositionalKey, value: npt.ArrayLike) -> None:
        """Write `value`, broadcast as NumPy does, into the selected part.

        Raises
        ------
        ReadOnlyError
            If the memory may not change, or several indices share a place; the text names the mode.
        """
        self._check_writeable()
        part = self._layout[key]
        held = part._held
        if not isinstance(held, Strided):
            raise LayoutError("assignment to a jagged tensor goes cell by cell: t[row] = value")
        assign_elements(self._buffer.array(held.shape.extents, held.strides, held.offset), value)

    def _check_writeable(self) -> None:
        # The layout first: the memory under one that repeats is read-only as well, but that is not why.
        if not self._layout.is_injective:
            held = self._layout._held
            mode = held.repeated_mode() if isinstance(held, Strided) else None
            where = "modes that overlap" if mode is None else f"mode {mode}, which repeats its elements"
            raise ReadOnlyError(f"indices share a place because of {where}; copy() gives each its own")
        if not self._buffer.writeable:
            raise ReadOnlyError(
                "the memory of this tensor is read-only, or repeated in a tensor of which this is a view; "
                "copy() gives one that can change"
            )

    # Reductions and comparison.

    def reduce_tiles(self, ufunc: np.ufunc, *, initial: object = None) -> "Tensor[Any]":
        """Return what `ufunc` makes of each tile (or each cell of a jagged tensor).

        Empty tiles get the identity of the ufunc, as NumPy's ``reduce`` gives for an empty array.

        Parameters
        ----------
        ufunc
            A ufunc of two inputs that may take elements in any order, such as ``np.add``, ``np.maximum``.
        initial
            Takes part in every reduction; needed if a tile is empty and the ufunc has no identity.

        Returns
        -------
        Tensor
            One number per tile, over the shape of the tile numbers. Linear in the elements.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(tw.Tiling([1, 2], [2, 1]))
        >>> t.reduce_tiles(np.add).tolist()
        [[1, 2], [20, 13]]
        """
        self._check_cells("reduce_tiles")
        held, outer = self._layout._held, self.shape.outer()
        if isinstance(held, TiledStrided):
            marks = [p.starts for p in held.tiling.partitions]
            reduced = reduce_box(ufunc, self._array(held.under), marks, initial)
        else:
            reduced = reduce_runs(
                ufunc, self.elements(), cast("JaggedCommon", self.shape._held).rows.cell_offsets(), initial
            )
        return make_tensor(wrap_layout(contiguous(outer, 0)), Dense(cast("Any", reduced.reshape(-1))))

    def array_equal(self, other: "Tensor[Any]", *, equal_nan: bool = False) -> bool:
        """Tell whether shapes and elements are equal; boxes and tiled boxes are compared without copies.

        Raises
        ------
        ConversionError
            If `other` is no tensor: `as_tensor` makes one.
        """
        if not isinstance(cast("object", other), Tensor):
            raise ConversionError(
                f"a tensor is compared with a tensor, not with a {type(other).__name__}: use as_tensor"
            )
        if self.shape != other.shape:
            return False
        if not self.size:
            return True
        mine, theirs = self._layout._held, other._layout._held
        if isinstance(mine, TiledStrided) and isinstance(theirs, TiledStrided):
            mine, theirs = mine.under, theirs.under
        if isinstance(mine, Strided) and isinstance(theirs, Strided):
            return np.array_equal(self._array(mine), other._array(theirs), equal_nan=equal_nan)
        return np.array_equal(self.elements(), other.elements(), equal_nan=equal_nan)

    # Exchange.

    def _array(self, held: Strided) -> "npt.NDArray[ScalarT_co]":
        return self._buffer.array(held.shape.extents, held.strides, held.offset)

    def to_numpy(self) -> "npt.NDArray[ScalarT_co]":
        """Return the array over the same memory; it is read-only where the tensor is.

        Raises
        ------
        ConversionError
            If the tensor is jagged or tiled: nothing is densified without being asked.
        """
        held = self._layout._held
        if not isinstance(held, Strided):
            raise ConversionError(
                f"a tensor of shape {self.shape} is no array: to_padded() fills it, cells() has its parts"
            )
        array = self._array(held)
        if array.flags.writeable and not held.is_injective:
            array.flags.writeable = False
        return array

    def __array__(self, dtype: "np.dtype[Any] | None" = None, copy: bool | None = None) -> Array:  # noqa: FBT001
        array = self.to_numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ConversionError(f"elements of {array.dtype} become {dtype} only by a copy; copy=False")
            return copy_elements(array, cast("Any", np.dtype(dtype)))
        return copy_elements(array) if copy else array

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> "CapsuleType":
        if stream is not None:
            raise ConversionError("this memory is the CPU's, which has no streams")
        options = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        # NumPy 2.0 knows none of them: only what was asked for is passed on.
        asked: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        return cast("npt.NDArray[np.number[Any]]", self.to_numpy()).__dlpack__(**asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the CPU

    def __len__(self) -> int:
        if not self.rank:
            raise ConversionError("a tensor of rank 0 has no len")
        return self.shape.extent(0)

    def __iter__(self) -> "Iterator[Tensor[ScalarT_co]]":
        return (self[k] for k in range(len(self)))

    def __contains__(self, value: object) -> bool:
        # Without it Python would compare with each row, which are tensors and equal to nothing else.
        return bool(np.any(self.elements() == cast("Any", value)))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ConversionError(f"the truth of {self.size} elements is not one answer")
        return bool(self.item())

    def __repr__(self) -> str:
        return f"Tensor({self.shape!r}, dtype={self.dtype})"

    def __copy__(self) -> "Tensor[ScalarT_co]":
        # Pickling, which Python falls back on, would copy the elements of some layouts and share others.
        return make_tensor(self._layout, self._buffer)

    def __deepcopy__(self, memo: object) -> "Tensor[ScalarT_co]":
        return self.copy()

    def __reduce__(self) -> "tuple[Callable[..., Tensor[Any]], tuple[object, ...]]":
        held = self._layout._held
        if isinstance(held, TiledStrided):
            return _restore_tiled, (self.untiled(), held.tiling, held.grid_origin)
        return _restore, (self.shape, self.elements())


_SlotSetter = Callable[[object, object], None]
_set_layout = cast("_SlotSetter", cast("Any", Tensor)._layout.__set__)
_set_buffer = cast("_SlotSetter", cast("Any", Tensor)._buffer.__set__)


def make_tensor(layout: Layout[Any], buffer: "Dense[ScalarT_co]") -> "Tensor[ScalarT_co]":
    """Return a tensor of parts that fit: the offsets of the layout were checked against the buffer."""
    tensor = cast("Tensor[ScalarT_co]", object.__new__(Tensor))
    _set_layout(tensor, layout)
    _set_buffer(tensor, buffer)
    return tensor


def guard(layout: Layout[Any], buffer: "Dense[ScalarT_co]") -> "Dense[ScalarT_co]":
    """Return `buffer`, read-only if indices share a place in it: then every view of the tensor is as well."""
    return buffer.read_only() if buffer.writeable and not layout.is_injective else buffer


def _restore(shape: Shape[Any], flat: "npt.NDArray[ScalarT_co]") -> "Tensor[ScalarT_co]":
    return make_tensor(wrap_layout(contiguous(shape, 0)), Dense(cast("Any", flat)))


def _restore_tiled(under: "Tensor[ScalarT_co]", tiling: Tiling, origin: Index) -> "Tensor[ScalarT_co]":
    held = cast("Strided", under.layout._held)
    return make_tensor(wrap_layout(TiledStrided(tiling, held, origin)), under._buffer)
