"""What other libraries call what tensors and views have; `t` stands for one in what is said."""

from typing import Final

__all__ = ["NAMES"]

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
    "sum": "NumPy computes: `np.add.reduce(t, axis=None)`, or of one mode `np.add.reduce(t, axis=0)`",
    "prod": "NumPy computes: `np.multiply.reduce(t, axis=None)`",
    "min amin": "NumPy computes: `np.minimum.reduce(t, axis=None)`",
    "max amax": "NumPy computes: `np.maximum.reduce(t, axis=None)`",
    "any": "NumPy computes: `np.logical_or.reduce(t, axis=None)`",
    "all": "NumPy computes: `np.logical_and.reduce(t, axis=None)`",
    "mean": "NumPy computes: `np.mean(t)`",
    "std": "NumPy computes: `np.std(t)`",
    "var": "NumPy computes: `np.var(t)`",
    "norm": "NumPy computes: `np.linalg.norm(t)`",
    "argmax": "NumPy computes: `np.argmax(t)`",
    "argmin": "NumPy computes: `np.argmin(t)`",
    "argsort": "NumPy computes: `np.argsort(t)`",
    "sort": "NumPy computes: `np.sort(t)`",
    "cumsum": "NumPy computes: `np.add.accumulate(t, axis=0)`",
    "cumprod": "NumPy computes: `np.multiply.accumulate(t, axis=0)`",
    "dot matmul mm": "`t @ t.permute(1, 0)` multiplies matrices",
    "trace": "NumPy computes: `np.trace(t)`",
    "clip clamp": "NumPy computes: `np.clip(t, 0, 1)`",
    "round": "NumPy computes: `np.round(t)`",
    "conj conjugate": "`np.conj(t)`",
    "abs": "`abs(t)`",
    "nonzero": "`np.nonzero(t)`, and `t[t > 0]` selects",
    "take index_select": "`t.gather(0, [1, 0])`",
    "compress masked_select": "`t[t > 0]`",
    "searchsorted": "`np.searchsorted(t.flatten(), 1)`",
    "put fill fill_": "`t[...] = 0` writes to all elements, `t[0] = 0` to some",
    "view": (
        "`tw.selection.as_view(t)` is lazy, `t.astype('f4')` casts, `np.asarray(t).view('i8')` keeps bytes"
    ),
    "tobytes tostring": "`np.asarray(t).tobytes()`",
    "tofile dump dumps": "`tw.save('f.tens', {'t': t})`",
    "to_list": "`t.tolist()`",
    "broadcast_to expand expand_as": "`t.broadcast((5, 2, 3))`",
    "resize": "`t.reshape(3, 2)` keeps all elements, `t.pad([(0, 1), (0, 0)])` adds some",
    "roll": "`t.rotate((1, 0))` says a shift for each mode",
    "flip": "`t.reverse(0)`, or `t[::-1]`",
    "expand_dims newaxis": "`t.unsqueeze(0)`, or `t[None]`",
    "concatenate cat append": "`tw.concat([t, t])`",
    "split chunk": "`t.tiled(tw.Tiling([1, 1], [3])).tile((0, 0))` is a part",
    "map apply": "ufuncs of NumPy go element by element, as `np.sqrt(t)` does",
    "isnull isna": "`st.is_valid()`",
    # PyTorch and the array API
    "numpy": "`t.to_numpy()` copies, `np.asarray(t)` does not where it need not",
    "numel num_elements": "`t.size`",
    "device cpu cuda detach to_device to": "`np.asarray(t)` is memory of this process; to_torch() shares it",
    "clone": "`t.copy()`",
    # Dask, Zarr, TensorStore
    "chunks numblocks npartitions rechunk": "`t.tiled(tw.Tiling([1, 1], [3])).tiling.chunks`",
    "persist map_blocks dask visualize": "to_dask() gives what Dask computes in parallel",
    "compute load": "the elements of a tensor are computed; `t.copy()` copies them",
    "read result": "`sel.as_view(t).compute()` reads what a view selects",
    "write": "`t[...] = 0` writes",
    "domain": "`t.shape` has the indices, `t.shape.origin` where they begin",
    "store": "`tw.save('f.tens', {'t': t})`",
    "attrs metadata": "`tw.save('f.tens', {'t': t}, metadata={'unit': 'mm'})` keeps what belongs to it",
    # xarray and pandas
    "dims": "`t.shape.names`, or `t.shape.extents`",
    "sel isel loc iloc at iat": _LABELS,
    "transform to_dataframe": "`np.asarray(t)` is what pandas takes",
    # Awkward Array, TensorFlow, Arrow
    "show": "`print(t)`",
    "fields": "each field is a tensor of its own, of one shape; `t.dtype` is the type of all elements",
    "type": "`t.dtype`, and `t.shape`",
    "counts row_lengths lengths": "`r.num(1)` is how many elements each row has",
    "offsets row_splits splits starts": "`r.shape.splits(1)` is where rows begin and end",
    "content flat_values": "`r.elements()` are the elements of all rows",
    "to_tensor": "`r.to_padded()` is an array",
    "nested_row_lengths": "`r.num(1)` is how many elements each row has",
    # SciPy and pydata/sparse
    "toarray todense": "`s.to_dense()` has all elements",
    "tocsr tocoo tocsc to_coo": "`s.to_scipy()`",
    "indices row col": "`s.coords()` are the places of what is stored",
    "indptr": "`s.csr()` has the places, the columns and the values",
    "getnnz": "`s.nnz`",
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
