"""Tensors to descriptions and parts: the writing half of the codec."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias, cast, final

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper.buffer import Sparse, Strings
from tensorwrapper.buffer.lowlevel import copy_elements, memory_of
from tensorwrapper.errors import ConversionError, LocalProtocolError
from tensorwrapper.layout.lowlevel import TiledStrided
from tensorwrapper.shape import JaggedCommon, Tiled
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, Index, IntArray
from tensorwrapper.wire._compress import Compression
from tensorwrapper.wire._compress_blocks import compress_part
from tensorwrapper.wire._dtypes import known_dtype, write_dtype, write_logical
from tensorwrapper.wire._kept import as_it_lies
from tensorwrapper.wire._label import plain_scalars
from tensorwrapper.wire._packing import describe_partitions, describe_rows
from tensorwrapper.wire._sparse_packing import describe_sparse
from tensorwrapper.wire._string_packing import StringForm, describe_strings

__all__ = ["ElementOrder", "Writer", "plain_label"]

ElementOrder: TypeAlias = Literal["packed", "keep"]
"""Elements of boxes in row-major order; or as they lie, if they have no gaps."""


_EMPTY = memoryview(b"")

Plain: TypeAlias = tuple[str, int, Index, int]
"""Kind of element, part, extents and bytes per element of a dense tensor of which nothing else is said."""


@lru_cache(maxsize=128)
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
    return _remembered_label(plain) if len(plain) <= 128 else _remembered_label.__wrapped__(plain)


@final
class Writer:
    """Collects descriptions and payload parts; element data first, index arrays after it."""

    __slots__ = (
        "_allow_longdouble",
        "_apart",
        "_before",
        "_compress",
        "_entries",
        "_index_parts",
        "_keep",
        "_n_tensors",
        "_parts",
        "_strings",
    )

    def __init__(
        self,
        n_tensors: int,
        *,
        allow_longdouble: bool,
        apart: bool = False,
        before: int = 0,
        layout: ElementOrder = "packed",
        compress: Compression | None = None,
        strings: StringForm = "offsets",
    ) -> None:
        self._entries: list[Plain | dict[str, Json]] = []
        self._n_tensors = n_tensors
        # Files have every second part, from part 0 on, for bytes that align the next one.
        self._apart = apart
        self._before = before
        if layout not in ("packed", "keep"):
            raise ConversionError(f"layout is 'packed' or 'keep', not {layout!r}")
        self._keep = layout == "keep"
        self._allow_longdouble = allow_longdouble
        self._compress: Compression | None = compress
        self._strings: StringForm = strings
        self._parts: dict[int, memoryview] = {}
        # By identity: one partition used for several modes or tensors travels once.
        self._index_parts: dict[int, tuple[int, Array]] = {}

    @property
    def plain(self) -> tuple[Plain, ...]:
        """What there is to say of the tensors, if all of them are plain; else nothing."""
        entries = [entry for entry in self._entries if type(entry) is tuple]
        return tuple(entries) if len(entries) == len(self._entries) else ()

    @property
    def descriptions(self) -> list[dict[str, Json]]:
        """What the label says of each tensor."""
        return [_describe_plain(entry) if isinstance(entry, tuple) else entry for entry in self._entries]

    @property
    def payload(self) -> list[memoryview]:
        """The parts in order."""
        return [self._parts.get(k, _EMPTY) for k in range(max(self._parts, default=-1) + 1)]

    def add_plain(self, tensor: object, part: int) -> bool:
        """Add `tensor` if it is an array that can be sent as it lies, and tell whether it was.

        What most messages are made of need not become a tensor first.
        """
        if type(tensor) is not np.ndarray or self._compress is not None:
            return False
        array = cast("Array", tensor)
        known = known_dtype(array.dtype)
        if known is None or not array.flags.c_contiguous:
            return False
        kind, word, _ = known
        self._entries.append((kind, part, array.shape, word))
        # Python casts memory a good deal faster than NumPy, but not all of it.
        castable = kind != "c" and array.size
        self._parts[part] = array.data.cast("B") if castable else array.reshape(-1).view(np.uint8).data
        return True

    def add(
        self,
        tensor: Tensor[Any],
        part: int,
        metadata: Mapping[str, object] | None,
        block: dict[str, Json] | None = None,
    ) -> None:
        """Describe `tensor` and put its elements into payload part `part`."""
        where = f"tensor {self._before + len(self._entries)}"
        kind, word, dtype = self._elements_of(tensor, where)
        description: dict[str, Json] = {"dtype": kind, "part": part, "word": word}
        logical = write_logical(tensor.dtype)
        if logical is not None:
            description["logical"] = logical
        if metadata is not None:
            description["metadata"] = plain_scalars(metadata, f"metadata of {where}")
        if block is not None:
            description["block"] = block
        held, shape = tensor.layout.implementation, tensor.shape
        if isinstance(held, TiledStrided):
            box = tensor.untiled()
            description["packing"] = "tiled"
            description["tiled"] = describe_partitions(held.tiling.partitions, held.grid_origin, self._index)
            description["shape"] = list(box.shape.extents)
            tensor = box
        elif shape.kind == "smooth":
            description["shape"] = list(shape.extents)
            if any(shape.origin):
                description["origin"] = list(shape.origin)
        else:
            self._describe_packed(shape.implementation, description)
            description["shape"] = [tensor.size]
        self._entries.append(description)
        self._parts[part] = self._hold(tensor, dtype, description, where)

    def _elements_of(self, tensor: Tensor[Any], where: str) -> "tuple[str, int, np.dtype[Any]]":
        if isinstance(tensor.buffer, Strings):
            return "u", 1, np.dtype(np.uint8)
        return write_dtype(tensor.dtype, where, allow_longdouble=self._allow_longdouble)

    def _hold(
        self, tensor: Tensor[Any], dtype: "np.dtype[Any]", description: dict[str, Json], where: str
    ) -> memoryview:
        """Return what the part of a tensor holds; describe what is more than its elements, one by one."""
        held, buffer = tensor.layout.implementation, tensor.buffer
        if isinstance(buffer, Sparse):
            values, described = describe_sparse(held, buffer, self._index, self._attach)
            _describe_implementation(description, "sparse", {**described, "shape": description["shape"]})
        elif isinstance(buffer, Strings):
            values, described = describe_strings(
                held, buffer, self._strings, self._index, self._attach, where
            )
            _describe_implementation(description, "string", {**described, "shape": description["shape"]})
        else:
            plain = "packing" not in description and self._compress is None
            kept = as_it_lies(tensor, dtype) if self._keep and plain else None
            if kept is not None:
                data, order = kept
                description.update(order)
                return data
            data = _bytes_of(tensor, dtype)
            packed = self._compress and compress_part(self._compress, data, dtype.itemsize, self._index)
            if not packed:
                return data
            data, described = packed
            _describe_implementation(description, str(self._compress), described)
            return data
        description["shape"] = [len(values)]
        return _as_bytes(values, dtype)

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
        return self._add_part(array, np.ascontiguousarray(array, dtype="<i8").view(np.uint8).data)

    def _attach(self, array: Array) -> int:
        return self._add_part(array, _as_bytes(array, array.dtype.newbyteorder("<")))

    def _add_part(self, array: Array, data: memoryview) -> int:
        part = self._n_tensors + len(self._index_parts)
        if self._apart:
            part = 2 * part + 1
        self._parts[part] = data
        self._index_parts[id(array)] = (part, array)
        return part


def _describe_plain(plain: Plain) -> dict[str, Json]:
    kind, part, shape, word = plain
    return {"dtype": kind, "part": part, "shape": list(shape), "word": word}


def _describe_implementation(description: dict[str, Json], name: str, described: dict[str, Json]) -> None:
    """Put how elements are held around the packing of their shape."""
    shape = description.pop("packing", None)
    description[name] = described if shape is None else {**described, "packing": shape}
    description["packing"] = name


def _bytes_of(tensor: Tensor[Any], dtype: "np.dtype[Any]") -> memoryview:
    if tensor.dtype == dtype:
        flat: Array = tensor.elements()
    else:
        # Packed and brought into byte order in one copy, where there is memory to copy from.
        array = memory_of(tensor.layout.implementation, tensor.buffer)
        flat = copy_elements(tensor.elements() if array is None else array, dtype).reshape(-1)
    return _as_bytes(flat, dtype)


def _as_bytes(flat: Array, dtype: "np.dtype[Any]") -> memoryview:
    if flat.dtype != dtype:
        flat = copy_elements(flat, dtype)
    if dtype.itemsize in (16, 32) and dtype.kind in "fc" and dtype.char in "gG":
        flat = _without_padding(flat)
    return flat.view(np.uint8).data


def _without_padding(flat: Array) -> Array:
    """Return long doubles with the six bytes that mean nothing zeroed: they may hold somebody's secrets."""
    clean = copy_elements(flat)
    clean.view(np.uint8).reshape(-1, 16)[:, 10:] = 0
    return clean
