"""Plans and parts to tensors: the reading half of the codec. Everything it sees is foreign."""

import math
from collections.abc import Sequence
from typing import Any, cast, final

import numpy as np

from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.buffer.lowlevel import copy_elements
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import Strided, TiledStrided, contiguous, wrap_layout
from tensorwrapper.shape import Tiled
from tensorwrapper.shape.lowlevel import make_tiling, wrap
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, IntArray
from tensorwrapper.wire._compress import CODECS
from tensorwrapper.wire._compress_blocks import read_compressed
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._packing import read_partitions, read_rows
from tensorwrapper.wire._plan import TensorPlan
from tensorwrapper.wire._refusal import refuse
from tensorwrapper.wire._sparse_packing import read_sparse
from tensorwrapper.wire._storage import packing_fields
from tensorwrapper.wire._string_packing import read_strings

__all__ = ["Reader"]

_INT64 = np.dtype("<i8")


@final
class Reader:
    """Makes tensors over the payload parts of one message, without copies."""

    __slots__ = ("_known", "_limits", "_parts")

    def __init__(self, parts: Sequence[memoryview], limits: Limits) -> None:
        self._parts = parts
        self._limits = limits
        # By identity: many descriptions may name one part, which is then checked, or copied, only once.
        self._known: dict[tuple[int, np.dtype[Any]], Array] = {}

    def read(self, plan: TensorPlan) -> Tensor[Any]:
        """Return one tensor, after comparing what its label says with the bytes that are there."""
        data = self._part(plan.part, plan.where)
        if data.nbytes != plan.nbytes and plan.storage not in CODECS:
            size = plan.dtype.itemsize
            refuse(
                "size",
                f"{plan.where} has {plan.nbytes // size} elements of {size} bytes, "
                f"but its part has {data.nbytes}",
            )
        layout = plan.layout
        return make_tensor(self._layout(plan) if layout is None else layout, self._buffer(plan, data))

    def _buffer(self, plan: TensorPlan, data: memoryview) -> BufferCommon[Any]:
        storage, where, dtype = plan.storage, plan.where, plan.logical or plan.dtype
        if storage == "dense":
            return Dense(cast("Any", self._elements(data, dtype, where)))
        size, index, elements = math.prod(plan.extents), self._index_part, self._some_elements
        fields = packing_fields(plan.description, storage)
        if storage in CODECS:
            return read_compressed(storage, fields, data, dtype, size, index, where)
        values = self._elements(data, dtype, where)
        if storage == "sparse":
            return read_sparse(fields, values, size, index, elements, where)
        if dtype != np.uint8:
            refuse("schema", f"{where} is of strings, whose bytes have the dtype u and the word 1")
        return read_strings(fields, values, size, index, elements, self._limits, where)

    def _some_elements(self, part: object, count: int, dtype: "np.dtype[Any]", where: str) -> Array:
        if type(part) is not int:
            refuse("schema", f"part of {where} must be an integer")
        data = self._part(part, where)
        if data.nbytes != count * dtype.itemsize:
            refuse("size", f"{where} has {data.nbytes} bytes instead of {count * dtype.itemsize}")
        return self._elements(data, dtype, where)

    def _part(self, part: int, where: str) -> memoryview:
        if not 0 <= part < len(self._parts):
            refuse(
                "layout",
                f"{where} is in part {str(part)[:24]}, but there are {len(self._parts)} payload parts",
            )
        return self._parts[part]

    def _elements(self, data: memoryview, dtype: "np.dtype[Any]", where: str) -> Array:
        known = self._known.get((id(data), dtype))
        if known is not None:
            return known
        flat = np.frombuffer(data, dtype=dtype)
        flags = flat.flags
        if not flags.aligned:
            # Small frames can start at any address; what NumPy's users do with an array needs alignment.
            flat = copy_elements(flat)
            flags = flat.flags
        if flags.writeable:
            flags.writeable = False
        if dtype.kind == "b" and flat.size and int(flat.view(np.uint8).max()) > 1:
            refuse("integrity", f"{where} has a bool that is neither 0 nor 1")
        self._known[id(data), dtype] = flat
        return flat

    def _index_part(self, part: object, where: str) -> IntArray:
        if type(part) is not int:
            refuse("schema", f"part of {where} must be an integer")
        data = self._part(part, where)
        if data.nbytes % 8:
            refuse("size", f"{where} has {data.nbytes} bytes, which are not whole int64 numbers")
        return self._elements(data, _INT64, where).astype(np.int64, copy=False)

    def _layout(self, plan: TensorPlan) -> Layout[Any]:
        if plan.packing == "tiled":
            return self._tiled(plan)
        if len(plan.extents) != 1:
            refuse("schema", f"shape of {plan.where} must be its number of elements alone")
        size, described = plan.extents[0], plan.description.get("jagged")
        shape = read_rows(described, size, self._index_part, self._limits, plan.where)
        return wrap_layout(contiguous(shape, 0))

    def _tiled(self, plan: TensorPlan) -> Layout[Any]:
        tiled, where = plan.description.get("tiled"), plan.where
        storage = tiled.get("storage") if isinstance(tiled, dict) else None
        if storage not in (None, "box", "tiles"):
            refuse("unsupported", f"{where} has tiles in the storage {str(storage)[:24]!r}")
        partitions, first = read_partitions(tiled, self._index_part, self._limits, where)
        box = tuple([p.extent for p in partitions])
        expected = (math.prod(box),) if storage == "tiles" else box
        if plan.extents != expected:
            refuse("size", f"shape of {where} is {plan.extents}, but its marks span {expected}")
        if storage == "tiles":
            return wrap_layout(contiguous(wrap(Tiled(partitions, first)), 0))
        tiling = make_tiling(partitions)
        under = cast("Strided", contiguous(tiling.elements, 0))
        return wrap_layout(TiledStrided(tiling, under, first))
