"""Boost's storage order, which TENS copies, and Halide's buffers: both from a strided layout."""

from collections.abc import Sequence
from typing import SupportsIndex, final

from tensorwrapper._integers import to_count, to_int, to_ints
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._strided import Strided, packed_strides
from tensorwrapper.layout.interchange._losses import check_possible, loss_report
from tensorwrapper.layout.interchange._memory import box, check_fits, same_steps, strided_of
from tensorwrapper.shape import LossReport
from tensorwrapper.typing import Extents, Index


@final
@frozen
class StorageOrder:
    """A layout without gaps in the terms of Boost.MultiArray and TENS.

    Attributes
    ----------
    order
        The modes, the fastest first.
    ascend
        Per mode, whether offsets ascend with the index.
    origin_offset
        The offset of index 0 in every mode, if the lowest element has offset 0: Boost's ``origin()`` less
        ``data()``.
    lost
        Properties that order and direction lack.
    """

    order: Index
    ascend: tuple[bool, ...]
    origin_offset: int
    lost: LossReport


def storage_order_of(layout: LayoutCommon) -> StorageOrder:
    """Return order and direction of a layout without gaps.

    Several orders are equivalent if modes have extent 1. The one that also agrees with their strides comes
    first, then row-major, then column-major.

    Raises
    ------
    LayoutError
        If a mode repeats, or elements have gaps between them.
    """
    check_possible("storage_order", layout)
    strided = strided_of(layout)
    extents, rank = strided.shape.extents, strided.shape.rank
    ascend = tuple(
        [step >= 0 or n < 2 or 0 in extents for n, step in zip(extents, strided.strides, strict=True)]
    )
    by_step = sorted(range(rank), key=lambda mode: (abs(strided.strides[mode]), extents[mode] > 1))
    candidates = [tuple(range(rank - 1, -1, -1)), tuple(range(rank)), tuple(by_step)]
    reads = [_read(strided, order, ascend) for order in candidates]
    exact = [read.strides == strided.strides for read in reads]
    agree = [same_steps(extents, strided.strides, read.strides) for read in reads]
    place = (exact if True in exact else agree).index(True)
    read = reads[place]
    origin = strided.shape.origin
    outside = read.offset - sum([start * step for start, step in zip(origin, read.strides, strict=True)])
    return StorageOrder(candidates[place], ascend, outside, loss_report("storage_order", layout, read))


def _read(layout: Strided, order: Index, ascend: tuple[bool, ...]) -> Strided:
    packed = Strided(box(layout.shape.extents), packed_strides(layout.shape.extents, order), 0)
    return packed.reverse([mode for mode, up in enumerate(ascend) if not up])


@final
@frozen
class HalideBuffer:
    """A layout in Halide's terms: per dimension the first index, the extent and the stride.

    Attributes
    ----------
    dims
        ``(min, extent, stride)`` per dimension. The last mode comes first: Halide counts from the fastest.
    offset
        From the start of the memory to the element at the origin (``host``), in elements.
    lost
        Properties that these fields lack.
    """

    dims: tuple[tuple[int, int, int], ...]
    offset: int
    lost: LossReport


def halide_of(layout: LayoutCommon) -> HalideBuffer:
    """Return a strided layout with its dimensions from the last mode to the first."""
    check_possible("halide", layout)
    strided = strided_of(layout)
    dims = tuple(zip(strided.shape.origin, strided.shape.extents, strided.strides, strict=True))[::-1]
    check_fits([number for dim in dims for number in dim], "halide", 32)
    return HalideBuffer(dims, strided.offset, loss_report("halide", layout, strided))


def from_halide(dims: Sequence[Sequence[SupportsIndex]], offset: SupportsIndex) -> Strided:
    """Return the layout of Halide's dimensions, whose last one becomes mode 0."""
    rows: list[tuple[int, int, int]] = []
    try:
        given = list(dims)
    except TypeError as error:
        raise ConversionError(f"dimensions are a sequence of (min, extent, stride), not {dims!r}") from error
    for dim in given:
        numbers = to_ints(dim, "a dimension")
        if len(numbers) != 3:
            raise ConversionError(f"a dimension is (min, extent, stride), not {dim!r}")
        first, extent, stride = numbers
        rows.append((first, to_count(extent, "an extent"), stride))
    rows.reverse()
    extents: Extents = tuple([extent for _, extent, _ in rows])
    shape = box(extents, [first for first, _, _ in rows])
    return Strided(shape, tuple([stride for *_, stride in rows]), to_int(offset, "an offset"))
