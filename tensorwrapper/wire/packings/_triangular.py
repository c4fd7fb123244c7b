"""The packing ``triangular``: one half of a square, described by its side and two choices."""

from typing import Any, final

from tensorwrapper._json_fields import Field
from tensorwrapper._value_class import frozen
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import contiguous, wrap_layout
from tensorwrapper.shape import Triangular
from tensorwrapper.shape.lowlevel import wrap
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Half, Index
from tensorwrapper.wire._protocol_errors import refuse
from tensorwrapper.wire.packings._packing import PackedShape, ShapePacking
from tensorwrapper.wire.parts._part_reader import PartReader
from tensorwrapper.wire.parts._part_writer import PartWriter

_HALVES: dict[str, Half] = {"upper": "upper", "lower": "lower"}


@final
@frozen
class TriangularPacking(ShapePacking):
    """Takes whole triangles; runs of their rows are jagged."""

    @property
    def name(self) -> str:
        return "triangular"

    def pack_shape(self, tensor: Tensor[Any], parts: PartWriter) -> PackedShape | None:  # noqa: ARG002
        shape = tensor.shape.implementation
        if not isinstance(shape, Triangular):
            return None
        fields = {"diagonal": shape.diagonal, "half": shape.half, "n": shape.n}
        return PackedShape({**fields}, (shape.size,), tensor)

    def unpack_shape(self, fields: Field, extents: Index, parts: PartReader) -> Layout[Any]:
        side = fields["n"].count(parts.limits.extent)
        half = _HALVES[fields["half"].one_of(_HALVES)]
        shape = Triangular(side, half, diagonal=fields["diagonal"].boolean())
        if extents != (shape.size,):
            refuse("size", f"shape beside {fields} is {extents}, but its triangle has {shape.size} elements")
        return wrap_layout(contiguous(wrap(shape), 0))
