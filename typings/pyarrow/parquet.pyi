from pathlib import Path
from typing import BinaryIO, Self

from pyarrow import Schema, Table

class _RowGroup:
    num_rows: int

class _ColumnSchema:
    path: str
    length: int
    max_definition_level: int

class _ParquetSchema:
    def column(self, i: int) -> _ColumnSchema: ...
    def to_arrow_schema(self) -> Schema: ...

class FileMetaData:
    num_row_groups: int
    num_columns: int
    schema: _ParquetSchema
    def row_group(self, i: int) -> _RowGroup: ...

class _Reader:
    def read_row_group(self, i: int, column_indices: list[int]) -> Table: ...

class ParquetFile:
    metadata: FileMetaData
    schema_arrow: Schema
    def __init__(
        self,
        source: Path | BinaryIO,
        *,
        metadata: FileMetaData | None = None,
        memory_map: bool = False,
        pre_buffer: bool = True,
        read_dictionary: list[str] | None = None,
    ) -> None: ...
    @property
    def reader(self) -> _Reader: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...

def write_table(table: Table, where: Path, *, compression: str, row_group_size: int) -> None: ...
