"""Chunks of Zarr in few bytes, and back: never into more than a chunk has."""

import gzip
import importlib
import zlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorwrapper.errors import DataFileError
from tensorwrapper.typing import Array

__all__ = ["CODECS", "decoded", "encoded_chunk", "has_zstd", "load_zstd"]

CODECS: Final = (None, "gzip", "zstd")
_GZIP_LEVEL: Final = 5
_ZSTD_LEVEL: Final = 3
_WINDOW: Final = 2**23
"""Window that every reader of zstd supports, whatever a frame declares."""


def encoded_chunk(array: Array, codec: str | None) -> bytes:
    """Return the bytes of a chunk, little-endian and in row-major order."""
    raw = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    if codec == "zstd":
        packed: bytes = load_zstd("a chunk").ZstdCompressor(level=_ZSTD_LEVEL).compress(raw)
        return packed
    return gzip.compress(raw, _GZIP_LEVEL, mtime=0) if codec else raw


def decoded(read: Callable[[int], bytes], nbytes: int, codec: str | None, where: str) -> bytes:
    """Return the bytes of a chunk; nothing, or one too many, if it has not so many."""
    if codec == "gzip":
        return _ungzipped(read, nbytes)
    if codec == "zstd":
        return _unzstd(read, nbytes, where)
    return read(nbytes + 1)


def _ungzipped(read: Callable[[int], bytes], nbytes: int) -> bytes:
    """Unpack gzip, or return nothing unless it ends after so many bytes: no more is unpacked."""
    stream = zlib.decompressobj(wbits=31)
    found = bytearray()
    while not stream.eof and len(found) <= nbytes:
        raw = stream.unconsumed_tail or read(2**20)
        if not raw:
            return b""
        found += stream.decompress(raw, nbytes + 1 - len(found))
    return bytes(found)


def _unzstd(read: Callable[[int], bytes], nbytes: int, where: str) -> bytes:
    """Unpack zstd, whether or not its frames declare their size."""
    zstandard = load_zstd(where)
    # Incompressible data takes a few bytes more.
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
    """Return True if the package is installed that knows zstd."""
    try:
        importlib.import_module("zstandard")
    except ImportError:
        return False
    return True


def load_zstd(where: str) -> Any:  # noqa: ANN401 - its types are partly unknown
    """Return the package that knows zstd.

    Raises
    ------
    DataFileError
        If it is not installed.
    """
    try:
        return importlib.import_module("zstandard")
    except ImportError as error:
        raise DataFileError(
            f"{where} is packed by zstd, and the package zstandard is not here: the extra compress has it"
        ) from error
