"""Encode and decode Zarr chunks, never decoding more than the size of a chunk."""

import gzip
import importlib
import zlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorwrapper.errors import DataFileError
from tensorwrapper.typing import Array

CODECS: Final = (None, "gzip", "zstd")
_GZIP_LEVEL: Final = 5
_ZSTD_LEVEL: Final = 3
_WINDOW: Final = 2**23
"""Largest window that every zstd reader supports."""


def encoded_chunk(array: Array, codec: str | None) -> bytes:
    """Return the bytes of a chunk, little-endian and in row-major order."""
    raw = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    if codec == "zstd":
        packed: bytes = load_zstd("a chunk").ZstdCompressor(level=_ZSTD_LEVEL).compress(raw)
        return packed
    return gzip.compress(raw, _GZIP_LEVEL, mtime=0) if codec else raw


def decoded(read: Callable[[int], bytes], nbytes: int, codec: str | None, where: str) -> bytes:
    """Return the bytes of a chunk; fewer or more than `nbytes` if the chunk is invalid."""
    if codec == "gzip":
        return _ungzipped(read, nbytes)
    if codec == "zstd":
        return _unzstd(read, nbytes, where)
    return read(nbytes + 1)


def _ungzipped(read: Callable[[int], bytes], nbytes: int) -> bytes:
    """Decompress gzip data of exactly `nbytes`; otherwise return an empty result. Never decompress more."""
    stream = zlib.decompressobj(wbits=31)
    found = bytearray()
    while not stream.eof and len(found) <= nbytes:
        raw = stream.unconsumed_tail or read(2**20)
        if not raw:
            return b""
        found += stream.decompress(raw, nbytes + 1 - len(found))
    return bytes(found)


def _unzstd(read: Callable[[int], bytes], nbytes: int, where: str) -> bytes:
    """Decompress zstd data, whether or not frames declare their size."""
    zstandard = load_zstd(where)
    # Incompressible data need a few extra bytes.
    most = nbytes + nbytes // 64 + 1024
    raw = read(most + 1)
    if len(raw) > most:
        return b""
    opened = zstandard.ZstdDecompressor(max_window_size=max(_WINDOW, 2 * nbytes))
    try:
        with opened.stream_reader(raw, read_across_frames=True) as stream:
            found: bytes = stream.read(nbytes + 1)
            return found
    except zstandard.ZstdError:
        return b""


def has_zstd() -> bool:
    """Return True if a package for zstd is installed."""
    try:
        importlib.import_module("zstandard")
    except ImportError:
        return False
    return True


def load_zstd(where: str) -> Any:  # noqa: ANN401 - its types are partly unknown
    """Return the package for zstd.

    Raises
    ------
    DataFileError
        If it is not installed.
    """
    try:
        return importlib.import_module("zstandard")
    except ImportError as error:
        raise DataFileError(
            f"{where} is compressed by zstd, which needs the package zstandard (the extra compress)"
        ) from error
