"""Tensors to descriptions and parts: the writing half of the codec."""

import json
from collections.abc import Mapping
from typing import Any, cast, final

import attrs
import numpy as np

from tensorwrapper._json import Json
from tensorwrapper.errors import ConversionError, LocalProtocolError
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire.codec._fast_dense import plain_part
from tensorwrapper.wire.codec._names import describe_names
from tensorwrapper.wire.codec._no_elements import NoElements
from tensorwrapper.wire.codec._plain_label import Plain
from tensorwrapper.wire.codec._plan import check_written
from tensorwrapper.wire.frames._header import NOWHERE, pack_prefix
from tensorwrapper.wire.frames._label import dump_label, plain_levels, plain_object
from tensorwrapper.wire.packings._nullable import describe_validity, without_nulls
from tensorwrapper.wire.packings._packing import ElementPacking, Packed, WriteOptions
from tensorwrapper.wire.packings._table import BUILT_IN, known_packings
from tensorwrapper.wire.parts._compress import Compression
from tensorwrapper.wire.parts._dense import as_it_lies
from tensorwrapper.wire.parts._dtypes import write_dtype, write_logical
from tensorwrapper.wire.parts._part_writer import PartWriter, as_bytes

_DEFAULTS = WriteOptions()


@final
class Writer:
    """Collects descriptions and payload parts; element data first, index arrays after it."""

    __slots__ = (
        "_before",
        "_elements",
        "_options",
        "_parts",
        "_plain",
        "_plain_ones",
        "_shapes",
        "_table",
        "descriptions",
        "records",
    )

    descriptions: list[dict[str, Json]]
    """Entry of each tensor in the label."""
    records: list[Json]
    """Entries of records, whose fields are among the tensors."""

    def __init__(
        self,
        n_tensors: int,
        options: WriteOptions = _DEFAULTS,
        *,
        apart: bool = False,
        before: int = 0,
        for_all: bool = False,
    ) -> None:
        if options.layout not in ("packed", "keep"):
            raise ConversionError(f"layout is 'packed' or 'keep', not {options.layout!r}")
        self.descriptions = []
        self.records = []
        self._plain_ones: list[Plain] = []
        self._before = before
        self._parts = PartWriter(n_tensors, apart=apart, limits=options.limits)
        # The parts that every reader must understand, such as the index of a file, use built-in packings
        # only.
        table = BUILT_IN if for_all else known_packings()
        self._table = table
        self._shapes = table.shapes
        self._apply(options)

    def _apply(self, options: WriteOptions) -> None:
        self._options = options
        # Without options the elements are written as stored, and the table is not searched.
        table = self._table
        self._plain = options.compress is None and not table.strangers
        self._elements = (
            table.uncompressed
            if self._plain
            else tuple([packing for packing in table.elements if packing.applies(options)])
        )

    def compress_by(self, codec: Compression | None) -> None:
        """Compress the tensors that are added from now on, or do not."""
        if codec != self._options.compress:
            self._apply(attrs.evolve(self._options, compress=codec))

    @property
    def plain(self) -> tuple[Plain, ...]:
        """Descriptions of the tensors, if all of them are plain; else empty."""
        alone = len(self._plain_ones) == len(self.descriptions) and not self.records
        return tuple(self._plain_ones) if alone else ()

    @property
    def payload(self) -> list[memoryview]:
        """The parts in order."""
        return self._parts.payload

    def tens(self) -> dict[str, Json]:
        """Return the label entries of the tensors and records, to be added to."""
        tens: dict[str, Json] = {"tensors": [*self.descriptions]}
        if self.records:
            tens["records"] = [*self.records]
        return tens

    def frames(
        self,
        label: Mapping[str, Json],
        metadata: Mapping[str, object] | None = None,
        limits: Limits | None = None,
    ) -> list[bytes | memoryview]:
        """Return the frames of a message of the added tensors, with additional keys in its label.

        Raises
        ------
        LocalProtocolError
            If a reader with these limits would refuse it, or `metadata` is not an object of JSON.
        """
        tens = self.tens()
        if metadata is not None:
            tens["metadata"] = plain_object(metadata, "metadata")
        text, payload = dump_label({"TENS": tens, **label}), self._parts.payload
        if limits is not None:
            check_written(text, sum(map(len, payload)), limits)
        return [pack_prefix(text), NOWHERE, *payload]

    def add_plain(self, tensor: object, part: int) -> bool:
        """Add an array or a tensor if it is a packed box sent unchanged; return True if it was added."""
        found = plain_part(tensor) if self._plain else None
        if found is None:
            return False
        kind, extents, word, data = found
        self._plain_ones.append((kind, part, extents, word))
        self.descriptions.append({"dtype": kind, "part": part, "shape": list(extents), "word": word})
        self._parts.by_number[part] = data
        return True

    def add(
        self,
        tensor: Tensor[Any],
        part: int,
        metadata: Mapping[str, object] | None,
        block: dict[str, Json] | None = None,
    ) -> None:
        """Describe `tensor` and put its elements into payload part `part`."""
        where = self._parts.where = f"tensor {self._before + len(self.descriptions)}"
        description: dict[str, Json] = {"part": part}
        buffer = tensor.buffer
        if isinstance(buffer, NoElements) and metadata is None and buffer.said is not None:
            metadata = cast("dict[str, object]", json.loads(buffer.said))
        if metadata is not None:
            deep = self._options.metadata_depth
            description["metadata"] = plain_levels(metadata, f"metadata of {where}", deep)
        if block is not None:
            description["block"] = block
        if block is None and isinstance(buffer, NoElements):
            description |= {"dtype": "?", "shape": [], "word": 0}
            data = memoryview(b"")
        else:
            tensor = describe_names(tensor, description, where)
            data = self._describe_elements(self._describe_shape(tensor, description), description)
        self.descriptions.append(description)
        self._parts.by_number[part] = data

    def add_apart(self, tensor: Tensor[Any]) -> "tuple[dict[str, Json], Tensor[Any], Packed | None]":
        """Describe `tensor` without its elements, and return them: in a tensor, or packed already."""
        description: dict[str, Json] = {"part": len(self.descriptions)}
        run = self._describe_shape(describe_names(tensor, description, self._parts.where), description)
        self.descriptions.append(description)
        run, valid = without_nulls(run, keep=self._options.keep_nullable)
        packed = self._pack(run)
        if packed is None:
            self._describe_type(run.dtype, description)
        else:
            self._describe_packed(run, *packed, description)
        if valid is not None:
            describe_validity(valid, self._parts, description)
        return description, run, None if packed is None else packed[1]

    def _describe_elements(self, run: Tensor[Any], description: dict[str, Json]) -> memoryview:
        run, valid = without_nulls(run, keep=self._options.keep_nullable)
        packed = self._pack(run)
        if packed is None:
            data = self._describe_dense(run, description)
        else:
            data = self._describe_packed(run, *packed, description)
        if valid is not None:
            describe_validity(valid, self._parts, description)
        return data

    def _pack(self, run: Tensor[Any]) -> "tuple[ElementPacking, Packed] | None":
        """Return the packing that takes elements, and its result; None if none does."""
        for packing in self._elements:
            packed = packing.pack(run, self._parts, self._options)
            if packed is not None:
                return packing, packed
        return None

    def _describe_shape(self, tensor: Tensor[Any], description: dict[str, Json]) -> Tensor[Any]:
        """Say which indices a tensor has, and return the one whose elements are to be written."""
        for packing in self._shapes:
            packed = packing.pack_shape(tensor, self._parts)
            if packed is not None:
                description["packing"] = packing.name
                description[packing.name] = {"version": packing.version, **packed.fields}
                description["shape"] = list(packed.extents)
                return packed.elements
        shape = tensor.shape
        if shape.has_layers:
            # Layers do not change the order of the elements, for any packing.
            description["layers"] = list(shape.layers)
            return self._describe_shape(tensor.flatten(), description)
        if not shape.is_box:
            raise LocalProtocolError("unsupported", f"a tensor over {shape!r} has no packing")
        description["shape"] = list(shape.extents)
        if any(shape.origin):
            description["origin"] = list(shape.origin)
        return tensor

    def _describe_packed(
        self, run: Tensor[Any], packing: ElementPacking, packed: Packed, description: dict[str, Json]
    ) -> memoryview:
        """Describe the packing of elements, around the packing of their shape, and return their part."""
        fields: dict[str, Json] = {"version": packing.version, **packed.fields}
        if "packing" in description:
            fields["packing"] = description["packing"]
        if packing.replaces_elements:
            self._describe_type(run.dtype, description)
            data = packed.data.view(np.uint8).data
        else:
            fields["shape"], description["shape"] = description["shape"], [len(packed.data)]
            data = as_bytes(packed.data, self._describe_type(packed.data.dtype, description))
        description["packing"] = packing.name
        description[packing.name] = fields
        return data

    def _describe_dense(self, run: Tensor[Any], description: dict[str, Json]) -> memoryview:
        dtype = self._describe_type(run.dtype, description)
        if self._options.layout == "keep" and self._options.compress is None and "packing" not in description:
            kept = as_it_lies(run, dtype)
            if kept is not None:
                description.update(kept[1])
                return kept[0]
        return as_bytes(self._parts.row_major(run, dtype), dtype)

    def _describe_type(self, dtype: "np.dtype[Any]", description: dict[str, Json]) -> "np.dtype[Any]":
        """Describe the type of elements, and return the type to write them in."""
        kind, word, written = write_dtype(
            dtype, self._parts.where, allow_longdouble=self._options.allow_longdouble
        )
        description["dtype"], description["word"] = kind, word
        logical = write_logical(dtype)
        if logical is not None:
            description["logical"] = logical
        return written
