"""`ViewMethods`: the methods of a view, forwarded to `view`."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import or_absent
from tensorwrapper.selection import View
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import TensorBlocks, TensorSparse, TensorStrings, TensorSymmetry
from tensorwrapper.typing import AnyRank, Array

if TYPE_CHECKING:
    import awkward as ak
    import pandas as pd
    import pyarrow as pa
    import torch
    import xarray as xr

    from tensorwrapper.interop import ArrowForm, ChunksLike, DaskBlocks, DaskTensor, DuckArray
    from tensorwrapper.layout import Boundary, Layout, PadWidths
    from tensorwrapper.selection import Atom, Cancel, Expression, Progress, Route, RouteGroup
    from tensorwrapper.selection.lowlevel import OuterView, PointView, RowsOfView
    from tensorwrapper.shape import Shape, ShapeLike, Symmetry, Tiling
    from tensorwrapper.tensor import CellGroup
    from tensorwrapper.tensor.lowlevel import TensorCommon
    from tensorwrapper.typing import DaskArray, Index, WriteCasting


class ViewMethods(
    TensorStrings[Any, AnyRank],
    TensorSparse[Any, AnyRank],
    TensorBlocks[Any, AnyRank],
    TensorSymmetry[Any, AnyRank],
):
    """Abstract: `view`, `shape`, `dtype` and `is_sparse`.

    Methods of a view that remote tensors do not define themselves. `View` documents each method. Selections
    return a `View`.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def view(self) -> View[Any]:
            """Return a view of the whole tensor."""
            ...

    def _at_hand(self) -> Tensor[Any]:
        return self.view()._at_hand()

    @property
    @or_absent
    def T(self) -> View[Any]:  # noqa: N802 - as of tensors
        """The view with the modes in reverse order."""
        return self.view().T

    def accumulate_into(
        self, target: Tensor[Any] | View[Any], *, casting: "WriteCasting" = "same_kind"
    ) -> None:
        """Add the elements to those of `target`, also where several of its indices share an element."""
        return self.view().accumulate_into(target, casting=casting)

    def array_equal(self, other: View[Any] | Tensor[Any], *, equal_nan: bool = False) -> bool:
        """Return True if shapes and elements are equal."""
        return self.view().array_equal(other, equal_nan=equal_nan)

    def as_duck(self) -> "DuckArray":
        """Return the box as a lazy duck array; O(1)."""
        return self.view().as_duck()

    def as_memoryview(self) -> memoryview:
        """Return the memory that the view shows, with its extents and strides; no copy."""
        return self.view().as_memoryview()

    def as_written(self) -> View[Any]:
        """Return the view made of the steps that were written before `optimize`; itself if there are none."""
        return self.view().as_written()

    @property
    def atoms(self) -> "tuple[Atom, ...]":
        """The simple steps, in order, that select this view from its source."""
        return self.view().atoms

    def blocks(
        self,
        max_bytes: SupportsIndex,
        *,
        threads: SupportsIndex | None = None,
        progress: "Progress | None" = None,
        cancel: "Cancel | None" = None,
    ) -> "Iterator[tuple[Shape, Tensor[Any]]]":
        """Return an iterator over regions and their elements, for tensors that do not fit memory."""
        return self.view().blocks(max_bytes, threads=threads, progress=progress, cancel=cancel)

    def broadcast(self, shape: "ShapeLike") -> View[Any]:
        """Return the view that repeats modes of extent 1, adds leading modes, or spreads over rows."""
        return self.view().broadcast(shape)

    def cells(self) -> "Iterator[tuple[Index, View[Any]]]":
        """Return an iterator over the cells: the index and the view of each."""
        return self.view().cells()

    def copy(self) -> Tensor[Any]:
        """Return the elements as a tensor, as `compute` does."""
        return self.view().copy()

    def diagonal(self, first: SupportsIndex = 0, second: SupportsIndex = 1) -> View[Any]:
        """Return the view of the elements whose positions in two modes agree; the new mode is the last."""
        return self.view().diagonal(first, second)

    def element(self, index: Iterable[SupportsIndex], *, layer: SupportsIndex | None = None) -> View[Any]:
        """Return one element of a layer, or one cell of rows, as a view; it keeps its origin."""
        return self.view().element(index, layer=layer)

    def elements(self) -> Array:
        """Return the elements as a flat array in row-major order."""
        return self.view().elements()

    def explain(self) -> str:
        """Return the steps of the view, the last one first, and how they are executed."""
        return self.view().explain()

    @property
    def expression(self) -> "Expression":
        """The expression of the view: a node, and the steps that select from it."""
        return self.view().expression

    def drop_null(self) -> Tensor[Any]:
        """Return the valid elements: rows get shorter; as `Tensor.drop_null`."""
        return self.view().drop_null()

    def fill_null(self, value: Any) -> Tensor[Any]:  # noqa: ANN401 - as of a tensor
        """Return a tensor with `value` for every null, as `Tensor.fill_null`."""
        return self.view().fill_null(value)

    def flatten(self, mode: SupportsIndex | None = None) -> View[Any]:
        """Return the view without the brackets of `mode`, 1 if it is not given; as `Tensor.flatten`."""
        return self.view().flatten(mode)

    def gather(self, mode: SupportsIndex, positions: npt.ArrayLike) -> View[Any]:
        """Return the view of the given positions of `mode`, in their order; read-only if one is repeated."""
        return self.view().gather(mode, positions)

    def group_by_shape(self) -> "tuple[CellGroup[Any], ...]":
        """Return the cells or tiles as one box for each size, as `Tensor.group_by_shape`; computed."""
        return self.view().group_by_shape()

    def is_valid(self) -> Tensor[Any]:
        """Return True for each element that is not null, reading only the validity."""
        return self.view().is_valid()

    def item(self) -> Any:  # noqa: ANN401 - as of a view
        """Return the only element as a Python number, string or bytes."""
        return self.view().item()

    def local_index(self, mode: SupportsIndex = -1) -> Tensor[np.int64]:
        """Return the position of every index along `mode`, counted from 0; nothing is read."""
        return self.view().local_index(mode)

    def merge_modes(self, first: SupportsIndex, last: SupportsIndex) -> View[Any]:
        """Return the view in which the modes `first` to `last` count as one, the last of them fastest."""
        return self.view().merge_modes(first, last)

    def named(self, *names: str | Iterable[str | None] | None) -> View[Any]:
        """Return the same elements with names for the modes; they replace those that the modes had."""
        return self.view().named(*names)

    def normal_form(self) -> "Expression":
        """Return the optimized view: selections pushed into sources, and adjacent pieces merged. Cached."""
        return self.view().normal_form()

    @property
    def null_count(self) -> int:
        """Number of nulls."""
        return self.view().null_count

    def row_lengths(self, mode: SupportsIndex = 1) -> Tensor[np.int64]:
        """Return the extent of `mode` under every prefix, from the shape alone; nothing is read."""
        return self.view().row_lengths(mode)

    @property
    def oindex(self) -> "OuterView[Any]":
        """Outer indexing: ``v.oindex[key]`` takes the positions of each mode by themselves."""
        return self.view().oindex

    def optimize(self) -> View[Any]:
        """Return the same view, made of its normal form, which later operations start from."""
        return self.view().optimize()

    def pad(
        self,
        widths: "PadWidths",
        *,
        boundary: "Literal['constant'] | Boundary" = "constant",
        fill_value: object = 0,
    ) -> View[Any]:
        """Return a view padded as by NumPy's pad; existing elements keep their indices."""
        return self.view().pad(widths, boundary=boundary, fill_value=fill_value)

    def pad_rows(
        self, length: SupportsIndex, *, fill_value: object = 0, mode: SupportsIndex = -1, clip: bool = False
    ) -> View[Any]:
        """Return the view in which `mode` has at least `length` indices, the new ones of `fill_value`."""
        return self.view().pad_rows(length, fill_value=fill_value, mode=mode, clip=clip)

    def permute(self, *order: SupportsIndex | str | Iterable[SupportsIndex | str]) -> View[Any]:
        """Return the view whose mode k is mode ``order[k]``; the order is given loose or as one sequence."""
        return self.view().permute(*order)

    def repeat(self, times: Iterable[SupportsIndex]) -> View[Any]:
        """Return the view with every mode repeated whole, `times` of that mode; it is read-only."""
        return self.view().repeat(times)

    def repeat_each(self, mode: SupportsIndex, times: SupportsIndex) -> View[Any]:
        """Return the view with every position of `mode` repeated `times` times; it is read-only."""
        return self.view().repeat_each(mode, times)

    if TYPE_CHECKING:

        def reshape(self, *extents: SupportsIndex | Iterable[SupportsIndex]) -> View[Any]: ...

    else:

        def reshape(self, *extents: SupportsIndex | Iterable[SupportsIndex], **odd: object) -> "View[Any]":
            """Return the view of the same elements, in row-major order, under new extents; never a copy."""
            return self.view().reshape(*extents, **odd)

    def reverse(self, *modes: SupportsIndex | Iterable[SupportsIndex]) -> View[Any]:
        """Return the view with the order of the given modes reversed; all of them if none is given."""
        return self.view().reverse(*modes)

    def rotate(self, shifts: Iterable[SupportsIndex]) -> View[Any]:
        """Return the view with every mode rotated by one shift per mode, as NumPy's roll."""
        return self.view().rotate(shifts)

    def route(self, index: Iterable[SupportsIndex]) -> "Route":
        """Return the source of the element at an absolute index, and its index in the source."""
        return self.view().route(index)

    def route_many(self, indices: npt.ArrayLike) -> "tuple[RouteGroup, ...]":
        """Return the sources of the elements at many absolute indices, grouped by source."""
        return self.view().route_many(indices)

    def rows(self) -> "RowsOfView[View[Any]]":
        """Return the rows along the last mode: a sequence of views, with reductions of each."""
        return self.view().rows()

    def run_lengths(self) -> Tensor[np.int64]:
        """Return the lengths of runs of equal elements in each row; computes the view."""
        return self.view().run_lengths()

    def scatter(self, over: "ShapeLike | Tiling", *, fill_value: object = 0) -> Tensor[Any]:
        """Return a box with each cell of rows at its own indices, as `Tensor.scatter`; computed."""
        return self.view().scatter(over, fill_value=fill_value)

    def sliding_window(self, mode: SupportsIndex, length: SupportsIndex) -> View[Any]:
        """Return the view of all runs of `length` positions of `mode`; a new last mode counts in the run."""
        return self.view().sliding_window(mode, length)

    def split_mode(self, mode: SupportsIndex, extents: Iterable[SupportsIndex]) -> View[Any]:
        """Return the view in which one mode counts in several, the last of them fastest."""
        return self.view().split_mode(mode, extents)

    def squeeze(self, *modes: SupportsIndex | Iterable[SupportsIndex]) -> View[Any]:
        """Return the view without the given modes of extent 1; without all such if none is given."""
        return self.view().squeeze(*modes)

    @property
    def symmetry(self) -> "Symmetry | None":
        """The symmetry that the storage guarantees."""
        return self.view().symmetry

    def tiled(self, tiling: "Tiling") -> View[Any]:
        """Return the tiled view: rank 2r, tile numbers first; memory stays as it is."""
        return self.view().tiled(tiling)

    def to_arrow(self, form: "ArrowForm" = "lists") -> "pa.Array":
        """Return the tensor as an array of Arrow."""
        return self.view().to_arrow(form)

    def to_awkward(self) -> "ak.Array":
        """Return the tensor as an array of Awkward Array."""
        return self.view().to_awkward()

    def to_dask(
        self, chunks: "ChunksLike | None" = None, *, max_elements: SupportsIndex | None = None
    ) -> "DaskArray | DaskTensor | DaskBlocks":
        """Return boxes, tiles or layers as an array of Dask, rows as a collection; nothing is read."""
        return self.view().to_dask(chunks, max_elements=max_elements)

    def to_layout(self, layout: "Layout[Any]", *, threads: SupportsIndex = 1) -> Tensor[Any]:
        """Return the elements in new memory, in the order of `layout`, as `Tensor.to_layout`."""
        return self.view().to_layout(layout, threads=threads)

    def to_masked(self) -> "np.ma.MaskedArray[Any, Any]":
        """Return a masked array of NumPy in which nulls are masked, as `Tensor.to_masked`."""
        return self.view().to_masked()

    def to_numpy(self) -> Array:
        """Return the elements as an array."""
        return self.view().to_numpy()

    def to_padded(self, *, fill_value: object = 0) -> Array:
        """Return an array over the bounding box, with `fill_value` where the shape has no element."""
        return self.view().to_padded(fill_value=fill_value)

    def to_pandas(self) -> "pd.Series | pd.DataFrame":
        """Return the tensor as a series, or as a frame if it is a matrix; numbers stay in their memory."""
        return self.view().to_pandas()

    def to_svg(self) -> str:
        """Return a picture: one cell per element, coloured by the source that it comes from."""
        return self.view().to_svg()

    def to_torch(self) -> "torch.Tensor":
        """Return the tensor as one of PyTorch: strided, nested or sparse."""
        return self.view().to_torch()

    def to_xarray(self) -> "xr.DataArray":
        """Return the box as a `DataArray`: names of modes are its dims, origins its coordinates."""
        return self.view().to_xarray()

    def translate_to(self, origin: Iterable[SupportsIndex]) -> View[Any]:
        """Return the same elements under indices that begin at `origin`; keys go on counting from zero."""
        return self.view().translate_to(origin)

    def unflatten(
        self, counts: "SupportsIndex | npt.ArrayLike | TensorCommon[Any]", mode: SupportsIndex = 0
    ) -> View[Any]:
        """Return the view in which `mode` is dealt to rows of these lengths; as `Tensor.unflatten`."""
        return self.view().unflatten(counts, mode)

    def unsqueeze(self, *modes: SupportsIndex | Iterable[SupportsIndex]) -> View[Any]:
        """Return the view with new modes of extent 1, which become the modes `modes` of it."""
        return self.view().unsqueeze(*modes)

    @property
    def vindex(self) -> "PointView[Any]":
        """Pointwise indexing: ``v.vindex[key]`` takes one element per point; their modes come first."""
        return self.view().vindex

    def window(self, region: "ShapeLike") -> View[Any]:
        """Return the view of the elements of `region`, which keeps its origin."""
        return self.view().window(region)
