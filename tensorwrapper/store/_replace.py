"""New files that take the place of old ones at once, or not at all."""

import contextlib
import os
import secrets
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO

from tensorwrapper.errors import DataFileError
from tensorwrapper.store._bytes_at import sync_folder

__all__ = ["beside", "replacing"]


def beside(target: Path) -> Path:
    """Return a name that nobody has, in the folder of a file."""
    return target.parent / f".{target.name[:64]}.{secrets.token_hex(6)}.tmp"


@contextlib.contextmanager
def replacing(path: Path) -> Generator[BinaryIO, None, None]:
    """Give a stream whose bytes become the file at `path` when the block ends without an exception.

    Raises
    ------
    DataFileError
        If the file cannot be written.
    """
    target = path.resolve()
    temporary = beside(target)
    try:
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise DataFileError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)
