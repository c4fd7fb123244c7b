"""What other libraries call what tensors and views have; `t` stands for one in what is said."""

from typing import Final

__all__ = ["CALLS", "NAMES", "ON_SETTING"]

ON_SETTING: Final = {
    "shape": "`t.reshape(3, 2)` has another shape",
    "dtype": "`t.astype('f4')` has another type",
    "names": "`t.named('x', 'y')` has names",
    "size": "`t.reshape(3, 2)` has another shape",
    "layout": "`t.to_layout(tw.Layout(t.shape, order='F'))` lies otherwise",
    "is_readonly": "`t.copy()` can be written to",
    "tiling": "`t.tiled(tw.Tiling([1, 1], [3]))` has tiles",
}
"""What works in place of setting an attribute."""

_PERMUTED: Final = "`t.permute(1, 0)` says the modes in their new order, as does `np.transpose(t)`"
_LABELS: Final = "modes have names, `t.named('x', 'y')[:, 0]`, and places count from 0"

NAMES: Final = {
    # NumPy and the array API
    "T mT transpose swapaxes moveaxis": _PERMUTED,
    "H adjoint": "`np.conj(t).permute(1, 0)`",
    "ndim dim ndimension": "`t.rank` is the number of modes",
    "strides stride": "`sel.as_view(t).compute().layout.strides` counts them in elements",
    "itemsize element_size": "`t.dtype.itemsize`",
    "flags is_contiguous contiguous": "`t.is_readonly` and, of a tensor in memory, `t.layout.is_contiguous`",
    "flat ravel": "`t.elements()` is a flat array, `t.flatten()` a flat tensor",
    "real": "`np.real(t)`",
    "imag": "`np.imag(t)`",
    "data base": "`np.asarray(t)` is the memory of a tensor, or what a view computes",
    "nanmax nanmean nanmin nansum median average ptp unique count_nonzero diff tril triu": (
        "NumPy computes: `np.{name}(t)`"
    ),
    "count": "NumPy computes: `np.count_nonzero(t)`",
    "quantile percentile": "NumPy computes: `np.{name}(t, 0.5)`",
    "isin digitize": "NumPy computes: `np.{name}(t, [1, 2])`",
    "tensordot": "NumPy computes: `np.tensordot(t, t)`",
    "sum": "NumPy computes: `np.add.reduce(t, axis=None)`, or of one mode `np.add.reduce(t, axis=0)`",
    "prod": "NumPy computes: `np.multiply.reduce(t, axis=None)`",
    "min amin": "NumPy computes: `np.minimum.reduce(t, axis=None)`",
    "max amax": "NumPy computes: `np.maximum.reduce(t, axis=None)`",
    "any": "NumPy computes: `np.logical_or.reduce(t, axis=None)`",
    "all": "NumPy computes: `np.logical_and.reduce(t, axis=None)`",
    "mean": "NumPy computes: `np.mean(t)`, of each of rows `np.add.reduce(r, axis=-1) / r.num(1)`",
    "std var argmax argmin argsort sort": (
        "NumPy computes: `np.{name}(t)`, of rows `[np.{name}(row) for row in r.rows()]`"
    ),
    "trace round": "NumPy computes: `np.{name}(t)`",
    "norm": "NumPy computes: `np.linalg.norm(t)`",
    "cumsum": "NumPy computes: `np.add.accumulate(t, axis=0)`",
    "cumprod": "NumPy computes: `np.multiply.accumulate(t, axis=0)`",
    "dot matmul mm": "`t @ t.permute(1, 0)` multiplies matrices",
    "clip clamp": "NumPy computes: `np.clip(t, 0, 1)`",
    "conj conjugate": "`np.conj(t)`",
    "abs": "`abs(t)`",
    "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh exp expm1 log log10 log1p log2 sqrt "
    "square "
    "ceil floor trunc rint sign deg2rad rad2deg reciprocal isnan isfinite isinf negative": "`np.{name}(t)`",
    "add subtract multiply divide power maximum minimum": "`np.{name}(t, 2)`",
    "nonzero": "`np.nonzero(t)`, and `t[t > 0]` selects",
    "take index_select": "`t.gather(0, [1, 0])`",
    "compress masked_select": "`t[t > 0]`",
    "searchsorted": "`np.searchsorted(t.flatten(), 1)`",
    "put fill fill_": "`t[...] = 0` writes to all elements, `t[0] = 0` to some",
    "argpartition partition choose byteswap ctypes getfield setfield setflags A": (
        "`np.asarray(t)` has all that NumPy's arrays have"
    ),
    "view": (
        "`tw.selection.as_view(t)` is lazy, `t.astype('f4')` casts, `np.asarray(t).view('i8')` keeps bytes"
    ),
    "to_svg draw plot": "`t.shape.to_svg()` draws the shape, `sel.as_view(t).plan().to_svg()` what is read",
    "tobytes tostring": "`np.asarray(t).tobytes()`",
    "tofile dump dumps to_zarr to_netcdf to_hdf5 to_csv": "`tw.save('f.tens', {'t': t})`",
    "to_list": "`t.tolist()`",
    "broadcast_to expand expand_as": "`t.broadcast((5, 2, 3))`",
    "resize": "`t.reshape(3, 2)` keeps all elements, `t.pad([(0, 1), (0, 0)])` adds some",
    "shift roll": "`t.rotate((1, 0))` says a shift for each mode",
    "flip": "`t.reverse(0)`, or `t[::-1]`",
    "expand_dims newaxis": "`t.unsqueeze(0)`, or `t[None]`",
    "concatenate concat cat append insert": "`tw.concat([t, t])`",
    "blocks partitions get_block_selection split chunk": (
        "`t.tiled(tw.Tiling([1, 1], [3])).tile((0, 0))` is a part"
    ),
    "map apply": "ufuncs of NumPy go element by element, as `np.sqrt(t)` does",
    "isnull isna notna notnull": "`st.is_valid()`",
    "fillna dropna ffill bfill": "`tw.where(np.isnan(t), 0, t)`",
    "where mask Mask": "`tw.where(t > 0, t, 0)` chooses, `t[t > 0]` selects",
    "equals identical broadcast_equals allclose": "`t.array_equal(t)`",
    "head tail thin narrow": "`t[:5]`, `t[-5:]`",
    "drop drop_sel drop_isel": "`t.gather(0, [1])` takes what is kept",
    "stack unstack": "`tw.stack([t, t])` makes a new mode, `t.flatten()` one of all",
    "isclose": "`np.isclose(t, t)`",
    # PyTorch and the array API
    "numpy": "`t.to_numpy()` copies, `np.asarray(t)` does not where it need not",
    "numel num_elements": "`t.size`",
    "device cpu cuda detach to_device to": "`np.asarray(t)` is memory of this process; to_torch() shares it",
    "clone": "`t.copy()`",
    "half float double long int bool bfloat16 type_as as_type cast": "`t.astype('f4')`",
    "add_ mul_ sub_ div_": "`t += 1` and its kin write into a tensor",
    "repeat_interleave": "`t.repeat_each(0, 2)`",
    "unfold rolling": "`t.sliding_window(1, 2)`",
    "unbind": "`[t[0], t[1]]`",
    "select": "`t[0]`",
    "get_shape": "`t.shape`",
    "requires_grad grad backward": "`np.asarray(t)` is memory that torch shares: to_torch() is its tensor",
    # Dask, Zarr, TensorStore
    "chunks numblocks npartitions rechunk chunksize chunksizes nchunks cdata_shape": (
        "`t.tiled(tw.Tiling([1, 1], [3])).tiling.chunks`"
    ),
    "persist map_blocks map_overlap dask visualize to_delayed topk moment": (
        "`t.to_dask()` is what Dask computes in parallel"
    ),
    "get_orthogonal_selection": "`t.oindex[[0, 1]]`",
    "get_coordinate_selection": "`t.vindex[[0, 1], [0, 0]]`",
    "get_basic_selection get_mask_selection": "`t[0]`, and `t[t > 0]`",
    "set_basic_selection set_mask_selection set_orthogonal_selection set_coordinate_selection "
    "set_block_selection": "`t[...] = 0` writes",
    "order": "`sel.as_view(t).compute().layout.storage_order()`",
    "fill_value": "a sparse tensor has one: `s.fill_value`",
    "read_only": "`t.is_readonly`",
    "info": "`print(t)`",
    "compressor compressors filters": "`tw.save('f.tens', {'t': t}, compress='zstd')`",
    "compute load": "the elements of a tensor are computed; `t.copy()` copies them",
    "read result": "`sel.as_view(t).compute()` reads what a view selects",
    "write": "`t[...] = 0` writes",
    "contains": "`(0, 1) in t.shape`",
    "domain": "`t.shape` has the indices, `t.shape.origin` where they begin",
    "store": "`tw.save('f.tens', {'t': t})`",
    "attrs metadata update_attributes": (
        "`tw.save('f.tens', {'t': t}, metadata={'unit': 'mm'})` keeps what belongs to it"
    ),
    # xarray and pandas
    "name path": "files name tensors, `tw.save('f.tens', {'x': t})`; names of modes are `t.shape.names`",
    "rename assign_coords swap_dims set_index named_axis": "`t.named('x', 'y')` names the modes",
    "groupby resample coarsen interp interpolate_na polyfit weighted sortby reindex reindex_like pipe query "
    "plot cumulative differentiate integrate idxmax idxmin to_dataset to_series variable indexes": (
        "xarray computes: `t.named('x', 'y').to_xarray()`"
    ),
    "to_dict": "`t.tolist()`",
    "as_numpy": "`np.asarray(t)`",
    "reduce": "`np.add.reduce(t, axis=0)`",
    "dims sizes": "`t.shape.names`, or `t.shape.extents`",
    "sel isel loc iloc at iat": _LABELS,
    "transform to_dataframe": "`np.asarray(t)` is what pandas takes",
    # Awkward Array, TensorFlow, Arrow
    "show": "`print(t)`",
    "fields": "each field is a tensor of its own, of one shape; `t.dtype` is the type of all elements",
    "type typestr": "`t.dtype`, and `t.shape`",
    "counts row_lengths lengths": "`r.num(1)` is how many elements each row has",
    "offsets row_splits splits starts": "`r.shape.splits(1)` is where rows begin and end",
    "content flat_values": "`r.elements()` are the elements of all rows",
    "to_tensor": "`r.to_padded()` is an array",
    "nested_row_lengths": "`r.num(1)` is how many elements each row has",
    # SciPy and pydata/sparse
    "toarray todense": "`s.to_dense()` has all elements",
    "tocsr tocoo tocsc to_coo tobsr todia todok tolil asformat": "`s.to_scipy()`",
    "indices row col": "`s.coords()` are the places of what is stored",
    "indptr": "`s.csr()` has the places, the columns and the values",
    "getnnz": "`s.nnz`",
    "setdiag": "`t[0, 0] = 1`",
    # pandas
    "str": "NumPy computes on texts: `np.strings.upper(st)`",
    "lower": "NumPy computes on texts: `np.strings.lower(st)`",
    "upper": "NumPy computes on texts: `np.strings.upper(st)`",
    "startswith": "NumPy computes on texts: `np.strings.startswith(st, 'a')`",
    "decode": "`st.tolist()` has texts",
    # what makes tensors, and views of them
    "from_numpy from_array from_list array": "`tw.as_tensor([1, 2])` takes an array or a list",
    "zeros ones empty": "`tw.zeros((2, 3))`, and `sel.ones((2, 3))`",
    "buffer layout": "a view has no memory: `sel.as_view(t).compute().layout` is that of its elements",
    "to_json": "`sel.to_json(sel.as_view(t))`",
    "plan explain": "`sel.as_view(t).explain()` says how a view is computed",
}
"""Names of other libraries, and what to say to who asks for them."""

CALLS: Final = {
    "item": "`t[0, 1].item()` reads one element",
    "permute": "`t.permute(1, 0)` says the modes in their new order",
    "reverse": "`t.reverse(0)` says modes, loose or as one sequence",
    "rotate": "`t.rotate((1, 0))` says a shift for each mode",
    "repeat": (
        "`t.repeat((2, 1))` repeats the whole along each mode, `t.repeat_each(0, 2)` every element of one"
    ),
    "repeat_each": "`t.repeat_each(0, 2)` repeats every element along a mode",
    "gather": "`t.gather(0, [1, 0])` says the mode, then the positions",
    "broadcast": "`t.broadcast((5, 2, 3))` takes extents as one sequence, or a shape",
    "squeeze": "`t[:1].squeeze(0)` says modes, loose or as one sequence",
    "unsqueeze": "`t.unsqueeze(0)` says where new modes stand",
    "reshape": "`t.reshape(3, 2)` takes the elements in order; `t.permute(1, 0)` turns modes round",
    "flatten": "`t.flatten()` takes the elements in order; `t.permute(1, 0)` turns modes round",
    "sliding_window": "`t.sliding_window(1, 2)` says the mode, then the length",
    "diagonal": "`t.diagonal(0, 1)` says two modes; `t[:, 1:].diagonal()` is that one beside",
    "copy": "`t.copy()` packs in row-major order; `t.to_layout(tw.Layout(t.shape, order='F'))` chooses",
    "tolist": "`t.tolist()` takes nothing",
    "pad": "`t.pad([(1, 1), (0, 0)])` says before and after for each mode; fill_value= is around it",
    "pad_rows": "`r.pad_rows(3)`; fill_value= is behind, clip=True cuts longer rows",
    "tile": "`t.tiled(tw.Tiling([1, 1], [3])).tile((0, 0))` says an index as one tuple, or a number",
    "tiled": "`t.tiled(tw.Tiling([1, 1], [3]))` says how each mode is cut",
    "num local_index": "`r.{name}(1)` says the mode",
    "astype": "`t.astype('f4')` copies always; `t.astype('f4', casting='unsafe')` lets values be lost",
    "compute": "`sel.as_view(t).compute()`; `sel.as_view(t).astype('f4').compute()` is of another type",
    "named": "`t.named('x', 'y')` names every mode, loose or as one sequence",
    "window": "`t.window(tw.Shape(1, 2))` says a region as one shape",
    "translate_to": "`t.translate_to((5, 5))` says an index as one tuple",
    "element": "`t[0, 1]` reads an element; of layers, an index is one tuple",
    "cells rows": "`r.{name}()` takes nothing: it goes over all",
    "merge_modes": "`t.merge_modes(0, 1)` says the first mode and the last",
    "split_mode": "`t.split_mode(1, (3, 1))` says the mode, then its extents",
    "scatter": "`t.tiled(tw.Tiling([1, 1], [3])).select_tiles([[1, 0]]).scatter(t.shape)` puts back",
    "array_equal": "`t.array_equal(t)` compares with a tensor or a view",
    "assign": "`t.assign(0)` writes to all elements, `t[0] = 0` to some",
    "to_numpy": "`t.to_numpy()` copies; `np.asarray(t, dtype='f4')` is of another type",
    "to_padded": "`r.to_padded(fill_value=0)`",
    "to_scipy": "`s.to_scipy()`, and `s.to_scipy().tocsr()` by rows",
    "to_pandas to_awkward to_arrow": "`t.{name}()` takes nothing: what it returns has methods of its own",
    "to_torch": "to_torch() takes nothing: what it returns goes to devices",
    "to_xarray": "`t.named('x', 'y').to_xarray()` takes its dims from the names",
}
"""How methods are called, said to who calls them otherwise."""
