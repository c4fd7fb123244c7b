"""Convert tensors to and from other libraries, each imported only by the call that needs it.

`as_tensor` and `as_view` accept the arrays of all libraries, and tensors and views have methods such as
``to_awkward()``. Users rarely need this module.
"""

from tensorwrapper.interop._arrow import ArrowForm, from_arrow, to_arrow, to_arrow_capsules
from tensorwrapper.interop._awkward import from_awkward, to_awkward
from tensorwrapper.interop._duck import DuckArray, as_duck
from tensorwrapper.interop._lazy_arrays import from_lazy
from tensorwrapper.interop._null_rows import fill_null_rows
from tensorwrapper.interop._pandas import from_pandas, to_pandas
from tensorwrapper.interop._records import (
    RecordsForm,
    columns_of,
    records_to_arrow,
    records_to_awkward,
    records_to_pandas,
    records_to_polars,
    records_to_structs,
)
from tensorwrapper.interop._torch import from_torch, to_torch
from tensorwrapper.interop._xarray import to_xarray
from tensorwrapper.interop.dask._arrays import from_dask
from tensorwrapper.interop.dask._blocks import DaskBlocks, contract_in_parts
from tensorwrapper.interop.dask._chunks import ChunksLike
from tensorwrapper.interop.dask._collection import DaskTensor
from tensorwrapper.interop.dask._records import DaskRecords, records_to_dask
from tensorwrapper.interop.dask._serialize import register_dask
from tensorwrapper.interop.dask._shards import Moves, compute_over
from tensorwrapper.interop.dask._to_dask import reshard, reshard_plan, to_dask

__all__ = [
    "ArrowForm",
    "ChunksLike",
    "DaskBlocks",
    "DaskRecords",
    "DaskTensor",
    "DuckArray",
    "Moves",
    "RecordsForm",
    "as_duck",
    "columns_of",
    "compute_over",
    "contract_in_parts",
    "fill_null_rows",
    "from_arrow",
    "from_awkward",
    "from_dask",
    "from_lazy",
    "from_pandas",
    "from_torch",
    "records_to_arrow",
    "records_to_awkward",
    "records_to_dask",
    "records_to_pandas",
    "records_to_polars",
    "records_to_structs",
    "register_dask",
    "reshard",
    "reshard_plan",
    "to_arrow",
    "to_arrow_capsules",
    "to_awkward",
    "to_dask",
    "to_pandas",
    "to_torch",
    "to_xarray",
]
