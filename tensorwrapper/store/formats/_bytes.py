"""Limit the memory of tensors that readers allocate."""

from tensorwrapper.errors import DataFileError
from tensorwrapper.wire import Limits


def check_bytes(nbytes: float, name: str | None, limits: Limits) -> None:
    """Raise if a tensor, or a part of it, would exceed the memory limit.

    Raises
    ------
    DataFileError
        If the limit would be exceeded.
    """
    if nbytes > limits.decompressed_bytes:
        raise DataFileError(
            f"{name!r} needs {int(nbytes)} bytes of memory, but the limit is "
            f"{limits.decompressed_bytes}; limits=Limits(decompressed_bytes=...) can raise "
            f"it"
        )
