"""A `.tens` file read by byte ranges, as a mapping from names to tensors."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from tensorwrapper.errors import DataFileError, TensorWrapperError
from tensorwrapper.shape import Shape
from tensorwrapper.store.fetched._records import FetchedRecords, RowsInFile
from tensorwrapper.store.formats._contents import Contents, Held, Opening
from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.store.records._directory import Directory
from tensorwrapper.store.records._entry import number_of, packing_of
from tensorwrapper.store.records._format import HEADER_BYTES
from tensorwrapper.store.records._index import load_directory
from tensorwrapper.store.records._index_rows import Row
from tensorwrapper.store.records._lazy_metadata import LazyMetadata
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.records._record import FieldNames, RecordFacts
from tensorwrapper.store.records._taking import rows_in_bounds, take_rows
from tensorwrapper.tensor import Tensor, from_buffer
from tensorwrapper.typing import IntArray

if TYPE_CHECKING:
    from tensorwrapper.selection import View


def fetched_tens(ranges: Ranges, how: Opening) -> Contents:
    """Return the contents of a `.tens` file; fetches its index.

    Raises
    ------
    DataFileError
        If the file has another format, or its index is inconsistent.
    """
    try:
        directory = load_directory(ranges.read_at, ranges.size)
    except DataFileError as error:
        raise DataFileError(f"{ranges.name} {error}") from error
    records = FetchedRecords(ranges, how.limits)
    # Paths of sources are relative to the folder of the file, which does not exist here.
    views, directory.views = directory.views, {}
    lost = [
        Loss(f"the stored view {name!r}, whose sources are found from the path of a file", name, "link")
        for name in views
    ]
    return Contents(
        _Tensors(records, directory),
        LazyMetadata(partial(_metadata, records, directory)),
        (*directory.losses(), *lost),
        stored={name: directory.records[name] for name in directory.names if name in directory.records},
    )


def _metadata(records: FetchedRecords, directory: Directory) -> dict[str, Any]:
    place = directory.metadata
    return {} if place is None else dict(records.message(place, RecordFacts("metadata")).metadata)


@final
class _Tensors(Mapping[str, Held]):
    """The tensors of a file by name; each lookup reads the directory."""

    def __init__(self, records: FetchedRecords, directory: Directory) -> None:
        self._records, self._directory = records, directory

    def __getitem__(self, name: str) -> Held:
        lying = self._find(name)
        if lying is None:
            raise KeyError(name)
        rows = lying.rows
        return Held(
            rows[0][1].start,
            None if lying.field else sum([HEADER_BYTES + row[1].length for row in rows]),
            lying.packing,
            lying.read,
            LazyMetadata(lying.metadata),
            pieces=len(rows),
            take=lying.take,
        )

    def _find(self, name: object) -> "TensorRecords | None":
        if not isinstance(name, str):
            return None
        directory, owner, field = self._directory, name, ""
        places = directory.places(name)
        if places is None or name in directory.records:
            owner, field = (directory.field_of(name) if places is None else None) or ("", "")
            places = directory.places(owner) if owner else None
        if places is None:
            return None
        begun: list[Row] = [(owner, place, k, len(places), None) for k, place in enumerate(places)]
        rows = [*begun, *directory.extensions.get(owner, ())]
        return TensorRecords(self._records, rows, directory.records.get(owner, ()) if field else (), field)

    def __iter__(self) -> Iterator[str]:
        return iter(self._directory.listed())

    def __len__(self) -> int:
        return len(self._directory.listed())

    def __contains__(self, name: object) -> bool:
        return self._find(name) is not None


@final
class TensorRecords:
    """The records of one tensor, or of one field."""

    def __init__(self, records: FetchedRecords, rows: list[Row], fields: FieldNames, field: str) -> None:
        self.records, self.rows, self.fields, self.field = records, rows, fields, field

    def _message(self) -> Any:  # noqa: ANN401 - a message
        return self.records.part(self.rows[0], self.fields, self.field).message

    def packing(self) -> str:
        """Return how the elements of the first record are stored."""
        return packing_of(self._message(), self.field)

    def metadata(self) -> dict[str, Any]:
        """Return the metadata of the tensor."""
        message = self._message()
        return dict(message.tensor_metadata[number_of(message, self.field)] or {})

    def read(self) -> "Tensor[Any] | View[Any]":
        """Return the tensor as a view of all its records."""
        self.records.prepare([row[1] for row in self.rows])
        parts = [self.records.view(row, self.fields, self.field) for row in self.rows]
        if len(parts) == 1:
            return parts[0]
        from tensorwrapper.selection import as_view, concat  # noqa: PLC0415 - a room above

        try:
            return concat([as_view(part) for part in parts])
        except TensorWrapperError as error:
            text = f"{self.records.ranges.name}: {self.rows[0][0]!r} has records that do not fit: {error}"
            raise DataFileError(text) from error

    def take(self, indices: IntArray) -> Tensor[Any]:
        """Return rows of the tensor."""
        found = self.take_by_splits(indices)
        return take_rows(self.read(), indices) if found is None else found

    def take_by_splits(self, indices: IntArray) -> Tensor[Any] | None:
        """Return rows of numbers in one record; fetches only two splits per row.

        Return None for other kinds of tensors.
        """
        rows = None if len(self.rows) > 1 else self.records.rows(self.rows[0], self.fields, self.field)
        return None if rows is None else self._taken(indices, rows)

    def _taken(self, indices: IntArray, rows: RowsInFile) -> Tensor[Any]:
        ranges, dtype, n_rows, place = self.records.ranges, rows.dtype, rows.count, rows.splits
        wanted, back = np.unique(rows_in_bounds(indices, n_rows), return_inverse=True)
        pairs = ranges.read_kept([(place + 8 * row, place + 8 * row + 16) for row in wanted.tolist()])
        bounds = np.frombuffer(b"".join(pairs), "<i8").reshape(-1, 2)
        if len(bounds) and ((bounds < 0) | (bounds > rows.nbytes // dtype.itemsize)).any():
            raise DataFileError(f"{ranges.name}: {self.rows[0][0]!r} has rows that exceed its elements")
        lengths = bounds[:, 1] - bounds[:, 0]
        if (lengths < 0).any():
            raise DataFileError(f"{ranges.name}: {self.rows[0][0]!r} has rows that end before they begin")
        spans = rows.elements + dtype.itemsize * bounds
        found = ranges.read([(start, stop) for start, stop in spans.tolist()])
        parts: list[bytes] = [found[own] for own in back.tolist()]
        splits = np.zeros(len(parts) + 1, dtype=np.int64)
        np.cumsum(lengths[back], out=splits[1:])
        return from_buffer(np.frombuffer(b"".join(parts), dtype), Shape.from_offsets(splits, copy=False))
