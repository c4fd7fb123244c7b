"""The packing ``string``: the bytes of all elements, and where each starts; or TensorFlow's TF_STRING."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper.buffer import StringData, Strings, decode_tf_strings, encode_tf_strings
from tensorwrapper.buffer.lowlevel import pack_marks, strings_of
from tensorwrapper.errors import ConversionError, LocalProtocolError, RemoteProtocolError, StringDataError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.typing import Array, StringKind
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._packing import AddBytes, AddPart, ReadElements, ReadPart, check_splits
from tensorwrapper.wire._refusal import refuse

__all__ = ["StringForm", "describe_strings", "read_strings"]

StringForm: TypeAlias = Literal["offsets", "tf_string"]
"""How strings travel: bytes and a part of offsets, or one part as TensorFlow up to 2.3 has it."""

_BYTE: Final = np.dtype(np.uint8)


def describe_strings(
    held: LayoutCommon, buffer: Strings, form: StringForm, add: AddPart, add_bytes: AddBytes, where: str
) -> tuple[Array, dict[str, Json]]:
    """Return the bytes of the elements in row-major order, and the ``string`` object without its shape."""
    strings = strings_of(held, buffer)
    described: dict[str, Json] = {"version": 1, "kind": strings.kind}
    if form == "tf_string":
        described["form"] = form
        try:
            return encode_tf_strings(strings), described
        except ConversionError as error:
            raise LocalProtocolError("unsupported", f"{where}: {error}") from error
    packed = strings.pack()
    offsets = packed.offsets
    if offsets is None:
        raise AssertionError  # packed strings have offsets
    described["offsets"] = add(offsets)
    if buffer.nullable:
        described["validity"] = add_bytes(pack_marks(packed.is_valid()))
    return packed.data, described


def read_strings(
    fields: Mapping[str, object],
    data: Array,
    size: int,
    read: ReadPart,
    read_elements: ReadElements,
    limits: Limits,
    where: str,
) -> Strings:
    """Return the buffer of `size` strings that a foreign ``string`` object and its bytes hold; read-only."""
    kind, form = fields.get("kind"), fields.get("form")
    if kind not in ("utf8", "binary"):
        refuse("schema", f"kind of {where} must be utf8 or binary")
    if form not in (None, "offsets", "tf_string"):
        refuse("unsupported", f"{where} has strings in the form {str(form)[:24]!r}")
    try:
        if form == "tf_string":
            strings = _read_tf(data, size, kind, limits)
        else:
            strings = _read_offsets(fields, data, size, kind, read, read_elements, where)
    except StringDataError as error:
        raise RemoteProtocolError("integrity", f"{where}: {error}") from error
    return Strings(strings, nullable=fields.get("validity") is not None).read_only()


def _read_tf(data: Array, size: int, kind: StringKind, limits: Limits) -> StringData:
    encoding = "utf-8" if kind == "utf8" else None
    most = limits.decompressed_bytes
    return decode_tf_strings(data, size, encoding=encoding, strict=False, max_bytes=most)


def _read_offsets(
    fields: Mapping[str, object],
    data: Array,
    size: int,
    kind: StringKind,
    read: ReadPart,
    read_elements: ReadElements,
    where: str,
) -> StringData:
    what = f"offsets of {where}"
    offsets = read(fields.get("offsets"), what)
    if len(offsets) != size + 1:
        refuse("size", f"{what} are {len(offsets)} numbers, but {size} elements take {size + 1}")
    check_splits(offsets, what, len(data))
    marks, part = None, fields.get("validity")
    if part is not None:
        marks = read_elements(part, (size + 7) // 8, _BYTE, f"validity of {where}")
    return StringData.from_offsets(offsets, data, kind, validity=marks)
