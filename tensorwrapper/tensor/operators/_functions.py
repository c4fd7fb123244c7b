"""NumPy's functions on tensors: three that choose and join elements, and arrays of boxes for all others."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from tensorwrapper.buffer import Dense, Sparse, Strings
from tensorwrapper.buffer.lowlevel import (
    packed_layout,
)
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError, JaggedModeError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, mode_of, wrap
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._tensor import Tensor, make_tensor
from tensorwrapper.tensor.operators._elementwise import (
    array_of,
    flat_operands,
    over_array,
    over_rows,
    shape_of_rows,
)
from tensorwrapper.tensor.operators._operand import Operand, read_operand, read_operands
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.operators._shapes import (
    box_of_result,
    reference_of,
    splits_below,
    with_facts,
)
from tensorwrapper.tensor.operators._sparse import choose_sparse
from tensorwrapper.typing import Array

__all__ = ["call_function"]


def call_function(
    function: Callable[..., Any], types: Iterable[type], arguments: "tuple[Any, ...]", options: dict[str, Any]
) -> object:
    """Return what a function of NumPy makes of tensors; see NEP 18."""
    own = _OWN.get(function)
    if any(not issubclass(kind, TensorCommon | np.ndarray) for kind in types):
        return NotImplemented
    if own is not None:
        return own(*arguments, **options)
    name = (
        f"np.{function.__name__}" if "linalg" not in function.__module__ else f"np.linalg.{function.__name__}"
    )
    plain = [_as_arrays(argument, name, function.__name__) for argument in arguments]
    named = {key: _as_arrays(value, name, function.__name__) for key, value in options.items()}
    return function(*plain, **named)


def _as_arrays(value: object, name: str, short: str) -> object:
    """Return an argument with arrays in the place of boxes, also inside lists and tuples."""
    if isinstance(value, TensorCommon):
        tensor = cast("TensorCommon[Any]", value)._as_operand()
        if isinstance(tensor.buffer, Sparse):
            raise ConversionError(
                f"{name} is given a sparse tensor of shape {tensor.shape!r}, which is no array: to_dense() has all "
                "its elements"
            )
        if tensor.shape.flatten().kind != "smooth":
            hint = _HINTS.get(short)
            raise ConversionError(
                f"{name} is given a tensor of shape {tensor.shape!r}, which is no array: "
                + (f"{hint}, or to_padded() first" if hint else "to_padded() fills it, cells() has its parts")
            )
        return np.asarray(tensor._flat())
    if type(value) in (list, tuple):
        items = [_as_arrays(item, name, short) for item in cast("list[object]", value)]
        return items if type(value) is list else tuple(items)
    return value


_ROWS = "np.add.reduce(t, axis=-1) and its kin give one number per row, axis=None one for all"
_EACH = "[np.median(row) for row in t.rows()] goes row by row"
_ALL = "np.unique(t.elements()) takes all elements"
_HINTS = {
    **dict.fromkeys(["sum", "prod", "max", "amax", "min", "amin", "all", "any"], _ROWS),
    "mean": "np.add.reduce(t, axis=-1) / t.num(t.rank - 1)",
    **dict.fromkeys(["std", "var", "median", "quantile", "argmax", "argmin", "sort", "argsort"], _EACH),
    **dict.fromkeys(["cumsum", "cumprod"], "np.add.accumulate(t, axis=-1)"),
    **dict.fromkeys(["unique", "histogram", "bincount", "norm", "percentile"], _ALL),
    **dict.fromkeys(
        ["isclose", "allclose", "array_equal"],
        "np.allclose(t.elements(), u.elements()) after t.shape == u.shape; t.array_equal(u)",
    ),
    **dict.fromkeys(["clip", "round", "around"], "np.minimum(np.maximum(t, a), b), np.rint(t)"),
    **dict.fromkeys(["nonzero", "argwhere"], "t.shape.indices_at(np.flatnonzero(t.elements()))"),
    **dict.fromkeys(["dot", "tensordot", "einsum"], "for _, cell in t.cells()"),
}
"""What to write instead where NumPy's function has no meaning for rows."""


def _lazy(operands: Iterable[object]) -> "Any":  # noqa: ANN401 - a view, which lives above
    """Return the first view among operands, which joins lazily; None if there is none."""
    for operand in operands:
        if isinstance(operand, TensorCommon) and not isinstance(operand, Tensor):
            return cast("Any", operand)
    return None


def _cast(view: Any, dtype: Any) -> object:  # noqa: ANN401 - a view, which lives above
    return view if dtype is None else view.astype(dtype)


def _where(condition: object, *choices: object) -> object:
    if not choices:
        raise ConversionError(
            "np.where with a condition alone lists places: np.nonzero(np.asarray(t)) of a box does so"
        )
    if len(choices) != 2:
        raise ConversionError(f"np.where takes a condition and two choices, not {1 + len(choices)} operands")
    view = _lazy((condition, *choices))
    if view is not None:
        return view._join_lazily("where", condition, *choices)
    mask, x, y = read_operands((condition, *choices), "where")
    dtype = mask.dtype if isinstance(mask, Tensor) else np.asarray(mask).dtype
    if dtype != np.bool_:
        raise DTypeError(f"where: a condition has elements of type bool, not {dtype}; t != 0 makes one")
    operands = [mask, x, y]
    if any(isinstance(operand, Tensor) and isinstance(operand.buffer, Sparse) for operand in operands):
        return choose_sparse(np.where, operands, "where")
    if any(isinstance(operand, Tensor) and isinstance(operand.buffer, Strings) for operand in operands):
        return _where_strings(operands)
    reference = reference_of(operands)
    if reference is None:
        shape = box_of_result(operands, "where")
        with refusals("where"):
            return over_array(np.asarray(np.where(*map(array_of, operands))), shape)
    with refusals("where"):
        flat = np.where(*flat_operands(operands, reference, "where"))
    return over_rows(np.asarray(flat), shape_of_rows(operands, reference, "where"), reference)


def _where_strings(operands: Sequence[Operand]) -> Tensor[Any]:
    raise ConversionError("np.where of strings: tw.where chooses among them")


def _concatenate(
    tensors: Sequence[object],
    axis: Any = 0,
    out: object = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",  # noqa: ANN401
) -> object:
    if axis is None:
        raise ConversionError("np.concatenate of tensors takes a mode: t.reshape((-1,)) of each is flat")
    if out is not None:
        raise ConversionError("np.concatenate of tensors takes no out=: assign() writes what comes")
    view = _lazy(tensors)
    if view is not None:
        return _cast(view._join_lazily("concat", tensors, mode=axis), dtype)
    parts = [_tensor(operand, "concatenate") for operand in tensors]
    mode = mode_of(axis, parts[0].rank)
    shape = _joined_shape(parts, mode)
    return _join(parts, shape, mode, dtype, casting, "concatenate")


def _stack(
    tensors: Sequence[object],
    axis: Any = 0,
    out: object = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",  # noqa: ANN401
) -> object:
    if out is not None:
        raise ConversionError("np.stack of tensors takes no out=: assign() writes what comes")
    given = list(tensors)
    view = _lazy(given)
    if view is not None:
        return _cast(view._join_lazily("stack", given, mode=axis), dtype)
    parts = [_tensor(operand, "stack") for operand in given]
    first = parts[0].shape
    for part in parts[1:]:
        if part.shape != first:
            raise ExtentMismatchError(f"stack: {part.shape!r} is not {first!r}")
    mode = mode_of(axis, first.rank + 1)
    if mode and first.flatten().kind != "smooth":
        raise JaggedModeError(f"stack: jagged tensors become one along a new mode 0, not {mode}")
    if first.flatten().kind == "smooth":
        return _join([part.unsqueeze(mode) for part in parts], None, mode, dtype, casting, "stack")
    return _join(parts, Shape.stack([part.shape for part in parts]), 0, dtype, casting, "stack")


def _tensor(operand: object, name: str) -> Tensor[Any]:
    read = read_operand(operand, name)
    if not isinstance(read, Tensor):
        array = np.asarray(read)
        read = over_array(array, wrap(make_smooth(array.shape, (0,) * array.ndim)))
    if not read.rank and name == "concatenate":
        raise ConversionError("np.concatenate: a tensor of rank 0 has no mode to be joined along")
    return read


def _joined_shape(parts: "list[Tensor[Any]]", mode: int) -> "Shape[Any] | None":
    """Return the shape of jagged parts one after the other; None for boxes, of which NumPy knows it."""
    shapes = [part.shape.flatten() for part in parts]
    for part in parts:
        if part.rank != parts[0].rank:
            raise ExtentMismatchError(f"concatenate: {part.shape!r} has not the rank of {parts[0].shape!r}")
    if all(shape.kind == "smooth" for shape in shapes):
        for shape in shapes[1:]:
            for other, (extent, start) in enumerate(zip(shape.extents, shape.origin, strict=True)):
                if other != mode and (extent, start) != (shapes[0].extents[other], shapes[0].origin[other]):
                    raise ExtentMismatchError(
                        f"concatenate: mode {other} of {shape!r} is not that of {shapes[0]!r}"
                    )
        return None
    if any(part.rank and _is_tiled(part) for part in parts):
        raise ConversionError("concatenate of tiled tensors: untiled() of each is a box")
    return Shape.concat([part.shape for part in parts], mode=mode)


def _is_tiled(tensor: Tensor[Any]) -> bool:
    try:
        _ = tensor.tiling
    except ValueError:
        return False
    return True


def _join(
    parts: "list[Tensor[Any]]",
    shape: "Shape[Any] | None",
    mode: int,
    dtype: Any,
    casting: Any,
    name: str,
) -> Tensor[Any]:
    """Return the elements of several tensors as one; of boxes by NumPy, of rows flat."""
    buffers = [part.buffer for part in parts]
    if any(isinstance(buffer, Strings) for buffer in buffers):
        raise ConversionError(f"np.{name} of strings: tw.concat and tw.stack join them")
    if any(isinstance(buffer, Sparse) for buffer in buffers):
        raise ConversionError(f"np.{name} of sparse tensors: tw.concat and tw.stack join them")
    if shape is None:
        with refusals(name):
            array = np.concatenate(
                [array_of(part) for part in parts], axis=mode, dtype=dtype, casting=casting
            )
        first = parts[0].shape.flatten()
        over = wrap(make_smooth(array.shape, first.origin))
        return over_array(array, with_facts(over, parts, name))
    flats = [part.elements() for part in parts]
    with refusals(name):
        common = np.result_type(*flats) if dtype is None else np.dtype(dtype)
        if mode == 0:
            flat = np.concatenate(flats, dtype=dtype, casting=casting)
        else:
            flat = _row_by_row(flats, [part.shape.flatten() for part in parts], mode, common)
    return make_tensor(packed_layout(shape), Dense(cast("Any", flat)))


def _row_by_row(flats: list[Array], shapes: "list[Shape[Any]]", mode: int, dtype: "np.dtype[Any]") -> Array:
    """Return the elements of rows joined row by row: each part is written where its rows go."""
    below = [splits_below(shape, mode) for shape in shapes]
    lengths = [np.diff(splits) for splits in below]
    starts = np.concatenate([[0], np.cumsum(np.sum(lengths, axis=0))])[:-1]
    flat = np.empty(sum(map(len, flats)), dtype)
    for values, splits, own in zip(flats, below, lengths, strict=True):
        flat[np.repeat(starts - splits[:-1], own) + np.arange(len(values))] = values
        starts = starts + own
    return flat


_OWN: "dict[Callable[..., Any], Callable[..., object]]" = {
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.where: _where,
}
