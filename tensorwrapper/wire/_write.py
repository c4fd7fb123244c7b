"""Tensors to descriptions and parts: the writing half of the codec."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias, cast, final

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper.buffer._copy import copy_elements
from tensorwrapper.errors import LocalProtocolError
from tensorwrapper.layout._strided import Strided
from tensorwrapper.layout._tiled import TiledStrided
from tensorwrapper.shape import Tiled
from tensorwrapper.shape._jagged import JaggedCommon
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor._places import memory_of
from tensorwrapper.typing import Array, Index, IntArray
from tensorwrapper.wire._dtypes import known_dtype, write_dtype
from tensorwrapper.wire._label import plain_scalars
from tensorwrapper.wire._packing import describe_partitions, describe_rows

__all__ = ["Writer", "plain_label"]


Plain: TypeAlias = tuple[str, int, Index, int]
"""Kind of element, part, extents and bytes per element of a dense tensor of which nothing else is said."""


@lru_cache(maxsize=256)
def _remembered_label(plain: tuple[Plain, ...]) -> str:
    # Only letters and integers, whose JSON needs no encoder: this is the canonical text, four times faster.
    tensors = [
        f'{{"dtype":"{kind}","part":{part},"shape":[{",".join(map(str, shape))}],"word":{word}}}'
        for kind, part, shape, word in plain
    ]
    return f'{{"TENS":{{"tensors":[{",".join(tensors)}]}}}}'


def plain_label(plain: tuple[Plain, ...]) -> str:
    """Return the label of a message of plain tensors: a function of them alone, so it is remembered."""
    # Long lists are not kept: what is remembered stays small.
    return _remembered_label(plain) if len(plain) <= 16 else _remembered_label.__wrapped__(plain)


@final
class Writer:
    """Collects descriptions and payload parts; element data first, index arrays after it."""

    __slots__ = ("_allow_longdouble", "_index_parts", "_n_tensors", "_parts", "descriptions", "plain")

    def __init__(self, n_tensors: int, *, allow_longdouble: bool) -> None:
        self.descriptions: list[dict[str, Json]] = []
        self.plain: list[Plain] | None = []
        """The same descriptions as keys, as long as all of them are plain."""
        self._n_tensors = n_tensors
        self._allow_longdouble = allow_longdouble
        self._parts: dict[int, memoryview] = {}
        # By identity: one partition used for several modes or tensors travels once.
        self._index_parts: dict[int, tuple[int, IntArray]] = {}

    @property
    def payload(self) -> list[memoryview]:
        """The parts in order."""
        return [self._parts[k] for k in range(len(self._parts))]

    def add_plain(self, tensor: object, part: int) -> bool:
        """Add `tensor` if it is an array that can be sent as it lies, and tell whether it was.

        What most messages are made of need not become a tensor first.
        """
        if type(tensor) is not np.ndarray:
            return False
        array = cast("Array", tensor)
        known = known_dtype(array.dtype)
        if known is None or not array.flags.c_contiguous:
            return False
        kind, word, _ = known
        extents = array.shape
        self.descriptions.append({"dtype": kind, "part": part, "shape": list(extents), "word": word})
        if self.plain is not None:
            self.plain.append((kind, part, extents, word))
        self._parts[part] = array.reshape(-1).view(np.uint8).data
        return True

    def add(self, tensor: Tensor[Any], part: int, metadata: Mapping[str, object] | None) -> None:
        """Describe `tensor` and put its elements into payload part `part`."""
        self.plain = None
        where = f"tensor {len(self.descriptions)}"
        kind, word, dtype = write_dtype(tensor.dtype, where, allow_longdouble=self._allow_longdouble)
        description: dict[str, Json] = {"dtype": kind, "part": part, "word": word}
        if metadata is not None:
            description["metadata"] = plain_scalars(metadata, f"metadata of {where}")
        if tensor.is_sparse:
            raise LocalProtocolError("unsupported", f"{where} is sparse; to_dense() fills it")
        held, shape = tensor.layout._held, tensor.shape
        if isinstance(held, TiledStrided):
            box = tensor.untiled()
            description["packing"] = "tiled"
            description["tiled"] = describe_partitions(held.tiling.partitions, held.grid_origin, self._index)
            description["shape"] = list(box.shape.extents)
            tensor = box
        elif isinstance(held, Strided):
            description["shape"] = list(shape.extents)
            if any(shape.origin):
                description["origin"] = list(shape.origin)
        else:
            self._describe_packed(shape._held, description)
            description["shape"] = [tensor.size]
        self.descriptions.append(description)
        self._parts[part] = _bytes_of(tensor, dtype)

    def _describe_packed(self, held: object, description: dict[str, Json]) -> None:
        if isinstance(held, Tiled):
            description["packing"] = "tiled"
            tiled = describe_partitions(held.partitions, held.grid.origin, self._index)
            description["tiled"] = {**tiled, "storage": "tiles"}
        elif isinstance(held, JaggedCommon):
            description["packing"] = "jagged"
            description["jagged"] = describe_rows(held.rows, self._index)
        else:
            raise LocalProtocolError("unsupported", f"a tensor over {held!r} has no packing")

    def _index(self, array: IntArray) -> int:
        known = self._index_parts.get(id(array))
        if known is not None:
            return known[0]
        part = self._n_tensors + len(self._index_parts)
        little = np.ascontiguousarray(array, dtype="<i8")
        self._parts[part] = little.view(np.uint8).data
        self._index_parts[id(array)] = (part, array)
        return part


def _bytes_of(tensor: Tensor[Any], dtype: "np.dtype[Any]") -> memoryview:
    if tensor.dtype == dtype:
        flat: Array = tensor.elements()
    else:
        # Packed and brought into byte order in one copy, where there is memory to copy from.
        array = memory_of(tensor.layout._held, tensor.buffer)
        flat = copy_elements(tensor.elements() if array is None else array, dtype).reshape(-1)
    if dtype.itemsize in (16, 32) and dtype.kind in "fc" and dtype.char in "gG":
        flat = _without_padding(flat)
    return flat.view(np.uint8).data


def _without_padding(flat: Array) -> Array:
    """Return long doubles with the six bytes that mean nothing zeroed: they may hold somebody's secrets."""
    clean = copy_elements(flat)
    clean.view(np.uint8).reshape(-1, 16)[:, 10:] = 0
    return clean
