"""Write Zarr stores: boxes on regular grids by the zarr library, other grids and rows directly."""

import importlib
import itertools
import shutil
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

from tensorwrapper._error_text import shortened
from tensorwrapper._json import Json, dump_json
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError, DataFileError
from tensorwrapper.shape import Shape, Tiling
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
from tensorwrapper.store.formats.zarr._codecs import CODECS, encoded_chunk, load_zstd
from tensorwrapper.store.formats.zarr._grid import DTYPES, chunk_file
from tensorwrapper.store.formats.zarr._store import METADATA, ORIGIN, RAGGED
from tensorwrapper.store.formats.zarr._tree import read_node
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.system._replace import beside, exchange
from tensorwrapper.store.system._system import refused_by_system
from tensorwrapper.tensor import Tensor

_NAME_BYTES: Final = 255
"""Size limit of folder names on common file systems, in bytes."""


_CODECS: Final = {"zlib": "gzip", "zstd": "zstd", "blosc2": "blosc"}


def write_zarr(
    path: Path, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    """Write tensors to a new store, which replaces an old store once everything is written.

    Raises
    ------
    ConversionError
        If Zarr cannot represent a tensor.
    DataFileError
        If the store cannot be written, or an existing folder is not a store.
    """
    zarr: Any = importlib.import_module("zarr")
    names: list[str] = []
    lost: list[Loss] = []
    paths = TakenPaths("Zarr")
    nbytes = 0
    with _replacing_folder(path) as temporary:
        with in_our_words(path, "metadata"):
            root = zarr.create_group(str(temporary), attributes={METADATA: {**metadata}} if metadata else {})
        for name, given, said in tensors:
            before, begun, done = len(lost), False, False
            with leaving_out(name, options, lost), in_our_words(path, name):
                _check_name(name)
                value = to_write(given, name, path)
                rows = rows_to_write(value, name)
                paths.claim(name, rows and _parts_of(rows[0]))
                begun = True
                _write(root, temporary, name, value, rows, said, options, lost)
                done = True
                names.append(name)
                nbytes += value.nbytes
            if not done:
                # A skipped tensor has no other losses.
                del lost[before:-1]
                if begun:
                    _remove(temporary / name, paths.release(name))
    return Conversion(tuple(names), nbytes, tuple(lost))


def _parts_of(ragged: Ragged) -> list[str]:
    """Return the arrays in a group of rows."""
    return ["values", *[f"sizes_{mode}" for mode in ragged.variable_modes]]


def _remove(folder: Path, parts: Collection[str] | None) -> None:
    """Remove the written parts of a tensor, but keep other tensors below its path."""
    if parts is None or not folder.is_dir():
        shutil.rmtree(folder, ignore_errors=True)
        return
    for part in parts:
        shutil.rmtree(folder / part, ignore_errors=True)
    if not any(own.is_dir() for own in folder.iterdir()):
        shutil.rmtree(folder, ignore_errors=True)


def _check_name(name: str) -> None:
    check_path(name, "Zarr", "\\", _NAME_BYTES)
    parts = name.split("/")
    if any(part in ("..", "zarr.json") for part in parts):
        raise ConversionError(f"{name!r} is not a valid Zarr path; no part may be '..' or 'zarr.json'")


@contextmanager
def _replacing_folder(path: Path) -> Generator[Path, None, None]:
    """Yield a folder that replaces a store when the block ends without an exception.

    The replacement is atomic where Linux can exchange two folders. Elsewhere the store is missing for a
    moment between two renames, and the old store is restored if the second rename fails.
    """
    if path.is_symlink() or path.exists():
        # Never replace a folder that is not a Zarr store.
        read_node(path)
    temporary, old = Path(beside(path)), Path(beside(path))
    try:
        temporary.mkdir()
        yield temporary
        if not path.exists():
            temporary.rename(path)
        elif not exchange(temporary, path):
            path.rename(old)
            try:
                temporary.rename(path)
            except OSError:
                old.rename(path)
                raise
    except DataFileError:
        raise
    except OSError as error:
        raise refused_by_system(f"cannot write {path}: {error.strerror or error}", error) from error
    finally:
        for left in (temporary, old):
            if left.is_symlink():
                left.unlink()
            shutil.rmtree(left, ignore_errors=True)


def _write(
    root: Any,  # noqa: ANN401 - its types are partly unknown
    folder: Path,
    name: str,
    value: TensorLike,
    rows: RowsToWrite | None,
    said: Mapping[str, Any],
    options: Options,
    lost: list[Loss],
) -> None:
    codec = options.codec_of(name, _CODECS, "Zarr")
    attributes: dict[str, Json] = {METADATA: {**said}} if said else {}
    tiles = grid_of(value)
    if tiles is not None:
        value = value.untiled()
    if holds_strings(value.dtype):
        _write_strings(root, name, value, attributes)
        return
    if rows is not None:
        _write_rows(root, name, value, rows, attributes, codec)
        return
    attributes |= _origin(value.shape)
    if tiles is not None and not _is_regular(tiles) and options.chunks_of(name, value.shape.extents) is None:
        lost.append(_tiles_lost(name))
        _write_grid(root, folder, name, value, tiles, attributes, codec)
        return
    regular = None if tiles is None else tuple([max(mode, default=1) for mode in tiles.chunks])
    if tiles is not None:
        lost.append(_tiles_lost(name))
    chunks = options.chunks_of(name, value.shape.flatten().extents) or regular
    chunks = chunks or chunks_for(name, value, options, 0)
    value = without_layers(name, value, lost)
    extents = value.shape.extents
    array = root.create_array(
        name,
        shape=extents,
        dtype=_type_of(value.dtype),
        chunks=chunks or tuple([max(n, 1) for n in extents]),
        dimension_names=list(value.shape.names) if any(value.shape.names) else None,
        attributes=attributes,
        compressors=_compressor(codec),
    )
    for key, block in boxes_of(value):
        if block.size:
            array[key if extents else ()] = block


def _tiles_lost(name: str) -> Loss:
    return Loss(f"that {name!r} is a matrix of tiles, which are its chunks", name, "kind")


def _origin(shape: Shape[Any]) -> dict[str, Json]:
    return {ORIGIN: list(shape.origin)} if any(shape.origin) else {}


def _is_regular(tiles: Tiling) -> bool:
    """Return True if all tiles of a mode have the same size, except perhaps a smaller last one."""
    return all(
        len(sizes) == 0 or (set(sizes[:-1]) <= {sizes[0]} and 0 < sizes[-1] <= sizes[0])
        for sizes in tiles.chunks
    )


def _type_of(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    if dtype.kind not in "biufcmM" or dtype.type.__module__ != "numpy" or is_wide(dtype):
        raise refused_type(dtype, "Zarr")
    return dtype


def _compressor(codec: str | None) -> object:
    if codec is None:
        return None
    codecs: Any = importlib.import_module("zarr.codecs")
    return {"gzip": codecs.GzipCodec, "zstd": codecs.ZstdCodec, "blosc": codecs.BloscCodec}[codec]()


def _write_strings(root: Any, name: str, value: TensorLike, attributes: dict[str, Json]) -> None:  # noqa: ANN401
    tensor = value if isinstance(value, Tensor) else value.compute()
    data = tensor.to_string_data()
    is_text = tensor.shape.is_box and data.kind == "utf8"
    is_filled = is_text and tensor.null_count > 0
    if not is_text or is_filled:
        raise ConversionError(
            f"{name!r} has {data.kind} strings of shape {shortened(repr(tensor.shape))}, "
            f"{tensor.null_count} of them null; Zarr supports only text without nulls in boxes: "
            + ("fill_null('') fills them, " * is_filled)
            + "a .tens file stores all, .parquet and .feather support rows of text"
        )
    extents = tensor.shape.extents
    array = root.create_array(
        name,
        shape=extents,
        dtype="string",
        chunks=tuple([max(n, 1) for n in extents]),
        dimension_names=list(tensor.shape.names) if any(tensor.shape.names) else None,
        attributes=attributes | _origin(tensor.shape),
        compressors=None,
    )
    if tensor.size:
        array[...] = np.asarray(tensor.to_numpy_strings()).reshape(extents)


def _write_rows(
    root: Any,  # noqa: ANN401 - its types are partly unknown
    name: str,
    value: TensorLike,
    rows: RowsToWrite,
    attributes: dict[str, Json],
    codec: str | None,
) -> None:
    ragged, sizes = rows
    # A tensor with a longer path may have created the group.
    group = root.require_group(name)
    for mode, own in sizes.items():
        array = group.create_array(
            f"sizes_{mode}",
            shape=own.shape,
            dtype="int64",
            chunks=(max(min(len(own), 2**17), 1),),
            compressors=_compressor(codec),
        )
        if len(own):
            array[...] = own
    values = group.create_array(
        "values",
        shape=(value.size,),
        dtype=_type_of(value.dtype),
        chunks=run_extents(value, 0) or (1,),
        compressors=_compressor(codec),
    )
    done = 0
    for run in flat_runs(value):
        if len(run):
            values[done : done + len(run)] = run
        done += len(run)
    # Declare the group as rows last, so that an interrupted write leaves an ordinary group.
    group.update_attributes({**attributes, RAGGED: ragged.to_fields()})


def _write_grid(
    root: Any,  # noqa: ANN401 - its types are partly unknown
    folder: Path,
    name: str,
    value: TensorLike,
    tiles: Tiling,
    attributes: dict[str, Json],
    codec: str | None,
) -> None:
    """Write a tiled matrix, with one chunk per tile."""
    if codec not in CODECS or value.dtype.name not in DTYPES:
        raise ConversionError(
            f"{name!r} has tiles of several sizes, dtype {value.dtype} and the codec "
            f"{codec!r}; such grids support only numbers, without codec or with 'zlib' or "
            f"'zstd'; untiled() gives chunks of one size"
        )
    if codec == "zstd":
        load_zstd(f"{name!r}")
    above = name.rpartition("/")[0]
    if above:
        root.require_group(above)
    where = folder / name
    where.mkdir()
    grid = tiles.zarr_grid()
    codecs: list[Json] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    if codec:
        level: dict[str, Json] = {"level": 3, "checksum": False} if codec == "zstd" else {"level": 5}
        codecs.append({"name": codec, "configuration": level})
    names: list[Json] = list(value.shape.names)
    fill: Json = False if value.dtype.kind == "b" else [0.0, 0.0] if value.dtype.kind == "c" else 0
    document: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(value.shape.extents),
        "data_type": value.dtype.name,
        "chunk_grid": grid.to_dict(),
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill,
        "codecs": codecs,
        "attributes": attributes,
        **({"dimension_names": names} if any(names) else {}),
    }
    (where / "zarr.json").write_text(dump_json(document), encoding="utf-8")
    marks = [[0, *itertools.accumulate([n for n in sizes if n])] for sizes in tiles.chunks]
    tensor = value if isinstance(value, Tensor) else value.compute()
    array = np.asarray(tensor)
    for index in itertools.product(*[range(len(own) - 1) for own in marks]):
        key = tuple([slice(own[k], own[k + 1]) for own, k in zip(marks, index, strict=True)])
        target = chunk_file(where, index)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(encoded_chunk(array[key], codec))
