"""What a table has: which of its columns are tensors, and what is said of them."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import parse_json
from tensorwrapper.errors import ConversionError, DataFileError, TensorWrapperError
from tensorwrapper.store.foreign._contents import Contents, Held
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.wire import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    import pyarrow as pa

    from tensorwrapper.selection import View

__all__ = ["KEY", "check_bytes", "contents_of"]

KEY: Final = b"tensorwrapper"
"""Under which the metadata of a table, and of each column, say what Arrow has no words for: JSON."""
_JSON_BYTES: Final = 2**20


def contents_of(
    schema: "pa.Schema",
    column: "Callable[[int, pa.Field, Tensor[Any]], Tensor[Any] | View[Any]]",
    packing: str,
) -> Contents:
    """Return what a table has, given what reads a column."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    held: dict[str, Held] = {}
    losses: list[str] = []
    for number, field in enumerate(schema):
        try:
            if pa.types.is_struct(field.type):
                # NumPy would make objects of it.
                raise ConversionError("fields are columns of their own: flatten() of a table of pyarrow")
            empty = as_tensor(pa.array([], field.type))
            said = _said(field.metadata)
        except (TensorWrapperError, pa.ArrowException) as error:
            losses.append(f"the column {field.name!r} has {str(field.type)[:80]}: {error}")
            continue
        if field.name in held:
            raise DataFileError(f"there are two columns {field.name!r}")
        read = partial(_placed, partial(column, number, field, empty), said)
        held[field.name] = Held(0, None, packing, read, cast("Mapping[str, Any]", said.get("metadata", {})))
    return Contents(held, _said(schema.metadata), tuple(losses))


def _said(metadata: "Mapping[bytes, bytes] | None") -> Mapping[str, Any]:
    """Return what we wrote of a table or a column."""
    if not metadata or KEY not in metadata:
        return {}
    text = metadata[KEY]
    found = parse_json(
        text, "what is said of a column", depth=DEFAULT_LIMITS.depth, digits=MAX_DIGITS, max_bytes=_JSON_BYTES
    )
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}


def _placed(read: "Callable[[], Tensor[Any] | View[Any]]", said: Mapping[str, Any]) -> object:
    """Return a column with the names and the origin that are said of it."""
    found = read()
    names = said.get("dimension_names")
    if isinstance(names, list):
        found = found.named(*cast("list[str | None]", names))
    origin = said.get("index_origin")
    if isinstance(origin, list) and all(type(first) is int for first in cast("list[object]", origin)):
        found = found.translate_to(cast("list[int]", origin))
    return found


def check_bytes(nbytes: int, name: str, limits: Limits) -> None:
    """Raise if a column takes more memory than a reader allows."""
    if nbytes > limits.decompressed_bytes:
        raise DataFileError(
            f"{name!r} takes {nbytes} bytes in memory; {limits.decompressed_bytes} are allowed; "
            "limits=Limits(decompressed_bytes=...) raises that"
        )
