"""Strings handed out as Arrow arrays, by pyarrow.

Releasing an exported array must run code at any time. Python code, called through ctypes, cannot do that:
while an exception is on its way up it fails, and pyarrow then ends the process. So the capsules are made by
pyarrow, which is compiled, over memory that is not copied.
"""

from typing import TYPE_CHECKING

from tensorwrapper.buffer.strings._bitmap import Bytes
from tensorwrapper.errors import ConversionError
from tensorwrapper.typing import IntArray, StringKind

if TYPE_CHECKING:
    import pyarrow as pa


def export_schema(kind: StringKind) -> object:
    """Return the capsule of the Arrow type of these elements.

    Raises
    ------
    ModuleNotFoundError
        If pyarrow is not installed.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    return (pa.large_string() if kind == "utf8" else pa.large_binary()).__arrow_c_schema__()


def export_array(
    kind: StringKind,
    null_count: int,
    bitmap: Bytes | None,
    offsets: IntArray,
    data: Bytes,
    requested_schema: object,
) -> tuple[object, object]:
    """Return the capsules of schema and array over these buffers, which are kept alive and not copied.

    Raises
    ------
    ModuleNotFoundError
        If pyarrow is not installed.
    ConversionError
        If the elements cannot be cast to the type that the schema asks for.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    buffers = [None if buffer is None else pa.py_buffer(buffer) for buffer in (bitmap, offsets, data)]
    form = pa.large_string() if kind == "utf8" else pa.large_binary()
    array = pa.Array.from_buffers(form, len(offsets) - 1, buffers, null_count)
    if requested_schema is None:
        return array.__arrow_c_array__()
    wanted = pa.DataType._import_from_c_capsule(requested_schema)
    try:
        return without_gaps(array.cast(wanted)).__arrow_c_array__()
    except (ValueError, TypeError, RuntimeError) as error:
        raise ConversionError(f"the elements cannot be handed out as another Arrow type: {error}") from error


def _lacks_texts(buffers: "list[pa.Buffer | None]") -> bool:
    return len(buffers) == 1 and buffers[0] is None


def without_gaps(array: "pa.Array") -> "pa.Array":
    """Return an array of which no buffer is missing: before 25, pyarrow ends the process over short text."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    buffers = array.buffers()
    if str(array.type) not in ("string_view", "binary_view") or not _lacks_texts(buffers[2:]):
        return array
    return pa.Array.from_buffers(array.type, len(array), buffers[:2])
