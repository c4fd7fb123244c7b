"""What is done with a run of rows in a task: read, computed with, reduced, and put together at the end."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.errors import ConversionError, ExtentMismatchError
from tensorwrapper.selection import View
from tensorwrapper.shape import Partition, Shape
from tensorwrapper.tensor import Tensor, from_buffer
from tensorwrapper.typing import Array, IntArray

__all__ = [
    "apply_ufunc",
    "join_rows",
    "map_cells",
    "map_each_row",
    "marks_of",
    "read_rows",
    "reduce_cells",
    "reduce_each_row",
    "reduce_elements",
    "reduce_found",
    "row_starts",
]


def row_starts(shape: Shape[Any]) -> IntArray:
    """Return how many elements lie before each row of the outermost mode, and in all; O(cells)."""
    table = shape.cell_table()
    first = shape.origin_at(())
    bounds = np.searchsorted(table.indices[:, 0], np.arange(first, first + shape.extent_at(()) + 1))
    starts: IntArray = table.offsets[bounds]
    return starts


def marks_of(shape: Shape[Any], most: int) -> IntArray:
    """Return runs of rows of at most so many elements each: with which row each begins, and their number."""
    marks = Partition.by_volume(row_starts(shape), most).marks
    return marks if len(marks) > 1 else np.zeros(2, dtype=np.int64)


def read_rows(view: View[Any]) -> Tensor[Any]:
    """Return the rows of a part of a view."""
    return _sealed(view.compute())


def join_rows(parts: Sequence[Tensor[Any]], shape: Shape[Any], dtype: "np.dtype[Any]") -> Tensor[Any]:
    """Return runs of rows as one tensor: one copy of each element."""
    elements: Array = np.concatenate([np.empty(0, dtype), *[part.elements() for part in parts]])
    return from_buffer(elements, shape)


def apply_ufunc(ufunc: np.ufunc, operands: Sequence[Any], *parts: Tensor[Any]) -> Tensor[Any]:
    """Return what a ufunc makes of rows; they stand where an operand is None."""
    given = iter(parts)
    return _sealed(ufunc(*[next(given) if own is None else own for own in operands]))


def map_cells(
    function: Callable[[Array], npt.ArrayLike], target: Shape[Any], dtype: "np.dtype[Any]", part: Tensor[Any]
) -> Tensor[Any]:
    """Return what a function makes of the tiles of one size, all at once, size by size."""
    table, wanted = part.shape.cell_table(), target.cell_table()
    found: Array = np.empty(target.size, dtype)
    owners = np.unique(table.extents, axis=0, return_inverse=True)[1].reshape(-1)
    groups = part.group_by_extents() if len(owners) else ()
    for number, group in enumerate(groups):
        cells = np.flatnonzero(owners == number)
        made = np.asarray(function(group.cells.to_numpy()))
        if made.shape[:1] != (len(cells),) or (wanted.extents[cells] != np.array(made.shape[1:])).any():
            raise ExtentMismatchError(
                f"of {len(cells)} tiles of {group.extents} the function made an array of {made.shape}; "
                f"wanted is {(len(cells), *wanted.extents[cells[0]].tolist())}: shape= says what it makes"
            )
        places = wanted.offsets[cells][:, None] + np.arange(int(np.prod(made.shape[1:])))
        found[places] = _cast(made.reshape(len(cells), -1), dtype)
    return _sealed(from_buffer(found, target))


def map_each_row(
    function: Callable[[Tensor[Any]], npt.ArrayLike],
    target: Shape[Any],
    dtype: "np.dtype[Any]",
    part: Tensor[Any],
) -> Tensor[Any]:
    """Return what a function makes of each row."""
    starts = row_starts(target)
    found: Array = np.empty(target.size, dtype)
    for number, (a, b) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
        made = function(part[number])
        flat: Array = cast("Tensor[Any]", made).elements() if isinstance(made, Tensor) else np.ravel(made)
        if flat.size != b - a:
            raise ExtentMismatchError(
                f"of a row of {part[number].size} elements the function made {flat.size}; wanted are "
                f"{b - a}: shape= says what it makes"
            )
        found[a:b] = _cast(flat, dtype)
    return _sealed(from_buffer(found, target))


def reduce_cells(function: Any, initial: object, levels: int, part: Tensor[Any]) -> Array | Tensor[Any]:  # noqa: ANN401 - as `reduce_tiles` takes it
    """Return what a function makes of each tile, or of `levels` modes more; an array where that is a box."""
    found: Any = part.reduce_tiles(function, initial=initial)
    for _ in range(levels):
        found = found.reduce_tiles(function, initial=initial)
    return cast("Array", found.to_numpy()) if found.shape.is_box else _sealed(found)


def reduce_each_row(function: Callable[[Tensor[Any]], Any], part: Tensor[Any]) -> Array:
    """Return the number that a function makes of each row."""
    return np.asarray([function(part[number]) for number in range(len(part))])


def reduce_elements(ufunc: np.ufunc, part: Tensor[Any]) -> Array | None:
    """Return what a ufunc makes of all elements of some rows; None if there is none."""
    elements = part.elements()
    return np.asarray(ufunc.reduce(elements)) if elements.size else None


def reduce_found(
    ufunc: np.ufunc, initial: object, dtype: "np.dtype[Any]", found: Sequence[Array | None]
) -> Array:
    """Return what a ufunc makes of what it made of the parts."""
    numbers = np.array([own for own in found if own is not None], dtype=dtype)
    options: dict[str, Any] = {} if initial is None else {"initial": initial}
    return np.asarray(ufunc.reduce(numbers, **options))


def _cast(made: Array, dtype: "np.dtype[Any]") -> Array:
    if not np.can_cast(made.dtype, dtype, "same_kind"):
        raise ConversionError(
            f"the function made {made.dtype}, which {dtype} cannot hold: dtype= says what it makes"
        )
    return made


def _sealed(tensor: Any) -> Tensor[Any]:  # noqa: ANN401 - of any rank
    """Return a tensor that nobody writes to: other tasks of this worker read the same memory."""
    elements = tensor.elements()
    if elements.flags.writeable:
        elements = elements.view()
        elements.flags.writeable = False
    return from_buffer(elements, tensor.shape)
