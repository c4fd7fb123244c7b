"""`Ranges`: read spans of a file with few, counted requests."""

import bisect
import contextlib
import io
import os
import threading
from collections import OrderedDict
from collections.abc import Generator, Sequence
from typing import BinaryIO, Final, NoReturn, Self, SupportsIndex, cast, final

import numpy as np

from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_count
from tensorwrapper._value_class import Shown
from tensorwrapper.errors import ConversionError, DataFileError, TensorWrapperError
from tensorwrapper.store.ranges._addresses import has_no_path, shown_address
from tensorwrapper.store.ranges._byte_readers import (
    ByteReader,
    FileObjectReader,
    FsspecReader,
    MemoryReader,
    PathReader,
    Span,
)
from tensorwrapper.store.ranges._joined import LONGEST, joined
from tensorwrapper.store.system._system import to_path
from tensorwrapper.typing import IntArray

_BLOCK: Final = 4096
_AHEAD: Final = 2**16
"""Bytes fetched at a time for other libraries, if requests are slow."""
_KEPT: Final = 2**26
"""Size limit of the block cache in bytes."""


@final
class Ranges(Shown):
    """The bytes of a file, read by spans with few requests.

    Create one by `Ranges.of`. Neighbouring spans become one request. Over http up to 16 requests run
    concurrently on persistent connections. Headers and tables of `.tens` files are cached in blocks of 4 KiB,
    up to 64 MiB; elements are not. Any thread may read.

    Examples
    --------
    >>> ranges = Ranges.of(b"0123456789" * 1000)
    >>> ranges.read([(0, 4), (5000, 5002)]), ranges.requests, ranges.bytes_fetched
    ([b'0123', b'01'], 2, 6)
    """

    __slots__ = (
        "__weakref__",
        "_blocks",
        "_door",
        "_gap",
        "_lock",
        "_n_bytes",
        "_n_failed",
        "_n_requests",
        "_why",
    )

    _why: TensorWrapperError | None
    """Last error of a fetch."""

    def __init__(self, door: ByteReader, gap: int | None = None) -> None:
        self._door = door
        self._gap = door.gap if gap is None else gap
        self._lock = threading.Lock()
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._n_requests = self._n_bytes = 0
        self._n_failed, self._why = 0, None
        if door.tail:
            # These bytes were fetched on opening.
            self._n_requests, self._n_bytes = 1, len(door.tail)
            start = door.size - len(door.tail)
            for block in range(-(-start // _BLOCK), -(-door.size // _BLOCK)):
                begin = block * _BLOCK - start
                self._blocks[block] = door.tail[begin : begin + _BLOCK]

    @classmethod
    def of(
        cls,
        source: "str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO",
        *,
        gap: SupportsIndex | None = None,
        timeout: float = 30.0,
    ) -> Self:
        """Return the ranges of a file.

        Parameters
        ----------
        source
            A path, an address, a seekable binary file, or bytes in memory. Addresses are http, https, or
            those of fsspec file systems, such as ``s3://bucket/key``.
        gap
            Largest gap between two spans, in bytes, for which they become one request. Defaults to 4096 for
            files, and 65 536 over a network. The best value is latency times bandwidth.
        timeout
            Time limit of an http request in seconds, including retries.

        Raises
        ------
        DataFileError
            If the file is missing, or the server does not support ranges.
        ConversionError
            If the source has an unsupported type.
        ModuleNotFoundError
            If fsspec, or its backend for that address, is not installed.
        """
        space = None if gap is None else to_count(gap, "gap")
        if not isinstance(cast("object", timeout), int | float) or not 0 < timeout < float("inf"):
            raise ConversionError(f"timeout must be a positive number of seconds, not {brief(timeout)}")
        return cls(_door_of(source, timeout), space)

    @property
    def name(self) -> str:
        """Name of the file for errors; an address has no user, password and query."""
        return self._door.name

    @property
    def size(self) -> int:
        """The size of the file in bytes when it was opened."""
        return self._door.size

    @property
    def version(self) -> str:
        """Text that changes with the file; empty if unknown."""
        return self._door.version

    @property
    def gap(self) -> int:
        """Largest gap between two spans, in bytes, for which they become one request."""
        return self._gap

    @property
    def requests(self) -> int:
        """Number of requests so far, without retries."""
        return self._n_requests

    @property
    def bytes_fetched(self) -> int:
        """Number of bytes fetched so far."""
        return self._n_bytes

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        """Return the complete bytes of spans, each from a start to before a stop.

        Spans may come in any order, and overlap.

        Raises
        ------
        DataFileError
            If a span exceeds the file, or the file cannot be read.
        VersionChangedError
            If the file changed since it was opened.
        """
        if not spans:
            return []
        begins, ends = self._bounds(spans)
        order, groups, firsts, lasts = self._ordered(begins, ends)
        found = self.fetch(firsts, lasts)
        own = np.searchsorted(groups, np.argsort(order), side="right") - 1
        return [
            found[group][begin - first : end - first]
            for group, begin, end, first in zip(
                own.tolist(), begins.tolist(), ends.tolist(), firsts[own].tolist(), strict=True
            )
        ]

    def read_with_tail(self, start: int, stop: int) -> bytes:
        """Return some bytes; those at the end were fetched on opening."""
        tail = self._door.tail
        first = self.size - len(tail)
        if stop <= first or not tail:
            return self.read([(start, stop)])[0]
        before = b"" if start >= first else self.read([(start, first)])[0]
        return before + tail[max(start - first, 0) : stop - first]

    def told(self, spans: Sequence[Span]) -> tuple[int, int]:
        """Return the number of requests and bytes of a `read` of these spans."""
        if not spans:
            return 0, 0
        _, _, firsts, lasts = self._ordered(*self._bounds(spans))
        lengths = lasts - firsts
        return int((-(-lengths // LONGEST)).sum()), int(lengths.sum())

    def _bounds(self, spans: Sequence[Span]) -> tuple[IntArray, IntArray]:
        """Return the starts and stops of spans, after checking that they are in the file."""
        try:
            begins, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
        except OverflowError as error:
            raise DataFileError(f"{self.name} has {self.size} bytes; a span exceeds 2^63") from error
        self._check(begins, ends)
        return begins, ends

    def _ordered(self, begins: IntArray, ends: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return the sorted spans, those that begin a request, and the starts and stops of requests."""
        order = np.argsort(begins, kind="stable")
        starts, stops = begins[order], np.maximum.accumulate(ends[order])
        groups = self.grouped(starts, stops)
        return order, groups, starts[groups[:-1]], stops[groups[1:] - 1]

    def _check(self, begins: IntArray, ends: IntArray) -> None:
        bad = (begins < 0) | (ends < begins) | (ends > self.size)
        if bad.any():
            place = int(np.flatnonzero(bad)[0])
            raise DataFileError(
                f"{self.name} has {self.size} bytes; requested are {begins[place]} to {ends[place]}"
            )

    def grouped(self, starts: IntArray, stops: IntArray) -> IntArray:
        """Return the ascending spans that begin a request, and the number of spans."""
        return joined(starts, stops, self._gap)

    def fetch(self, starts: IntArray, stops: IntArray) -> list[bytes]:
        """Fetch one request per span; longer spans are split and joined again."""
        self._check(starts, stops)
        wanted: list[Span] = []
        counts: list[int] = []
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            cuts = range(start, stop, LONGEST)
            wanted += [(cut, min(cut + LONGEST, stop)) for cut in cuts]
            counts.append(len(cuts))
        try:
            found = self._door.fetch(wanted) if wanted else []
        except TensorWrapperError as error:
            self._n_failed, self._why = self._n_failed + 1, error
            raise
        with self._lock:
            self._n_requests += len(wanted) if self._door.counts else 0
            self._n_bytes += sum([stop - start for start, stop in wanted])
        if all(count == 1 for count in counts):
            return found
        parts = iter(found)
        return [b"".join([next(parts) for _ in range(count)]) for count in counts]

    @contextlib.contextmanager
    def unbroken(self) -> Generator[None, None, None]:
        """Raise the error of a fetch in the block, even if other code caught it.

        A silent server, or one with another version, must not look like a damaged file. C++ libraries convert
        the error to text, and readers would only skip the affected part.
        """
        before = self._n_failed
        try:
            yield
        except Exception:
            if self._why is not None and self._n_failed > before:
                raise self._why from None
            raise
        if self._why is not None and self._n_failed > before:
            raise self._why

    def read_kept(self, spans: Sequence[Span]) -> list[bytes]:
        """Return the bytes of spans as `read` does, and cache them in blocks; for headers and tables.

        Spans are clipped at the end of the file.
        """
        cut = [(max(start, 0), max(min(stop, self.size), start, 0)) for start, stop in spans]
        numbers = sorted(
            {
                block
                for start, stop in cut
                for block in range(start // _BLOCK, -(-stop // _BLOCK) if stop > start else 0)
            }
        )
        with self._lock:
            missing = [block for block in numbers if block not in self._blocks]
            blocks = {block: self._blocks[block] for block in numbers if block in self._blocks}
            for block in blocks:
                self._blocks.move_to_end(block)
        if missing:
            starts = np.array(missing, dtype=np.int64) * _BLOCK
            stops = np.minimum(starts + _BLOCK, self.size)
            groups = self.grouped(starts, stops)
            firsts = starts[groups[:-1]].tolist()
            got = self.fetch(starts[groups[:-1]], stops[groups[1:] - 1])
            new = {
                (first + inner) // _BLOCK: raw[inner : inner + _BLOCK]
                for first, raw in zip(firsts, got, strict=True)
                for inner in range(0, len(raw), _BLOCK)
            }
            blocks |= new
            self._keep(new)
        return [self._assembled(blocks, start, stop) for start, stop in cut]

    def _keep(self, new: dict[int, bytes]) -> None:
        with self._lock:
            self._blocks.update(new)
            while len(self._blocks) * _BLOCK > _KEPT:
                self._blocks.popitem(last=False)

    @staticmethod
    def _assembled(blocks: dict[int, bytes], start: int, stop: int) -> bytes:
        if stop <= start:
            return b""
        first, last = start // _BLOCK, -(-stop // _BLOCK)
        whole = blocks[first] if last - first == 1 else b"".join([blocks[k] for k in range(first, last)])
        return whole[start - first * _BLOCK : stop - first * _BLOCK]

    def read_at(self, place: int, size: int) -> bytes:
        """Return `size` bytes from a position, fewer at the end of the file; they are cached."""
        return self.read_kept([(place, place + size)])[0]

    def stream(self) -> BinaryIO:
        """Return the file as a stream with cached blocks."""
        return cast("BinaryIO", io.BufferedReader(FileOfRanges(self), _BLOCK))

    def file_for_libraries(self, spans: Sequence[Span] = ()) -> "FileOfRanges":
        """Return the file as a stream for libraries that read a few bytes at random positions.

        All spans are fetched together and stored in the stream. Other reads fetch up to 64 KiB around their
        position, which are cached.
        """
        found = FileOfRanges(self, min(max(self._gap, 1), _AHEAD))
        found.load(spans)
        return found

    def close(self) -> None:
        """Close connections, and the file if `of` opened it; closing twice is harmless."""
        self._door.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("cannot pickle open ranges; use `tw.open` in the other process")

    def __repr__(self) -> str:
        return f"Ranges({self.name!r}, {self.size} bytes)"


@final
class FileOfRanges(io.RawIOBase):
    """A file of byte ranges as a stream."""

    def __init__(self, ranges: Ranges, ahead: int = 1) -> None:
        self._ranges, self._ahead, self._place = ranges, ahead, 0
        self._loaded: dict[int, bytes] = {}
        self._starts: list[int] = []

    def load(self, spans: Sequence[Span]) -> None:
        """Fetch some spans together, for reads within each of them."""
        self._loaded |= {start: raw for (start, _), raw in zip(spans, self._ranges.read(spans), strict=True)}
        self._starts = sorted(self._loaded)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = max((0, self._place, self._ranges.size)[whence] + offset, 0)
        return self._place

    def tell(self) -> int:
        return self._place

    def read(self, size: int | None = -1) -> bytes:
        # Clip to the file size, because a damaged file may request any size.
        left = max(self._ranges.size - self._place, 0)
        found = self._at(self._place, self._place + (left if size is None or size < 0 else min(size, left)))
        self._place += len(found)
        return found

    def readinto(self, target: object) -> int:
        wanted = memoryview(cast("bytearray", target)).cast("B")
        found = self.read(len(wanted))
        wanted[: len(found)] = found
        return len(found)

    def _at(self, start: int, stop: int) -> bytes:
        number = bisect.bisect_right(self._starts, start) - 1
        if number >= 0:
            first = self._starts[number]
            raw = self._loaded[first]
            if stop - first <= len(raw):
                return raw[start - first : stop - first]
        first, last = start // self._ahead * self._ahead, -(-stop // self._ahead) * self._ahead
        return self._ranges.read_kept([(first, last)])[0][start - first : stop - first]


def _door_of(source: object, timeout: float) -> ByteReader:
    if isinstance(source, bytes | bytearray | memoryview):
        raw = cast("bytes", source)
        return MemoryReader(raw, f"<{len(raw)} bytes>")
    if hasattr(source, "read"):
        return FileObjectReader(cast("BinaryIO", source))
    if isinstance(source, str) and has_no_path(source):
        scheme = source.partition(":")[0].lower()
        if scheme in ("tcp", "ipc", "inproc"):
            raise ConversionError(f"{source} is a server; use tw.connect({source!r})")
        if scheme in ("http", "https"):
            from tensorwrapper.store.ranges._http import HttpReader  # noqa: PLC0415 - what http needs takes long to load

            return HttpReader(source, timeout)
        return FsspecReader(source, shown_address(source))
    if isinstance(source, str | os.PathLike):
        return PathReader(to_path(cast("str", source)))
    raise ConversionError(
        f"a file is a path, address, open file or bytes, not {type(source).__name__}: {brief(source)}"
    )
