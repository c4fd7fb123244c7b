"""What a table has: which of its columns are tensors, and what is said of them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import parse_json
from tensorwrapper.errors import ConversionError, DataFileError, TensorWrapperError
from tensorwrapper.store.foreign._contents import Contents, Held
from tensorwrapper.store.foreign._lying import metadata_said, names_said, names_told, origin_said, placed
from tensorwrapper.store.foreign.columns._arrow_types import (
    added_type,
    empty_array,
    has_null_rows,
    inner_fields,
    is_null_type,
    plain_array,
    plain_type,
    tensor_names,
)
from tensorwrapper.store.records._loss import Loss, LossCode
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import NullRows
from tensorwrapper.wire import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    import pyarrow as pa

    from tensorwrapper.selection import View

__all__ = ["KEY", "check_bytes", "contents_of", "tensor_of"]

KEY: Final = b"tensorwrapper"
"""Under which the metadata of a table, and of each column, say what Arrow has no words for: JSON."""
_JSON_BYTES: Final = 2**20


def contents_of(
    schema: "pa.Schema",
    column: "Callable[[int, pa.Field, Tensor[Any]], Tensor[Any] | View[Any]]",
    packing: str,
    refused: Mapping[str, Loss] | None = None,
) -> Contents:
    """Return what a table has, given what reads a column, and of some columns why they are none."""
    held: dict[str, Held] = {}
    losses: list[Loss] = []
    counts: Counter[str] = Counter(schema.names)
    for number, field in enumerate(schema):
        name = field.name
        if counts[name] > 1:
            text = f"the column {number} has the name {name!r}, as others have"
            losses.append(Loss(text, name, "name", "pyarrow reads columns by number"))
            continue
        if refused and name in refused:
            losses.append(refused[name])
            continue
        if is_null_type(field.type):
            text = f"the column {name!r} has nulls alone, {str(field.type)[:80]}"
            losses.append(Loss(text, name, "null", "table[name].cast(...) of pyarrow gives them a type"))
            continue
        try:
            empty = _empty(field.type)
            said = _said(field.metadata)
        except Exception as error:  # noqa: BLE001 - what pyarrow raises for types of others is in no list
            losses.append(Loss(f"the column {name!r} has {str(field.type)[:80]}, {error}", name, "type"))
            continue
        told = ["all of it"] if said is None else _untaken(said, empty.shape.rank)
        said = said or {}
        if told:
            text = f"what the column {name!r} says of itself cannot be taken: {', '.join(told)}"
            losses.append(Loss(text, name, "convention"))
        names = tensor_names(field.type)
        left = None if names is None else names_told(name, names, len(names))
        losses += [] if left is None else [left]
        read = partial(_placed, partial(column, number, field, empty), said)
        held[field.name] = Held(0, None, packing, read, metadata_said(said.get("metadata")))
    found = {"": _others(schema.metadata), **{field.name: _others_of(field) for field in schema}}
    others = {name: own for name, own in found.items() if own}
    whole = _said(schema.metadata)
    if whole is None:
        losses.append(Loss("what the file says of itself is no object in JSON", "", "convention"))
    return Contents(
        held,
        whole or {},
        tuple(losses),
        attributes=lambda: others,
        unsaid=lambda: tuple(_types_of_others([field for field in schema if field.name in held])),
    )


def _types_of_others(fields: "list[pa.Field]") -> Iterator[Loss]:
    """Yield a loss for each type that a library adds to those of Arrow: its storage is read."""
    for field in fields:
        for own in (field, *inner_fields(field.type)):
            said = added_type(own)
            if said is not None:
                yield Loss(f"the type {said[:80]!r} of {field.name!r}", field.name, "kind")


def _untaken(said: Mapping[str, Any], rank: int) -> list[str]:
    """Return the keys of a column whose values say nothing that a tensor of this rank can be."""
    names = names_said(said.get("dimension_names"), rank)
    given = said.get("dimension_names")
    checks = {
        "metadata": isinstance(said.get("metadata"), dict),
        "index_origin": origin_said(said.get("index_origin"), rank) is not None,
        "dimension_names": names is not None and list(names) == given,
    }
    return [key for key, is_taken in checks.items() if key in said and not is_taken]


def _others_of(field: "pa.Field") -> list[str]:
    """Return the unread metadata of a column, and of the fields within it."""
    inner = [f"{own.name}.{key}" for own in inner_fields(field.type) for key in _others(own.metadata)]
    return [*_others(field.metadata), *inner]


def _others(metadata: "Mapping[bytes, bytes] | None") -> list[str]:
    """Return what is said of a table or a column, and is not read here."""
    keys = [key for key in metadata or {} if key != KEY and not key.startswith((b"ARROW:", b"PARQUET:"))]
    return [key.decode("utf-8", "backslashreplace") for key in keys]


def _empty(kind: "pa.DataType") -> Tensor[Any]:
    """Return a tensor of the elements of a column, and of none of them."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    kind = plain_type(kind)
    inner: Any = kind
    while isinstance(getattr(inner, "value_type", None), pa.DataType) and not pa.types.is_dictionary(inner):
        inner = inner.value_type
    if pa.types.is_struct(inner):
        # NumPy would make objects of it.
        raise ConversionError("each of its fields is a tensor: tw.records of the table of pyarrow has them")
    return as_tensor(empty_array(kind))


def tensor_of(array: "pa.Array | pa.ChunkedArray", path: Path, name: str, null_rows: NullRows) -> Tensor[Any]:
    """Return a column, or a part of one, as a tensor.

    Raises
    ------
    DataFileError
        If there are null rows, and they are refused; if tensors cannot hold the column.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    parts = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    try:
        if isinstance(array, pa.ChunkedArray):
            kind = plain_type(array.type)
            array = pa.chunked_array([plain_array(part) for part in parts], kind).combine_chunks()
        return as_tensor(plain_array(array), null_rows=null_rows)
    except TensorWrapperError as error:
        code: LossCode = "null" if any(map(has_null_rows, parts)) else "type"
        raise DataFileError(Loss(f"{path}: {name!r} cannot be read: {error}", name, code)) from error


def _said(metadata: "Mapping[bytes, bytes] | None") -> Mapping[str, Any] | None:
    """Return what we wrote of a table or a column; None if it is nothing of ours, under our name."""
    if not metadata or KEY not in metadata:
        return {}
    try:
        found = parse_json(
            metadata[KEY],
            "what is said of a column",
            depth=DEFAULT_LIMITS.depth,
            digits=MAX_DIGITS,
            max_bytes=_JSON_BYTES,
        )
    except TensorWrapperError:
        return None
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else None


def _placed(read: "Callable[[], Tensor[Any] | View[Any]]", said: Mapping[str, Any]) -> object:
    """Return a column with the names and the origin that are said of it."""
    return placed(read(), said.get("dimension_names"), said.get("index_origin"))


def check_bytes(nbytes: int, name: str, limits: Limits) -> None:
    """Raise if a column takes more memory than a reader allows."""
    if nbytes > limits.decompressed_bytes:
        raise DataFileError(
            f"{name!r} takes {nbytes} bytes in memory; {limits.decompressed_bytes} are allowed; "
            "limits=Limits(decompressed_bytes=...) raises that"
        )
