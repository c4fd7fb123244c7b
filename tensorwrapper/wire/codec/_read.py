"""Plans and parts to tensors: the reading half of the codec. Everything it sees is foreign."""

import math
from collections.abc import Sequence
from typing import Any, cast, final

from tensorwrapper._json import dump_json
from tensorwrapper._json_fields import Field
from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.layout import Layout
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._protocol_errors import refuse
from tensorwrapper.wire.codec._names import named_by_label
from tensorwrapper.wire.codec._no_elements import NoElements
from tensorwrapper.wire.codec._plan import TensorPlan, in_layers
from tensorwrapper.wire.packings._nullable import read_validity
from tensorwrapper.wire.packings._packing import Received, ShapePacking
from tensorwrapper.wire.parts._allocation_limit import Claim
from tensorwrapper.wire.parts._part_reader import PartReader


@final
class Reader:
    """Makes tensors over the payload parts of one message, without copies."""

    __slots__ = ("_buffers", "_layouts", "_may_share", "_parts")

    def __init__(self, parts: Sequence[memoryview], limits: Limits, *, may_share: bool = True) -> None:
        # A single tensor shares its shape with no other, and costs no comparison.
        self._may_share = may_share
        self._parts = PartReader(parts, limits)
        self._buffers: dict[tuple[object, ...], tuple[BufferCommon[Any], Claim]] = {}
        self._layouts: dict[tuple[object, ...], tuple[Layout[Any], float]] = {}

    def read(self, plan: TensorPlan) -> Tensor[Any]:
        """Return one tensor, after comparing its label entry with the received bytes."""
        packing, layout = plan.elements, plan.layout
        data = self._parts.data(plan.part, plan.field)
        if data.nbytes != plan.nbytes and not (packing is not None and packing.replaces_elements):
            size = plan.dtype.itemsize
            refuse(
                "size",
                f"{plan.field} has {math.prod(plan.extents)} elements of {size} bytes, "
                f"but its part has {data.nbytes}",
            )
        if layout is None and plan.shape is not None:
            layout = self._layout(plan, plan.shape)
        buffer = self._buffer(plan, data, layout)
        if plan.nulls is not None:
            buffer = read_validity(plan.nulls, buffer, math.prod(plan.extents), self._parts)
        return make_tensor(cast("Any", layout), buffer)

    def _layout(self, plan: TensorPlan, packing: ShapePacking) -> Layout[Any]:
        fields = plan.field[packing.name]
        if not self._may_share:
            return self._unpacked(plan, packing, fields)
        # Equal descriptions name the same parts: their tensors share one shape.
        key = packing.name, plan.extents, plan.layers, plan.names, dump_json(fields.value)
        known = self._layouts.get(key)
        if known is not None:
            self._parts.claim_empty(known[1], fields)
            return known[0]
        before = self._parts.empty
        layout = self._unpacked(plan, packing, fields)
        self._layouts[key] = layout, self._parts.empty - before
        return layout

    def _unpacked(self, plan: TensorPlan, packing: ShapePacking, fields: Field) -> Layout[Any]:
        layout = packing.unpack_shape(fields, plan.extents, self._parts)
        return named_by_label(in_layers(layout, plan.layers, plan.field), plan.names, plan.field)

    def _buffer(self, plan: TensorPlan, data: memoryview, layout: Layout[Any] | None) -> BufferCommon[Any]:
        packing, dtype = plan.elements, plan.logical or plan.dtype
        if not dtype.itemsize:
            return NoElements()
        if packing is None:
            return Dense(cast("Any", self._parts.view(data, dtype, plan.field)))
        fields, size = plan.field[packing.name], math.prod(plan.extents)
        claim = Claim(self._parts.claims, str(plan.field))
        received = Received(fields, data, dtype, size, self._parts, claim, layout)
        if not packing.replaces_elements:
            return packing.unpack(received)
        if not packing.is_lazy:
            self._parts.claim(plan.nbytes, plan.field)
        # Equal descriptions of one part share one buffer, which caches decompressed elements.
        key = packing.name, plan.part, dtype, size, dump_json(fields.value)
        known = self._buffers.get(key)
        if known is None:
            known = self._buffers[key] = packing.unpack(received), claim
        else:
            known[1].sharers += 1
        return known[0]
