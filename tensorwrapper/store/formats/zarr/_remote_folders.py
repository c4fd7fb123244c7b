"""Zarr stores in folders at addresses; nodes are found by consolidated metadata or by a listing.

HTTP servers do not list folders. Without consolidated metadata only the root is known there.
"""

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast, final

from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import parse_json
from tensorwrapper._value_class import evolve, frozen
from tensorwrapper.errors import DataFileError, ParseError
from tensorwrapper.store.formats._contents import Contents, Opening
from tensorwrapper.store.formats.zarr._keys import MARKS, Entry, Inline, Keyed, Keys
from tensorwrapper.store.formats.zarr._store import open_place
from tensorwrapper.store.ranges._folder import Folder
from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.system._system import of_stranger
from tensorwrapper.wire import Limits

_BYTES: Final = 2**26
"""Size limit of the metadata of a node, and of all nodes together, in bytes."""
_DEPTH: Final = 64
_CONSOLIDATED: Final = ".zmetadata"
_ATTRIBUTES: Final = ".zattrs"
_SAID: Final = frozenset((*MARKS, _ATTRIBUTES, _CONSOLIDATED))
_OPENED: Final = 32
"""Number of chunks kept open, with up to 256 KiB each, because a shard is read many times."""
_ADVICE: Final = "zarr.consolidate_metadata(store) writes it; tw.open reads one array by its own address"


@final
@frozen(eq=False)
class FarStore:
    """The root of a store at an address."""

    folder: Folder
    roots: Mapping[str, bytes]
    """Metadata files of the root, by name."""

    @property
    def version(self) -> int:
        """The version of the format."""
        return 3 if "zarr.json" in self.roots else 2


def far_store(address: str) -> FarStore | None:
    """Return the Zarr store in a folder at an address; None if there is none.

    Raises
    ------
    DataFileError
        If the address cannot be read.
    """
    folder = Folder(address)
    node = _read(folder, "zarr.json")
    if node is not None:
        return FarStore(folder, {"zarr.json": node})
    names = (_CONSOLIDATED, ".zgroup", ".zarray")
    found = next(((name, raw) for name in names if (raw := _read(folder, name)) is not None), None)
    if found is None:
        folder.close()
        return None
    attributes = None if found[0] == _CONSOLIDATED else _read(folder, _ATTRIBUTES)
    return FarStore(folder, dict([found]) | ({} if attributes is None else {_ATTRIBUTES: attributes}))


def _read(folder: Folder, key: str) -> bytes | None:
    """Return the content of a node's metadata file; None if it is missing."""
    ranges = folder.open(key)
    if ranges is None:
        return None
    if ranges.size > _BYTES:
        raise DataFileError(f"{ranges.name} has {ranges.size} bytes, but the limit is {_BYTES}")
    return ranges.read_at(0, ranges.size)


def open_far(store: FarStore, how: Opening) -> Contents:
    """Return the contents of a store at an address; reads only metadata.

    Raises
    ------
    DataFileError
        If it is damaged.
    """
    folder, losses = store.folder, list[Loss]()
    with of_stranger(folder.name, "Zarr"):
        said = _consolidated(store, losses)
        if said is None:
            said = dict(store.roots)
            is_group = ".zarray" not in said and not _is_array(said.get("zarr.json"))
            if is_group and folder.listed("") is None:
                text = f"what is in {folder.name}: http lists nothing, and it has no consolidated metadata"
                losses.append(Loss(text, "", "member", _ADVICE))
            elif is_group:
                said |= dict(_listed(folder, how.limits))
    keys = Keys(folder.name, _Entries(folder, said), (_not_again, (folder.name,)), is_far=True)
    found = open_place(Keyed(keys), how)
    return evolve(found, losses=(*losses, *found.losses))


def _not_again(name: str) -> Keys:
    raise DataFileError(f"cannot pickle {name}, which is at an address; use tw.open in the other process")


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _parsed(raw: bytes, what: str) -> dict[str, Any]:
    return _object(parse_json(raw, what, depth=_DEPTH, digits=MAX_DIGITS, max_bytes=_BYTES, constants=True))


def _is_array(raw: bytes | None) -> bool:
    """Return True if a node is an array; False for a damaged node, whose reader raises."""
    try:
        return raw is not None and _parsed(raw, "zarr.json").get("node_type") == "array"
    except ParseError:
        return False


def _consolidated(store: FarStore, losses: list[Loss]) -> dict[str, bytes] | None:
    """Return the metadata files of nodes from consolidated metadata; None if there are none."""
    name = "zarr.json" if "zarr.json" in store.roots else _CONSOLIDATED
    raw = store.roots.get(name)
    root = {} if raw is None else _parsed(raw, name)
    inner = (
        root.get("metadata")
        if name == _CONSOLIDATED
        else _object(root.pop("consolidated_metadata", None)).get("metadata")
    )
    if not isinstance(inner, dict):
        return None
    found: dict[str, bytes] = {} if name == _CONSOLIDATED else {name: json.dumps(root).encode()}
    for path, node in cast("dict[str, object]", inner).items():
        key = path if name == _CONSOLIDATED else f"{path}/{name}"
        parts = key.split("/")
        if any(own in ("", ".", "..") or "\\" in own or not own.isprintable() for own in parts):
            text = f"the metadata of {path[:80]!r}, which is not a path in the store"
            losses.append(Loss(text, "", "name"))
        elif parts[-1] in _SAID:
            found[key] = json.dumps(node).encode()
    return found


def _listed(folder: Folder, limits: Limits) -> Iterator[tuple[str, bytes]]:
    """Yield the keys and contents of metadata files below the root."""
    left = [("", 0)]
    count = 0
    while left:
        above, depth = left.pop()
        folders, files = folder.listed(above) or ([], [])
        count += 1
        if count > limits.tensors:
            raise DataFileError(
                f"{folder.name} has more than {limits.tensors} folders; limits=Limits(tensors=...)"
            )
        marks = {
            name: raw for name in files if name in _SAID and (raw := _read(folder, above + name)) is not None
        }
        yield from ((above + name, raw) for name, raw in marks.items())
        is_array = ".zarray" in marks or _is_array(marks.get("zarr.json"))
        if not is_array and depth < _DEPTH:
            left += [(f"{above}{name}/", depth + 1) for name in folders]


@final
class _Entries(Mapping[str, Entry]):
    """Keys of a store. Metadata files are in memory; chunks are opened on request."""

    def __init__(self, folder: Folder, said: Mapping[str, bytes]) -> None:
        self._metadata = said
        self._opened = functools.lru_cache(_OPENED)(folder.open)

    def __getitem__(self, key: str) -> Entry:
        if key.rpartition("/")[2] in _SAID:
            return Inline(self._metadata[key])
        found = self._opened(key)
        if found is None:
            raise KeyError(key)
        return _Chunk(found)

    def __iter__(self) -> Iterator[str]:
        return iter(self._metadata)

    def __len__(self) -> int:
        return len(self._metadata)


@final
@frozen
class _Chunk:
    """A file of a chunk."""

    ranges: Ranges

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self.ranges.size

    def read(self, start: int, stop: int) -> bytes:
        """Return some of the bytes; those at the end were fetched on opening."""
        return self.ranges.read_with_tail(start, stop)
