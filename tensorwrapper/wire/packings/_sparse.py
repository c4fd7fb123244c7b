"""The packing ``sparse``: addresses of a few elements, their values, and one value for all others."""

from typing import Any, final

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import Sparse
from tensorwrapper.buffer.lowlevel import is_fill, make_sparse, rises
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array
from tensorwrapper.wire._protocol_errors import refuse
from tensorwrapper.wire.packings._packing import ElementPacking, Packed, Received, WriteOptions
from tensorwrapper.wire.parts._part_reader import PartReader
from tensorwrapper.wire.parts._part_writer import PartWriter


@final
@frozen
class SparsePacking(ElementPacking):
    """Takes sparse tensors; they are never compressed."""

    @property
    def name(self) -> str:
        return "sparse"

    def pack(self, tensor: Tensor[Any], parts: PartWriter, options: WriteOptions) -> Packed | None:  # noqa: ARG002
        buffer = tensor.buffer
        fill = buffer.fill_value
        if fill is None:
            return None
        ordinals, values = buffer.stored_of(tensor.layout.implementation)
        described: dict[str, Json] = {"addresses": parts.add_indices(ordinals)}
        describe_fill(fill, described, parts)
        return Packed(values, described, lambda number: int(np.searchsorted(ordinals, number)))

    def unpack(self, received: Received) -> Sparse[Any]:
        fields, values, size = received.fields, received.values, received.size
        if size > MAX_INT64:
            refuse("limit", f"{fields} has {size} elements, more than 64 bits can count")
        what = fields["addresses"]
        addresses = received.parts.indices(what)
        if len(addresses) != len(values):
            refuse("size", f"{what} are {len(addresses)} for {len(values)} values")
        if not rises(addresses):
            refuse("layout", f"{what} must ascend, each greater than the one before")
        if len(addresses) and not 0 <= int(addresses[0]) <= int(addresses[-1]) < size:
            refuse("layout", f"{what} are not from 0 to {size - 1}")
        fill = read_fill(fields, values.dtype, received.parts)
        if bool(is_fill(values, fill).any()):
            return Sparse(addresses, values, size, fill_value=fill).as_readonly()
        return make_sparse(addresses, values, size, fill).as_readonly()


def describe_fill(fill: Array, described: dict[str, Json], parts: PartWriter) -> None:
    """Describe the fill value, unless it is zero."""
    one = fill.reshape(1)
    # Compare bytes: a fill of -0.0 must be written.
    if one.view(np.uint8).any():
        described["fill"] = parts.add_elements(one)


def read_fill(fields: Field, dtype: "np.dtype[Any]", parts: PartReader) -> Array:
    """Return the fill value, an array of rank 0."""
    if fields["fill"].value is None:
        return np.zeros((), dtype)
    return parts.elements(fields["fill"], 1, dtype).reshape(())
