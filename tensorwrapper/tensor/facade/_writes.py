"""Write into tensors: atomic assignment, and accumulation at shared positions."""

from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_casting, surely_fits
from tensorwrapper._arrays import shown_array
from tensorwrapper.buffer.lowlevel import (
    assign_elements,
    check_write,
    fit_extents,
    holds_strings,
    kind_of,
    packed_layout,
)
from tensorwrapper.errors import ConversionError, ExtentMismatchError, LayoutError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes, check_names
from tensorwrapper.tensor._common import as_computed
from tensorwrapper.tensor._lazy_imports import view_of
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.facade._blocks import blocks_work
from tensorwrapper.tensor.protocols._null_lists import has_null, split_nulls
from tensorwrapper.tensor.rows._nulls import zero_filled
from tensorwrapper.tensor.rows._sums import add_all
from tensorwrapper.typing import Array, Extents, IndexT_co, ScalarT_co, WriteCasting

if TYPE_CHECKING:
    from tensorwrapper.tensor.rows._tile_blocks import TileSource


class TensorWrites(TensorBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: the members declared by `TensorBase`."""

    __slots__ = ()

    def assign(
        self, value: "npt.ArrayLike | TensorBase[Any]", *, casting: WriteCasting = "same_kind"
    ) -> None:
        """Write `value` into all elements, broadcast as NumPy does; an error changes nothing.

        Values that overlap the tensor are read first. A jagged tensor takes one value, or a tensor of its
        shape. Arrays and tensors are cast within their kind; Python's numbers must fit. Values that do not
        fit the type are refused, unless ``casting="unsafe"`` selects NumPy's casts.

        Raises
        ------
        ReadOnlyError
            If the memory may not change, or several indices share a place; the text names the mode.
        ExtentMismatchError
            If the extents of the value do not broadcast to those of the tensor.
        DTypeError
            If elements are of another kind: floats for integers.
        SizeOverflowError
            If a number is not in the range of the type.
        ConversionError
            If a jagged tensor is given lists or an array: `from_buffer` and `jagged` make tensors of them.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.jagged([[1, 2, 3], [4]])
        >>> t[0].assign([7, 8, 9])
        >>> t[1:].assign(0)
        >>> t.tolist()
        [[7, 8, 9], [0]]
        """
        self._check_writeable()
        if casting != "same_kind":
            check_casting(casting)
        if self._layout.implementation.names is not None and isinstance(value, TensorBase):
            check_names(self.shape, value.shape, "assign")
        sides = self._buffer.sides
        if sides is not None:
            values, valid = divide_value(value, self.dtype)
            # The values first, which may be refused.
            self._make(self._layout, sides[0]).assign(values, casting=casting)
            self._make(self._layout, sides[1]).assign(valid)
            return
        if self.shape.has_layers:
            value = _given(value)
            flat = value._flat() if isinstance(value, TensorBase) else value
            self._flat().assign(flat, casting=casting)
            return
        layout = self._layout.implementation
        array = self._buffer.memory_of(layout)
        if array is not None:
            _assign_array(array, _readable(_given(value)), casting)
            return
        value = _given(value)
        if holds_strings(self.dtype):
            self._assign_strings(value)
        elif isinstance(value, TensorBase):
            self._assign_tensor(value, casting)
        elif self.shape.is_box:
            extents = self.shape.extents
            self._buffer.assign(layout, np.broadcast_to(self._as_values(value, extents, casting), extents))
        else:
            # Ragged lists are not arrays, so NumPy cannot determine their rank.
            lists = isinstance(value, list | tuple)
            if lists or shown_array(value).ndim:
                given = (
                    f"a {type(cast('object', value)).__name__}"
                    if lists
                    else f"an array of extents {np.shape(value)}"
                )
                raise ConversionError(
                    f"a tensor of shape {self.shape} takes a number or a tensor of that shape, not {given}; "
                    "jagged() makes a tensor of lists, and t[row] = values assigns cell by cell"
                )
            given_values = self._as_values(value, None, casting)
            self._buffer.assign(layout, np.broadcast_to(given_values, (self.shape.size,)))

    def _assign_tensor(self, value: "TensorBase[Any]", casting: WriteCasting) -> None:
        layout, box = self._layout.implementation, self.shape.is_box
        if not box:
            if not value.shape.rank:
                # A number that has a type: one for all elements.
                given = self._as_values(value, (self.shape.size,), casting)
                self._buffer.assign(layout, np.broadcast_to(given, (self.shape.size,)))
                return
            if not value.shape.is_congruent(self.shape):
                raise ExtentMismatchError(f"a tensor of shape {value.shape} is not one of shape {self.shape}")
        same = surely_fits(value.dtype, self.dtype)
        if same and self._buffer.fill_value is not None and value.buffer.fill_value is not None:
            source = _stretched(value, self.shape.extents) if box else value.layout.implementation
            if self._buffer.assign_from(layout, value.buffer, source):
                return
        extents = self.shape.extents if box else (self.shape.size,)
        given = self._as_values(value if box else value.elements(), extents, casting)
        self._buffer.assign(layout, np.broadcast_to(given, extents))

    def _as_values(
        self,
        value: "npt.ArrayLike | TensorBase[Any]",
        extents: Extents | None = None,
        casting: WriteCasting = "same_kind",
    ) -> Array:
        """Return a value as a new array of this dtype that broadcasts to `extents`."""
        if holds_strings(self.dtype):
            from tensorwrapper.tensor.protocols._string_values import read_strings  # noqa: PLC0415 - for strings alone

            strings, shape = read_strings(value, kind_of(self.dtype))
            return self._buffer.fit(strings).reshape(shape.extents)
        values = self._buffer.fit(self._boxed(_given(value)), casting=casting)
        return values if extents is None else fit_extents(values, extents)

    def _boxed(self, value: Any) -> Any:  # noqa: ANN401 - a tensor, or what NumPy reads
        """Return a tensor as an array to write, or raise; other values unchanged.

        Scalars are handled whatever their container, and sparse tensors are written into sparse tensors.
        """
        if not isinstance(value, TensorBase):
            return value
        tensor = cast("TensorBase[Any]", value)
        plain = tensor.shape.flatten()
        is_sparse = tensor.buffer.fill_value is not None
        if is_sparse and plain.is_box and (not plain.rank or self._buffer.takes_sparse):
            return tensor.elements().reshape(plain.extents)
        return np.asarray(value)

    def _assign_strings(self, value: object) -> None:
        from tensorwrapper.buffer import Strings  # noqa: PLC0415 - for strings alone
        from tensorwrapper.tensor.protocols._string_values import read_strings  # noqa: PLC0415

        strings, shape = read_strings(value, kind_of(self.dtype))
        places = np.arange(len(strings))
        if self.shape.is_box and shape.is_box:
            extents: Extents = self.shape.extents
            given: Extents = shape.extents
            places = np.broadcast_to(fit_extents(places.reshape(given), extents), extents)
        elif not shape.rank:
            places = np.broadcast_to(places, (self.shape.size,))
        elif not isinstance(value, TensorBase):
            raise ConversionError(
                f"a tensor of shape {self.shape} takes a string or a tensor of that shape, not lists of "
                f"shape {shape}; assign cell by cell: t[row] = values"
            )
        elif not shape.is_congruent(self.shape):
            raise ExtentMismatchError(f"a tensor of shape {shape} is not one of shape {self.shape}")
        layout, source = self._layout.implementation, Strings(strings.take(places.reshape(-1)))
        if not self._buffer.assign_from(layout, source, packed_layout(self.shape).implementation):
            self._buffer.assign(layout, source.read_run(0, source.size))

    def add_tiles(self, source: "TileSource") -> None:
        """Add blocks to present tiles, in the given order; tiles may be repeated.

        An error changes nothing. Sums follow the rule of `accumulate_into`.

        Parameters
        ----------
        source
            A mapping from tile numbers to blocks, or pairs of both.

        Raises
        ------
        OutOfBoundsError
            If a tile is absent, or not in the grid.
        ExtentMismatchError
            If a block has other extents than its tile.
        ReadOnlyError
            If the memory may not change.
        SizeOverflowError
            If a sum is not in the range of the type.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.blocks({(1,): [3.0, 4.0]}, tw.Tiling([3, 2]))
        >>> t.add_tiles([((1,), [1.0, 1.0]), ((1,), [0.5, 0.0])])
        >>> t.packed_values().tolist()
        [4.5, 5.0]
        """
        blocks_work().add_tiles(self, source)

    def accumulate_into(self, target: "TensorBase[Any]", *, casting: WriteCasting = "same_kind") -> None:
        """Add the elements to those of `target`, also where several of its indices share a place.

        This is the way to write through a view that repeats its elements (`broadcast`, `repeat`, `gather`
        with repeats, `sliding_window`): every index adds its own value, as ``np.add.at`` does. Values and
        sums follow the rule of `assign`; an error changes nothing.

        Raises
        ------
        ReadOnlyError
            If the memory of the target may not change.
        ExtentMismatchError
            If the elements do not fit the target as operands of one call do, or it would be stretched.
        DTypeError
            If the elements are of another kind than those of the target: floats for integers. Dates have no
            sum.
        SizeOverflowError
            If an element or a sum is not in the range of the target's type, unless ``casting="unsafe"``.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> total = tw.as_tensor([0.0, 0.0])
        >>> tw.as_tensor([1.0, 2.0, 4.0]).accumulate_into(total.gather(0, [1, 0, 1]))
        >>> total.tolist()
        [2.0, 5.0]
        """
        if casting != "same_kind":
            check_casting(casting)
        if not isinstance(cast("object", target), TensorBase):
            view_of(self).accumulate_into(target, casting=casting)
            return
        values = values_into(self, target.shape, "accumulate_into")
        add_all([(target._buffer, target._layout.implementation, values)], casting)


def divide_value(value: Any, dtype: "np.dtype[Any]") -> tuple[Any, Any]:  # noqa: ANN401 - what is assigned
    """Return the values of an assigned value, with zeros for nulls, and their truth values."""
    value = _given(value)
    given: object = value
    if given is None:
        return np.zeros((), dtype), False
    if isinstance(given, TensorBase):
        return (zero_filled(value), value.is_valid()) if value.is_nullable else (value, True)
    if isinstance(given, np.ma.MaskedArray):
        return value.filled(np.zeros((), value.dtype)[()]), ~np.ma.getmaskarray(value)
    if isinstance(given, list | tuple) and has_null(value):
        return split_nulls(value, dtype)
    return value, True


def values_into(values: TensorBase[Any], target: Shape[Any], what: str) -> Array:
    """Return a value for each element of a target in row-major order, by broadcasting rules.

    Raises
    ------
    ExtentMismatchError, LayerError, ModeNameError
        Errors of `OperandShapes.into`.
    """
    modes = OperandShapes.into(values.shape, target, what)
    own = values.elements()
    if modes is None:
        return np.broadcast_to(own.reshape(values.shape.extents), target.extents).reshape(-1)
    if not modes:
        return np.broadcast_to(own, (target.size,))
    if modes == target.rank:
        return own
    return np.repeat(own, np.diff(OperandShapes.splits_under(target, modes)))


def _given(value: object) -> Any:  # noqa: ANN401 - as it is, whatever it is
    """Return a value computed, and a symmetric tensor with all its elements."""
    known: Any = as_computed(value)
    return (
        known.to_dense()
        if isinstance(cast("object", known), TensorBase)
        and known.buffer.stores_orbits
        and not known.buffer.in_tiles
        else known
    )


def _readable(value: "npt.ArrayLike | TensorBase[Any]") -> "npt.ArrayLike | TensorBase[Any]":
    """Return a value that NumPy can read, or itself refuses: a box that no strides reach as an array."""
    if isinstance(value, TensorBase) and value.shape.is_box:
        if not value.shape.rank and value._buffer.fill_value is not None:
            return value.elements().reshape(())
        return value._buffer.to_array(value._layout.implementation)
    return value


def _assign_array(array: Array, value: "npt.ArrayLike | TensorBase[Any]", casting: WriteCasting) -> None:
    # The array of a tensor, which is read by its own rules: jagged ones refuse to be one.
    given: object = np.asarray(cast("Any", value)) if isinstance(value, TensorBase) else value
    # Checked and converted as a whole first: NumPy would stop at the first bad item, halfway.
    values = check_write(given, array.dtype, casting=casting)
    if casting == "unsafe" and values.dtype.kind in "OSUT":
        values = np.array(values, dtype=array.dtype)
    if isinstance(value, list | tuple) and values.ndim > array.ndim:
        # Modes of extent 1 that are too many are dropped from arrays only, as NumPy does.
        raise ExtentMismatchError(
            f"lists nested {values.ndim} deep do not go into a tensor of extents {array.shape}"
        )
    try:
        assign_elements(array, values)
    except ValueError:
        fit_extents(values, array.shape)  # for what it raises
        raise


def fit_values(
    target: TensorBase[Any],
    value: "npt.ArrayLike | TensorBase[Any]",
    extents: Extents,
    casting: WriteCasting,
) -> Array:
    """Return a value as a new array of a tensor's type that broadcasts to `extents`."""
    return fit_extents(target._as_values(value, extents, casting), extents)


def _stretched(value: "TensorBase[Any]", extents: Extents) -> LayoutCommon:
    """Return the layout of a value broadcast to these extents, as NumPy does in an assignment."""
    layout = value.layout
    given = layout.shape.extents if layout.shape.is_box else None
    if given == extents:
        return layout.implementation
    try:
        extra = len(given or ()) - len(extents)
        if given is not None and extra > 0 and given[:extra] == (1,) * extra:
            layout = layout.squeeze(*range(extra))
        return layout.broadcast(extents).implementation
    except LayoutError as error:
        raise ExtentMismatchError(
            f"a value of shape {value.shape} does not broadcast to a tensor of extents {extents}"
        ) from error
