"""The nodes of a Zarr store in a folder, by their metadata alone: which arrays and groups there are."""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import parse_json
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.system._system import reading, refused_by_system
from tensorwrapper.wire import Limits

__all__ = ["nodes_of", "read_node"]

_NAME: Final = "zarr.json"
_BYTES: Final = 2**26
"""What a node may say: the sizes of ten million chunks."""
_DEPTH: Final = 64


def read_node(folder: Path) -> Mapping[str, Any]:
    """Return what is said of a node.

    Raises
    ------
    DataFileError
        If there is no such folder, or it is no node of Zarr's version 3.
    """
    try:
        is_folder = stat.S_ISDIR(folder.stat().st_mode)
    except FileNotFoundError as error:
        raise refused_by_system(f"{folder} does not exist", error) from error
    except OSError as error:
        raise refused_by_system(f"{folder} cannot be opened: {error.strerror}", error) from error
    if not is_folder:
        raise DataFileError(f"{folder} is no folder, and no Zarr store")
    if not (folder / _NAME).exists():
        raise DataFileError(
            f"{folder} has no {_NAME}, and is no store of Zarr 3: selection.as_view(zarr.open(...)[name]) "
            "reads others"
        )
    with reading(folder / _NAME, "Zarr") as stream:
        raw = stream.read(_BYTES + 1)
        found = parse_json(raw, "its text", depth=_DEPTH, digits=MAX_DIGITS, max_bytes=_BYTES)
    node = cast("Mapping[str, Any]", found if isinstance(found, dict) else {})
    if node.get("zarr_format") != 3 or node.get("node_type") not in ("array", "group"):
        raise DataFileError(f"{folder / _NAME} is of no array or group of Zarr 3")
    if not isinstance(node.get("attributes", {}), dict):
        raise DataFileError(f"{folder / _NAME} has attributes that are no object")
    return node


def nodes_of(root: Path, limits: Limits) -> Iterator[tuple[str, Path, Mapping[str, Any]]]:
    """Yield the path of each node in the store, its folder, and what is said of it; groups first.

    Links to other folders are not followed. What is below an array, or below a group that is one ragged
    array, is theirs.
    """
    left = [("", root)]
    count = 0
    while left:
        name, folder = left.pop()
        node = read_node(folder)
        count += 1
        if count > limits.tensors:
            raise DataFileError(f"{root} has more than {limits.tensors} nodes; limits=Limits(tensors=...)")
        yield name, folder, node
        if node["node_type"] == "array" or "ragged" in node.get("attributes", {}):
            continue
        if name.count("/") > _DEPTH:
            raise DataFileError(f"{folder} lies deeper than {_DEPTH} groups")
        with os.scandir(folder) as entries:
            inner = sorted([e.name for e in entries if e.is_dir(follow_symlinks=False)], reverse=True)
        left += [
            (f"{name}/{own}" if name else own, folder / own)
            for own in inner
            if (folder / own / _NAME).is_file()
        ]
