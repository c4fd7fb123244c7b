"""Targets that read files of others: what `open` gives, and what `convert` takes."""

import contextlib
import gc
import io
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tensorwrapper as tw
from tensorwrapper import store
from tensorwrapper.errors import ConversionError, DataFileError
from tests.fuzz.messages import LIMITS, file_of, use_tensor
from tests.fuzz.mutate import (
    Mutate,
    mutate_bytes,
    mutate_json,
    mutate_npy,
    mutate_npz,
    mutate_safetensors,
    pack,
    unpack,
)
from tests.fuzz.target import Target

ARRAYS = [np.arange(6.0).reshape(2, 3), np.array(True), np.zeros((0, 3), "i2"), np.array(["2026"], "M8[D]")]
ARRAYS += [np.asfortranarray(np.arange(6, dtype=">i4").reshape(3, 2)), np.array([1 + 2j], "c8")]


def _read(data: bytes, end: str) -> Any:
    source, target = file_of(data, f"in{end}"), file_of(b"", "out.tens")
    tw.open(source)
    with contextlib.suppress(DataFileError):
        _use(source)  # What `convert` refuses may be there by name: damage is found where it is read.
    store.convert(source, target, overwrite=True)
    return target


def _use(path: Any) -> None:
    with tw.open(path) as file:
        for name in file:
            use_tensor(file[name])


def _npy() -> list[bytes]:
    found = []
    for array in ARRAYS:
        out = io.BytesIO()
        np.save(out, array)
        found.append(out.getvalue())
    return found


def _npz() -> list[bytes]:
    found = []
    for save in (np.savez, np.savez_compressed):
        out = io.BytesIO()
        save(out, **{f"a{k}": array for k, array in enumerate(ARRAYS)})
        found.append(out.getvalue())
    return found


def _safetensors() -> list[bytes]:
    target, found = file_of(b"", "seed.safetensors"), []
    for arrays in ({"a": ARRAYS[0]}, {"b": ARRAYS[1], "c": ARRAYS[5], "d": ARRAYS[2]}, {}):
        source = file_of(b"", "seed.tens")
        tw.save(source, arrays, metadata={"run": "3"})
        store.convert(source, target, overwrite=True)
        found.append(target.read_bytes())
    return found


def _target(end: str, seeds: Callable[[], list[bytes]], mutate: Mutate) -> Target:
    refusals = (DataFileError, ConversionError)
    return Target(
        end[1:],
        partial(_read, end=end),
        seeds,
        ("store.convert", "store.open", "store.ArrayFile"),
        _use,
        refusals,
        mutate,
    )


MOST = 2**24
"""Bytes of elements that are looked at: of views, whoever computes them knows how many there are."""

ROWS = tw.jagged([[1.5, 2.5], [], [3.5]])
MATRIX = np.arange(6.0).reshape(3, 2)
TEXT = tw.strings(["a", "", "héllo"])
NESTED = tw.jagged([[[1, 2], []], [], [[3]]])
TILES = tw.as_tensor(np.arange(30, dtype="i4").reshape(5, 6)).tiled(tw.Tiling([1, 3, 1], [4, 2]))


def _read_parts(data: bytes, end: str) -> Path:
    source = file_of(b"", f"in{end}")
    # HDF5 takes a file that is open for the same as long as anything holds it.
    source.unlink()
    source.write_bytes(data)
    _use_parts(source)
    if end == ".h5":
        gc.collect()
    return source


def _use_parts(path: Path) -> None:
    with tw.open(path, limits=LIMITS) as file:
        repr(file)
        for name in file:
            with contextlib.suppress(DataFileError):
                file.describe(name)
                file.tensor_metadata(name)
                # Elements that are packed are checked when they are touched. Nobody may write to a file that
                # is mapped; what was decoded is its reader's. Chunks that are not there take no room.
                found = file[name]
                if found.nbytes < MOST:
                    use_tensor(found, as_file=False)


def _seeds(end: str, tables: list[dict[str, Any]], ways: list[dict[str, Any]]) -> list[bytes]:
    found = []
    for table in tables:
        for way in ways:
            path = file_of(b"", f"seed{end}")
            path.unlink()
            tw.save(path, table, metadata={"run": 3}, **way)
            found.append(path.read_bytes())
    return found


def _hdf5() -> list[bytes]:
    tables = [{"g/rows": ROWS, "m": MATRIX}, {"t": TEXT, "n": NESTED}]
    return _seeds(".h5", tables, [{}, {"compress": "zlib"}])


def _parquet() -> list[bytes]:
    tables = [{"rows": ROWS, "m": MATRIX}, {"t": TEXT, "n": NESTED}]
    return _seeds(".parquet", tables, [{}, {"compress": "zstd"}, {"chunks": {"rows": (1,), "t": (2,)}}])


def _feather() -> list[bytes]:
    tables = [{"rows": ROWS, "m": MATRIX}, {"t": TEXT, "n": NESTED}]
    return _seeds(".feather", tables, [{}, {"compress": "zstd"}, {"chunks": {"rows": (1,), "t": (2,)}}])


def _stores() -> list[bytes]:
    """Return stores as frames: the path of a file in the store, and what is in it, in turns."""
    found = []
    for tables in ({"g/rows": ROWS, "m": MATRIX}, {"t": TEXT, "n": NESTED}, {"tiles": TILES}):
        for compress in (None, "zlib"):
            folder = file_of(b"", "seed.zarr")
            folder.unlink()
            tw.save(folder, tables, metadata={"run": 3}, compress=compress)
            files = sorted(path for path in folder.rglob("*") if path.is_file())
            frames = [[str(path.relative_to(folder)).encode(), path.read_bytes()] for path in files]
            found.append(pack([frame for pair in frames for frame in pair]))
            shutil.rmtree(folder)
            folder.write_bytes(b"")
    return found


def _read_store(data: bytes) -> Path:
    folder = file_of(b"", "in.store").with_name("in.zarr")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    frames = unpack(data)
    for name, content in zip(frames[::2], frames[1::2], strict=False):
        path = folder.joinpath(name.decode("utf-8", "replace").replace("\0", ""))
        if folder in path.parents and ".." not in path.parts:
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    _use_parts(folder)
    return folder


def _mutate_store(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    """Change what is said of a node, or the bytes of a chunk, or which files there are."""
    frames, others = unpack(data), unpack(donor)
    if len(frames) < 2 or len(others) < 2 or rng.random() < 0.02:
        return mutate_bytes(data, rng, donor)
    place, other = rng.randrange(len(frames) // 2) * 2, rng.randrange(len(others) // 2) * 2
    how = rng.random()
    if how < 0.9:
        change = mutate_json if frames[place].endswith(b".json") else mutate_bytes
        frames[place + 1] = change(frames[place + 1], rng, others[other + 1])
    elif how < 0.95:
        del frames[place : place + 2]
    else:
        frames += others[other : other + 2]
    return pack(frames)


def _target_of_parts(name: str, seeds: Any, mutate: Mutate = mutate_bytes, read: Any = None) -> Target:
    return Target(
        name,
        read or partial(_read_parts, end=f".{name}"),
        seeds,
        ("store.open", "store.ArrayFile"),
        repr,
        (DataFileError, ConversionError),
        mutate,
    )


TARGETS = [
    _target(".npy", _npy, mutate_npy),
    _target(".npz", _npz, mutate_npz),
    _target(".safetensors", _safetensors, mutate_safetensors),
    _target_of_parts("h5", _hdf5),
    _target_of_parts("parquet", _parquet),
    _target_of_parts("feather", _feather),
    _target_of_parts("zarr", _stores, _mutate_store, _read_store),
]
