"""HDF5 files by byte ranges: a stream for h5py, and sources that do not need h5py."""

import io
import itertools
import zlib
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import are_truths
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import assign_elements
from tensorwrapper.errors import DataFileError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats._chunked import ChunkSelection, by_chunk
from tensorwrapper.store.formats._contents import Done
from tensorwrapper.store.formats._fetched_elements import FetchedElements, fetched_array, in_turns
from tensorwrapper.store.formats.hdf5._heaps import Heaps
from tensorwrapper.store.formats.hdf5._types import reads_raw, start_of
from tensorwrapper.store.ranges._joined import LONGEST
from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.store.system._system import of_stranger
from tensorwrapper.typing import Array, Extents, Index, IntArray
from tensorwrapper.wire import Limits

if TYPE_CHECKING:
    import h5py

    from tensorwrapper.selection import Ability, Outer, Source, Wanted

_DEFLATE: Final = 1
_SHUFFLE: Final = 2
_Chunk: TypeAlias = tuple[int, int, int, Index]
"""Start and stop of a chunk, the mask of skipped filters, and its number in each mode."""


@final
class _Stream(io.RawIOBase):
    """A file of byte ranges for h5py, which checks heaps as they are read."""

    def __init__(self, ranges: Ranges, heaps: Heaps) -> None:
        self._file, self._heaps = ranges.file_for_libraries(), heaps

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, target: object) -> int:
        wanted = memoryview(cast("bytearray", target)).cast("B")
        start = self._file.tell()
        found = self._file.read(len(wanted))
        self._heaps.check_between(start, start + len(wanted))
        # Return zeros beyond the end, as HDF5 does; h5py would leave old memory content.
        wanted[:] = found.ljust(len(wanted), b"\0")
        return len(wanted)


def stream_for_hdf5(ranges: Ranges, heaps: Heaps) -> BinaryIO:
    """Return a file of byte ranges for `h5py.File`."""
    return cast("BinaryIO", _Stream(ranges, heaps))


def fetched_source(ranges: Ranges, found: "h5py.Dataset", otherwise: "Source", limits: Limits) -> "Source":
    """Return the elements of a dataset as a source, which fetches without h5py where possible.

    Parameters
    ----------
    ranges
        The file.
    found
        A contiguous or chunked dataset.
    otherwise
        The same elements, read by h5py.
    limits
        Limits on the bytes of a chunk.
    """
    dtype, size = found.dtype, prod(found.shape)
    if not size or not found.shape or not reads_raw(found, dtype):
        return otherwise
    dtype = np.dtype(dtype.str)
    if found.chunks is None:
        start = start_of(found)
        own = otherwise if start is None else fetched_array(ranges, start, found.shape, dtype)
        return own if isinstance(own, FetchedElements) else otherwise
    filters = _filters_of(found)
    # With a user block, versions of HDF5 report different chunk positions.
    if filters is None or found.file.userblock_size or _has_swapped_places(found):
        return otherwise
    return FetchedChunks(ranges, found, found.shape, found.chunks, dtype, filters, otherwise, limits)


def _has_swapped_places(found: "h5py.Dataset") -> bool:
    """Return True if HDF5 may report wrong chunk positions: if a mode other than the first is unlimited.

    HDF5 numbers chunks with that mode first, but up to version 2.0 reports positions in the usual order.
    """
    growing = [mode for mode, most in enumerate(found.maxshape) if most is None]
    return len(growing) == 1 and growing[0] > 0


def _filters_of(found: "h5py.Dataset") -> tuple[int, ...] | None:
    """Return the filters of a dataset; None if one is not supported here."""
    plist = found.id.get_create_plist()
    own = [plist.get_filter(number) for number in range(plist.get_nfilters())]
    numbers = tuple([code for code, *_ in own])
    # HDF5 may silently skip filters for edge chunks, which is detectable only for deflate.
    if numbers not in ((), (_DEFLATE,), (_SHUFFLE, _DEFLATE)):
        return None
    sizes = [values for code, _, values, _ in own if code == _SHUFFLE]
    return numbers if all(values[:1] == (found.dtype.itemsize,) for values in sizes) else None


@final
@frozen(eq=False, repr=False)
class FetchedChunks:
    """A chunked dataset, whose touched chunks are fetched together and decompressed here."""

    ranges: Ranges
    found: "h5py.Dataset"
    extents: Extents
    chunks: Extents
    dtype: "np.dtype[Any]"
    filters: tuple[int, ...]
    otherwise: "Source"
    limits: Limits

    @property
    def shape(self) -> Shape[Any]:
        """The extents of the dataset."""
        return Shape(*self.extents)

    @property
    def version(self) -> str:
        """The version of the file."""
        return self.ranges.version

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source: reads in any thread."""
        return frozenset(("threads",))

    @property
    def nbytes(self) -> int:
        """Decompressed size of a chunk in bytes."""
        return prod(self.chunks) * self.dtype.itemsize

    def cost(self, selection: "Wanted") -> int:
        """Return the decompressed size in bytes of the chunks that a selection touches."""
        if not selection.size:
            return 0
        return prod(map(len, self._touched(cast("Outer", selection)))) * self.nbytes

    def fetches(self, selections: "Sequence[Wanted]") -> tuple[int, int]:
        """Return the number of requests and bytes of a read."""
        with of_stranger(self.ranges.name, "HDF5"):
            lying = self._stored_chunks(self._wanted(selections))
        if not lying:
            return 0, 0
        starts, stops, groups = self._spans(lying)
        lengths = stops[groups[1:] - 1] - starts[groups[:-1]]
        return int((-(-lengths // LONGEST)).sum()), int(lengths.sum())

    def read(self, selections: "Sequence[Wanted]", out: Sequence[Array]) -> Done:
        """Fetch the touched chunks, with one request for neighbouring chunks."""
        with of_stranger(self.ranges.name, "HDF5"):
            self._read(selections, out)
        if not all(map(are_truths, out)):
            raise DataFileError(f"{self.ranges.name}: {self.found.name!r} has a bool that is neither 0 nor 1")
        return Done(len(out))

    def _read(self, selections: "Sequence[Wanted]", out: Sequence[Array]) -> None:
        check_bytes(self.nbytes, self.found.name, self.limits)
        wanted: dict[Index, list[tuple[Array, tuple[ChunkSelection, ...]]]] = {}
        for selection, target in zip(selections, out, strict=True):
            if selection.size:
                for parts in itertools.product(*self._touched(cast("Outer", selection))):
                    wanted.setdefault(tuple([own.chunk for own in parts]), []).append((target, parts))
        for index, chunk in self._unpacked(wanted):
            for target, parts in wanted[index]:
                where: Any = tuple([own.target for own in parts])
                assign_elements(target[where], chunk[np.ix_(*[own.inner for own in parts])])

    def _touched(self, selection: "Outer") -> list[list[ChunkSelection]]:
        """Return the touched chunks of each mode."""
        found: list[list[ChunkSelection]] = []
        for positions, extent in zip(selection.modes, self.chunks, strict=True):
            places: IntArray = np.asarray(positions, dtype=np.int64)
            numbers = places // extent
            found.append(by_chunk(places, numbers, numbers * extent))
        return found

    def _wanted(self, selections: "Sequence[Wanted]") -> dict[Index, None]:
        found: dict[Index, None] = {}
        for selection in selections:
            if selection.size:
                modes = [[own.chunk for own in mode] for mode in self._touched(cast("Outer", selection))]
                found |= dict.fromkeys(itertools.product(*modes))
        return found

    def _stored_chunks(self, wanted: "Iterable[Index]") -> list[_Chunk]:
        """Return the chunks that are stored in the file, in file order."""
        found: list[_Chunk] = []
        for index in wanted:
            corner = tuple([number * extent for number, extent in zip(index, self.chunks, strict=True)])
            said = self.found.id.get_chunk_info_by_coord(corner)
            if said.byte_offset is not None:
                found.append((said.byte_offset, said.byte_offset + said.size, said.filter_mask, index))
        return sorted(found)

    def _unpacked(self, wanted: "dict[Index, Any]") -> Iterator[tuple[Index, Array]]:
        """Yield chunks with their numbers."""
        lying = self._stored_chunks(wanted)
        for index in wanted.keys() - {own[3] for own in lying}:
            # An unwritten chunk has no bytes, and h5py knows its fill value.
            yield index, self._by_h5py(index)
        if not lying:
            return
        starts, stops, groups = self._spans(lying)
        fetched = in_turns(self.ranges, starts[groups[:-1]], stops[groups[1:] - 1])
        for begin, end in zip(groups[:-1].tolist(), groups[1:].tolist(), strict=True):
            raw = memoryview(next(fetched))
            first = int(starts[begin])
            for start, stop, mask, index in lying[begin:end]:
                yield index, self._chunk(index, raw[start - first : stop - first], mask)

    def _spans(self, lying: list[_Chunk]) -> tuple[IntArray, IntArray, IntArray]:
        """Return the starts and stops of chunks, and the chunks that begin a request."""
        starts, stops = np.array([own[:2] for own in lying], dtype=np.int64).T
        # A damaged file may have overlapping chunks.
        stops = np.maximum.accumulate(stops)
        return starts, stops, self.ranges.grouped(starts, stops)

    def _chunk(self, index: Index, raw: memoryview, mask: int) -> Array:
        """Return the elements of a chunk; `mask` has the skipped filters."""
        found: bytes | memoryview | None = raw
        for number in reversed(range(len(self.filters))):
            if found is None or mask >> number & 1:
                continue
            is_packed = self.filters[number] == _DEFLATE
            found = _inflated(found, self.nbytes) if is_packed else _unshuffled(found, self.dtype.itemsize)
        if found is None or len(found) != self.nbytes:
            return self._by_h5py(index)
        return np.frombuffer(found, self.dtype).reshape(self.chunks)

    def _by_h5py(self, index: Index) -> Array:
        """Return a chunk with other filters; HDF5 decodes it or raises."""
        from tensorwrapper.selection import Outer  # noqa: PLC0415 - a room above, which files alone do not need

        modes = [
            range(number * own, min(number * own + own, extent))
            for number, own, extent in zip(index, self.chunks, self.extents, strict=True)
        ]
        found: Array = np.zeros(self.chunks, self.dtype)
        part = np.empty(tuple(map(len, modes)), self.dtype)
        for _ in self.otherwise.read([Outer(modes)], [part]).completed():
            pass
        found[tuple([slice(len(own)) for own in modes])] = part
        return found

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FetchedChunks)
            and self.ranges is other.ranges
            and self.found.name == other.found.name
        )

    def __hash__(self) -> int:
        return hash((id(self.ranges), self.found.name))

    def __repr__(self) -> str:
        return f"{self.ranges.name}:{self.found.name}({self.shape!r}, {self.dtype})"


def _inflated(raw: "bytes | memoryview", nbytes: int) -> bytes | None:
    """Return `nbytes` decompressed bytes; None if the data are not zlib data of that size."""
    try:
        return zlib.decompressobj().decompress(raw, nbytes + 1)
    except zlib.error:
        return None


def _unshuffled(raw: "bytes | memoryview", size: int) -> bytes:
    """Undo the shuffle filter, which groups the first bytes of all elements, the second bytes, and so on."""
    flat = np.frombuffer(raw, np.uint8)
    count = len(flat) // size
    return flat[: count * size].reshape(size, count).T.tobytes() + flat[count * size :].tobytes()
