"""Texts and sequences of any length in files: the common rules of all readers."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tensorwrapper._arrays import are_truths
from tensorwrapper._error_text import shortened
from tensorwrapper.buffer import StringData
from tensorwrapper.errors import DataFileError, DTypeError, StringDataError
from tensorwrapper.shape import Shape
from tensorwrapper.tensor._tensor import Tensor
from tensorwrapper.tensor.creation._convert import as_tensor
from tensorwrapper.tensor.creation._from_buffer import from_buffer
from tensorwrapper.typing import Array, Extents


@contextmanager
def reading_lazily(array: object) -> Generator[None, None, None]:
    """Convert a library's errors for unreadable elements to errors of this package.

    Errors of the operating system are not changed.

    Raises
    ------
    DataFileError
        If the library raises an `OSError` that is not of the operating system.
    """
    try:
        yield
    except OSError as error:
        if error.errno is not None or isinstance(error, DataFileError):
            raise
        raise DataFileError(
            f"{shortened(repr(array))} is damaged, or has elements that its library does not convert: {error}"
        ) from error


def text_or_bytes(data: StringData) -> StringData:
    """Return elements as text if all are UTF-8, otherwise as bytes."""
    try:
        return data.as_utf8()
    except StringDataError:
        return data.as_binary()


def check_sequences(dtype: "np.dtype[Any]") -> None:
    """Raise unless sequences of such elements are rows.

    Raises
    ------
    DTypeError
        If they are not: the text is the end of a sentence.
    """
    if dtype.base.kind not in "biufcmM":
        raise DTypeError(f"sequences of {str(dtype)[:80]}, which h5py reads as objects")
    if not dtype.base.isnative:
        # h5py 3.16 shows their bytes as if they were in the order of the machine.
        raise DTypeError(f"sequences of {dtype}, whose bytes h5py does not swap: h5dump shows them")


def rows_of_sequences(rows: Sequence[Array], extents: Extents, dtype: "np.dtype[Any]") -> Tensor[Any]:
    """Return the sequence at each index of a box as a row of it; of a box of rank 0 the one sequence.

    Arrays in elements are further modes.

    Raises
    ------
    DTypeError
        If sequences of such elements are not rows.
    DataFileError
        If a bool is neither 0 nor 1.
    """
    check_sequences(dtype)
    base, inner = dtype.subdtype or (dtype, ())
    parts = [np.asarray(row).reshape(-1, *inner) for row in rows] if inner else rows
    flat = np.concatenate(parts, dtype=base) if len(parts) else np.empty((0, *inner), base)
    if not are_truths(flat):
        raise DataFileError("a bool is neither 0 nor 1")
    if not extents:
        return as_tensor(flat)
    sizes = np.empty((len(parts), 1 + len(inner)), np.int64)
    sizes[:, 0] = np.fromiter(map(len, parts), np.int64, len(parts))
    sizes[:, 1:] = inner
    return from_buffer(flat.reshape(-1), Shape.from_cells(extents, sizes))
