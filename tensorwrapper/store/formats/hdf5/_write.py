"""Write HDF5 files: boxes are datasets, ragged tensors are groups of values and row starts."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tensorwrapper._arrays import splits_of
from tensorwrapper._error_text import shortened
from tensorwrapper._json import dump_json
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._contents import Conversion, Named, Options, leaving_out
from tensorwrapper.store.formats._names import check_path
from tensorwrapper.store.formats._paths import TakenPaths
from tensorwrapper.store.formats._ragged import Ragged
from tensorwrapper.store.formats._write_blocks import (
    RowsToWrite,
    TensorLike,
    boxes_of,
    chunks_for,
    flat_runs,
    grid_of,
    in_our_words,
    is_wide,
    refused_type,
    rows_to_write,
    run_extents,
    to_write,
    without_layers,
)
from tensorwrapper.store.formats.hdf5._read import METADATA, ORIGIN, RAGGED
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.system._replace import replacing_path
from tensorwrapper.tensor import Tensor

if TYPE_CHECKING:
    import h5py

_CODECS: Final = {"zlib": "gzip"}
_CHUNKED: Final = 2**16
_IN_PLACE: Final = 60_000  # largest attribute stored in the object header, in bytes
"""Larger datasets are chunked. HDF5 reads smaller ones in one piece anyway."""


def write_hdf5(
    path: Path, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    """Write tensors to a new file, which replaces an old file once everything is written.

    Raises
    ------
    ConversionError
        If HDF5 cannot represent a tensor.
    DataFileError
        If the file cannot be written.
    """
    import h5py  # noqa: PLC0415 - an extra

    names: list[str] = []
    lost: list[Loss] = []
    paths = TakenPaths("HDF5")
    nbytes = 0
    with replacing_path(path) as temporary, h5py.File(temporary, "w") as file:
        if metadata:
            with in_our_words(path, "metadata"):
                _say(file, METADATA, metadata)
        for name, given, said in tensors:
            before, begun, done = len(lost), False, False
            with leaving_out(name, options, lost), in_our_words(path, name):
                check_path(name, "HDF5")
                value = to_write(given, name, path)
                rows = rows_to_write(value, name)
                paths.claim(name, rows and _parts_of(rows[0]))
                begun = True
                written = _write(file, name, value, rows, options, lost)
                if said:
                    _say(written, METADATA, said)
                done = True
                names.append(name)
                nbytes += value.nbytes
            if not done:
                # A skipped tensor has no other losses.
                del lost[before:-1]
                if begun:
                    _remove(file, name, paths.release(name))
    return Conversion(tuple(names), nbytes, tuple(lost))


def _parts_of(ragged: Ragged) -> list[str]:
    """Return the names of datasets in a group of rows, with both alternative names of the size table."""
    return ["values", *[f"{form}_{mode}" for mode in ragged.variable_modes for form in ("offsets", "sizes")]]


def _remove(file: "h5py.File", name: str, parts: Collection[str] | None) -> None:
    """Remove the written parts of a tensor, but keep other tensors below its path."""
    if name not in file:
        return
    if parts is None:
        del file[name]
        return
    group = cast("h5py.Group", file[name])
    for part in parts:
        if part in group:
            del group[part]
    if not len(group):
        del file[name]
        return
    for attribute in (RAGGED, METADATA):
        if attribute in group.attrs:
            del group.attrs[attribute]


def _write(
    file: "h5py.File",
    name: str,
    value: TensorLike,
    rows: RowsToWrite | None,
    options: Options,
    lost: list[Loss],
) -> "h5py.Group | h5py.Dataset":
    codec = options.codec_of(name, _CODECS, "HDF5")
    if grid_of(value) is not None:
        # HDF5 chunks have a fixed size, unlike tiles.
        lost.append(Loss(f"the tiles of {name!r}, which is a matrix", name, "kind"))
        value = value.untiled()
    if holds_strings(value.dtype):
        return _write_strings(file, name, value)
    if rows is not None:
        return _write_rows(file, name, value, rows, codec)
    chunks = chunks_for(name, value, options, 0 if codec else _CHUNKED)
    value = without_layers(name, value, lost)
    extents = value.shape.extents
    written = file.create_dataset(
        name, extents, _type_of(value.dtype), chunks=chunks, compression=codec if chunks else None
    )
    for key, block in boxes_of(value):
        written[key] = block.astype(written.dtype) if block.dtype.kind in "mM" else block
    return _placed(written, value.shape)


def _placed(written: "h5py.Dataset", shape: Shape[Any]) -> "h5py.Dataset":
    for dim, mode in zip(written.dims, shape.names, strict=True):
        if mode:
            dim.label = mode
    if any(shape.origin):
        written.attrs[ORIGIN] = np.array(shape.origin, np.int64)
    return written


def _type_of(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    import h5py  # noqa: PLC0415 - an extra

    if dtype.kind in "mM":
        # h5py writes NumPy times as opaque bytes tagged with the dtype.
        return h5py.opaque_dtype(dtype)
    if dtype.type.__module__ != "numpy" or is_wide(dtype):
        raise refused_type(dtype, "HDF5")
    return dtype


def _write_strings(file: "h5py.File", name: str, value: TensorLike) -> "h5py.Dataset":
    import h5py  # noqa: PLC0415 - an extra

    tensor = value if isinstance(value, Tensor) else value.compute()
    data = tensor.to_string_data()
    if not tensor.shape.is_box or data.kind != "utf8" or tensor.null_count:
        raise ConversionError(
            f"{name!r} has {data.kind} strings of shape {shortened(str(tensor.shape))}, "
            f"{tensor.null_count} of them null; HDF5 supports only text without nulls in boxes: "
            + ("fill_null('') fills them, " * bool(tensor.null_count))
            + "a .tens file stores all, .parquet and .feather support rows of text"
        )
    array = np.asarray(tensor.to_numpy_strings(), dtype=object).reshape(tensor.shape.extents)
    return _placed(file.create_dataset(name, data=array, dtype=h5py.string_dtype()), tensor.shape)


def _write_rows(
    file: "h5py.File", name: str, value: TensorLike, rows: RowsToWrite, codec: str | None
) -> "h5py.Group":
    ragged, sizes = rows
    # A tensor with a longer path may have created the group.
    group = file.require_group(name)
    _say(group, RAGGED, ragged.to_fields())
    for mode, own in sizes.items():
        # Readers of rows expect row starts; cells of several sizes need sizes per mode.
        is_rows = ragged.is_rows or len(sizes) == 1
        text, array = (f"offsets_{mode}", splits_of(own)) if is_rows else (f"sizes_{mode}", own)
        group.create_dataset(text, data=array)
    size, dtype = value.size, _type_of(value.dtype)
    chunks = run_extents(value, 0 if codec else _CHUNKED)
    values = group.create_dataset(
        "values", (size,), dtype, chunks=chunks, compression=codec if chunks else None
    )
    done = 0
    for run in flat_runs(value):
        values[done : done + len(run)] = run.astype(dtype) if run.dtype.kind in "mM" else run
        done += len(run)
    return group


def _say(held: "h5py.Group | h5py.Dataset", name: str, said: Mapping[str, Any]) -> None:
    """Write an attribute as fixed-length text, which is stored in place and not on a heap."""
    import h5py  # noqa: PLC0415 - an extra

    text = dump_json(said).encode()
    kind = h5py.string_dtype("utf-8", len(text) if len(text) <= _IN_PLACE else None)
    held.attrs.create(name, text if len(text) <= _IN_PLACE else text.decode(), dtype=kind)
