"""Blocks of metatensor, TeNPy and cytnx, with their tilings.

The libraries are not imported; objects are recognised by their attributes.
"""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

from tensorwrapper.errors import ConversionError
from tensorwrapper.shape import Partition, Tiling
from tensorwrapper.typing import Array, Index


@attrs.frozen(eq=False)
class Given:
    """Blocks of another library."""

    tiling: Tiling[Any]
    numbers: list[Index]
    blocks: list[Array]
    dtype: "np.dtype[Any] | None"
    """Type for no blocks; None if it is unknown."""


def given_blocks(source: Any, tiling: Tiling[Any] | None) -> Given | None:  # noqa: ANN401 - what each library has
    """Return the blocks of a TensorMap of metatensor, an Array of TeNPy or a UniTensor of cytnx; else None.

    A loop over the blocks, which are objects of that library. No element is copied.

    Raises
    ------
    ConversionError
        If it has gradients, or its labels are not those of tiles of one grid. Or if a UniTensor is not in
        blocks, or of fermions.
    """
    if hasattr(source, "component_names") and hasattr(source, "property_names"):
        return _of_map(source, tiling)
    if hasattr(source, "qtotal") and hasattr(source, "legs"):
        return _of_charges(source)
    if hasattr(source, "get_qindices") and hasattr(source, "is_blockform"):
        return _of_bonds(source)
    return None


def _of_bonds(tensor: Any) -> Given:  # noqa: ANN401 - cytnx has no types
    """Return the blocks of a cytnx tensor, with sizes from its bonds."""
    kind = tensor.uten_type_str()
    if "Block" not in kind or "Fermionic" in kind:
        raise ConversionError(
            f"blocks: a UniTensor of the type {kind!r} is not in blocks that are tiles: as_tensor takes "
            "get_block().numpy() of a dense one"
        )
    sizes = [bond.getDegeneracies() for bond in tensor.bonds()]
    numbers = [tuple(tensor.get_qindices(k)) for k in range(tensor.Nblocks())]
    blocks: list[Array] = [own.contiguous().numpy() for own in tensor.get_blocks_()]
    if tensor.is_diag():
        blocks = [np.diag(own) for own in blocks]
    return Given(Tiling(*sizes), numbers, blocks, blocks[0].dtype if blocks else None)


def _of_charges(array: Any) -> Given:  # noqa: ANN401 - TeNPy has no types
    """Return the blocks of a TeNPy array, with starts from its legs."""
    parts = list(array)
    tiling = Tiling.from_marks(*[leg.slices for leg in array.legs])
    numbers = [tuple([int(own) for own in number]) for _, _, _, number in parts]
    return Given(tiling, numbers, [block for block, _, _, _ in parts], np.dtype(array.dtype))


def _of_map(given: Any, tiling: Tiling[Any] | None) -> Given:  # noqa: ANN401 - metatensor is not needed
    """Return the blocks of a map whose keys number tiles, and whose labels count the indices of modes."""
    keys = np.asarray(given.keys.values)
    names = tuple(given.keys.names)
    numbers: list[Index] = [tuple(number) for number in keys.tolist()]
    spans: list[dict[int, tuple[int, int]]] = [{} for _ in names]
    blocks: list[Array] = []
    for number, block in zip(numbers, given.blocks(), strict=True):
        if block.gradients_list():
            raise ConversionError(f"blocks: block {number} has gradients, which a tensor has not")
        labels = (block.samples, *block.components, block.properties)
        if len(labels) != len(names):
            raise ConversionError(
                f"blocks: the keys {names} number tiles of {len(names)} modes, and block {number} has "
                f"{len(labels)}"
            )
        for mode, (tile, own) in enumerate(zip(number, labels, strict=True)):
            span = _span_of(own, number, mode)
            if spans[mode].setdefault(tile, span) != span:
                raise ConversionError(
                    f"blocks: tile {tile} of mode {mode} has indices {_said(spans[mode][tile])} in one block "
                    f"and {_said(span)} in block {number}"
                )
        blocks.append(np.asarray(block.values))
    if tiling is None:
        cuts = [list(_cuts_of(own, mode)) for mode, own in enumerate(spans)]
        sizes = [[stop - start for start, stop in own] for own in cuts]
        return Given(Tiling(*sizes, origin=[own[0][0] for own in cuts]), numbers, blocks, None)
    if tiling.rank != len(names):
        raise ConversionError(f"blocks: the keys {names} number tiles of {len(names)} modes, not {tiling!r}")
    _check_spans(spans, tiling)
    return Given(tiling, numbers, blocks, None)


def _check_spans(spans: list[dict[int, tuple[int, int]]], tiling: Tiling[Any]) -> None:
    """Raise if the indices of labels differ from those of their tiles."""
    for mode, (own, partition) in enumerate(zip(spans, tiling.partitions, strict=True)):
        for tile, span in own.items():
            # Numbers outside the grid are refused later.
            right = _marks_of(partition, tile) if 0 <= tile < partition.count else span
            if span != right and (span[0] < span[1] or right[0] < right[1]):
                raise ConversionError(
                    f"blocks: tile {tile} of mode {mode} has indices {_said(right)}, not {_said(span)}"
                )


def _span_of(labels: Any, number: Index, mode: int) -> tuple[int, int]:  # noqa: ANN401 - metatensor is not needed
    """Return the first index of labels and the one after the last; zeros of none."""
    values = np.asarray(labels.values).astype(np.int64)
    if values.shape[1] != 1 or (np.diff(values[:, 0]) != 1).any():
        raise ConversionError(
            f"blocks: the labels {tuple(labels.names)} of block {number} are not indices of mode {mode}, one "
            f"after the other"
        )
    start = int(values[0, 0]) if len(values) else 0
    return start, start + len(values)


def _cuts_of(spans: dict[int, tuple[int, int]], mode: int) -> Iterator[tuple[int, int]]:
    """Return the starts and stops of all tiles of a mode, from the blocks."""
    end: int | None = None
    for tile in range(max(spans, default=0) + 1):
        span = spans.get(tile)
        if span is None:
            raise ConversionError(
                f"blocks: no block says where tile {tile} of mode {mode} begins: give the tiling"
            )
        if span[0] == span[1]:
            span = (end or 0, end or 0)
        elif end is not None and span[0] != end:
            raise ConversionError(
                f"blocks: tile {tile} of mode {mode} begins at {span[0]}, and the one before ends at {end}"
            )
        end = span[1]
        yield span


def _marks_of(partition: Partition, tile: int) -> tuple[int, int]:
    start, stop = partition.marks[tile : tile + 2].tolist()
    return start, stop


def _said(span: tuple[int, int]) -> str:
    return f"{span[0]} to {span[1]}"
