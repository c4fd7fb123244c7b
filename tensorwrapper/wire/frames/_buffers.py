"""Checks of arguments: sequences of values, and memory as bytes."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tensorwrapper.errors import ConversionError
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import BufferLike

_ONE = (str, bytes, bytearray, memoryview, np.ndarray, Tensor, Mapping)
"""Iterable types that are single values: passed for several values, they lack a list around them."""


def check_several(values: object, what: str, kind: type = Sequence) -> None:
    """Raise if `values` is not a sequence, or is a single value whose rows, bytes or keys could be mistaken.

    Raises
    ------
    ConversionError
        With `what` to name the argument.
    """
    # An isinstance check of the abstract class takes longer than the header of a message, and most callers
    # pass a list.
    if type(values) is list:
        return
    given = type(values).__name__
    if isinstance(values, _ONE) or not isinstance(values, kind):
        raise ConversionError(f"{what} must be a sequence, such as [x] for a single x, not of type {given}")


def byte_views(buffers: Iterable[BufferLike], what: str) -> list[memoryview]:
    """Return the bytes of buffers without copying them.

    Raises
    ------
    ConversionError
        If one is not contiguous memory of numbers; `what` and its place name it.
    """
    views: list[memoryview] = []
    for buffer in buffers:
        try:
            view = buffer if type(buffer) is memoryview else memoryview(buffer)
            if view.ndim != 1 or view.format != "B" or not view.c_contiguous:
                view = _cast(view)
        except (TypeError, ValueError, BufferError) as error:
            raise ConversionError(
                f"{what} {len(views)} must be contiguous memory, such as bytes or array.view(np.uint8), "
                f"not of type {type(buffer).__name__}: {error}"
            ) from error
        views.append(view)
    return views


def frame_views(frames: Sequence[BufferLike]) -> list[memoryview]:
    """Return the bytes of the frames of a message, which are not copied.

    Raises
    ------
    ConversionError
        If they are not sequence of frames, or one is not contiguous memory of numbers.
    """
    check_several(frames, "frames")
    return byte_views(frames, "frame")


def _cast(view: memoryview) -> memoryview:
    if view.format == "O":
        # Python would cast it to the addresses of the objects.
        raise TypeError("Python objects have no bytes to send")
    # Python casts no view with an extent of 0.
    return view.cast("B") if view.nbytes else memoryview(b"")
