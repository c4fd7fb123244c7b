"""Select, scatter, group and reduce tiles and cells of a tensor."""

import functools
import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import numpy_kind, shared_table, shown_array
from tensorwrapper._error_text import brief
from tensorwrapper._memory import filled_memory
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.buffer.lowlevel import fit_number, packed_layout
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError, LayerError
from tensorwrapper.layout.lowlevel import make_blocked
from tensorwrapper.shape import Shape, ShapeLike, Tiling, as_shape
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._promotion import promoted
from tensorwrapper.tensor.rows._reduce import check_filled, reduce_box, reduce_runs
from tensorwrapper.tensor.rows._tiles import cells_in_box, cut_elements, groups_of, select_tiles
from tensorwrapper.tensor.within._numbers import means, norms, variances
from tensorwrapper.typing import Array, Extents, Index, IndexT_co, IntArray, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.buffer.lowlevel import PresentTiles
    from tensorwrapper.tensor._tensor import Tensor

_BLOCK = 1 << 26  # bytes of cells that a function of the user gets at a time
_OfTiles: TypeAlias = Callable[[Array, list[IntArray]], Array]


def _variances(array: Array, marks: list[IntArray]) -> Array:
    return variances(array, marks, 0)


def _deviations(array: Array, marks: list[IntArray]) -> Array:
    return cast("Array", np.sqrt(_variances(array, marks)))


_UFUNCS: Final[dict[object, np.ufunc]] = {
    np.sum: np.add,
    np.prod: np.multiply,
    np.max: np.maximum,
    np.min: np.minimum,
    np.any: np.logical_or,
    np.all: np.logical_and,
}
_NUMBERS: Final[dict[object, _OfTiles]] = {
    np.mean: means,
    np.var: _variances,
    np.std: _deviations,
    np.linalg.norm: norms,
}


@final
@frozen(eq=False)
class CellGroup(Generic[ScalarT_co]):
    """The cells of one size as one box, created by `Tensor.group_by_shape`."""

    indices: IntArray
    """The (n, outer rank) absolute indices that lead to each cell."""
    cells: "Tensor[ScalarT_co]"
    """A copy of the stacked cells, with rank one more than a cell."""

    @property
    def extents(self) -> Extents:
        """Extents of these cells."""
        extents: Extents = self.cells.shape.extents
        return extents[1:]


class TensorCells(TensorBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: the members declared by `TensorBase`."""

    __slots__ = ()

    def select_tiles(self, numbers: "npt.ArrayLike | Callable[..., npt.ArrayLike]") -> "Tensor[ScalarT_co]":
        """Return any set of tiles of a tiled view as one jagged tensor, packed: one copy of each element.

        Parameters
        ----------
        numbers
            An (n, rank) array of tile numbers, a boolean array over the grid, or a predicate as in TAMM: a
            function that gets the tile numbers of each mode as an array, which broadcast together, and
            returns such a boolean array.

        Returns
        -------
        Tensor
            Row k is tile ``numbers[k]``; its origin is the position of the tile in the box.

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
        >>> t.select_tiles(lambda row, column: row >= column).tolist()
        [[[0, 1]], [[3, 4], [6, 7]], [[5], [8]]]
        """
        chosen = select_tiles(self._layout, numbers)
        me: Any = self
        buffer = self._buffer.pack(chosen.implementation)
        tiles: Tensor[ScalarT_co] = me._make(packed_layout(chosen.shape), buffer)
        return tiles

    def scatter(self, over: ShapeLike | Tiling, *, fill_value: object = 0) -> "Tensor[ScalarT_co]":
        """Return a box with each cell of a jagged tensor at its indices; undoes `select_tiles`.

        Parameters
        ----------
        over
            The indices of the result: a box, or a tiling, of which the result is the tiled view.
        fill_value
            Value of elements without a cell. For strings it is "".

        Returns
        -------
        Tensor
            One copy of each element; linear in the elements of the result.

        Raises
        ------
        OutOfBoundsError
            If a cell is not inside.
        LayoutError
            If cells overlap; the text names two of them.
        RankError
            If the cells have another rank than the result.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(tw.Tiling([1, 2], [2, 1]))
        >>> t.select_tiles([(1, 0), (0, 1)]).scatter((3, 3), fill_value=-1).tolist()
        [[-1, -1, 2], [3, 4, -1], [6, 7, -1]]
        """
        box = over.elements if isinstance(over, Tiling) else as_shape(over)
        packed = packed_layout(box)
        placed = cells_in_box(self.shape, packed)
        if isinstance(fill_value, int) and not fill_value:
            buffer: BufferCommon[Any] = self._buffer.place(
                self._layout.implementation, placed.implementation, box.size
            )
        else:
            self._buffer.require_numbers("scatter with a fill_value")
            value = fit_number(fill_value, self.dtype, "fill_value")
            buffer = Dense(filled_memory((box.size,), value, self.dtype))
            self._make(placed, buffer).assign(self)
        me: Any = self
        made: Tensor[ScalarT_co] = me._make(
            packed.as_tiled(over) if isinstance(over, Tiling) else packed, buffer
        )
        return made

    def group_by_shape(self) -> "tuple[CellGroup[ScalarT_co], ...]":
        """Return the cells of a jagged tensor, or the tiles of a tiled view, as one box for each size.

        Functions of many boxes of one size, such as ``np.matmul``, then need few calls for many cells.

        Returns
        -------
        tuple of CellGroup
            By extents, ascending; within a group in row-major order. One copy of each element.

        Raises
        ------
        JaggedModeError
            If the tensor is a box, which is one cell.
        LayerError
            If it has layers whose elements are other cells than those of ``flatten()``.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(tw.Tiling([1, 2], [2, 1]))
        >>> [(g.extents, g.indices.tolist()) for g in t.group_by_shape()]
        [((1, 1), [[0, 1]]), ((1, 2), [[0, 0]]), ((2, 1), [[1, 1]]), ((2, 2), [[1, 0]])]
        >>> rows = tw.jagged([[1, 2], [3], [4, 5]])
        >>> rows.group_by_shape()[1].cells.tolist()
        [[1, 2], [4, 5]]
        """
        self._check_cells("group_by_shape")
        self._check_layers("group_by_shape")
        indices, (held, places) = self.shape.cell_table().indices, self._strided_cells()
        return tuple(
            [
                CellGroup(
                    indices[cells], cast("Tensor[ScalarT_co]", held._cells_as_box(places, cells, extents))
                )
                for extents, cells in self._sizes()
            ]
        )

    def _check_layers(self, what: str) -> None:
        """Raise if elements of the first layer differ from the cells of the shape without layers."""
        shape = self.shape
        flat = shape.flatten()
        if shape.has_layers and (flat.is_box or shape.outer_rank != flat.outer_rank):
            raise LayerError(
                f"{what}: the elements of the layers {shape.layers} are not cells of {flat}: "
                "flatten() drops the layers, cells() yields the elements"
            )

    def _sizes(self) -> list[tuple[Extents, IntArray]]:
        return groups_of(self.shape.cell_table().extents)

    def _strided_cells(self) -> "tuple[TensorCells[ScalarT_co, Any], tuple[IntArray, IntArray]]":
        """Return the tensor, or a copy if its cells have no strides; where each cell starts, its strides."""
        table = self._layout.implementation.without_layers().cell_table()
        shape = self.shape.flatten()
        if table is not None and table[1].shape[1] == shape.rank - shape.outer_rank:
            return self, table
        return cast("TensorCells[ScalarT_co, Any]", self.copy())._strided_cells()

    def _cells_as_box(
        self, places: tuple[IntArray, IntArray], cells: IntArray, extents: Extents
    ) -> "TensorBase[ScalarT_co]":
        """Return some cells of one size as a box, copied."""
        starts, strides = places[0][cells], places[1][cells]
        box = packed_layout(Shape(len(cells), *extents))
        array = self._buffer.cells_of(starts, strides, extents)
        if array is not None:
            return self._make(box, Dense(cast("Any", array.reshape(-1))))
        rows = Shape.from_cells((len(cells),), shared_table(extents, len(cells)))
        return self._make(box, self._buffer.pack(make_blocked(rows, starts, strides)))

    def _cells_as_array(self, places: tuple[IntArray, IntArray], cells: IntArray, extents: Extents) -> Array:
        """Return some cells of one size as an array in new memory."""
        starts, strides = places
        # All rows of a shared table are its first.
        own = strides[: len(cells)] if not strides.strides[0] else strides[cells]
        array = self._buffer.cells_of(starts[cells], own, extents)
        if array is not None:
            return array
        return self._cells_as_box(places, cells, extents).elements().reshape(len(cells), *extents)

    def reduce_tiles(
        self, function: "np.ufunc | Callable[..., npt.ArrayLike]", *, initial: object = None
    ) -> "Tensor[Any]":
        """Return the reduction of each tile (or each cell of a jagged tensor) by a function.

        Empty tiles get the identity of a ufunc, as NumPy's ``reduce`` gives for an empty array. A function is
        called with them as with others: they get its result for no elements, such as not-a-number for
        ``np.median``, and NumPy's warnings of that are not shown. Nulls are skipped: a tile of nulls is an
        empty one.

        Parameters
        ----------
        function
            A ufunc of two inputs that may take elements in any order, such as ``np.add``, ``np.maximum``. Or
            a function that reduces the modes that ``axis`` names of an array, as ``np.linalg.norm`` and
            ``np.median``
            do: it is called with many tiles of one size, ``function(array, axis=(1, 2))``, of at most 64 MiB
            (a larger tile comes alone), and returns one number for each. Where elements may be nulls, a tile
            is a row of those that are valid, and the axis ``(1,)``. ``np.argmax`` and the like, which take
            one mode, get tiles as rows: their answer counts the elements of a tile in row-major order.
        initial
            Takes part in every reduction by a ufunc; needed if a tile is empty and it has no identity.

        Returns
        -------
        Tensor
            One number per tile, over the shape of the tile numbers. Linear in the elements.

        Raises
        ------
        ExtentError
            If a tile is empty, and there is nothing that it gets: of ``np.maximum`` without `initial`, and of
            a function that raises for it, as ``np.max`` does.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(tw.Tiling([1, 2], [2, 1]))
        >>> t.reduce_tiles(np.add).tolist()
        [[1, 2], [20, 13]]
        >>> t.reduce_tiles(np.median).tolist()
        [[0.5, 2.0], [5.0, 6.5]]
        """
        self._check_cells("reduce_tiles")
        self._check_layers("reduce_tiles")
        self._buffer.require_numbers("reduce_tiles")
        outer = self.shape.outer()
        tiles = self._buffer.tiles_of(self._layout.implementation)
        if not isinstance(function, np.ufunc):
            reduced = self._reduced_by_sums(function) if initial is tiles is None else None
            if reduced is None:
                reduced = self._reduced_by(function, initial, tiles)
        elif tiles is not None:
            # Loaded here: most programs have no tensors in blocks.
            from tensorwrapper.tensor.operators._stored_reductions import reduce_present  # noqa: PLC0415

            reduced = reduce_present(function, tiles, initial)
        else:
            reduced = self._reduced(function, initial)
        me: Any = self
        made: Tensor[Any] = me._make(packed_layout(outer), Dense(cast("Any", reduced.reshape(-1))))
        return made

    def _reduced(self, ufunc: np.ufunc, initial: object) -> Array:
        if self._buffer.nullable:
            flat, runs = self._valid_runs()
            filled = runs[1:] > runs[:-1]
            if ufunc.identity is None and initial is None and not filled.all():
                outer = self.shape.outer()
                (place,) = outer.indices_at([int(filled.argmin())]) - np.array(outer.origin, np.int64)
                check_filled(ufunc, [filled], "tile", tuple(place.tolist()))
            return reduce_runs(ufunc, flat, runs, initial)
        array, marks = cut_elements(self)
        return reduce_box(ufunc, array, marks, initial)

    def _reduced_by_sums(self, function: object) -> Array | None:
        """Return the results of NumPy's sums, or extremes, for all tiles; None for other functions."""
        if self._buffer.nullable or numpy_kind(self.dtype) not in "biufc" or self.dtype.char == "e":
            return None
        try:
            ufunc, of_numbers = _UFUNCS.get(function), _NUMBERS.get(function)
        except TypeError:  # It has no hash.
            return None
        if ufunc is of_numbers is None:
            return None
        array, marks = cut_elements(self)
        if of_numbers is not None:
            return of_numbers(array, marks)
        known = cast("np.ufunc", ufunc)
        if known.identity is None and not all(np.diff(own).all() for own in marks):
            return None  # The function itself decides about an empty tile.
        return reduce_box(known, array, marks, None)

    def _valid_runs(self) -> tuple[Array, IntArray]:
        """Return the valid elements by cell, and the boundaries of the cells."""
        # Loaded here: most tensors have no nulls.
        from tensorwrapper.tensor.rows._nulls import sides_of  # noqa: PLC0415

        plain, valid = sides_of(self)
        sizes = self.shape.cell_table().extents.prod(axis=1)
        before, marks = np.zeros(len(valid) + 1, np.int64), np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(valid, out=before[1:])
        np.cumsum(sizes, out=marks[1:])
        return plain.elements()[valid], before[marks]

    def _reduced_by(
        self,
        function: Callable[..., npt.ArrayLike],
        initial: object,
        tiles: "PresentTiles[ScalarT_co] | None",
    ) -> Array:
        if not callable(cast("object", function)):
            raise ConversionError(
                f"tiles are reduced by a ufunc such as np.add or a function with axis=, "
                f"not by {brief(function)}"
            )
        if initial is not None:
            raise ConversionError("initial takes part in a reduction by a ufunc, and by nothing else")
        flat, marks = self._valid_runs() if self._buffer.nullable else (None, None)
        sizes = self._sizes() if marks is None else groups_of(np.diff(marks)[:, None])
        held, places = self._strided_cells() if marks is None else (self, None)
        found: list[tuple[IntArray, Array]] = []
        present = None
        if tiles is not None:
            present = np.zeros(self.shape.outer().size, np.bool_)
            present[tiles.pattern.ordinals()] = True
        for extents, own in sizes:
            cells = own if present is None else own[present[own]]
            if len(cells) < len(own):
                # Absent tiles of one size are equal, so compute one of them.
                one = np.broadcast_to(cast("Any", tiles).fill, (1, *extents))
                found.append((own, np.broadcast_to(_called(function, one), (len(own),))))
            step = max(_BLOCK // max(math.prod(extents) * self.dtype.itemsize, 1), 1)
            for start in range(0, len(cells), step):
                part = cells[start : start + step]
                if flat is None or marks is None:
                    array = held._cells_as_array(cast("Any", places), part, extents)
                else:
                    array = flat[marks[part][:, None] + np.arange(*extents)]
                values = _called(function, array)
                if values.shape != (len(part),):
                    raise ConversionError(
                        f"a function that reduces tiles returns one number for each of {len(part)}, "
                        f"not an array of extents {values.shape}"
                    )
                found.append((part, values))
        dtype = promoted([values.dtype for _, values in found], "reduce_tiles") if found else self.dtype
        reduced = np.empty(self.shape.outer().size, dtype=dtype)
        for part, values in found:
            reduced[part] = values
        return reduced


_OF_ONE_MODE: Final = (np.argmax, np.argmin, np.nanargmax, np.nanargmin)


def _along_rows(function: Callable[..., npt.ArrayLike], array: Array, axis: tuple[int]) -> npt.ArrayLike:
    return function(array, axis=axis[0])


def _answer(function: Callable[..., npt.ArrayLike], array: Array, axis: Index) -> Array:
    try:
        return shown_array(function(array, axis=axis))
    except TypeError as error:
        if not type(error).__module__.startswith("numpy"):
            raise
        raise DTypeError(f"a function does not reduce elements of type {array.dtype}: {error}") from error


def _called(function: Callable[..., npt.ArrayLike], array: Array) -> Array:
    """Return the results of a function for tiles of one size."""
    if function is np.linalg.norm and array.ndim > 3:
        # It takes one or two modes: the norm of a tile of more is that of its elements.
        array = array.reshape(len(array), -1)
    if function in _OF_ONE_MODE:
        array = array.reshape(len(array), math.prod(array.shape[1:]))
        function = functools.partial(_along_rows, function)
    axis = tuple(range(1, array.ndim))
    if array.size:
        return _answer(function, array, axis)
    # An empty tile needs no warning: its shape shows it.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return _answer(function, array, axis)
        except ValueError as error:
            raise ExtentError(f"a tile is empty, of which the function makes nothing: {error}") from error
