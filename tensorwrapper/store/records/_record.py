"""Encode tensors as messages of records, and decode them. Works on buffers only."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final

import numpy as np

from tensorwrapper._json import Json, dump_json
from tensorwrapper._tensor_names import check_name
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, LocalProtocolError, RemoteProtocolError, TensorNameError
from tensorwrapper.shape import Shape
from tensorwrapper.store.records._format import ALIGNMENT, MOST_ROWS, pack_body
from tensorwrapper.store.records._plain_record import pack_plain, rest_of_named
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer
from tensorwrapper.typing import Array
from tensorwrapper.wire import DEFAULT_LIMITS, Limits, Message, decode, decode_frames
from tensorwrapper.wire.lowlevel import (
    WriteOptions,
    Writer,
    describe_records,
    load_label,
    plain_frames,
    read_apart,
)

if TYPE_CHECKING:
    from tensorwrapper.fields import Records

_PLAIN = WriteOptions()
_NO_RECORDS: Final[Mapping[str, "FieldNames"]] = {}
_NO_VIEWS: Final[Mapping[str, int]] = {}

_INDEX = re.compile(r',"record":\{"kind":"index","previous":(null|0|[1-9][0-9]{0,17})\}\}', re.ASCII)

_LONGEST_REST: Final = 128  # characters of a label that this matches

# Limits on the records in an index, well below the default limits of a label.
_MOST_FIELDS: Final = 2**18
_MOST_FIELD_BYTES: Final = 2**23
_FEW_FIELDS: Final = 2**13
MOST_VIEWS: Final = 2**15
"""Limit on the views of a file, so that their names fit in the label of one index."""
_KINDS = ("tensor", "records", "view", "metadata", "index")
_NAMED = ("tensor", "records", "view")  # kinds of records with a name


FieldNames: TypeAlias = tuple[str, ...]


@final
@frozen
class RecordFacts:
    """Fields of a record's label, in addition to those of its message."""

    kind: str
    """Kind: ``tensor``, ``records``, ``view``, ``metadata``, ``index``, or empty for unknown records."""
    name: str = ""
    piece: int = 0
    pieces: int = 1
    previous: int | None = None
    """Start of the record of the previous index, for an index."""
    extends: int | None = None
    """Number of previous rows of the tensor, for an extension."""
    fields: FieldNames = ()
    """Names of the fields, in order, for records."""
    listed: tuple[tuple[str, FieldNames], ...] = ()
    """Names of records, with the names of their fields, for an index."""
    views: tuple[tuple[str, int], ...] = ()
    """Names of views, and the starts of their records, for an index."""


def encode_tensor(
    tensor: object,
    name: str,
    piece: int = 0,
    pieces: int = 1,
    *,
    extends: int | None = None,
    metadata: Mapping[str, object] | None = None,
    options: WriteOptions = _PLAIN,
) -> list[bytes | memoryview]:
    """Return the message of one record of a tensor; contiguous elements are not copied.

    Raises
    ------
    LocalProtocolError
        If the message exceeds the limits in the options.
    """
    is_alone = pieces == 1 and extends is None
    record = {} if is_alone else _described("tensor", name, piece, pieces, extends)
    if metadata is None and options.compress is None and options.limits is DEFAULT_LIMITS:
        rest = rest_of_named(name) if is_alone else f',"record":{dump_json(record)}}}'.encode()
        frames = plain_frames(tensor, rest)
        if frames is not None:
            return pack_plain(frames)
    record = record or _described("tensor", name, piece, pieces, extends)
    writer = Writer(1, options, apart=True)
    writer.add(as_tensor(tensor), 1, metadata)
    return pack_body(writer.frames({"record": record}, limits=options.limits))


def encode_records(
    fields: Mapping[str, Tensor[Any]],
    rank: int,
    name: str,
    piece: int = 0,
    pieces: int = 1,
    *,
    extends: int | None = None,
    options: WriteOptions = _PLAIN,
) -> list[bytes | memoryview]:
    """Return the message of one record of fields that share `rank` modes.

    Raises
    ------
    LocalProtocolError
        If the message exceeds the limits in the options.
    """
    writer = Writer(len(fields), options, apart=True)
    for number, tensor in enumerate(fields.values()):
        if not writer.add_plain(tensor, 2 * number + 1):
            writer.add(tensor, 2 * number + 1, None)
    writer.records.append(describe_records(list(fields), rank))
    record = _described("records", name, piece, pieces, extends)
    return pack_body(writer.frames({"record": record}, limits=options.limits))


def _described(kind: str, name: str, piece: int, pieces: int, extends: int | None) -> dict[str, Json]:
    """Return the description of a record in its label."""
    record: dict[str, Json] = {"kind": kind, "name": name}
    if pieces > 1:
        record |= {"piece": piece, "pieces": pieces}
    if extends is not None:
        record["extends"] = extends
    return record


def check_views(count: int) -> None:
    """Raise if an index with this many views would exceed the limits of readers.

    Raises
    ------
    LocalProtocolError
        If there are too many.
    """
    if count > MOST_VIEWS:
        raise LocalProtocolError("limit", f"a file can have at most {MOST_VIEWS} views")


def check_listed(records: Mapping[str, FieldNames]) -> None:
    """Raise if an index with records of these fields would exceed the limits of readers.

    Raises
    ------
    LocalProtocolError
        If there are too many.
    """
    fields = sum(map(len, records.values()))
    if fields <= _FEW_FIELDS:
        return
    nbytes = len(dump_json({name: list(own) for name, own in records.items()}).encode())
    if fields > _MOST_FIELDS or nbytes > _MOST_FIELD_BYTES:
        raise LocalProtocolError(
            "limit",
            f"the records of a file can have at most {_MOST_FIELDS} fields, with "
            f"{_MOST_FIELD_BYTES} bytes of names, not {fields} fields with {nbytes} bytes",
        )


def read_index(body: bytes) -> tuple[Sequence[Tensor[Any] | Array], RecordFacts] | None:
    """Return the tables and facts of an index in the body of a record; None for other kinds.

    Tables of other writers are tensors, which are read on access.

    Raises
    ------
    RemoteProtocolError, DataFileError
        If the body is not a message, or has impossible facts.
    """
    frames = decode_frames(body)
    found = read_apart(frames, DEFAULT_LIMITS)
    facts = None if found is None else _facts_of_index(found[1])
    if found is not None and facts is not None:
        return found[0], facts
    message = decode(frames)
    facts = read_facts(message.label_object)
    return (message.tensors, facts) if facts.kind == "index" else None


@lru_cache(maxsize=64)
def _facts_of_index(rest: str) -> RecordFacts | None:
    """Return the facts of an index from its label behind the tensors; None if it has other keys."""
    said = _INDEX.fullmatch(rest) if len(rest) < _LONGEST_REST else None
    return said and RecordFacts("index", previous=None if said[1] == "null" else int(said[1]))


def encode_metadata(
    metadata: Mapping[str, object], limits: Limits = DEFAULT_LIMITS
) -> list[bytes | memoryview]:
    """Return the message of a metadata record."""
    writer = Writer(0, apart=True)
    return pack_body(writer.frames({"record": {"kind": "metadata"}}, metadata, limits))


def encode_index(
    table: Array,
    names: Array,
    previous: int | None,
    start: int,
    *,
    hashes: Array | None = None,
    grown: Array | None = None,
    records: Mapping[str, FieldNames] = _NO_RECORDS,
    views: Mapping[str, int] = _NO_VIEWS,
) -> list[bytes | memoryview]:
    """Return the message of an index record at `start`; `names` include those of `records`.

    They exclude `views`, so that readers without support for views can read the rest.
    """
    writer = Writer(3 if grown is None else 4, apart=True, for_all=True)
    writer.add_plain(table, 1)
    writer.add_plain(names, 3)
    if hashes is not None:
        writer.add_plain(hashes, 5)
    if grown is not None:
        writer.add_plain(grown, 7)
    record: dict[str, Json] = {"kind": "index", "previous": previous}
    if records:
        record["records"] = {name: list(fields) for name, fields in records.items()}
    if views:
        record["views"] = dict(views)
    return pack_body(writer.frames({"record": record}), tail_of=start)


def encode_view(
    name: str,
    selection: str,
    sources: Sequence[Json],
    frames: Sequence[bytes],
    tables: Sequence[object],
    metadata: Mapping[str, object] | None,
    limits: Limits = DEFAULT_LIMITS,
) -> list[bytes | memoryview]:
    """Return the message of a view's record: a text, descriptions of its sources, and its tables.

    `frames` have the positions, to which the text refers by number.

    Raises
    ------
    LocalProtocolError
        If the message exceeds these limits.
    """
    tensors = [*[np.frombuffer(frame, "<i8") for frame in frames], *tables]
    writer = Writer(len(tensors), WriteOptions(limits=limits, keep_nullable=True), apart=True)
    for number, tensor in enumerate(tensors):
        if not writer.add_plain(tensor, 2 * number + 1):
            writer.add(as_tensor(tensor), 2 * number + 1, None)
    record: dict[str, Json] = {"kind": "view", "name": name, "sources": list(sources)}
    if frames:
        record["frames"] = len(frames)
    return pack_body(writer.frames({"record": record, "selection": selection}, metadata, limits))


def cut(tensor: Tensor[Any], limit: int) -> Iterable[Tensor[Any]]:
    """Split a tensor into runs of rows of at most `limit` bytes, if possible and necessary.

    A larger row is a separate run. Tiled boxes, strings, sparse and symmetric tensors are not split. Existing
    pieces are kept, so that no element is copied.
    """
    buffer, layout = tensor.buffer, tensor.layout.implementation
    is_small = layout.shape.implementation.size * buffer.dtype.itemsize <= limit
    return (tensor,) if is_small and not buffer.parts else _runs(tensor, limit)


def _runs(tensor: Tensor[Any], limit: int) -> Iterator[Tensor[Any]]:
    buffer, shape = tensor.buffer, tensor.shape
    if _is_uncut(tensor):
        yield tensor
    elif buffer.parts and buffer.size == shape.size and tensor.layout.implementation.is_contiguous:
        begin = 0
        for part in buffer.parts:
            end = _row_after(shape, begin, part.size)
            region = _rows(shape, begin, end)
            if region.size != part.size:
                # Parts of this tensor are not runs of rows.
                yield from _cut_rows(tensor.window(_rows(shape, begin, len(tensor))), limit)
                return
            yield from _cut_rows(from_buffer(part, region), limit)
            begin = end
    else:
        yield from _cut_rows(tensor, limit)


def cut_fields(fields: Mapping[str, Tensor[Any]], limit: int) -> Iterator[Mapping[str, Tensor[Any]]]:
    """Split fields into runs of the same rows, of at most `limit` bytes together, if possible.

    As in `cut`, a larger row is a separate run. If one field cannot be split, none is.
    """
    weights = [(tensor.shape, tensor.dtype.itemsize) for tensor in fields.values()]
    if any(map(_is_uncut, fields.values())) or sum([shape.size * word for shape, word in weights]) <= limit:
        yield fields
        return
    begin, count = 0, len(next(iter(fields.values())))
    while begin < count:
        low, high = begin + 1, count
        while low < high:
            middle = (low + high + 1) // 2
            taken = sum([_rows(shape, begin, middle).size * word for shape, word in weights])
            low, high = (middle, high) if taken <= limit else (low, middle - 1)
        yield {name: own.window(_rows(own.shape, begin, low)) for name, own in fields.items()}
        begin = low


def _is_uncut(tensor: Tensor[Any]) -> bool:
    buffer = tensor.buffer
    if buffer.stores_orbits:
        symmetry = buffer.symmetry_of(tensor.layout.implementation)
        return symmetry is not None and not symmetry.is_trivial
    return buffer.fill_value is not None or buffer.dtype.kind in "TO" or tensor.layout.is_tiled


def _cut_rows(tensor: Tensor[Any], limit: int) -> Iterator[Tensor[Any]]:
    shape, elements = tensor.shape, limit // tensor.dtype.itemsize
    if shape.size <= elements or not shape.rank:
        yield tensor
        return
    begin = 0
    while begin < len(tensor):
        end = max(_row_after(shape, begin, elements), begin + 1)
        yield tensor.window(_rows(shape, begin, end))
        begin = end


def _rows(shape: Shape[Any], begin: int, end: int) -> Shape[Any]:
    first = shape.as_smooth().origin[0]
    return shape[first + begin : first + end]


def _row_after(shape: Shape[Any], begin: int, elements: int) -> int:
    """Return the end of the longest run of rows from `begin` with at most `elements` elements; O(log n)."""
    low, high = begin, shape.as_smooth().extents[0]
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _rows(shape, begin, middle).size <= elements else (low, middle - 1)
    return low


def read_message(body: memoryview, limits: Limits = DEFAULT_LIMITS) -> Message:
    """Return the message in the body of a record; its tensors are views of it."""
    return decode(decode_frames(body, limits=limits), limits=limits)


def read_facts(label: Json) -> RecordFacts:
    """Return the facts of a record from an untrusted label.

    Raises
    ------
    DataFileError
        If the label is invalid; the text completes a sentence about the record.
    """
    record = label.get("record") if isinstance(label, dict) else None
    if not isinstance(record, dict) or record.get("kind") not in _KINDS:
        return RecordFacts("")
    kind, name, fields = cast("str", record["kind"]), "", cast("FieldNames", ())
    if kind in _NAMED:
        name = _name(record.get("name"))
    if kind == "records":
        fields = _fields(label)
    piece, pieces = record.get("piece", 0), record.get("pieces", 1)
    if type(piece) is not int or type(pieces) is not int or not 0 <= piece < pieces < 2**32:
        raise DataFileError(f"is piece {str(piece)[:24]} of {str(pieces)[:24]}")
    previous = record.get("previous")
    if previous is not None and (type(previous) is not int or not 0 <= previous < 2**63):
        raise DataFileError(f"has {str(previous)[:24]} as the position of the previous index")
    extends = record.get("extends")
    if extends is not None and (
        kind not in _NAMED or type(extends) is not int or not 0 <= extends <= MOST_ROWS
    ):
        raise DataFileError(f"extends {kind}s after {str(extends)[:24]} rows")
    if kind == "view" and (pieces > 1 or extends is not None):
        raise DataFileError("is a view, which cannot have pieces or extensions")
    listed = _listed(record.get("records")) if kind == "index" else ()
    views = _views(record.get("views")) if kind == "index" else ()
    return RecordFacts(kind, name, piece, pieces, previous, extends, fields, listed, views)


def check_facts(label: Json, expected: RecordFacts) -> None:
    """Raise unless a record has the expected facts.

    Raises
    ------
    DataFileError
        If it differs.
    """
    facts = read_facts(label)
    if facts != expected:
        raise DataFileError(f"has the facts {facts}, but {expected} was expected")


def expected_message(decoded: Callable[[], Message], expected: RecordFacts) -> Message:
    """Return the message of a record, after comparing it with the expected facts.

    Raises
    ------
    DataFileError
        If the facts differ, or the message is invalid.
    """
    try:
        message = decoded()
        # Also read the tensors, which are validated on first access.
        len(message.tensors)
    except RemoteProtocolError as error:
        raise DataFileError(f"is invalid: {error}") from error
    check_facts(message.label_object, expected)
    return message


def only_tensor(message: Message, field: str = "") -> Tensor[Any]:
    """Return the only tensor of a message, or the field of its only records.

    Raises
    ------
    DataFileError
        If there is not exactly one, or it is invalid.
    """
    if field:
        return cast("Tensor[Any]", only_records(message)[field])
    if len(message.tensors) != 1:
        raise DataFileError(f"has {len(message.tensors)} tensors instead of one")
    try:
        return message.tensors[0]
    except RemoteProtocolError as error:
        raise DataFileError(f"is invalid: {error}") from error


def only_records(message: Message) -> "Records":
    """Return the only records of a message. Raises as `only_tensor`."""
    if len(message.records) != 1:
        raise DataFileError(f"has {len(message.records)} records instead of one")
    try:
        return message.records[0]
    except RemoteProtocolError as error:
        raise DataFileError(f"is invalid: {error}") from error


def _name(given: Json) -> str:
    try:
        return check_name(given)
    except TensorNameError as error:
        raise DataFileError(f"has an invalid name: {error}") from error


def _fields(label: Json) -> FieldNames:
    """Return the field names in the label of a record of records."""
    match label:
        case {"TENS": {"records": [{"fields": [*pairs]}]}}:
            names = [pair[0] if isinstance(pair, list) and pair else None for pair in pairs]
            return _field_names(cast("list[Json]", names))
        case _:
            raise DataFileError("has records without their name")


def _field_names(given: Json) -> FieldNames:
    if not isinstance(given, list) or not given:
        raise DataFileError("has records without fields")
    names = tuple(map(_name, given))
    if len(set(names)) < len(names):
        raise DataFileError("has records with a repeated name")
    return names


def _listed(given: Json) -> tuple[tuple[str, FieldNames], ...]:
    if given is None:
        return ()
    if not isinstance(given, dict):
        raise DataFileError("has a list of records that is not a JSON object")
    return tuple([(_name(name), _field_names(fields)) for name, fields in given.items()])


def _views(given: Json) -> tuple[tuple[str, int], ...]:
    if given is None:
        return ()
    if not isinstance(given, dict):
        raise DataFileError("has a list of views that is not a JSON object")
    starts = list(given.values())
    if not all(type(start) is int and 0 <= start < 2**63 and not start % ALIGNMENT for start in starts):
        raise DataFileError("lists views at positions where no record can start")
    return tuple(zip(map(_name, given), cast("list[int]", starts), strict=True))


def read_label(raw: memoryview, limits: Limits = DEFAULT_LIMITS) -> Json:
    """Return the label in the first frame of a message, which is sufficient for a scan.

    Raises
    ------
    RemoteProtocolError
        If it is not valid JSON within the limits.
    """
    try:
        text = str(raw[8:], "utf-8")
    except UnicodeDecodeError as error:
        raise RemoteProtocolError("header", f"the label is not UTF-8: {error.reason}") from error
    return load_label(text, limits) if text else None
