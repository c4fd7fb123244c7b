"""Codecs: compress and decompress one block of bytes, never into more than the expected length.

Compressed bytes are untrusted: every codec gets the length of its output, and other lengths are refused
before memory is allocated.
"""

import importlib
import struct
import threading
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LocalProtocolError
from tensorwrapper.wire._protocol_errors import refuse

Compression: TypeAlias = Literal["zlib", "zstd", "blosc2"]
"""Names of codecs, which are the names of packings too."""

Bytes: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.uint8]]"

_PACKAGES: Final = {"zstd": "zstandard", "blosc2": "blosc2"}
_ZLIB_LEVEL: Final = 1  # behind a shuffle, higher levels take longer and save next to nothing
_ZSTD_LEVEL: Final = 1  # the same
_BLOSC_LEVEL: Final = 5


@frozen
class Codec:
    """Functions of a codec: compress a block, and decompress it."""

    compress: Callable[[Bytes, int], bytes]
    """Takes the bytes of a block and the bytes per element."""
    decompress: Callable[[Bytes, Bytes, str], None]
    """Function of compressed bytes, the memory to fill to the last byte, and a name of the block for errors.
    """
    shuffles: bool = False
    """True if it shuffles bytes itself."""


def check_compression(name: object) -> None:
    """Raise unless there is a codec of this name, and it can be loaded here.

    Raises
    ------
    LocalProtocolError
        If not; it names the missing package.
    """
    if name not in get_args(Compression):
        raise LocalProtocolError(
            "unsupported", f"compress must be one of {', '.join(get_args(Compression))}, not {name!r}"
        )
    if isinstance(name, str) and name in _PACKAGES:
        try:
            importlib.import_module(_PACKAGES[name])
        except ImportError as error:
            raise LocalProtocolError(
                "unsupported",
                f"compress={name!r} needs the package {_PACKAGES[name]}: the extra compress has it",
            ) from error


def check_codec(name: str, where: str) -> None:
    """Raise if the codec of foreign elements is not installed."""
    if name in _PACKAGES:
        _package(name, where)


def _package(name: str, where: str) -> Any:  # noqa: ANN401 - optional packages, some of them untyped
    try:
        return importlib.import_module(_PACKAGES[name])
    except ImportError:
        refuse(
            "unsupported",
            f"{where} is compressed by {name}, and the package {_PACKAGES[name]} is not here: "
            "the extra compress has it",
        )


def shuffle(block: Bytes, word: int) -> Bytes:
    """Return the first byte of every element, then the second of every one, and so on."""
    if word == 1:
        return block
    result = np.empty_like(block)
    planes = result.reshape(word, -1)
    for k in range(word):
        planes[k] = block[k::word]
    return result


def unshuffle(shuffled: Bytes, word: int, out: Bytes) -> None:
    """Undo the shuffle, into `out`."""
    planes = shuffled.reshape(word, -1)
    for k in range(word):
        out[k::word] = planes[k]


def _zlib_compress(block: Bytes, word: int) -> bytes:  # noqa: ARG001 - shuffled before
    return zlib.compress(block.data, _ZLIB_LEVEL)


def _zlib_decompress(data: Bytes, out: Bytes, where: str) -> None:
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data.data, len(out))
        # The output may be complete before the check sum at the end was read; this reads it, and no more.
        more = b"" if stream.eof else stream.decompress(stream.unconsumed_tail, 1)
    except zlib.error as error:
        refuse("integrity", f"{where} is damaged: {error}")
    if more or (stream.eof and len(found) != len(out)):
        refuse("size", f"{where} does not have the {len(out)} bytes that it should have")
    if not stream.eof or stream.unused_data or stream.unconsumed_tail:
        refuse("integrity", f"{where} does not end where its stream ends")
    out[:] = np.frombuffer(found, np.uint8)


class _Zstd(threading.local):
    """Compressor and decompressor of each thread: they are not safe for two at a time."""

    def __init__(self) -> None:
        zstandard = _package("zstd", "a block")
        self.compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


@cache
def _zstd() -> _Zstd:
    return _Zstd()


def _zstd_compress(block: Bytes, word: int) -> bytes:  # noqa: ARG001 - shuffled before
    packed: bytes = _zstd().compressor.compress(block.data)
    return packed


def _zstd_decompress(data: Bytes, out: Bytes, where: str) -> None:
    zstandard = _package("zstd", where)
    try:
        said: int = zstandard.get_frame_parameters(data.data).content_size
        # The library would allocate the size that a frame declares.
        if said != len(out):
            refuse("size", f"{where} does not say that it has {len(out)} bytes")
        found: bytes = _zstd().decompressor.decompress(
            data.data, max_output_size=len(out), allow_extra_data=False
        )
    except zstandard.ZstdError as error:
        refuse("integrity", f"{where} is damaged: {error}")
    if len(found) != len(out):
        refuse("size", f"{where} has {len(found)} bytes instead of {len(out)}")
    out[:] = np.frombuffer(found, np.uint8)


def _blosc2_compress(block: Bytes, word: int) -> bytes:
    blosc2 = _package("blosc2", "a block")
    packed: bytes = blosc2.compress2(
        block,
        typesize=word,
        codec=blosc2.Codec.LZ4,
        clevel=_BLOSC_LEVEL,
        filters=[blosc2.Filter.SHUFFLE],
        filters_meta=[0],
        nthreads=1,
    )
    return packed


_BLOSC_HEADER: Final = 32
_BLOSC_CODECS: Final = (0, 1, 3, 4)  # BloscLZ, LZ4, Zlib, Zstandard, as bits 5 to 7 of the flags
_BLOSC_FILTERS: Final = frozenset(range(3))  # none, shuffle, bit shuffle


def _check_blosc2(data: Bytes, nbytes: int, where: str) -> None:
    """Raise unless the header of a chunk is that of plain bytes, in memory, by codecs without plugins.

    A chunk can also name a file, a plugin to load, or memory to leave as it is.
    """
    if len(data) < _BLOSC_HEADER:
        refuse("integrity", f"{where} is shorter than the header of a Blosc2 chunk")
    flags, filters, kind = int(data[2]), data[16:22].tolist(), int(data[31])
    raw, inner, packed = struct.unpack_from("<iii", data.data, 4)
    if flags & 0x05 != 0x05 or flags >> 5 not in _BLOSC_CODECS:
        refuse("unsupported", f"{where} is a Blosc2 chunk of a codec that is not taken")
    if not _BLOSC_FILTERS.issuperset(filters) or kind & 0x8F or kind >> 4 > 3:
        refuse("unsupported", f"{where} is a Blosc2 chunk with filters or options that are not taken")
    if raw != nbytes:
        refuse("size", f"{where} says that it has {raw} bytes instead of {nbytes}")
    if packed != len(data) or not 0 < inner <= max(nbytes, 1):
        refuse("integrity", f"{where} is damaged: its header does not fit its {len(data)} bytes")


def _blosc2_decompress(data: Bytes, out: Bytes, where: str) -> None:
    _check_blosc2(data, len(out), where)
    blosc2 = _package("blosc2", where)
    try:
        blosc2.decompress2(data, dst=out, nthreads=1)
    except (RuntimeError, ValueError) as error:
        refuse("integrity", f"{where} is damaged: {error}")


CODECS: Final[Mapping[str, Codec]] = {
    "zlib": Codec(_zlib_compress, _zlib_decompress),
    "zstd": Codec(_zstd_compress, _zstd_decompress),
    "blosc2": Codec(_blosc2_compress, _blosc2_decompress, shuffles=True),
}
