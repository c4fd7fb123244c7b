"""The packing ``symmetric_blocks``: one tile of each orbit, which these are, and generators of the symmetry.

Symmetries are loaded on first use, because few messages have one.
"""
# ruff: noqa: PLC0415 - see above

from typing import TYPE_CHECKING, Any, cast, final

from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire.packings._blocks import read_present
from tensorwrapper.wire.packings._packing import ElementPacking, Packed, Received, WriteOptions
from tensorwrapper.wire.packings._sparse import describe_fill, read_fill
from tensorwrapper.wire.packings._symmetric import read_symmetry, refusing
from tensorwrapper.wire.parts._part_writer import PartWriter

if TYPE_CHECKING:
    from tensorwrapper.buffer import SymmetricBlocks


@final
@frozen
class SymmetricBlocksPacking(ElementPacking):
    """Takes tensors in tiles that store one tile of each orbit; they are never compressed."""

    @property
    def name(self) -> str:
        return "symmetric_blocks"

    def pack(self, tensor: Tensor[Any], parts: PartWriter, options: WriteOptions) -> Packed | None:  # noqa: ARG002
        if not (tensor.buffer.stores_orbits and tensor.buffer.in_tiles) or tensor.shape.is_box:
            return None
        from tensorwrapper.buffer import SymmetricBlocks
        from tensorwrapper.shape.lowlevel import plain_generators

        buffer: Any = tensor.buffer
        values = buffer.packed_of(tensor.layout.implementation)
        if values is None or not isinstance(buffer, SymmetricBlocks) or buffer.symmetry.is_trivial:
            return None
        described: dict[str, Json] = {
            "present": parts.add_indices(buffer.stored.ordinals()),
            "generators": plain_generators(buffer.symmetry.generators),
        }
        describe_fill(cast("Any", buffer).fill_value, described, parts)
        return Packed(values, described)

    def unpack(self, received: Received) -> "SymmetricBlocks[Any]":
        from tensorwrapper.buffer import SymmetricBlocks

        stored, fields = read_present(received), received.fields
        fill = read_fill(fields, received.values.dtype, received.parts)
        with refusing(fields):
            symmetry = read_symmetry(received, stored.rank)
            # Each stored tile becomes a row of numbers for every tile of its orbit.
            received.parts.claim(8 * (2 * stored.rank + 4) * stored.count * symmetry.order, fields)
            return SymmetricBlocks(stored, received.values, symmetry, fill_value=fill).as_readonly()
