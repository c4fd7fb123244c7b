"""Tasks on a run of rows: read, compute, reduce, and combine at the end."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import BATCH, concatenated_ranges, shown_array, splits_of
from tensorwrapper.buffer.lowlevel import check_write, holds_strings
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError, ExtentMismatchError
from tensorwrapper.selection import View
from tensorwrapper.shape import Partition, Shape
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer, nullable, strings
from tensorwrapper.tensor.lowlevel import divide_value, make_tensor, zero_filled
from tensorwrapper.typing import Array, IntArray


def row_starts(shape: Shape[Any]) -> IntArray:
    """Return the number of elements before each row of the outermost mode, and the total; O(cells)."""
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


def may_be_null(value: object) -> bool:
    """Return True if a tensor or view is nullable."""
    return isinstance(value, Tensor | View) and value.is_nullable and value.dtype.kind != "T"


def side_of(side: Literal["values", "valid"], part: Tensor[Any]) -> Tensor[Any]:
    """Return the values or the validity of nullable rows."""
    sides = part.buffer.sides
    if side == "valid":
        return _sealed(part.is_valid())
    return part if sides is None else _sealed(make_tensor(part.layout, sides[0]))


def join_rows(parts: Sequence[Tensor[Any]], shape: Shape[Any], dtype: "np.dtype[Any]") -> Tensor[Any]:
    """Join runs of rows to one tensor, copying each element once."""
    if any(part.is_nullable for part in parts):
        valid = np.concatenate([part.is_valid().elements() for part in parts])
        return nullable(join_rows([zero_filled(part) for part in parts], shape, dtype), valid)
    full = [part.elements() for part in parts if part.shape.size]
    elements: Array = np.concatenate([np.empty(0, dtype), *full])
    return from_buffer(elements, shape)


def apply_function(function: Callable[..., Any], operands: Sequence[Any], *parts: Tensor[Any]) -> Tensor[Any]:
    """Return the result of a function; rows replace the operands that are None."""
    given = iter(parts)
    return _sealed(function(*[next(given) if own is None else own for own in operands]))


def map_cells(
    function: Callable[[Array], npt.ArrayLike], target: Shape[Any], dtype: "np.dtype[Any]", part: Tensor[Any]
) -> Tensor[Any]:
    """Return the results of a function of the tiles of one size, all at once, size by size.

    All elements are sorted by size at once, and back at once: there may be few tiles of each size.
    """
    table, wanted = part.shape.cell_table(), target.cell_table()
    order = np.lexsort(table.extents.T[::-1]) if table.extents.shape[1] else np.arange(len(table.extents))
    extents, targets = table.extents[order], wanted.extents[order]
    differ = (extents[1:] != extents[:-1]).any(axis=1)
    # Starts of the tiles of each size, and the end; without tiles, one mark.
    marks = np.concatenate([[0], np.flatnonzero(differ) + 1, [len(order)][: len(order)]]).astype(np.int64)
    split = (targets[1:] != targets[:-1]).any(axis=1) & ~differ
    if split.any():
        first = int(split.argmax())
        raise ExtentMismatchError(
            f"tiles of {tuple(extents[first].tolist())} are given to the function as one array, and cannot "
            f"become tiles of {tuple(targets[first].tolist())} and of {tuple(targets[first + 1].tolist())}"
        )
    ends = splits_of(np.diff(table.offsets)[order])
    elements = _gathered(part.elements(), table.offsets[order], ends)
    made: list[Array] = []
    for (low, high), count, sizes, goal in zip(
        pairwise(ends[marks].tolist()),
        np.diff(marks).tolist(),
        extents[marks[:-1]].tolist(),
        targets[marks[:-1]].tolist(),
        strict=True,
    ):
        own = shown_array(function(elements[low:high].reshape(count, *sizes)))
        if own.shape != (count, *goal):
            raise ExtentMismatchError(
                f"of {count} tiles of {tuple(sizes)} the function made an array of {own.shape}; "
                f"wanted is {(count, *goal)}: shape= declares its result"
            )
        made.append(cast_made(own.reshape(-1), dtype))
    found: Array = np.empty(target.size, dtype)
    if made:
        goals = splits_of(np.diff(wanted.offsets)[order])
        _scatter(np.concatenate(made), found, wanted.offsets[order], goals)
    return _sealed(from_buffer(found, target))


def _gathered(elements: Array, starts: IntArray, splits: IntArray) -> Array:
    """Return concatenated cells from given starts, with cell k at ``splits[k]``. Copies once."""
    found: Array = np.empty(int(splits[-1]), dtype=elements.dtype)
    for begin, end, places in _places(starts, splits):
        found[begin:end] = elements[places]
    return found


def _scatter(elements: Array, out: Array, starts: IntArray, splits: IntArray) -> None:
    """Write concatenated cells to given starts."""
    for begin, end, places in _places(starts, splits):
        out[places] = elements[begin:end]


def _places(starts: IntArray, splits: IntArray) -> Iterator[tuple[int, int, IntArray | slice]]:
    """Yield the positions of the elements of cells, in batches with few indices."""
    lengths = np.diff(splits)
    for first, last in pairwise(Partition.by_volume(splits, BATCH).marks.tolist()):
        own, sizes = starts[first:last], lengths[first:last]
        begin, end = int(splits[first]), int(splits[last])
        joined = bool((own[1:] == own[:-1] + sizes[:-1]).all())
        low = int(own[0])
        yield begin, end, slice(low, low + end - begin) if joined else concatenated_ranges(own, sizes)


def map_each_row(
    function: Callable[[Tensor[Any]], npt.ArrayLike],
    target: Shape[Any],
    dtype: "np.dtype[Any]",
    part: Tensor[Any],
) -> Tensor[Any]:
    """Return the results of a function of each row; those of nullable rows are nullable too."""
    starts = row_starts(target)
    found: Array = np.empty(target.size, dtype)
    valid = np.ones(target.size, np.bool_) if part.is_nullable else None
    for number, (a, b) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
        made = function(part[number])
        known: object = True
        if valid is not None:
            made, known = divide_value(made, dtype)
        flat: Array = (
            cast("Tensor[Any]", made).elements()
            if isinstance(made, Tensor)
            else shown_array(made).reshape(-1)
        )
        if flat.size != b - a:
            raise ExtentMismatchError(
                f"of a row of {part[number].size} elements the function made {flat.size}; wanted are "
                f"{b - a}: shape= declares its result"
            )
        found[a:b] = cast_made(flat, dtype)
        if valid is not None:
            valid[a:b] = known.elements() if isinstance(known, Tensor) else np.ravel(cast("Array", known))
    rows = from_buffer(found, target)
    return _sealed(rows if valid is None else nullable(rows, valid))


def reduce_cells(
    function: Any,  # noqa: ANN401 - as `reduce_tiles` takes it
    initial: object,
    dtype: "np.dtype[Any] | None",
    part: Tensor[Any],
) -> Array | Tensor[Any]:
    """Return the results of a function of each tile, cast to `dtype`; an array where that is a box."""
    found: Any = part.reduce_tiles(function, initial=initial)
    if dtype is not None and found.dtype != dtype:
        found = from_buffer(cast_made(found.elements(), dtype), found.shape)
    return _array_of(found) if found.shape.is_box else _sealed(found)


def reduce_each_row(
    function: Callable[[Tensor[Any]], Any], dtype: "np.dtype[Any]", part: Tensor[Any]
) -> Array:
    """Return the number that a function returns for each row, as elements of a type that holds it."""
    made = [function(part[number]) for number in range(len(part))]
    if dtype.kind == "T":
        return np.asarray(strings(made))  # NumPy drops NULs at the end of texts.
    found = shown_array(made)
    if found.ndim != 1:
        raise ConversionError(f"the function made extents {found.shape[1:]} of a row, and not one element")
    return cast_made(found, dtype)


def reduce_rows(call: Callable[[Tensor[Any]], Any], part: Tensor[Any]) -> Array | Tensor[Any]:
    """Return the reduction of some rows along the last modes; an array where that is a box."""
    found = call(part)
    return _array_of(found) if found.shape.is_box else _sealed(found)


def _array_of(found: Tensor[Any]) -> Array:
    return found.to_masked() if found.is_nullable else cast("Array", found.to_numpy())


def reduce_elements(ufunc: np.ufunc, part: Tensor[Any]) -> Array | None:
    """Return the reduction of all elements of some rows; None if there are none."""
    elements = (part.drop_null() if part.is_nullable else part).elements()
    return np.asarray(ufunc.reduce(elements)) if elements.size else None


def reduce_found(
    ufunc: np.ufunc, initial: object, dtype: "np.dtype[Any]", found: Sequence[Array | None]
) -> Array:
    """Return the reduction of the results of the parts."""
    numbers = np.array([own for own in found if own is not None], dtype=dtype)
    options: dict[str, Any] = {} if initial is None else {"initial": initial}
    if not numbers.size and initial is None and ufunc.identity is None:
        raise ExtentError(f"all elements are nulls and {ufunc.__name__} has no identity: give initial=")
    return np.asarray(ufunc.reduce(numbers, **options))


def cast_made(made: Array, dtype: "np.dtype[Any]") -> Array:
    """Return what a function made as elements of a type that holds them.

    Raises
    ------
    ConversionError, SizeOverflowError
        If the type does not hold them.
    """
    if not made.size:
        # Empty lists are arrays of floats to NumPy.
        return made.astype(dtype)
    try:
        return check_write(made, dtype).astype(dtype, copy=False)
    except DTypeError as error:
        raise ConversionError(
            f"the function made {made.dtype}, which {dtype} cannot hold: dtype= declares its type"
        ) from error


def _sealed(tensor: Any) -> Tensor[Any]:  # noqa: ANN401 - of any rank
    """Return a read-only tensor, because other tasks of this worker share its memory."""
    if tensor.is_nullable or holds_strings(tensor.dtype):
        return make_tensor(tensor.layout, tensor.buffer.as_readonly())
    elements = tensor.elements()
    if elements.flags.writeable:
        elements = elements.view()
        elements.flags.writeable = False
    return from_buffer(elements, tensor.shape)


def sample_element(dtype: "np.dtype[Any]") -> Tensor[Any]:
    """Return one element of a type; a text or bytes of one character too."""
    if holds_strings(dtype):
        return strings(["1"] if dtype.kind == "T" else [b"1"])
    return as_tensor(np.ones(1, dtype))


def sample_row(shape: Shape[Any], dtype: "np.dtype[Any]") -> Any:  # noqa: ANN401 - of any rank
    """Return a row of one element, of the rank of the rows of a shape."""
    return as_tensor(np.ones((1,) * (shape.rank - 1), dtype))


def sample_rows(shape: Shape[Any], dtype: "np.dtype[Any]") -> Tensor[Any]:
    """Return rows of the rank of a shape: of one element, or without any like the shape."""
    count = min(shape.size, 1)
    splits = [[0, 1] if count else [0]] * (shape.rank - 1)
    return from_buffer(np.ones(count, dtype), Shape.from_offsets(*splits))
