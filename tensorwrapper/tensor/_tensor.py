"""`Tensor`: a shape, a layout and a buffer."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, SupportsIndex, TypeVar, cast, final, overload

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_casting, times_like, to_dtype
from tensorwrapper._error_text import brief
from tensorwrapper._hints import hint, hints_of
from tensorwrapper._value_class import slot_setters, token_of, token_of_parts, value_class
from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.buffer.lowlevel import (
    as_dense,
    check_dtype,
    holds_strings,
    packed_layout,
)
from tensorwrapper.errors import ConversionError, RankError
from tensorwrapper.layout import Layout, LayoutCommon
from tensorwrapper.layout.lowlevel import (
    Strided,
    TiledStrided,
    is_basic,
    new_strided,
    tile_layout,
    wrap_layout,
)
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.shape.lowlevel import ModeNames, key_of_names, mode_of, names_of, unnamed_shape
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._lazy_imports import view_of
from tensorwrapper.tensor._tensor_base import TensorBase, guard
from tensorwrapper.tensor.facade._blocks import TensorBlocks, blocks_work
from tensorwrapper.tensor.facade._cells import TensorCells
from tensorwrapper.tensor.facade._copies import TensorCopies
from tensorwrapper.tensor.facade._exchange import TensorExchange
from tensorwrapper.tensor.facade._indexing import TensorIndexing
from tensorwrapper.tensor.facade._nulls import TensorNulls
from tensorwrapper.tensor.facade._operators import Operators
from tensorwrapper.tensor.facade._queries import TensorQueries
from tensorwrapper.tensor.facade._sparse import TensorSparse
from tensorwrapper.tensor.facade._strings import TensorStrings
from tensorwrapper.tensor.facade._structure import TensorStructure, cut_rows
from tensorwrapper.tensor.facade._symmetry import TensorSymmetry
from tensorwrapper.tensor.facade._writes import TensorWrites
from tensorwrapper.tensor.keys._ragged_keys import are_points, chosen_layout, is_ragged
from tensorwrapper.tensor.rows._row_facts import counts_of, positions_of_mode, run_lengths
from tensorwrapper.tensor.rows._tiles import cell_layouts
from tensorwrapper.typing import (
    Array,
    ArrayKey,
    DType,
    ElementCasting,
    Fewer,
    Index,
    IntArray,
    Integer,
    IntegerAndSlice,
    KeyWithArray,
    Modes,
    NamedKey,
    Rank1,
    Rank2,
    Rank3,
    Rank4,
    Rank6,
    Slices,
    UnknownRank,
)
from tensorwrapper.typing import IndexT_co as J
from tensorwrapper.typing import ScalarT_co as S

if TYPE_CHECKING:
    from tensorwrapper.tensor.within._rows import TensorRows

_R = TypeVar("_R")
_S = TypeVar("_S", bound=np.generic)


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Tensor(
    TensorQueries[S, J],
    TensorCells[S, J],
    TensorCopies[S, J],
    TensorWrites[S, J],
    TensorIndexing[S, J],
    TensorExchange[S, J],
    TensorNulls[S, J],
    TensorStructure[S, J],
    TensorStrings[S, J],
    TensorSparse[S, J],
    TensorBlocks[S, J],
    TensorSymmetry[S, J],
    TensorCommon[S],
    Operators[S, J],
    Generic[S, J],
):
    """Elements addressed by a shape: a layout maps each index to a position in a buffer.

    Made by `as_tensor`, `jagged`, `sparse`, `strings` and `from_buffer`. Selections are views of the same
    memory; methods that copy are documented so. Operators and NumPy's ufuncs go element by element and keep
    the shape: ``t == u`` is a tensor of bools, `array_equal` compares wholes, and a tensor is not a key of a
    dict.

    Parameters
    ----------
    layout
        Where each index of the shape lives, in elements.
    buffer
        Storage of the elements.

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

    _layout: Layout[Any] = attrs.field(alias="layout")
    _buffer: BufferCommon[S] = attrs.field(alias="buffer")
    # The array over the elements, cached on first use; it is never pickled.
    _array: Array = attrs.field(init=False, eq=False, repr=False)

    if TYPE_CHECKING:

        def __init__(self, layout: Layout[Any], buffer: BufferCommon[S]) -> None: ...

        # Return types of the operations that tensors and views share: see `Kin`.
        @overload
        def _kin(self, change: None, /) -> "Tensor[S]": ...
        @overload
        def _kin(self: "Tensor[S, UnknownRank]", change: str, /) -> "Tensor[S]": ...
        @overload
        def _kin(
            self: "Tensor[S, tuple[int, int, *Modes]]", change: Literal["diagonal"], /
        ) -> "Tensor[S, tuple[int, *Modes]]": ...
        @overload
        def _kin(self, change: Rank1, /) -> "Tensor[S, Rank1]": ...
        @overload
        def _kin(self, change: Rank2, /) -> "Tensor[S, Rank2]": ...
        @overload
        def _kin(self, change: Rank3, /) -> "Tensor[S, Rank3]": ...
        @overload
        def _kin(self, change: Rank4, /) -> "Tensor[S, Rank4]": ...
        @overload
        def _kin(self, change: Rank6, /) -> "Tensor[S, Rank6]": ...
        def _kin(self, change: Any, /) -> Any: ...

    def __attrs_post_init__(self) -> None:
        if not isinstance(cast("object", self._layout), Layout):
            raise ConversionError(
                f"a Tensor is made of a Layout and a buffer, not of {brief(self._layout)}: "
                f"{hints_of('Tensor')['__init__()']}"
            )
        least, greatest = self._layout.bounds()
        if greatest >= least:
            self._buffer.check_bounds(least, greatest)
        object.__setattr__(self, "_buffer", guard(self._layout, self._buffer))

    def _held_array(self) -> Array | None:
        array: Array | None = getattr(self, "_array", None)
        # Other buffers may replace their memory.
        if array is None and type(self._buffer) is Dense:
            held = self._layout.implementation
            array = self._buffer.memory_of(held)
            if array is None:
                return None
            if not held.is_injective:
                array.flags.writeable = False
            _set_array(self, array)
        return array

    def _at_hand(self) -> "Tensor[S, J]":
        return self

    def _as_operand(self) -> "Tensor[S]":
        return self

    @classmethod
    def _make(cls, layout: Layout[Any], buffer: BufferCommon[Any]) -> "Tensor[S, J]":
        # As `make_tensor`, inlined because every view is created here.
        tensor: Tensor[Any, Any] = object.__new__(Tensor)
        _set_layout(tensor, layout)
        _set_buffer(tensor, buffer)
        return tensor

    # Parts of another rank.

    @overload
    def __getitem__(self, key: Slices) -> "Tensor[S, J]": ...
    @overload
    def __getitem__(self: "Tensor[S, UnknownRank]", key: ArrayKey) -> "Tensor[S]": ...
    @overload
    def __getitem__(self, key: KeyWithArray) -> "Tensor[S]": ...
    @overload
    def __getitem__(self: "Tensor[S, tuple[int, *Modes]]", key: Integer) -> "Tensor[S, tuple[*Modes]]": ...
    @overload
    def __getitem__(
        self: "Tensor[S, tuple[int, int, *Modes]]", key: tuple[Integer, Integer]
    ) -> "Tensor[S, tuple[*Modes]]": ...
    @overload
    def __getitem__(
        self: "Tensor[S, tuple[int, int, *Modes]]", key: IntegerAndSlice
    ) -> "Tensor[S, tuple[int, *Modes]]": ...
    @overload
    def __getitem__(self: "Tensor[S, tuple[*Modes]]", key: None) -> "Tensor[S, tuple[int, *Modes]]": ...
    @overload
    def __getitem__(self, key: "ArrayKey | NamedKey") -> "Tensor[S]": ...
    def __getitem__(self, key: "ArrayKey | NamedKey") -> "Tensor[Any, Any]":
        """Return the selected part, which starts at zero; NumPy's rules.

        Integers, slices, ellipses and None give a view. Keys with lists, arrays or masks give a copy, with
        the modes of the positions where NumPy puts them. Integers alone give a tensor of rank 0, never a
        bare number: ``item()`` or ``float()`` reads it. Arrays may select rows of a jagged tensor, and a
        jagged tensor of bools or of positions selects in each row separately.

        Raises
        ------
        OutOfBoundsError
            If a position does not exist, or a mask has other extents.
        TooManyIndicesError
            If there are more indices than modes.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor([[1, 2, 3], [4, 5, 6]])
        >>> t[1, ::-2].tolist(), t[[1, 0, 1], 0].tolist(), t[:, [True, False, True]].tolist()
        ([6, 4], [4, 1, 4], [[1, 3], [4, 6]])
        >>> j = tw.jagged([[5, 6, 7], [8]])
        >>> j[tw.jagged([[2, 0], [-1]])].tolist(), j[tw.jagged([[True, False, True], [False]])].tolist()
        ([[7, 5], [8]], [[5, 7], []])
        """
        # Loops ask for one row after another.
        if type(key) is int or is_basic(key):
            layout: Any = self._layout  # to cast the key would be a call
            whole = layout.implementation
            basic: Any = key
            quick = type(key) is int or type(whole) is Strided
            part = wrap_layout(whole.at(basic)) if quick else layout[key]
            if self._buffer.in_tiles and (not part.shape.rank or part.shape.is_box > whole.shape.is_box):
                return make_tensor(*self._narrowed(part.implementation))
            return make_tensor(part, self._buffer)
        if isinstance(key, Mapping):
            return self[key_of_names(key, names_of(self.shape), self.shape.rank)]
        if not self.shape.is_box or is_ragged(key):
            if are_points(key):
                return self.vindex[key]
            return make_tensor(chosen_layout(self._layout, key), self._buffer).copy()
        return self._chosen(self._layout, key)

    def untiled(self) -> "Tensor[S]":
        """Return the view of the box without its tiling. O(1), or O(tiles) for tiles at separate places.

        Raises
        ------
        LayoutError
            If the tensor is not tiled.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.from_buffer(np.arange(6), tw.Tiling([2], [1, 2]).shape)
        >>> t.tolist(), t.untiled().tolist()
        ([[[[0], [1]], [[2, 3], [4, 5]]]], [[0, 2, 3], [1, 4, 5]])
        """
        return make_tensor(wrap_layout(self._tiled("untiled").under), self._buffer)

    def tile(self, number: Iterable[SupportsIndex]) -> "Tensor[S]":
        """Return the view of the tile of this number; its origin is its position in the box. O(rank).

        Raises
        ------
        LayoutError
            If the tensor is not tiled.
        OutOfBoundsError
            If there is no such tile.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(tw.Tiling([1, 2], [2, 1]))
        >>> t.tile((1, 0)).tolist(), t.tile((1, 0)).shape
        ([[3, 4], [6, 7]], Shape(2, 2, origin=(1, 0)))
        """
        found = tile_layout(self._layout.implementation.unnamed(), number)
        if found is None:
            raise self._no_tiles("tile")
        return make_tensor(*self._narrowed(found))

    def _narrowed(self, layout: LayoutCommon) -> "tuple[Layout[Any], BufferCommon[S]]":
        """Return the layout of a tile or of an element, and the buffer that has no more than is needed."""
        found, buffer = self._buffer.narrowed(layout)
        return wrap_layout(found), buffer

    def element(self, index: Iterable[SupportsIndex], *, layer: SupportsIndex | None = None) -> "Tensor[S]":
        """Return the view of one element of a layer, or of one cell of a jagged tensor; it keeps its origin.

        Parameters
        ----------
        index
            For a nested tensor, the absolute index in one or more of the outer layers. For a jagged tensor,
            the index of a cell.
        layer
            The layer where the index ends, where layers without modes leave a choice.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> shape = tw.Shape.nested(tw.Shape(2, 3), layers=(1, 1))
        >>> tw.full(shape, 1, dtype="i8").element((1,)).tolist()
        [1, 1, 1]
        """
        return make_tensor(self._layout.element(index, layer=layer), self._buffer)

    def cells(self) -> "Iterator[tuple[Index, Tensor[S]]]":
        """Return an iterator over the cells: index and view, whose origin is the position of the cell.

        The cells of a jagged tensor are boxes, those of a nested one the elements of its innermost layer.

        Raises
        ------
        JaggedModeError
            If the tensor is a box, which is one cell.
        """
        self._check_cells("cells")
        if self.shape.has_layers:
            return ((index, self.element(index)) for index, _ in self.shape.cells())
        held, outer = self._layout.implementation, self.shape.outer_rank
        names = None if held.names is None else held.names[outer:]
        layouts = cell_layouts(held.unnamed(), unnamed_shape(self.shape).cell_table())
        make, buffer = self._make, self._buffer
        return ((index, make(wrap_layout(cell, names), buffer)) for index, cell in layouts)

    def __iter__(self: Fewer[_R]) -> Iterator[_R]:
        me: Any = self
        make: Any = make_tensor
        tensor: Tensor[Any] = me
        if tensor.rank == 2 and not (tensor.shape.is_box or tensor.shape.has_layers):
            rows: Any = tensor.rows()
            return iter(rows)
        held, buffer = tensor._layout.implementation, tensor._buffer
        if type(held) is Strided and held.extents:
            rest, start, step = held.extents[1:], held.offset, held.strides[0]
            zeros, strides, count = (0,) * len(rest), held.strides[1:], held.extents[0]
            places = range(start, start + count * step, step) if step else repeat(start, count)
            # Create only three objects per view.
            parts = map(new_strided, repeat(rest), repeat(zeros), repeat(strides), places)
            return map(make, map(wrap_layout, parts), repeat(buffer))
        return (make(tensor._layout[k], buffer) for k in range(len(tensor)))

    def flatten(self, mode: SupportsIndex | None = None) -> "Tensor[S]":
        """Return the view in which `mode` is merged into the previous mode; all modes start at zero.

        The rows of a jagged mode follow one another without brackets, as Awkward Array's ``flatten`` has
        them. For a nested tensor, without a mode, the view without layers. Nothing is copied; O(1) where the
        elements are packed, beside the splits of the new shape, else as many steps as there are cells.

        Parameters
        ----------
        mode
            The mode that loses its brackets; 1 if not given.

        Raises
        ------
        RankError
            If there is no such mode, or none before it.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.jagged([[[1, 2], [3]], [], [[4]]])
        >>> t.flatten().tolist(), t.flatten(2).tolist()
        ([[1, 2], [3], [4]], [[1, 2, 3], [], [4]])
        """
        if mode is None and self.shape.has_layers:
            return self._flat()
        merged = self._layout.merge_rows(1 if mode is None else mode)
        return make_tensor(cast("Layout[Any]", merged), self._buffer)

    def unflatten(
        self, counts: "SupportsIndex | npt.ArrayLike | TensorBase[Any]", mode: SupportsIndex = 0
    ) -> "Tensor[S]":
        """Return the view in which `mode` is split into rows of these lengths; all modes start at zero.

        Nothing is copied; O(counts) where the elements are packed.

        Parameters
        ----------
        counts
            The length of each new row, under one prefix of `mode` indices after the other; one number for
            rows of one length. A jagged tensor, such as `row_lengths` gives, also says which rows belong to
            which prefix, so ``t.flatten(m).unflatten(t.row_lengths(m), m - 1)`` has the rows of ``t`` again.
        mode
            The mode that is cut.

        Raises
        ------
        ExtentError
            If the counts do not add up to the extent of the mode under each prefix.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([1, 2, 3, 4]).unflatten([1, 0, 3]).tolist()
        [[1], [], [2, 3, 4]]
        """
        return make_tensor(cut_rows(self._layout, counts, mode), self._buffer)

    def rows(self) -> "TensorRows[Tensor[S], Tensor[Any]]":
        """Return the rows along the last mode: a sequence of views, with reductions of each.

        Raises
        ------
        RankError
            If the rank is 0.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> rows = tw.jagged([[1, 2, 3], [], [4, 5]]).rows()
        >>> len(rows), rows[-1].tolist(), rows.reduce(np.add).tolist()
        (3, [4, 5], [6, 0, 9])
        """
        if not self.rank:
            raise RankError("a tensor of rank 0 has no rows")
        # Loaded here: most programs ask for no rows.
        from tensorwrapper.tensor.within._rows import TensorRows  # noqa: PLC0415

        return TensorRows(self._flat())

    def row_lengths(self, mode: SupportsIndex = 1) -> "Tensor[np.int64]":
        """Return the extent of `mode` under every prefix, from the shape alone; read-only.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.jagged([[[1, 2], [3]], [], [[4]]])
        >>> t.row_lengths().tolist(), t.row_lengths(2).tolist()
        ([2, 0, 1], [[2, 1], [], [1]])
        """
        shape = self._flat().shape
        return _of_integers(*counts_of(shape, mode_of(mode, shape.rank)))

    def local_index(self, mode: SupportsIndex = -1) -> "Tensor[np.int64]":
        """Return the position of every index along `mode`, counted from 0, over the modes up to it.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 6, 7], [], [8]]).local_index().tolist()
        [[0, 1, 2], [], [0]]
        """
        shape = self._flat().shape
        return _of_integers(*positions_of_mode(shape, mode_of(mode, shape.rank)))

    def run_lengths(self) -> "Tensor[np.int64]":
        """Return how many equal elements follow one another in each row, one number for each such run.

        Nulls that follow one another are one run.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[1, 1, 2], [], [2, 3, 3]]).run_lengths().tolist()
        [[2, 1], [], [1, 2]]
        """
        sides, held = self._buffer.sides, self._layout.implementation
        flat = self.elements() if sides is None else sides[0].elements_of(held)
        valid = None if sides is None else self._buffer.valid_of(held)
        found = _of_integers(*run_lengths(flat, self._flat().shape, valid))
        names = self._layout.implementation.names
        return found if names is None else found.named(*names[:-1], None)

    @overload
    def astype(self, dtype: "DType[_S]", *, casting: ElementCasting = ...) -> "Tensor[_S, J]": ...
    @overload
    def astype(self, dtype: npt.DTypeLike, *, casting: ElementCasting = ...) -> "Tensor[Any, J]": ...
    def astype(self, dtype: npt.DTypeLike, *, casting: ElementCasting = "checked") -> "Tensor[Any, Any]":
        """Return the elements as ones of another type, packed in row-major order; a sparse tensor stays so.

        Parameters
        ----------
        dtype
            The type of the new elements.
        casting
            Whether an element that the type cannot hold raises, or integers wrap round as NumPy's. Fractions
            are dropped in either case.

        Raises
        ------
        SizeOverflowError
            If an element is not in the range of the type.
        DTypeError
            If tensors cannot hold such elements.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([1.5, 255.0]).astype("u1").tolist()
        [1, 255]
        """
        if casting != "checked":
            check_casting(casting, ElementCasting)
        wanted = times_like(to_dtype(dtype), self.dtype)
        if holds_strings(wanted) and holds_strings(self.dtype):
            return cast("Tensor[Any, Any]", view_of(self).astype(wanted).compute())
        check_dtype(wanted)
        self._buffer.require_numbers("astype")
        held = self._layout.implementation
        if self._buffer.stores_orbits and self._buffer.packed_of(held) is not None:
            converted = self._buffer.convert(held, wanted, checked=casting != "unsafe")
            if converted.stores_orbits:
                return make_tensor(self._layout, converted)
        if self._buffer.in_tiles and (tiles := self._buffer.tiles_of(held)) is not None:
            cast_tiles = blocks_work().converted
            return make_tensor(*cast_tiles(tiles, wanted, held.names, checked=casting != "unsafe"))
        if (view := held.tiled) is not None:
            made = self.untiled().astype(wanted, casting=casting)
            return _restore_tiled(made, view.tiling, view.grid_origin, held.names)
        converted = self._buffer.convert(held, wanted, checked=casting != "unsafe")
        if not held.offset and held.run() is not None:
            return make_tensor(self._layout, converted)
        return _restore(self.shape, converted)

    def __reduce__(self) -> "tuple[Callable[..., Tensor[Any]], tuple[object, ...]]":
        held = self._layout.implementation
        if self._buffer.in_tiles and self._buffer.packed_of(held) is not None:
            return make_tensor, (self._layout, self._buffer)
        if self._buffer.in_tiles and (tiles := self._buffer.tiles_of(held)) is not None:
            return make_tensor, blocks_work().made_of(tiles, tiles.pattern, tiles.values(), held.names)
        if (view := held.tiled) is not None:
            return _restore_tiled, (self.untiled(), view.tiling, view.grid_origin, held.names)
        return _restore, (self.shape, self._buffer.pack(held, own=False))

    def __dask_tokenize__(self) -> object:
        _, parts = self.__reduce__()
        buffers = [isinstance(own, BufferCommon) for own in parts]
        named = zip(parts, buffers, strict=True)
        return token_of("Tensor", *[token_of_parts(own) if is_buffer else own for own, is_buffer in named])


hint(Tensor, "Tensor")

_set_layout, _set_buffer, _set_array = slot_setters(Tensor, "_layout", "_buffer", "_array")
_set_flat, _set_beneath = slot_setters(Dense, "flat", "_beneath")


def make_tensor(layout: Layout[Any], buffer: BufferCommon[S], array: Array | None = None) -> "Tensor[S, Any]":
    """Return a tensor of parts that were checked to fit; an `array` over the elements may be at hand."""
    tensor: Tensor[S, Any] = object.__new__(Tensor)
    _set_layout(tensor, layout)
    _set_buffer(tensor, buffer)
    if array is not None:
        _set_array(tensor, array)
    return tensor


def make_dense(layout: Layout[Any], flat: Array, array: Array | None = None) -> "Tensor[Any, Any]":
    """Return a tensor over a flat array as `make_tensor` does, in half of the time of both constructors."""
    buffer = object.__new__(Dense)
    _set_flat(buffer, flat)
    _set_beneath(buffer, None)
    return make_tensor(layout, buffer, array)


_IMPLEMENTATION, _BUFFER = attrgetter("_layout.implementation"), attrgetter("_buffer")


def stored_parts(tensors: "Iterable[Tensor[Any, Any]]") -> "tuple[list[Any], list[Any]]":
    """Return the implementations of the layouts of tensors, and their buffers, without a call for each."""
    return list(map(_IMPLEMENTATION, tensors)), list(map(_BUFFER, tensors))


def _of_integers(shape: Shape[Any], numbers: IntArray) -> Tensor[np.int64]:
    """Return a tensor of new numbers, or of one row of numbers shared by all prefixes."""
    if shape.is_box:
        buffer, strides, offset = as_dense(numbers.reshape(shape.extents))
        layout = wrap_layout(Strided(unnamed_shape(shape), strides, offset), names_of(shape))
        return make_tensor(layout, guard(layout, buffer))
    return _restore(shape, Dense(cast("Any", numbers)))


def _restore(shape: Shape[Any], buffer: BufferCommon[S]) -> "Tensor[S, Any]":
    return make_tensor(packed_layout(shape), buffer)


def _restore_tiled(
    under: "Tensor[S]", tiling: Tiling, origin: Index, names: ModeNames | None
) -> "Tensor[S, Any]":
    view = TiledStrided(tiling, cast("Strided", under.layout.implementation), origin)
    return make_tensor(wrap_layout(view, names), under._buffer)
