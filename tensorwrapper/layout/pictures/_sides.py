"""The sides of a picture: modes of a box, nested modes, or modes that are cut into tiles.

For any representation of a layout, a picture needs the number of positions along each side, the index at
each, and the positions where an outer mode advances.
"""

import math
from typing import TypeAlias, final

from tensorwrapper._value_class import frozen
from tensorwrapper.drawing import count_text
from tensorwrapper.layout.axes._axis import AxisMap, Cycle, Stride
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._hierarchy import IntTree, leaves, tree_text
from tensorwrapper.shape import Partition, SmoothCommon, Tiled
from tensorwrapper.typing import Index


@final
@frozen
class PlainSide:
    """A side for one mode, or for several modes together.

    Parameters
    ----------
    title
        The text beside it.
    extents
        The extents of the modes, the slowest first.
    slots
        The entries of an index that these modes are.
    starts
        The index of each at position 0.
    """

    title: str
    extents: tuple[int, ...]
    slots: tuple[int, ...]
    starts: Index

    @property
    def extent(self) -> int:
        """Number of positions, as a Python integer of any size."""
        return math.prod(self.extents)

    def label(self, position: int) -> str:
        """Return the index at a position; the number of the position where several modes count."""
        return count_text(position + (self.starts[0] if len(self.starts) == 1 else 0))

    def entries(self, position: int) -> list[int]:
        """Return the entries of the index at a position, one for each of `slots`."""
        found: list[int] = []
        for extent, start in zip(reversed(self.extents), reversed(self.starts), strict=True):
            position, digit = divmod(position, extent)
            found.append(digit + start)
        return found[::-1]

    def weight(self, position: int) -> int:
        """Return the weight of the line before a position: 0 for none, more if slower modes advance."""
        levels, period = 0, 1
        for extent in reversed(self.extents[1:]):
            period *= extent
            levels += extent > 1 and position % period == 0
        return levels


@final
@frozen
class CutSide:
    """A side that is cut into tiles.

    Parameters
    ----------
    title
        The text beside it.
    partition
        The partition of the side.
    slots
        The entries of an index that it gives: that of the element; or those of the tile and of the position
        in it.
    grid_start
        The number of the first tile.
    """

    title: str
    partition: Partition
    slots: tuple[int, ...]
    grid_start: int = 0

    @property
    def extent(self) -> int:
        """Number of elements."""
        return self.partition.extent

    def label(self, position: int) -> str:
        """Return the index of the element at a position."""
        return count_text(self.partition.origin + position)

    def entries(self, position: int) -> list[int]:
        """Return the entries of the index at a position, one for each of `slots`."""
        element = self.partition.origin + position
        if len(self.slots) == 1:
            return [element]
        number = self.tile(position)
        return [number + self.grid_start, element - self.partition.tile(number)[1]]

    def tile(self, position: int) -> int:
        """Return the number of the tile at a position, counted from 0."""
        return self.partition.tile_of(self.partition.origin + position)

    def weight(self, position: int) -> int:
        """Return 1 where a tile begins, 0 elsewhere."""
        return int(self.partition.has_mark(self.partition.origin + position))


Side: TypeAlias = PlainSide | CutSide
"""One side of a picture: `extent`, `label`, `entries`, `weight`, `slots` and `title`."""


def sides_of(layout: LayoutCommon) -> "list[Side] | None":
    """Return the sides of the picture of a layout; None if its shape is jagged and not tiled."""
    tree, tiles = layout.mode_tree, layout.tiles
    if tree is not None and layout.has_ordinals:
        return _tree_sides(tree, layout)
    if tiles is not None:
        return [
            CutSide(_tiles_title(mode, partition), partition, (mode,))
            for mode, partition in enumerate(tiles.partitions)
        ]
    if layout.layers:
        return _layered_sides(layout)
    space = layout.shape.implementation
    if isinstance(space, Tiled):
        rank = len(space.partitions)
        return [
            CutSide(_tiles_title(mode, partition), partition, (mode, rank + mode), start)
            for mode, (partition, start) in enumerate(zip(space.partitions, space.grid.origin, strict=True))
        ]
    if not isinstance(space, SmoothCommon):
        return None
    return [
        PlainSide(f"mode {mode}, extent {count_text(extent)}", (extent,), (mode,), (start,))
        for mode, (extent, start) in enumerate(zip(space.extents, space.origin, strict=True))
    ]


def rule_text(layout: LayoutCommon) -> str:
    """Return in a few words how indices become offsets; nothing if there are no few words."""
    if layout.has_ordinals:
        fastest = "last" if layout.ordinal_order == "lex" else "first"
        return f"{layout.text() or 'a composite'}, the {fastest} mode fastest"
    strides = layout.mode_strides
    if strides is not None:
        return f"strides {', '.join(map(count_text, strides))}" if strides else ""
    if layout.has_mode_maps:
        _, axes = layout.mode_maps("a picture")
        return "; ".join([f"mode {mode}: {_map_text(axis)}" for mode, axis in enumerate(axes)])
    return "tile after tile" if layout.tiles is not None else ""


def _map_text(axis: AxisMap) -> str:
    if isinstance(axis, Stride):
        return f"stride {count_text(axis.step)}"
    return "a cycle" if isinstance(axis, Cycle) else "a table"


def _tiles_title(mode: int, partition: Partition) -> str:
    return f"mode {mode}, {count_text(partition.count)} tiles"


def _tree_sides(extents: IntTree, layout: LayoutCommon) -> list[Side]:
    """Return one side per mode, whose leaves count in the layout's own order."""
    trees = (extents,) if isinstance(extents, int) else extents
    origin = layout.shape.origin
    sides: list[Side] = []
    slot = 0
    for mode, tree in enumerate(trees):
        own = leaves(tree)
        slots = list(range(slot, slot + len(own)))
        slot += len(own)
        if layout.ordinal_order == "colex":
            own, slots = own[::-1], slots[::-1]
        starts = tuple([origin[k] for k in slots])
        sides.append(PlainSide(f"mode {mode}, extent {tree_text(tree)}", tuple(own), tuple(slots), starts))
    return sides


def _layered_sides(layout: LayoutCommon) -> "list[Side] | None":
    """Return the sides of a box whose layers have equally many modes: mode k of each counts along side k."""
    layers, flat = layout.layers, layout.without_layers()
    shape = flat.shape
    if not shape.is_box or len(set(layers)) != 1:
        return sides_of(flat)
    rank = layers[0]
    sides: list[Side] = []
    for mode in range(rank):
        slots = tuple(range(mode, rank * len(layers), rank))
        extents = tuple([shape.extents[k] for k in slots])
        title = f"mode {mode}, extent {' x '.join(map(count_text, extents))}"
        sides.append(PlainSide(title, extents, slots, tuple([shape.origin[k] for k in slots])))
    return sides
