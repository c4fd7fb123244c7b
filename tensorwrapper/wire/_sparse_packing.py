"""The packing ``sparse``: addresses of a few elements, their values, and one value for all others."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper._json import Json
from tensorwrapper.buffer import Sparse
from tensorwrapper.buffer.lowlevel import is_fill, make_sparse, rises, stored_of
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.typing import Array, IntArray
from tensorwrapper.wire._packing import AddBytes, AddPart, ReadElements, ReadPart
from tensorwrapper.wire._refusal import refuse

__all__ = ["describe_sparse", "read_sparse"]


def describe_sparse(
    held: LayoutCommon, buffer: Sparse[Any], add: AddPart, add_bytes: AddBytes
) -> tuple[Array, dict[str, Json]]:
    """Return the stored elements in row-major order, and the ``sparse`` object without its shape."""
    ordinals, values = stored_of(held, buffer)
    described: dict[str, Json] = {"version": 1, "addresses": add(ordinals)}
    fill = buffer.fill_value.reshape(1)
    # By its bytes: a fill of -0.0 is one that must be said.
    if fill.view(np.uint8).any():
        described["fill"] = add_bytes(fill)
    return values, described


def read_sparse(
    fields: Mapping[str, object],
    values: Array,
    size: int,
    read: ReadPart,
    read_elements: ReadElements,
    where: str,
) -> Sparse[Any]:
    """Return the read-only buffer of `size` elements that a foreign ``sparse`` object and its values hold."""
    if size > MAX_INT64:
        refuse("limit", f"{where} has {size} elements, more than 64 bits can count")
    addresses: IntArray = read(fields.get("addresses"), f"addresses of {where}")
    if len(addresses) != len(values):
        refuse("size", f"{where} has {len(addresses)} addresses for {len(values)} values")
    if not rises(addresses):
        refuse("layout", f"addresses of {where} must ascend, each greater than the one before")
    if len(addresses) and not 0 <= int(addresses[0]) <= int(addresses[-1]) < size:
        refuse("layout", f"addresses of {where} are not from 0 to {size - 1}")
    part = fields.get("fill")
    if part is None:
        fill: Array = np.zeros((), values.dtype)
    else:
        fill = read_elements(part, 1, values.dtype, f"fill of {where}").reshape(())
    if bool(is_fill(values, fill).any()):
        return Sparse(addresses, values, size, fill_value=fill).read_only()
    return make_sparse(addresses, values, size, fill).read_only()
