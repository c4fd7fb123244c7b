"""Parquet and Feather files, written: tensors of as many rows are the columns of one table."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from tensorwrapper._json import Json, dump_json
from tensorwrapper.errors import ConversionError, TensorWrapperError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._contents import Conversion, Named, Options, leaving_out
from tensorwrapper.store.formats._write_blocks import check_text, in_our_words, to_write, without_layers
from tensorwrapper.store.formats.columns._table import KEY
from tensorwrapper.store.records._loss import Loss, unsaid
from tensorwrapper.store.system._replace import replacing_path
from tensorwrapper.tensor import Tensor

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_feather", "write_parquet"]

_GROUP_BYTES: Final = 2**26
"""Bytes of rows of a table that are written, and read, at once."""
_SAID: Final = {"origin", "names"}


def write_parquet(
    path: Path, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    """Write tensors as the columns of a Parquet file.

    Raises
    ------
    ConversionError
        If they are not columns: of as many rows each, of elements that Parquet has.
    DataFileError
        If the file cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    table, done = _table(path, tensors, metadata, options, _check_parquet)
    codec = _codec(table, options, {"zlib": "gzip", "zstd": "zstd"}, "Parquet")
    rows = _rows(table, options)
    # Parquet has no seconds of dates, of rows of them either.
    coarser = [field.name for field in table.schema if "timestamp[s]" in str(field.type)]
    told = [Loss(f"the unit of {name!r}, now ms", name, "kind") for name in coarser]
    done = attrs.evolve(done, lost=(*done.lost, *told))
    with replacing_path(path) as temporary:
        try:
            pq.write_table(table, temporary, compression=codec or "none", row_group_size=rows)
        except pa.ArrowException as error:
            raise ConversionError(f"{path} cannot hold these columns: {error}") from error
    return done


def write_feather(
    path: Path, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    """Write tensors as the columns of a Feather file, which is one of Arrow.

    Raises
    ------
    ConversionError
        If they are not columns: of as many rows each, of elements that Arrow has.
    DataFileError
        If the file cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    table, done = _table(path, tensors, metadata, options)
    codec = _codec(table, options, {"zstd": "zstd"}, "Feather")
    # One batch by default: then a column is one piece of memory.
    rows = _rows(table, options) if options.chunks is not None else max(table.num_rows, 1)
    with replacing_path(path) as temporary:
        written = pa.ipc.IpcWriteOptions(compression=codec)
        with pa.ipc.new_file(str(temporary), table.schema, options=written) as file:
            file.write_table(table, max_chunksize=rows)
    return done


def _check_parquet(field: "pa.Field") -> None:
    if "[0]" in str(field.type):
        raise ConversionError(
            f"{field.name!r} has lists of length 0 at fixed places, {field.type}, which Parquet cannot "
            "hold: a .feather or .tens file does"
        )


def _table(
    path: Path,
    tensors: Iterator[Named],
    metadata: Mapping[str, Any],
    options: Options,
    check: "Callable[[pa.Field], object] | None" = None,
) -> "tuple[pa.Table, Conversion]":
    import pyarrow as pa  # noqa: PLC0415 - an extra

    lost: list[Loss] = []
    fields: list[pa.Field] = []
    arrays: list[pa.Array] = []
    nbytes = 0
    for name, given, said in tensors:
        with leaving_out(name, options, lost), in_our_words(path, name):
            check_text(name, path)
            told: list[Loss] = []
            tensor, array = _array(name, given, path, told)
            if arrays and len(array) != len(arrays[0]):
                raise ConversionError(
                    f"{name!r} has {len(array)} rows, and {fields[0].name!r} has {len(arrays[0])}: columns "
                    "of a table have as many; several files, or a .tens file, hold both"
                )
            text = _placed(tensor.shape, said)
            field = pa.field(name, array.type, metadata={KEY: dump_json(text)} if text else None)
            if check is not None:
                check(field)
            fields.append(field)
            arrays.append(array)
            nbytes += tensor.nbytes
            lost += told
            facts = [fact for fact in tensor.shape.losses("arrow").lost if fact not in _SAID]
            lost += [unsaid(name, f"the {fact}") for fact in facts]
            if tensor.shape.raggedness == "uniform" and not tensor.shape.is_box:
                lost.append(Loss(f"that {name!r}, whose rows are alike, is no box", name, "kind"))
    with in_our_words(path, "metadata"):
        schema = pa.schema(fields, metadata={KEY: dump_json(metadata)} if metadata else None)
    done = Conversion(tuple([field.name for field in fields]), nbytes, tuple(lost))
    return pa.Table.from_arrays(arrays, schema=schema), done


def _array(name: str, given: object, path: Path, lost: list[Loss]) -> "tuple[Tensor[Any], pa.Array]":
    """Return a tensor, and it as a column."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    # A box in layers is a box: without them, it is read back as one.
    value = without_layers(name, to_write(given, name, path, nulls=True), lost)
    tensor = value if isinstance(value, Tensor) else value.compute()
    try:
        array = tensor.to_arrow()
    except TensorWrapperError as error:
        raise ConversionError(f"{name!r} is no column of {path}: {error}") from error
    if "[0]" in str(array.type) and not tensor.shape.is_box:
        # Rows that happen to be all empty are still rows: Parquet has no lists of length 0 otherwise.
        kind = array.type
        for _ in range(1, tensor.shape.rank):
            kind = kind.value_type
        for _ in range(1, tensor.shape.rank):
            kind = pa.large_list(kind)
        array = array.cast(kind)
    return tensor, array


def _placed(shape: Shape[Any], said: Mapping[str, Any]) -> dict[str, Json]:
    """Return the facts that Arrow cannot represent."""
    text: dict[str, Json] = {"metadata": {**said}} if said else {}
    if any(shape.names):
        text["dimension_names"] = list(shape.names)
    try:
        if any(shape.origin):
            text["index_origin"] = list(shape.origin)
    except TensorWrapperError as error:
        raise ConversionError(
            f"cells that start at different places are no column ({error}): `t[...]` lets each start at "
            "zero, a .tens file keeps where they start"
        ) from error
    return text


def _codec(table: "pa.Table", options: Options, codecs: Mapping[str, str], kind: str) -> str | None:
    found = {options.codec_of(name, codecs, kind) for name in table.column_names}
    if len(found) > 1:
        raise ConversionError(f"{kind} columns of one file have one codec here, not one each")
    return found.pop() if found else None


def _rows(table: "pa.Table", options: Options) -> int:
    """Return how many rows are written at once."""
    for name in table.column_names:
        chunks = options.chunks_of(name, (table.num_rows,))
        if chunks is not None:
            return chunks[0]
    return max(_GROUP_BYTES * max(table.num_rows, 1) // max(table.nbytes, 1), 1)
