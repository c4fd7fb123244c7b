"""The packing ``string``: the bytes of all elements, and where each starts; or TensorFlow's TF_STRING."""

from typing import Any, Final, final

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import StringData, Strings, decode_tf_strings, encode_tf_strings
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError, LocalProtocolError, RemoteProtocolError, StringDataError
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, StringKind
from tensorwrapper.wire._protocol_errors import refuse
from tensorwrapper.wire.packings._packing import ElementPacking, Packed, Received, WriteOptions
from tensorwrapper.wire.parts._part_reader import check_splits
from tensorwrapper.wire.parts._part_writer import PartWriter

_BYTE: Final = np.dtype(np.uint8)


@final
@frozen
class StringPacking(ElementPacking):
    """Takes strings and bytes; they are never compressed."""

    @property
    def name(self) -> str:
        return "string"

    def pack(self, tensor: Tensor[Any], parts: PartWriter, options: WriteOptions) -> Packed | None:
        buffer = tensor.buffer
        if not holds_strings(buffer.dtype):
            return None
        strings = buffer.strings_of(tensor.layout.implementation)
        described: dict[str, Json] = {"kind": strings.kind}
        if options.strings == "tf_string":
            described["form"] = options.strings
            try:
                return Packed(encode_tf_strings(strings), described)
            except ConversionError as error:
                raise LocalProtocolError("unsupported", f"{parts.where}: {error}") from error
        packed = strings.pack()
        offsets = packed.offsets
        if offsets is None:
            raise AssertionError  # packed strings have offsets
        described["offsets"] = parts.add_indices(offsets)
        if buffer.nullable:
            described["validity"] = parts.add_elements(np.packbits(packed.is_valid(), bitorder="little"))
        return Packed(packed.data, described, offsets.item)

    def not_understood(self, fields: Field) -> str | None:
        form = fields["form"].value
        known = form in (None, "offsets", "tf_string")
        return None if known else f"strings in the form {str(form)[:24]!r}"

    def unpack(self, received: Received) -> Strings:
        fields, data = received.fields, received.values
        if received.dtype != _BYTE:
            refuse("schema", f"{fields} is of strings, whose bytes have the dtype u and the word 1")
        kind, form = fields["kind"].one_of(("utf8", "binary")), fields["form"].value
        read = _read_tf if form == "tf_string" else _read_offsets
        try:
            strings = read(received, data, "utf8" if kind == "utf8" else "binary")
        except StringDataError as error:
            raise RemoteProtocolError("integrity", f"{fields}: {error}") from error
        return Strings(strings, nullable=fields["validity"].value is not None).as_readonly()


def _read_tf(received: Received, data: Array, kind: StringKind) -> StringData:
    encoding = "utf-8" if kind == "utf8" else None
    most = received.parts.limits.decompressed_bytes
    return decode_tf_strings(data, received.size, encoding=encoding, strict=False, max_bytes=most)


def _read_offsets(received: Received, data: Array, kind: StringKind) -> StringData:
    fields, size, parts = received.fields, received.size, received.parts
    what = fields["offsets"]
    offsets = parts.indices(what)
    if len(offsets) != size + 1:
        refuse("size", f"{what} are {len(offsets)} numbers, but {size} elements take {size + 1}")
    check_splits(offsets, what, len(data))
    marks = None
    if fields["validity"].value is not None:
        marks = parts.elements(fields["validity"], (size + 7) // 8, _BYTE)
    return StringData.from_offsets(offsets, data, kind, validity=marks)
