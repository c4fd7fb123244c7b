"""The table of the cells of a shape."""

from typing import final

from tensorwrapper._value_class import frozen
from tensorwrapper.typing import IntArray


@final
@frozen(eq=False)
class CellTable:
    """The smooth cells of a jagged shape, in row-major order of their indices.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> table = Shape.jagged([Shape(1, 2), Shape(3, 4)]).cell_table()
    >>> table.extents.tolist(), table.offsets.tolist()
    ([[1, 2], [3, 4]], [0, 2, 14])
    """

    indices: IntArray
    """The (n, outer rank) absolute indices that lead to each cell."""
    extents: IntArray
    """The (n, cell rank) extents."""
    origins: IntArray
    """The (n, cell rank) first indices."""
    offsets: IntArray
    """Number of elements before each cell, and (last) in all: n + 1 numbers."""
