"""A folder at an address: open files by path, and list names where the file system supports it."""

import importlib
from typing import Any, Final, cast, final
from urllib.parse import quote, urlsplit, urlunsplit

from tensorwrapper.errors import DataFileError, DataFileNotFoundError
from tensorwrapper.store.ranges._addresses import shown_address
from tensorwrapper.store.ranges._byte_readers import ByteReader, FsspecReader
from tensorwrapper.store.ranges._ranges import Ranges

_TAIL: Final = 2**18
"""Bytes at the end of a file that are fetched on opening; smaller files are fetched whole."""
_SECONDS: Final = 30.0


def is_address_of_http(address: str) -> bool:
    """Return True if an address has the scheme http or https."""
    return address.partition(":")[0].lower() in ("http", "https")


@final
class Folder:
    """A folder at an address; any thread may open files in it."""

    __slots__ = ("_address", "_door", "name")

    def __init__(self, address: str) -> None:
        self._address, self.name = address, shown_address(address).rstrip("/")
        self._door: ByteReader | None = None

    def open(self, key: str) -> Ranges | None:
        """Return the ranges of a file; None if there is no such file.

        Raises
        ------
        DataFileError
            If it cannot be opened.
        """
        try:
            return Ranges(self._door_of(self._address_of(key)))
        except DataFileNotFoundError:
            return None

    def _door_of(self, address: str) -> ByteReader:
        if not is_address_of_http(address):
            return FsspecReader(address, shown_address(address))
        from tensorwrapper.store.ranges._http import HttpReader  # noqa: PLC0415 - what http needs takes long to load

        # All files of a folder share the connections of the first file.
        own = HttpReader(address, _SECONDS, tail=_TAIL, like=cast("HttpReader | None", self._door))
        self._door = self._door or own
        return own

    def _address_of(self, key: str) -> str:
        first, chain, rest = self._address.partition("::")
        if is_address_of_http(first):
            parts = urlsplit(first)
            path = f"{parts.path.rstrip('/')}/{quote(key)}"
            first = urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
        else:
            first = f"{first.rstrip('/')}/{key}"
        return f"{first}{chain}{rest}"

    def listed(self, key: str) -> tuple[list[str], list[str]] | None:
        """Return the names of folders and files in a folder; None for http, which cannot list.

        Raises
        ------
        DataFileError
            If they cannot be listed.
        """
        if is_address_of_http(self._address):
            return None
        try:
            system, path = cast(
                "tuple[Any, str]", importlib.import_module("fsspec").core.url_to_fs(self._address_of(key))
            )
            found = cast("list[dict[str, Any]]", system.ls(path.rstrip("/"), detail=True))
        except Exception as error:
            raise DataFileError(f"cannot list {self.name}/{key}: {type(error).__name__}") from error
        names = [(str(own["name"]).rstrip("/").rpartition("/")[2], own.get("type")) for own in found]
        return (
            sorted([name for name, kind in names if kind == "directory"]),
            sorted([name for name, kind in names if kind != "directory"]),
        )

    def close(self) -> None:
        """Close connections."""
        if self._door is not None:
            self._door.close()
