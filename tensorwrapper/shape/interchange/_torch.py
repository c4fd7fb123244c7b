"""Shapes as tables of extents, one row per first index: PyTorch's nested tensors, Arrow's tensors per row."""

from collections.abc import Mapping, Sequence
from typing import Final, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_items_of
from tensorwrapper._arrays import frozen_array, splits_of
from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_DIGITS, to_count
from tensorwrapper._json import Json, dump_json, parse_json
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    JaggedModeError,
    ParseError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape.boxes._common import integer_array
from tensorwrapper.shape.boxes._names import ModeNames
from tensorwrapper.shape.boxes._smooth import SmoothCommon, make_smooth
from tensorwrapper.shape.kinds._children import jagged_from_cells
from tensorwrapper.shape.kinds._encodings import lengths_of
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._nested import Flat
from tensorwrapper.shape.rows._partition import Partition, int64_array
from tensorwrapper.typing import IntArray

_MAX_ITEMS: Final = 10_000
_KEYS: Final = ("dim_names", "permutation", "uniform_shape")


def depends_on_rows_alone(flat: Flat) -> bool:
    """Tell whether every extent is known when the first index is."""
    return isinstance(flat, SmoothCommon) or _deeper_mode(flat) is None


def _deeper_mode(flat: JaggedCommon) -> int | None:
    """Return the first mode whose extent depends on more than the first index."""
    # Mode 1 has no other mode to depend on.
    deeper = (mode for mode in range(2, flat.rank) if not set(flat.dependencies(mode)) <= {0})
    return next(deeper, None)


def ragged_mode(flat: Flat) -> int | None:
    """Return the one mode whose extent varies with the first index, 1 if none varies, ``None`` if more do."""
    varying = [mode for mode in range(1, flat.rank) if not flat.is_uniform(mode)]
    if flat.rank < 2 or len(varying) > 1 or not depends_on_rows_alone(flat):
        return None
    return varying[0] if varying else 1


def sizes_of_cells(flat: Flat) -> IntArray:
    """Return the extents of all modes but the first, one row per first index; O(rows).

    Raises
    ------
    JaggedModeError
        If an extent depends on more than the first index.
    RankError
        If rows have no modes.
    """
    if flat.rank < 2:
        raise RankError(f"rows that are boxes need modes of their own, but this shape has rank {flat.rank}")
    if isinstance(flat, SmoothCommon):
        return frozen_array(
            np.broadcast_to(np.array(flat.extents[1:], np.int64), (*flat.extents[:1], flat.rank - 1))
        )
    deeper = _deeper_mode(flat)
    if deeper is not None:
        raise JaggedModeError(
            f"mode {deeper} depends on modes {flat.dependencies(deeper)}, but rows are boxes only where all "
            "modes depend on mode 0 alone"
        )
    columns = [_per_row(flat, mode) for mode in range(1, flat.rank)]
    return frozen_array(np.stack(columns, axis=1))


def _per_row(flat: JaggedCommon, mode: int) -> IntArray:
    """Return the extent of a mode in each row; rows in which no prefix leads to it have 0."""
    count = flat.extent(0)
    if mode == 1:
        return lengths_of(flat.rows, 1)
    if flat.is_uniform(mode):
        return np.full(count, flat.extent_bounds(mode)[1], dtype=np.int64)
    lengths = lengths_of(flat.rows, mode)
    # How many prefixes of `mode` indices lie in each row: of them the first tells the extent of all.
    prefixes = np.ones(count, dtype=np.int64)
    for earlier in range(1, mode):
        prefixes *= _per_row(flat, earlier)
    starts = np.cumsum(prefixes) - prefixes
    found = np.zeros(count, dtype=np.int64)
    some = prefixes > 0
    found[some] = lengths[starts[some]]
    return found


# Arrow's variable_shape_tensor.


def tensors_of_cells(sizes: IntArray, names: ModeNames) -> tuple[npt.NDArray[np.int32], str]:
    """Return the sizes of tensors with 32 bits, and what Arrow keeps with them."""
    if sizes.size and int(sizes.max()) > np.iinfo(np.int32).max:
        raise SizeOverflowError(f"tensors have extents of 32 bits, but one is {sizes.max()}")
    return sizes.astype(np.int32), _metadata_of(sizes, names)


def _metadata_of(sizes: IntArray, names: ModeNames) -> str:
    """Return the JSON that Arrow keeps with the sizes of tensors: extents that are alike, and names."""
    fields: dict[str, Json] = {}
    if len(sizes):
        alike = (sizes == sizes[0]).all(axis=0).tolist()
        if any(alike):
            first: list[int] = sizes[0].tolist()
            fields["uniform_shape"] = [n if same else None for n, same in zip(first, alike, strict=True)]
    if any(names):
        fields["dim_names"] = [name or "" for name in names]
    return dump_json(fields)


def cells_of_arrow(sizes: npt.ArrayLike, metadata: str | bytes) -> tuple[Flat, ModeNames]:
    """Return the shape of tensors with these sizes, and the names of their modes."""
    table = _table(sizes)
    rank = table.shape[1]
    fields = _metadata(metadata)
    order = _permutation(fields.get("permutation"), rank)
    uniform = _list(fields.get("uniform_shape", [None] * rank), rank, "uniform_shape")
    for mode, extent in enumerate(uniform):
        if extent is not None and not (type(extent) is int and bool((table[:, mode] == extent).all())):
            raise ExtentError(
                f"uniform_shape says {str(extent)[:40]!r} of mode {mode}, but the sizes say other"
            )
    names = _list(fields.get("dim_names", [""] * rank), rank, "dim_names")
    if not all(isinstance(name, str) for name in names):
        raise ParseError("dim_names are texts")
    logical = [cast("str", names[mode]) or None for mode in order]
    rows = make_smooth((len(table),), (0,))
    return jagged_from_cells(rows, table[:, order], None), (None, *logical)


def _table(sizes: npt.ArrayLike) -> IntArray:
    array = integer_array(sizes, "sizes")
    if array.ndim != 2:
        raise ConversionError(
            f"sizes are a table with one row per tensor, not an array of shape {array.shape}"
        )
    if not array.size:
        return np.zeros(array.shape, dtype=np.int64)
    return int64_array(array.ravel(), "sizes").reshape(array.shape)


def _metadata(text: str | bytes) -> Mapping[str, object]:
    if not text:
        return {}
    fields = parse_json(text, "the metadata of tensors", depth=2, digits=MAX_DIGITS, items=_MAX_ITEMS)
    if not isinstance(fields, dict):
        raise ParseError("the metadata of tensors is a JSON object")
    unknown = [key for key in fields if key not in _KEYS]
    if unknown:
        raise ParseError(f"the metadata of tensors has no key {unknown[0][:40]!r}, only {', '.join(_KEYS)}")
    return cast("Mapping[str, object]", fields)


def _list(value: object, rank: int, key: str) -> list[object]:
    if not isinstance(value, list) or len(cast("list[object]", value)) != rank:
        raise ParseError(f"{key} is a list with one entry for each of {rank} modes")
    return cast("list[object]", value)


def _permutation(value: object, rank: int) -> list[int]:
    if value is None:
        return list(range(rank))
    order = [mode for mode in _list(value, rank, "permutation") if type(mode) is int]
    if sorted(order) != list(range(rank)):
        raise ParseError(f"permutation holds the numbers 0 to {rank - 1}, each once")
    return order


# PyTorch's jagged layout.


def torch_of_cells(flat: Flat) -> tuple[IntArray, tuple[int | None, ...]]:
    """Return the offsets of the one ragged mode, and the extents, ``None`` for it."""
    mode = ragged_mode(flat)
    if mode is None:
        if flat.rank < 2:
            raise RankError(f"the jagged layout has two modes at least, but this shape {flat.rank}")
        raise JaggedModeError(
            "the jagged layout has one ragged mode, which depends on mode 0 alone; others are written by "
            "cell_extents() or to_row_partitions()"
        )
    extents = [flat.extent_bounds(m)[1] for m in range(flat.rank)]
    offsets = splits_of(sizes_of_cells(flat)[:, mode - 1])
    return offsets, (*extents[:mode], None, *extents[mode + 1 :])


def cells_of_torch(
    offsets: npt.ArrayLike, extents: Sequence[SupportsIndex | None], lengths: npt.ArrayLike | None = None
) -> Flat:
    """Return the shape of rows of which one mode, given as ``None``, is as long as offsets or lengths say."""
    extents = to_items_of(extents, "extents must be a sequence")
    modes = [k for k, n in enumerate(extents) if n is None]
    if len(modes) != 1 or modes == [0]:
        raise ExtentError(
            f"one mode after the first is ragged and given as None, unlike in {brief(tuple(extents))}"
        )
    marks = Partition.of_marks(offsets, "offsets").marks
    ragged = marks[1:] - marks[:-1]
    if lengths is not None:
        given = int64_array(lengths, "lengths")
        if len(given) != len(ragged):
            raise ExtentError(f"there are {len(given)} lengths for {len(ragged)} rows")
        if (given > ragged).any():
            row = int(np.argmax(given > ragged))
            raise ExtentError(
                f"row {row} has length {given[row]}, but its offsets leave room for {ragged[row]}"
            )
        ragged = given
    count = to_count(cast("SupportsIndex", extents[0]), "the extent of mode 0")
    if count != len(ragged):
        raise ExtentError(f"the extent of mode 0 is {count}, but there are offsets for {len(ragged)} rows")
    columns = [
        ragged if n is None else np.full(count, to_count(n, f"the extent of mode {mode}"), dtype=np.int64)
        for mode, n in enumerate(extents)
        if mode
    ]
    return jagged_from_cells(make_smooth((count,), (0,)), np.stack(columns, axis=1), None)
