"""Names of other libraries and their equivalents here: one table, read by the code that raises the error.

A missing attribute is an AttributeError, and a wrong argument a TypeError, as everywhere; the text then
continues with the entry of the table. Code in backticks is run by tests.
"""

import functools
from abc import ABCMeta
from collections.abc import Callable, Mapping
from inspect import isfunction
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, cast

from tensorwrapper._lazy import Later

_F = TypeVar("_F", bound=Callable[..., object])

ARRAY_NAMES: Final = """
abs all amax amin any argmax argmin argpartition argsort argwhere array_equal assign astype attrs base
broadcast byteswap ceil cells choose clip clone compress compute conj conjugate contains copy count counts
cpu ctypes cuda cumprod cumsum data detach device diagonal diff dot dtype dump dumps element exp expand_dims
fields fill fillna flags flat flatten flip floor gather getfield head imag isin isnull item itemsize layout
load local_index log map mask masked_select max mean median merge_modes min name named nbytes ndim nonzero
norm num numpy oindex pad pad_rows partition permute prod ptp put ravel real repeat reshape resize reverse
roll rotate round row_lengths rows scatter searchsorted select setfield setflags show size sliding_window
sort split sqrt squeeze std strides sum swapaxes tail take tile tiled to to_device to_list to_numpy
to_padded to_pandas to_scipy to_torch to_xarray tobytes tofile tolist tostring trace translate_to transpose
type unique unsqueeze values var view vindex where window
"""
"""Attributes of arrays and tensors that other values may be expected to have."""

TABLE: Final = """
[tensorwrapper]
array asarray from_numpy from_array Array ndarray: `tw.as_tensor([1, 2])` | linspace: `sel.linspace(0, 1, 5)`
ones: `tw.full((2, 3), 1.0)`, or without memory `sel.ones((2, 3))` | identity: `tw.eye(3)`
zeros_like: `tw.zeros(t.shape, dtype=t.dtype)` | ones_like full_like: `tw.full(t.shape, 1, dtype=t.dtype)`
empty_like: `tw.empty(t.shape, dtype=t.dtype)` | dstack column_stack: `tw.stack([t, t], mode=2)`
arange: `tw.as_tensor(np.arange(3))`, or `sel.iota((3,))`, which has no memory | reshape: `t.reshape(3, 2)`
concatenate cat hstack vstack append: `tw.concat([t, t])`, or `tw.concat([t, t], mode=1)`
transpose swapaxes moveaxis: `t.permute(1, 0)` | ravel flatten: `t.flatten()` | squeeze: `t.squeeze()`
expand_dims: `t.unsqueeze(0)` | broadcast_to: `t.broadcast((5, 2, 3))` | roll: `t.rotate((1, 0))`
repeat: `t.repeat_each(0, 2)` repeats every element | tile: `t.repeat((2, 1))` repeats the whole
flip: `t.reverse(0)` | take: `t.gather(0, [1, 0])` | pad: `t.pad([(1, 1), (0, 0)])`
split array_split: `t.tiled(tw.Tiling([1, 1], [3]))` is cut into tiles | random: `sel.random((2, 3), seed=1)`
sum: NumPy computes: `np.add.reduce(t, axis=0)` | load read loadtxt: `tw.open('f.tens')`
mean std var dot matmul tensordot norm argmax argsort sort cumsum abs sqrt exp: NumPy computes on tensors: `np.mean(t)`, `np.sqrt(t)`, `t @ t.permute(1, 0)`
min max prod any all: NumPy computes: `np.maximum.reduce(t, axis=None)` | newaxis: `t[None]`
einsum: `tw.einsum_shape('ij,jk->ik', (2, 3), (3, 4))` plans, `np.einsum('ij->ji', t)` computes, `tw.contract('ij,jk->ik', a, b)` of tensors in tiles
savez dump: `tw.save('f.tens', {'t': t})` | array_equal: `t.array_equal(t)` | to_list: `t.tolist()`
View as_view: `sel.as_view(t)`, where sel is tensorwrapper.selection | num: `r.row_lengths(1)`
float32 float64 int32 int64 bool_ complex128 dtype: NumPy's: `tw.zeros((2,), dtype=np.float32)`
RaggedTensor ragged NestedTensor from_iter: `tw.jagged([[1, 2], [3]])`
TiledRange TensorShape: `tw.Tiling([1, 2], [3])`
[tensor]
from_buffer(): `tw.from_buffer(bytes(16), (2,), dtype='f8')` | eye(): `tw.eye(3, 4, diagonal=1)`
as_tensor(): `tw.as_tensor([1, 2]).astype('f4')`, or `tw.as_tensor(np.asarray([1, 2], 'f4'))`
empty() zeros(): `tw.{name}((2, 3))` takes extents as one sequence; dtype= and layout= are named
full(): `tw.full((2, 3), 1)` takes extents as one sequence, then the value; dtype= is named
sparse(): `tw.sparse([(0, 1)], [1.5], (2, 3))` takes places, values and a shape
blocks(): `tw.blocks({(0, 0): [[1.0, 2.0]]}, tw.Tiling([1, 2], [2]))` takes blocks by tile number, and a tiling
from_packed(): `tw.from_packed([1.0, 2.0, 3.0], 's2', (2, 2))` takes packed elements, a symmetry and a shape
contract(): `tw.contract('ij,jk->ik', a, b)` takes an equation, or a plan, and two tensors in tiles
[selection]
where(): `tw.where(t > 0, t, 0)`; where a mask holds alone is `np.nonzero(t > 0)`
random() uniform(): `sel.{name}((2, 3), seed=1)`: the same seed gives the same numbers
integers(): `sel.integers((2, 3), 0, 10, seed=1)`: the same seed gives the same numbers
concat() stack(): `tw.{name}([t, t], mode=0)` takes the parts as one list | eye(): `sel.eye(3, 4, diagonal=1)`
pad(): `sel.pad(t, [(1, 1), (0, 0)])` says before and after for each mode
full(): `sel.full((2, 3), 1)` takes extents as one sequence, then the value; dtype= is named
zeros() ones(): `sel.{name}((2, 3))` takes extents as one sequence; dtype= is named
linspace(): `sel.linspace(0, 1, 5)` says how many
[Shape=s Tiling=g Layout=l]
T mT transpose swapaxes moveaxis: `{x}.permute(1, 0)` says the modes in their new order
[Shape]
*: a shape has indices and no elements: `tw.zeros(s)` has, and `s.extents` is a tuple of integers
ndims dim: `s.rank` is the number of modes | numel num_elements prod: `s.size` is the number of indices
strides stride: `tw.Layout(s).strides` counts them in elements | count: `s.extents.count(3)`
dims shape as_list tolist to_list dimensions sizes values: `s.extents` is a tuple of integers
dtype itemsize nbytes: a shape has indices and no elements: `tw.zeros(s)` has | labels: `s.names`
max min all any: `{name}(s.extents)` | row_splits: `r.shape.splits(1)` is where rows begin and end
append insert extend: shapes never change: `tw.Shape.product([s, tw.Shape(4)])` has a mode more
start stop lower upper lobound upbound inclusive_min exclusive_max: `s.origin` and `s.extents`
chunks: `tw.Tiling([1, 1], [3]).chunks` are those of a tiling, which a box may be cut by
counts row_lengths: `r.shape.lengths(1)` is how many indices each row has | intersection: `s.intersect(s)`
from_numpy from_array of: `tw.as_shape((2, 3))` makes one of extents | squeeze ravel: `s.reshape(6)`
broadcast_to broadcast: `tw.Layout(s).broadcast((5, 2, 3)).shape` | extents=: `tw.Shape(3, 2)` has others
translate: `s.translate_to((5, 5))`, or `s.translate_by((1, 1))` | expand_dims unsqueeze: `s.reshape(1, 2, 3)`
union: `s.hull(s)` is the smallest box around both | copy clone copy(): `s` itself: shapes never change
take select: `s[:, 0:2]` is a part, `tw.Mask(s, [1, 0])` picks any indices
pad: `tw.Shape(4, 5, origin=(-1, -1))` is a box of one more on every side
origin=: `s.translate_to((5, 5))` begins elsewhere | names=: `s.named('x', 'y')` has names
rank=: `tw.Shape.product([s, tw.Shape(4)])` has a mode more | size=: `tw.Shape(3, 2)` has another
__call__(): `s.extents` and `s.size` are attributes; a call names modes, `s('i,j')`
jagged(): `tw.Shape.jagged([3, 1, 2])` takes the extents of the rows as one sequence
from_cells(): `tw.Shape.from_cells((2,), [(1, 2), (3, 4)])` says the outer extents, then those of each cell
nested(): `tw.Shape.nested(tw.Shape(2, 3), layers=(1, 1))` | reshape(): `s.reshape(3, 2)` has as many indices
tiled(): `tw.Shape.tiled([1, 2], [3])` says how each mode is cut
cells(): `r.shape.cells()` takes nothing: it goes over all
concat() stack() product(): `tw.Shape.{name}([s, s])` takes shapes as one sequence
named(): `s.named('x', 'y')` names every mode, loose or as one sequence
[Tiling]
*: a tiling has boundaries and no elements: `tw.zeros(g.elements).tiled(g)` has, and `g.chunks` are tuples of integers
ndim dim: `g.rank` is the number of modes | nchunks npartitions: `g.grid.size` is the number of tiles
size numel: `g.elements.size` is how many indices, `g.grid.size` how many tiles | tolist to_list: `g.chunks`
extents dims sizes: `g.elements.extents` are those of the box, `g.grid.extents` the numbers of tiles
numblocks cdata_shape blocks partitions_shape: `g.grid.extents` is how many tiles each mode has
copy clone: `g` itself: tilings never change | split: `g.tile((0, 0))` is the shape of one tile
chunksize: `g.largest_tile` and `g.chunks` | trange tiles_range: `g.grid` has the indices of the tiles
elements_range: `g.elements` has the indices of the elements | rechunk: `g.retile(tw.Tiling([2, 1], [2, 1]))`
tile_extent: `g.tile((0, 0)).extents` | tile(): `g.tile((0, 0))` says an index as one tuple
find() tile_of(): `g.{name}((2, 1))` says an index as one tuple
permute(): `g.permute(1, 0)` says the modes in their new order
translate_to() translate_by(): `g.{name}((1, 1))` says one number for each mode
concat(): `tw.Tiling.concat([g, g])` takes tilings as one sequence
[BlockPattern]
*: a pattern has tiles and no elements: `p.mask()` is a bool for each tile, `tw.zeros(p.tiling.elements).tiled(p.tiling)` has elements
ndim dim: `p.rank` is the number of modes | issubset: `p <= p` | issuperset: `p >= p`
size nnz nse numel: `p.count` is how many tiles are present, `p.elements` how many elements they have
shape extents dims: `p.grid` is the shape of the tile numbers, `p.tiling.elements` that of the elements
isdisjoint: `not p & p` | intersection: `p.intersect(p)` | copy clone: `p` itself: patterns never change
add update discard remove pop clear: a pattern never changes; `p.union(p)` and `p - p` are new ones
T mT transpose swapaxes moveaxis: `p.permute(1, 0)` | invert: `p.complement()` | is_zero: `(0, 0) not in p`
nonzero argwhere indices keys blocks: `p.tiles()` are the numbers of the present tiles | volume: `p.volumes()`
to_numpy numpy to_dense todense toarray to_mask: `p.mask()` is a bool for each tile
dot matmul einsum tensordot contract: `tw.contraction('ij,kj->ik', p, p)` plans
tolist to_list: `p.tiles().tolist()` | tile: `p.tiling.tile((1, 0))` is the shape of one tile
rechunk: `p.retile(tw.Tiling([3], [3]))` | slot(): `p.slot((1, 0))` says an index as one tuple
from_tiles from_list from_coordinates: `tw.BlockPattern(p.tiling, [(1, 0)])`
permute(): `p.permute(1, 0)` says the modes in their new order
union() intersect() difference() symmetric_difference(): `p.{name}(p)` takes one pattern
[Mask]
*: a mask has places and no elements: `m.gather(tw.zeros(m.source))` is what it picks of a tensor, `m.contains(m.source.indices().to_numpy())` one bool for each index
sum count: `m.size` is how many indices are picked | any: `m.size > 0` | all: `m.size == m.source.size`
all_close array_equal equals: `m == m` | copy clone: `m` itself: masks never change | invert: `m.complement()`
nonzero indices argwhere: `m.source.indices_at(m.ordinals())` are the indices that are picked
to_numpy numpy tolist to_list values: `m.ordinals()` are the places of what is picked
T mT transpose permute swapaxes moveaxis: `tw.Mask(m.source.permute(0), [0, 2])` picks of a permuted shape
ndim: `m.rank` is the number of modes | intersect() union(): `m.{name}(m)` takes one mask
dtype astype: a mask has places, no elements of bool: `m.contains((0,))` asks for one
gather(): `m.gather(tw.zeros(m.source))` lays it on a tensor or a layout
[Layout]
*: a layout has places and no elements: `tw.zeros(l.shape, layout=l)` has, and `l.strides` are integers
ndim rank dim: `l.shape.rank` is the number of modes | extents dims extent: `l.shape.extents`
size numel sizes: `l.shape.size` is the number of indices, `l.span` that of the elements they lie among
stride: `l.strides` counts them in elements | flags contiguous c_contiguous: `l.is_contiguous`
order: `l.storage_order()` says which mode runs fastest, `tw.Layout(l.shape, order='F')` chooses
itemsize nbytes dtype: a layout counts in elements; `t.dtype` belongs to a tensor | ravel: `l.flatten()`
cosize required_span_size: `l.span` | is_unique: `l.is_injective` | coalesce: `tw.layout.coalesce(l)`
complement: `tw.layout.complement(l, 12)` | compose: `tw.layout.compose(l, tw.Layout((3, 2)))`
domain: `l.shape` has the indices | transform: `l.to_tensorstore(l.shape)` | expand_dims: `l.unsqueeze(0)`
flip: `l.reverse(0)`, or `l[::-1]` | roll: `l.rotate((1, 0))` says a shift for each mode
broadcast_to: `l.broadcast((5, 2, 3))` | tolist to_list: `l.to_numpy().tolist()` are the offsets
copy clone: layouts never change, and need no copy: `l.simplify()` is one of the same places
repeat(): `l.repeat((2, 1))` repeats the whole along each mode | diagonal(): `l.diagonal(0, 1)` says two modes
pad(): `l.pad([(1, 1), (0, 0)], boundary='edge')` says before and after for each mode
tiled(): `tw.Layout.tiled(tw.Tiling([1, 1], [3]))` lies tile by tile
to_numpy(): `l.to_numpy()` has the offsets
[Layout=l Tensor=t]
reverse(): `{x}.reverse(0)` says modes, loose or as one sequence
rotate(): `{x}.rotate((1, 0))` says a shift for each mode
repeat_each(): `{x}.repeat_each(0, 2)` repeats every element along a mode
broadcast(): `{x}.broadcast((5, 2, 3))` takes extents as one sequence, or a shape
squeeze(): `{x}[:1].squeeze(0)` says modes, loose or as one sequence
unsqueeze(): `{x}.unsqueeze(0)` says where new modes stand
sliding_window(): `{x}.sliding_window(1, 2)` says the mode, then the length
named(): `{x}.named('x', 'y')` names every mode, loose or as one sequence
window(): `{x}.window(tw.Shape(1, 2))` says a region as one shape
translate_to(): `{x}.translate_to((5, 5))` says an index as one tuple
merge_modes(): `{x}.merge_modes(0, 1)` says the first mode and the last
split_mode(): `{x}.split_mode(1, (3, 1))` says the mode, then its extents
[Tensor]
mT transpose swapaxes moveaxis: `t.permute(1, 0)` says the modes in their new order, as does `np.transpose(t)`
H adjoint: `np.conj(t).permute(1, 0)` | ndim dim ndimension: `t.rank` is the number of modes
strides stride: `sel.as_view(t).compute().layout.strides` counts them in elements
itemsize element_size: `t.dtype.itemsize` | count: NumPy computes: `np.count_nonzero(t)`
flags is_contiguous contiguous: `t.is_readonly` and, of a tensor in memory, `t.layout.is_contiguous`
flat ravel: `t.elements()` is a flat array, `t.flatten()` a flat tensor
data base: `np.asarray(t)` is the memory of a tensor, or what a view computes
nanmax nanmean nanmin nansum median average ptp unique count_nonzero diff tril triu trace round: NumPy computes: `np.{name}(t)`
quantile percentile: NumPy computes: `np.{name}(t, 0.5)` | tensordot: NumPy computes: `np.tensordot(t, t)`
isin digitize: NumPy computes: `np.{name}(t, [1, 2])`
sum: NumPy computes: `np.sum(t)`, or of one mode `np.sum(t, axis=0)`
prod: NumPy computes: `np.multiply.reduce(t, axis=None)`
min amin: NumPy computes: `np.minimum.reduce(t, axis=None)` | norm: NumPy computes: `np.linalg.norm(t)`
max amax: NumPy computes: `np.maximum.reduce(t, axis=None)`
any: NumPy computes: `np.logical_or.reduce(t, axis=None)`
all: NumPy computes: `np.logical_and.reduce(t, axis=None)`
mean: NumPy computes: `np.mean(t)`, of each of rows `r.rows().mean()`
std var argmax argmin argsort sort: NumPy computes: `np.{name}(t)`, of each of rows `r.rows().{name}()`
cumsum: NumPy computes: `np.add.accumulate(t, axis=0)` | clip clamp: NumPy computes: `np.clip(t, 0, 1)`
cumprod: NumPy computes: `np.multiply.accumulate(t, axis=0)`
dot matmul mm: `t @ t.permute(1, 0)` multiplies matrices, `tw.contract('ij,jk->ik', a, b)` those in tiles
einsum contract: `tw.contract('ij,jk->ik', a, b)` of tensors in tiles, NumPy computes others: `np.einsum('ij,kj->ik', t, t)`
sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh exp expm1 log log10 log1p log2: `np.{name}(t)`
sqrt square ceil floor trunc rint sign deg2rad rad2deg reciprocal isnan isfinite isinf: `np.{name}(t)`
negative real imag conj conjugate abs: `np.{name}(t)` | nonzero: `np.nonzero(t)`, and `t[t > 0]` selects
add subtract multiply divide power maximum minimum: `np.{name}(t, 2)` | compress masked_select: `t[t > 0]`
take index_select: `t.gather(0, [1, 0])` | searchsorted: `np.searchsorted(t.flatten(), 1)`
put fill fill_: `t[...] = 0` writes to all elements, `t[0] = 0` to some | to_list to_dict: `t.tolist()`
argpartition partition choose byteswap ctypes getfield setfield setflags A: `np.asarray(t)` has all that NumPy's arrays have
view: `tw.selection.as_view(t)` is lazy, `t.astype('f4')` casts, `np.asarray(t).view('i8')` keeps bytes
to_svg draw: `t.shape.to_svg()` draws the shape, `sel.as_view(t).plan().to_svg()` what is read
tobytes tostring: `np.asarray(t).tobytes()` | broadcast_to expand expand_as: `t.broadcast((5, 2, 3))`
tofile dump dumps to_zarr to_netcdf to_hdf5 to_csv store: `tw.save('f.tens', {'t': t})`
resize: `t.reshape(3, 2)` keeps all elements, `t.pad([(0, 1), (0, 0)])` adds some
shift roll: `t.rotate((1, 0))` says a shift for each mode | flip: `t.reverse(0)`, or `t[::-1]`
expand_dims newaxis: `t.unsqueeze(0)`, or `t[None]` | isnull isna notna notnull: `st.is_valid()`
concatenate concat cat append insert: `tw.concat([t, t])` | head tail thin narrow: `t[:5]`, `t[-5:]`
blocks partitions get_block_selection split chunk: `t.tiled(tw.Tiling([1, 1], [3])).tile((0, 0))` is a part
map apply: ufuncs of NumPy go element by element, as `np.sqrt(t)` does | isclose: `np.isclose(t, t)`
fillna dropna ffill bfill: `tw.where(np.isnan(t), 0, t)` | numel num_elements: `t.size`
where mask Mask: `tw.where(t > 0, t, 0)` chooses, `t[t > 0]` selects | clone: `t.copy()`
equals identical broadcast_equals allclose: `t.array_equal(t)`
drop drop_sel drop_isel: `t.gather(0, [1])` takes what is kept | repeat_interleave: `t.repeat_each(0, 2)`
stack unstack: `tw.stack([t, t])` makes a new mode, `t.flatten()` one of all | unbind: `[t[0], t[1]]`
numpy: `t.to_numpy()` copies, `np.asarray(t)` does not where it need not | select: `t[0]`
device cpu cuda detach to_device to: `np.asarray(t)` is memory of this process; to_torch() shares it
half float double long int bool bfloat16 type_as as_type cast: `t.astype('f4')` | get_shape: `t.shape`
add_ mul_ sub_ div_: `t += 1` and its kin write into a tensor | unfold rolling: `t.sliding_window(1, 2)`
requires_grad grad backward: `np.asarray(t)` is memory that torch shares: to_torch() is its tensor
chunks numblocks npartitions rechunk chunksize chunksizes nchunks cdata_shape: `t.tiled(tw.Tiling([1, 1], [3])).tiling.chunks`
persist map_blocks map_overlap dask visualize to_delayed topk moment: `t.to_dask()` is what Dask computes in parallel
get_orthogonal_selection: `t.oindex[[0, 1]]` | get_coordinate_selection: `t.vindex[[0, 1], [0, 0]]`
get_basic_selection get_mask_selection: `t[0]`, and `t[t > 0]` | read_only: `t.is_readonly`
set_basic_selection set_mask_selection set_orthogonal_selection set_coordinate_selection: `t[...] = 0` writes
set_block_selection write: `t[...] = 0` writes | order: `sel.as_view(t).compute().layout.storage_order()`
fill_value: a sparse tensor has one: `s.fill_value` | info show: `print(t)` | contains: `(0, 1) in t.shape`
compressor compressors filters: `tw.save('f.tens', {'t': t}, compress='zstd')`
compute load: the elements of a tensor are computed; `t.copy()` copies them
read result: `sel.as_view(t).compute()` reads what a view selects
domain: `t.shape` has the indices, `t.shape.origin` where they begin
attrs metadata update_attributes: `tw.save('f.tens', {'t': t}, metadata={'unit': 'mm'})` keeps what belongs to it
name path: files name tensors, `tw.save('f.tens', {'x': t})`; names of modes are `t.shape.names`
rename assign_coords swap_dims set_index named_axis: `t.named('x', 'y')` names the modes
groupby resample coarsen interp interpolate_na polyfit: xarray computes: `t.named('x', 'y').to_xarray()`
weighted sortby reindex reindex_like pipe query plot: xarray computes: `t.named('x', 'y').to_xarray()`
cumulative differentiate integrate idxmax idxmin to_dataset: xarray computes: `t.named('x', 'y').to_xarray()`
to_series variable indexes: xarray computes: `t.named('x', 'y').to_xarray()` | as_numpy: `np.asarray(t)`
reduce: `np.add.reduce(t, axis=0)` | dims sizes: `t.shape.names`, or `t.shape.extents`
sel isel loc iloc at iat: modes have names, `t.named('x', 'y')[:, 0]`, and places count from 0
transform to_dataframe: `np.asarray(t)` is what pandas takes | type typestr: `t.dtype`, and `t.shape`
fields: each field is a tensor of its own, of one shape; `t.dtype` is the type of all elements
num counts lengths nested_row_lengths: `r.row_lengths(1)` is how many elements each row has
offsets row_splits splits starts: `r.shape.splits(1)` is where rows begin and end | getnnz: `s.nnz`
content flat_values: `r.elements()` are the elements of all rows | to_tensor: `r.to_padded()` is an array
toarray todense: `s.to_dense()` has all elements | setdiag: `t[0, 0] = 1`
tocsr tocoo tocsc to_coo tobsr todia todok tolil asformat: `s.to_scipy()` | decode: `st.tolist()` has texts
indices row col: `s.coords()` are the places of what is stored
indptr: `s.csr()` has the places, the columns and the values
str: NumPy computes on texts: `np.strings.upper(st)` | to_json: `sel.to_json(sel.as_view(t))`
lower upper: NumPy computes on texts: `np.strings.{name}(st)`
startswith: NumPy computes on texts: `np.strings.startswith(st, 'a')` | names=: `t.named('x', 'y')` has names
from_numpy from_array from_list array: `tw.as_tensor([1, 2])` takes an array or a list
zeros ones empty: `tw.zeros((2, 3))`, and `sel.ones((2, 3))` | dtype=: `t.astype('f4')` has another type
buffer layout: a view has no memory: `sel.as_view(t).compute().layout` is that of its elements
plan explain: `sel.as_view(t).explain()` says how a view is computed
shape= size=: `t.reshape(3, 2)` has another shape | is_readonly=: `t.copy()` can be written to
layout=: `t.to_layout(tw.Layout(t.shape, order='F'))` lies otherwise
tiling=: `t.tiled(tw.Tiling([1, 1], [3]))` has tiles | item(): `t[0, 1].item()` reads one element
__init__(): `tw.as_tensor([1, 2])` takes an array or a list, `tw.zeros((2, 3))` extents
permute(): `t.permute(1, 0)` says the modes in their new order
repeat(): `t.repeat((2, 1))` repeats the whole along each mode, `t.repeat_each(0, 2)` every element of one
gather(): `t.gather(0, [1, 0])` says the mode, then the positions | tolist(): `t.tolist()` takes nothing
reshape(): `t.reshape(3, 2)` takes the elements in order; `t.permute(1, 0)` turns modes round
flatten(): `t.flatten()` takes the elements in order; `t.permute(1, 0)` turns modes round
diagonal(): `t.diagonal(0, 1)` says two modes; `t[:, 1:].diagonal()` is that one beside
copy(): `t.copy()` packs in row-major order; `t.to_layout(tw.Layout(t.shape, order='F'))` chooses
pad(): `t.pad([(1, 1), (0, 0)])` says before and after for each mode; fill_value= is around it
pad_rows(): `r.pad_rows(3)`; fill_value= is behind, clip=True cuts longer rows
tile(): `t.tiled(tw.Tiling([1, 1], [3])).tile((0, 0))` says an index as one tuple, or a number
tiled(): `t.tiled(tw.Tiling([1, 1], [3]))` says how each mode is cut
row_lengths() local_index(): `r.{name}(1)` says the mode
astype(): `t.astype('f4')` copies always; `t.astype('f4', casting='unsafe')` lets values be lost
compute(): `sel.as_view(t).compute()`; `sel.as_view(t).astype('f4').compute()` is of another type
element(): `t[0, 1]` reads an element; of layers, an index is one tuple
cells() rows(): `r.{name}()` takes nothing: it goes over all | to_padded(): `r.to_padded(fill_value=0)`
scatter(): `t.tiled(tw.Tiling([1, 1], [3])).select_tiles([[1, 0]]).scatter(t.shape)` puts back
array_equal(): `t.array_equal(t)` compares with a tensor or a view
assign(): `t.assign(0)` writes to all elements, `t[0] = 0` to some
to_numpy(): `t.to_numpy()` copies; `np.asarray(t, dtype='f4')` is of another type
to_scipy(): `s.to_scipy()`, and `s.to_scipy().tocsr()` by rows
to_pandas() to_awkward() to_arrow(): `t.{name}()` takes nothing: what it returns has methods of its own
to_torch(): to_torch() takes nothing: what it returns goes to devices
to_xarray(): `t.named('x', 'y').to_xarray()` takes its dims from the names
[Records]
columns fields column_names: `e.names` are the names, `e['t']` is one field | schema types dtype: `e.dtypes`
select get_column field_names: `e['t']`, and `e[['t', 'q']]` | explode ravel: `e.flatten()` | head: `e[:5]`
sort sort_values argsort sort_by(): `e.sort_by('t', descending=True)` | tail: `e[-5:]` | first: `e[0]`
groupby unflatten group_by(): `e.flatten().group_by('run')` | take gather isel iloc loc: `e[[2, 0]]`
filter where query mask: `e[e['t'] > 4]` | last: `e[-1]` | pop remove_column: `e.drop('q')` | ndim: `e.rank`
assign with_columns with_column insert add_column append_column with_field(): `e.with_field('n', [1, 2, 3])`
rename_columns rename() names=: `e.rename({'q': 'charge'})` | num_rows height: `len(e)`
append extend concatenate vstack: `tw.concat([e, e])` | num_columns width: `len(e.names)` | clone: `e.copy()`
merge join hstack with_fields(): `e.with_fields({'n': [1, 2, 3]})` | equals: `e.array_equal(e)`
apply map sum mean max min any all std var astype: each field is computed with: `e.with_field('t', 2 * e['t'])`
to_list to_pylist to_dicts rows: `e.tolist()`, and a loop over `e` gives rows | to_pydict: `e.to_dict()`
to_numpy numpy: `e.with_field('n', [1, 2, 3])[['run', 'n']].to_structured()` | reduce: `e['t'].rows().sum()`
to_dataframe to_df: `e.to_pandas()` | persist load read: `e.compute()` | top_k(): `e.top_k('t', 2)`
drop(): `e.drop('q', 'run')` | field(): `e.field('t', np.int64)` | flatten(): `e.flatten()` takes nothing
to_dict(): `e.to_dict(arrays=False)` | tolist(): `e.tolist()`
shape=: `tw.records(dict(e), shape=(3,))` shares other modes
[DaskTensor=d]
rows: NumPy's functions work in rows: `np.sort({x}, axis=-1)`, `np.mean({x}, axis=-1)`; a view has all others: `sel.as_view({x}).rows()`
fill_null is_valid drop_null: a view of a collection has it: `sel.as_view({x}).{name}`, and `sel.as_view({x}).fill_null(0)` gives one
assign array_equal broadcast cells copy flatten gather is_sparse item local_index merge_modes named null_count pad_rows rank: a view of a collection has it: `sel.as_view({x}).{name}`
repeat repeat_each reverse rotate row_lengths run_lengths squeeze tiled translate_to unsqueeze values window: a view of a collection has it: `sel.as_view({x}).{name}`
astype: a view of a collection has it: `sel.as_view({x}).astype('f4')`
tolist to_arrow to_awkward to_masked to_padded to_pandas to_torch to_numpy_strings: a tensor has it, once all rows are here: `{x}.compute().{name}`
[RemoteRecords=r]
array_equal copy drop dtypes field flatten get group_by is_lazy items plan: records at a server have it once they are views, or are read: `{x}.view().{name}`, `{x}[:].{name}`
rename size sort_by to_arrow to_awkward to_dask to_pandas to_polars to_structured: records at a server have it once they are views, or are read: `{x}.view().{name}`, `{x}[:].{name}`
tolist top_k unpack values with_field with_fields: records at a server have it once they are views, or are read: `{x}.view().{name}`, `{x}[:].{name}`
[TensFile]
*: a file has tensors: `f['x']` is one, which is asked like an array
attrs: `f.metadata` | names tensors root files array_keys: `list(f)` has the names
read get_tensor load: `f['x']` is a tensor, read when it is used; `f['x'].copy()` reads it
shape dtype: a file has tensors: `f['x'].shape`, `f['x'].dtype` | rank: a file has tensors: `f['x'].rank`
create_dataset create_array write put add: `tw.save('g.tens', {'x': t})` writes, `g['y'] = t` appends
T mT: a file has tensors: `f['x']` is one, which is asked like an array
update: `g['y'] = t` appends one tensor after the other
pop clear: nothing is taken out of a file; `tw.save('g.tens', dict(f))` writes another
"""  # noqa: E501
"""Hints by class, or by module of functions: for names, for calls ``name()``, for setting ``name=``.

``*`` describes the class: it applies to all names of arrays, and to NumPy's functions. A letter after a
class is substituted for ``{x}``, and each of the names for ``{name}``.
"""


@functools.cache
@functools.cache
def hints_of(section: str) -> Mapping[str, str]:
    """Return what the table says of one class or floor."""
    found: dict[str, str] = {}
    for head, *lines in [own for own in map(str.splitlines, TABLE.split("\n[")[1:]) if section in own[0]]:
        letters = {owner.partition("=")[0]: owner.partition("=")[2] for owner in head[:-1].split()}
        for line in " | ".join(lines if section in letters else []).split(" | "):
            words, _, said = line.partition(": ")
            for word in words.split():
                found[word] = said.replace("{x}", letters[section]).replace("{name}", word.rstrip("()="))
    return found


class _Absent:
    """A missing name: its error names the equivalent.

    A ``__getattr__`` would do, but with one Python 3.11 looks up every other attribute of the class slowly,
    and it does not answer for the class itself.
    """

    __slots__ = ("name", "said")

    def __init__(self, name: str, said: str) -> None:
        self.name, self.said = name, said

    def __get__(self, value: object, owner: type[object]) -> NoReturn:
        who = f"type object {owner.__name__!r}" if value is None else f"{owner.__name__!r} object"
        raise AttributeError(f"{who} has no attribute {self.name!r}: {self.said}")


class Hinted(ABCMeta):
    """The kind of classes with hints: `dir`, `help` and Tab show no name that is not there."""

    if not TYPE_CHECKING:
        # No class is registered as one of these: the type decides, and ABC's search takes four times as long.
        __instancecheck__ = type.__instancecheck__

    def __dir__(cls) -> list[str]:
        held = _held(cls)
        return [name for name in super().__dir__() if not isinstance(held.get(name), _Absent)]


def _held(cls: "type[Any]") -> dict[str, object]:
    return {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}


def hint(cls: type[object], section: str) -> None:
    """Let a finished class give the hints of a section of the table; names that it has stay its own.

    Examples
    --------
    >>> class Layout(metaclass=Hinted):
    ...     pass
    >>> hint(Layout, "Layout")
    >>> hasattr(Layout(), "roll"), "roll" in dir(Layout)
    (False, False)
    >>> Layout().roll
    Traceback (most recent call last):
    AttributeError: 'Layout' object has no attribute 'roll': `l.rotate((1, 0))` says a shift for each mode
    """
    table, held, own = hints_of(section), _held(cls), cast("Any", cls)
    what = table.get("*")
    if what is not None:
        own.__array_ufunc__, own.__array_function__ = None, _function(what)
        table = {**dict.fromkeys(ARRAY_NAMES.split(), what), **table}
    for word, said in table.items():
        name = word.removesuffix("()")
        if name == word and name.isidentifier() and name not in held:
            setattr(cls, name, _Absent(name, said))
        here: Any = held.get(name)
        makes = isinstance(here, classmethod)
        function: Any = cast("Any", here).__func__ if makes else here
        if name != word and isinstance(here, Later):
            here.then(functools.partial(answered, said=said))
        elif name != word and isfunction(function) and "odd" not in function.__code__.co_varnames:
            call: Any = answered(cast("Any", function), said)
            setattr(cls, name, classmethod(call) if makes else call)
    setattr(cls, "_hints", table)  # noqa: B010 - checkers know no such attribute


def setting_hint(cls: type[object], name: str) -> str:
    """Return how an error goes on that says that an attribute cannot be set: what is done instead."""
    absent, table = _held(cls).get(name), cast("Mapping[str, str]", getattr(cls, "_hints", {}))
    said = absent.said if isinstance(absent, _Absent) else table.get(f"{name}=")
    return "" if said is None else f": {said}"


def answered(function: _F, said: str | None = None) -> _F:
    """Return a function that says, of a call which it does not take, how it is called."""
    usage = said or hints_of(function.__module__.split(".")[1])[f"{function.__name__}()"]

    @functools.wraps(function)
    def call(*given: object, **named: object) -> object:
        try:
            return function(*given, **named)
        except TypeError as error:
            # An error from within has further frames; this one is of the call itself.
            trace = error.__traceback__
            if trace is None or trace.tb_next is not None:
                raise
            # Python names the class that has the method, which is not a class that users know.
            text = str(error).replace(function.__qualname__, function.__name__)
            raise TypeError(f"{text}: {usage}") from None

    return cast("_F", call)


def wrong_call(section: str, name: str, /, *_: object, **named: object) -> TypeError:
    """Return the error for wrong arguments of a hot function, which accepts any and checks them itself."""
    what = f"an unexpected keyword argument {next(iter(named))!r}" if named else "a value too many"
    return TypeError(f"{name}() got {what}: {hints_of(section)[f'{name}()']}")


def _function(what: str) -> Callable[..., NoReturn]:
    def refuse(self: object, func: Callable[..., object], *_: object) -> NoReturn:
        raise TypeError(f"np.{func.__name__} of a {type(self).__name__}: {what}")

    return refuse
