"""Zarr arrays on rectilinear grids: chunks of any size, one file each, plain or compressed by gzip or zstd.

The grid is a product of one tiling per mode, as defined by the extension `rectilinear`.
"""

import importlib
import io
import itertools
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, final

import numpy as np

from tensorwrapper._arrays import positions_array
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import assign_elements
from tensorwrapper.errors import DataFileError
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats._chunked import ChunkSelection, by_chunk
from tensorwrapper.store.formats._contents import Done
from tensorwrapper.store.formats.zarr._codecs import CODECS, decoded
from tensorwrapper.store.formats.zarr._contained import check_links
from tensorwrapper.store.formats.zarr._keys import Keyed, Place
from tensorwrapper.store.system._system import reading
from tensorwrapper.typing import Array, Extents, Index, IntArray
from tensorwrapper.wire import Limits

if TYPE_CHECKING:
    from tensorwrapper.selection import Ability, Outer, Wanted

DTYPES: Final = (
    "bool",
    *[f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)],
    *["float16", "float32", "float64", "complex64", "complex128"],
)
"""Data types with the same names in Zarr's core and NumPy."""
CHUNKS: Final = "c"
"""Folder, or name prefix, of the chunks of a version 3 array."""
GRIDS_SETTING: Final = "array.rectilinear_chunks"
"""Key of rectilinear grids in zarr's configuration."""
_SPECIAL: Final = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}


def grid_source(folder: Place, node: Mapping[str, Any], root: str, limits: Limits) -> "GridSource":
    """Return an array on a rectilinear grid from its metadata; `root` is the real path of its store.

    Raises
    ------
    DataFileError
        If the codecs of its chunks are not supported here.
    ParseError, ExtentError, SizeOverflowError
        If the grid does not match the array.
    """
    extents = tuple(cast("list[int]", node["shape"]))
    grid = Tiling.from_zarr(cast("Mapping[str, object]", node["chunk_grid"]), extents)
    refused = grid_refusal(node)
    if refused is not None:
        raise DataFileError(f"{folder} has {refused}")
    plan = _Packed.of(node)
    dtype = np.dtype(cast("str", node["data_type"])).newbyteorder("<" if plan.endian == "little" else ">")
    fill = _fill_of(node.get("fill_value", 0), dtype, folder)
    return GridSource(folder, grid, dtype, fill, plan.separator, plan.codec, root, limits)


@final
@frozen
class _Packed:
    """Names and codecs of the chunks of an array, from its metadata."""

    keys: object
    separator: Any
    names: tuple[object, ...]
    """Names of the codecs."""
    endian: Any

    @classmethod
    def of(cls, node: Mapping[str, Any]) -> "_Packed":
        """Return the parsed metadata, valid or not."""
        keys, codecs = _object(node.get("chunk_key_encoding")), node.get("codecs")
        given = [_object(own) for own in cast("list[object]", codecs)] if isinstance(codecs, list) else []
        endian = _object(given[0].get("configuration")).get("endian", "little") if given else "little"
        separator = _object(keys.get("configuration")).get("separator", "/")
        return cls(keys.get("name"), separator, tuple([own.get("name") for own in given]), endian)

    @property
    def codec(self) -> Any:  # noqa: ANN401 - as it is said
        """The compression codec; None if there is none."""
        return self.names[1] if len(self.names) == 2 else None


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def grid_refusal(node: Mapping[str, Any]) -> str | None:
    """Return why an array on a rectilinear grid cannot be read; None if it can.

    Examples
    --------
    >>> grid_refusal({"data_type": "string"})[:29]
    "elements 'string'; on such gr"
    """
    name, plan = node.get("data_type"), _Packed.of(node)
    if not isinstance(name, str) or name not in DTYPES:
        return f"elements {str(name)[:40]!r}; on such grids {', '.join(DTYPES)} are read"
    if plan.keys != "default" or node.get("storage_transformers") or plan.separator not in ("/", "."):
        return f"chunks under names that are not read here: {str(node.get('chunk_key_encoding'))[:80]}"
    if plan.names[:1] != ("bytes",) or len(plan.names) > 2 or plan.codec not in CODECS:
        return (
            f"chunks packed by {str(list(plan.names))[:80]}; here plain ones, gzip and zstd are read, "
            "zarr 3.2 reads the others"
        )
    if plan.endian not in ("little", "big"):
        return f"bytes in the order {str(plan.endian)[:20]!r}"
    return None


def knows_grids() -> bool:
    """Return True if the zarr library supports rectilinear grids, or is not installed."""
    try:
        return importlib.import_module("zarr").config.get(GRIDS_SETTING, None) is not None
    except ImportError:
        return True


def _fill_of(value: object, dtype: "np.dtype[Any]", folder: Place) -> Any:  # noqa: ANN401 - an element
    element: Any = value
    given: list[Any] = element if isinstance(value, list) else [element]
    parts: list[Any] = [_SPECIAL.get(str(own), own) for own in given]
    try:
        return np.array(complex(*parts) if len(parts) > 1 else parts[0], dtype)[()]
    except (TypeError, ValueError, OverflowError, IndexError) as error:
        raise DataFileError(
            f"{folder} has the fill value {str(given)[:40]!r}, which is not a valid {dtype}"
        ) from error


def chunk_file(folder: Path, index: Index, separator: str = "/") -> Path:
    """Return the path of a chunk."""
    return folder / _chunk_key(index, separator)


def _chunk_key(index: Index, separator: str) -> str:
    return separator.join([CHUNKS, *map(str, index)])


@final
@frozen(eq=False, repr=False)
class GridSource:
    """An array whose chunks are files. Missing chunks are full of the fill value."""

    folder: Place
    grid: Tiling
    dtype: "np.dtype[Any]"
    fill: Any
    separator: str
    codec: str | None
    root: str
    """Folder outside which no link is followed."""
    limits: Limits

    @property
    def shape(self) -> Shape[Any]:
        """The extents of the array."""
        return self.grid.elements

    @property
    def version(self) -> str:
        """Version of the source; empty, because chunks may change one by one."""
        return ""

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source: reads in any thread."""
        return frozenset(("threads",))

    def cost(self, selection: "Wanted") -> int:
        """Return the size in bytes of the chunks that a selection touches."""
        if not selection.size:
            return 0
        sizes = [
            sum([int(extents[own.chunk]) for own in parts])
            for parts, extents in zip(self._parts(cast("Outer", selection)), self._extents(), strict=True)
        ]
        return prod(sizes) * self.dtype.itemsize

    def _extents(self) -> list[IntArray]:
        """Return the extents of the chunks of each mode."""
        return [np.diff(marks) for marks in self.grid.marks]

    def _parts(self, selection: "Outer") -> list[list[ChunkSelection]]:
        """Return the touched chunks of each mode."""
        found: list[list[ChunkSelection]] = []
        for marks, positions in zip(self.grid.marks, selection.modes, strict=True):
            places = positions_array(positions)
            chunks = marks.searchsorted(places, "right") - 1
            found.append(by_chunk(places, chunks, marks[chunks]))
        return found

    def read(self, selections: "Sequence[Wanted]", out: Sequence[Array]) -> Done:
        """Read the touched chunks, one by one."""
        for selection, target in zip(selections, out, strict=True):
            if not selection.size:
                continue
            for parts in itertools.product(*self._parts(cast("Outer", selection))):
                index = tuple([own.chunk for own in parts])
                extents = tuple([int(sizes[own]) for sizes, own in zip(self._extents(), index, strict=True)])
                chunk = self._chunk(index, extents)
                where: Any = (*[own.target for own in parts], ...)
                picked = chunk[np.ix_(*[own.inner for own in parts])] if parts else chunk
                assign_elements(target[where], picked)
        return Done(len(out))

    def _chunk(self, index: Index, extents: Extents) -> Array:
        key = _chunk_key(index, self.separator)
        path = self.folder / key
        nbytes = prod(extents) * self.dtype.itemsize
        check_bytes(nbytes, str(path), self.limits)
        if isinstance(self.folder, Path):
            check_links(self.folder, key, self.root)
        if not path.exists():
            return np.full(extents, self.fill, self.dtype)
        if isinstance(path, Keyed):
            packed = io.BytesIO(path.read(self.limits.decompressed_bytes))
            raw = decoded(packed.read, nbytes, self.codec, str(path))
        else:
            with reading(path, "Zarr") as stream:
                raw = decoded(stream.read, nbytes, self.codec, str(path))
        if len(raw) != nbytes:
            raise DataFileError(f"{path} does not have the {nbytes} bytes of a chunk of extents {extents}")
        return np.frombuffer(raw, self.dtype).reshape(extents)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GridSource) and self.folder == other.folder and self.grid == other.grid

    def __hash__(self) -> int:
        return hash(self.folder)

    def __repr__(self) -> str:
        return f"zarr({str(self.folder)!r}, {self.shape!r}, {self.dtype})"
