"""Blocks that are given by the numbers of their tiles, and the norms of tiles."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import unmasked_array
from tensorwrapper._integers import to_ints
from tensorwrapper.buffer.lowlevel import check_write
from tensorwrapper.errors import ConversionError, ExtentMismatchError, PatternError
from tensorwrapper.shape import BlockPattern
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.rows._reduce import reduce_runs
from tensorwrapper.tensor.rows._tiles import select_tiles
from tensorwrapper.typing import Array, Index, IntArray

NormOrder: TypeAlias = Literal["fro", "max", 1]
"""The norm of a tile: root of the sum of squares, greatest magnitude, or sum of magnitudes."""

TileSource: TypeAlias = "Mapping[Index, npt.ArrayLike] | Iterable[tuple[Index, npt.ArrayLike]]"
"""Blocks by the numbers of their tiles."""


def norms_of(values: Array, offsets: IntArray, ord: NormOrder) -> "npt.NDArray[np.float64]":  # noqa: A002
    """Return the norm of each run of elements. Linear in the elements.

    Raises
    ------
    PatternError
        If there is no such norm.
    """
    if ord not in ("fro", "max", 1):
        raise PatternError(f"the norm of a tile is 'fro', 'max' or 1, not {ord!r}")
    # The magnitude of -128 exceeds int8.
    wide = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64, copy=False)
    sizes = np.abs(wide)
    if ord == "max":
        return cast("npt.NDArray[np.float64]", reduce_runs(np.maximum, sizes, offsets, 0.0))
    if ord == 1:
        return cast("npt.NDArray[np.float64]", reduce_runs(np.add, sizes, offsets, None))
    return np.sqrt(cast("npt.NDArray[np.float64]", reduce_runs(np.add, np.square(sizes), offsets, None)))


def norms_of_fill(fill: Array, volumes: IntArray, ord: NormOrder) -> "npt.NDArray[np.float64]":  # noqa: A002
    """Return the norms of tiles full of the fill value."""
    size = float(np.abs(fill.astype(np.complex128 if fill.dtype.kind == "c" else np.float64)))
    counts = {"fro": np.sqrt(volumes), "max": np.minimum(volumes, 1)}.get(cast("str", ord), volumes)
    return np.where(volumes, size * counts, 0.0)


def read_blocks(source: TileSource, what: str) -> tuple[list[Index], list[Array]]:
    """Return tile numbers and blocks of a mapping or of pairs.

    Raises
    ------
    ConversionError
        If it is neither, or a number is not a tuple of integers.
    """
    given: Any = source
    try:
        pairs: Iterator[Any] = iter(given.items() if isinstance(source, Mapping) else given)
    except TypeError as error:
        raise ConversionError(
            f"{what} takes a mapping from tile numbers to blocks, or pairs, not a {type(given).__name__}"
        ) from error
    numbers: list[Any] = []
    blocks: list[Array] = []
    for pair in pairs:
        try:
            number, block = pair
        except (TypeError, ValueError) as error:
            raise ConversionError(
                f"{what} takes pairs of a tile number and a block, not a {type(pair).__name__}"
            ) from error
        numbers.append(number)
        if type(block) is np.ndarray:
            blocks.append(block)
        else:
            blocks.append(unmasked_array(np.asarray(block) if isinstance(block, TensorBase) else block))
    if not all(_is_plain(own) for own in numbers):
        numbers = [
            to_ints(own if hasattr(own, "__iter__") else (own,), "the number of a tile") for own in numbers
        ]
    return numbers, blocks


def _is_plain(number: Any) -> bool:  # noqa: ANN401 - whatever is given for a number
    """Return True if a tile number is a tuple of integers of Python."""
    return type(number) is tuple and all(type(own) is int for own in cast("tuple[object, ...]", number))


def flat_values(blocks: list[Array], dtype: "np.dtype[Any]") -> list[Array]:
    """Return blocks as few flat arrays of one dtype.

    Raises
    ------
    DTypeError, SizeOverflowError
        As `check_write`.
    """
    flats = [own.reshape(-1) for own in blocks]
    if flats and all(own.dtype == flats[0].dtype for own in flats):
        return [check_write(np.concatenate(flats), dtype)]
    return [check_write(own, dtype) for own in flats]


def check_block_extents(extents: IntArray, numbers: list[Index], blocks: list[Array], what: str) -> None:
    """Raise unless each block has the extents of its tile.

    Raises
    ------
    ExtentMismatchError
        If one has others; the text names its tile.
    """
    rows: list[list[int]] = extents.tolist()
    wanted = [tuple(row) for row in rows]
    if wanted == [block.shape for block in blocks]:
        return
    for own, number, block in zip(wanted, numbers, blocks, strict=True):
        if block.shape != own:
            raise ExtentMismatchError(
                f"{what}: the tile {number} has extents {own}, but its block has {block.shape}"
            )


def elements_of_tiles(dense: TensorBase[Any], pattern: BlockPattern[Any]) -> Array:
    """Return the concatenated elements of a tiled tensor in the tiles of a pattern."""
    first = dense.shape.outer().origin
    numbers = pattern.tiles() + np.array(first, dtype=np.int64)
    chosen = select_tiles(dense.layout, numbers).implementation
    packed: Array = dense.buffer.pack(chosen, own=False).read_run(0, pattern.elements)
    return packed
