"""Replace files atomically."""

import contextlib
import errno
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO, Final

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.system._bytes_at import sync_folder
from tensorwrapper.store.system._system import OPEN_FLAGS, about_path, mode_of, refused_by_system

_HERE: Final = -100  # AT_FDCWD: paths are those of this process
_EXCHANGE: Final = 2  # RENAME_EXCHANGE
_NAMED: Final = 40  # characters of the old name in the temporary one, as names have at most 255 bytes


def beside(target: str | os.PathLike[str]) -> str:
    """Return an unused name in the folder of a file."""
    path = os.fspath(target)
    name = os.path.basename(path)
    # Avoid `secrets`, which loads 5 MiB of cryptographic libraries.
    return f"{path.removesuffix(name)}.{name[:_NAMED]}.{os.urandom(6).hex()}.tmp"


def make_beside(target: str, temporary: str) -> int:
    """Create the temporary file that will replace another, with its permissions; return the descriptor.

    Raises
    ------
    DataFileError
        If the file to replace is not a regular file. The text completes a sentence.
    OSError
        If the system refuses.
    """
    mode = mode_of(target)
    # The permissions of the new file are never wider than those of the old file.
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | OPEN_FLAGS
    file = os.open(temporary, flags, 0o666 if mode is None else 0o600)
    if mode is not None and hasattr(os, "fchmod"):
        os.fchmod(file, mode)
    return file


@contextlib.contextmanager
def replacing(path: Path) -> Generator[BinaryIO, None, None]:
    """Yield a stream that replaces the file at `path` when the block ends without an exception.

    Raises
    ------
    DataFileError
        If the file cannot be written, or an existing one is not a regular file.
    """
    with replacing_path(path) as temporary, temporary.open("r+b") as stream:
        yield stream


@contextlib.contextmanager
def replacing_path(path: Path) -> Generator[Path, None, None]:
    """Yield the path of an empty file that replaces `path` when the block ends without an exception.

    Raises
    ------
    DataFileError
        If the file cannot be written, or an existing one is not a regular file.
    """
    target = os.path.realpath(path)
    temporary = Path(beside(target))
    try:
        os.close(_make(path, target, str(temporary)))
        yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(target)
        sync_folder(os.path.dirname(target))
    except DataFileError:
        raise
    except OSError as error:
        raise refused_by_system(f"cannot write {path}: {error.strerror or error}", error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _make(path: Path, target: str, temporary: str) -> int:
    try:
        return make_beside(target, temporary)
    except DataFileError as error:
        raise about_path(path, error) from error


def exchange(one: Path, other: Path) -> bool:
    """Exchange two existing paths atomically; return False if the system or file system cannot.

    Raises
    ------
    OSError
        If the system refuses.
    """
    import ctypes  # noqa: PLC0415 - needed where a folder is replaced, and nowhere else

    if sys.platform != "linux":
        return False
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), ctypes.c_uint(_EXCHANGE)) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
        return False
    raise OSError(number, os.strerror(number), str(other))
