"""Sparse matrices of AnnData: a group of `data`, `indices` and `indptr` is one tensor.

The attribute `encoding-type` is `csr_matrix` or `csc_matrix`, and `shape` has the two extents. Row r of a
`csr_matrix` has the elements from `indptr[r]` to `indptr[r + 1]`; `indices` has their columns. A
`csc_matrix` swaps rows and columns.
"""

from functools import partial
from typing import Any, Final, cast

import numpy as np

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats.conventions._file_view import (
    Group,
    Part,
    Put,
    counted,
    integers_of,
    refused,
    whole,
)
from tensorwrapper.tensor import Tensor, sparse

_KINDS: Final = ("csr_matrix", "csc_matrix")
_PARTS: Final = ("data", "indices", "indptr")


def sparse_of(group: Group) -> Put | None:
    """Return the sparse tensor of a group, or None if the group does not declare one.

    Raises
    ------
    DataFileError
        If an array or the shape is missing, or does not match the others.
    """
    kind = group.attribute("encoding-type")
    if kind not in _KINDS:
        return None
    given = cast("list[object]", group.attribute("shape"))
    items = given if isinstance(cast("object", given), list) else []
    shape = [own for item in items if (own := counted(item, group.limits)) is not None]
    if len(shape) != 2 or len(items) != 2:
        raise DataFileError(f"its shape is {str(given)[:60]}")
    parts = {name: group.part(name) for name in _PARTS}
    for name, part in parts.items():
        if part is None or len(part.extents) != 1:
            raise DataFileError(f"{name!r} is missing or has another rank")
    data, indices, indptr = cast("list[Part]", list(parts.values()))
    if data.dtype.kind not in "biufc" or indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
        raise DataFileError(f"its types are {data.dtype}, {indices.dtype} and {indptr.dtype}")
    if kind == "csc_matrix":
        shape.reverse()
    if indptr.extents != (shape[0] + 1,) or data.extents != indices.extents:
        raise DataFileError(
            f"'indptr' has {indptr.extents[0]} entries for {shape[0]} rows, and 'indices' "
            f"{indices.extents[0]} for {data.extents[0]} elements"
        )
    read = partial(_read, group, (data, indices, indptr), shape, is_transposed=kind == "csc_matrix")
    return Put(
        str(kind).removesuffix("_matrix"),
        _PARTS,
        (("", read),),
        frozenset(("encoding-type", "encoding-version", "shape")),
    )


def _read(
    group: Group, parts: tuple[Part, Part, Part], shape: list[int], *, is_transposed: bool
) -> Tensor[Any]:
    data, indices, indptr = parts
    # Coordinates take two integers for each element.
    check_bytes(16.0 * indices.extents[0], group.name, group.limits)
    starts, columns = integers_of(indptr, group.limits), integers_of(indices, group.limits)
    if starts[0] != 0 or starts[-1] != len(columns) or (starts[1:] < starts[:-1]).any():
        raise refused(group.name, f"'indptr' does not ascend from 0 to {len(columns)}")
    if len(columns) and not 0 <= int(columns.min()) <= int(columns.max()) < shape[1]:
        raise refused(group.name, f"'indices' has numbers outside 0 to {shape[1] - 1}")
    coords = np.empty((len(columns), 2), np.int64)
    coords[:, 0] = np.repeat(np.arange(shape[0]), np.diff(starts))
    coords[:, 1] = columns
    # Sum elements that are stored several times, as SciPy does.
    found = sparse(coords, whole(data, group.limits), (shape[0], shape[1]), duplicates="sum")
    return found.permute((1, 0)) if is_transposed else found
