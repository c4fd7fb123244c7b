"""NumPy's own files: one array in ``.npy``, and archives of them in ``.npz``. Never a pickle.

Fixed-length text becomes a tensor of strings, and each field of a record a separate tensor.
"""

import ast
import math
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import as_truths
from tensorwrapper._error_text import brief
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import strings_from_numpy
from tensorwrapper.errors import DataFileError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._contents import Contents, Held, Opening
from tensorwrapper.store.formats._fields import FieldPath, field_paths, inner_of
from tensorwrapper.store.formats._names import FreeNames
from tensorwrapper.store.formats._scipy import Found, with_sparse
from tensorwrapper.store.formats._zip_member import ZipMember, whole_of
from tensorwrapper.store.records._loss import Loss, LossCode, loss_in
from tensorwrapper.store.records._record import cut
from tensorwrapper.store.system._archive import Archive
from tensorwrapper.store.system._map import FileMemory, stream_over
from tensorwrapper.store.system._replace import replacing
from tensorwrapper.store.system._system import OpenedFile, of_stranger
from tensorwrapper.tensor import Tensor, strings
from tensorwrapper.typing import Array
from tensorwrapper.wire import DEFAULT_LIMITS, Limits

ONE: Final = "array"
"""Name of the array in a .npy file, as the format has no names."""

_CHUNK: Final = 2**24
_HEADER_BYTES: Final = 10_000  # limit, as in NumPy
_MOST_BYTES: Final = 2**20  # longest header that is reported as too long, not as damaged
_KINDS: Final = "biufcmMUS"
_NUMBERS: Final = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '([<>|][biufc](?:1|2|4|8|16))', "
    rb"'fortran_order': (?:False|True), 'shape': \(((?:[0-9]{1,10},? ?){0,8})\), \}",
    re.DOTALL,
)
"""Headers of number arrays as written by NumPy, with valid extents."""
_DIGITS: Final = re.compile(rb"[0-9]+")
_NUMBERS_BYTES: Final = 192
MAGIC: Final = b"\x93NUMPY"
_KEYS: Final = {"descr", "fortran_order", "shape"}
_PACKINGS: Final = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}
_LONG: Final = re.compile(r"(?<=[0-9])L(?=[,)])")
_PICKLES: Final = "np.load(..., allow_pickle=True) reads them, and runs any code of their author"
_BEHIND: Final = "np.load of an open file reads arrays that were saved to it one after another"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""A fixed date, so that equal tensors produce equal bytes."""


@final
@frozen
class NpyHead:
    """Dtype and size of an array, from its header."""

    dtype: "np.dtype[Any]"
    nbytes: int
    """Size of the header and of all elements in bytes."""


def open_npy(path: Path, how: Opening) -> Contents:
    """Return the contents of a ``.npy`` file; reads its header.

    Raises
    ------
    DataFileError
        If the file is missing, damaged, or has only Python objects.
    """
    memory = map_whole(path, ".npy", how.opened)
    with of_stranger(path, ".npy"):
        try:
            head = npy_head(stream_over(memoryview(memory)), ONE)
        except DataFileError as error:
            told = loss_in(error)
            if told is None:
                raise
            return Contents({}, {}, (told,))
    read = partial(mapped_array, memory, 0, len(memory))
    losses = left_over(ONE, head, len(memory))
    return contents_of([(ONE, head.dtype, Held(0, len(memory), "dense", read))], losses)


def open_npz(path: Path, how: Opening) -> Contents:
    """Return the contents of an archive from its directory. A SciPy sparse matrix is one tensor, `array`.

    Raises
    ------
    DataFileError
        If there is no such file, or it is damaged.
    """
    memory = map_whole(path, ".npz", how.opened)
    with of_stranger(path, ".npz"):
        archive = Archive(memory)
        infos = archive.infolist()
    found: list[Found] = []
    losses: list[Loss] = []
    counts = Counter([info.filename for info in infos])
    losses += told_twice(counts)
    for info in infos:
        name = info.filename.removesuffix(".npy")
        if counts[info.filename] > 1:
            continue
        loss = no_array(info, counts, partial(_first_bytes, archive, info))
        head = loss or _head_of(archive, info, name)
        if isinstance(head, Loss):
            losses.append(head)
            continue
        held = Held(
            info.header_offset,
            info.compress_size,
            "dense" if is_stored(info) else "deflated",
            partial(_member, archive, info, how.limits),
        )
        found.append((name, None if head is None else head.dtype, held))
        losses += [] if head is None else left_over(name, head, info.file_size)
    return contents_of(found if how.raw else with_sparse(found, losses, how.limits), losses)


def told_twice(counts: Mapping[str, int]) -> list[Loss]:
    """Return a loss for each name shared by several members of an archive."""
    return [
        Loss(
            f"the archive holds {filename.removesuffix('.npy')!r} {count} times",
            filename.removesuffix(".npy"),
            "name",
            "np.load takes the last one of them",
        )
        for filename, count in counts.items()
        if count > 1
    ]


def no_array(
    info: zipfile.ZipInfo, counts: Mapping[str, int], first_bytes: Callable[[], bytes | None]
) -> Loss | None:
    """Return why a member is not an array. As in NumPy, its first bytes decide, not its name.

    `first_bytes` is None if the member cannot be unpacked.
    """
    name = info.filename.removesuffix(".npy")
    packed, is_named = unknown_packing(info), name != info.filename
    if packed is not None and is_named:
        return Loss(f"the member {name!r} {packed}", name, "codec")
    first = b"" if packed is not None or info.filename.endswith("/") else first_bytes()
    # A member that cannot be unpacked is damaged; reading it raises.
    if first != MAGIC and (first is not None or not is_named):
        return Loss(f"the archive holds {info.filename!r}, which is not an array", name, "member")
    if not is_named and f"{name}.npy" in counts:
        text = f"the archive holds {name!r} with and without '.npy' at its end"
        return Loss(text, name, "name", f"np.load(...)[{name!r}] is the one without")
    return None


def _first_bytes(archive: Archive, info: zipfile.ZipInfo) -> bytes | None:
    """Return the first bytes of a member; None if they cannot be unpacked."""
    if is_stored(info):
        begin, end = span_of(archive.memory, info)
        return archive.memory[begin : min(begin + len(MAGIC), end)]
    try:
        with archive.open(info) as member:
            return member.read(len(MAGIC))
    except Exception:  # noqa: BLE001 - whatever a damaged member makes Python raise
        return None


def unknown_packing(info: zipfile.ZipInfo) -> str | None:
    """Return why a member cannot be unpacked, as the end of a sentence; None if it can."""
    if info.flag_bits & 1:
        return "is encrypted: `unzip -P` unpacks it"
    if info.compress_type not in _PACKINGS:
        return f"is packed in way {info.compress_type} of ZIP, which Python cannot unpack: `7z x` does"
    return None


def _head_of(archive: Archive, info: zipfile.ZipInfo, name: str) -> NpyHead | Loss | None:
    """Return the parsed header, or the loss of an unsupported one; None for a damaged one."""
    if is_stored(info):
        return head_or_loss(lambda: npy_head_in(archive.memory, *span_of(archive.memory, info), name))

    def inflated() -> NpyHead:
        with archive.open(info) as member:
            return npy_head(member, name)

    return head_or_loss(inflated)


def head_or_loss(read: Callable[[], NpyHead]) -> NpyHead | Loss | None:
    """Return the parsed header, or the loss of an unsupported one.

    Return None for a damaged header; reading the array then raises.
    """
    try:
        return read()
    except Exception as error:  # noqa: BLE001 - whatever a damaged header makes NumPy raise
        return loss_in(error)


def contents_of(found: list[Found], losses: list[Loss]) -> Contents:
    """Return the tensors, each field of records separately, and losses for the rest."""
    held: dict[str, Held] = {}
    free = FreeNames({name for name, dtype, _ in found if dtype is None or not dtype.names})
    for name, dtype, own in found:
        if dtype is None or not dtype.names:
            loss = None if dtype is None else npy_refusal(name, dtype, _KINDS)
            if loss is None:
                held[name] = own if dtype is None or dtype.kind not in "US" else _text(own)
            else:
                losses.append(loss)
            continue
        for path, inner in field_paths(dtype):
            full = ".".join([name, *path])
            loss = npy_refusal(full, inner_of(inner)[0], _KINDS)
            if loss is None and dtype.hasobject:
                text = f"the field {full!r} is among Python objects, and only a pickle restores both"
                loss = Loss(text, full, "objects", _PICKLES)
            if loss is not None:
                losses.append(loss)
                continue
            taken = free.claim(full)
            if taken != full:
                losses.append(
                    Loss(f"the field {full!r} is called {taken!r}, as its name is taken", full, "name")
                )
            part = attrs.evolve(own, packing="field", read=partial(_field, own.read, path))
            held[taken] = _text(part) if inner_of(inner)[0].kind in "US" else part
    return Contents(held, {}, tuple(losses))


def npy_refusal(name: str, dtype: "np.dtype[Any]", kinds: str = "biufcmM") -> Loss | None:
    """Return a loss if a dtype is not among the supported `kinds`; otherwise None."""
    if dtype.hasobject:
        return Loss(
            f"{name!r} holds Python objects, which only a pickle brings back", name, "objects", _PICKLES
        )
    no_unit = dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic"
    if dtype.kind not in kinds or (no_unit and (dtype.kind == "M" or not dtype.isnative)):
        advice = "np.load(...).view(...) says of which type they are" if dtype.kind == "V" else ""
        return Loss(f"{name!r} has elements {str(dtype)[:60]}, which are not numbers", name, "type", advice)
    return None


def _text(own: Held) -> Held:
    """Return fixed-length text as strings, without trailing zeros, as in NumPy."""
    return attrs.evolve(own, packing="strings", read=partial(_strings, own.read))


def _strings(read: Callable[[], object]) -> Tensor[Any]:
    array = whole_of(read())
    data = strings_from_numpy(array.reshape(-1))
    return strings(data, shape=Shape(*array.shape))


def _field(read: Callable[[], object], path: FieldPath) -> Array:
    found: Any = whole_of(read())
    for name in path:
        found = found[name]
    return cast("Array", found)


def map_whole(path: Path, kind: str, opened: OpenedFile | None = None) -> FileMemory:
    """Return a file as memory."""
    with of_stranger(path, kind), opened or OpenedFile(path) as found:
        return found.memory()


def _member(archive: Archive, info: zipfile.ZipInfo, limits: Limits) -> "Array | ZipMember":
    if is_stored(info):
        return mapped_array(archive.memory, *span_of(archive.memory, info))
    return compressed_member(archive, info, limits)


def npy_head_in(memory: FileMemory, begin: int, end: int, name: str) -> NpyHead:
    """Return the parsed header of an array in memory, with a fast path for arrays of numbers."""
    found = _NUMBERS.match(memory[begin : min(begin + _NUMBERS_BYTES, end)])
    if found is not None:
        dtype, shape = np.dtype(found[2].decode()), map(int, _DIGITS.findall(found[3]))
        return NpyHead(dtype, 10 + int.from_bytes(found[1], "little") + math.prod(shape) * dtype.itemsize)
    return npy_head(stream_over(memoryview(memory)[begin:end]), name)


def npy_head(stream: IO[bytes], name: str) -> NpyHead:
    """Return the parsed header of an array.

    Raises
    ------
    DataFileError
        If the content is unsupported; the error has a loss.
    """
    shape, _, dtype = npy_header(stream, name)
    return NpyHead(dtype, stream.tell() + math.prod(shape) * dtype.itemsize)


def left_over(name: str, head: NpyHead, nbytes: int) -> list[Loss]:
    """Return a loss with the number of bytes after an array, which NumPy ignores.

    A pickle may have any number of bytes.
    """
    extra = 0 if head.dtype.hasobject else nbytes - head.nbytes
    text = f"behind the elements of {name!r} are {extra} bytes that belong to no array"
    return [Loss(text, name, "member", _BEHIND)] if extra > 0 else []


def npy_header(stream: IO[bytes], name: str = ONE) -> tuple[tuple[int, ...], bool, "np.dtype[Any]"]:
    """Return the extents, True for Fortran order, and the dtype.

    Arrays in elements become trailing modes, as in NumPy.
    """
    version, raw = _header_text(stream, name)
    found = _literal(raw.decode("latin-1" if version < (3, 0) else "utf-8"))
    fields = cast("dict[object, Any]", found) if isinstance(found, dict) else {}
    if fields.keys() != _KEYS:
        raise ValueError(f"its header must have the keys {sorted(_KEYS)}")
    shape: tuple[int, ...] = fields["shape"]
    is_fortran: bool = fields["fortran_order"]
    if type(shape) is not tuple or not all(type(extent) is int and extent >= 0 for extent in shape):
        raise ValueError(f"its extents are {brief(shape)}")
    if type(is_fortran) is not bool:
        raise ValueError(f"its order is {brief(is_fortran)}")
    dtype = _type_of(fields["descr"], name)
    if dtype.subdtype is not None and is_fortran and len(shape) > 1:
        text = f"has an array in each element, {dtype}, and says nothing of the order in these"
        raise _unknown(name, text, "type", "")
    while dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
        shape += inner
    if len(shape) > DEFAULT_LIMITS.rank or max(shape, default=0) > DEFAULT_LIMITS.extent:
        # Check even with an extent of 0, because NumPy still multiplies the others.
        text = f"has the extents {brief(shape)}; up to {DEFAULT_LIMITS.rank} modes are read, of up to "
        raise _unknown(name, f"{text}{DEFAULT_LIMITS.extent} indices", "member", "")
    return shape, is_fortran, dtype


def _header_text(stream: IO[bytes], name: str) -> tuple[tuple[int, int], bytes]:
    """Return the version of the format, and the text of the header."""
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0), (3, 0)):
        text = f"is written in version {version[0]}.{version[1]} of the format, which is not known"
        raise _unknown(name, text, "version", "a newer NumPy may read it")
    length = int.from_bytes(stream.read(2 if version == (1, 0) else 4), "little")
    if length > _MOST_BYTES:
        raise ValueError(f"its header has {length} bytes, but the limit is {_HEADER_BYTES}")
    raw = stream.read(length)
    if len(raw) != length:
        raise ValueError(f"its header is truncated: it has {len(raw)} of {length} bytes")
    if length > _HEADER_BYTES:
        text = f"has a header of {length} bytes, which says its type; {_HEADER_BYTES} are read"
        raise _unknown(name, text, "type", "np.load(..., max_header_size=...) reads it")
    return version, raw


def _type_of(descr: object, name: str) -> "np.dtype[Any]":
    """Return the dtype that a header describes."""
    try:
        return np.lib.format.descr_to_dtype(cast("Any", descr))
    except (TypeError, ValueError) as error:
        if not isinstance(descr, str | tuple | list):
            raise
        text = f"has elements {brief(cast('Any', descr))}, which NumPy does not know"
        raise _unknown(name, text, "type", "") from error


def _unknown(name: str, text: str, code: LossCode, advice: str) -> DataFileError:
    """Return the error for an array that is valid but unsupported."""
    return DataFileError(Loss(f"{name!r} {text}", name, code, advice))


def _literal(text: str) -> object:
    """Return the parsed header. NumPy's parser takes minutes for some kilobytes of invalid text."""
    try:
        try:
            return cast("object", ast.literal_eval(text))
        except SyntaxError:
            # Python 2 wrote some extents as 3L.
            return cast("object", ast.literal_eval(_LONG.sub("", text)))
    except MemoryError:
        # The parser raises this for nesting that is too deep.
        raise ValueError("its header is nested too deeply") from None


def mapped_array(memory: FileMemory, begin: int, end: int) -> Array:
    """Return the array whose header starts at `begin`, as a view of the file up to `end`."""
    stream = stream_over(memoryview(memory)[begin:end])
    shape, is_fortran, dtype = npy_header(stream)
    if dtype.hasobject:
        raise ValueError("it has Python objects, which would require unpickling")
    place, count = begin + stream.tell(), math.prod(shape)
    if place + count * dtype.itemsize > end:
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
        stream.write(as_truths(run.elements()).view(np.uint8).data)


def is_stored(info: zipfile.ZipInfo) -> bool:
    """Return True if a member is stored uncompressed in the archive."""
    return info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1


def span_of(memory: FileMemory, info: zipfile.ZipInfo) -> tuple[int, int]:
    """Return the start and stop of a stored member."""
    lengths = memory[info.header_offset + 26 : info.header_offset + 30]
    begin = info.header_offset + 30 + sum([int.from_bytes(lengths[k : k + 2], "little") for k in (0, 2)])
    return begin, begin + info.file_size


def compressed_member(archive: Archive, info: zipfile.ZipInfo, limits: Limits) -> ZipMember:
    """Return an array as a source that decompresses it lazily. Reads the header now."""
    with archive.open(info) as member:
        shape, is_fortran, dtype = npy_header(member)
        place, size = member.tell(), math.prod(shape) * dtype.itemsize
    if dtype.hasobject:
        raise ValueError("it has Python objects, which would require unpickling")
    # Check the claimed size before any allocation. The archive checks the unpacked bytes.
    if place + size > info.file_size:
        raise ValueError(f"{shape} elements of {dtype} do not fit the {info.file_size} bytes of a member")
    return ZipMember(archive, info.filename, place, shape, dtype, is_fortran, limits)


def check_stored(memory: FileMemory, begin: int, info: zipfile.ZipInfo) -> None:
    """Raise unless an uncompressed member has the checksum listed in the archive."""
    checksum, left = 0, memoryview(memory)[begin : begin + info.file_size]
    is_whole = len(left) == info.file_size
    while left:
        checksum, left = zlib.crc32(left[:_CHUNK], checksum), left[_CHUNK:]
    if not is_whole or checksum != info.CRC:
        raise ValueError(f"the checksum of {info.filename!r} does not match")


def write_npz(path: Path, tensors: Iterator[tuple[str, Tensor[Any]]]) -> None:
    """Write dense tensors to an archive without compression, a run of rows at a time."""
    with replacing(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, tensor in tensors:
            info = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            with archive.open(info, "w", force_zip64=True) as member:
                _write(member, tensor)
