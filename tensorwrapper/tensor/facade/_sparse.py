"""Further queries of a sparse tensor: its stored elements, their indices, and conversions."""

import importlib
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Literal, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import or_absent
from tensorwrapper._arrays import numpy_kind
from tensorwrapper._lazy import naming_extras
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import copy_elements, is_fill, packed_layout
from tensorwrapper.errors import ConversionError, DTypeError, RankError
from tensorwrapper.layout import Layout
from tensorwrapper.tensor._libraries import AtHand
from tensorwrapper.tensor.facade._blocks import blocks_work
from tensorwrapper.typing import Array, IndexT_co, IntArray, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.tensor._tensor import Tensor


class TensorSparse(AtHand[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: `is_sparse` and `_at_hand`. A view is computed, unless it shows one tensor."""

    __slots__ = ()

    @property
    @abstractmethod
    def is_sparse(self) -> bool:
        """True if only the elements that differ from `fill_value` are stored."""

    def _stored_sparsely(self, what: str) -> "Tensor[ScalarT_co, IndexT_co]":
        found = self._at_hand() if self.is_sparse else None
        if found is None or found._buffer.fill_value is None:
            ways = "`tw.sparse([(0, 1)], [1.5], (2, 3))` makes one"
            raise ConversionError(f"{what} needs a sparse tensor: {ways}; this one has all elements")
        return found

    @property
    @or_absent
    def fill_value(self) -> ScalarT_co:
        """The element at every index that is not stored.

        Raises
        ------
        ConversionError
            If the tensor is not sparse.
        """
        return cast("ScalarT_co", cast("Array", self._stored_sparsely("fill_value")._buffer.fill_value)[()])

    @property
    @or_absent
    def nnz(self) -> int:
        """The number of indices whose elements are stored: all that differ from `fill_value`.

        A view counts the indices that it reaches; an element that it repeats counts every time. O(rank) per
        stored element; at once if the tensor is all of its buffer.

        Raises
        ------
        ConversionError
            If the tensor is not sparse.
        """
        own = self._stored_sparsely("nnz")
        return own._buffer.count_stored(own._layout.implementation)

    @property
    @or_absent
    def density(self) -> float:
        """The part of the elements that is stored, from 0 to 1; 0 if there is no element.

        Raises
        ------
        ConversionError
            If the tensor is not sparse.
        """
        own = self._stored_sparsely("density")
        size = own.shape.size
        return own.nnz / size if size else 0.0

    def stored(self) -> "tuple[IntArray, npt.NDArray[ScalarT_co]]":
        """Return consistent `coords` and `values` of the stored elements.

        Raises
        ------
        ConversionError
            If the tensor is not sparse.
        """
        own = self._stored_sparsely("stored")
        ordinals, values = own._buffer.stored_of(own._layout.implementation)
        return own.shape.indices_at(ordinals), values

    def coords(self) -> IntArray:
        """Return the absolute indices of the stored elements: an (nnz, rank) array, in row-major order.

        Raises
        ------
        ConversionError
            If the tensor is not sparse.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> sp = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4))
        >>> sp.permute((1, 0)).coords().tolist(), sp.permute((1, 0)).values().tolist()
        ([[1, 0], [3, 2]], [5.0, 7.0])
        """
        return self._stored_sparsely("coords").stored()[0]

    def values(self) -> "npt.NDArray[ScalarT_co]":
        """Return the stored elements in row-major order of their indices.

        Read-only and without a copy where the view takes them as they are stored.

        Raises
        ------
        ConversionError
            If the tensor is not sparse.
        """
        own = self._stored_sparsely("values")
        return own._buffer.stored_of(own._layout.implementation)[1]

    def to_dense(self) -> "Tensor[ScalarT_co, IndexT_co]":
        """Return a tensor of the same shape with every element in new memory; a copy if it is dense.

        Sparse and symmetric tensors are filled. A jagged shape stays; `to_padded` makes a box of it.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> sp = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4))
        >>> sp[::2].to_dense().tolist()
        [[0.0, 5.0, 0.0, 0.0], [0.0, 0.0, 0.0, 7.0]]
        """
        own = self._at_hand()
        if not own.is_sparse and own.symmetry is None:
            return own.copy()
        return own._make(packed_layout(own.shape), Dense(cast("Any", own.elements())))

    def csr(self) -> "tuple[IntArray, IntArray, npt.NDArray[ScalarT_co]]":
        """Return a sparse matrix as compressed rows: `indptr`, `indices` and values, counted from 0.

        Row k has the values ``values[indptr[k]:indptr[k + 1]]`` in the columns at the same places of
        `indices`, which ascend. For compressed columns permute the tensor first.

        Returns
        -------
        tuple
            Two int64 arrays of ``rows + 1`` and `nnz` integers, and the values: not copied, and read-only,
            where the tensor takes them as they are stored.

        Raises
        ------
        RankError
            If the rank is not 2.
        ConversionError
            If the tensor is jagged, or not sparse.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> sp = tw.sparse([(0, 1), (2, 0), (2, 3)], [5, 6, 7], tw.Shape(3, 4))
        >>> [part.tolist() for part in sp.csr()]
        [[0, 1, 1, 3], [1, 0, 3], [5, 6, 7]]
        """
        own = self._stored_sparsely("csr")
        if own.shape.rank != 2:
            raise RankError(f"compressed rows need a matrix, not a tensor of rank {own.shape.rank}")
        if not own.shape.is_box:
            raise ConversionError(f"compressed rows need a box, not a tensor of shape {own.shape}")
        rows: int
        columns: int
        rows, columns = own.shape.extents
        ordinals, values = own._buffer.stored_of(own._layout.implementation)
        starts = np.arange(rows + 1, dtype=np.int64) * columns
        return np.searchsorted(ordinals, starts), ordinals % max(columns, 1), values

    def to_scipy(self, form: Literal["csr", "csc", "coo", "bsr"] = "csr") -> Any:  # noqa: ANN401 - SciPy has no types
        """Return a sparse array of SciPy with the elements of a sparse matrix, copied.

        Parameters
        ----------
        form
            Compressed rows, compressed columns, or coordinates. Or ("bsr") the blocks of a matrix in tiles of
            one size, which are not copied.

        Raises
        ------
        RankError
            If the rank is not 2; coordinates may also have one mode.
        ConversionError
            If the fill is not 0, or the tensor is jagged or not sparse.
        DTypeError
            If SciPy has no sparse arrays of such elements: times, and floats of 16 bits.
        ExportError
            If `form` is "bsr", and the tensor has no tiles of one size.
        ModuleNotFoundError
            If SciPy is not installed.
        """
        if form not in ("csr", "csc", "coo", "bsr"):
            raise ConversionError(f"a sparse array of SciPy is made as csr, csc, coo or bsr, not as {form!r}")
        if form == "bsr":
            return blocks_work().to_bsr(self._at_hand())
        own = self._stored_sparsely("to_scipy")
        fill = cast("Array", own._buffer.fill_value)
        if numpy_kind(own.dtype) not in "biufc" or own.dtype.char == "e":
            raise DTypeError(f"SciPy has no sparse arrays of {own.dtype}")
        if not is_fill(np.zeros((), own.dtype), fill):
            raise ConversionError(f"sparse arrays of SciPy are 0 where nothing is stored, not {fill}")
        with naming_extras():
            module: Any = importlib.import_module("scipy.sparse")
        if form == "coo" and own.shape.rank == 1:
            coords, stored = own.stored()
            line = copy_elements(stored, own.dtype.newbyteorder("="))
            return module.coo_array((line, (coords[:, 0] - own.shape.origin[0],)), shape=own.shape.extents)
        turned = own._by(Layout.permute, (1, 0)) if form == "csc" and own.shape.rank == 2 else own
        indptr, indices, values = turned.csr()
        kind = module.csc_array if form == "csc" else module.csr_array
        copied = copy_elements(values, own.dtype.newbyteorder("="))
        array = kind((copied, indices, indptr), shape=own.shape.extents)
        return array.tocoo() if form == "coo" else array

    def to_pydata(self) -> Any:  # noqa: ANN401 - the package has no types
        """Return the elements as a ``sparse.COO`` array of the package pydata/sparse, copied; any rank.

        Raises
        ------
        ConversionError
            If the tensor is jagged or not sparse.
        ModuleNotFoundError
            If the package is not installed.
        """
        own = self._stored_sparsely("to_pydata")
        if not own.shape.is_box:
            raise ConversionError(f"pydata/sparse has boxes only, not a tensor of shape {own.shape}")
        with naming_extras():
            module: Any = importlib.import_module("sparse")
        coords, values = own.stored()
        places = (coords - np.array(own.shape.origin, dtype=np.int64)).T
        shape = own.shape.extents
        return module.COO(
            places,
            copy_elements(values),
            shape=shape,
            sorted=True,
            has_duplicates=False,
            fill_value=own.fill_value,
        )
