"""Descriptions and parts to tensors: the reading half of the codec. Everything it sees is foreign."""

import math
from collections.abc import Sequence
from typing import Any, NoReturn, cast, final

import numpy as np

from tensorwrapper.buffer._copy import copy_elements
from tensorwrapper.buffer._dense import Dense
from tensorwrapper.errors import ProtocolReason, RemoteProtocolError, TensorWrapperError
from tensorwrapper.layout import Layout
from tensorwrapper.layout._layout import wrap_layout
from tensorwrapper.layout._packed import contiguous
from tensorwrapper.layout._strided import Strided
from tensorwrapper.layout._tiled import TiledStrided
from tensorwrapper.shape import Shape, Tiled
from tensorwrapper.shape._shape import wrap
from tensorwrapper.shape._smooth import make_smooth
from tensorwrapper.shape._tiling import make_tiling
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor._tensor import make_tensor
from tensorwrapper.typing import Array, Index, IntArray
from tensorwrapper.wire._dtypes import read_dtype
from tensorwrapper.wire._label import Json
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._packing import read_int, read_partitions, read_rows

__all__ = ["Reader"]

_INT64 = np.dtype("<i8")


@final
class Reader:
    """Turns the descriptions of one message into tensors over its payload parts, without copies."""

    __slots__ = ("_allow_longdouble", "_limits", "_parts")

    def __init__(self, parts: Sequence[memoryview], limits: Limits, *, allow_longdouble: bool) -> None:
        self._parts = parts
        self._limits = limits
        self._allow_longdouble = allow_longdouble

    def read(self, description: Json, number: int) -> Tensor[Any]:
        """Return one tensor; everything about it is checked first."""
        where = f"tensor {number}"
        if not isinstance(description, dict):
            self._refuse("schema", f"{where} is not described by an object")
        dtype = read_dtype(
            description.get("dtype"), description.get("word"), where, allow_longdouble=self._allow_longdouble
        )
        pointer = description.get("pointer")
        if pointer is not None and not (type(pointer) is int and pointer == 0):
            self._refuse("unsupported", f"{where} has a pointer; memory of other processes is never touched")
        extents = self._extents(description.get("shape"), where)
        data = self._part(description.get("part", number), where)
        size = math.prod(extents)
        if data.nbytes != size * dtype.itemsize:
            self._refuse(
                "size",
                f"{where} has {size} elements of {dtype.itemsize} bytes, but its part has {data.nbytes}",
            )
        flat = self._elements(data, dtype, where)
        return make_tensor(self._layout(description, extents, where), Dense(cast("Any", flat)))

    @staticmethod
    def _refuse(reason: ProtocolReason, message: str) -> NoReturn:
        raise RemoteProtocolError(reason, message)

    def _extents(self, shape: object, where: str) -> Index:
        if not isinstance(shape, list):
            self._refuse("schema", f"shape of {where} must be a list")
        items = cast("list[object]", shape)
        limits = self._limits
        if len(items) > limits.rank:
            self._refuse("limit", f"{where} has {len(items)} modes; at most {limits.rank} are allowed")
        for mode, extent in enumerate(items):
            if type(extent) is not int:
                self._refuse("schema", f"extent {mode} of {where} must be an integer")
            if extent < 0:
                self._refuse("schema", f"extent {mode} of {where} is negative")
            if extent > limits.extent:
                self._refuse("limit", f"extent {mode} of {where} is over {limits.extent}")
        return cast("Index", tuple(items))

    def _part(self, part: object, where: str) -> memoryview:
        if type(part) is not int:
            self._refuse("schema", f"part of {where} must be an integer")
        if not 0 <= part < len(self._parts):
            self._refuse(
                "layout",
                f"{where} is in part {str(part)[:24]}, but there are {len(self._parts)} payload parts",
            )
        return self._parts[part]

    def _elements(self, data: memoryview, dtype: "np.dtype[Any]", where: str) -> Array:
        flat = np.frombuffer(data, dtype=dtype)
        if not flat.flags.aligned:
            # Small frames can start at any address; what NumPy's users do with an array needs alignment.
            flat = copy_elements(flat)
        if flat.flags.writeable:
            flat.flags.writeable = False
        if dtype.kind == "b" and flat.size and int(flat.view(np.uint8).max()) > 1:
            self._refuse("integrity", f"{where} has a bool that is neither 0 nor 1")
        return flat

    def _index_part(self, part: object, where: str) -> IntArray:
        data = self._part(part, where)
        if data.nbytes % 8:
            self._refuse("size", f"{where} has {data.nbytes} bytes, which are not whole int64 numbers")
        return self._elements(data, _INT64, where).astype(np.int64, copy=False)

    def _layout(self, description: dict[str, Json], extents: Index, where: str) -> Layout[Any]:
        packing = description.get("packing", "dense")
        if packing == "jagged":
            if len(extents) != 1:
                self._refuse("schema", f"shape of {where} must be its number of elements alone")
            limits = self._limits
            shape = read_rows(description.get("jagged"), extents[0], self._index_part, limits, where)
            return wrap_layout(contiguous(shape, 0))
        if packing == "tiled":
            return self._tiled(description, extents, where)
        if packing is not None and packing != "dense":
            reason: ProtocolReason = "unsupported" if isinstance(packing, str) else "schema"
            self._refuse(reason, f"{where} has the packing {str(packing)[:24]!r}")
        origin = self._origin(description.get("origin"), len(extents), where)
        shape = wrap(make_smooth(extents, origin))
        if "order" in description or "ascend" in description:
            return self._ordered(shape, description, where)
        return wrap_layout(contiguous(shape, 0))

    def _origin(self, origin: object, rank: int, where: str) -> Index:
        if origin is None:
            return (0,) * rank
        if not isinstance(origin, list) or len(cast("list[object]", origin)) != rank:
            self._refuse("schema", f"origin of {where} must be a list of {rank} integers")
        items = cast("list[object]", origin)
        return tuple([read_int(i, f"origin of {where}", -(2**62), 2**62) for i in items])

    def _ordered(self, shape: Shape[Any], description: dict[str, Json], where: str) -> Layout[Any]:
        order, ascend = description.get("order"), description.get("ascend")
        rank = shape.rank
        if order is None:
            order = list(range(rank - 1, -1, -1))
        if ascend is None:
            ascend = [True] * rank
        if not isinstance(order, list) or any(type(mode) is not int for mode in order):
            self._refuse("layout", f"order of {where} must be a list of integers")
        if not isinstance(ascend, list) or any(type(up) is not bool for up in ascend):
            self._refuse("layout", f"ascend of {where} must be a list of booleans")
        try:
            return Layout(shape, order=cast("list[int]", order), ascend=cast("list[bool]", ascend))
        except TensorWrapperError as error:
            raise RemoteProtocolError("layout", f"order or ascend of {where}: {error}") from error

    def _tiled(self, description: dict[str, Json], extents: Index, where: str) -> Layout[Any]:
        tiled = description.get("tiled")
        storage = tiled.get("storage", "box") if isinstance(tiled, dict) else "box"
        if storage not in ("box", "tiles"):
            self._refuse("unsupported", f"{where} has tiles in the storage {str(storage)[:24]!r}")
        partitions, first = read_partitions(tiled, self._index_part, self._limits, where)
        box = tuple([p.extent for p in partitions])
        expected = (math.prod(box),) if storage == "tiles" else box
        if extents != expected:
            self._refuse("size", f"shape of {where} is {extents}, but its marks span {expected}")
        if storage == "tiles":
            return wrap_layout(contiguous(wrap(Tiled(partitions, first)), 0))
        tiling = make_tiling(partitions)
        under = cast("Strided", contiguous(tiling.elements, 0))
        return wrap_layout(TiledStrided(tiling, under, first))
