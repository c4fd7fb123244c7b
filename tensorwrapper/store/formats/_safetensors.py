"""The safetensors format: the length of a header, the header as JSON, and the elements of all tensors."""

import importlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeGuard, cast

import numpy as np

from tensorwrapper._arrays import as_truths
from tensorwrapper._error_text import brief
from tensorwrapper._json import Json, excess, load_json
from tensorwrapper.errors import ConversionError, DataFileError, ParseError
from tensorwrapper.store.formats._contents import Contents, Held, Opening
from tensorwrapper.store.formats._write_blocks import refused_type
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.records._record import cut
from tensorwrapper.store.system._map import FileMemory
from tensorwrapper.store.system._replace import replacing
from tensorwrapper.store.system._system import HEAD_BYTES, OpenedFile, of_stranger
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array
from tensorwrapper.wire import DEFAULT_LIMITS

_TEXTS: Final = {
    "BOOL": "?",
    **{f"{kind.upper()}{8 * word}": f"<{kind}{word}" for kind in "iu" for word in (1, 2, 4, 8)},
    **{f"F{8 * word}": f"<f{word}" for word in (2, 4, 8)},
    "C64": "<c8",
}
_DTYPES: Final[Mapping[str, "np.dtype[Any]"]] = {name: np.dtype(text) for name, text in _TEXTS.items()}
_SMALL_FLOATS: Final = {
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}
_NAMES: Final = {dtype: name for name, dtype in _DTYPES.items()}
_METADATA: Final = "__metadata__"
_HEADER_BYTES: Final = 100_000_000
_CHUNK: Final = 2**24
_SHORT: Final = 4096  # bytes of a header that is remembered
_NUMBER: Final = "(?:0|[1-9][0-9]{0,14})"
_OTHERS: Final = f"(?:,{_NUMBER}){{0,{DEFAULT_LIMITS.rank - 1}}}"
_ENTRY: Final = re.compile(
    rf'"([^"\\\x00-\x1f]*)":{{"dtype":"([A-Z0-9_]*)","shape":\[((?:{_NUMBER}{_OTHERS})?)\],'
    rf'"data_offsets":\[({_NUMBER}),({_NUMBER})\]}}(?:,(?=")|}} *\Z)'
)
_METADATA_FIRST: Final = re.compile(rf'{{"{_METADATA}":({{[^{{}}\\]*}}),')


Plans: TypeAlias = tuple[
    Mapping[str, "tuple[np.dtype[Any], tuple[int, ...], int]"], Mapping[str, str], tuple[Loss, ...]
]


def open_safetensors(path: Path, how: Opening) -> Contents:
    """Return the contents of a safetensors file; reads its header.

    Raises
    ------
    DataFileError
        If the file is missing, or violates the format.
    """
    with of_stranger(path, ".safetensors"), how.opened or OpenedFile(path) as opened:
        plans, metadata, losses = read_plans(opened.read_at, opened.size, path)
        memory = opened.memory()
    held = {
        name: Held(
            start, math.prod(shape) * dtype.itemsize, "dense", partial(_array, memory, dtype, shape, start)
        )
        for name, (dtype, shape, start) in plans.items()
    }
    return Contents(held, metadata, losses)


def read_plans(read_at: Callable[[int, int], bytes], size: int, path: object) -> Plans:
    """Return the dtype, extents and position of each array, from the header of a file of `size` bytes.

    The metadata and the losses follow: arrays whose dtype is unknown, or contradicts their size. Arrays must
    be contiguous and fill the file.

    Raises
    ------
    DataFileError
        If the header violates the format.
    """
    head = read_at(0, HEAD_BYTES)
    length = int.from_bytes(head[:8], "little")
    if size < 8 or length > min(size - 8, _HEADER_BYTES):
        raise DataFileError(f"{path} has {size} bytes, too few for a header of {length}")
    raw = head[8 : 8 + length] if 8 + length <= len(head) else read_at(8, length)
    if length > _SHORT:
        return _read_plans(raw, size, path)
    try:
        return _known_plans(raw, size)
    except DataFileError:
        return _read_plans(raw, size, path)


def _read_plans(raw: bytes, size: int, path: object = "") -> Plans:
    return _plain_plans(raw, size, path) or _any_plans(raw, size, path)


def _plain_plans(raw: bytes, size: int, path: object) -> Plans | None:
    """Return the plans of a header as the library of the format writes it, of types of NumPy; else None."""
    try:
        begun, *parts = _ENTRY.split(raw.decode())
    except UnicodeDecodeError:
        return None
    # Five groups of each entry, and the text up to the next entry, which must be empty.
    rows = [parts[k::6] for k in range(6)]
    first = None if begun == "{" else _METADATA_FIRST.fullmatch(begun)
    if not parts or any(rows.pop()) or not (begun == "{" or first):
        return None
    plans: dict[str, tuple[np.dtype[Any], tuple[int, ...], int]] = {}
    place, start = 0, 8 + len(raw)
    for name, code, shape, begin, end in zip(*rows, strict=True):
        dtype, extents = _DTYPES.get(code), tuple(map(int, shape.split(","))) if shape else ()
        nbytes = int(end) - place
        if dtype is None or int(begin) != place or math.prod(extents) * dtype.itemsize != nbytes:
            return None
        # An extent of 0 hides other extents of any size.
        if not nbytes:
            return None
        plans[name] = dtype, extents, start + place
        place += nbytes
    if len(plans) != len(rows[0]) or start + place != size or _METADATA in plans:
        return None
    metadata = cast("dict[str, str]", _load(first[1].encode(), path)) if first else {}
    return (plans, metadata, ()) if {*map(type, metadata.values())} <= {str} else None


def _any_plans(raw: bytes, size: int, path: object) -> Plans:
    header, length = _load(raw, path), len(raw)
    # The original library accepts null for empty metadata.
    said = header.pop(_METADATA, None)
    metadata = {} if said is None else said
    if not isinstance(metadata, dict) or not {*map(type, metadata.values())} <= {str}:
        raise DataFileError(f"{path} has metadata that are not strings")
    plans: dict[str, tuple[np.dtype[Any], tuple[int, ...], int]] = {}
    spans: list[list[int]] = []
    losses: list[Loss] = []
    for name, entry in header.items():
        if not isinstance(entry, dict):
            raise DataFileError(f"{path}: {name[:40]!r} is not described by a JSON object")
        span = entry.get("data_offsets")
        # Raise, as other tensors depend on the offsets.
        if not _are_counts(span) or len(span) != 2 or span[0] > span[1]:
            text = f"has the offsets {brief(span)}, not two ascending integers"
            raise DataFileError(f"{path}: {name[:40]!r} {text}")
        spans.append(span)
        found = _described(entry, name, span[1] - span[0])
        if isinstance(found, Loss):
            losses.append(found)
        else:
            plans[name] = (*found, 8 + length + span[0])
    _check_spans(spans, size - 8 - length, path)
    return plans, cast("dict[str, str]", metadata), tuple(losses)


# Files with arrays of the same names and extents have the same header.
_known_plans = lru_cache(maxsize=1024)(_read_plans)


def _array(memory: FileMemory, dtype: "np.dtype[Any]", shape: tuple[int, ...], start: int) -> Array:
    count = math.prod(shape)
    return np.frombuffer(memory, dtype, count, start).reshape(shape) if count else np.empty(shape, dtype)


def _load(raw: bytes, path: object) -> dict[str, Json]:
    try:
        text = raw.decode().rstrip(" ")
        complaint = excess(text, depth=8, items=10_000_000)
        if complaint is not None:
            raise DataFileError(f"{path} has a header that {complaint}")
        header = load_json(text)
    except UnicodeDecodeError as error:
        raise DataFileError(f"{path} has a header that is not UTF-8: {error.reason}") from error
    except ParseError as error:
        raise DataFileError(f"{path} has a header that {error}") from error
    if not isinstance(header, dict):
        raise DataFileError(f"{path} has a header that is not a JSON object")
    return header


def _check_spans(spans: list[list[int]], n_bytes: int, path: object) -> None:
    """Raise unless the tensors are contiguous and fill the file."""
    place = 0
    for begin, end in sorted(spans):
        if begin != place:
            raise DataFileError(
                f"{path} has a gap or an overlap: a tensor at {begin} after one up to {place}"
            )
        place = end
    if place != n_bytes:
        raise DataFileError(f"{path} has {n_bytes} bytes of elements, but its tensors end at {place}")


def _described(
    entry: Mapping[str, Json], name: str, nbytes: int
) -> "tuple[np.dtype[Any], tuple[int, ...]] | Loss":
    """Return the dtype and extents of a tensor of `nbytes` bytes; a loss if the dtype is unknown."""
    shape = entry.get("shape")
    if not _are_counts(shape):
        return Loss(f"{name!r} has the shape {brief(shape)}, which is not a list of extents", name, "damage")
    if len(shape) > DEFAULT_LIMITS.rank or max(shape, default=0) > DEFAULT_LIMITS.extent:
        # Check even with an extent of 0, because NumPy still multiplies the others.
        text = f"{name!r} has the extents {brief(shape)}; up to {DEFAULT_LIMITS.rank} modes are read, of "
        return Loss(f"{text}up to {DEFAULT_LIMITS.extent} indices", name, "member")
    dtype = _dtype(entry.get("dtype"), name)
    if isinstance(dtype, Loss):
        return dtype
    # Elements of less than a byte are packed: their size in bytes depends on the type.
    if nbytes != math.prod(shape) * dtype.itemsize:
        return Loss(f"{name!r} has {nbytes} bytes for {entry.get('dtype')} of {brief(shape)}", name, "damage")
    return dtype, tuple(shape)


def _dtype(name: object, tensor: str) -> "np.dtype[Any] | Loss":
    if isinstance(name, str) and name in _DTYPES:
        return _DTYPES[name]
    if isinstance(name, str) and name in _SMALL_FLOATS:
        try:
            return np.dtype(cast("type", getattr(importlib.import_module("ml_dtypes"), _SMALL_FLOATS[name])))
        except (ImportError, AttributeError):
            advice = "`pip install 'ml_dtypes>=0.5'` brings them"
            return Loss(f"{tensor!r} has elements {name}, which NumPy alone has not", tensor, "type", advice)
    if not isinstance(name, str):
        return Loss(
            f"{tensor!r} has elements {str(name)[:24]!r}, which is not a known type", tensor, "damage"
        )
    text = f"{tensor!r} has elements {name[:24]!r}, which are not read here"
    return Loss(text, tensor, "type", "a safetensors.safe_open that knows them reads them")


def _are_counts(value: Any) -> TypeGuard[list[int]]:  # noqa: ANN401 - any value of JSON
    # Not by `isinstance`: True is an int.
    return type(value) is list and (not value or ({*map(type, value)} == _INT and min(value) >= 0))


_INT: Final = {int}


def write_safetensors(
    path: Path, tensors: Sequence[tuple[str, Tensor[Any]]], metadata: Mapping[str, str]
) -> None:
    """Write dense tensors, a run of rows at a time.

    Raises
    ------
    ConversionError
        If the format does not support a dtype.
    DataFileError
        If the file cannot be written.
    """
    names = {name: _name_of(tensor.dtype, name) for name, tensor in tensors}
    # Order by item size for alignment, then by name, so that equal tensors produce equal bytes.
    ordered = sorted(tensors, key=lambda pair: (-pair[1].dtype.itemsize, pair[0]))
    header: dict[str, Json] = {_METADATA: {**metadata}} if metadata else {}
    place = 0
    for name, tensor in ordered:
        end = place + tensor.size * tensor.dtype.itemsize
        extents: list[Json] = [*tensor.shape.extents]
        header[name] = {"dtype": names[name], "shape": extents, "data_offsets": [place, end]}
        place = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with replacing(path) as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        for _, tensor in ordered:
            for run in cut(tensor, _CHUNK):
                elements = as_truths(run.elements())
                own = elements.astype(_little(elements.dtype), copy=False)
                stream.write(own.view(np.uint8).data)


def check_safetensors(tensor: str, dtype: "np.dtype[Any]") -> None:
    """Raise unless the format supports a tensor's name and dtype."""
    if tensor == _METADATA:
        raise ConversionError(f"safetensors reserves {_METADATA!r} for metadata; rename this tensor")
    _name_of(dtype, tensor)


def _little(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """Return a dtype in the byte order of the format."""
    return dtype.newbyteorder("<") if dtype.kind in "iufc" else dtype


def _name_of(dtype: "np.dtype[Any]", tensor: str) -> str:
    # Accept either byte order; the file is little-endian.
    name = _NAMES.get(_little(dtype)) or {small: name for name, small in _SMALL_FLOATS.items()}.get(
        dtype.name
    )
    if name is None:
        raise ConversionError(f"{tensor!r}: {refused_type(dtype, '.safetensors', 'complex64')}")
    return name
