"""NumPy's own files: one array in ``.npy``, and archives of them in ``.npz``. Never a pickle."""

import ast
import math
import re
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, cast

import numpy as np

from tensorwrapper._wording import brief
from tensorwrapper.buffer.lowlevel import check_dtype
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.foreign._contents import Contents, Held
from tensorwrapper.store.foreign._member import Member
from tensorwrapper.store.records._record import cut
from tensorwrapper.store.system._map import FileMap, map_file, stream_over
from tensorwrapper.store.system._replace import replacing
from tensorwrapper.store.system._system import of_stranger, reading
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array
from tensorwrapper.wire import DEFAULT_LIMITS, Limits

__all__ = [
    "ONE",
    "check_stored",
    "compressed_member",
    "is_stored",
    "map_whole",
    "mapped_array",
    "members_of",
    "open_npy",
    "open_npz",
    "read_npy",
    "read_npz",
    "span_of",
    "write_npy",
    "write_npz",
]

ONE: Final = "array"
"""The name of the array that a .npy file has: the format gives it none."""

_CHUNK: Final = 2**24
_HEADER_BYTES: Final = 10_000  # as NumPy has it
_KEYS: Final = {"descr", "fortran_order", "shape"}
_LONG: Final = re.compile(r"(?<=[0-9])L(?=[,)])")
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The first day of ZIP: the same tensors make the same bytes."""


def open_npy(path: Path, _limits: Limits) -> Contents:
    """Return what a ``.npy`` file has; nothing of it is read."""
    memory = map_whole(path)
    return Contents({ONE: Held(0, len(memory), "dense", partial(mapped_array, memory, 0, len(memory)))})


def open_npz(path: Path, limits: Limits) -> Contents:
    """Return what an archive has, by its directory.

    Raises
    ------
    DataFileError
        If there is no such file, or it is damaged.
    """
    memory = map_whole(path)
    with of_stranger(path, ".npz"):
        infos = members_of(memory)
    arrays = [info for info in infos if info.filename.endswith(".npy")]
    others = [info.filename for info in infos if info not in arrays]
    held = {
        info.filename.removesuffix(".npy"): Held(
            info.header_offset,
            info.compress_size,
            "dense" if is_stored(info) else "deflated",
            partial(_member, memory, info, limits.decompressed_bytes),
        )
        for info in arrays
    }
    if len(held) != len(arrays):
        raise DataFileError(f"{path} has a member twice")
    return Contents(held, {}, tuple([f"the archive holds {name!r}, which is no array" for name in others]))


def map_whole(path: Path) -> FileMap:
    """Return a file as memory."""
    with reading(path, path.suffix.lower()) as stream:
        return map_file(stream.fileno(), 0, path)


def _member(memory: FileMap, info: zipfile.ZipInfo, most: int) -> "Array | Member":
    if is_stored(info):
        return mapped_array(memory, *span_of(memory, info))
    return compressed_member(memory, info, most)


def read_npy(path: Path) -> Array:
    """Return the array in a file, mapped into memory.

    Raises
    ------
    DataFileError
        If there is no such file, or it is damaged, or holds Python objects.
    """
    with reading(path, ".npy") as stream:
        memory = map_file(stream.fileno(), 0, path)
        return mapped_array(memory, 0, len(memory))


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, "np.dtype[Any]"]:
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version[0]}.{version[1]} of the format is for structures alone")
    length = int.from_bytes(stream.read(2 if version == (1, 0) else 4), "little")
    if length > _HEADER_BYTES:
        raise ValueError(f"its header has {length} bytes; {_HEADER_BYTES} are allowed")
    raw = stream.read(length)
    if len(raw) != length:
        raise ValueError(f"its header is cut off: it has {len(raw)} of {length} bytes")
    found = _literal(raw.decode("latin-1"))
    fields = cast("dict[object, Any]", found) if isinstance(found, dict) else {}
    if fields.keys() != _KEYS:
        raise ValueError(f"its header has not the keys {sorted(_KEYS)}")
    shape: tuple[int, ...] = fields["shape"]
    is_fortran: bool = fields["fortran_order"]
    if type(shape) is not tuple or not all(type(extent) is int and extent >= 0 for extent in shape):
        raise ValueError(f"its extents are {brief(shape)}")
    if len(shape) > DEFAULT_LIMITS.rank or max(shape, default=0) > DEFAULT_LIMITS.extent:
        # Also behind a 0: NumPy multiplies the others all the same.
        raise ValueError(f"its extents are {brief(shape)}; {DEFAULT_LIMITS.extent} is the most")
    if type(is_fortran) is not bool:
        raise ValueError(f"its order is {brief(is_fortran)}")
    dtype: np.dtype[Any] = np.lib.format.descr_to_dtype(fields["descr"])
    if dtype.subdtype is not None:
        raise ValueError(f"each of its elements is an array: {dtype}")
    if dtype.hasobject:
        raise ValueError("it holds Python objects, and only a pickle could bring them back")
    return shape, is_fortran, dtype


def _literal(text: str) -> object:
    """Return what a header says. NumPy's own reader takes minutes for some kilobytes that are no literal."""
    try:
        try:
            return cast("object", ast.literal_eval(text))
        except SyntaxError:
            # Python 2 wrote some extents as 3L.
            return cast("object", ast.literal_eval(_LONG.sub("", text)))
    except MemoryError:
        # So says the parser of what nests too deep.
        raise ValueError("its header nests too deep") from None


def mapped_array(memory: FileMap, begin: int, end: int) -> Array:
    """Return the array whose header starts at `begin`, as a view of the file up to `end`."""
    stream = stream_over(memoryview(memory)[begin:end])
    shape, is_fortran, dtype = _header(stream)
    place, count = begin + stream.tell(), math.prod(shape)
    if place + count * dtype.itemsize != end:
        raise ValueError(f"{shape} elements of {dtype} do not fit its {end - place} bytes")
    if not count:
        return np.empty(shape, dtype)
    return _in_order(np.frombuffer(memory, dtype, count, place), shape, is_fortran)


def _in_order(flat: Array, shape: tuple[int, ...], is_fortran: bool) -> Array:  # noqa: FBT001
    return flat.reshape(shape, order="F" if is_fortran else "C")


def write_npy(path: Path, tensor: Tensor[Any]) -> None:
    """Write a dense tensor, a run of rows at a time."""
    with replacing(path) as stream:
        _write(stream, tensor)


def _write(stream: IO[bytes], tensor: Tensor[Any]) -> None:
    extents = tuple(tensor.shape.extents)
    header = {"descr": np.lib.format.dtype_to_descr(tensor.dtype), "fortran_order": False, "shape": extents}
    np.lib.format.write_array_header_1_0(cast("Any", stream), header)
    for run in cut(tensor, _CHUNK):
        stream.write(run.elements().view(np.uint8).data)


def read_npz(path: Path) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of an archive; those that are not compressed are mapped into memory.

    Raises
    ------
    DataFileError
        If there is no such file, or it is damaged, or holds Python objects.
    """
    with reading(path, ".npz") as stream:
        memory = map_file(stream.fileno(), 0, path)
        for info in members_of(memory):
            if not info.filename.endswith(".npy"):
                raise ValueError(f"it holds {info.filename!r}, which is no array")
            if is_stored(info):
                begin, end = span_of(memory, info)
                check_stored(memory, begin, info)
                yield info.filename.removesuffix(".npy"), mapped_array(memory, begin, end)
            else:
                yield info.filename.removesuffix(".npy"), _inflated(memory, info)


def members_of(memory: FileMap) -> list[zipfile.ZipInfo]:
    """Return what an archive holds, by its directory."""
    with zipfile.ZipFile(stream_over(memoryview(memory))) as archive:
        return archive.infolist()


def is_stored(info: zipfile.ZipInfo) -> bool:
    """Tell whether a member lies in the archive as it is."""
    return info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1


def span_of(memory: FileMap, info: zipfile.ZipInfo) -> tuple[int, int]:
    """Return where a stored member begins and ends."""
    lengths = memory[info.header_offset + 26 : info.header_offset + 30]
    begin = info.header_offset + 30 + sum([int.from_bytes(lengths[k : k + 2], "little") for k in (0, 2)])
    return begin, begin + info.file_size


def compressed_member(memory: FileMap, info: zipfile.ZipInfo, most: int) -> Member:
    """Return an array as a source that inflates it; its header is read now."""
    with zipfile.ZipFile(stream_over(memoryview(memory))) as archive, archive.open(info) as member:
        shape, is_fortran, dtype = _header(member)
        place, size = member.tell(), math.prod(shape) * dtype.itemsize
    check_dtype(dtype)
    # What is claimed is compared before anything is allocated; the archive checks what it unpacks.
    if place + size != info.file_size:
        raise ValueError(f"{shape} elements of {dtype} do not fit the {info.file_size} bytes of a member")
    return Member(memory, info.filename, place, shape, dtype, is_fortran, most)


def _inflated(memory: FileMap, info: zipfile.ZipInfo) -> Array:
    own = compressed_member(memory, info, 0)
    with zipfile.ZipFile(stream_over(memoryview(memory))) as archive:
        data = archive.read(info)
    if len(data) != info.file_size:
        raise ValueError(f"a member has {len(data)} bytes instead of {info.file_size}")
    count = math.prod(own.extents)
    return _in_order(np.frombuffer(data, own.dtype, count, own.place), own.extents, own.is_fortran)


def check_stored(memory: FileMap, begin: int, info: zipfile.ZipInfo) -> None:
    """Raise unless a member that was not compressed has the checksum that the archive says."""
    checksum, left = 0, memoryview(memory)[begin : begin + info.file_size]
    is_whole = len(left) == info.file_size
    while left:
        checksum, left = zlib.crc32(left[:_CHUNK], checksum), left[_CHUNK:]
    if not is_whole or checksum != info.CRC:
        raise ValueError(f"the checksum of {info.filename!r} does not fit")


def write_npz(path: Path, tensors: Iterator[tuple[str, Tensor[Any]]]) -> None:
    """Write dense tensors to an archive without compression, a run of rows at a time."""
    with replacing(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, tensor in tensors:
            info = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            with archive.open(info, "w", force_zip64=True) as member:
                _write(member, tensor)
