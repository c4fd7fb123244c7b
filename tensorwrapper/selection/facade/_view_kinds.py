"""Queries of views about sparse elements, nulls and strings: those of tensors, computed.

A query without meaning for the elements of a view is refused before anything is read.
"""

from typing import TYPE_CHECKING, Any, Generic, Literal, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import or_absent
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.selection.jagged._flatten import in_order
from tensorwrapper.selection.plans._nulls import has_null_bytes, has_nullable, sides_of_view
from tensorwrapper.selection.plans._source_reads import is_sparse, sparse_unread
from tensorwrapper.tensor import Tensor, full
from tensorwrapper.typing import Array, IndexT_co, IntArray, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.buffer import NumpyStrings, StringData


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

    def _sparse(self, what: str) -> "Tensor[ScalarT_co]":
        if self.is_sparse:
            return self._at_hand()
        raise ConversionError(f"{what} needs a view of sparse tensors; this one has all elements")

    @property
    @or_absent
    def fill_value(self) -> ScalarT_co:
        """The element at every index that is not stored, as `Tensor.fill_value`."""
        return self._sparse("fill_value").fill_value

    @property
    @or_absent
    def nnz(self) -> int:
        """The number of indices whose elements are stored, as `Tensor.nnz`; they are computed.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> sp = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4))
        >>> v = tw.concat([sp, sp[:1]])
        >>> v.nnz, v.density, v.fill_value
        (3, 0.1875, np.float64(0.0))
        """
        return self._sparse("nnz").nnz

    @property
    @or_absent
    def density(self) -> float:
        """The part of the elements that is stored, from 0 to 1; 0 if there is no element."""
        return self._sparse("density").density

    def stored(self) -> "tuple[IntArray, npt.NDArray[ScalarT_co]]":
        """Return indices and values of the stored elements: `coords` and `values`."""
        return self._sparse("stored").stored()

    def coords(self) -> IntArray:
        """Return the absolute indices of the stored elements: an (nnz, rank) array, in row-major order.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> sp = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4))
        >>> v = tw.concat([sp, sp[:1]])[::-1]
        >>> v.coords().tolist(), v.values().tolist()
        ([[0, 1], [1, 3], [3, 1]], [5.0, 7.0, 5.0])
        """
        return self._sparse("coords").coords()

    def values(self) -> "npt.NDArray[ScalarT_co]":
        """Return the stored elements in row-major order of their indices."""
        return self._sparse("values").values()

    def to_dense(self) -> "Tensor[ScalarT_co]":
        """Return a tensor of the same shape with every element in new memory, as `Tensor.to_dense`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> sp = tw.sparse([(0, 1)], [5], tw.Shape(1, 3))
        >>> tw.concat([sp, sp]).to_dense().tolist()
        [[0, 5, 0], [0, 5, 0]]
        """
        return self._at_hand().to_dense()

    def csr(self) -> "tuple[IntArray, IntArray, npt.NDArray[ScalarT_co]]":
        """Return a sparse matrix as compressed rows: `indptr`, `indices` and values; as `Tensor.csr`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> sp = tw.sparse([(0, 1), (2, 3)], [5, 7], tw.Shape(3, 4))
        >>> [part.tolist() for part in tw.concat([sp[2:], sp]).csr()]
        [[0, 1, 2, 2, 3], [3, 1, 3], [7, 5, 7]]
        """
        return self._sparse("csr").csr()

    def to_scipy(self, form: Literal["csr", "csc", "coo", "bsr"] = "csr") -> Any:  # noqa: ANN401 - SciPy has no types
        """Return a sparse array of SciPy with the elements of a sparse matrix, as `Tensor.to_scipy`."""
        return (self._at_hand() if form == "bsr" else self._sparse("to_scipy")).to_scipy(form)

    def to_pydata(self) -> Any:  # noqa: ANN401 - the package has no types
        """Return the elements as a ``sparse.COO`` array of the package pydata/sparse, copied; any rank."""
        return self._sparse("to_pydata").to_pydata()

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
            return cast("Tensor[np.bool_, IndexT_co]", self._at_hand().is_valid())
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
        return cast("Tensor[ScalarT_co, IndexT_co]", self._at_hand().fill_null(value))

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

    # Strings.

    def _strings(self, what: str) -> "Tensor[ScalarT_co]":
        if holds_strings(self.dtype):
            return self._at_hand()
        raise ConversionError(f"{what} needs a view of strings, not of {self.dtype}")

    def byte_lengths(self) -> "Tensor[Any]":
        """Return the number of bytes of each string; 0 for a null."""
        return self._strings("byte_lengths").byte_lengths()

    def to_string_data(self) -> "StringData":
        """Return the strings in row-major order, as `Tensor.to_string_data`."""
        return self._strings("to_string_data").to_string_data()

    def to_numpy_strings(self, dtype: "NumpyStrings" = "T") -> Array:
        """Return the strings of a box as an array of one of NumPy's dtypes, as `Tensor.to_numpy_strings`."""
        return self._strings("to_numpy_strings").to_numpy_strings(dtype)

    def to_tf_strings(self) -> "npt.NDArray[np.uint8]":
        """Return the strings as a TF_STRING, in row-major order; the shape is not in it."""
        return self._strings("to_tf_strings").to_tf_strings()
