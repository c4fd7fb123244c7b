"""Queries of views about sparse elements, nulls and strings: those of tensors, computed.

A query without meaning for the elements of a view is refused before anything is read.
"""

from typing import Any, Generic, SupportsIndex, cast

import numpy as np

from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.layout import Layout
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.selection.jagged._flatten import in_order
from tensorwrapper.selection.plans._nulls import has_null_bytes, has_nullable, sides_of_view
from tensorwrapper.selection.plans._source_reads import is_sparse, sparse_unread
from tensorwrapper.tensor import Tensor, full
from tensorwrapper.typing import IndexT_co, ScalarT_co


class ViewKinds(ViewBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: as `ViewBase`."""

    __slots__ = ()

    def to_layout(self, layout: Layout[Any], *, threads: SupportsIndex = 1) -> "Tensor[ScalarT_co]":
        """Return the elements in new memory with this `layout`; as `Tensor.to_layout`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> v = tw.concat([tw.as_tensor([1, 2]), tw.as_tensor([3, 4])])
        >>> v.to_layout(tw.Layout(tw.Shape(4), strides=(2,))).buffer.memory.tolist()
        [1, 0, 2, 0, 3, 0, 4]
        """
        return self._at_hand().to_layout(layout, threads=threads)

    # Sparse elements.

    @property
    def is_sparse(self) -> bool:
        """True if the view reads sparse tensors, so that only stored entries are computed; reads nothing."""
        source = self._expression.node.tensor
        if source is not None:
            return source.is_sparse
        if self._expression.is_box:
            normal = self.normal_form()
            return is_sparse(normal) or sparse_unread(self._expression, normal) is not None
        return is_sparse(self._make(in_order(self._expression)).normal_form())

    # Nulls.

    @property
    def is_nullable(self) -> bool:
        """True if an element may be a null. O(nodes)."""
        if holds_strings(self.dtype):
            if self.dtype.kind == "T":
                return hasattr(self.dtype, "na_object")
            return has_null_bytes(self._expression) or self._at_hand().is_nullable
        return has_nullable(self._expression)

    @property
    def null_count(self) -> int:
        """Number of nulls. Reads the truth values alone.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.as_tensor([1, None]), tw.as_tensor([2])]).null_count
        1
        """
        return self.shape.size - int(np.count_nonzero(self.is_valid().elements()))

    def is_valid(self) -> "Tensor[np.bool_, IndexT_co]":
        """Tell of each element whether it is there, and not a null, as `Tensor.is_valid`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> v = tw.concat([tw.strings(["a", None]), tw.strings([""])])
        >>> v.is_valid().tolist(), v.byte_lengths().tolist(), v.null_count
        ([True, False, True], [1, 0, 0], 1)
        """
        me: Any = self
        if holds_strings(self.dtype):
            return self._at_hand().is_valid()
        sides = sides_of_view(self._expression)
        if sides is None:
            return full(self.shape, True, dtype=np.bool_)
        return cast("Tensor[np.bool_, IndexT_co]", me._make(sides[1]).compute())

    def fill_null(self, value: Any) -> "Tensor[ScalarT_co, IndexT_co]":  # noqa: ANN401 - as of tensors
        """Return a tensor with `value` for every null, as `Tensor.fill_null`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.strings(["a", None]), tw.strings([None])]).fill_null("?").tolist()
        ['a', '?', '?']
        """
        return self._at_hand().fill_null(value)

    def drop_null(self) -> "Tensor[ScalarT_co]":
        """Return the valid elements: rows get shorter; as `Tensor.drop_null`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.as_tensor([1, None]), tw.as_tensor([2])]).drop_null().tolist()
        [1, 2]
        """
        return self._at_hand().drop_null()

    def to_masked(self) -> "np.ma.MaskedArray[Any, np.dtype[ScalarT_co]]":
        """Return a masked array of NumPy in which nulls are masked, as `Tensor.to_masked`."""
        return self._at_hand().to_masked()
