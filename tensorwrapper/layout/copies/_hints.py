"""Properties of a layout's memory, for planning copies, selections and tasks: `LayoutHints`."""

from typing import Any, SupportsIndex, final

from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ExtentError, JaggedModeError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.copies._hints_axes import facts_of
from tensorwrapper.layout.copies._hints_cells import MemoryFacts
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.typing import Index


@final
@frozen
class BlockHints:
    """Memory of the blocks of one layer, which are the elements of the layer.

    Sizes count elements of the tensor.
    """

    count: int
    """How many blocks there are, empty ones included."""
    least: int
    """The size of the smallest."""
    greatest: int
    """The size of the largest."""
    runs: int
    """Into how many runs of consecutive places they fall, all together; at most, where modes interleave."""
    is_one_run: bool
    """True if each block is one run, or empty."""
    alignment: int
    """What divides every offset where a block starts; 0 if all start at 0."""


@final
@frozen
class LayoutHints:
    """Properties of a layout's memory.

    A shape without layers is one layer, whose blocks are single elements.
    """

    shape: Shape[Any]
    order: Index
    """The modes, the one whose neighbours lie closest together first: how to go through memory."""
    row_runs: int
    """Into how many runs of consecutive places all elements fall if gone through in row-major order."""
    whole: BlockHints
    """All elements as one block."""
    layers: tuple[BlockHints, ...]
    """The blocks of each layer, the outermost first."""
    tiles: Tiling | None
    """The tiles that storage keeps together."""

    @property
    def orders(self) -> tuple[Index, ...]:
        """The order of the modes of each layer: what ``Layout(shape, orders=...)`` takes."""
        found: list[Index] = []
        first = 0
        for count in self.shape.layers:
            found.append(tuple([mode - first for mode in self.order if first <= mode < first + count]))
            first += count
        return tuple(found)

    @property
    def row_run(self) -> int:
        """Average number of elements in a run in row-major order, rounded down; 0 if it is empty."""
        return self.whole.greatest // max(self.row_runs, 1)

    def tiling(self, max_elements: SupportsIndex) -> Tiling:
        """Return a tiling of the box into contiguous tiles: chunks for tasks, or for reads.

        A tile takes the modes in `order`, whole ones first, then a part of one. In a layout without gaps it
        is one run, and if it has room for a block of a layer it does not cut blocks. Tile-major storage has
        its own tiles, whatever their size.

        Parameters
        ----------
        max_elements
            Maximal number of elements of a tile, at least 1.

        Raises
        ------
        JaggedModeError
            If the shape is jagged; its `partition_by_volume` makes runs of cells.
        ExtentError
            If `max_elements` is not positive.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(6, 4), order="F").hints().tiling(9).chunks
        ((6,), (1, 1, 1, 1))
        >>> Layout(Shape(6, 4)).hints().tiling(9).chunks
        ((2, 2, 2), (4,))
        """
        left = to_int(max_elements, "a number of elements")
        if left < 1:
            raise ExtentError(f"a tile has at least 1 element, not {left}")
        if self.tiles is not None:
            return self.tiles
        box = self.shape.flatten()
        if not box.is_box:
            raise JaggedModeError(
                f"{self.shape} is not a box: its partition_by_volume makes runs of its cells"
            )
        sizes = [1] * box.rank
        for mode in self.order:
            sizes[mode] = max(min(box.extents[mode], left), 1)
            left //= sizes[mode]
        return Tiling.make_uniform(box, sizes)


def hints_of(layout: LayoutCommon) -> LayoutHints:
    """Return what a layout says about memory."""
    shape, flat = layout.shape, layout.without_layers()
    tiles = flat.tiles
    ends = [sum(shape.layers[:k]) for k in range(len(shape.layers) + 1)]
    counts = [flat.shape.leading(modes).size for modes in ends]
    if not shape.size:
        empty = [BlockHints(count, 0, 0, 0, is_one_run=True, alignment=0) for count in counts]
        order = tuple(range(shape.rank - 1, -1, -1))
        return LayoutHints(shape, order, 0, empty[0], tuple(empty[1:]), tiles)
    facts = facts_of(flat)
    whole, *layers = [_block(facts, modes, count) for modes, count in zip(ends, counts, strict=True)]
    return LayoutHints(shape, facts.order(), facts.row_runs(), whole, tuple(layers), tiles)


def _block(facts: MemoryFacts, modes: int, count: int) -> BlockHints:
    found = facts.blocks(modes)
    return BlockHints(
        count,
        found.least if found.filled == count else 0,
        found.greatest,
        found.runs,
        is_one_run=found.runs == found.filled,
        alignment=found.alignment,
    )
