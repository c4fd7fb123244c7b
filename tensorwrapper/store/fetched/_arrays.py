"""Arrays in npy, npz and safetensors files, read by byte ranges. Opening reads only headers."""

import io
import math
import zipfile
from collections import Counter
from functools import partial
from typing import Final, final

import numpy as np

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats._contents import Contents, Held, Opening
from tensorwrapper.store.formats._fetched_elements import fetched_array
from tensorwrapper.store.formats._file_location import begin_of_member
from tensorwrapper.store.formats._npy import (
    MAGIC,
    ONE,
    NpyHead,
    contents_of,
    head_or_loss,
    is_stored,
    left_over,
    no_array,
    npy_header,
    told_twice,
)
from tensorwrapper.store.formats._safetensors import read_plans
from tensorwrapper.store.formats._scipy import Found, with_sparse
from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.store.records._loss import Loss, loss_in
from tensorwrapper.wire import Limits

_HEAD: Final = 512
"""Bytes of each member to fetch with the headers of all members."""
_FIRST: Final = 2**16
"""Limit on the bytes of a member that may contain its header."""


def fetched_safetensors(ranges: Ranges, _how: Opening) -> Contents:
    """Return the contents of a safetensors file; fetches its header.

    Raises
    ------
    DataFileError
        If the file violates the format.
    """
    plans, metadata, losses = read_plans(ranges.read_at, ranges.size, ranges.name)
    held = {
        name: Held(
            start,
            math.prod(shape) * dtype.itemsize,
            "dense",
            partial(fetched_array, ranges, start, shape, dtype, is_fortran=False),
        )
        for name, (dtype, shape, start) in plans.items()
    }
    return Contents(held, metadata, losses)


def fetched_npy(ranges: Ranges, _how: Opening) -> Contents:
    """Return the contents of a ``.npy`` file; fetches its header.

    Raises
    ------
    DataFileError
        If it is damaged.
    """
    stream = ranges.stream()
    try:
        shape, is_fortran, dtype = npy_header(stream, ONE)
    except DataFileError as error:
        told = loss_in(error)
        if told is None:
            raise
        return Contents({}, {}, (told,))
    place = stream.tell()
    head = NpyHead(dtype, place + math.prod(shape) * dtype.itemsize)
    read = partial(fetched_array, ranges, place, shape, dtype, is_fortran=is_fortran)
    losses = left_over(ONE, head, ranges.size)
    return contents_of([(ONE, dtype, Held(0, ranges.size, "dense", read))], losses)


def fetched_npz(ranges: Ranges, how: Opening) -> Contents:
    """Return the contents of an archive; fetches its directory, and all member headers in one round.

    Raises
    ------
    DataFileError
        If it is damaged.
    """
    # The members share the archive, whose directory is parsed once and whose stream needs no close.
    archive = zipfile.ZipFile(ranges.stream())
    infos = archive.infolist()
    if len(infos) > how.limits.parts:
        raise DataFileError(f"{ranges.name} has more than {how.limits.parts} members; limits= can raise it")
    ranges.read_kept([(own.header_offset, own.header_offset + _HEAD) for own in infos])
    counts = Counter([info.filename for info in infos])
    found: list[Found] = []
    losses = told_twice(counts)
    for info in infos:
        name = info.filename.removesuffix(".npy")
        if counts[info.filename] > 1:
            continue
        member = _Member(ranges, archive, info, how.limits)
        head = no_array(info, counts, member.first_bytes) or member.head()
        if isinstance(head, Loss):
            losses.append(head)
            continue
        packing = "dense" if is_stored(info) else "deflated"
        held = Held(info.header_offset, info.compress_size, packing, member.read)
        found.append((name, None if head is None else head.dtype, held))
        losses += [] if head is None else left_over(name, head, info.file_size)
    return contents_of(found if how.raw else with_sparse(found, losses, how.limits), losses)


@final
class _Member:
    """A member of an archive."""

    __slots__ = ("archive", "info", "limits", "ranges")

    def __init__(
        self, ranges: Ranges, archive: zipfile.ZipFile, info: zipfile.ZipInfo, limits: Limits
    ) -> None:
        self.ranges, self.archive, self.info, self.limits = ranges, archive, info, limits

    def first_bytes(self) -> bytes | None:
        """Return the first bytes, which identify an array; None if they cannot be unpacked."""
        try:
            return self._stream().read(len(MAGIC))
        except Exception:  # noqa: BLE001 - whatever a damaged member makes Python raise
            return None

    def head(self) -> NpyHead | Loss | None:
        """Return the header, or a loss with the reason why it is not read; None if it is damaged."""
        name = self.info.filename.removesuffix(".npy")

        def said() -> NpyHead:
            stream = self._stream()
            shape, _, dtype = npy_header(stream, name)
            return NpyHead(dtype, stream.tell() + math.prod(shape) * dtype.itemsize)

        return head_or_loss(said)

    def read(self) -> object:
        """Return the elements as a source if the member is uncompressed, otherwise as an array."""
        info = self.info
        stream = self._stream()
        shape, is_fortran, dtype = npy_header(stream)
        if dtype.hasobject:
            raise ValueError("it has Python objects, which would require unpickling")
        place, nbytes = stream.tell(), math.prod(shape) * dtype.itemsize
        if place + nbytes > info.file_size:
            raise ValueError(f"{shape} elements of {dtype} do not fit the {info.file_size} bytes of a member")
        if is_stored(info):
            begin = begin_of_member(self.ranges, self.info) + place
            return fetched_array(self.ranges, begin, shape, dtype, is_fortran=is_fortran)
        check_bytes(nbytes, info.filename, self.limits)
        with self.archive.open(info) as packed:
            packed.read(place)
            raw = packed.read(nbytes)
        if len(raw) != nbytes:
            raise ValueError("it is truncated")
        return np.frombuffer(raw, dtype).reshape(shape, order="F" if is_fortran else "C")

    def _stream(self) -> io.BytesIO:
        """Return the first bytes of a member as a stream."""
        if is_stored(self.info):
            return io.BytesIO(
                self.ranges.read_at(begin_of_member(self.ranges, self.info), min(self.info.file_size, _FIRST))
            )
        with self.archive.open(self.info) as packed:
            return io.BytesIO(packed.read(_FIRST))
