"""The tiles of a tensor as concatenated matrices, or as stacks of one size."""

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np

from tensorwrapper._arrays import different, ranked
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import (
    PresentTiles,
    assign_indexed,
    convert_elements,
    index_elements,
    join_elements,
)
from tensorwrapper.typing import Array, IntArray


def _is_uniform(matrices: "Matrices") -> bool:
    return bool((matrices.sizes == matrices.sizes[:1]).all())


@final
@frozen(eq=False, repr=False)
class Matrices:
    """Tiles in a flat array, as batches of matrices."""

    flat: Array
    """The concatenated elements of the tiles."""
    starts: IntArray
    """Start of each tile."""
    sizes: IntArray
    """A row for each tile: batches, rows, columns."""
    turned: bool
    """True if columns are contiguous instead of rows."""

    is_uniform: bool = attrs.field(init=False, default=attrs.Factory(_is_uniform, takes_self=True))
    """True if all tiles have one size, so that they are the rows of a table."""

    def kinds(self) -> IntArray:
        """Return a number for each tile: tiles with one number have one size."""
        if self.is_uniform:
            return np.zeros(len(self.sizes), dtype=np.int64)
        found = self.sizes[:, 0]
        for column in (1, 2):
            sizes = self.sizes[:, column]
            _, found = ranked(found * (int(sizes.max()) + 1) + sizes)
        return found

    def views(self, slots: IntArray, *, batched: bool) -> list[Array]:
        """Return tiles as arrays of rank 3, or as matrices without batches; no copy."""
        if len(slots) and self.is_uniform:
            sizes = tuple(self.sizes[0].tolist())
            whole = self._shaped(self.flat, (len(self.starts), *(sizes if batched else sizes[1:])))
            return list(whole) if len(slots) == len(whole) else [whole[slot] for slot in slots.tolist()]
        starts, rows = self.starts[slots].tolist(), self.sizes[slots].tolist()
        flat = self.flat
        # Tiles of several sizes need separate arrays, created one by one.
        if batched:
            return [
                self._shaped(flat[start : start + b * m * n], (b, m, n))
                for start, (b, m, n) in zip(starts, rows, strict=True)
            ]
        if self.turned:
            return [
                flat[start : start + m * n].reshape(n, m).T
                for start, (_, m, n) in zip(starts, rows, strict=True)
            ]
        return [
            flat[start : start + m * n].reshape(m, n) for start, (_, m, n) in zip(starts, rows, strict=True)
        ]

    def _shaped(self, elements: Array, extents: tuple[int, ...]) -> Array:
        """Return elements in memory as matrices, which are the last two modes."""
        if not self.turned:
            return elements.reshape(extents)
        return elements.reshape((*extents[:-2], extents[-1], extents[-2])).swapaxes(-1, -2)


@final
class Stacks:
    """Arrays of tiles of one size, with one row for each tile; views if all tiles have one size."""

    __slots__ = ("_matrices", "_slots", "_stacks", "kinds", "rows")

    def __init__(self, matrices: Matrices, kinds: IntArray, slots: IntArray) -> None:
        self._matrices, self.kinds = matrices, kinds
        self._slots: dict[int, IntArray] = {}
        self._stacks: dict[int, Array] = {}
        flat = matrices.flat
        if matrices.is_uniform:
            self.rows = np.arange(len(kinds), dtype=np.int64)
            self._stacks[0] = flat.reshape(len(kinds), int(matrices.sizes[0].prod()))
            return
        self.rows = np.zeros(len(kinds), dtype=np.int64)
        chosen = different(slots)
        for kind in different(kinds[chosen]).tolist():
            own = self._slots[kind] = chosen[kinds[chosen] == kind]
            self.rows[own] = np.arange(len(own))
            volume = int(matrices.sizes[own[0]].prod())
            parts = [flat[start : start + volume] for start in matrices.starts[own].tolist()]
            self._stacks[kind] = join_elements(parts, flat.dtype).reshape(len(own), volume)

    def stack(self, kind: int) -> Array:
        """Return the elements of tiles of a kind: one row for each."""
        return self._stacks[kind]

    def chosen(self, kind: int, slots: IntArray) -> Array:
        """Return tiles of one kind as an array of rank 4; a copy."""
        sizes = tuple(self._matrices.sizes[slots[0]].tolist())
        found = index_elements(self._stacks[kind], (self.rows[slots],))
        return self._matrices._shaped(found, (len(slots), *sizes))

    def write_back(self) -> None:
        """Write the stacks that are copies to where their elements belong."""
        for kind, slots in self._slots.items():
            stack = self._stacks[kind]
            places: IntArray = np.add.outer(
                self._matrices.starts[slots], np.arange(stack.shape[1], dtype=np.int64)
            )
            assign_indexed(self._matrices.flat, (places,), stack)


def matrices_of(
    tiles: PresentTiles[Any],
    labels: Sequence[str],
    groups: tuple[Sequence[str], Sequence[str], Sequence[str]],
    dtype: "np.dtype[Any]",
) -> Matrices:
    """Return tiles as matrices, given the labels of batches, rows and columns.

    The result is a view if tiles are stored so one after the other, or with columns before rows.
    """
    batches, rows, columns = groups
    straight = [labels.index(label) for label in (*batches, *rows, *columns)]
    turned = [labels.index(label) for label in (*batches, *columns, *rows)]
    natural = list(range(len(labels)))
    is_turned = tiles.table is None and straight != natural and turned == natural
    values = convert_elements(
        tiles.values(turned if is_turned else straight), dtype, checked=False, copy=tiles.held.dtype != dtype
    )
    extents = tiles.pattern.tile_extents()
    sizes = [extents[:, [labels.index(label) for label in group]].prod(axis=1) for group in groups]
    return Matrices(values, tiles.pattern.offsets()[:-1], np.stack(sizes, axis=1), is_turned)
