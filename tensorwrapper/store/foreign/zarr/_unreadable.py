"""Which arrays of a Zarr store are no tensors, or are packed by what is not here: told before a read."""

import importlib
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import numpy as np

from tensorwrapper.store.foreign.zarr._grid import DTYPES
from tensorwrapper.store.records._loss import Loss

__all__ = ["is_text", "loss_of"]

_TEXT: Final = "string"
_KEYS: Final = {
    "zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value",
    "codecs", "attributes", "storage_transformers", "dimension_names",
}  # fmt: skip
"""What the core of Zarr 3 says of an array; other keys are extensions."""
_CODECS_3: Final = {
    "bytes", "gzip", "zstd", "blosc", "sharding_indexed", "crc32c", "transpose", "vlen-utf8", "vlen-bytes"
}  # fmt: skip
_CODECS_2: Final = {"zlib", "gzip", "bz2", "lzma", "blosc", "zstd", "lz4", "shuffle", "delta", "vlen-utf8"}
"""Those that the zarr library, or numcodecs, which it brings, has wherever it is."""


def loss_of(name: str, node: Mapping[str, Any]) -> Loss | None:
    """Return why an array is no tensor here; None if it is one, or if only reading it can tell."""
    dtype = _dtype_of(node)
    if isinstance(dtype, str):
        return Loss(
            f"the array {name!r} has elements {dtype}, which the zarr library does not read", name, "type"
        )
    if dtype is not None and dtype.kind not in "biufcmMUST":
        objects = dtype.hasobject
        text = f"the array {name!r} has {'Python objects' if objects else f'records, {str(dtype)[:80]}'}"
        return Loss(text, name, "objects" if objects else "type", "zarr.open_array(...)[...] reads them")
    layout = _layout(node)
    if layout is not None:
        advice = "a newer zarr, or who wrote it, may know it"
        return Loss(f"the array {name!r} has {layout[:80]}, which is not read here", name, "codec", advice)
    for codec in _codecs(node.get("codecs")):
        if not _is_there(codec, node):
            numcodecs = codec.startswith("numcodecs.") or node["zarr_format"] == 2
            advice = "`pip install numcodecs` may bring it" if numcodecs else "who wrote it knows its package"
            text = f"the array {name!r} is packed by {codec[:60]!r}, which is not installed"
            return Loss(text, name, "codec", advice)
    return None


def _layout(node: Mapping[str, Any]) -> str | None:
    """Return what of where chunks are and what they are called is not known; None if all is."""
    if node["zarr_format"] == 2:
        return None
    for key, what, known in (
        ("chunk_grid", "a grid of chunks", ("regular", "rectilinear")),
        ("chunk_key_encoding", "names of chunks", ("default", "v2")),
    ):
        given = node.get(key)
        own = cast("Mapping[str, Any]", given).get("name") if isinstance(given, dict) else given
        # What is missing, or no name, is damage, which whoever reads it tells.
        if isinstance(own, str) and own not in known:
            return f"{what} {own!r}"
    if node.get("storage_transformers"):
        return "storage transformers"
    for key in node.keys() - _KEYS:
        own = node[key]
        if not isinstance(own, dict) or cast("Mapping[str, Any]", own).get("must_understand") is not False:
            return f"an extension {key!r}"
    return None


def is_text(node: Mapping[str, Any]) -> bool:
    """Tell whether the elements are text or bytes."""
    dtype = _dtype_of(node)
    return isinstance(dtype, np.dtype) and dtype.kind in "UST"


def _dtype_of(node: Mapping[str, Any]) -> "np.dtype[Any] | str | None":
    """Return a type as NumPy has it, or in words one that it has not; None if that is not known here."""
    said = node.get("data_type")
    if said == _TEXT:
        return np.dtypes.StringDType()
    if isinstance(said, str) and said in DTYPES:
        return np.dtype(said)
    if node["zarr_format"] == 2:
        return _dtype_2(said, list(_codecs(node.get("codecs"))))
    try:
        known: Any = importlib.import_module("zarr.dtype").data_type_registry
        found: np.dtype[Any] = known.match_json(said, zarr_format=3).to_native_dtype()
    except ImportError:
        return None
    except Exception:  # noqa: BLE001 - whatever zarr raises for what it does not know
        return str(cast("Any", said))[:60]
    return found


def _dtype_2(said: object, codecs: list[str]) -> "np.dtype[Any] | str":
    shown = str(said)[:60]
    if said == "|O" and "vlen-utf8" in codecs:
        return np.dtypes.StringDType()
    try:
        fields = [tuple(own) for own in cast("list[list[object]]", said)] if isinstance(said, list) else None
        found: np.dtype[Any] = np.dtype(cast("Any", fields or said))
    except (TypeError, ValueError):
        return shown
    return found


def _codecs(given: object) -> Iterator[str]:
    """Yield the names of codecs, of those within shards too."""
    for codec in cast("list[object]", given) if isinstance(given, list) else []:
        own = cast("Mapping[str, Any]", codec) if isinstance(codec, dict) else {"name": codec}
        yield str(own.get("name"))
        inner = own.get("configuration")
        if isinstance(inner, dict):
            for key in ("codecs", "index_codecs"):
                yield from _codecs(cast("Mapping[str, Any]", inner).get(key))


def _is_there(codec: str, node: Mapping[str, Any]) -> bool:
    if codec in (_CODECS_2 if node["zarr_format"] == 2 else _CODECS_3):
        return True
    try:
        if node["zarr_format"] == 2:
            known: Any = importlib.import_module("numcodecs.registry")
            return codec in known.codec_registry or codec in known.entries
        cast("Any", importlib.import_module("zarr.registry")).get_codec_class(codec)
    except ImportError:
        # Without the library nobody knows; whoever reads the array is told what brings it.
        return True
    except Exception:  # noqa: BLE001 - zarr raises what it likes for a name that it does not know
        return False
    return True
