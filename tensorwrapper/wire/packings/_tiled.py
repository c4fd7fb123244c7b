"""The packing ``tiled``: the partitions of a box; its elements as the box has them, or tile by tile."""

import math
from typing import Any, Final, cast, final

from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper._value_class import frozen
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import Strided, TiledStrided, contiguous, wrap_layout
from tensorwrapper.shape import Partition, Tiled
from tensorwrapper.shape.lowlevel import make_tiling, wrap
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Index
from tensorwrapper.wire._protocol_errors import refuse, refuse_over
from tensorwrapper.wire.packings._packing import PackedShape, ShapePacking
from tensorwrapper.wire.parts._part_reader import PartReader
from tensorwrapper.wire.parts._part_writer import PartWriter

_FAR: Final = 2**62  # a mark beyond this could overflow when an extent is added


@final
@frozen
class TiledPacking(ShapePacking):
    """Takes boxes seen through a tiling, and tiles that are stored one after the other."""

    @property
    def name(self) -> str:
        return "tiled"

    def pack_shape(self, tensor: Tensor[Any], parts: PartWriter) -> PackedShape | None:
        if tensor.layout.is_tiled:
            box, grid = tensor.untiled(), tensor.shape.outer()
            fields = _describe(tensor.tiling.partitions, grid.origin, parts)
            return PackedShape(fields, box.shape.extents, box)
        shape = tensor.shape.implementation
        if not isinstance(shape, Tiled):
            return None
        fields = _describe(shape.partitions, shape.grid.origin, parts)
        return PackedShape({**fields, "storage": "tiles"}, (tensor.size,), tensor)

    def not_understood(self, fields: Field) -> str | None:
        storage = fields["storage"].value
        return None if storage in (None, "box", "tiles") else f"tiles in the storage {str(storage)[:24]!r}"

    def unpack_shape(self, fields: Field, extents: Index, parts: PartReader) -> Layout[Any]:
        storage = fields["storage"].value
        partitions, first = _read_partitions(fields, parts)
        box = tuple([p.extent for p in partitions])
        parts.claim_empty(_empty_tiles(partitions), fields)
        expected = (math.prod(box),) if storage == "tiles" else box
        if extents != expected:
            refuse("size", f"shape beside {fields} is {extents}, but its marks span {expected}")
        if storage == "tiles":
            return wrap_layout(contiguous(wrap(Tiled(partitions, first)), 0))
        tiling = make_tiling(partitions)
        under = cast("Strided", contiguous(tiling.elements, 0))
        return wrap_layout(TiledStrided(tiling, under, first))


def _empty_tiles(partitions: tuple[Partition, ...]) -> int:
    """Return how many tiles have neither elements nor separate marks."""
    counts = [p.count for p in partitions]
    return max(math.prod(counts) - sum(counts) - math.prod([p.extent for p in partitions]), 0)


def _describe(partitions: tuple[Partition, ...], first: Index, parts: PartWriter) -> dict[str, Json]:
    parts.claim_empty(_empty_tiles(partitions))
    parts.check_extent(max([p.extent for p in partitions], default=0))
    described: dict[str, Json] = {"marks": [parts.add_indices(p.marks) for p in partitions]}
    if any(first):
        described["first"] = list(first)
    return described


def _read_partitions(fields: Field, parts: PartReader) -> tuple[tuple[Partition, ...], Index]:
    """Return the partitions that a foreign object describes, and the number of its first tile."""
    limits, named = parts.limits, fields["marks"].items()
    if not named:
        fields["marks"].refuse("must name one part at least")
    if len(named) > limits.rank // 2:
        refuse_over("rank", f"{fields} has {len(named)} tiled modes, over {limits.rank // 2}")
    partitions: list[Partition] = []
    for part in named:
        marks = parts.indices(part)
        if not len(marks) or (marks[1:] < marks[:-1]).any():
            refuse("layout", f"{part} must be one number at least and not descend")
        if not -_FAR <= int(marks[0]) <= int(marks[-1]) <= _FAR:
            refuse("limit", f"{part} leaves -2**62 to 2**62")
        if int(marks[-1]) - int(marks[0]) > limits.extent:
            refuse_over("extent", f"{part} spans over {limits.extent} elements")
        partitions.append(Partition(marks))
    if fields["first"].value is None:
        return tuple(partitions), (0,) * len(named)
    return tuple(partitions), fields["first"].integers(-_FAR, _FAR, length=len(named))
