"""Sources without a path: addresses, open files, and bytes in memory."""

import os
import re
from pathlib import PurePath
from typing import Final

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def has_no_path(source: object) -> bool:
    """Return True if a file is at an address, open, or in memory.

    Text is an address if it begins with a scheme, and no file has that name.
    """
    if isinstance(source, PurePath):
        return False
    if isinstance(source, str):
        return bool(_ADDRESS.match(source)) and not os.path.lexists(source)
    return isinstance(source, bytes | bytearray | memoryview) or hasattr(source, "read")


def shown_address(address: str) -> str:
    """Return an address for error messages, without user, password and query."""
    from urllib.parse import urlsplit, urlunsplit  # noqa: PLC0415 - paths do not wait for it

    try:
        parts = urlsplit(address)
    except ValueError:
        # The host has an unmatched bracket.
        return f"{address.partition(':')[0]}://..."
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
