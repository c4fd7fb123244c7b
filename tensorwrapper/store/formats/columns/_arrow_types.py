"""Types of Arrow in files: storage types of extension types, and nulls."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from tensorwrapper.buffer.lowlevel import arrow_metadata

if TYPE_CHECKING:
    import pyarrow as pa

_EXTENSION: Final = b"ARROW:extension:name"
_TENSOR: Final = "_shape_tensor"
"""Suffix of the names of Arrow's tensor types."""


def plain_type(kind: "pa.DataType") -> "pa.DataType":
    """Return a type with extension types replaced by their storage types.

    A library registers its extension types on import, and the contents of a file must not depend on that.
    Arrow's own tensor types, with extents and names, are kept.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if isinstance(kind, pa.BaseExtensionType):
        return kind if is_tensor(kind) else plain_type(kind.storage_type)
    own: Any = kind
    lists = list_of(kind)
    if lists is not None:
        return lists(_plain_field(own.value_field))
    if pa.types.is_struct(kind):
        return pa.struct([_plain_field(own[place]) for place in range(own.num_fields)])
    return kind


def is_tensor(kind: "pa.DataType") -> bool:
    """Return True if a type is one of Arrow's own tensors."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    return isinstance(kind, pa.BaseExtensionType) and kind.extension_name.endswith(_TENSOR)


def list_of(kind: "pa.DataType") -> "Callable[[pa.DataType | pa.Field], pa.DataType] | None":
    """Return a function that creates the same list type with other elements; None for other types."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    own: Any = kind
    if pa.types.is_fixed_size_list(kind):
        return lambda value: pa.list_(value, own.list_size)
    for is_kind, make in (
        (pa.types.is_list, pa.list_),
        (pa.types.is_large_list, pa.large_list),
        (pa.types.is_list_view, pa.list_view),
        (pa.types.is_large_list_view, pa.large_list_view),
    ):
        if is_kind(kind):
            return make
    return None


def _plain_field(field: "pa.Field") -> "pa.Field":
    return field.with_type(plain_type(field.type))


def plain_array(array: "pa.Array") -> "pa.Array":
    """Return an array as its `plain_type`, over the same memory."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    kind = plain_type(array.type)
    return array if kind == array.type else pa.array(_Reexported(array, kind))


class _Reexported:
    """An array exported as another type with the same storage."""

    def __init__(self, array: "pa.Array", kind: "pa.DataType") -> None:
        self._array, self._kind = array, kind

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        del requested_schema  # the consumer accepts this schema
        return self._kind.__arrow_c_schema__(), self._array.__arrow_c_array__()[1]


def empty_array(kind: "pa.DataType") -> "pa.Array":
    """Return an empty array of a type."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if isinstance(kind, pa.BaseExtensionType):
        # `pa.array` cannot convert lists to permuted tensors.
        return pa.ExtensionArray.from_storage(kind, pa.array([], kind.storage_type))
    return pa.array([], kind)


def is_null_type(kind: "pa.DataType") -> bool:
    """Return True if the elements, also within lists, have Arrow's null type."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    own: Any = plain_type(kind)
    while not pa.types.is_struct(own) and isinstance(getattr(own, "value_type", None), pa.DataType):
        own = own.value_type
    return str(own) == "null"


def inner_fields(kind: "pa.DataType") -> "Iterator[pa.Field]":
    """Yield all fields nested in a type: elements of lists, and fields of records."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    own: Any = kind
    for place in range(kind.num_fields):
        yield own.field(place)
        yield from inner_fields(own.field(place).type)


def added_type(field: "pa.Field") -> str | None:
    """Return the name of an extension type, whether or not its library is installed."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if isinstance(field.type, pa.BaseExtensionType):
        found = field.type.extension_name
    else:
        found = (field.metadata or {}).get(_EXTENSION, b"").decode("utf-8", "backslashreplace")
    return None if not found or found.endswith(_TENSOR) else found


def tensor_names(kind: "pa.DataType") -> "list[str] | None":
    """Return the mode names of tensors, also within lists; None if there are no names."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    kinds = [kind, *[field.type for field in inner_fields(kind)]]
    found = next((own for own in kinds if is_tensor(own)), None)
    if isinstance(found, pa.FixedShapeTensorType):
        return None if found.dim_names is None else list(found.dim_names)
    if found is None:
        return None
    # pyarrow has no class for these types, but checks their metadata.
    said: dict[str, list[str]] = json.loads(arrow_metadata(found).get(b"ARROW:extension:metadata", b"{}"))
    return said.get("dim_names")


def has_null_rows(array: "pa.Array") -> bool:
    """Return True if a list is null, which tensors do not support; O(lists)."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if not pa.types.is_nested(array.type):
        return False
    if array.null_count:
        return True
    return hasattr(array, "flatten") and not pa.types.is_struct(array.type) and has_null_rows(array.flatten())
