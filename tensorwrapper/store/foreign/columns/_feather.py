"""Feather files, read: Arrow's memory in a file, over which columns are tensors, a part a batch."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from tensorwrapper._value_class import frozen
from tensorwrapper.store.foreign._contents import Contents
from tensorwrapper.store.foreign.columns._table import check_bytes, contents_of, tensor_of
from tensorwrapper.store.system._system import reading
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire import Limits

if TYPE_CHECKING:
    import pyarrow as pa

    from tensorwrapper.selection import View

__all__ = ["open_feather"]


def open_feather(path: Path, limits: Limits) -> Contents:
    """Return what a Feather file (of version 2: Arrow's own) has; its footer is read.

    Raises
    ------
    DataFileError
        If there is no such file, or it is damaged.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    with reading(path, "Feather"):
        memory = pa.memory_map(str(path))
        with pa.ipc.open_file(memory) as file:
            batches = _Batches(path, memory, limits)
            return contents_of(file.schema, batches.column, "batches")


@final
@frozen(eq=False)
class _Batches:
    """The columns of a Feather file, a part in each batch."""

    path: Path
    memory: "pa.MemoryMappedFile"
    limits: Limits

    def column(self, number: int, field: "pa.Field", empty: Tensor[Any]) -> "Tensor[Any] | View[Any]":
        """Return a column: a tensor over the mapped file, or a view of several."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        parts: list[Tensor[Any]] = []
        nbytes = 0
        whole, place = pa.ipc.IpcReadOptions(), number
        with pa.ipc.open_file(self.memory, options=whole) as file:
            if file.num_record_batches and not self._is_mapped(file.get_batch(0)):
                # Of what is compressed, only this column: for what is not, that would make a copy.
                whole, place = pa.ipc.IpcReadOptions(included_fields=[number]), 0
        with pa.ipc.open_file(self.memory, options=whole) as file:
            for batch in range(file.num_record_batches):
                array = file.get_batch(batch).column(place)
                # Not what it says of itself alone: offsets and text, too.
                array.validate(full=True)
                nbytes += array.nbytes
                check_bytes(nbytes, field.name, self.limits)
                parts.append(tensor_of(array, self.path, field.name))
        if len(parts) < 2:
            return parts[0] if parts else empty
        from tensorwrapper.selection import concat  # noqa: PLC0415 - files of one batch need no views

        return concat(parts)

    def _is_mapped(self, batch: "pa.RecordBatch") -> bool:
        """Tell whether the first elements of a batch lie in the mapped file."""
        self.memory.seek(0)
        start = self.memory.read_buffer(1).address
        found = [own for column in batch.columns for own in column.buffers() if own is not None and own.size]
        return not found or start <= found[0].address < start + self.memory.size()
