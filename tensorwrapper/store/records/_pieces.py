"""Join runs of rows to the tensor that they were split from, without copying elements."""

from collections.abc import Sequence
from typing import Any

from tensorwrapper.buffer import BufferCommon, join
from tensorwrapper.errors import DataFileError, TensorWrapperError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import names_of
from tensorwrapper.tensor import Tensor, from_buffer


def join_pieces(pieces: Sequence[Tensor[Any]]) -> Tensor[Any]:
    """Return the concatenation of pieces along the rows.

    Raises
    ------
    DataFileError
        If the pieces do not match.
    """
    first = pieces[0]
    if any(piece.is_sparse for piece in pieces):
        raise DataFileError("has pieces that are sparse")
    _check_rows(pieces)
    try:
        buffers = [run_of(piece) for piece in pieces]
        if first.shape.is_box:
            n_rows = sum([len(piece) for piece in pieces])
            shape = with_rows(first.shape, n_rows)
        else:
            shape = Shape.concat([piece.shape for piece in pieces], mode=0)
        return from_buffer(join(buffers), shape)
    except TensorWrapperError as error:
        raise DataFileError(f"has pieces that do not match: {error}") from error


def _check_rows(pieces: Sequence[Tensor[Any]]) -> None:
    """Raise unless every piece begins where the previous one ends, by their origins."""
    following = None
    for number, piece in enumerate(pieces):
        if not piece.shape.rank:
            raise DataFileError(f"has a piece {number} without rows")
        begin = piece.shape.as_smooth().origin[0]
        if following is not None and begin != following:
            raise DataFileError(f"has a piece {number} that begins at row {begin} instead of {following}")
        following = begin + len(piece)
        if piece.shape.kind != pieces[0].shape.kind or (
            piece.shape.is_box and piece.shape.extents[1:] != pieces[0].shape.extents[1:]
        ):
            raise DataFileError(f"has a piece {number} of {piece.shape} after one of {pieces[0].shape}")
        if names_of(piece.shape) != names_of(pieces[0].shape):
            raise DataFileError(f"has a piece {number} with other mode names: {piece.shape}")


def run_of(piece: Tensor[Any]) -> BufferCommon[Any]:
    """Return the elements of a piece as a run; contiguous elements are not read."""
    implementation, buffer = piece.layout.implementation, piece.buffer
    if implementation.is_contiguous and implementation.offset == 0 and buffer.size == piece.size:
        return buffer
    return piece.buffer.pack(implementation, own=False)


def with_rows(shape: Shape[Any], rows: int) -> Shape[Any]:
    """Return a box with another extent of its first mode, and the same origin, layers and names."""
    box = shape.as_smooth()
    wanted: Shape[Any] = Shape(rows, *box.extents[1:], origin=box.origin)
    if shape.has_layers:
        wanted = Shape.nested(wanted, layers=shape.layers)
    names = names_of(shape)
    return wanted if names is None else wanted.named(*names)
