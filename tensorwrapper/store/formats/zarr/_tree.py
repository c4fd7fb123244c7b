"""Find the arrays and groups of a Zarr store in a folder, from metadata.

Metadata of version 2 are converted to version 3. NaN and Infinity are accepted only in attributes, which
belong to the user.
"""

import math
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast, final

from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import parse_json
from tensorwrapper.errors import DataFileError, VersionChangedError
from tensorwrapper.store.formats._links import Links
from tensorwrapper.store.formats._ragged import Ragged
from tensorwrapper.store.formats.zarr._contained import is_inside, link_refusal
from tensorwrapper.store.formats.zarr._keys import MARKS, Keyed, Place
from tensorwrapper.store.records._loss import Loss, LossCode, unread
from tensorwrapper.store.system._system import of_stranger, reading, refused_by_system
from tensorwrapper.wire import Limits

_NAME: Final = "zarr.json"
_ARRAY_2: Final = ".zarray"
_GROUP_2: Final = ".zgroup"
_ATTRIBUTES_2: Final = ".zattrs"
_INTEGERS: Final = re.compile(r"u?int[0-9]{1,2}|[<>|][iu][1-8]")
"""Integer types of arrays, in either version."""
_OF_OTHERS: Final = frozenset(("attributes", "consolidated_metadata"))
"""Keys that may have NaN: attributes, and copies of other nodes' metadata with attributes."""
_BYTES: Final = 2**26
"""Size limit of a node's metadata in bytes, enough for the sizes of ten million chunks."""
_DEPTH: Final = 64
_FOLDER: Final[Mapping[str, Any]] = {"node_type": "group", "attributes": {}}
"""Metadata for a folder that is not a node, but has nodes below it."""


def read_node(folder: Place) -> Mapping[str, Any]:
    """Return the metadata of a node.

    Raises
    ------
    DataFileError
        If the folder is missing or is not a node of Zarr.
    """
    try:
        # `Path.is_dir` hides system errors.
        is_folder = folder.is_dir() if isinstance(folder, Keyed) else stat.S_ISDIR(folder.stat().st_mode)
    except FileNotFoundError as error:
        raise refused_by_system(f"{folder} does not exist", error) from error
    except OSError as error:
        raise refused_by_system(f"cannot open {folder}: {error.strerror}", error) from error
    if not is_folder:
        raise DataFileError(f"{folder} is not a folder, and not a Zarr store")
    if not (folder / _NAME).exists():
        for name, node_type in ((_ARRAY_2, "array"), (_GROUP_2, "group")):
            if (folder / name).exists():
                return _node_2(folder, name, node_type)
        raise DataFileError(
            f"{folder} has no {_NAME}, {_ARRAY_2} or {_GROUP_2}, and is not a Zarr store; "
            f"zarr.create_group(path) can create one"
        )
    node = _read(folder / _NAME)
    without = {key: value for key, value in node.items() if key not in _OF_OTHERS}
    if _has_constants(without):
        raise DataFileError(f"{folder / _NAME} has NaN or Infinity outside its attributes")
    _check_version(node, 3, folder / _NAME)
    if node.get("node_type") not in ("array", "group"):
        raise _unknown(folder / _NAME, "is neither an array nor a group", node.get("node_type"), "member")
    if not isinstance(node.get("attributes", {}), dict):
        raise DataFileError(f"{folder / _NAME} has attributes that are not an object")
    return node


@final
class UnchangedNode:
    """Check that a folder still has the metadata of an array; its attributes may change.

    Zarr reads a missing chunk as the fill value, so it would invent elements of an array that is gone.
    """

    __slots__ = ("_folder", "_known", "_node", "_place")

    def __init__(self, folder: Path, node: Mapping[str, Any]) -> None:
        self._folder, self._node = folder, _without_attributes(node)
        self._place = _place_of(folder)
        self._known: tuple[int, int, int] | None = None

    def __eq__(self, other: object) -> bool:
        is_same = isinstance(other, UnchangedNode) and (self._folder, self._place) == (
            other._folder,
            other._place,
        )
        return is_same and self._node == cast("UnchangedNode", other)._node

    def __hash__(self) -> int:
        return hash((self._folder, self._place))

    def __call__(self) -> None:
        """Raise `VersionChangedError` if the folder has other metadata, or none."""
        try:
            found = next(own.stat() for own in (self._folder / mark for mark in MARKS) if own.exists())
            state = found.st_ino, found.st_mtime_ns, found.st_size
            same = _place_of(self._folder) == self._place
            if same and state != self._known:
                same = _without_attributes(read_node(self._folder)) == self._node
            if not same:
                raise VersionChangedError(f"{self._folder} was changed or replaced after it was opened")
        except (StopIteration, OSError, DataFileError) as error:
            raise VersionChangedError(f"{self._folder} was removed after it was opened") from error
        self._known = state


def _place_of(folder: Path) -> tuple[int, int]:
    """Return which folder it is: one that replaces it is another, whatever it has."""
    found = folder.stat()
    return found.st_dev, found.st_ino


def _without_attributes(node: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key != "attributes"}


def _check_version(node: Mapping[str, Any], version: int, path: Place) -> None:
    """Raise unless a node has a version. Another version is unsupported, not damaged."""
    found = node.get("zarr_format")
    if found != version or isinstance(found, bool):
        raise _unknown(path, f"is not of version {version} of Zarr", found, "version")


def _unknown(path: Place, what: str, found: object, code: LossCode) -> DataFileError:
    """Return the error for a node of unknown version or type; the node is damaged if it has none."""
    text = f"{path} {what}, but {str(found)[:40]}"
    if not isinstance(found, int | str):
        return DataFileError(text)
    return DataFileError(Loss(text, "", code, "a newer zarr, or its author, may know it"))


def _read(path: Place) -> Mapping[str, Any]:
    if isinstance(path, Keyed):
        raw = path.read(_BYTES + 1)
    else:
        with reading(path, "Zarr") as stream:
            raw = stream.read(_BYTES + 1)
    with of_stranger(path, "Zarr"):
        found = parse_json(raw, "its text", depth=_DEPTH, digits=MAX_DIGITS, max_bytes=_BYTES, constants=True)
    return cast("Mapping[str, Any]", found if isinstance(found, dict) else {})


def _has_constants(value: object) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    inner: list[object] = []
    if isinstance(value, dict):
        inner = list(cast("dict[object, object]", value).values())
    elif isinstance(value, list):
        inner = cast("list[object]", value)
    return any(map(_has_constants, inner))


def _node_2(folder: Place, name: str, node_type: str) -> Mapping[str, Any]:
    """Return a version 2 node converted to version 3, as far as readers need it."""
    found = _read(folder / name)
    _check_version(found, 2, folder / name)
    if _has_constants(found):
        raise DataFileError(f"{folder / name} has NaN or Infinity outside its attributes")
    attributes: Mapping[str, Any] = {}
    if (folder / _ATTRIBUTES_2).exists():
        attributes = _read(folder / _ATTRIBUTES_2)
    node: dict[str, Any] = {"zarr_format": 2, "node_type": node_type, "attributes": attributes}
    if node_type == "array":
        filters = found.get("filters")
        packed = cast("list[object]", filters) if isinstance(filters, list) else []
        packed = [*packed, found.get("compressor")]
        ids = [{"name": cast("Mapping[str, Any]", own).get("id")} for own in packed if isinstance(own, dict)]
        node |= {"shape": found.get("shape"), "data_type": found.get("dtype"), "codecs": ids}
        node["chunk_grid"] = {"name": "regular"}
        node |= {key: found.get(key) for key in ("order", "dimension_separator")}
    return node


def _link_of(folder: Place, root: str, name: str) -> Loss | None:
    """Return the loss of a node whose folder or metadata is a link that is not followed.

    The root folder was given by the caller, and may be any link.
    """
    if name:
        loss = link_refusal(folder, root, name, f"the node {name!r}")
        if loss is not None:
            return loss
    marks = (*MARKS, _ATTRIBUTES_2)
    told = [link_refusal(folder / mark, root, name, f"{mark!r} of the node {name!r}") for mark in marks]
    return next((loss for loss in told if loss is not None), None)


def nodes_of(
    root: Place, limits: Limits, links: Links
) -> Iterator[tuple[str, Place, Mapping[str, Any] | Loss]]:
    """Yield the path, folder and metadata of each node in the store, groups first.

    A node that cannot be read has a loss instead of metadata, unless it is the root. So has a dangling link
    or a link out of the store. A link to another node of the store is recorded as an alias. Nodes below an
    array are skipped. Nodes below a damaged node, or below a folder without metadata, are included.
    """
    inside = os.path.realpath(str(root))
    left: list[tuple[str, Place]] = [("", root)]
    count = 0
    while left:
        name, folder = left.pop()
        node = _node_or_loss(name, folder, inside)
        if isinstance(node, Loss) and node.code == "link":
            yield name, folder, node
            continue
        count += 1
        if count > limits.tensors:
            raise DataFileError(f"{root} has more than {limits.tensors} nodes; limits=Limits(tensors=...)")
        yield name, folder, node
        if not isinstance(node, Loss) and node["node_type"] == "array":
            continue
        inner = _inner(folder, name)
        if isinstance(inner, Loss):
            yield name, folder, inner
            continue
        for own in inner:
            path = f"{name}/{own}" if name else own
            place = folder / own
            if isinstance(place, Path) and place.is_symlink() and is_inside(place, inside):
                links.soft.add(path)
                target = os.path.relpath(os.path.realpath(place), inside)
                links.targets[path] = target.replace(os.sep, "/")
            else:
                left.append((path, place))


def _node_or_loss(name: str, folder: Place, inside: str) -> Mapping[str, Any] | Loss:
    """Return the metadata of a node, or its loss if it cannot be read; for the root, raise."""
    loss = _link_of(folder, inside, name)
    if loss is not None:
        if not name:
            raise DataFileError(Loss(f"cannot open {folder}: {loss}", "", "link"))
        return loss
    try:
        is_root = not name and isinstance(folder, Path)
        return read_node(folder) if is_root or _has_mark(folder) else _FOLDER
    except DataFileError as error:
        if not name:
            raise
        return unread(f"the node {name!r} cannot be read", name, error)


def _inner(folder: Place, name: str) -> list[str] | Loss:
    """Return the names of nodes and dangling links in a group, in descending order."""
    if name.count("/") > _DEPTH:
        return Loss(f"what is in the group {name!r} is deeper than {_DEPTH} groups", name, "member")
    if isinstance(folder, Keyed):
        return folder.nodes()
    try:
        with os.scandir(folder) as entries:
            found = sorted([own.name for own in entries if own.is_dir() or own.is_symlink()], reverse=True)
        return [own for own in found if _is_node(folder / own) or _holds_nodes(folder / own, _DEPTH)]
    except OSError as error:
        if not name:
            raise refused_by_system(f"cannot read {folder}: {error.strerror or error}", error) from error
        return Loss(f"the group {name!r} cannot be read, {error.strerror or error}", name, "damage")


def _is_node(path: Path) -> bool:
    """Return True if a path is a node, or a dangling link, which may have been a node."""
    return not path.exists() or _has_mark(path)


def _has_mark(path: Place) -> bool:
    return any((path / mark).is_file() or (path / mark).is_symlink() for mark in MARKS)


def _holds_nodes(path: Path, depth: int) -> bool:
    """Return True if a folder without metadata has a node below it; some writers do not create groups."""
    if path.is_symlink() or not depth:
        return False
    try:
        with os.scandir(path) as entries:
            inner = [path / own.name for own in entries if own.is_dir(follow_symlinks=False)]
    except OSError:
        return False
    return any(_has_mark(own) for own in inner) or any(_holds_nodes(own, depth - 1) for own in inner)


def rows_of(
    folder: Place, node: Mapping[str, Any], key: str, root: str
) -> tuple[Ragged, dict[str, Mapping[str, Any]]] | None:
    """Return the description of rows in a group, and their arrays; None for other groups.

    Raises
    ------
    DataFileError, ParseError
        If it declares rows but lacks their arrays.
    """
    said = node.get("attributes", {}).get(key)
    if node["node_type"] != "group" or not isinstance(said, dict) or "shape" not in said:
        # Other programs may use the same name for other purposes.
        return None
    ragged = Ragged.from_fields(cast("object", said))
    parts: dict[str, Mapping[str, Any]] = {}
    for name in ("values", *[f"sizes_{mode}" for mode in ragged.variable_modes]):
        own = part_of(folder, name, root)
        extents: object = None if own is None else own.get("shape")
        if own is None or not isinstance(extents, list) or len(cast("list[object]", extents)) != 1:
            raise DataFileError(f"{name!r} is not a 1-d array")
        if name != "values" and not _INTEGERS.fullmatch(str(own.get("data_type"))):
            raise DataFileError(
                f"{name!r} has the data type {str(own.get('data_type'))[:40]!r}, not integers"
            )
        parts[name] = own
    given = {mode: parts[f"sizes_{mode}"]["shape"][0] for mode in ragged.variable_modes}
    ragged.check_counts({mode: own for mode, own in given.items() if type(own) is int})
    return ragged, parts


def part_of(folder: Place, path: str, root: str) -> Mapping[str, Any] | None:
    """Return the metadata of an array in a group; None if the path does not exist.

    Raises
    ------
    DataFileError
        If it is not an array, or a link out of the store.
    """
    above: Place = folder
    for part in path.split("/"):
        above /= part
        linked = _link_of(above, root, path)
        if linked is not None:
            raise DataFileError(linked)
    if not above.exists():
        return None
    node = read_node(above)
    if node["node_type"] != "array":
        raise DataFileError(f"{path!r} is not an array")
    return node
