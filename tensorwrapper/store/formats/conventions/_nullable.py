"""Nullable columns of AnnData: a group of `values` and `mask` is a tensor with nulls.

The attribute `encoding-type` is `nullable-integer`, `nullable-boolean` or `nullable-string-array`. The mask
is True for a null.
"""

from functools import partial
from typing import Any, Final, cast

import numpy as np

from tensorwrapper.buffer import StringData
from tensorwrapper.errors import DataFileError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats.conventions._file_view import Group, Part, Put, whole
from tensorwrapper.tensor import Tensor, from_buffer, strings
from tensorwrapper.tensor.lowlevel import buffer_beside_valid

_KINDS: Final = {"nullable-integer": "iu", "nullable-boolean": "b", "nullable-string-array": "T"}
"""Dtype kinds of the values, by declaration."""
_PARTS: Final = ("values", "mask")


def nullable_of(group: Group) -> Put | None:
    """Return the tensor of a nullable column, or None if the group does not declare one.

    Raises
    ------
    DataFileError
        If the values or the mask are missing, or do not match.
    """
    kinds = _KINDS.get(str(group.attribute("encoding-type")))
    if kinds is None:
        return None
    parts = [group.part(name) for name in _PARTS]
    if None in parts:
        raise DataFileError(f"{_PARTS[parts.index(None)]!r} is missing")
    values, mask = cast("list[Part]", parts)
    if values.dtype.kind not in kinds or mask.dtype.kind != "b" or values.extents != mask.extents:
        raise DataFileError(
            f"its values are {values.dtype} {values.extents}, but their mask is {mask.dtype} {mask.extents}"
        )
    read = partial(_read, values, mask, group)
    return Put("nullable", _PARTS, (("", read),), frozenset(("encoding-type", "encoding-version")))


def _read(values: Part, mask: Part, group: Group) -> Tensor[Any]:
    valid, shape = ~whole(mask, group.limits).reshape(-1).astype(bool), Shape(*values.extents)
    if values.dtype.kind != "T":
        return from_buffer(buffer_beside_valid(whole(values, group.limits).reshape(-1), valid), shape)
    data = cast("Tensor[Any]", values.read()).to_string_data()
    marks = None if valid.all() else np.packbits(valid, bitorder="little")
    found = StringData.from_ranges(data.starts, data.stops, data.data, data.kind, validity=marks)
    return strings(found, shape=shape)
