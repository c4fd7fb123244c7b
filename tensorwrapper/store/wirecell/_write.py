"""Write tensor files of Wire-Cell: tar archives, plain or compressed, and zip archives."""

import bz2
import gzip
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper._json import dump_json
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError, LocalProtocolError, TensorSetError
from tensorwrapper.store.formats._contents import Conversion, Named, Options, leaving_out
from tensorwrapper.store.formats._write_blocks import (
    TensorLike,
    dense_advice,
    flat_runs,
    refused_type,
    to_write,
    without_layers,
)
from tensorwrapper.store.records._loss import Loss, unsaid
from tensorwrapper.store.system._replace import replacing
from tensorwrapper.store.wirecell._names import MemberName, set_number, tensor_number
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array
from tensorwrapper.wire.lowlevel import is_metadata_alone, plain_object
from tensorwrapper.wirecell import TensorSet

_AT_ONCE: Final = 2**24  # bytes of a view computed at a time
_LEVEL: Final = 6  # gzip level; 9 takes three times as long for one percent
_Put: TypeAlias = "Callable[[str, int, Iterable[bytes | memoryview]], object]"
"""Function that writes a member with a name, a size in bytes, and the bytes."""


@final
@frozen(eq=False)
class _Group:
    """A set being written: its tensors by number, and the metadata of each."""

    prefix: str
    ident: int
    metadata: Mapping[str, Any]
    tensors: Iterable[tuple[int, object, Mapping[str, Any]]]


def write_sets(path: Path, kind: str, sets: Iterable[TensorSet], prefix: str) -> Conversion:
    """Write sets one at a time, consuming an iterator.

    Raises
    ------
    ConversionError
        If a tensor is not a dense box of one mode or more, or metadata has no JSON form.
    TensorSetError
        If two sets have the same number, because readers would merge them.
    """
    seen: set[int] = set()

    def groups() -> Iterator[_Group]:
        for own in sets:
            if own.ident in seen:
                raise TensorSetError(f"two sets have the number {own.ident}")
            seen.add(own.ident)
            numbered = zip(range(len(own)), own.tensors, own.tensor_metadata, strict=True)
            yield _Group(prefix, own.ident, own.metadata, numbered)

    return _write(path, kind, groups(), Options())


def are_sets(names: Iterable[str]) -> bool:
    """Return True if all names have the form of tensors in sets."""
    found = [tensor_number(name) is not None for name in names]
    return bool(found) and all(found)


def write_sets_file(
    path: Path, kind: str, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    """Write tensors with Wire-Cell names to their sets, and others to set 0, with the name as path.

    Raises
    ------
    ConversionError
        As `write_sets`.
    """
    if options.chunks is not None:
        raise ConversionError(f"{kind} files have no chunks")
    groups: dict[tuple[str, int], dict[int, tuple[object, Mapping[str, Any]]]] = {}
    of_sets: dict[tuple[str, int], Mapping[str, Any]] = {}
    for name, said in metadata.items():
        number = set_number(name)
        if number is not None and isinstance(said, Mapping):
            of_sets[number] = cast("Mapping[str, Any]", said)
    of_file = {name: said for name, said in metadata.items() if set_number(name) not in of_sets}
    others: list[Named] = []
    renamed: list[Loss] = []
    for name, given, said in tensors:
        options.codec_of(name, {}, kind)
        found = tensor_number(name)
        if found is None:
            others.append((name, given, said))
        else:
            groups.setdefault(found[:2], {})[found[2]] = given, said
    if others or of_file:
        own = groups.setdefault(("", 0), {})
        for index, (name, given, said) in enumerate(others, start=max(own, default=-1) + 1):
            own[index] = given, {"datapath": name, **said}
            called = f"tensor_0_{index}"
            renamed.append(Loss(f"the name {name!r}, written as the path of {called!r}", name, "name"))
    for key in of_sets:
        groups.setdefault(key, {})
    done = _write(
        path,
        kind,
        [
            _Group(
                prefix,
                ident,
                {**of_sets.get((prefix, ident), {}), **(of_file if (prefix, ident) == ("", 0) else {})},
                [(index, *own[index]) for index in sorted(own)],
            )
            for (prefix, ident), own in groups.items()
        ],
        options,
    )
    left_out = {loss.name for loss in done.lost}
    told = [loss for loss in renamed if loss.name not in left_out]
    return attrs.evolve(done, lost=(*done.lost, *told))


def _write(path: Path, kind: str, groups: Iterable[_Group], options: Options) -> Conversion:
    names: list[str] = []
    lost: list[Loss] = []
    nbytes = 0
    with replacing(path) as stream, ARCHIVES[kind](stream) as put:
        for group in groups:
            top = MemberName(group.prefix, group.ident, -1, "set")
            _put_json(put, top, group.metadata)
            for index, given, said in group.tensors:
                own = MemberName(group.prefix, group.ident, index, "metadata")
                read: list[TensorLike] = []
                called = str(said.get("datapath", own.name))
                with leaving_out(called, options, lost):
                    read.append(_to_put(given, own.name, called, path, lost))
                if not read:
                    continue
                (tensor,) = read
                _put_json(put, own, said)
                names.append(own.name)
                if is_metadata_alone(tensor):
                    continue
                array = MemberName(group.prefix, group.ident, index, "array")
                header = _npy_header(tensor)
                size = tensor.size * tensor.dtype.itemsize
                put(array.member, len(header) + size, _pieces(header, tensor))
                nbytes += size
    return Conversion(tuple(names), nbytes, tuple(lost))


def _put_json(put: _Put, name: MemberName, said: Mapping[str, Any]) -> None:
    try:
        text = dump_json(plain_object(said, f"the metadata of {name.name!r}")).encode()
    except (LocalProtocolError, UnicodeEncodeError, ValueError) as error:
        raise ConversionError(f"{name.name!r}: cannot write its metadata as JSON: {error}") from error
    put(name.member, len(text), [text])


def _to_put(given: object, name: str, called: str, path: Path, lost: list[Loss]) -> TensorLike:
    """Return a tensor that an archive can store. A small one is read now, before its member starts.

    It gets a name of the archive; errors have the one by which it was `called`.
    """
    tensor = to_write(given, called, path)
    if is_metadata_alone(tensor):
        return tensor
    told: list[Loss] = []
    if tensor.shape.flatten().is_box:
        tensor = without_layers(name, tensor, told)
    _check(tensor, called, path)
    # A skipped tensor has no other losses.
    lost += told
    if any(tensor.shape.names):
        lost.append(unsaid(name, "the names of the modes"))
    return tensor.compute() if not isinstance(tensor, Tensor) and tensor.nbytes <= _AT_ONCE else tensor


def _check(tensor: TensorLike, name: str, path: Path) -> None:
    advice = dense_advice(tensor)
    if advice:
        raise ConversionError(
            f"{name!r} has the shape {tensor.shape}; tensor files store only dense boxes with "
            f"origin zero: {advice}, or use a .tens file"
        )
    if not tensor.rank:
        raise ConversionError(
            f"{name!r} has rank 0, which Wire-Cell does not treat as an array; use reshape(1)"
        )
    if holds_strings(tensor.dtype) or tensor.dtype.type.__module__ != "numpy":
        raise ConversionError(f"{name!r}: {refused_type(tensor.dtype, path.name)}")


def _npy_header(tensor: TensorLike) -> bytes:
    out = io.BytesIO()
    header = {
        "descr": np.lib.format.dtype_to_descr(tensor.dtype),
        "fortran_order": False,
        "shape": tuple(tensor.shape.extents),
    }
    np.lib.format.write_array_header_1_0(cast("Any", out), header)
    return out.getvalue()


def _pieces(header: bytes, tensor: TensorLike) -> Iterator[bytes | memoryview]:
    yield header
    for run in flat_runs(tensor):
        own: Array = run
        yield np.ascontiguousarray(own).reshape(-1).view(np.uint8).data


# Archives.


@final
class _Tar:
    """A tar archive being written. Members have no date, so that equal sets produce equal bytes."""

    def __init__(self, stream: BinaryIO, compress: Callable[[BinaryIO], IO[bytes]] | None) -> None:
        self._below = ExitStack()
        self._stream = stream if compress is None else self._below.enter_context(compress(stream))

    def __enter__(self) -> _Put:
        return self._put

    def _put(self, name: str, size: int, pieces: Iterable[bytes | memoryview]) -> None:
        import tarfile  # noqa: PLC0415 - only who writes such files needs it

        info = tarfile.TarInfo(name)
        info.size = size
        self._stream.write(info.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict"))
        for piece in pieces:
            self._stream.write(piece)
        self._stream.write(bytes(-size % 512))

    def __exit__(self, *error: object) -> None:
        self._stream.write(bytes(1024))
        self._below.close()


@final
class _Zip:
    """A zip archive being written, without compression, so that it can be mapped."""

    def __init__(self, stream: BinaryIO) -> None:
        self._archive = zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED)

    def __enter__(self) -> _Put:
        return self._put

    def _put(self, name: str, size: int, pieces: Iterable[bytes | memoryview]) -> None:
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        with self._archive.open(info, "w", force_zip64=size >= 2**31) as member:
            for piece in pieces:
                member.write(piece)

    def __exit__(self, *error: object) -> None:
        self._archive.close()


def _gzip(stream: BinaryIO) -> IO[bytes]:
    return cast("IO[bytes]", gzip.GzipFile("", "wb", _LEVEL, stream, mtime=0))


def _bzip2(stream: BinaryIO) -> IO[bytes]:
    return cast("IO[bytes]", bz2.BZ2File(stream, "wb"))


ARCHIVES: Final[dict[str, Callable[[BinaryIO], AbstractContextManager[_Put]]]] = {
    ".tar": lambda stream: _Tar(stream, None),
    ".tar.gz": lambda stream: _Tar(stream, _gzip),
    ".tgz": lambda stream: _Tar(stream, _gzip),
    ".tar.bz2": lambda stream: _Tar(stream, _bzip2),
    ".tbz2": lambda stream: _Tar(stream, _bzip2),
    ".zip": _Zip,
    ".npz": _Zip,
}
