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

__all__ = ["MOST_NAME", "VERSION", "Block", "describe_block", "is_within", "split_blocks"]

VERSION: Final = 1

MOST_NAME: Final = 1024
"""Characters that the name of a tensor may have."""

_BYTES: Final = 2**26
"""Bytes of a block unless said otherwise: large enough to be fast, small enough to be sent in turns."""


def _as_tensor(tensor: object) -> Tensor[Any]:
    return as_tensor(tensor)


def _as_shape(shape: ShapeLike) -> Shape[Any]:
    return as_shape(shape)


def _as_part(number: SupportsIndex) -> int:
    return to_count(number, "the number of a part")


@final
@frozen(eq=False)
class Block:
    """A part of a tensor, with what a receiver must know to put the tensor together.

    Made by `split_blocks`; a box of a box of numbers also by hand, where every process has a part of its
    own. `encode` takes blocks among its tensors, and an `Assembler` puts them together.

    Attributes
    ----------
    tensor
        The elements: a box of numbers, or what `as_tensor` makes one of. The origin of its shape says where
        in the whole they are.
    name
        Which tensor it is of, in 1 to 1024 characters; whoever sends to one receiver must not use a name
        twice.
    total
        The shape of what it is a box of: the whole tensor, or one of the parts that make it up. Extents will
        do.
    part
        Which part that is, of a tensor that is no box of numbers.
    whole
        What there is to say of such a tensor; None for a box of numbers.

    Raises
    ------
    LocalProtocolError
        If the tensor is no box of numbers within `total`, or the name is none.
    ConversionError
        If `total` is no shape, `part` no number, or `whole` not what `split_blocks` made. What `as_tensor`
        raises is raised, too.

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
    """Tell whether a box lies within another of its rank."""
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

    Each is made when it is asked for: a view where the elements lie so, else a copy of as much. Of a box of
    numbers they are boxes. Of any other tensor they are pieces of the parts that a message of it would have:
    first those that say where its elements are (row splits, addresses, offsets ...), then its elements.

    Parameters
    ----------
    tensor
        What to cut, or what `as_tensor` makes one of.
    name
        What the receiver is to call the tensor, in 1 to 1024 characters.
    tiling
        Where to cut a box; every tile is a block. A tile that does not lie packed is copied when it is
        encoded.
    over
        A running iterator over indices of leading modes (elements, rows, tiles of a tiled tensor), or, with
        `tiling`, over numbers of its tiles. It goes on where it stands, and a block has what is under the
        next index, or under several that follow one another. What is set while it runs, its origin or its
        position, holds for what follows; it always stands behind what was handed out. Whoever begins where
        it stands at 0 sends what says where elements are, too.
    max_bytes
        How large a block may be; only a tile, and what is under one index of `over`, is never cut. Blocks
        are runs of whole rows, or of parts of one row, so that each lies packed in a tensor that does.
    limits
        Those of the readers.

    Raises
    ------
    LocalProtocolError
        If the tensor cannot be cut so, the name is none, a limit of readers is in the way, or `max_bytes` is
        less than one element.
    ExtentMismatchError
        If the tiling is not that of the tensor's shape.
    ConversionError
        If `over` is no running iterator.
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
