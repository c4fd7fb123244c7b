"""Write Parquet and Feather files: tensors with the same number of rows are the columns of a table."""

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

_GROUP_BYTES: Final = 2**26
"""Size of a row group in bytes."""
_SAID: Final = {"origin", "names"}


def write_parquet(
    path: Path, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    """Write tensors as the columns of a Parquet file.

    Raises
    ------
    ConversionError
        If the numbers of rows differ, or Parquet does not support the elements.
    DataFileError
        If the file cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    table, done = _table(path, tensors, metadata, options, _check_parquet)
    codec = _codec(table, options, {"zlib": "gzip", "zstd": "zstd"}, "Parquet")
    rows = _rows(table, options)
    # Parquet has no timestamps in seconds, also within rows.
    coarser = [field.name for field in table.schema if "timestamp[s]" in str(field.type)]
    told = [Loss(f"the unit of {name!r}, now ms", name, "kind") for name in coarser]
    done = attrs.evolve(done, lost=(*done.lost, *told))
    with replacing_path(path) as temporary:
        try:
            pq.write_table(table, temporary, compression=codec or "none", row_group_size=rows)
        except pa.ArrowException as error:
            raise ConversionError(f"cannot write these columns to {path}: {error}") from error
    return done


def write_feather(
    path: Path, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    """Write tensors as the columns of a Feather file, the Arrow IPC format.

    Raises
    ------
    ConversionError
        If the numbers of rows differ, or Arrow does not support the elements.
    DataFileError
        If the file cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    table, done = _table(path, tensors, metadata, options)
    codec = _codec(table, options, {"zstd": "zstd"}, "Feather")
    # Write one batch by default, so that each column is contiguous.
    rows = _rows(table, options) if options.chunks is not None else max(table.num_rows, 1)
    with replacing_path(path) as temporary:
        written = pa.ipc.IpcWriteOptions(compression=codec)
        with pa.ipc.new_file(str(temporary), table.schema, options=written) as file:
            file.write_table(table, max_chunksize=rows)
    return done


def _check_parquet(field: "pa.Field") -> None:
    if "[0]" in str(field.type):
        raise ConversionError(
            f"{field.name!r} has fixed-size lists of length 0, {field.type}, which Parquet "
            f"does not support; use a .feather or .tens file"
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
                    f"{name!r} has {len(array)} rows, but {fields[0].name!r} has "
                    f"{len(arrays[0])}; use several files, or a .tens file"
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
                lost.append(Loss(f"that {name!r}, whose rows are uniform, is not a box", name, "kind"))
    with in_our_words(path, "metadata"):
        schema = pa.schema(fields, metadata={KEY: dump_json(metadata)} if metadata else None)
    done = Conversion(tuple([field.name for field in fields]), nbytes, tuple(lost))
    return pa.Table.from_arrays(arrays, schema=schema), done


def _array(name: str, given: object, path: Path, lost: list[Loss]) -> "tuple[Tensor[Any], pa.Array]":
    """Return a tensor, and the same data as a column."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    # Drop the layers of a box, so that it is read back as a box.
    value = without_layers(name, to_write(given, name, path, nulls=True), lost)
    tensor = value if isinstance(value, Tensor) else value.compute()
    try:
        array = tensor.to_arrow()
    except TensorWrapperError as error:
        raise ConversionError(f"cannot write {name!r} as a column of {path}: {error}") from error
    if "[0]" in str(array.type) and not tensor.shape.is_box:
        # Empty rows must be variable-size lists, because Parquet has no fixed-size lists of length 0.
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
            f"cells with different origins cannot be a column ({error}); use `t[...]` to "
            f"start each at zero, or a .tens file"
        ) from error
    return text


def _codec(table: "pa.Table", options: Options, codecs: Mapping[str, str], kind: str) -> str | None:
    found = {options.codec_of(name, codecs, kind) for name in table.column_names}
    if len(found) > 1:
        raise ConversionError(f"all columns of a {kind} file must have the same codec")
    return found.pop() if found else None


def _rows(table: "pa.Table", options: Options) -> int:
    """Return the number of rows per row group."""
    for name in table.column_names:
        chunks = options.chunks_of(name, (table.num_rows,))
        if chunks is not None:
            return chunks[0]
    return max(_GROUP_BYTES * max(table.num_rows, 1) // max(table.nbytes, 1), 1)
