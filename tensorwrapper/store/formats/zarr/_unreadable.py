"""Detect arrays of a Zarr store that are not tensors or need missing codecs, before reading."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import numpy as np

from tensorwrapper.store.formats.zarr._codecs import has_zstd
from tensorwrapper.store.formats.zarr._grid import DTYPES, grid_refusal, knows_grids
from tensorwrapper.store.formats.zarr._keys import Keyed, Place, keyed_store
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.wire import DEFAULT_LIMITS

_TEXT: Final = "string"
_BYTES: Final = ("variable_length_bytes", "bytes")
"""Zarr's names of variable-length bytes, current and future."""
_KEYS: Final = {
    "zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value",
    "codecs", "attributes", "storage_transformers", "dimension_names",
}  # fmt: skip
"""Core keys of an array of Zarr 3; other keys are extensions."""
_Words: TypeAlias = Mapping[str, Mapping[str, Sequence[object] | None]]
"""Options of each extension by name, with the allowed values if there are few."""
_CODECS_3: Final[_Words] = {
    "bytes": {"endian": ("little", "big")},
    "gzip": {"level": None},
    "zstd": {"level": None, "checksum": None},
    "blosc": {
        "typesize": None,
        "cname": ("lz4", "lz4hc", "blosclz", "snappy", "zlib", "zstd"),
        "clevel": None,
        "shuffle": ("noshuffle", "shuffle", "bitshuffle"),
        "blocksize": None,
    },
    "sharding_indexed": {
        "chunk_shape": None,
        "codecs": None,
        "index_codecs": None,
        "index_location": ("start", "end"),
    },
    "crc32c": {},
    "transpose": {"order": None},
    "vlen-utf8": {},
    "vlen-bytes": {},
}
"""The codecs of Zarr's core, and those for text."""
_GRIDS: Final[_Words] = {
    "regular": {"chunk_shape": None},
    "rectilinear": {"kind": ("inline",), "chunk_shapes": None},
}
_SEPARATORS: Final = ("/", ".")
_KEY_ENCODINGS: Final[_Words] = {"default": {"separator": _SEPARATORS}, "v2": {"separator": _SEPARATORS}}
_ORDERS_2: Final = ("C", "F")
_NEWER: Final = "a newer zarr, or its author, may know it"
_NUMCODECS: Final = "numcodecs."
_SWAPPED: Final = ("numcodecs.delta", "numcodecs.quantize")
_EXTRAS: Final = ("pcodec", "zfpy")
"""Codecs of numcodecs that need extras, with the names of the extras."""
_CODECS_2: Final = {
    "zlib",
    "gzip",
    "bz2",
    "lzma",
    "blosc",
    "zstd",
    "lz4",
    "shuffle",
    "delta",
    "vlen-utf8",
    "vlen-bytes",
}
"""Codecs that the zarr library, or its dependency numcodecs, always has."""


def loss_of(name: str, node: Mapping[str, Any], folder: Place) -> Loss | None:
    """Return why an array is not a tensor; None if it is, or if only reading determines it."""
    extents: object = node.get("shape")
    rank = len(cast("list[object]", extents)) if isinstance(extents, list) else 0
    if rank > DEFAULT_LIMITS.rank:
        text = f"the array {name!r} has {rank} modes; up to {DEFAULT_LIMITS.rank} are read"
        return Loss(text, name, "member")
    dtype = dtype_of(node)
    if isinstance(dtype, str):
        return Loss(
            f"the array {name!r} has elements {dtype}, which the zarr library does not read", name, "type"
        )
    if dtype is not None and dtype.kind not in "biufcmMUST":
        if dtype.hasobject:
            text = f"the array {name!r} has Python objects"
            return Loss(text, name, "objects", "a zarr before 3 reads them, and runs the code of a pickle")
        text = f"the array {name!r} has {'elements' if dtype.names is None else 'records'}, {str(dtype)[:80]}"
        return Loss(text, name, "type", "zarr.open_array(...)[...] reads them")
    layout = _layout(node)
    if layout is not None:
        return Loss(f"the array {name!r} has {layout[:80]}, which is not read here", name, "codec", _NEWER)
    for codec in _codecs(node.get("codecs")):
        if not _is_there(codec, node):
            numcodecs = codec.startswith(_NUMCODECS) or node["zarr_format"] == 2
            own = codec.removeprefix(_NUMCODECS)
            package = f"'numcodecs[{own}]'" if own in _EXTRAS else "numcodecs"
            verb = "brings" if own in _EXTRAS else "may bring"
            advice = f"`pip install {package}` {verb} it" if numcodecs else "its author knows its package"
            text = f"the array {name!r} is packed by {codec[:60]!r}, which is not installed"
            return Loss(text, name, "codec", advice)
    if node["zarr_format"] == 3 and any(map(_is_swapped, _all_codecs(node.get("codecs")))):
        text = f"the array {name!r} has a filter of elements in the other order of bytes"
        return Loss(text, name, "codec", "the zarr library reads other numbers than were written there")
    odd = _odd_word(node)
    if odd is not None and not _is_opened(folder, node):
        return Loss(f"the array {name!r} has {odd[:80]}, which is not read here", name, "codec", _NEWER)
    return _loss_of_grid(name, node)


def _loss_of_grid(name: str, node: Mapping[str, Any]) -> Loss | None:
    """Return why neither this library nor zarr reads an array on a rectilinear grid; None if one does."""
    if _named(node.get("chunk_grid"))[0] != "rectilinear" or knows_grids():
        return None
    refused = grid_refusal(node)
    if refused is not None:
        text = f"the array {name!r} has a rectilinear grid and {refused[:120]}"
        return Loss(text, name, "codec", "zarr 3.2 or later reads it")
    if "zstd" in _codecs(node.get("codecs")) and not has_zstd():
        text = f"the array {name!r} on a rectilinear grid is packed by 'zstd', which is not installed"
        return Loss(text, name, "codec", "`pip install zstandard` brings it")
    return None


def _named(given: object) -> tuple[object, Mapping[str, Any]]:
    """Return the name of an extension, and its options."""
    if not isinstance(given, dict):
        return given, {}
    own = cast("Mapping[str, Any]", given)
    options = own.get("configuration")
    return own.get("name"), cast("Mapping[str, Any]", options) if isinstance(options, dict) else {}


def _is_swapped(codec: object) -> bool:
    """Return True if a filter swaps the byte order, a bug of zarr 3.1 to 3.4."""
    name, options = _named(codec)
    if name not in _SWAPPED:
        return False
    try:
        return not np.dtype(cast("Any", options.get("dtype"))).isnative
    except (TypeError, ValueError):
        # Reading raises the error.
        return False


def _odd_word(node: Mapping[str, Any]) -> str | None:
    """Return an unknown option of a chunk grid, of chunk names, or of a core codec."""
    if node["zarr_format"] == 2:
        return None
    given: list[tuple[str, object, _Words]] = [
        ("a grid of chunks", node.get("chunk_grid"), _GRIDS),
        ("names of chunks", node.get("chunk_key_encoding"), _KEY_ENCODINGS),
        *[("a codec", own, _CODECS_3) for own in _all_codecs(node.get("codecs"))],
    ]
    for what, extension, words in given:
        name, options = _named(extension)
        known = words.get(name) if isinstance(name, str) else None
        for key, value in options.items() if known is not None else ():
            if known is None or key not in known:
                return f"{what} {name!r} with the option {key[:40]!r}"
            values = known[key]
            # A value that is not text is damage; reading the array raises.
            if values is not None and isinstance(value, str) and value not in values:
                return f"{what} {name!r} with {key} {value[:40]!r}"
    return None


def _is_opened(folder: Place, node: Mapping[str, Any]) -> bool:
    """Return True if the zarr library, which may support more, accepts an array's metadata."""
    try:
        store = keyed_store(folder) if isinstance(folder, Keyed) else str(folder)
        importlib.import_module("zarr").open_array(store, mode="r", zarr_format=node["zarr_format"])
    except ImportError:
        # Reading the array raises, naming the missing package.
        return True
    except Exception:  # noqa: BLE001 - zarr raises what it likes for what it does not know
        return False
    return True


def _layout(node: Mapping[str, Any]) -> str | None:
    """Return the unsupported part of a chunk grid or of chunk names; None if all is supported."""
    if node["zarr_format"] == 2:
        order, separator = node.get("order"), node.get("dimension_separator")
        if isinstance(order, str) and order not in _ORDERS_2:
            return f"the order {order!r}"
        odd = isinstance(separator, str) and separator not in _SEPARATORS
        return f"names of chunks with {separator!r}" if odd else None
    for key, what, known in (
        ("chunk_grid", "a grid of chunks", _GRIDS),
        ("chunk_key_encoding", "names of chunks", _KEY_ENCODINGS),
    ):
        own = _named(node.get(key))[0]
        # A missing or invalid name is damage; reading the array raises.
        if isinstance(own, str) and own not in known:
            return f"{what} {own!r}"
    if node.get("storage_transformers"):
        return "storage transformers"
    for key in node.keys() - _KEYS:
        own = node[key]
        if not isinstance(own, dict) or cast("Mapping[str, Any]", own).get("must_understand") is not False:
            return f"an extension {key!r}"
    return None


def is_bytes(node: Mapping[str, Any]) -> bool:
    """Return True if the elements are variable-length bytes."""
    if node["zarr_format"] == 2:
        return node.get("data_type") == "|O" and "vlen-bytes" in _codecs(node.get("codecs"))
    return node.get("data_type") in _BYTES


def is_text(node: Mapping[str, Any]) -> bool:
    """Return True if the elements are text or bytes."""
    dtype = dtype_of(node)
    return isinstance(dtype, np.dtype) and dtype.kind in "UST"


def dtype_of(node: Mapping[str, Any]) -> "np.dtype[Any] | str | None":
    """Return the NumPy dtype of an array, a description of an unsupported type, or None if unknown."""
    said = node.get("data_type")
    if said == _TEXT:
        return np.dtypes.StringDType()
    if is_bytes(node):
        return np.dtype("S")
    if isinstance(said, str) and said in DTYPES:
        return np.dtype(said)
    if node["zarr_format"] == 2:
        return _dtype_2(said, _codecs(node.get("codecs")))
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


def _codecs(given: object) -> list[str]:
    """Return the names of codecs, including those within shards."""
    return [str(_named(codec)[0]) for codec in _all_codecs(given)]


def _all_codecs(given: object) -> Iterator[object]:
    """Yield codecs, including those within shards."""
    for codec in cast("list[object]", given) if isinstance(given, list) else []:
        yield codec
        for key in ("codecs", "index_codecs"):
            yield from _all_codecs(_named(codec)[1].get(key))


def _is_there(codec: str, node: Mapping[str, Any]) -> bool:
    if codec in (_CODECS_2 if node["zarr_format"] == 2 else _CODECS_3):
        return True
    try:
        own = codec.removeprefix(_NUMCODECS)
        if node["zarr_format"] == 2 or own != codec:
            # The zarr library also has classes for codecs whose packages are not installed.
            known: Any = importlib.import_module("numcodecs.registry")
            return own in known.codec_registry or own in known.entries
        cast("Any", importlib.import_module("zarr.registry")).get_codec_class(codec)
    except ImportError:
        # Unknown without the library; reading the array raises, naming the missing package.
        return True
    except Exception:  # noqa: BLE001 - zarr raises what it likes for a name that it does not know
        return False
    return True
