"""Targets that read files of others: what `open` gives, and what `convert` takes."""

import contextlib
import io
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import tensorwrapper as tw
from tensorwrapper import store
from tensorwrapper.errors import ConversionError, DataFileError
from tests.fuzz.messages import file_of, use_tensor
from tests.fuzz.mutate import Mutate, mutate_npy, mutate_npz, mutate_safetensors
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


TARGETS = [
    _target(".npy", _npy, mutate_npy),
    _target(".npz", _npz, mutate_npz),
    _target(".safetensors", _safetensors, mutate_safetensors),
]
