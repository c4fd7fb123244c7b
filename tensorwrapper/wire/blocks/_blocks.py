"""Blocks: parts of one tensor that travel apart, in several payload parts or several messages."""

from collections.abc import Iterator
from typing import Any, Final, SupportsIndex, cast, final

import attrs

from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_count
from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, LocalProtocolError
from tensorwrapper.shape import IndexIterator, Shape, ShapeLike, Tiling, as_shape
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
from tensorwrapper.wire.blocks._pieces import Pieces, is_box_of_numbers, pieces_of
from tensorwrapper.wire.blocks._tensor_header import TensorHeader

VERSION: Final = 1

MOST_NAME: Final = 1024
"""Characters that the name of a tensor may have."""

_BYTES: Final = 2**26
"""Default bytes of a block: large enough to be fast, small enough to be sent in turns."""


def _as_tensor(tensor: object) -> Tensor[Any]:
    return as_tensor(tensor)


def _as_shape(shape: ShapeLike) -> Shape[Any]:
    return as_shape(shape)


def _as_part(number: SupportsIndex) -> int:
    return to_count(number, "the number of a part")


@final
@frozen(eq=False)
class Block:
    """A part of a tensor, with the description that a receiver needs to assemble the tensor.

    `split_blocks` makes blocks. Processes that each have a part of a box of numbers can also make them
    directly. `encode` takes blocks among its tensors, and an `Assembler` puts them together.

    Attributes
    ----------
    tensor
        The elements: a box of numbers, or an argument of `as_tensor`. The origin of its shape is their
        position in the whole.
    name
        Name of the tensor, in 1 to 1024 characters; senders to one receiver must not use a name twice for
        different tensors.
    total
        Shape of the whole: of the tensor, or of the part that the block belongs to. Extents will do.
    part
        Number of this part, for a tensor that is not a box of numbers.
    whole
        Description of such a tensor; None for a box of numbers.

    Raises
    ------
    LocalProtocolError
        If the tensor is not a box of numbers within `total`, or the name is not valid.
    ConversionError
        If `total` is not a shape, `part` not a number, or `whole` not made by `split_blocks`. Errors of
        `as_tensor` are raised, too.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> whole = tw.Shape(4, 3)
    >>> rows = tw.zeros(tw.Shape(2, 3, origin=(2, 0)))
    >>> tw.wire.Block(rows, "x", whole).tensor.shape
    Shape(2, 3, origin=(2, 0))
    """

    tensor: Tensor[Any] = attrs.field(converter=_as_tensor)
    name: str
    total: Shape[Any] = attrs.field(converter=_as_shape)
    part: int = attrs.field(default=0, converter=_as_part)
    whole: TensorHeader | None = None

    def __attrs_post_init__(self) -> None:
        _check_name(self.name)
        if not isinstance(cast("object", self.whole), TensorHeader | None):
            raise ConversionError(
                f"what a block says of a tensor is made by split_blocks, not {self.whole!r}"
            )
        if not is_box_of_numbers(self.tensor):
            raise LocalProtocolError(
                "unsupported",
                f"a block by hand is a box of numbers, not {self.tensor.shape} in {self.tensor.buffer!r}; "
                "split_blocks makes those of other tensors",
            )
        if not self.total.is_box or self.total.rank != self.tensor.rank:
            raise LocalProtocolError(
                "layout", f"a block of shape {self.tensor.shape} is of no tensor of shape {self.total}"
            )
        if not is_within(self.tensor.shape, self.total):
            raise LocalProtocolError(
                "layout", f"a block of shape {self.tensor.shape} leaves its tensor, of shape {self.total}"
            )


def is_within(part: Shape[Any], whole: Shape[Any]) -> bool:
    """Return True if a box is within another of its rank."""
    modes = zip(part.origin, part.extents, whole.origin, whole.extents, strict=True)
    return all(first <= start and start + n <= first + extent for start, n, first, extent in modes)


def _check_name(name: str) -> None:
    if not isinstance(cast("object", name), str):
        raise LocalProtocolError("schema", f"the name of the tensor of a block is a text, not {brief(name)}")
    if not name:
        raise LocalProtocolError("schema", "a block needs the name of the tensor that it is of")
    if len(name) > MOST_NAME:
        raise LocalProtocolError(
            "limit", f"the name of a tensor has {len(name)} characters; at most {MOST_NAME} are allowed"
        )


def describe_block(block: Block) -> dict[str, Json]:
    """Return the ``block`` object of a tensor description."""
    total, whole = block.total, block.whole
    described: dict[str, Json] = {
        "version": VERSION,
        "tensor": block.name,
        "shape": list(total.extents),
    }
    if any(total.origin):
        described["origin"] = list(total.origin)
    if whole is not None:
        described["part"] = block.part
        described["whole"] = {"bytes": list(whole.sizes), "entry": whole.entry}
    return described


def split_blocks(
    tensor: object,
    name: str,
    *,
    tiling: Tiling | None = None,
    over: IndexIterator[Any] | None = None,
    max_bytes: SupportsIndex = _BYTES,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Block]:
    """Return the blocks of a tensor of any kind, one after the other.

    Each block is made on request: a view where the elements are contiguous, else a copy. The blocks of a box
    of numbers are boxes. Blocks of any other tensor are pieces of the parts that a message of it would have:
    first the tables of its structure (row splits, addresses, offsets ...), then its elements.

    Parameters
    ----------
    tensor
        The tensor to cut, or an argument of `as_tensor`.
    name
        Name of the tensor at the receiver, in 1 to 1024 characters.
    tiling
        Where to cut a box; every tile is a block. A tile that is not contiguous is copied when it is
        encoded.
    over
        A running iterator over indices of leading modes (elements, rows, tiles of a tiled tensor), or, with
        `tiling`, over numbers of its tiles. It continues from its position, and a block has the elements
        under the next index, or under several consecutive ones. Setting its origin or its position affects
        later blocks; it always points behind the last block. A sender that begins at position 0 sends the
        structure, too.
    max_bytes
        Largest size of a block; only a tile, and the elements under one index of `over`, are never cut.
        Blocks are runs of whole rows, or of parts of one row, so that each is contiguous if the tensor is.
    limits
        Limits of the readers.

    Raises
    ------
    LocalProtocolError
        If the tensor cannot be cut so, the name is none, a limit of readers is in the way, or `max_bytes` is
        less than one element.
    ExtentMismatchError
        If the tiling is not that of the tensor's shape.
    ConversionError
        If `over` is not a running iterator.
    OutOfBoundsError
        From the iteration, if an index of `over` is not in the tensor; the iterator stays before it.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> a = np.arange(12.0).reshape(4, 3)
    >>> [block.tensor.shape.origin for block in tw.wire.split_blocks(a, "x", max_bytes=50)]
    [(0, 0), (2, 0)]
    >>> rows = tw.Shape(4).indices().iterator()
    >>> next(tw.wire.split_blocks(a, "x", over=rows, max_bytes=24)).tensor.shape, rows.position
    (Shape(1, 3), 1)
    >>> [block.tensor.shape.origin for block in tw.wire.split_blocks(a, "x", over=rows, max_bytes=50)]
    [(1, 0), (3, 0)]
    """
    _check_name(name)
    if over is not None and not isinstance(cast("object", over), IndexIterator):
        raise ConversionError(f"over= is a running iterator, shape.indices().iterator(), not {over!r}")
    pieces = pieces_of(as_tensor(tensor), limits)
    most, size = to_count(max_bytes, "max_bytes"), pieces.itemsize
    if most < size and tiling is None:
        raise LocalProtocolError("limit", f"blocks of {most} bytes have no room for elements of {size}")
    regions = pieces.regions(tiling, over, most // size)
    return _blocks(pieces, name, regions, most, begins=over is None or not over.position)


def _blocks(
    pieces: Pieces, name: str, regions: Iterator[Shape[Any]], most: int, *, begins: bool
) -> Iterator[Block]:
    total, whole = pieces.said.total, pieces.said.whole
    if begins:
        for number, data in enumerate(pieces.said.parts, 1):
            size = Shape(len(data))
            for start in range(0, len(data), most):
                piece = data[start : start + most]
                placed = from_buffer(piece, Shape(len(piece), origin=(start,)))
                yield Block(placed, name, size, number, whole)
        if not total.size and not any(map(len, pieces.said.parts)):
            yield Block(pieces.piece(total), name, total, 0, whole)
    for region in regions:
        if region.size:
            yield Block(pieces.piece(region), name, total, 0, whole)
