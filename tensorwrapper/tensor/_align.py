"""Jagged tensors side by side: which elements of each have the same index, found once from the shapes."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypeVar, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array
from tensorwrapper._value_class import value_class
from tensorwrapper.buffer.lowlevel import index_elements
from tensorwrapper.errors import ConversionError, ExtentMismatchError, JaggedModeError, RankError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import (
    PlacedRows,
    make_blocked,
)
from tensorwrapper.shape import Jagged, Rows, Shape, ShapeLike, as_shape
from tensorwrapper.shape.lowlevel import (
    Origins,
    agreed_names,
    rows_under,
    to_permutation,
    unnamed_shape,
    wrap,
)
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._tensor import Tensor
from tensorwrapper.tensor.rows._common_rows import intersect_rows
from tensorwrapper.typing import Index, IntArray

_S = TypeVar("_S", bound=np.generic)

_Places: TypeAlias = slice | IntArray
"""The ordinals of some elements: a run, or one by one."""


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Alignment:
    """Positions of the common indices of several shapes in each of them, created by `align`.

    It has no elements, so one alignment serves all tensors of these shapes. Two are equal if they align the
    same shapes in the same orders.
    """

    shapes: tuple[Shape, ...]
    """The shapes that were aligned."""
    orders: tuple[Index, ...]
    """For each shape, its mode for each common mode."""
    shape: Shape
    """The indices that all of them have, origins kept: a jagged shape."""
    cells: IntArray
    """The (n, shapes) numbers of the cells that meet in each common cell, each in its own shape."""
    _places: tuple[_Places, ...] = attrs.field(alias="places")

    if TYPE_CHECKING:

        def __init__(
            self,
            shapes: tuple[Shape, ...],
            orders: tuple[Index, ...],
            shape: Shape,
            cells: IntArray,
            places: tuple[_Places, ...],
        ) -> None: ...

    def take(self, *tensors: Tensor[_S]) -> "tuple[npt.NDArray[_S], ...]":
        """Return the common elements of tensors of these shapes: flat arrays in row-major order of `shape`.

        An array is a view where the elements are one run, else it is gathered from the stored places. Their
        arithmetic is NumPy's, and ``from_buffer(array, plan.shape)`` makes a tensor of a result.

        Raises
        ------
        ExtentMismatchError
            If a tensor has another shape than the one that was aligned in its place.
        ConversionError
            If there are not as many tensors as shapes.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.jagged([np.array([[1, 2], [3, 4]]), np.array([[5]])])
        >>> plan = tw.align(t, t, orders=[None, (0, 2, 1)])
        >>> a, transposed = plan.take(t, t)
        >>> tw.from_buffer(a - transposed, plan.shape).tolist()
        [[[0, -1], [1, 0]], [[0]]]
        """
        if len(tensors) != len(self.shapes):
            raise ConversionError(
                f"{len(tensors)} tensors are given, but {len(self.shapes)} shapes were aligned"
            )
        taken: list[npt.NDArray[_S]] = []
        for k, (tensor, shape, places) in enumerate(zip(tensors, self.shapes, self._places, strict=True)):
            if unnamed_shape(tensor.shape) != unnamed_shape(shape):
                raise ExtentMismatchError(f"tensor {k} has the shape {tensor.shape}, but {shape} was aligned")
            flat = tensor.elements()
            if isinstance(places, slice):
                taken.append(flat[places])
            else:
                taken.append(index_elements(flat, (places,)))
        return tuple(taken)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Alignment):
            return NotImplemented
        return (self.shapes, self.orders) == (other.shapes, other.orders)

    def __hash__(self) -> int:
        return hash((self.shapes, self.orders))

    def __repr__(self) -> str:
        found = f"{self.shape.size} elements in {len(self.cells)} cells"
        return f"<Alignment of {len(self.shapes)} shapes: {found}>"

    def __reduce__(self) -> "tuple[Callable[..., Alignment], tuple[object, ...]]":
        # Unpickling computes the positions again from the shapes.
        return _aligned, (self.shapes, self.orders)


def align(
    *operands: "Tensor[Any] | ShapeLike",
    orders: Sequence[Iterable[SupportsIndex] | None] | None = None,
) -> Alignment:
    """Return the positions of the common indices in each shape, as a plan to combine their tensors.

    Cells match by their indices, and the boxes in them by position, origins included; indices that only some
    of the shapes have are left out. O(cells) and the common elements, in array operations.

    Parameters
    ----------
    *operands
        Two or more tensors or shapes of one rank, jagged or tiled; boxes may be among them.
    orders
        For each operand its mode for each common mode, as for `permute`: with ``(0, 2, 1)`` every cell takes
        part transposed. None leaves an operand unchanged.

    Raises
    ------
    RankError
        If there are no two operands, or they have different ranks.
    JaggedModeError
        If all operands are boxes.

    Examples
    --------
    >>> from tensorwrapper import Shape, align
    >>> plan = align(Shape.jagged([3, 1, 2]), Shape.jagged([2, 2, 2, 2])[1:])
    >>> plan.shape, plan.cells.tolist()
    (Shape.jagged([1, 2], origin=(1, 0)), [[1, 0], [2, 1]])
    """
    shapes = tuple([_shape_of(operand) for operand in operands])
    given = [None] * len(shapes) if orders is None else list(orders)
    if len(given) != len(shapes):
        raise ConversionError(f"there are {len(given)} orders for {len(shapes)} operands")
    if len(shapes) < 2:
        raise RankError(f"two or more shapes are aligned, not {len(shapes)}")
    if len({shape.rank for shape in shapes}) > 1:
        raise RankError(f"shapes of the ranks {[shape.rank for shape in shapes]} have no index in common")
    if all(shape.is_box for shape in shapes):
        raise JaggedModeError("boxes are one cell each, and meet in one; at least one operand must be jagged")
    rank = shapes[0].rank
    modes = [tuple(range(rank)) if order is None else to_permutation(order, rank) for order in given]
    return _aligned(shapes, tuple(modes))


def _shape_of(operand: "Tensor[Any] | ShapeLike") -> Shape:
    other: object = operand
    if isinstance(other, TensorCommon) and not isinstance(other, Tensor):
        raise ConversionError(
            f"shapes or tensors in memory are aligned, not a {type(other).__name__}: `v.shape` is its shape, "
            "and `v.compute()` the tensor to take from"
        )
    shape: Shape = operand.shape if isinstance(operand, Tensor) else as_shape(operand)
    return shape.flatten()


def _aligned(shapes: tuple[Shape, ...], orders: tuple[Index, ...]) -> Alignment:
    operands = list(zip(shapes, orders, strict=True))
    # Equal operands have the same positions, which are computed once.
    layouts = {(shape, order): Layout(shape).permute(order) for shape, order in operands}
    first, *others = [rows_under(layout.shape) for layout in layouts.values()]
    common = first
    for rows in others:
        common, _, _ = intersect_rows(common, rows)
    names = agreed_names([layout.implementation.names for layout in layouts.values()], "align")
    shape = wrap(Jagged(common), names)
    known = {operand: _find(common, wrap(Jagged(common)), layout) for operand, layout in layouts.items()}
    found = [known[operand] for operand in operands]
    cells = np.stack([numbers for numbers, _ in found], axis=1)
    return Alignment(shapes, orders, shape, frozen_array(cells), tuple([places for _, places in found]))


def _find(common: Rows, shape: Shape, layout: Layout[Any]) -> tuple[IntArray, _Places]:
    """Return the cell of a layout for each common cell, and the positions of the common elements."""
    table = PlacedRows.of(layout.implementation.unnamed()).unrolled(common.outer_rank)
    _, _, cells = intersect_rows(common, table.rows)
    starts = table.starts[cells]
    origins = table.rows.columns.leaf_origins
    for mode, (mine, theirs) in enumerate(zip(common.columns.leaf_origins, origins, strict=True)):
        moves = _at(mine, slice(*common.leaves)) - _at(theirs, cells + table.rows.leaves[0])
        if not isinstance(moves, int) or moves:
            starts = starts + moves * table.steps(mode, cells)
    held = make_blocked(shape, starts, table.strides[cells])
    if not held.is_packed:
        return cells, frozen_array(held.to_numpy())
    return cells, slice(held.offset, held.offset + shape.size)


def _at(origins: Origins, leaves: "slice | IntArray") -> "int | IntArray":
    return origins if isinstance(origins, int) else origins[leaves]
