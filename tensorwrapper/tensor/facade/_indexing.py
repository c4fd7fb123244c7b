"""Square brackets: NumPy's own rules, the outer product of positions (`oindex`), and points (`vindex`)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import frozen, slot_setters
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import as_dense, index_elements
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import (
    addresses_of_items,
    is_basic,
    new_row_major,
    new_strided,
    split_points,
    to_items,
    wrap_layout,
)
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import ModeNames, OperandShapes, key_of_names, names_of, picked_names
from tensorwrapper.tensor._lazy_imports import view_of
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.facade._writes import divide_value
from tensorwrapper.tensor.keys._array_keys import is_running, read_key, write_key
from tensorwrapper.tensor.keys._ragged_keys import are_points, chosen_layout, is_ragged
from tensorwrapper.typing import Array, ArrayKey, IndexT_co, NamedKey, PositionalKey, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.shape import IndexIterator
    from tensorwrapper.tensor._tensor import Tensor

_NUMBERS: Final = (int, float, bool, complex)


class TensorIndexing(TensorBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: the members declared by `TensorBase`."""

    __slots__ = ()

    def __setitem__(self, key: "ArrayKey | NamedKey", value: "npt.ArrayLike | TensorBase[Any]") -> None:
        """Write `value`, broadcast as NumPy does, into the selected part; an error changes nothing.

        If an array selects a position twice, the last value counts.

        Raises
        ------
        ReadOnlyError
            If the memory may not change, or several indices share a place; the text names the mode.
        ExtentMismatchError
            If the extents of the value do not broadcast to those of the part.
        """
        kind: object = type(value)
        if kind is float or kind is int:
            array = self._held_array()
            # Only contiguous buffers cache an array.
            dense = cast("Dense[Any]", self._buffer)
            if array is not None and dense.write_number(array, key, cast("float", value)):
                return
        self._check_writeable()
        if is_basic(key):
            part = self._layout[cast("PositionalKey", key)]
            one = isinstance(value, str | bytes) and not part.implementation.rank
            if not one or not self._buffer.write_string(part.implementation.offset, cast("str", value)):
                self._make(part, self._buffer).assign(value)
        elif isinstance(key, Mapping):
            self[key_of_names(key, names_of(self.shape), self.shape.rank)] = value
        elif not self.shape.is_box and are_points(key):
            self.vindex[key] = value
        elif not self.shape.is_box or is_ragged(key):
            marks = self._marks_of(key) if kind in _NUMBERS or issubclass(type(value), np.generic) else None
            if marks is None:
                self.oindex[key].assign(value)
            else:
                flat = Layout(Shape(self.shape.size), offset=self._layout.offset)
                self._make(flat, self._buffer)[marks] = value
        elif self._buffer.sides is not None:
            values, valid = divide_value(value, self.dtype)
            self._make(self._layout, self._buffer.sides[0])[key] = values
            self._make(self._layout, self._buffer.sides[1])[key] = valid
        else:
            write_key(self._layout, self._buffer, key, self._as_values(value))

    def _marks_of(self, key: object) -> "Array | None":
        """Return a mask over the same rows as a flat array if both are contiguous; otherwise None."""
        if not isinstance(key, TensorBase):
            return None
        mask = cast("TensorBase[Any]", key)
        if mask.dtype != np.bool_ or mask.buffer.nullable:
            return None
        both: list[TensorBase[Any]] = [self, mask]
        for own in both:
            held = own.layout.implementation
            is_named = own.shape.has_layers or names_of(own.shape) is not None
            if is_named or not held.is_contiguous or own.buffer.memory is None:
                return None
        same = mask.shape is self.shape or OperandShapes.are_same(mask.shape, self.shape)
        return mask.elements() if same else None

    @property
    def oindex(self) -> "OuterIndexer[Tensor[ScalarT_co]]":
        """Outer indexing: ``t.oindex[key]`` takes the positions of each mode by themselves; a view.

        The result has one mode for each list, array, mask or slice, in their order, and no element is
        copied. A position that is named twice makes the view read-only.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor([[1, 2, 3], [4, 5, 6]])
        >>> t.oindex[[1, 0], [2, 0]].tolist()
        [[6, 4], [3, 1]]
        """
        indexer: OuterIndexer[Any] = _new(OuterIndexer)
        _set_of_modes(indexer, self)
        return indexer

    @property
    def vindex(self) -> "PointIndexer[Tensor[ScalarT_co]]":
        """Pointwise indexing: ``t.vindex[key]`` takes one element per point; a copy.

        All arrays broadcast to the extents of the points, which become the first modes; slices come after
        them, integers have no mode. Masks may span several modes.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor([[1, 2, 3], [4, 5, 6]])
        >>> t.vindex[[1, 0], [2, 0]].tolist(), t.vindex[:, [2, 0]].tolist()
        ([6, 1], [[3, 6], [1, 4]])
        """
        indexer: PointIndexer[Any] = _new(PointIndexer)
        _set_of_points(indexer, self)
        return indexer

    def _chosen(self, layout: Layout[Any], key: object) -> Self:
        """Return the selection of a key with arrays from a layout of this buffer, as a new tensor."""
        array = read_key(layout, self._buffer, key)
        if array is None or (not array.size and any(layout.shape.origin)):
            # For an empty result, this path warns where indices were meant.
            addresses = addresses_of_items(layout, to_items(key, layout.shape))
            few = self._buffer.collect(iter([addresses.reshape(-1)]), addresses.size)
            names = _names_after(layout, key)
            return self._make(wrap_layout(new_row_major(addresses.shape), names), few)
        return self._of_array(array, _names_after(layout, key))

    def _led_to(self, iterator: "IndexIterator[Any]") -> Self:
        """Return the remaining elements of a running iterator, as a new tensor."""
        addresses = self._layout.offsets_of(iterator)
        few = self._buffer.collect(iter([addresses]), addresses.size)
        return self._make(wrap_layout(new_row_major(addresses.shape)), few)

    def _of_array(self, array: Array, names: ModeNames | None) -> Self:
        """Return the tensor of a new array, with elements of the same type as here."""
        if array.flags.c_contiguous:
            return self._make(wrap_layout(new_row_major(array.shape), names), Dense(array.reshape(-1)))
        buffer, strides, offset = as_dense(array)
        implementation = new_strided(array.shape, (0,) * array.ndim, strides, offset)
        return self._make(wrap_layout(implementation, names), buffer)


def _names_after(layout: Layout[Any], key: object) -> ModeNames | None:
    """Return the names of the modes of a selection by a valid key."""
    names = layout.implementation.names
    return None if names is None else picked_names(names, to_items(key))


def _are_arrays(key: Any) -> bool:  # noqa: ANN401 - a tuple of whatever there is
    """Return True if a key has only lists and arrays."""
    for item in key:
        if type(item) is not list and (type(item) is not np.ndarray or not item.ndim):
            return False
    return True


_T = TypeVar("_T", bound=TensorIndexing[Any])


@final
@frozen(eq=False)
class OuterIndexer(Generic[_T]):
    """Result of `oindex`, to be indexed."""

    _tensor: _T

    def __getitem__(self, key: ArrayKey) -> _T:
        """Return the view of the outer product of the positions."""
        return self._tensor._see(chosen_layout(self._tensor._layout, key))

    def __setitem__(self, key: ArrayKey, value: "npt.ArrayLike | TensorBase[Any]") -> None:
        """Write `value`, broadcast, into the outer product of the positions, which must be unique."""
        self._tensor._check_writeable()
        self[key].assign(value)


@final
@frozen(eq=False)
class PointIndexer(Generic[_T]):
    """Result of `vindex`, to be indexed."""

    _tensor: _T

    def __getitem__(self, key: "ArrayKey | IndexIterator[Any]") -> _T:
        """Return the elements at the points, as a new tensor.

        A running iterator over indices yields the remaining points, and is advanced past them.
        """
        tensor = self._tensor
        if is_running(key):
            return tensor._led_to(key)
        items: Any = key
        if isinstance(key, tuple) and _are_arrays(items):
            # The modes of the points come first, unchanged. The general method raises errors.
            array = tensor._held_array()
            if array is not None and len(items) <= array.ndim and tensor._layout.implementation.names is None:
                try:
                    chosen = index_elements(array, items)
                except (IndexError, OverflowError, TypeError, ValueError, MemoryError):
                    chosen = None
                if chosen is not None:
                    return tensor._of_array(chosen, None)
        return tensor._chosen(*self._split(key))

    def __setitem__(
        self, key: "ArrayKey | IndexIterator[Any]", value: "npt.ArrayLike | TensorBase[Any]"
    ) -> None:
        """Write one value per point; for repeated points the last value counts."""
        if is_running(key):
            view_of(self._tensor).vindex[key] = value
            return
        self._tensor._check_writeable()
        layout, points = self._split(key)
        sides = self._tensor._buffer.sides
        if sides is not None:
            values, valid = divide_value(value, self._tensor.dtype)
            self._tensor._make(layout, sides[0])[points] = values
            self._tensor._make(layout, sides[1])[points] = valid
            return
        write_key(layout, self._tensor._buffer, points, self._tensor._as_values(value))

    def _split(self, key: ArrayKey) -> "tuple[Layout[Any], tuple[Any, ...]]":
        return split_points(self._tensor._layout, key)


# Made for one key each: by the setters of their slots, as views are.
_new: Any = object.__new__
(_set_of_modes,) = slot_setters(OuterIndexer, "_tensor")
(_set_of_points,) = slot_setters(PointIndexer, "_tensor")
