"""Convert tensors and views to other libraries, each imported by the call that needs it."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._hints import wrong_call
from tensorwrapper.tensor._lazy_imports import hand_over
from tensorwrapper.typing import (
    Array,
    DaskArray,
    IndexT_co,
    Rank0,
    Rank1,
    Rank2,
    Rank3,
    ScalarT_co,
    UnknownRank,
    ValueT,
)

if TYPE_CHECKING:
    import awkward as ak
    import pandas as pd
    import pyarrow as pa
    import torch
    import xarray as xr

    from tensorwrapper.interop import ArrowForm, ChunksLike, DaskBlocks, DaskTensor, DuckArray
    from tensorwrapper.tensor._tensor import Tensor

_S = TypeVar("_S", bound=np.generic)


class AtHand(ABC, Generic[ScalarT_co, IndexT_co]):
    """Abstract: `_at_hand`. Base of methods that a tensor and its views share, as they need the elements."""

    __slots__ = ()

    @abstractmethod
    def _at_hand(self) -> "Tensor[ScalarT_co, IndexT_co]":
        """Return the tensor, or that which a view shows if it shows one; else its elements, computed."""


class TensorLibraries(ABC, Generic[ScalarT_co, IndexT_co]):
    """Abstract: `_as_array` and `_as_lists`. Mixin; most of its methods call ``tensorwrapper.interop``."""

    __slots__ = ()

    @abstractmethod
    def _as_array(self, dtype: "np.dtype[Any] | None", copy: bool | None) -> Any:  # noqa: ANN401, FBT001
        """Return the elements as `__array__` does."""

    @abstractmethod
    def _as_lists(self) -> Any:  # noqa: ANN401
        """Return the elements as `tolist` does."""

    @overload
    def __array__(self, dtype: None = None, copy: bool | None = None) -> "npt.NDArray[ScalarT_co]": ...  # noqa: FBT001
    @overload
    def __array__(self, dtype: "np.dtype[_S]", copy: bool | None = None) -> "npt.NDArray[_S]": ...  # noqa: FBT001
    @overload
    def __array__(self, dtype: "np.dtype[Any] | None" = None, copy: bool | None = None) -> Array: ...  # noqa: FBT001
    def __array__(self, dtype: "np.dtype[Any] | None" = None, copy: bool | None = None) -> Any:  # noqa: FBT001
        return self._as_array(dtype, copy)

    @overload
    def tolist(self: "TensorLibraries[Any, UnknownRank]") -> Any:  # noqa: ANN401
        """Return the elements as Python's numbers or strings in nested lists; just one if the rank is 0."""

    @overload
    def tolist(self: "TensorLibraries[np.generic[ValueT], Rank0]") -> "ValueT": ...
    @overload
    def tolist(self: "TensorLibraries[np.generic[ValueT], Rank1]") -> "list[ValueT]": ...
    @overload
    def tolist(self: "TensorLibraries[np.generic[ValueT], Rank2]") -> "list[list[ValueT]]": ...
    @overload
    def tolist(self: "TensorLibraries[np.generic[ValueT], Rank3]") -> "list[list[list[ValueT]]]": ...
    @overload
    def tolist(self) -> Any: ...  # noqa: ANN401
    def tolist(self, *odd: object) -> Any:
        """Return the elements as Python's numbers or strings in nested lists; just one if the rank is 0."""
        if odd:
            raise wrong_call("Tensor", "tolist", *odd)
        return self._as_lists()

    def to_awkward(self) -> "ak.Array":
        """Return the tensor as an array of Awkward Array; elements in order are not copied.

        Modes of one extent are regular, others lists of any length; strings keep their nulls. A view is
        computed. `interop.to_awkward` has the errors.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[1, 2, 3], [], [5, 6]]).to_awkward().to_list()
        [[1, 2, 3], [], [5, 6]]
        """
        return cast("ak.Array", hand_over("to_awkward", self))

    def to_arrow(self, form: "ArrowForm" = "lists") -> "pa.Array":
        """Return the tensor as an array of Arrow; elements in order are not copied.

        A mode of one extent is a ``fixed_size_list``, another one a ``large_list``; strings keep their nulls.
        The form "list_views" shares rows in any order; "tensor" is Arrow's ``fixed_shape_tensor``, which
        keeps extents and names. A view is computed. `interop.to_arrow` has the errors.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[1, 2, 3], [], [5, 6]]).to_arrow().to_pylist()
        [[1, 2, 3], [], [5, 6]]
        """
        return cast("pa.Array", hand_over("to_arrow", self, form))

    def to_torch(self) -> "torch.Tensor":
        """Return the tensor as one of PyTorch: a strided, a nested or a sparse one; a box shares its memory.

        A view is computed. `interop.to_torch` documents copies and errors.
        """
        return cast("torch.Tensor", hand_over("to_torch", self))

    def to_pandas(self) -> "pd.Series | pd.DataFrame":
        """Return the tensor as a series, or as a frame if it is a matrix; numbers stay in their memory.

        A view is computed. `interop.to_pandas` has the errors.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[1, 2], [3]]).to_pandas().list.len().tolist()
        [2, 1]
        """
        return cast("pd.Series | pd.DataFrame", hand_over("to_pandas", self))

    def to_xarray(self) -> "xr.DataArray":
        """Return the box as a `DataArray`: names of modes are its dims, origins its coordinates.

        A tensor's memory is shared; a view is not read. `interop.to_xarray` has the errors.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([[1, 2], [3, 4]]).named("plane", "wire").to_xarray().dims
        ('plane', 'wire')
        """
        return cast("xr.DataArray", hand_over("to_xarray", self))

    def to_dask(
        self, chunks: "ChunksLike | None" = None, *, max_elements: SupportsIndex | None = None
    ) -> "DaskArray | DaskTensor | DaskBlocks":
        """Return the box, tiles or layers as an array of Dask, jagged rows as a collection; nothing is read.

        Tiles are chunks, and rows come in runs of at most `max_elements`. A view is read chunk by chunk, when
        that is computed. `interop.to_dask` documents the chunks where there are no tiles, and the
        errors.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([[1, 2], [3, 4]]).tiled(tw.Tiling([1, 1], [2])).to_dask().chunks
        ((1, 1), (2,))
        """
        return cast("DaskArray", hand_over("to_dask", self, chunks, max_elements=max_elements))

    def as_duck(self) -> "DuckArray":
        """Return the box as a duck array, which reads elements only on access; O(1).

        ``dask.array.from_array``, xarray and zarr take it as it is. `interop.as_duck` has the errors.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> duck = tw.as_tensor([[1, 2, 3], [4, 5, 6]]).as_duck()
        >>> duck.shape, duck.ndim
        ((2, 3), 2)
        """
        return cast("DuckArray", hand_over("as_duck", self))

    def __arrow_c_schema__(self) -> object:
        return self.to_arrow().type.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        found = hand_over("to_arrow_capsules", self, requested_schema)
        return cast("tuple[object, object]", found)
