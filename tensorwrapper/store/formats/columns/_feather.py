"""Read Feather files and Arrow streams: columns are tensors over the mapped file, with a part per batch."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast, final

from tensorwrapper._value_class import frozen
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats._contents import Contents, Opening
from tensorwrapper.store.formats._file_location import Where, name_of, reading_at
from tensorwrapper.store.formats.columns._blocks import file_of_parts
from tensorwrapper.store.formats.columns._leaves import Column, leaf_array
from tensorwrapper.store.formats.columns._table import contents_of, tensor_of
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import NullRows
from tensorwrapper.wire import Limits

if TYPE_CHECKING:
    import pyarrow as pa

    from tensorwrapper.selection import View

_STREAM: Final = b"\xff\xff\xff\xff"
"""Beginning of a stream: a message with its length, without magic bytes."""


def open_feather(where: Where, how: Opening) -> Contents:
    """Return the contents of a Feather file (version 2, the Arrow IPC format); reads its footer.

    Null lists raise or read as empty rows, as `how` determines.

    Raises
    ------
    DataFileError
        If the file is missing or damaged.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    with reading_at(where, "Feather"):
        memory = (
            pa.memory_map(str(where))
            if isinstance(where, Path)
            else pa.PythonFile(cast("BinaryIO", where.file_for_libraries()), mode="r")
        )
        is_stream = memory.read(4) == _STREAM
        memory.seek(0)
        batches = _Batches(where, memory, how.limits, is_stream, how.null_rows)
        with (pa.ipc.open_stream if is_stream else pa.ipc.open_file)(memory) as file:
            return contents_of(file.schema, batches.column, "batches")


@final
@frozen(eq=False)
class _Batches:
    """Columns of a Feather file or a stream, with a part in each batch."""

    where: Where
    memory: "pa.MemoryMappedFile | pa.PythonFile"
    limits: Limits
    is_stream: bool
    null_rows: NullRows

    @property
    def path(self) -> Path | str:
        """Name of the file for errors."""
        return name_of(self.where)

    def _batches(
        self, memory: "pa.MemoryMappedFile | pa.PythonFile", fields: list[int] | None
    ) -> "Iterator[pa.RecordBatch]":
        """Yield all batches, with only the given columns."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        options = pa.ipc.IpcReadOptions() if fields is None else pa.ipc.IpcReadOptions(included_fields=fields)
        memory.seek(0)
        if self.is_stream:
            with pa.ipc.open_stream(memory, options=options) as stream:
                yield from stream
            return
        with pa.ipc.open_file(memory, options=options) as file:
            yield from map(file.get_batch, range(file.num_record_batches))

    def _memory_of(self, own: Column) -> "pa.MemoryMappedFile | pa.PythonFile":
        """Return the file. For byte ranges, all parts of a column have been fetched."""
        if isinstance(self.where, Path) or self.is_stream:
            return self.memory
        read = partial(self._batches, fields=[own.number])
        return file_of_parts(self.where, read, own.name, self.limits)

    def column(self, own: Column, empty: Tensor[Any]) -> "Tensor[Any] | View[Any]":
        """Return a column as a tensor over the mapped file, or a view of several such tensors."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        parts: list[Tensor[Any]] = []
        arrays: list[pa.Array] = []
        nbytes = 0
        packed = self._is_packed()
        for batch in self._batches(self._memory_of(own), [own.number] if packed else None):
            array = batch.column(0 if packed else own.number)
            array.validate()
            nbytes += array.nbytes
            check_bytes(nbytes, own.name, self.limits)
            leaf = leaf_array(array, own.leaf.path)
            # Validate fully, including offsets and text. Other fields are not read.
            leaf.validate(full=True)
            arrays.append(leaf)
            parts.append(tensor_of(arrays[-1], self.path, own.name, self.null_rows))
        if len(parts) < 2:
            return parts[0] if parts else empty
        if len({part.shape.is_box for part in parts}) > 1:
            # Some batches have empty rows for nulls; in others all rows have the same length.
            return tensor_of(pa.chunked_array(arrays, arrays[0].type), self.path, own.name, self.null_rows)
        from tensorwrapper.selection import concat  # noqa: PLC0415 - files of one batch need no views

        return concat(parts)

    def _is_packed(self) -> bool:
        """Return True if columns are compressed. Reading single columns would copy uncompressed ones."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        if isinstance(self.memory, pa.PythonFile):
            # Then no other column is fetched.
            return True
        try:
            first = next(self._batches(self.memory, None), None)
        except (pa.ArrowException, OSError):
            # Some column is damaged or its codec is missing. Reading this column shows if it is affected.
            return True
        return first is not None and not self._is_mapped(first)

    def _is_mapped(self, batch: "pa.RecordBatch") -> bool:
        """Return True if the first elements of a batch are in the mapped file."""
        self.memory.seek(0)
        start = self.memory.read_buffer(1).address
        found = [own for column in batch.columns for own in column.buffers() if own is not None and own.size]
        return not found or start <= found[0].address < start + self.memory.size()
