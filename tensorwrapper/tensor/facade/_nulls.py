"""Nulls: which elements are null, replacing them, and removing them."""

from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np

from tensorwrapper._arrays import shown_array
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import check_write, fit_number, holds_strings, packed_layout
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape import Shape
from tensorwrapper.tensor._common import as_computed
from tensorwrapper.tensor._lazy_imports import nullable_of
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.facade._writes import values_into
from tensorwrapper.tensor.operators._operand import has_no_origin, is_several, placed, read_operand
from tensorwrapper.tensor.rows._row_facts import row_splits, rows_of_counts
from tensorwrapper.typing import IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.buffer import StringData
    from tensorwrapper.tensor._tensor import Tensor


class TensorNulls(TensorBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: the members declared by `TensorBase`."""

    __slots__ = ()

    @property
    def is_nullable(self) -> bool:
        """True if an element may be a null. NaN and NaT are values."""
        return self._buffer.nullable

    @property
    def null_count(self) -> int:
        """Number of nulls. O(n) if some may be.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[3, None, 1], [], [None]]).null_count, tw.strings(["a", None]).null_count
        (2, 1)
        """
        if not self._buffer.nullable:
            return 0
        valid = self._buffer.valid_of(self._layout.implementation)
        return valid.size - int(np.count_nonzero(valid))

    def is_valid(self) -> "Tensor[np.bool_, IndexT_co]":
        """Tell of each element whether it is there, and not a null. O(n).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.strings([["a", None], ["", "d"]]).is_valid().tolist()
        [[True, False], [True, True]]
        """
        there = self._buffer.valid_of(self._layout.implementation)
        if not there.flags.owndata:
            there = there.copy()
        me: Any = self
        made: Tensor[np.bool_, IndexT_co] = me._make(packed_layout(self.shape), Dense(cast("Any", there)))
        return made

    def fill_null(self, value: Any) -> "Tensor[ScalarT_co, IndexT_co]":  # noqa: ANN401 - a number, a text, or rows
        """Return a tensor with `value` for every null, packed, in which no element may be a null. O(n).

        Parameters
        ----------
        value
            A number or text that the type holds; or an operand: an array or a tensor, such as one element
            per row.

        Raises
        ------
        ConversionError
            If `value` is of another kind.
        ExtentMismatchError
            If it has no element for each null.
        DTypeError, SizeOverflowError
            If the type of the elements does not hold it.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.jagged([[3, None, 1], [], [None]])
        >>> t.fill_null(0).tolist(), t.fill_null([7, 8, 9]).tolist()
        ([[3, 0, 1], [], [0]], [[3, 7, 1], [], [9]])
        >>> tw.strings([["a", None], [None, "b"]]).fill_null("?").tolist()
        [['a', '?'], ['?', 'b']]
        """
        me: Any = self
        if holds_strings(self.dtype):
            from tensorwrapper.buffer import Strings  # noqa: PLC0415 - for strings alone

            data = self._buffer.strings_of(self._layout.implementation)
            filled = self._with_texts(data, value) if is_several(value) else data.fill_null(value)
            made: Tensor[ScalarT_co, IndexT_co] = me._make(
                packed_layout(self.shape), Strings(filled, nullable=False)
            )
            return made
        sides = self._buffer.sides
        if sides is None:
            return cast("Tensor[ScalarT_co, IndexT_co]", self.copy())
        held = self._layout.implementation
        flat = sides[0].own_elements_of(held)
        nulls = ~self._buffer.valid_of(held)
        value = as_computed(value)
        weak = isinstance(value, list | tuple)  # as in an assignment
        is_nowhere = has_no_origin(value)
        if is_several(value):
            value = read_operand(value, "fill_null")
        if isinstance(value, np.ndarray):
            flat_value: Any = shown_array(value).reshape(-1)
            value = me._make(packed_layout(Shape(*value.shape)), Dense(flat_value))
        if isinstance(value, TensorBase):
            own: Any = placed(value, self.shape.flatten()) if is_nowhere else value
            beside = values_into(own, self.shape, "fill_null")[nulls]
            flat[nulls] = check_write(beside, self.dtype, weak=weak)
        else:
            flat[nulls] = fit_number(value, self.dtype, "fill_null(value)")
        result: Tensor[ScalarT_co, IndexT_co] = me._make(packed_layout(self.shape), Dense(cast("Any", flat)))
        return result

    def _with_texts(self, data: "StringData", value: object) -> "StringData":
        """Return strings with those of an operand in the places of nulls."""
        from tensorwrapper.buffer import StringData  # noqa: PLC0415 - for strings alone

        beside: Any = as_computed(value)
        if not isinstance(beside, TensorBase):
            beside = placed(nullable_of(beside), self.shape.flatten())
        texts = beside.buffer.strings_of(beside.layout.implementation)
        numbers = beside._make(packed_layout(beside.shape), Dense(np.arange(len(texts), dtype=np.int64)))
        nulls = ~self._buffer.valid_of(self._layout.implementation)
        order = np.arange(len(data), dtype=np.int64)
        order[nulls] = len(data) + values_into(numbers, self.shape, "fill_null")[nulls]
        return StringData.concat([data, texts]).take(order)

    def drop_null(self) -> "Tensor[ScalarT_co]":
        """Return the valid elements as a plain tensor: rows get shorter. O(n).

        A 1-d box also gets shorter; a box of higher rank becomes rows along the last mode.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[3, None, 1], [], [None]]).drop_null().tolist()
        [[3, 1], [], []]
        >>> tw.as_tensor([[1, None], [2, 3]]).drop_null().shape
        Shape.jagged([1, 2])
        """
        flat: Any = self._flat()
        shape, held, buffer = flat.shape, flat._layout.implementation, flat._buffer
        if not shape.rank:
            raise ConversionError("a number has no row that gets shorter: fill_null(value) replaces nulls")
        valid = buffer.valid_of(held)
        befores = np.concatenate([[0], np.cumsum(valid)])
        rows = shape.as_jagged() if shape.is_box and shape.rank > 1 else shape
        shorter = rows_of_counts(rows, np.diff(befores[row_splits(rows)]))
        if shape.names[-1] is not None:
            shorter = shorter.named(*shape.names)
        if not holds_strings(self.dtype):
            values = (buffer if buffer.sides is None else buffer.sides[0]).elements_of(held)
            return cast("Tensor[ScalarT_co]", flat._make(packed_layout(shorter), Dense(values[valid])))
        from tensorwrapper.buffer import Strings  # noqa: PLC0415 - for strings alone

        data = buffer.strings_of(held).take(np.flatnonzero(valid))
        return cast("Tensor[ScalarT_co]", flat._make(packed_layout(shorter), Strings(data, nullable=False)))

    def to_masked(self) -> "np.ma.MaskedArray[Any, np.dtype[ScalarT_co]]":
        """Return a masked array of NumPy of a box of numbers, in which nulls are masked; a copy.

        Raises
        ------
        ConversionError
            If the tensor has rows of several lengths, or strings.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([1, None, 3]).to_masked().sum()
        np.int64(4)
        """
        if holds_strings(self.dtype):
            raise ConversionError("a masked array has no strings: fill_null(value) replaces nulls")
        if not self.shape.flatten().is_box:
            raise ConversionError(self._buffer.obstacle(self._layout.implementation))
        held = self._flat()._layout.implementation
        sides = self._buffer.sides
        values = (self._buffer if sides is None else sides[0]).own_elements_of(held)
        mask = ~self._buffer.valid_of(held)
        extents = held.shape.extents
        found: np.ma.MaskedArray[Any, Any] = np.ma.masked_array(
            values.reshape(extents), mask.reshape(extents)
        )
        return found
