"""Records in a file: patterns of their fields, which grow by the same number of rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self, cast, final

from tensorwrapper._error_text import shortened
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    ExtentMismatchError,
    RankError,
    TensorNameError,
    TensorWrapperError,
)
from tensorwrapper.fields import Records, records
from tensorwrapper.selection import concat
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import names_of
from tensorwrapper.store.append._appended_tensor import grown_view
from tensorwrapper.store.append._check_append import Pattern, is_box
from tensorwrapper.store.records._index_rows import Place, Row, furthest
from tensorwrapper.store.records._reader import RecordReader
from tensorwrapper.store.records._record import FieldNames
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor


def records_over(fields: Mapping[str, Any], rank: int) -> Records:
    """Return records of fields that share `rank` modes.

    Raises
    ------
    ExtentMismatchError
        If the rows of fields differ.
    """
    whole = next(field for field in fields.values() if field.rank >= rank)
    return records(fields, shape=whole.shape if whole.rank == rank else whole.shape.leading(rank))


def read_fields(given: object, name: str) -> Records:
    """Return the first rows of records from `Records` or a mapping of fields.

    Raises
    ------
    ConversionError
        If it is neither.
    RankError
        If it has no rows.
    """
    if not isinstance(given, Records):
        if not isinstance(given, Mapping):
            raise _no_mapping(name, given)
        given = records(cast("Mapping[str, Any]", given))
    single = next((field for field, own in given.items() if not own.rank), None)
    if single is not None:
        raise RankError(
            f"fields in a file need rows, but {single!r} of {name!r} is a single element; use "
            f"e[:1] of the records e"
        )
    return given.compute()


def _no_mapping(name: str, given: object) -> ConversionError:
    return ConversionError(
        f"{name!r} has records; extend it by a mapping of all fields, not by a {type(given).__name__}"
    )


def rows_of_records(reader: RecordReader, rows: Sequence[Row], fields: FieldNames) -> Records:
    """Return the rows in the records of one extension, or of the original.

    Raises
    ------
    DataFileError
        As `RecordReader.rows`.
    """
    whole = _first(reader, rows[0], fields)
    if len(rows) == 1:
        return whole
    found = {name: reader.of_field(rows[-1][1], fields, name).rows(rows) for name in fields}
    return records_over(found, whole.rank)


def records_in_file(
    reader: RecordReader, name: str, places: tuple[Place, ...], grown: Sequence[Row], fields: FieldNames
) -> Records:
    """Return all rows of records; fields of extended records are views.

    Raises
    ------
    DataFileError
        If the file records do not match.
    """
    begun = [(name, place, piece, len(places), None) for piece, place in enumerate(places)]
    if not grown:
        return rows_of_records(reader, begun, fields)
    last = furthest(places, grown)
    views = {own: grown_view(reader.of_field(last, fields, own), places, grown) for own in fields}
    try:
        return records_over(views, _first(reader, begun[0], fields).rank)
    except TensorWrapperError as error:
        raise DataFileError(f"{reader.path}: {name!r} has records that do not fit: {error}") from error


def parts_of_records(
    reader: RecordReader, name: str, places: tuple[Place, ...], grown: Sequence[Row], fields: FieldNames
) -> Iterator[Records]:
    """Yield the original records, and each of their extensions.

    Raises
    ------
    DataFileError
        As `rows_of_records`.
    """
    yield records_in_file(reader, name, places, (), fields)
    for row in grown:
        yield _first(reader, row, fields)


def joined(parts: Sequence[Records]) -> Records:
    """Return the concatenated rows of records with the same fields, in memory."""
    if len(parts) == 1:
        return parts[0]
    fields = {name: concat([own[name] for own in parts]).compute() for name in parts[0].names}
    return records_over(fields, parts[0].rank)


def _first(reader: RecordReader, row: Row, fields: FieldNames) -> Records:
    return reader.of_field(row[1], fields, fields[0]).records(row)


@final
@frozen(eq=False)
class FieldPatterns:
    """Patterns of the fields of records in a file, which every file record follows."""

    name: str
    rank: int
    """Number of modes that the fields share."""
    patterns: Mapping[str, Pattern]

    @classmethod
    def of(cls, given: Records, name: str) -> Self:
        """Return the patterns of the records with this name."""
        patterns = {
            field: Pattern.of(tensor, f"{name}.{field}")
            for field, tensor in cast("Mapping[str, Tensor[Any]]", dict(given.items())).items()
        }
        return cls(name, given.shape.rank, patterns)

    def fitted(self, given: object) -> Records | None:
        """Return the rows in the order of these fields; None for empty lists.

        Raises
        ------
        TensorNameError
            If the names differ from those of the fields.
        ExtentMismatchError
            If the rows of the fields differ.
        ConversionError
            If `given` has an unsupported type.
        """
        if isinstance(given, Records):
            given = dict(given.items())
        if not isinstance(given, Mapping):
            raise _no_mapping(self.name, given)
        fields = cast("Mapping[str, object]", given)
        missing = [field for field in self.patterns if field not in fields]
        if missing or len(fields) > len(self.patterns):
            more = [str(field) for field in fields if field not in self.patterns]
            raise TensorNameError(
                f"{self.name!r} has the fields {shortened(', '.join(self.patterns))}"
                + (f"; {missing[0]!r} is missing" if missing else f", not {more[0]!r}")
            )
        fitted = {field: pattern.fitted(fields[field]) for field, pattern in self.patterns.items()}
        found = {field: tensor for field, tensor in fitted.items() if tensor is not None}
        if len(found) < len(fitted):
            # An empty list does not determine the kind of rows.
            full = next((field for field, tensor in found.items() if len(tensor)), None)
            if full is None:
                return None
            none = next(field for field in fitted if field not in found)
            raise ExtentMismatchError(
                f"the field {none!r} has no rows, but the field {full!r} has {len(found[full])}"
            )
        return records_over(
            {field: self._as_first_rows(field, tensor) for field, tensor in found.items()}, self.rank
        )

    def _as_first_rows(self, field: str, tensor: Tensor[Any]) -> Tensor[Any]:
        """Return uniform rows as jagged rows if the field was started so, as other fields share them."""
        shape = tensor.shape
        if self.patterns[field].is_box or not is_box(shape):
            return tensor
        rows: Shape[Any] = shape.flatten().as_jagged()
        if shape.has_layers:
            rows = Shape.nested(rows, layers=shape.layers)
        names = names_of(shape)
        layout = packed_layout(rows if names is None else rows.named(*names))
        return make_tensor(layout, tensor.buffer.pack(tensor.layout.implementation))
