"""Names of tensors: one rule for files, fields of records and all other named tensors."""

import unicodedata
from typing import Final

from tensorwrapper._error_text import brief
from tensorwrapper.errors import TensorNameError

NAME_BYTES: Final = 255
"""Bytes of a name at most, as UTF-8."""


def _is_plain(name: str) -> bool:
    """Return whether a name is text of ASCII that a file can have, as nearly all are."""
    plain = name.isascii() and name.isprintable() and 0 < len(name) <= NAME_BYTES
    return plain and "/" not in name and "\\" not in name and name not in (".", "..")


def check_name(name: object) -> str:
    """Return the name of a tensor if a file can have it.

    Raises
    ------
    TensorNameError
        If it is not text, empty, too long, not in normal form C, or looks like a path.
    """
    if not isinstance(name, str):
        raise TensorNameError(f"the name of a tensor must be text, not {brief(name)}")
    if _is_plain(name):
        return name
    try:
        length = len(name.encode())
    except UnicodeEncodeError as error:
        raise TensorNameError(f"the name {name!r} has half a surrogate pair") from error
    if not 0 < length <= NAME_BYTES:
        raise TensorNameError(f"a name has 1 to {NAME_BYTES} bytes as UTF-8; {name[:40]!r} has {length}")
    if name in (".", "..") or any(char in "/\\" or unicodedata.category(char) == "Cc" for char in name):
        raise TensorNameError(
            f"the name {name[:40]!r} is a path or has control characters; /, \\, ., .. and NUL are not names"
        )
    if not unicodedata.is_normalized("NFC", name):
        # Two names that look alike would be two tensors, and one file after unpacking on some systems.
        raise TensorNameError(f"the name {name[:40]!r} is not in Unicode's normal form C")
    return name
