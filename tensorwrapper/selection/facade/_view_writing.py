"""Writing through views: elements set, added to, and whether there is anything that may be written."""

from typing import Any, Generic, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_casting, check_kind_of
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError, ExtentMismatchError, ReadOnlyError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.execution._write_in_memory import source_tensor
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._source_node import Reading
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.selection.jagged._flatten import in_order
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import check_names
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import as_computed, divide_value, values_into
from tensorwrapper.typing import IndexT_co, ScalarT_co, WriteCasting

Value: TypeAlias = "npt.ArrayLike | Tensor[Any] | ViewBase[Any]"
"""A value to write: a view, a tensor, an array, a number, or lists of them."""


class ViewWriting(ViewBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: as `ViewBase`."""

    __slots__ = ()

    @property
    def is_readonly(self) -> bool:
        """True if writing raises: an element has no source, occurs twice, or is read-only.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> v = sel.pad(tw.as_tensor([1, 2, 3]), [(1, 0)])
        >>> v.is_readonly, v[1:].is_readonly, v.repeat([2]).is_readonly
        (True, False, True)
        """
        from tensorwrapper.selection.writing._writes import writable_targets  # noqa: PLC0415 - most views read

        tensor = None if self._expression.is_box else source_tensor(self._expression)
        if tensor is not None:
            return bool(tensor.shape.size) and tensor.is_readonly
        try:
            if self.shape.size:
                normal, rows = self._stored()
                writable_targets(self._expression, normal, rows)
        except ReadOnlyError:
            return True
        return False

    def assign(self, value: Value, *, casting: WriteCasting = "same_kind") -> None:
        """Write `value`, broadcast as NumPy does, to where the elements of the view are stored.

        Each element must be one element of a tensor, and none may come twice: views that join, deal, turn or
        reorder elements can be written to, those that compute, convert or repeat them cannot. An error
        changes nothing, and values that overlap the sources are read first. Rows take one value, or rows of
        their lengths.

        Raises
        ------
        ReadOnlyError
            If an element is not stored, is stored where nothing may change, or comes twice; the text says
            which positions they are.
        ExtentMismatchError
            If the extents of the value do not broadcast to those of the view.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> a, b = tw.as_tensor([1, 2, 3]), tw.as_tensor([4, 5])
        >>> sel.interleave([a, b])[1:4].assign([70, 80, 90])
        >>> a.tolist(), b.tolist()
        ([1, 80, 3], [70, 90])
        >>> sel.pad(a, [(1, 0)]).assign(0)
        Traceback (most recent call last):
        tensorwrapper.errors.ReadOnlyError: position 0 of mode 0: a constant, which cannot be written to
        """
        from tensorwrapper.selection.writing._writes import assign  # noqa: PLC0415 - most views read

        if casting != "same_kind":
            check_casting(casting)
        given = as_computed(value)
        written: object = given
        if isinstance(written, Tensor):
            check_names(self.shape, cast("Tensor[Any]", written).shape, "assign")
            given = cast("Tensor[Any]", written)._flat()
        if self.shape.has_layers:
            self._by(Layout.flatten).assign(given, casting=casting)
            return
        if not self.shape.size:
            # Nothing is written, but the errors are those of any assignment.
            self.copy().assign(given, casting=casting)
            return
        normal, rows = self._stored()
        values: Any = given
        valid: Any = None
        told = values is None or isinstance(given, list | tuple | np.ma.MaskedArray)
        told = told or getattr(values, "is_nullable", False)
        if told and not holds_strings(self.dtype):
            values, valid = divide_value(values, self.dtype)
            valid = None if valid is True else valid
        if rows is not None:
            values = _in_line(cast("Any", values), rows)
            valid = None if valid is None else _in_line(valid, rows)
        assign(self._expression, normal, cast("Any", values), casting, rows, valid)

    def _stored(self) -> "tuple[Expression, Shape | None]":
        """Return the box in normal form that is written to: of rows that are put together, their elements.

        The shape of the rows is beside it; without, they are rows of one tensor, or no rows.
        """
        if self._expression.is_box or self._expression.node.tensor is not None:
            return self.normal_form(), None
        return self._make(in_order(self._expression)).normal_form(), self.shape

    def accumulate_into(
        self, target: "Tensor[Any] | ViewBase[Any]", *, casting: WriteCasting = "same_kind"
    ) -> None:
        """Add the elements to those of `target`, also where several of its indices share an element.

        This is the way to write through a view that repeats elements: every index adds its own, as
        ``np.add.at`` does. Values and sums follow the rule of `assign`; an error changes nothing.

        Raises
        ------
        ReadOnlyError
            If an element of the target is not stored, or is stored where nothing may change.
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
        >>> from tensorwrapper import selection as sel
        >>> total = tw.as_tensor([0, 0, 0])
        >>> windows = sel.as_view(total).sliding_window(0, 2)
        >>> sel.as_view([[1, 2], [4, 8]]).accumulate_into(windows)
        >>> total.tolist()
        [1, 6, 8]
        """
        from tensorwrapper.selection.writing._writes import accumulate  # noqa: PLC0415 - most views read

        if casting != "same_kind":
            check_casting(casting)
        check_kind_of(
            target, (Tensor, ViewBase), "elements are added to those of a tensor or a view; as_tensor(array)"
        )
        if isinstance(target, Tensor) and not target.shape.is_box:
            self.copy().accumulate_into(target, casting=casting)
            return
        values = values_into(self.copy(), target.shape, "accumulate_into")
        if isinstance(target, Tensor):
            accumulate(values, Expression(Reading(TensorSource(target)), target.layout), casting)
        elif target.shape.is_box:
            accumulate(values, target.normal_form(), casting)
        else:
            line = target._make(in_order(target._expression))
            accumulate(values, line.normal_form(), casting, target.shape)


def _in_line(value: "npt.ArrayLike | Tensor[Any]", rows: Shape) -> Any:  # noqa: ANN401 - what `assign` takes
    """Return a value to write to rows as a value to write to their elements in order."""
    if isinstance(value, Tensor):
        tensor = cast("Tensor[Any]", value)
        if not tensor.shape.rank:
            return tensor
        if tensor.shape.is_congruent(rows):
            return tensor.elements()
        raise ExtentMismatchError(f"a tensor of shape {tensor.shape} does not go into rows of shape {rows}")
    if not isinstance(value, list | tuple) and not np.ndim(value):
        return value
    kind = type(cast("object", value)).__name__
    raise ConversionError(
        f"rows of shape {rows} take a number or a tensor of that shape, not a {kind}: "
        "jagged() makes a tensor of lists"
    )
