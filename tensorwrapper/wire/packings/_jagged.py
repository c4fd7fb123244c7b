"""The packing ``jagged``: rows of any lengths, as splits per unrolled mode and extents of the cells."""

from typing import Any, Final, final

import numpy as np

from tensorwrapper._arrays import splits_of
from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper._value_class import frozen
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import contiguous, wrap_layout
from tensorwrapper.shape import Jagged, JaggedCommon, Rows
from tensorwrapper.shape.lowlevel import Columns, Origins, wrap
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Index, IntArray
from tensorwrapper.wire._protocol_errors import refuse, refuse_over
from tensorwrapper.wire.packings._packing import PackedShape, ShapePacking
from tensorwrapper.wire.parts._part_reader import PartReader, check_splits
from tensorwrapper.wire.parts._part_writer import PartWriter

_FAR: Final = 2**62  # an origin beyond this could overflow when an extent is added


@final
@frozen
class JaggedPacking(ShapePacking):
    """Packs every jagged shape; contiguous tiles have another packing."""

    @property
    def name(self) -> str:
        return "jagged"

    def pack_shape(self, tensor: Tensor[Any], parts: PartWriter) -> PackedShape | None:
        shape = tensor.shape.implementation
        if not isinstance(shape, JaggedCommon):
            return None
        rows = shape.rows
        window = rows.depth, rows.start, rows.stop, rows.first
        fields = parts.describe_once(rows.columns, window, lambda: _describe_rows(rows, parts))
        return PackedShape(fields, (tensor.size,), tensor)

    def unpack_shape(self, fields: Field, extents: Index, parts: PartReader) -> Layout[Any]:
        if len(extents) != 1:
            refuse("schema", f"shape beside {fields} must be its number of elements alone")
        return wrap_layout(contiguous(_read_rows(fields, extents[0], parts), 0))


def _describe_rows(rows: Rows, parts: PartWriter) -> dict[str, Json]:
    columns = rows.packed().columns
    origins: list[Json] = [rows.first]
    origins += [_describe_origins(o, parts) for o in (*columns.origins[1:], *columns.leaf_origins)]
    described: dict[str, Json] = {
        "cell_rank": columns.leaf_rank,
        "splits": [parts.add_indices(splits) for splits in columns.splits],
        "cells": parts.add_indices(_cells(columns, parts)),
    }
    if any(origin != 0 for origin in origins):
        described["origins"] = origins
    if columns.absent:
        parts.check_extent(max(columns.absent))
        described["absent"] = list(columns.absent)
    return described


def _cells(columns: Columns, parts: PartWriter) -> IntArray:
    """Return the format's description of cells: row splits for cells of rank 1, else a table of extents."""
    if columns.leaf.ndim > 1 and columns.leaf_rank > 1:
        parts.check_extent(int(columns.leaf.max(initial=0)))
        parts.claim_empty(_empty_places(columns.leaf))
    if columns.leaf.ndim == 1:
        # The array itself, without a view: the writer compares identities.
        return columns.leaf
    if columns.leaf_rank > 1:
        return columns.leaf.reshape(-1)
    return splits_of(columns.leaf[:, 0])


def _describe_origins(origins: Origins, parts: PartWriter) -> Json:
    return origins if isinstance(origins, int) else {"part": parts.add_indices(origins)}


def _read_rows(fields: Field, size: int, parts: PartReader) -> Any:  # noqa: ANN401 - a shape of unknown rank
    """Return the jagged shape with `size` elements that a foreign object describes."""
    most = parts.limits.rank
    rank, named = fields["cell_rank"].count(least=1), fields["splits"].items()
    if len(named) + 1 + rank > most:
        refuse_over("rank", f"{fields} has over {most} modes")
    splits: list[IntArray] = []
    nodes: int | None = None
    for part in named:
        array = parts.indices(part)
        if nodes is not None and len(array) != nodes + 1:
            refuse("size", f"{part} has {len(array)} numbers instead of {nodes + 1}")
        nodes = check_splits(array, part)
        splits.append(array)
    what = fields["cells"]
    cells = parts.indices(what)
    if nodes is None:
        nodes = len(cells) - 1 if rank == 1 else len(cells) // rank
    if len(cells) != (nodes + 1 if rank == 1 else nodes * rank):
        refuse("size", f"{what} has {len(cells)} numbers, which do not fit {nodes} cells of rank {rank}")
    if rank == 1:
        check_splits(cells, what, size)
        leaf = cells
    else:
        leaf = cells.reshape(nodes, rank)
        _check_cells(leaf, size, parts, what)
    rows = len(splits[0]) - 1 if splits else nodes
    counts = [1, rows, *[int(s[-1]) for s in splits]]
    outer = len(splits) + 1
    # A mode below the cells has one origin per node above it, a mode of a cell one per cell.
    nodes_above = [counts[min(mode, outer)] for mode in range(outer + rank)]
    origins = _read_origins(fields, nodes_above, parts)
    first = origins[0]
    if not isinstance(first, int):
        refuse("schema", f"{fields['origins'][0]} must be one integer")
    absent: Index = ()
    if fields["absent"].value is not None:
        if len(leaf) > (rank == 1):
            refuse("schema", f"{fields['absent']} says what cells would be, but there are some")
        absent = fields["absent"].integers(0, parts.limits.extent, length=rank)
    kept = absent if any(absent) else ()
    columns = Columns(tuple(splits), leaf, tuple(origins[:outer]), tuple(origins[outer:]), kept)
    return wrap(Jagged(Rows(columns, 0, 0, columns.n_rows, first)))


def _empty_places(leaf: IntArray) -> float:
    """Return how many places there are in cells before their first empty mode, but for one that each pays."""
    empty = leaf[(leaf == 0).any(axis=1)]
    if not len(empty):
        return 0.0
    before = np.logical_and.accumulate(empty > 0, axis=1)
    with np.errstate(over="ignore"):
        places = np.multiply.reduce(np.where(before, empty, 1).astype(np.float64), axis=1)
        return float((places - 1.0).sum())


def _check_cells(leaf: IntArray, size: int, parts: PartReader, what: Field) -> None:
    most = parts.limits.extent
    if len(leaf) and (int(leaf.min()) < 0 or int(leaf.max()) > most):
        refuse_over("extent", f"{what} must be from 0 to {most}")
    # Without the empty cells: a 0 would hide that the product of the other extents overflows.
    filled = leaf[(leaf > 0).all(axis=1)]
    # In floating point first: it refuses numbers that are far too large before an integer can overflow.
    with np.errstate(over="ignore"):
        least = float(np.multiply.reduce(filled.astype(np.float64), axis=1).sum())
    if least > 2.0 * size + 2.0:
        refuse("size", f"{what} have more elements than the {size} that are there")
    total = int(np.multiply.reduce(filled, axis=1).sum())
    if total != size:
        refuse("size", f"{what} have {total} elements instead of {size}")
    parts.claim_empty(_empty_places(leaf), what)


def _read_origins(fields: Field, counts: list[int], parts: PartReader) -> list[Origins]:
    """Return the origins of all modes: of each one for all, or one for each of so many nodes."""
    if fields["origins"].value is None:
        return [0] * len(counts)
    given = fields["origins"].items(length=len(counts))
    return [_read_origin(item, nodes, parts) for item, nodes in zip(given, counts, strict=True)]


def _read_origin(item: Field, nodes: int, parts: PartReader) -> Origins:
    if not isinstance(item.value, dict):
        return item.integer(-_FAR, _FAR)
    array = parts.indices(item["part"])
    if len(array) != nodes:
        refuse("size", f"{item} has {len(array)} numbers instead of {nodes}")
    if nodes and not (int(array.min()) >= -_FAR and int(array.max()) <= _FAR):
        refuse("limit", f"{item} leaves -2**62 to 2**62")
    return array
