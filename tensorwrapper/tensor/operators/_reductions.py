"""The other methods of ufuncs: reduce, accumulate, reduceat, outer and at.

Rows are reduced along a trailing run of modes, by one `reduceat` over the rows that have elements: NumPy's
own answer for an empty run is the next element.
"""

import math
from collections.abc import Callable
from typing import Any, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import surely_fits, to_dtype
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import check_write, holds_strings, packed_layout
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    JaggedModeError,
    RankError,
    ReadOnlyError,
)
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes, make_smooth, mode_of, names_of, wrap
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._elementwise import (
    array_of,
    flat_operands,
    over_array,
    over_rows,
    types_made,
)
from tensorwrapper.tensor.operators._operand import (
    check_argument,
    is_tensor,
    is_tensor_or_view,
    read_operand,
    read_operands,
    read_where,
)
from tensorwrapper.tensor.operators._promotion import check_elements_computed_in
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.operators._shapes import check_out
from tensorwrapper.tensor.operators._stored_reductions import reduce_stored
from tensorwrapper.tensor.rows._nulls import over_valid, sides_of
from tensorwrapper.tensor.rows._reduce import fit_initial, reduce_box, reduce_runs
from tensorwrapper.tensor.rows._row_facts import row_splits
from tensorwrapper.tensor.rows._tiles import cut_elements
from tensorwrapper.tensor.within._running import accumulated
from tensorwrapper.typing import Array, IntArray


def _reduce(ufunc: np.ufunc, inputs: "tuple[Any, ...]", options: dict[str, Any]) -> object:
    name = f"{ufunc.__name__}.reduce"
    tensor = _only(inputs, name, stored=True)
    out = _single(options.pop("out", None), name)
    check_argument(options.get("initial"), name)
    shape = tensor.shape.flatten()
    if tensor.buffer.fill_value is not None:
        with refusals(name):
            _check_type(ufunc, tensor, options.get("dtype"), name)
        over = reduced_shape(shape, options.get("axis", 0), name)
        return finished(reduce_stored(ufunc, tensor, over, options, name), out, name)
    if tensor.buffer.stores_orbits:
        from tensorwrapper.tensor.operators._orbit_reductions import reduce_orbits  # noqa: PLC0415 - few do

        with refusals(name):
            _check_type(ufunc, tensor, options.get("dtype"), name)
        over = reduced_shape(shape, options.get("axis", 0), name) if shape.rank else shape
        return finished(reduce_orbits(ufunc, tensor, over, options, name), out, name)
    if shape.is_box and tensor.buffer.sides is not None:
        return finished(_reduce_box_with_nulls(ufunc, tensor._flat(), options, name), out, name)
    if shape.is_box:
        return finished(_reduce_box(ufunc, tensor, shape, options, name), out, name)
    leading = reduced_shape(shape, options.pop("axis", 0), name)
    modes = leading.rank
    if options.pop("keepdims", False):
        raise ConversionError(
            f"{name}: keepdims of a jagged tensor; one number per row combines with it as it is"
        )
    where = options.pop("where", True)
    array, marks = _cut_rows(tensor, shape, modes, where, name)
    with refusals(name):
        initial, dtype = options.pop("initial", None), options.pop("dtype", None)
        _check_type(ufunc, tensor, dtype, name)
        result = reduce_box(ufunc, array, marks, initial, what="row", dtype=dtype)
    if options:
        raise ConversionError(f"{name} does not know {', '.join(map(repr, options))}")
    return finished(tensor._make(packed_layout(leading), Dense(cast("Any", result.reshape(-1)))), out, name)


def _cut_rows(
    tensor: TensorBase[Any], shape: Shape[Any], modes: int, where: object, name: str
) -> tuple[Array, list[IntArray]]:
    """Return an array and the boundaries of its rows or tiles."""
    plain, valid = sides_of(tensor)
    tiles = tensor.layout.implementation.tiled
    is_masked = where is not True or tensor.buffer.nullable
    if tiles is not None and tiles.tiling.rank == modes and not is_masked:
        return cut_elements(tensor)
    flat = plain.elements()
    splits = OperandShapes.splits_under(shape, modes) if modes else np.array([0, shape.size])
    if is_masked:
        mask = flat_operands([read_where(where, name)], tensor, name)[0]
        mask = np.broadcast_to(mask, flat.shape) & valid
        befores = np.concatenate([[0], np.cumsum(mask)])
        flat, splits = flat[mask], befores[splits]
    return flat, [splits]


def _reduce_box_with_nulls(
    ufunc: np.ufunc, tensor: TensorBase[Any], options: dict[str, Any], name: str
) -> TensorBase[Any]:
    """Reduce the valid elements of a box: the reduced modes form the rows."""
    shape, axis = tensor.shape, options.pop("axis", 0)
    gone = set(range(shape.rank)) if axis is None else axes_of(axis, shape.rank)
    kept = [mode for mode in range(shape.rank) if mode not in gone]
    turned: Any = tensor._make(tensor.layout.permute((*kept, *sorted(gone))), tensor.buffer)
    where = options.pop("where", True)
    if where is not True:
        mask = np.broadcast_to(array_of(read_where(where, name)), shape.extents)
        where = mask.transpose((*kept, *sorted(gone))).reshape(-1)
    plain, valid = sides_of(turned)
    marks = valid & where
    count = math.prod([shape.extents[mode] for mode in kept])
    length = math.prod([shape.extents[mode] for mode in gone])
    splits = np.concatenate([[0], np.cumsum(marks.reshape(count, length).sum(axis=1))])
    dtype = options.pop("dtype", None)
    with refusals(name):
        _check_type(ufunc, tensor, dtype, name)
        initial = options.pop("initial", None)
        found = reduce_runs(ufunc, plain.elements()[marks], splits, initial, what="row", dtype=dtype)
    over = reduced_shape(shape, tuple(gone), name)
    if options.pop("keepdims", False):
        extents = [1 if mode in gone else n for mode, n in enumerate(shape.extents)]
        origin = [0 if mode in gone else start for mode, start in enumerate(shape.origin)]
        over = wrap(make_smooth(tuple(extents), tuple(origin)), names_of(shape))
    if options:
        raise ConversionError(f"{name} does not know {', '.join(map(repr, options))}")
    return tensor._make(packed_layout(over), Dense(cast("Any", found.reshape(-1))))


def _accumulate_with_nulls(
    ufunc: np.ufunc, tensor: TensorBase[Any], options: dict[str, Any], name: str
) -> TensorBase[Any]:
    """Accumulate the valid elements along rows, or a mode of a box; nulls stay where they are."""
    shape = tensor.shape.flatten()
    mode, last = mode_of(options.pop("axis", 0), shape.rank), shape.rank - 1
    dtype = options.pop("dtype", None)
    if options:
        raise ConversionError(f"{name} does not know {', '.join(map(repr, options))}")
    if not shape.is_box and mode != last:
        raise JaggedModeError(f"{name}: rows are along the last mode of {shape!r}: use axis=-1")
    order = [*[own for own in range(shape.rank) if own != mode], mode]
    turned: Any = tensor._flat()
    if mode != last:
        turned = turned._make(turned.layout.permute(order), turned.buffer)
    plain, valid = sides_of(turned)
    splits = row_splits(turned.shape)
    befores = np.concatenate([[0], np.cumsum(valid)])
    with refusals(name):
        flat = accumulated(ufunc, plain.elements()[valid], befores[splits], dtype)
    one = tensor._make(packed_layout(Shape(len(flat))), Dense(cast("Any", flat)))
    if mode == last:
        return over_valid([one], valid, tensor.shape, tensor)[0]
    made: Any = over_valid([one], valid, turned.shape, tensor)[0]
    back = tensor._make(made.layout.permute(np.argsort(order).tolist()), made.buffer)
    return tensor._make(packed_layout(tensor.shape), back.copy().buffer) if tensor.shape.has_layers else back


def _reduce_box(
    ufunc: np.ufunc, tensor: TensorBase[Any], shape: Shape[Any], options: dict[str, Any], name: str
) -> TensorBase[Any]:
    axis, keepdims = options.get("axis", 0), bool(options.get("keepdims", False))
    # NumPy reduces a number along the first mode, or the last, as if it had one.
    every = axis is None or (not shape.rank and axis in (0, -1))
    gone = set(range(shape.rank)) if every else axes_of(axis, shape.rank)
    if "where" in options and options["where"] is not True:
        options["where"] = array_of(read_where(options["where"], name))
    initial, dtype = options.pop("initial", None), options.get("dtype")
    with refusals(name):
        _check_type(ufunc, tensor, dtype, name)
        if initial is not None:
            made = ufunc.reduce(np.zeros(1, tensor.dtype), dtype=dtype)
            options["initial"] = fit_initial(initial, made.dtype)[()]
        result = np.asarray(ufunc.reduce(array_of(tensor), **options))
    if keepdims:
        origin = tuple([0 if mode in gone else start for mode, start in enumerate(shape.origin)])
        over = wrap(make_smooth(result.shape, origin), names_of(shape))
    else:
        over = reduced_shape(shape, tuple(gone), name)
    return over_array(result, over, [tensor])


def reduced_shape(shape: Shape[Any], axis: object, name: str) -> Shape[Any]:
    """Return the indices of the reduction over the modes of ``axis=``, of a shape without layers.

    Raises
    ------
    JaggedModeError
        If it is not a box, and they are not the last ones.
    RankError
        If there is no such mode.
    """
    if not shape.is_box:
        return shape.leading(_reduced_modes(axis, shape, name))
    gone = set(range(shape.rank)) if axis is None else axes_of(axis, shape.rank)
    kept = [mode for mode in range(shape.rank) if mode not in gone]
    extents, origin = ([own[mode] for mode in kept] for own in (shape.extents, shape.origin))
    names = [shape.names[mode] for mode in kept]
    over = make_smooth(tuple(extents), tuple(origin))
    return wrap(over, tuple(names) if any(names) else None)


def axes_of(axis: object, rank: int) -> set[int]:
    """Return the modes that a reduction goes along."""
    given = cast("tuple[SupportsIndex, ...]", axis if isinstance(axis, tuple) else (axis,))
    found = {mode_of(mode, rank) for mode in given}
    if len(found) < len(given):
        raise RankError(f"axis={axis!r} names a mode twice")
    return found


def _reduced_modes(axis: object, shape: Shape[Any], name: str) -> int:
    """Return the number of leading modes that are kept before the reduced trailing modes."""
    if axis is None:
        return 0
    modes = axes_of(axis, shape.rank)
    if not modes:
        raise ConversionError(
            f"{name}: axis=() names no mode of {shape!r}: axis=-1 reduces rows, axis=None all elements"
        )
    first = shape.rank - len(modes)
    if modes != set(range(first, shape.rank)):
        where = f"mode{'s' * (len(modes) > 1)} {', '.join(map(str, sorted(modes)))}"
        raise JaggedModeError(
            f"{name}: rows are along the last modes of {shape!r}, not along {where}; "
            "axis=-1 reduces rows, axis=None all elements"
        )
    return first


def _accumulate(ufunc: np.ufunc, inputs: "tuple[Any, ...]", options: dict[str, Any]) -> object:
    name = f"{ufunc.__name__}.accumulate"
    tensor = _only(inputs, name)
    out = _single(options.pop("out", None), name)
    shape = tensor.shape.flatten()
    with refusals(name):
        _check_type(ufunc, tensor, options.get("dtype"), name)
    if tensor.buffer.sides is not None:
        return finished(_accumulate_with_nulls(ufunc, tensor, options, name), out, name)
    if shape.is_box:
        with refusals(name):
            result = np.asarray(ufunc.accumulate(array_of(tensor), **options))
        return finished(over_array(result, tensor.shape, [tensor]), out, name)
    if axes_of(options.pop("axis", 0), shape.rank) != {shape.rank - 1}:
        raise JaggedModeError(f"{name}: rows are along the last mode of {shape!r}: use axis=-1")
    dtype = options.pop("dtype", None)
    if options:
        raise ConversionError(f"{name} does not know {', '.join(map(repr, options))}")
    with refusals(name):
        flat = accumulated(ufunc, tensor.elements(), OperandShapes.splits_under(shape, shape.rank - 1), dtype)
    return finished(over_rows(flat, tensor.shape, tensor), out, name)


def _reduceat(ufunc: np.ufunc, inputs: "tuple[Any, ...]", options: dict[str, Any]) -> object:
    name = f"{ufunc.__name__}.reduceat"
    tensor = _only(inputs[:1], name)
    out = _single(options.pop("out", None), name)
    shape = _box(tensor, name, "rows().reduce() and reduce_tiles() reduce runs, empty ones too")
    axis = mode_of(options.get("axis", 0), shape.rank)
    check_argument(inputs[1:], name)
    with refusals(name):
        _check_type(ufunc, tensor, options.get("dtype"), name)
        result = np.asarray(ufunc.reduceat(array_of(tensor), *map(np.asarray, inputs[1:]), **options))
    origin = tuple([0 if mode == axis else start for mode, start in enumerate(shape.origin)])
    return finished(
        over_array(result, wrap(make_smooth(result.shape, origin), names_of(tensor.shape)), [tensor]),
        out,
        name,
    )


def _outer(ufunc: np.ufunc, inputs: "tuple[Any, ...]", options: dict[str, Any]) -> object:
    name = f"{ufunc.__name__}.outer"
    out = _single(options.pop("out", None), name)
    operands = read_operands(inputs, name)
    origin: tuple[int, ...] = ()
    names: tuple[str | None, ...] = ()
    for operand in operands:
        if isinstance(operand, TensorBase):
            _refuse(operand, name)
            shape = _box(operand, name, "to_padded() makes one")
            origin, names = origin + shape.origin, names + shape.names
        else:
            origin, names = origin + (0,) * np.ndim(operand), names + (None,) * np.ndim(operand)
    with refusals(name):
        result = np.asarray(ufunc.outer(*map(array_of, operands), **options))
    over = wrap(make_smooth(result.shape, origin))
    return finished(over_array(result, over.named(*names) if any(names) else over, operands), out, name)


def _at(ufunc: np.ufunc, inputs: "tuple[Any, ...]", options: dict[str, Any]) -> object:
    name = f"{ufunc.__name__}.at"
    target: object = inputs[0]
    if is_tensor_or_view(target) and not is_tensor(target):
        # The elements of a view are computed, and written back through it.
        computed: TensorBase[Any] = target._as_operand()
        _at(ufunc, (computed, *inputs[1:]), options)
        target.assign(computed)
        return None
    if not is_tensor(target):
        raise ConversionError(f"{name} writes into a tensor, not into a {type(target).__name__}")
    _refuse(target, name)
    _box(target, name, "accumulate_into() adds through any view")
    target._check_writeable()
    array = array_of(target)
    check_argument(inputs[1], name)
    values = [array_of(operand) for operand in read_operands(inputs[2:], name)]
    with refusals(name):
        values = _fitting(ufunc, array, values)
        ufunc.at(array, inputs[1], *values, **options)
    if not np.may_share_memory(array, cast("Any", target.buffer).flat):
        target.assign(array)
    return None


def _fitting(ufunc: np.ufunc, array: Array, values: "list[Any]") -> "list[Any]":
    """Return the other operands, converted so that results keep the dtype of the array.

    NumPy's ``at`` casts its results even with losses: fractions, and integers to times that are not valid.
    """

    def fits(given: "list[Any]") -> bool:
        return all(surely_fits(made, array.dtype) for made in types_made(ufunc, [array, *given], {}))

    if fits(values):
        return values
    cast_values: list[Any] = [check_write(own, array.dtype).astype(array.dtype) for own in values]
    if not fits(cast_values):
        (made,) = types_made(ufunc, [array, *cast_values], {})
        raise DTypeError(
            f"{ufunc.__name__}.at: a result of type {made} does not go into elements of {array.dtype}"
        )
    return cast_values


def _check_type(ufunc: np.ufunc, tensor: TensorBase[Any], dtype: object, name: str) -> None:
    """Raise if a reduction would compute in a dtype to which elements cannot be cast."""
    if dtype is not None and not (
        ufunc.__name__.startswith("logical") and to_dtype(cast("Any", dtype)) == np.bool_
    ):
        check_elements_computed_in(_valid_of(tensor), cast("npt.DTypeLike", dtype), name)


def _valid_of(tensor: TensorBase[Any]) -> Array:
    """Return the elements that a reduction reads: those that are stored, and no nulls."""
    buffer = tensor.buffer
    if buffer.fill_value is not None:
        return buffer.stored_of(tensor.layout.implementation)[1]
    plain, valid = sides_of(tensor)
    return plain.elements()[valid] if buffer.nullable else plain.elements()


def _only(inputs: "tuple[Any, ...]", name: str, *, stored: bool = False) -> TensorBase[Any]:
    operand = read_operand(inputs[0], name)
    if not isinstance(operand, TensorBase):
        raise ConversionError(f"{name} is given a {type(operand).__name__}, and no tensor")
    if not stored or operand.buffer.fill_value is None:
        _refuse(operand, name)
    return operand


def _refuse(tensor: TensorBase[Any], name: str) -> None:
    if tensor.buffer.fill_value is not None:
        raise ConversionError(
            f"{name} of a sparse tensor: to_dense() has all its elements, values() those that are stored"
        )
    if holds_strings(tensor.dtype):
        raise DTypeError(
            f"{name} of a tensor of strings, which NumPy does not reduce: `''.join(st.elements())` joins all"
        )


def _box(tensor: TensorBase[Any], name: str, hint: str) -> Shape[Any]:
    shape = tensor.shape.flatten()
    if not shape.is_box:
        raise JaggedModeError(f"{name} takes boxes, not {shape!r}: {hint}")
    return shape


def _single(out: object, name: str) -> object:
    check_argument(out, name)
    return cast("tuple[object, ...]", out)[0] if isinstance(out, tuple) else out


def finished(result: TensorBase[Any], out: object, name: str) -> object:
    """Return a result, or write it into ``out=`` of its very shape."""
    if out is None:
        return result
    if isinstance(out, np.ndarray):
        array = cast("Array", out)
        if array.shape != result.shape.extents:
            raise ExtentMismatchError(
                f"{name}: out= has extents {array.shape}, the result {result.shape.extents}"
            )
        if not array.flags.writeable:
            raise ReadOnlyError(f"{name}: out= is read-only")
        array[...] = check_write(np.asarray(result), array.dtype)
        return array
    if not is_tensor_or_view(out):
        raise ConversionError(f"{name}: out= is a tensor, a view or an array, not a {type(out).__name__}")
    check_out(out, result.shape, name)
    check_write(np.empty(0, result.dtype), out.dtype)  # of no elements: the types alone
    out.assign(result)
    return out


METHODS: dict[str, Callable[[np.ufunc, "tuple[Any, ...]", dict[str, Any]], object]] = {
    "reduce": _reduce,
    "accumulate": _accumulate,
    "reduceat": _reduceat,
    "outer": _outer,
    "at": _at,
}
