"""Contents of a table: columns as tensors, and their metadata."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import parse_json
from tensorwrapper.errors import ConversionError, DataFileError, TensorWrapperError
from tensorwrapper.store.formats._contents import Contents, Held
from tensorwrapper.store.formats._names import FreeNames
from tensorwrapper.store.formats._origin_attributes import (
    metadata_said,
    names_said,
    names_told,
    origin_said,
    placed,
)
from tensorwrapper.store.formats.columns._arrow_types import (
    added_type,
    empty_array,
    has_null_rows,
    inner_fields,
    is_null_type,
    list_of,
    plain_array,
    plain_type,
    tensor_names,
)
from tensorwrapper.store.formats.columns._leaves import Column, leaves_of
from tensorwrapper.store.records._loss import Loss, LossCode
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import NullRows
from tensorwrapper.wire import DEFAULT_LIMITS

if TYPE_CHECKING:
    import pyarrow as pa

    from tensorwrapper.selection import View

KEY: Final = b"tensorwrapper"
"""Metadata key of a table, and of each column, for JSON with facts that Arrow cannot represent."""
_JSON_BYTES: Final = 2**20


def contents_of(
    schema: "pa.Schema",
    column: "Callable[[Column, Tensor[Any]], Tensor[Any] | View[Any]]",
    packing: str,
    refused: Callable[[Column], Loss | None] | None = None,
) -> Contents:
    """Return the contents of a table; `column` reads a column, `refused` returns why one is not read."""
    held: dict[str, Held] = {}
    losses: list[Loss] = []
    empties: dict[pa.DataType, Tensor[Any]] = {}
    read_of: set[str] = set()
    for own in _columns(schema, losses):
        loss = refused(own) if refused else None
        found = loss or _tensor_or_loss(own, empties)
        if isinstance(found, Loss):
            losses.append(found)
            continue
        empty, said = found
        read_of.add(own.field.name)
        told = ["all of it"] if said is None else _untaken(said, empty.shape.rank)
        said = said or {}
        if told:
            text = f"what the column {own.name!r} says of itself cannot be taken: {', '.join(told)}"
            losses.append(Loss(text, own.name, "convention"))
        names = tensor_names(own.leaf.kind)
        left = None if names is None else names_told(own.name, names, len(names))
        losses += [] if left is None else [left]
        read = partial(_placed, partial(column, own, empty), said)
        held[own.name] = Held(0, None, packing, read, metadata_said(said.get("metadata")))
    others = {name: own for name, own in _others_in(schema).items() if own}
    whole = _own_metadata(schema.metadata)
    if whole is None:
        losses.append(Loss("the metadata of the file are not a JSON object", "", "convention"))
    return Contents(
        held,
        whole or {},
        tuple(losses),
        attributes=lambda: others,
        unsaid=lambda: tuple(_types_of_others([own for own in schema if own.name in read_of])),
    )


def _columns(schema: "pa.Schema", losses: list[Loss]) -> Iterator[Column]:
    """Yield the columns of a table; structs are replaced by their fields."""
    counts: Counter[str] = Counter(schema.names)
    free = FreeNames(schema.names)
    for number, field in enumerate(schema):
        name = field.name
        if counts[name] > 1:
            text = f"the column {number} has the name {name!r}, as others have"
            losses.append(Loss(text, name, "name", "pyarrow reads columns by number"))
            continue
        for leaf in leaves_of(field.type):
            if leaf.is_all:
                yield Column(number, field, leaf, name)
                continue
            full = ".".join([name, *leaf.names])
            taken = free.claim(full)
            if taken != full:
                text = f"the field {full!r} is called {taken!r}, as its name is taken"
                losses.append(Loss(text, full, "name"))
            yield Column(number, field, leaf, taken)


def _tensor_or_loss(
    own: Column, empties: "dict[pa.DataType, Tensor[Any]]"
) -> tuple[Tensor[Any], Mapping[str, Any] | None] | Loss:
    """Return an empty tensor of a column with this library's metadata; a loss if it is not a tensor."""
    kind, what = own.leaf.kind, f"the {'column' if own.leaf.is_all else 'field'} {own.name!r}"
    if is_null_type(kind):
        text = f"{what} has nulls alone, {str(kind)[:80]}"
        return Loss(text, own.name, "null", "table[name].cast(...) of pyarrow gives them a type")
    try:
        if kind not in empties:
            empties[kind] = _empty(kind)
        return empties[kind], _own_metadata(own.field.metadata) if own.leaf.is_all else {}
    except Exception as error:  # noqa: BLE001 - what pyarrow raises for types of others is in no list
        return Loss(f"{what} has {str(kind)[:80]}, {error}", own.name, "type")


def _others_in(schema: "pa.Schema") -> dict[str, list[str]]:
    return {"": _others(schema.metadata), **{field.name: _others_of(field) for field in schema}}


def _types_of_others(fields: "list[pa.Field]") -> Iterator[Loss]:
    """Yield a loss for each extension type, of which only the storage is read."""
    for field in fields:
        for own in (field, *inner_fields(field.type)):
            said = added_type(own)
            if said is not None:
                yield Loss(f"the type {said[:80]!r} of {field.name!r}", field.name, "kind")


def _untaken(said: Mapping[str, Any], rank: int) -> list[str]:
    """Return the metadata keys of a column whose values are invalid for a tensor of this rank."""
    names = names_said(said.get("dimension_names"), rank)
    given = said.get("dimension_names")
    checks = {
        "metadata": isinstance(said.get("metadata"), dict),
        "index_origin": origin_said(said.get("index_origin"), rank) is not None,
        "dimension_names": names is not None and list(names) == given,
    }
    return [key for key, is_taken in checks.items() if key in said and not is_taken]


def _others_of(field: "pa.Field") -> list[str]:
    """Return the ignored metadata keys of a column, and of its nested fields."""
    inner = [f"{own.name}.{key}" for own in inner_fields(field.type) for key in _others(own.metadata)]
    return [*_others(field.metadata), *inner]


def _others(metadata: "Mapping[bytes, bytes] | None") -> list[str]:
    """Return the metadata keys of a table or a column that this library ignores."""
    keys = [key for key in metadata or {} if key != KEY and not key.startswith((b"ARROW:", b"PARQUET:"))]
    return [key.decode("utf-8", "backslashreplace") for key in keys]


def _empty(kind: "pa.DataType") -> Tensor[Any]:
    """Return an empty tensor with the element type of a column."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    inner: Any = kind
    while list_of(inner) is not None:
        inner = inner.value_type
    if pa.types.is_struct(inner):
        # NumPy would convert it to objects.
        raise ConversionError("which has no fields")
    return as_tensor(empty_array(kind))


def tensor_of(
    array: "pa.Array | pa.ChunkedArray", path: Path | str, name: str, null_rows: NullRows
) -> Tensor[Any]:
    """Return a column without structs, or a part of it, as a tensor.

    Raises
    ------
    DataFileError
        If there are null rows that are not allowed, or if a tensor cannot represent the column.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    parts = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    try:
        if isinstance(array, pa.ChunkedArray):
            kind = plain_type(array.type)
            plain = [plain_array(part) for part in parts]
            # Of one part, too, pyarrow would make a copy.
            array = plain[0] if len(plain) == 1 else pa.chunked_array(plain, kind).combine_chunks()
        return as_tensor(plain_array(array), null_rows=null_rows)
    except TensorWrapperError as error:
        code: LossCode = "convention" if isinstance(array.type, pa.BaseExtensionType) else "type"
        code = "null" if any(map(has_null_rows, parts)) else code
        raise DataFileError(Loss(f"{path}: {name!r} cannot be read: {error}", name, code)) from error


def _own_metadata(metadata: "Mapping[bytes, bytes] | None") -> Mapping[str, Any] | None:
    """Return this library's metadata of a table or a column; None if its key has a foreign value."""
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
    """Return a column with the mode names and the origin from its metadata."""
    return placed(read(), said.get("dimension_names"), said.get("index_origin"))
