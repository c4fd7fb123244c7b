"""Kerchunk manifests, version 1: a Zarr store whose keys are inline text, or byte ranges of other files.

A string in `refs` has the bytes of a key, in base64 after the prefix `base64:`. A list has the path of a
file, the start of the bytes, and their number. Files are read only below the folder `follow`.
"""

import base64
import binascii
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast, final

from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_DIGITS, MAX_INT64
from tensorwrapper._json import parse_json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats._checked_source import FileState, UnchangedFiles, check_state, state_of
from tensorwrapper.store.formats._contents import Contents, Opening
from tensorwrapper.store.formats._follow import followed, is_still
from tensorwrapper.store.formats.zarr._keys import Entry, Inline, Keyed, Keys
from tensorwrapper.store.formats.zarr._store import open_place
from tensorwrapper.store.records._loss import Loss, unread
from tensorwrapper.store.system._system import reading

_MOST_BYTES: Final = 2**26
"""Size limit of a manifest in bytes."""
_MOST_KEYS: Final = 2**20
_DEPTH: Final = 64
_BASE64: Final = "base64:"
_ROOT: Final = "array"
"""Name of an array that is a whole store."""
_ARRAYS: Final = (".zarray", "zarr.json")
_OTHERS: Final = ("templates", "gen")
"""Keys for generated references."""


def open_manifest(path: Path, how: Opening) -> Contents:
    """Return the contents of the store of a manifest; reads only the manifest.

    An array with a key in a file that is not followed is in `losses`.

    Raises
    ------
    DataFileError
        If the file is missing, damaged, has too many keys, or has templates.
    """
    keys, refused = _keys_of(path, how.follow, how.limits.decompressed_bytes)
    return open_place(Keyed(keys), how, _by_array(keys, refused))


def _again(path: Path, follow: str | None, most: int, same: UnchangedFiles) -> Keys:
    """Return the keys again, in another process; raise if the manifest, or a file that it names, changed."""
    same()
    return _keys_of(path, follow, most)[0]


def _keys_of(path: Path, follow: str | None, most: int) -> tuple[Keys, dict[str, Loss]]:
    """Return the keys of a manifest, and the losses of unread keys."""
    entries: dict[str, Entry] = {}
    refused: dict[str, Loss] = {}
    files: dict[str, Path | Loss] = {}
    states = {path: state_of(path)}
    for key, given in _refs_of(path).items():
        found = _entry(key, given, most)
        if isinstance(found, tuple):
            target, start, count = found
            if target not in files:
                files[target] = followed(target, path, follow, key, f"the key {key[:80]!r}")
            place = files[target]
            if isinstance(place, Path) and place not in states:
                states[place] = state_of(place)
            found = (
                place if isinstance(place, Loss) else _bytes_of(place, states[place], start, count, key, most)
            )
        if isinstance(found, Loss):
            refused[key] = found
            found = _Refused(found)
        entries[key] = found
    return Keys(
        path, entries, (_again, (path, follow, most, UnchangedFiles(frozenset(states.items()))))
    ), refused


def _refs_of(path: Path) -> dict[str, object]:
    with reading(path, "kerchunk") as stream:
        raw = stream.read(_MOST_BYTES + 1)
        said = parse_json(
            raw, "a manifest", depth=_DEPTH, digits=MAX_DIGITS, max_bytes=_MOST_BYTES, constants=True
        )
    given = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
    version, refs = given.get("version"), given.get("refs")
    if type(version) is not int or not isinstance(refs, dict):
        raise DataFileError(f"{path} lacks 'version' or 'refs', and is not a manifest of kerchunk")
    if version != 1:
        text = f"{path} is a manifest of version {version}, and version 1 is read"
        raise DataFileError(Loss(text, "", "version", "fsspec's ReferenceFileSystem may read it"))
    computed = [word for word in _OTHERS if given.get(word)]
    if computed:
        text = f"{path} has {' and '.join(computed)}, which compute other references"
        raise DataFileError(Loss(text, "", "convention", "fsspec's ReferenceFileSystem reads it"))
    found = cast("dict[str, object]", refs)
    if len(found) > _MOST_KEYS:
        raise DataFileError(f"{path} has {len(found)} keys, but the limit is {_MOST_KEYS}")
    return found


def _entry(key: str, given: Any, most: int) -> "Entry | Loss | tuple[str, int, int | None]":  # noqa: ANN401 - of a JSON
    """Return the bytes of a key, or their file, start and number."""
    if isinstance(given, dict):
        # Keep it as text, which may have NaN and Infinity, unlike strict JSON.
        return Inline(json.dumps(given).encode())
    if isinstance(given, str):
        if not given.startswith(_BASE64):
            return Inline(given.encode(errors="surrogatepass"))
        try:
            return Inline(base64.b64decode(given.removeprefix(_BASE64), validate=True))
        except (binascii.Error, ValueError) as error:
            return Loss(f"the key {key[:80]!r} has no base64: {error}", key, "damage")
    items: list[Any] = []
    if isinstance(given, list):
        items += given
    if items and isinstance(items[0], str) and len(items) in (1, 3):
        if len(items) == 1:
            return items[0], 0, None
        if all(type(own) is int and 0 <= own <= MAX_INT64 for own in items[1:]) and items[2] <= most:
            return items[0], items[1], items[2]
    shown = brief(cast("object", given))
    text = f"the key {key[:80]!r} has {shown}, which is neither a text nor a file with a start and a size"
    return Loss(text, key, "damage")


def _bytes_of(
    path: Path, state: FileState, start: int, count: int | None, key: str, most: int
) -> "Entry | Loss":
    size = state[0]
    stop = size if count is None else start + count
    if start > stop or stop > size or stop - start > most:
        text = f"the key {key[:80]!r} has the bytes from {start} to {stop} of a file of {size} bytes"
        return Loss(text, key, "damage")
    return _Span(path, state, start, stop - start)


def _by_array(keys: Keys, refused: Mapping[str, Loss]) -> dict[str, Loss]:
    """Return the loss of the first unread key of each array, by name."""
    found: dict[str, Loss] = {}
    for key, loss in refused.items():
        folder = key.rpartition("/")[0]
        while folder and not any(f"{folder}/{mark}" in keys.entries for mark in _ARRAYS):
            folder = folder.rpartition("/")[0]
        name = folder or _ROOT
        if folder or any(mark in keys.entries for mark in _ARRAYS):
            found.setdefault(name, unread(f"the array {name!r} is not read", name, DataFileError(loss)))
    return found


@final
@frozen
class _Span:
    """Bytes of another file."""

    path: Path
    state: FileState
    start: int
    size: int

    def read(self, start: int, stop: int) -> bytes:
        """Return some of the bytes."""
        if not is_still(self.path):
            raise DataFileError(f"{self.path} was replaced by a link to another file")
        with reading(self.path, "kerchunk") as stream:
            check_state(self.path, os.fstat(stream.fileno()), self.state)
            stream.seek(self.start + start)
            found = stream.read(stop - start)
        if len(found) != stop - start:
            raise DataFileError(f"{self.path} ends before byte {self.start + stop}")
        return found


@final
@frozen
class _Refused:
    """Bytes that must not be read."""

    loss: Loss

    @property
    def size(self) -> int:
        """Raise the loss as an error."""
        raise DataFileError(self.loss)

    def read(self, start: int, stop: int) -> bytes:
        """Raise the loss as an error."""
        del start, stop
        raise DataFileError(self.loss)
