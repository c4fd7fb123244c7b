"""Properties of a shape: the part of the facade that makes no new shape."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeAlias, cast, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import absent
from tensorwrapper.errors import ConversionError, JaggedModeError
from tensorwrapper.shape._shape_base import ShapeBase, ShapeLike, implementation_of
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.kinds._encodings import lengths_of, splits_at
from tensorwrapper.shape.kinds._jagged import JaggedCommon, same_elements
from tensorwrapper.shape.kinds._layers import layer_size
from tensorwrapper.shape.kinds._nested import flat_of
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import (
    IndexT,
    IndexT_co,
    IntArray,
    Integer,
    Integers2,
    Kind,
    LooseIndex,
    Order,
    Raggedness,
    Rank0,
    Rank1,
    Rank2,
    Rank3,
)

if TYPE_CHECKING:
    from tensorwrapper.shape.facade._indices import Indices
    from tensorwrapper.shape.kinds._blocks import BlockTable

_UpToTwo: TypeAlias = Rank0 | tuple[Integer] | Integers2 | LooseIndex
_FourOrMore: TypeAlias = tuple[int, int, int, int, *tuple[int, ...]]
"""Or a rank that is not known, if this comes first."""


class ShapeQueries(ShapeBase[IndexT_co], Generic[IndexT_co]):
    """Abstract: as `ShapeBase`; nothing here makes a new shape."""

    __slots__ = ()

    # Properties.

    @property
    def kind(self) -> Kind:
        """``"smooth"`` for a box, ``"jagged"`` where extents may depend on earlier indices, ``"nested"``."""
        return self.implementation.kind

    @property
    def is_box(self) -> bool:
        """Return True if the kind is ``"smooth"``: one extent for each mode, and no layers.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape(2, 2).is_box, Shape.jagged([2, 2]).is_box
        (True, False)
        """
        return self.implementation.is_box

    @property
    def has_layers(self) -> bool:
        """Return True if the kind is ``"nested"``; `flatten` drops the layers.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.nested(Shape(2, 3), layers=(1, 1)).has_layers, Shape(2, 3).has_layers
        (True, False)
        """
        return self.implementation.has_layers

    @property
    def size(self) -> int:
        """The number of elements, as a Python integer of any size."""
        return self.implementation.size

    @property
    def extents(self) -> IndexT_co:
        """The extent of every mode; a mode that is not uniform raises `JaggedModeError`."""
        # Typed by a name, not by a cast, which would be a call for every element.
        implementation: Any = self.implementation
        try:
            extents: IndexT_co = implementation.extents
        except JaggedModeError as error:
            raise absent(error) from error.__cause__
        return extents

    @property
    def origin(self) -> IndexT_co:
        """The first index of every mode; a mode whose origin varies raises `JaggedModeError`."""
        implementation: Any = self.implementation
        try:
            origin: IndexT_co = implementation.origin
        except JaggedModeError as error:
            raise absent(error) from error.__cause__
        return origin

    @property
    def padding(self) -> int:
        """Number of elements that the bounding box has in addition to the shape."""
        return self.implementation.padding

    @property
    def layers(self) -> tuple[int, ...]:
        """Number of modes of each layer, from the outermost: one layer unless the shape is nested."""
        return self.implementation.layers

    @property
    def outer_rank(self) -> int:
        """Number of leading modes that number the cells; the other modes form the cells. 0 for a box.

        In a jagged shape these are the unrolled modes, in a nested one all layers but the last.
        """
        implementation = self.implementation
        return 0 if isinstance(implementation, SmoothCommon) else implementation.outer_rank

    @property
    def raggedness(self) -> Raggedness:
        """Distance from a box: ``"uniform"``, ``"gridded"`` or ``"ragged"``, the strictest that applies.

        Uniform: no mode depends on another, in its extent or its origin. Gridded: a product of tilings, one
        per mode of a grid; the rank is 2k, the first k modes depend on nothing, and mode k + i on mode i
        alone. Rows of any lengths are gridded: they are the tiles of one mode. Ragged: anything else. Layers
        do not count. O(prefixes), for a tiled shape O(tiles per mode).

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> rows, tiles = Shape.jagged([3, 1]), Shape.tiled([1, 2], [3, 4])
        >>> Shape.jagged([2, 2]).raggedness, rows.raggedness, tiles.raggedness
        ('uniform', 'gridded', 'gridded')
        >>> Shape.from_cells((2, 2), [(1, 3), (1, 4), (2, 3), (2, 5)]).raggedness
        'ragged'
        """
        from tensorwrapper.shape.kinds._classify import raggedness_of  # noqa: PLC0415

        return raggedness_of(flat_of(self.implementation))

    def layer_size(self, layer: SupportsIndex) -> int:
        """Return how many prefixes reach through `layer` (from the outermost): all elements for the last.

        Raises
        ------
        LayerError
            If there is no such layer; negative layers count from the innermost.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> n = Shape.nested(Shape(10, 20, 30), layers=(1, 2))
        >>> n.layer_size(0), n.layer_size(1)
        (10, 6000)
        """
        return layer_size(self.implementation, layer)

    def extent(self, mode: SupportsIndex | str) -> int:
        """Return the extent of `mode`, which is given by name, or counted from the last if negative.

        Raises
        ------
        JaggedModeError
            If the mode is not uniform; the text names the least and the greatest extent.
        RankError
            If there is no such mode.
        """
        return self.implementation.extent(mode if type(mode) is int else self.mode(mode))

    @overload
    def extent_at(self: "ShapeQueries[_FourOrMore]", prefix: Iterable[Integer]) -> int: ...
    @overload
    def extent_at(self: "ShapeQueries[Rank1]", prefix: Rank0 | LooseIndex) -> int: ...
    @overload
    def extent_at(self: "ShapeQueries[Rank2]", prefix: Rank0 | tuple[Integer] | LooseIndex) -> int: ...
    @overload
    def extent_at(self: "ShapeQueries[Rank3]", prefix: _UpToTwo) -> int: ...
    def extent_at(self, prefix: Iterable[SupportsIndex]) -> int:
        """Return the extent of mode ``len(prefix)`` under `prefix`; raises where that leads nowhere."""
        return self.implementation.extent_at(prefix)

    @overload
    def origin_at(self: "ShapeQueries[_FourOrMore]", prefix: Iterable[Integer]) -> int: ...
    @overload
    def origin_at(self: "ShapeQueries[Rank1]", prefix: Rank0 | LooseIndex) -> int: ...
    @overload
    def origin_at(self: "ShapeQueries[Rank2]", prefix: Rank0 | tuple[Integer] | LooseIndex) -> int: ...
    @overload
    def origin_at(self: "ShapeQueries[Rank3]", prefix: _UpToTwo) -> int: ...
    def origin_at(self, prefix: Iterable[SupportsIndex]) -> int:
        """Return the first index of mode ``len(prefix)`` under `prefix`; raises as `extent_at` does."""
        return self.implementation.origin_at(prefix)

    def extent_bounds(self, mode: SupportsIndex | str) -> tuple[int, int]:
        """Return the least and the greatest extent of `mode`; (0, 0) if no prefix leads to it."""
        return self.implementation.extent_bounds(self.mode(mode))

    def is_uniform(self, mode: SupportsIndex | str) -> bool:
        """Tell whether `mode` has one extent whatever came before."""
        return self.implementation.is_uniform(self.mode(mode))

    def dependencies(self, mode: SupportsIndex | str) -> tuple[int, ...]:
        """Return the earlier modes on which the extent or the origin of `mode` depends."""
        return self.implementation.dependencies(self.mode(mode))

    def lengths(self, mode: SupportsIndex | str) -> IntArray:
        """Return the extent of `mode` of a jagged shape at every prefix of `mode` indices; read-only.

        As many numbers as ``leading(mode)`` has elements: O(that), or O(1) where the extents are stored.

        Raises
        ------
        JaggedModeError
            For a box, whose extents are one number each; `Shape.as_jagged` makes it jagged.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> s = Shape.jagged([[10], [20, 30]])
        >>> s.lengths(0).tolist(), s.lengths(1).tolist(), s.lengths(2).tolist()
        ([2], [1, 2], [10, 20, 30])
        """
        return lengths_of(self._rows("lengths"), self.mode(mode))

    def splits(self, mode: SupportsIndex | str) -> IntArray:
        """Return the row splits of `mode` of a jagged shape: 0, then the sums of `lengths`; read-only.

        O(1) and no copy where a shape is stored so and starts at its first row, else O(n). All of them but
        those of mode 0 give the extents back to `Shape.from_offsets`. A box raises, as in `lengths`.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> s = Shape.jagged([[10], [20, 30]])
        >>> s.splits(1).tolist(), s.splits(2).tolist()
        ([0, 1, 3], [0, 10, 30, 60])
        """
        return splits_at(self._rows("splits"), self.mode(mode))

    def _rows(self, what: str) -> Rows:
        flat = flat_of(self.implementation)
        if isinstance(flat, JaggedCommon):
            return flat.rows
        raise JaggedModeError(f"{what} are for jagged shapes; as_jagged() unrolls mode 0 of this box")

    # Membership and bounds.

    def __contains__(self: "ShapeQueries[IndexT]", index: IndexT | LooseIndex) -> bool:
        return index in self.implementation

    def contains(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return a mask of the indices, an ``(..., rank)`` array, that are in the shape."""
        return self.implementation.contains(indices)

    def ordinal(self: "ShapeQueries[IndexT]", index: IndexT | LooseIndex) -> int:
        """Return how many indices come before `index` in row-major order.

        O(rank) for boxes and tilings, O(unrolled modes) for jagged shapes; a Python integer of any size.
        """
        return self.implementation.ordinal(index)

    def index(self, ordinal: SupportsIndex) -> IndexT_co:
        """Return the index with `ordinal` indices before it in row-major order; O(log n) if jagged."""
        return cast("IndexT_co", self.implementation.index(ordinal))

    def ordinals(self, indices: npt.ArrayLike) -> IntArray:
        """Return the ordinal of each row of an ``(..., rank)`` array; an index outside raises."""
        return self.implementation.ordinals(indices)

    def indices_at(self, ordinals: npt.ArrayLike) -> IntArray:
        """Return the ``(..., rank)`` array of the indices with these ordinals; one outside raises."""
        return self.implementation.indices_at(ordinals)

    def indices(self, *, order: Order = "C") -> "Indices[IndexT_co]":
        """Return the absolute indices as a sequence, last mode fastest ("C") or first ("F")."""
        from tensorwrapper.shape.facade._indices import Indices  # noqa: PLC0415

        return Indices(flat_of(self.implementation), _checked_order(order))

    def offsets(self, *, order: Order = "C") -> "Indices[IndexT_co]":
        """Return the indices relative to the origin, as a sequence: every entry counts from 0.

        Of a jagged shape whose origins vary, each counts from the origin under the indices before it.
        """
        from tensorwrapper.shape.facade._indices import Indices  # noqa: PLC0415

        return Indices(flat_of(self.implementation).zero_based(), _checked_order(order))

    # Its pieces.

    def block_table(self) -> "BlockTable":
        """Return the blocks that `blocks()` goes over, as arrays; O(cells), or less where cells are alike.

        Raises
        ------
        SizeOverflowError
            If there are more elements than 64 bits count.
        """
        from tensorwrapper.shape.kinds._blocks import block_table_of  # noqa: PLC0415

        return block_table_of(flat_of(self.implementation))

    def partition_by_volume(self, max_elements: SupportsIndex) -> Partition:
        """Return runs of cells with at most `max_elements` elements each, as units of work for tasks.

        Cells are the rows of a jagged matrix, the tiles of a tiled shape, or the results of `cells()`; those
        of a box are its rows along mode 0. They are taken in row-major order, and each run is as long as
        possible. A larger cell is a separate run. O(cells) at most.

        Returns
        -------
        Partition of the cells, numbered from 0: run ``r`` has the cells ``marks[r]`` up to ``marks[r + 1]``.
            Partition of the cells, numbered from 0: run ``r`` has the cells ``marks[r]`` up to ``marks[r +
            1]``.

        Raises
        ------
        ExtentError
            If the limit is less than one element.
        SizeOverflowError
            If the cells, or the elements of a tiled shape, cannot be numbered with 64 bits.

        Examples
        --------
        If the cells are rows, each run is a shape:

        >>> from tensorwrapper import Shape
        >>> rows = Shape.jagged([3, 1, 2, 9, 0, 4])
        >>> marks = rows.partition_by_volume(5).marks.tolist()
        >>> marks
        [0, 2, 3, 4, 6]
        >>> [rows.slice_outer(a, b).size for a, b in zip(marks, marks[1:])]
        [4, 2, 9, 4]
        """
        from tensorwrapper.shape.kinds._blocks import runs_of_cells  # noqa: PLC0415

        implementation = self.implementation
        modes = (
            min(implementation.rank, 1)
            if isinstance(implementation, SmoothCommon)
            else implementation.outer_rank
        )
        return runs_of_cells(flat_of(implementation), modes, max_elements)

    # As text.

    def to_json(self) -> str:
        """Return the shape as JSON, compact and with sorted keys; `Shape.from_json` reads it; O(rows).

        It says how the shape is stored, so that shapes which are equal may have different texts. Where all
        rows are alike one number stands for them.

        Raises
        ------
        SizeOverflowError
            If a number has more than 640 digits.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape(2, 3, origin=(0, -1)).to_json()
        '{"extents":[2,3],"kind":"smooth","origin":[0,-1]}'
        >>> Shape.jagged([3, 1, 2]).to_json()
        '{"extents":[3,[3,1,2]],"kind":"jagged","origin":[0,0],"outer_rank":1}'
        """
        # Loaded here: most programs write no JSON, and shall not wait for it.
        from tensorwrapper.shape.text._json import shape_to_json  # noqa: PLC0415

        return shape_to_json(self.implementation, self._names)

    # Comparison.

    def is_congruent(self, other: "ShapeLike") -> bool:
        """Tell whether kind, layers, and extents at every prefix agree, wherever the two shapes lie."""
        return self.implementation.is_congruent(implementation_of(other))

    def same_elements(self, other: "ShapeLike") -> bool:
        """Tell whether both hold the same set of indices, whatever their kinds."""
        return same_elements(flat_of(self.implementation), flat_of(implementation_of(other)))


def _checked_order(order: object) -> Order:
    if not isinstance(order, str) or order not in {"C", "F"}:
        raise ConversionError(f'order must be "C" or "F", not {order!r}')
    return cast("Order", order)
