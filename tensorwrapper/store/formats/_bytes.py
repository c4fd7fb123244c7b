"""The bound on the memory of a tensor that a reader makes."""

from tensorwrapper.errors import DataFileError
from tensorwrapper.wire import Limits

__all__ = ["check_bytes"]


def check_bytes(nbytes: float, name: str | None, limits: Limits) -> None:
    """Raise before a tensor, or a part of one, takes more memory than the limits allow.

    Raises
    ------
    DataFileError
        If it would.
    """
    if nbytes > limits.decompressed_bytes:
        raise DataFileError(
            f"{name!r} takes {int(nbytes)} bytes in memory; {limits.decompressed_bytes} are allowed; "
            "limits=Limits(decompressed_bytes=...) raises that"
        )
