"""Files: many small records, large ones, and a few rows of a large one."""

import itertools
import json
import mmap
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

import tensorwrapper as tw
from tensorwrapper.typing import Array
from tests.benchmarks.compare.measure import Row, Run, library

MIB = int(os.environ.get("TENSORWRAPPER_BENCH_MIB", "256"))


def records() -> Iterator[Row]:
    """A file of 10^5 records of four numbers."""
    with tempfile.TemporaryDirectory() as folder:
        path, x = Path(folder) / "many.tens", np.arange(4.0)
        with tw.open(path, "a") as file:
            for k in range(10**5):
                file.append(str(k), x)

        def opened() -> int:
            with tw.open(path) as file:
                return len(file)

        numbers = itertools.count()

        def appended() -> None:
            with tw.open(path, "a") as file:
                file.append(f"more {next(numbers)}", x)

        yield Row(
            "P20",
            "a file of 10^5 records is opened",
            opened,
            {"its bytes, read": path.read_bytes},
            aim=50e-3,
            once=True,
        )
        yield Row("P20", "one more is appended", appended, aim=5e-3, once=True)


def _make_durable(path: Path) -> None:
    file = os.open(path, os.O_RDWR)
    os.fsync(file)
    os.close(file)


def _write_raw(path: Path, arrays: Iterable[Array]) -> Path:
    path.unlink(missing_ok=True)
    with path.open("wb", buffering=0) as stream:
        for array in arrays:
            stream.write(array.data)
    _make_durable(path)
    return path


def whole() -> Iterator[Row]:
    """200 tensors of float32, and 100 rows of one of them."""
    st = library("safetensors.numpy")
    opener, xxhash = library("safetensors"), library("xxhash")
    rows = np.random.default_rng(0).random((MIB * 2**20 // (200 * 1024 * 4), 1024), np.float32)
    arrays = {f"layer {k:03}": rows + np.float32(k) for k in range(200)}
    missing = None if st else "safetensors"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def ours() -> None:
            (folder / "a.tens").unlink(missing_ok=True)
            tw.save(folder / "a.tens", arrays)

        def raw() -> Path:
            return _write_raw(folder / "a.raw", arrays.values())

        def theirs() -> None:
            (folder / "a.safetensors").unlink(missing_ok=True)
            st.save_file(arrays, folder / "a.safetensors")
            _make_durable(folder / "a.safetensors")

        peers: dict[str, Run] = {"raw bytes": raw, **({"safetensors": theirs} if st else {})}

        def checked() -> object:
            return raw(), [xxhash.xxh3_64(array).intdigest() for array in arrays.values()]

        limit = ("raw bytes and their checksums", checked) if xxhash else None
        yield Row("P21", f"save {MIB} MiB", ours, peers, times=1.05, limit=limit, once=True, missing=missing)
        ours()
        if st:
            theirs()

        def read() -> object:
            with tw.open(folder / "a.tens") as file:
                return np.asarray(file["layer 100"][100:200]).sum()

        def peer() -> object:
            with opener.safe_open(folder / "a.safetensors", "np") as file:
                return file.get_slice("layer 100")[100:200].sum()

        with tw.open(folder / "a.tens") as file:
            first = file["layer 100"][100:200].layout.offset * 4
        label = json.dumps({"TENS": {"tensors": [{"shape": rows.shape, "word": 4, "dtype": "f"}]}})

        def least() -> object:
            """Of the same file: its end, its index with a checksum, one label, and the rows, mapped."""
            file = os.open(folder / "a.tens", os.O_RDONLY)
            size = os.fstat(file).st_size
            start = int.from_bytes(os.pread(file, 16, size - 16)[:8], "little")
            index = os.pread(file, size - start, start)
            zlib.crc32(index)
            np.frombuffer(index[: len(index) // 8 * 8], "<i8").copy()
            json.loads(label)
            with mmap.mmap(file, 0, prot=mmap.PROT_READ) as mapped:
                part = np.frombuffer(mapped, np.float32, 100 * 1024, first)
                total = part.sum()
                del part
            os.close(file)
            return total

        yield Row(
            "P22",
            f"open {MIB} MiB, and 100 rows of one tensor",
            read,
            {"safetensors": peer} if st else {},
            times=1,
            limit=("its end, index, label and rows by NumPy", least),
            missing=missing,
        )


ROWS = {"P20": records, "P21, P22": whole}
