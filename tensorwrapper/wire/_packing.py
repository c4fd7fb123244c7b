"""Packings: how shapes that are no boxes travel, as integer parts beside the element data.

docs/format.md describes them for other implementers. Every index part holds little-endian int64. Versions
are checked, numbers are bounded before they are used, and no array of a size that a sender only claims is
ever made.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import numpy as np

from tensorwrapper._arrays import splits_of
from tensorwrapper._json import Json
from tensorwrapper.shape import Jagged, Partition, Rows, Shape
from tensorwrapper.shape.lowlevel import Columns, Origins, wrap
from tensorwrapper.typing import Array, Index, IntArray
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._refusal import refuse

__all__ = [
    "AddBytes",
    "AddPart",
    "ReadElements",
    "ReadPart",
    "check_splits",
    "describe_partitions",
    "describe_rows",
    "read_int",
    "read_object",
    "read_partitions",
    "read_rows",
]

AddPart: TypeAlias = Callable[[IntArray], int]
"""Puts an index array into the payload and returns the number of its part."""

AddBytes: TypeAlias = Callable[[Array], int]
"""Puts elements of any type into the payload, and returns the number of their part."""

ReadElements: TypeAlias = Callable[[object, int, "np.dtype[Any]", str], Array]
"""Returns so many elements of a type from a part that a label names."""

ReadPart: TypeAlias = Callable[[object, str], IntArray]
"""Returns the int64 array in a part that a label names."""

VERSION = 1
_FAR = 2**62  # an origin beyond this could overflow when an extent is added


def describe_rows(rows: Rows, add: AddPart) -> dict[str, Json]:
    """Return the ``jagged`` object of a tensor description, its arrays put into parts."""
    columns = rows.packed().columns
    origins: list[Json] = [rows.first]
    origins += [_describe_origins(o, add) for o in (*columns.origins[1:], *columns.leaf_origins)]
    described: dict[str, Json] = {
        "version": VERSION,
        "cell_rank": columns.leaf_rank,
        "splits": [add(splits) for splits in columns.splits],
        "cells": add(_cells(columns)),
    }
    if any(origin != 0 for origin in origins):
        described["origins"] = origins
    return described


def _cells(columns: Columns) -> IntArray:
    """Return what the format calls cells: row splits for cells of rank 1, else a table of extents."""
    if columns.leaf_rank > 1 or columns.leaf.ndim == 1:
        return columns.leaf.reshape(-1)
    return splits_of(columns.leaf[:, 0])


def _describe_origins(origins: Origins, add: AddPart) -> Json:
    return origins if isinstance(origins, int) else {"part": add(origins)}


def describe_partitions(partitions: tuple[Partition, ...], first: Index, add: AddPart) -> dict[str, Json]:
    """Return the ``tiled`` object of a tensor description, its marks put into parts."""
    described: dict[str, Json] = {"version": VERSION, "marks": [add(p.marks) for p in partitions]}
    if any(first):
        described["first"] = list(first)
    return described


def read_object(value: object, where: str) -> Mapping[str, object]:
    """Return the fields of a foreign packing, if it is of the version that this reader knows."""
    if not isinstance(value, dict):
        refuse("schema", f"{where} must be an object")
    fields = cast("dict[str, object]", value)
    version = fields.get("version")
    if type(version) is not int:
        refuse("schema", f"version of {where} must be an integer")
    if version != VERSION:
        refuse("unsupported", f"{where} has version {version}; this reader knows {VERSION}")
    return fields


def read_int(value: object, where: str, low: int, high: int) -> int:
    """Return a foreign integer in ``[low, high]``."""
    if type(value) is not int:
        refuse("schema", f"{where} must be an integer")
    if not low <= value <= high:
        refuse("limit", f"{where} is {str(value)[:24]}, but {low} to {high} is allowed")
    return value


def _list(value: object, where: str, length: int | None = None) -> list[object]:
    if not isinstance(value, list):
        refuse("schema", f"{where} must be a list")
    items = cast("list[object]", value)
    if length is not None and len(items) != length:
        refuse("schema", f"{where} has {len(items)} entries instead of {length}")
    return items


def check_splits(splits: IntArray, where: str, total: int | None = None) -> int:
    """Return the last of foreign row splits, which must start at 0 and not descend."""
    if not len(splits) or int(splits[0]) != 0:
        refuse("layout", f"{where} must start with 0")
    if (splits[1:] < splits[:-1]).any():
        refuse("layout", f"{where} must not descend")
    last = int(splits[-1])
    if total is not None and last != total:
        refuse("size", f"{where} ends at {last} instead of {total}")
    return last


def read_rows(value: object, size: int, read: ReadPart, limits: Limits, where: str) -> Shape:
    """Return the jagged shape with `size` elements that a foreign ``jagged`` object describes."""
    fields = read_object(value, where)
    rank = _cell_rank(fields.get("cell_rank"), limits, where)
    named = _list(fields.get("splits"), f"splits of {where}")
    if len(named) + 1 + rank > limits.rank:
        refuse("limit", f"{where} has over {limits.rank} modes")
    splits: list[IntArray] = []
    nodes: int | None = None
    for depth, name in enumerate(named, start=1):
        what = f"splits of mode {depth} of {where}"
        array = read(name, what)
        if nodes is not None and len(array) != nodes + 1:
            refuse("size", f"{what} has {len(array)} numbers instead of {nodes + 1}")
        nodes = check_splits(array, what)
        splits.append(array)
    what = f"cells of {where}"
    cells = read(fields.get("cells"), what)
    if nodes is None:
        nodes = len(cells) - 1 if rank == 1 else len(cells) // rank
    if len(cells) != (nodes + 1 if rank == 1 else nodes * rank):
        refuse("size", f"{what} has {len(cells)} numbers, which do not fit {nodes} cells of rank {rank}")
    if rank == 1:
        check_splits(cells, what, size)
        leaf = cells
    else:
        leaf = cells.reshape(nodes, rank)
        _check_cells(leaf, size, limits, what)
    rows = len(splits[0]) - 1 if splits else nodes
    counts = [1, rows, *[int(s[-1]) for s in splits]]
    return _with_origins(fields, splits, leaf, rank, counts, read, where)


def _cell_rank(value: object, limits: Limits, where: str) -> int:
    if type(value) is not int or value < 1:
        refuse("schema", f"cell_rank of {where} must be an integer from 1 up")
    if value >= limits.rank:
        refuse("limit", f"{where} has over {limits.rank} modes")
    return value


def _check_cells(leaf: IntArray, size: int, limits: Limits, what: str) -> None:
    if len(leaf) and (int(leaf.min()) < 0 or int(leaf.max()) > limits.extent):
        refuse("limit", f"{what} must be from 0 to {limits.extent}")
    # Without the empty cells: a 0 would hide that the product of the other extents overflows.
    filled = leaf[(leaf > 0).all(axis=1)]
    # In floating point first: what is far too large is refused before any integer can wrap.
    with np.errstate(over="ignore"):
        least = float(np.multiply.reduce(filled.astype(np.float64), axis=1).sum())
    if least > 2.0 * size + 2.0:
        refuse("size", f"{what} have more elements than the {size} that are there")
    total = int(np.multiply.reduce(filled, axis=1).sum())
    if total != size:
        refuse("size", f"{what} have {total} elements instead of {size}")


def _with_origins(
    fields: Mapping[str, object],
    splits: list[IntArray],
    leaf: IntArray,
    cell_rank: int,
    counts: list[int],
    read: ReadPart,
    where: str,
) -> Shape:
    rank = len(splits) + 1 + cell_rank
    origins: list[Origins] = [0] * rank
    described = fields.get("origins")
    if described is not None:
        given = _list(described, f"origins of {where}", rank)
        for mode, item in enumerate(given):
            # A mode below the cells has one origin per node above it, a mode of a cell one per cell.
            nodes = counts[min(mode, len(splits) + 1)]
            origins[mode] = _read_origin(item, nodes, read, f"origin of mode {mode} of {where}")
    first = origins[0]
    if not isinstance(first, int):
        refuse("schema", f"origin of mode 0 of {where} must be one integer")
    outer = len(splits) + 1
    columns = Columns(tuple(splits), leaf, tuple(origins[:outer]), tuple(origins[outer:]))
    return wrap(Jagged(Rows(columns, 0, 0, columns.n_rows, first)))


def _read_origin(item: object, nodes: int, read: ReadPart, where: str) -> Origins:
    if not isinstance(item, dict):
        return read_int(item, where, -_FAR, _FAR)
    array = read(cast("dict[str, object]", item).get("part"), where)
    if len(array) != nodes:
        refuse("size", f"{where} has {len(array)} numbers instead of {nodes}")
    if nodes and not (int(array.min()) >= -_FAR and int(array.max()) <= _FAR):
        refuse("limit", f"{where} leaves -2**62 to 2**62")
    return array


def read_partitions(
    value: object, read: ReadPart, limits: Limits, where: str
) -> tuple[tuple[Partition, ...], Index]:
    """Return the partitions that a foreign ``tiled`` object describes, and the number of its first tile."""
    fields = read_object(value, where)
    named = _list(fields.get("marks"), f"marks of {where}")
    if not named:
        refuse("schema", f"marks of {where} must name one part at least")
    if len(named) > limits.rank // 2:
        refuse("limit", f"{where} is tiled in {len(named)} modes, but {limits.rank // 2} at most are allowed")
    partitions: list[Partition] = []
    for mode, name in enumerate(named):
        what = f"marks of mode {mode} of {where}"
        marks = read(name, what)
        if not len(marks) or (marks[1:] < marks[:-1]).any():
            refuse("layout", f"{what} must be one number at least and not descend")
        if not -_FAR <= int(marks[0]) <= int(marks[-1]) <= _FAR:
            refuse("limit", f"{what} leave -2**62 to 2**62")
        if int(marks[-1]) - int(marks[0]) > limits.extent:
            refuse("limit", f"{what} span over {limits.extent} elements")
        partitions.append(Partition(marks))
    described = fields.get("first")
    if described is None:
        return tuple(partitions), (0,) * len(named)
    first = _list(described, f"first of {where}", len(named))
    return tuple(partitions), tuple([read_int(k, f"first of {where}", -_FAR, _FAR) for k in first])
