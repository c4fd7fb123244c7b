"""Conversion of shapes to and from other systems, as plain numbers and text without their libraries.

Methods import their modules when they are called, because most programs do not need them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Self, SupportsIndex

import numpy as np
import numpy.typing as npt

from tensorwrapper.shape._shape_base import ShapeBase
from tensorwrapper.shape.boxes._names import repr_of_names, text_of_names, to_names
from tensorwrapper.shape.kinds._nested import flat_of
from tensorwrapper.typing import IndexT_co, IntArray

if TYPE_CHECKING:
    from tensorwrapper.shape.interchange._arrow import ArrowList, ListType
    from tensorwrapper.shape.interchange._losses import LossReport, ShapeForm
    from tensorwrapper.shape.interchange._tensorflow import RowPartitions


class ShapeExchange(ShapeBase[IndexT_co], Generic[IndexT_co]):
    """Abstract: as `ShapeBase`."""

    __slots__ = ()

    def losses(self, form: "ShapeForm") -> "LossReport":
        """Return the properties of this shape that a format of another system cannot store; O(rows).

        Parameters
        ----------
        form
            One of ``"json"`` (`to_json`), ``"row_partitions"`` (TensorFlow), ``"awkward"``, ``"arrow"``,
            ``"arrow_tensors"``, ``"torch"`` (its jagged layout), ``"torch_strided"`` (`cell_extents`),
            ``"cf"`` (counts or ids of rows), ``"array_api"``.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> str(Shape.jagged([3, 1], origin=(5, 0)).losses("arrow"))
        'arrow leaves out: origin (indices do not start at zero)'
        """
        from tensorwrapper.shape.interchange._losses import shape_losses  # noqa: PLC0415

        return shape_losses(form, self.implementation, self._names)

    # TensorFlow, and other formats with one partition per ragged mode.

    def to_row_partitions(self) -> "RowPartitions":
        """Return how the shape falls into rows of rows of boxes; O(rows).

        Each `RowPartition` of it has the six encodings of TensorFlow: splits, lengths, starts, limits, ids
        and uniform length. For a shape of rank 2, ``row_lengths`` are the counts of CF's contiguous ragged
        arrays, ``value_rowids`` the ids of its indexed ones.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> rows = Shape.from_cells((2,), [(3, 5), (1, 5)]).to_row_partitions()
        >>> str(rows), rows.partitions[0].value_rowids.tolist()
        ('[2, (3, 1), 5]', [0, 0, 0, 1])
        """
        from tensorwrapper.shape.interchange._tensorflow import partitions_of_rows  # noqa: PLC0415

        return partitions_of_rows(flat_of(self.implementation))

    @classmethod
    def from_row_partitions(cls, rows: "RowPartitions") -> Self:
        """Return the shape of rows of rows of boxes, jagged if there is a partition; O(rows).

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> from tensorwrapper.shape import RowPartitions
        >>> Shape.from_row_partitions(RowPartitions.parse("[2, (3, 1)]"))
        Shape.jagged([3, 1])
        """
        from tensorwrapper.shape.interchange._tensorflow import shape_of_partitions  # noqa: PLC0415

        return cls._wrap(shape_of_partitions(rows))

    # Awkward Array.

    def awkward_buffers(self, primitive: str = "float64") -> tuple[str, int, dict[str, IntArray]]:
        """Return form, length and offsets for ``awkward.from_buffers``; O(rows).

        The buffer of the elements is not among them: it has the key ``node<rank - 1>-data``.

        Parameters
        ----------
        primitive
            The type of the elements, by NumPy's name.

        Raises
        ------
        RankError
            If the shape has no mode.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> form, length, buffers = Shape.jagged([3, 1, 2]).awkward_buffers()
        >>> length, {key: offsets.tolist() for key, offsets in buffers.items()}
        (3, {'node0-offsets': [0, 3, 4, 6]})
        """
        from tensorwrapper.shape.interchange._awkward import awkward_of_rows  # noqa: PLC0415
        from tensorwrapper.shape.interchange._tensorflow import partitions_of_rows  # noqa: PLC0415

        return awkward_of_rows(partitions_of_rows(flat_of(self.implementation)), primitive)

    @classmethod
    def from_awkward(
        cls,
        form: str | bytes | Mapping[str, object],
        length: SupportsIndex,
        buffers: Mapping[str, npt.ArrayLike],
    ) -> Self:
        """Return the shape of what ``awkward.to_buffers`` gave, the form as JSON; O(lists).

        Raises
        ------
        ConversionError
            If there are records, options, unions or the like among the lists, or lists in no order over
            other lists.
        ParseError
            If the form is not that of an array, or a buffer is missing.
        ExtentError, OutOfBoundsError
            If a list stops before it starts, or leaves the level below it.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.from_awkward(*Shape.jagged([3, 1, 2]).awkward_buffers())
        Shape.jagged([3, 1, 2])
        """
        from tensorwrapper.shape.interchange._awkward import rows_of_awkward  # noqa: PLC0415
        from tensorwrapper.shape.interchange._tensorflow import shape_of_partitions  # noqa: PLC0415

        return cls._wrap(shape_of_partitions(rows_of_awkward(form, length, buffers)))

    # Arrow.

    def arrow_lists(self, kind: "ListType" = "large_list") -> "tuple[ArrowList, ...]":
        """Return the lists of an Arrow array of this shape, from the outermost; O(rows).

        Rows are lists of any size, also if all have one length. Modes of boxes are lists of one size, as are
        modes behind rows that have one extent. An array of them has as many lists as mode 0 indices.

        Parameters
        ----------
        kind
            Which lists to use where extents vary: ``"list"`` and ``"list_view"`` have offsets of 32 bits,
            ``"large_list"`` and ``"large_list_view"`` of 64.

        Raises
        ------
        RankError
            If the shape has no mode.
        SizeOverflowError
            If 32 bits do not suffice.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> [level.type for level in Shape.from_cells((2,), [(3, 5), (1, 5)]).arrow_lists()]
        ['large_list', 'fixed_size_list']
        """
        from tensorwrapper.shape.interchange._arrow import arrow_of_rows  # noqa: PLC0415
        from tensorwrapper.shape.interchange._tensorflow import (  # noqa: PLC0415
            partitions_of_rows,
            splits_of_even_rows,
        )

        flat = flat_of(self.implementation)
        parts = partitions_of_rows(flat)
        return arrow_of_rows(parts, kind, splits_of_even_rows(flat, parts))

    @classmethod
    def from_arrow(cls, levels: "Iterable[ArrowList]", length: SupportsIndex) -> Self:
        """Return the shape of `length` lists of these levels; O(lists).

        Offsets may start above 0, as those of a slice do.

        Raises
        ------
        ConversionError
            If views are in no order over other lists.
        ExtentError, OutOfBoundsError
            If a list stops before it starts, or leaves the level below it.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> from tensorwrapper.shape import ArrowList
        >>> Shape.from_arrow([ArrowList("list", [7, 10, 11]), ArrowList("fixed_size_list", list_size=5)], 2)
        Shape.jagged([Shape(3, 5), Shape(1, 5)])
        """
        from tensorwrapper.shape.interchange._arrow import rows_of_arrow  # noqa: PLC0415
        from tensorwrapper.shape.interchange._tensorflow import shape_of_partitions  # noqa: PLC0415

        return cls._wrap(shape_of_partitions(rows_of_arrow(levels, length)))

    def arrow_tensor_sizes(self) -> tuple[npt.NDArray[np.int32], str]:
        """Return sizes and metadata of Arrow's ``variable_shape_tensor``, one tensor per row; O(rows).

        Returns
        -------
        sizes
            A table of int32 with the extents of each row: its field ``shape``.
        metadata
            JSON with the extents that are alike and the names of the modes.

        Raises
        ------
        JaggedModeError
            If an extent depends on more than mode 0.
        RankError
            If rows have no modes.
        SizeOverflowError
            If 32 bits do not suffice.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> sizes, metadata = Shape.from_cells((2,), [(3, 5), (1, 5)]).arrow_tensor_sizes()
        >>> sizes.tolist(), metadata
        ([[3, 5], [1, 5]], '{"uniform_shape":[null,5]}')
        """
        from tensorwrapper.shape.interchange._torch import tensors_of_cells  # noqa: PLC0415

        return tensors_of_cells(self.cell_extents(), self.names[1:])

    @classmethod
    def from_arrow_tensors(cls, sizes: npt.ArrayLike, metadata: str | bytes = "") -> Self:
        """Return the shape of rows that are tensors of these sizes; O(rows).

        Raises
        ------
        ParseError, ExtentError
            If the metadata is not that of tensors, or disagrees with the sizes.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.from_arrow_tensors([(3, 5), (1, 5)], '{"permutation":[1,0]}')
        Shape.jagged([Shape(5, 3), Shape(5, 1)])
        """
        from tensorwrapper.shape.interchange._torch import cells_of_arrow  # noqa: PLC0415

        implementation, names = cells_of_arrow(sizes, metadata)
        return cls._wrap(implementation, to_names(names, implementation.rank))

    # PyTorch.

    def cell_extents(self) -> IntArray:
        """Return a table with the extents of each row of mode 0, as PyTorch's strided nested tensors have it.

        `from_cells` takes it back. O(rows).

        Raises
        ------
        JaggedModeError
            If an extent depends on more than mode 0.
        RankError
            If rows have no modes.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.from_cells((2,), [(3, 5), (1, 4)]).cell_extents().tolist()
        [[3, 5], [1, 4]]
        """
        from tensorwrapper.shape.interchange._torch import sizes_of_cells  # noqa: PLC0415

        return sizes_of_cells(flat_of(self.implementation))

    def torch_offsets(self) -> tuple[IntArray, tuple[int | None, ...]]:
        """Return the offsets of PyTorch's jagged layout, and extents, one of them ``None``; O(rows).

        Raises
        ------
        JaggedModeError
            If more than one mode varies, or one depends on more than mode 0.
        RankError
            If there are fewer than two modes.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> offsets, extents = Shape.from_cells((2,), [(3, 5), (1, 5)]).torch_offsets()
        >>> offsets.tolist(), extents
        ([0, 3, 4], (2, None, 5))
        """
        from tensorwrapper.shape.interchange._torch import torch_of_cells  # noqa: PLC0415

        return torch_of_cells(flat_of(self.implementation))

    @classmethod
    def from_torch_jagged(
        cls,
        offsets: npt.ArrayLike,
        extents: Sequence[SupportsIndex | None],
        *,
        lengths: npt.ArrayLike | None = None,
    ) -> Self:
        """Return the shape of PyTorch's jagged layout; O(rows).

        Parameters
        ----------
        offsets
            Where rows start, and where the last ends.
        extents
            The extent of each mode, ``None`` for the ragged one.
        lengths
            How long rows are, where they leave holes.

        Raises
        ------
        ExtentError
            If offsets descend, or do not fit extents and lengths.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.from_torch_jagged([0, 3, 4], (2, None, 5))
        Shape.jagged([Shape(3, 5), Shape(1, 5)])
        """
        from tensorwrapper.shape.interchange._torch import cells_of_torch  # noqa: PLC0415

        return cls._wrap(cells_of_torch(offsets, extents, lengths))

    # The Array API.

    def array_api_extents(self) -> tuple[int | None, ...]:
        """Return the extents with ``None`` where they vary, which is all that the Array API knows; O(rows).

        There is no way back.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.jagged([3, 1, 2]).array_api_extents()
        (3, None)
        """
        bounds = [self.implementation.extent_bounds(mode) for mode in range(self.rank)]
        return tuple([low if low == high else None for low, high in bounds])

    # Text and pictures.

    def __repr__(self) -> str:
        from tensorwrapper.shape.text._repr import shape_repr  # noqa: PLC0415

        return shape_repr(self.implementation) + repr_of_names(self._names)

    def __str__(self) -> str:
        from tensorwrapper.shape.text._text import shape_str  # noqa: PLC0415

        return shape_str(self.implementation) + text_of_names(self._names)

    def __format__(self, spec: str) -> str:
        """Return the text of the shape: ``""`` gives its ``str``, ``"full"`` never summarises."""
        from tensorwrapper.shape.text._text import format_shape  # noqa: PLC0415

        return format_shape(self.implementation, spec) + text_of_names(self._names)

    def to_svg(self) -> str:
        """Return a picture of the shape, to scale, as the text of an SVG document.

        Boxes are drawn with their extents and origin, rows as bars from origin to end, cells as rectangles,
        tilings with their boundaries, layers inside one another. It stays small: many rows are drawn as
        bands, many tiles as densities, of many cells the sizes are counted. O(rows), in array operations.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> svg = Shape.jagged([3, 1, 2]).to_svg()
        >>> svg.count('class="row"'), svg.endswith("</svg>")
        (3, True)
        """
        # Imported here: most programs do not draw, and pictures take a third of the import time of shapes.
        from tensorwrapper.shape.pictures._draw import draw_shape  # noqa: PLC0415

        return draw_shape(self.implementation).to_svg()

    def _repr_html_(self) -> str:
        """Return what notebooks show: the text of the shape, a few facts, and its picture."""
        from tensorwrapper.shape.pictures._draw import shape_html  # noqa: PLC0415 - as in to_svg

        return shape_html(self.implementation, self._names)
