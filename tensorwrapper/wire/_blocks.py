"""Blocks: boxes of one tensor that travel apart, in several parts or several messages."""

from collections.abc import Iterator
from typing import Any, Final, SupportsIndex, final

import attrs

from tensorwrapper._integers import to_count
from tensorwrapper._json import Json
from tensorwrapper.errors import ExtentMismatchError, LocalProtocolError
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Index

__all__ = ["VERSION", "Block", "describe_block", "is_box_of_numbers", "is_within", "split_blocks"]

VERSION: Final = 1

_BYTES: Final = 2**26
"""Bytes of a block unless said otherwise: large enough to be fast, small enough to be sent in turns."""


@final
@attrs.frozen(eq=False)
class Block:
    """A box of a tensor, with what a receiver must know to put the tensor together.

    Made by `split_blocks`, or by hand where every process has a part of its own; `encode` takes blocks among
    its tensors, and an `Assembler` puts them together.

    Attributes
    ----------
    tensor
        The elements; the origin of its shape says where in the whole they are.
    name
        Which tensor it is of; whoever sends to one receiver must not use a name twice.
    total
        The shape of the whole tensor.

    Raises
    ------
    LocalProtocolError
        If the tensor is no box of numbers within `total`, or there is no name.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> whole = tw.Shape(4, 3)
    >>> rows = tw.zeros(tw.Shape(2, 3, origin=(2, 0)))
    >>> tw.wire.Block(rows, "x", whole).tensor.shape
    Shape(2, 3, origin=(2, 0))
    """

    tensor: Tensor[Any]
    name: str
    total: Shape[Any]

    def __attrs_post_init__(self) -> None:
        if not self.name:
            raise LocalProtocolError("schema", "a block needs the name of the tensor that it is of")
        _check_dense(self.tensor)
        if self.total.kind != "smooth" or self.total.rank != self.tensor.rank:
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


def is_box_of_numbers(tensor: Tensor[Any]) -> bool:
    """Tell whether a tensor has an element of a fixed size at every index of a box."""
    buffer = tensor.buffer
    return tensor.shape.kind == "smooth" and buffer.fill_value is None and buffer.dtype.kind not in "TO"


def _check_dense(tensor: Tensor[Any]) -> None:
    if not is_box_of_numbers(tensor):
        raise LocalProtocolError(
            "unsupported",
            f"only boxes of numbers are sent in blocks, not {tensor.shape} in {tensor.buffer!r}",
        )


def describe_block(block: Block) -> dict[str, Json]:
    """Return the ``block`` object of a tensor description."""
    total = block.total
    described: dict[str, Json] = {
        "version": VERSION,
        "tensor": block.name,
        "shape": list(total.extents),
    }
    if any(total.origin):
        described["origin"] = list(total.origin)
    return described


def split_blocks(
    tensor: object,
    name: str,
    *,
    tiling: Tiling | None = None,
    max_bytes: SupportsIndex = _BYTES,
) -> Iterator[Block]:
    """Return the blocks of a tensor, one after the other: views, which `encode` sends without copying.

    Parameters
    ----------
    tensor
        A box of numbers, or what `as_tensor` makes one of.
    name
        What the receiver is to call the tensor.
    tiling
        Where to cut; every tile is a block. A tile that does not lie packed is copied when it is encoded.
    max_bytes
        Without a tiling: how large a block may be. Blocks are runs of whole rows, or of parts of one row,
        so that each lies packed in a tensor that does.

    Raises
    ------
    LocalProtocolError
        If the tensor is no box of numbers, or `max_bytes` is less than one element.
    ExtentMismatchError
        If the tiling is not that of the tensor's shape.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> a = np.arange(12.0).reshape(4, 3)
    >>> [block.tensor.shape.origin for block in tw.wire.split_blocks(a, "x", max_bytes=50)]
    [(0, 0), (2, 0)]
    """
    whole: Tensor[Any] = as_tensor(tensor)
    _check_dense(whole)
    if not name:
        raise LocalProtocolError("schema", "a block needs the name of the tensor that it is of")
    if tiling is not None:
        if tiling.elements != whole.shape:
            raise ExtentMismatchError(f"a tiling of {tiling.elements} does not cut {whole.shape}")
        regions = tiling.tiles()
    else:
        most, size = to_count(max_bytes, "max_bytes"), whole.dtype.itemsize
        if most < size:
            raise LocalProtocolError("limit", f"blocks of {most} bytes have no room for elements of {size}")
        regions = _runs(whole.shape, most // size)
    return _cut(whole, name, regions)


def _cut(whole: Tensor[Any], name: str, regions: Iterator[Shape[Any]]) -> Iterator[Block]:
    total = whole.shape
    if not total.size:
        yield Block(whole, name, total)
        return
    for region in regions:
        if region.size:
            yield Block(whole.window(region), name, total)


def _runs(shape: Shape[Any], room: int) -> Iterator[Shape[Any]]:
    """Return boxes of at most `room` elements that follow one another in row-major order."""
    steps = list(shape.extents)
    below = shape.size
    for mode, extent in enumerate(steps):
        if below <= room:
            break
        below //= extent
        steps[mode] = max(room // below, 1)
    return _boxes(shape, steps, ())


def _boxes(shape: Shape[Any], steps: list[int], before: tuple[tuple[int, int], ...]) -> Iterator[Shape[Any]]:
    mode = len(before)
    if mode == shape.rank:
        starts: Index = tuple([start for start, _ in before])
        yield Shape(*[count for _, count in before], origin=starts)
        return
    extent, step, first = shape.extents[mode], steps[mode], shape.origin[mode]
    for start in range(0, extent, step):
        yield from _boxes(shape, steps, (*before, (first + start, min(step, extent - start))))
