"""Ufuncs called element by element: on boxes as NumPy does, on rows and cells flat, on tiles underneath.

NumPy computes on arrays over the memory of the operands wherever there are such, and writes into that of
``out=``, so that it sees overlap itself. An operand without an array is read first, and written afterwards.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from tensorwrapper._arguments import surely_fits, to_dtype
from tensorwrapper._memory import too_large
from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.buffer.lowlevel import as_dense, check_dtype, check_write, holds_strings, packed_layout
from tensorwrapper.errors import ConversionError, ExtentMismatchError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import Strided, TiledStrided, wrap_layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes, names_of
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._nulls import compute_with_nulls
from tensorwrapper.tensor.operators._operand import (
    Operand,
    check_argument,
    first_tensor,
    is_tensor,
    is_tensor_or_view,
    read_operands,
    read_where,
)
from tensorwrapper.tensor.operators._promotion import check_elements_computed_in
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.operators._shapes import (
    box_of_result,
    check_out,
    leading_modes,
    reference_of,
    rows_of_result,
)
from tensorwrapper.tensor.operators._sparse import compute_sparse
from tensorwrapper.tensor.operators._strings import compute_strings
from tensorwrapper.typing import Array

Out: TypeAlias = "TensorCommon[Any] | Array | None"


def call(ufunc: np.ufunc, inputs: "tuple[Any, ...]", options: dict[str, Any]) -> object:
    """Return the result of a ufunc of its operands: one tensor, a tuple of several, or those of ``out=``."""
    name = ufunc.__name__
    outs = _outs(options.pop("out", None), ufunc.nout, name)
    where = options.pop("where", True)
    options.pop("subok", None)
    operands = read_operands(inputs, name)
    _check_computed_in(operands, options, name)
    _check_wrapped(ufunc, operands, name)
    if ufunc.signature is not None:
        return _call_whole(ufunc, operands, outs, options)
    tensors = [operand for operand in operands if isinstance(operand, TensorBase)]
    # Skip these checks for dense tensors.
    buffers = [tensor.buffer for tensor in tensors if type(tensor.buffer) is not Dense]
    may_be_null = any(buffer.nullable for buffer in buffers)
    if may_be_null:
        _refuse_nulls_beside_fill(operands, name)
    if may_be_null or any(is_tensor_or_view(out) and cast("Any", out).is_nullable for out in outs):
        return _call_with_nulls(ufunc, operands, outs, where, options, may_be_null=may_be_null)
    if any(buffer.fill_value is not None for buffer in buffers):
        _refuse_where(where, name, "a sparse tensor")
        made = compute_sparse(ufunc, operands, options)
        _check_outs(made, outs, name)
        found = [_put(own, out) for own, out in zip(made, outs, strict=True)]
        return found[0] if len(found) == 1 else tuple(found)
    if _store_orbits(buffers):
        return _call_on_orbits(ufunc, operands, outs, where, options)
    if any(holds_strings(tensor.dtype) for tensor in tensors):
        _refuse_where(where, name, "a tensor of strings")
        made_of_text = compute_strings(ufunc, operands, options)
        (out,) = outs
        _check_outs((made_of_text,), outs, name)
        return _put(made_of_text, out)
    where, operands = _masked(where, operands, outs, name)
    everything = [*operands, where] if where is not True else operands
    reference = reference_of(everything)
    if reference is None:
        return _call_boxes(ufunc, operands, outs, where, options)
    options.pop("order", None)
    implementation = reference.layout.implementation
    if implementation.tiled is not None:
        implementation = cast("TiledStrided", implementation.unnamed())
        under = _under_tiles(everything, reference, implementation, name)
        if under is not None and all(out is None for out in outs):
            shape = rows_of_result(operands, reference, name)
            return _call_tiled(ufunc, reference, implementation, shape, under, options)
    return _call_rows(ufunc, operands, reference, outs, where, options)


def _check_computed_in(operands: list[Operand], options: dict[str, Any], name: str) -> None:
    """Raise if operands do not fit the type that ``dtype=`` computes in."""
    dtype = options.get("dtype")
    if dtype is None or options.get("casting") == "unsafe" or to_dtype(dtype).kind not in "iumM":
        return
    for own in operands:
        if isinstance(own, TensorBase | np.ndarray) and own.dtype.kind in "iumM":
            elements = own if isinstance(own, np.ndarray) else own.elements()
            check_elements_computed_in(cast("Array", elements), dtype, name)


def _check_wrapped(ufunc: np.ufunc, operands: list[Operand], name: str) -> None:
    """Raise if a type of ml_dtypes would wrap a Python integer, as NumPy does for its own types."""
    numbers = [own for own in operands if type(own) is int]
    types = [own.dtype for own in operands if numbers and isinstance(own, TensorBase | np.ndarray)]
    for dtype in [own for own in types if own.isbuiltin == 2 and np.result_type(own, np.int8).kind in "iu"]:
        for number in numbers:
            with refusals(name):
                typed = np.asarray(number).astype(dtype)
                is_wide = ufunc.nin != 2 or ufunc(typed, number).dtype.isbuiltin != 2
            if not is_wide and int(typed.astype(np.int64)) != number:
                raise SizeOverflowError(f"{name}: Python integer {number} out of bounds for {dtype}")


def _store_orbits(buffers: "list[BufferCommon[Any]]") -> bool:
    return any(buffer.stores_orbits for buffer in buffers)


def _call_on_orbits(
    ufunc: np.ufunc,
    operands: list[Operand],
    outs: "tuple[Out, ...]",
    where: object,
    options: dict[str, Any],
) -> object:
    """Return packed results if a symmetry survives, otherwise dense results."""
    from tensorwrapper.tensor.operators._symmetric import compute_symmetric  # noqa: PLC0415 - few are

    plain = where is True and all(out is None for out in outs)
    packed = compute_symmetric(ufunc, operands, options) if plain else None
    if packed is not None:
        return packed[0] if len(packed) == 1 else packed
    whole = tuple([_with_all_elements(own) for own in operands])
    return call(ufunc, whole, {**options, "where": where, "out": None if plain else outs})


def _with_all_elements(operand: Operand) -> Operand:
    if isinstance(operand, TensorBase) and operand.buffer.stores_orbits:
        return cast("Operand", cast("Any", operand).to_dense())
    return operand


def _call_with_nulls(
    ufunc: np.ufunc,
    operands: list[Operand],
    outs: "tuple[Out, ...]",
    where: object,
    options: dict[str, Any],
    *,
    may_be_null: bool,
) -> object:
    """Return results for nullable operands, or for plain operands with a nullable target."""
    name = ufunc.__name__
    _refuse_where(where, name, "tensors with nulls")
    made: tuple[TensorBase[Any], ...]
    if may_be_null:
        made = compute_with_nulls(lambda given: call(ufunc, tuple(given), dict(options)), operands, name)
    else:
        plain = call(ufunc, tuple(operands), options)
        made = cast("tuple[TensorBase[Any], ...]", plain if isinstance(plain, tuple) else (plain,))
    for result, out in zip(made, outs, strict=True):
        if isinstance(out, np.ndarray):
            raise ConversionError(f"{name}: a result with nulls goes into a tensor, not into an array")
        if out is not None:
            check_out(out, result.shape, name)
    found = [_put(own, out) for own, out in zip(made, outs, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _outs(given: object, count: int, name: str) -> "tuple[Out, ...]":
    if given is None:
        return (None,) * count
    outs = cast("tuple[Out, ...]", given if isinstance(given, tuple) else (given,))
    if len(outs) != count:
        raise ConversionError(f"{name}: out= takes {count} tensors, not {len(outs)}")
    check_argument(outs, name)
    for out in outs:
        if out is not None and not isinstance(cast("object", out), TensorCommon | np.ndarray):
            raise ConversionError(f"{name}: out= is a tensor, a view or an array, not a {type(out).__name__}")
    return outs


def _refuse_nulls_beside_fill(operands: list[Operand], name: str) -> None:
    """Raise if one operand may have nulls, and another does not store all elements."""
    tensors = [(n, own.buffer) for n, own in enumerate(operands) if isinstance(own, TensorBase)]
    few = [number for number, buffer in tensors if buffer.fill_value is not None]
    if few:
        odd = next(number for number, buffer in tensors if buffer.nullable)
        raise ConversionError(
            f"{name}: operand {odd} may have nulls, and operand {few[0]} stores few elements. "
            "`t.fill_null(0)` replaces nulls, `b.to_dense()` has all elements"
        )


def _refuse_where(where: object, name: str, what: str) -> None:
    if where is not True:
        raise ConversionError(f"{name}: where= is not known for {what}; np.where chooses among tensors")


# Beside a mask NumPy 2.4 ends the process where the integer of a comparison is in no type that it compares.
_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}


def _in_range(operands: list[Operand]) -> list[Operand]:
    """Return Python integers with a dtype; integers beyond all dtypes become infinities."""
    typed = [operand for operand in operands if isinstance(operand, TensorBase | np.ndarray)]
    if any(operand.dtype.kind not in "iu" for operand in typed):
        return operands
    return [_typed(operand) if type(operand) is int else operand for operand in operands]


def _typed(number: int) -> Array:
    if -(2**63) <= number < 2**64:
        return np.asarray(number)
    return np.asarray(np.inf if number > 0 else -np.inf)


def _masked(
    where: object, operands: list[Operand], outs: "tuple[Out, ...]", name: str
) -> "tuple[Any, list[Operand]]":
    """Return a mask as an operand, or True without a mask, and the operands for NumPy."""
    if where is True:
        return True, operands
    mask = _with_all_elements(_read_where(where, outs, name))
    return mask, _in_range(operands) if name in _COMPARISONS else operands


def _read_where(where: object, outs: "tuple[Out, ...]", name: str) -> Operand:
    if any(out is None for out in outs):
        raise ConversionError(f"{name}: where= leaves the other elements undefined; out= says what they are")
    return read_where(where, name)


def _call_whole(
    ufunc: np.ufunc, operands: list[Operand], outs: "tuple[Out, ...]", options: dict[str, Any]
) -> object:
    """Hand boxes over as arrays, and give back arrays: there is no rule for the shape of a contraction."""
    name = ufunc.__name__
    for operand in operands:
        if not isinstance(operand, TensorBase):
            continue
        if operand.buffer.in_tiles:
            raise ConversionError(
                f'{name} works on whole boxes: `tw.contract("ij,jk->ik", a, b)` multiplies tensors in tiles, '
                "to_dense() has all elements"
            )
        if not operand.shape.flatten().is_box:
            raise ConversionError(
                f"{name} works on whole boxes, and {operand.shape!r} is none: "
                "`[np.asarray(cell) for _, cell in r.cells()]` are its own, "
                '`tw.contract("ij,jk->ik", a, b)` multiplies tensors in tiles'
            )
    arrays = [array_of(operand) for operand in operands]
    with refusals(name):
        results = ufunc(*arrays, **options)
    (out,) = outs[:1]
    if out is None:
        return results
    result = over_array(np.asarray(results), Shape(*np.shape(results)), _makers(operands, out))
    _check_outs((result,), (out,), name)
    return _put(result, out)


def _makers(operands: Sequence[object], *outs: object) -> list[object]:
    """Return operands, and where none of them is a tensor those of ``out=``: results are made as they are."""
    if any(map(is_tensor, operands)):
        return [*operands]
    return [*operands, *[out._as_operand() if is_tensor_or_view(out) else out for out in outs]]


def array_of(operand: Operand) -> Any:  # noqa: ANN401 - a number stays what it is
    """Return a box as an array, over its memory where there is one; numbers and arrays as they are."""
    if not isinstance(operand, TensorBase):
        return operand
    return np.asarray(operand._flat())


def _call_boxes(
    ufunc: np.ufunc,
    operands: list[Operand],
    outs: "tuple[Out, ...]",
    where: "Operand | bool",
    options: dict[str, Any],
) -> object:
    name = ufunc.__name__
    shape = box_of_result(operands if where is True else [*operands, cast("Operand", where)], name)
    arrays = [array_of(operand) for operand in operands]
    targets = [_target(out, shape, name) for out in outs]
    if where is not True:
        options["where"] = array_of(cast("Operand", where))
    with refusals(name):
        try:
            results = _computed(ufunc, arrays, targets, options)
        except MemoryError as error:
            raise too_large(shape.extents, np.result_type(*arrays)) from error
    found = _several(results)
    makers = operands if len(outs) == 1 else _makers(operands, *outs)
    return _given_back(
        [
            out if out is not None else over_array(np.asarray(array), shape, makers)
            for out, array in zip(outs, found, strict=True)
        ],
        outs,
        targets,
        shape,
        operands,
    )


def _computed(
    ufunc: np.ufunc, arrays: "list[Any]", targets: "list[Array | None]", options: dict[str, Any]
) -> object:
    """Return NumPy's results, in the targets where there are some: by the rule of `assign`.

    NumPy itself casts to the type of ``out=`` even with losses; only ``casting="unsafe"`` selects that.
    """
    if all(target is None for target in targets):
        return ufunc(*arrays, **options)
    if not _may_lose(ufunc, arrays, targets, options):
        return ufunc(*arrays, out=tuple(targets), **options)
    where = options.pop("where", True)
    if where is not True:
        # NumPy computes only the marked elements.
        made = [
            np.zeros(cast("Array", own).shape, dtype)
            for own, dtype in zip(targets, types_made(ufunc, arrays, options), strict=True)
        ]
        ufunc(*arrays, out=tuple(made), where=where, **options)
    else:
        made = [np.asarray(own) for own in _several(ufunc(*arrays, **options))]
    marks = [... if own is None or where is True else np.broadcast_to(where, own.shape) for own in targets]
    fitting = [
        own if target is None else check_write(own[mark], target.dtype)
        for own, target, mark in zip(made, targets, marks, strict=True)
    ]
    for own, target, mark in zip(fitting, targets, marks, strict=True):
        if target is not None:
            target[mark] = own
    results = [own if target is None else target for own, target in zip(made, targets, strict=True)]
    return results[0] if len(results) == 1 else tuple(results)


def _may_lose(
    ufunc: np.ufunc, arrays: "list[Any]", targets: "list[Array | None]", options: dict[str, Any]
) -> bool:
    """Return True if a target may not hold a result of the type that NumPy computes."""
    if options.get("casting", "same_kind") != "same_kind":
        return False
    wanted = [None if target is None else target.dtype for target in targets]
    if ufunc is np.power and any(dtype is not None and dtype.kind in "iu" for dtype in wanted):
        return True  # A negative power is refused when others have been written.
    given = {own.dtype for own in arrays if isinstance(own, np.ndarray | np.generic)}
    if (
        {dtype for dtype in wanted if dtype is not None} == given
        and len(given) == 1
        and "dtype" not in options
    ):
        # Of one type NumPy computes that type, or a type that it casts to it without a loss or not at all.
        return ufunc is np.float_power
    made = types_made(ufunc, arrays, options)
    return any(
        dtype is not None and not surely_fits(own, dtype) for own, dtype in zip(made, wanted, strict=True)
    )


def types_made(ufunc: np.ufunc, arrays: "list[Any]", options: dict[str, Any]) -> "list[np.dtype[Any]]":
    """Return the dtypes of the results, computed from empty operands."""
    none = [np.reshape(own, -1)[:0] if isinstance(own, np.ndarray | np.generic) else own for own in arrays]
    plain = {key: own for key, own in options.items() if key != "where"}
    return [np.asarray(own).dtype for own in _several(ufunc(*none, **plain))]


def _target(out: Out, shape: Shape[Any], name: str) -> "Array | None":
    """Return the array that NumPy writes a result into: the memory of ``out=``, or a copy of its elements.

    Raises
    ------
    ExtentMismatchError
        If the result has another shape.
    ReadOnlyError
        If it may not change.
    """
    if out is None:
        return None
    if isinstance(out, np.ndarray):
        if not shape.flatten().is_box:
            raise ConversionError(
                f"{name}: a result of shape {shape!r} goes into a tensor, not into an array"
            )
        if out.shape != shape.extents:
            raise ExtentMismatchError(f"{name}: out= has extents {out.shape}, the result {shape.extents}")
        return out
    check_out(out, shape, name)
    if holds_strings(out.dtype):
        raise ConversionError(
            f"{name}: numbers do not go into strings by out=: `np.strings.add(st, st)` makes text"
        )
    if is_tensor(out):
        out._check_writeable()
        buffer, implementation = out.buffer, out.layout.implementation
        memory = buffer.memory_of(implementation)
        if memory is not None:
            return memory
        if buffer.memory is not None and implementation.is_contiguous:
            start = implementation.offset
            elements = cast("Array", buffer.memory[start : start + out.shape.size])
            return elements.reshape(shape.extents) if shape.flatten().is_box else elements
        if buffer.fill_value is not None:
            raise ConversionError(f"{name}: numbers of a dense result do not go into {buffer!r} by out=")
    elements = np.array(out.elements())
    return elements.reshape(shape.extents) if shape.flatten().is_box else elements


def _given_back(
    results: "list[Any]",
    outs: "tuple[Out, ...]",
    targets: "list[Array | None]",
    shape: Shape[Any],
    operands: Sequence[object],
) -> object:
    """Write the results that could not be written in place, and return one result or a tuple of several."""
    for out, target in zip(outs, targets, strict=True):
        if out is None or target is None or isinstance(out, np.ndarray):
            continue
        memory = out.buffer.memory if is_tensor(out) else None
        if memory is not None and np.may_share_memory(target, memory):
            continue
        flat = target.reshape(-1)
        like = first_tensor(_makers(operands, out))
        out.assign(like._make(packed_layout(shape), Dense(cast("Any", flat))))
    return results[0] if len(results) == 1 else tuple(results)


def _several(results: object) -> "tuple[Array, ...]":
    """Return the results of a ufunc, usually one."""
    return cast("tuple[Array, ...]", results if isinstance(results, tuple) else (results,))


def _check_outs(results: "Sequence[TensorBase[Any]]", outs: "tuple[Out, ...]", name: str) -> None:
    """Raise unless ``out=`` can take on sparse or string results, or those of strings compared."""
    for result, out in zip(results, outs, strict=True):
        if out is None:
            continue
        if isinstance(out, np.ndarray):
            raise ConversionError(
                f"{name}: a result in {result.buffer!r} goes into a tensor, not into an array"
            )
        check_out(out, result.shape, name)
        if result.dtype != out.dtype:
            check_write(np.empty(0, result.dtype), out.dtype)  # of no elements: the types alone
        if result.buffer.fill_value is None:
            continue
        own = out._as_operand().buffer.fill_value
        held = result.layout.implementation
        if own is not None and result.buffer.count_stored(held) == result.shape.size:
            continue  # Nothing has the fill.
        if own is None or not np.array_equal(
            own, result.buffer.fill_value, equal_nan=own.dtype.kind in "fcmM"
        ):
            raise ConversionError(
                f"the result has the fill {result.buffer.fill_value[()]}, which out= cannot take on; "
                "t = t + u makes a new tensor"
            )


def _put(result: "TensorBase[Any]", out: Out) -> object:
    """Write a result into ``out=``, which was checked."""
    if out is None or isinstance(out, np.ndarray):
        return result
    out.assign(result)
    return out


def over_array(array: Array, shape: Shape[Any], operands: Sequence[object]) -> "TensorBase[Any]":
    """Return the tensor over an array of results, made as the operands are; NumPy's strides stay."""
    make = first_tensor(operands)._make
    check_dtype(array.dtype)
    if array.flags.c_contiguous:
        return make(packed_layout(shape), Dense(cast("Any", array.reshape(-1))))
    buffer, strides, offset = as_dense(array)
    if shape.has_layers or offset:
        return make(packed_layout(shape), Dense(cast("Any", array.reshape(-1))))
    return make(Layout(shape, strides=strides, offset=offset), buffer)


def flat_operands(operands: Sequence[Operand], reference: "TensorBase[Any]", name: str) -> list[Any]:
    """Return operands as flat arrays aligned with the reference; numbers unchanged."""
    shape = reference.shape.flatten()
    return [_flat_beside(operand, reference, shape, name) for operand in operands]


def _flat_beside(operand: Operand, reference: "TensorBase[Any]", shape: Shape[Any], name: str) -> Any:  # noqa: ANN401
    if isinstance(operand, TensorBase):
        if operand.shape is reference.shape:
            return operand.elements()
        if not operand.shape.rank:
            return np.asarray(operand)
    elif not np.ndim(operand):
        return operand
    modes = leading_modes(operand, shape, name)
    values = operand.elements() if isinstance(operand, TensorBase) else cast("Array", operand).reshape(-1)
    return (
        values
        if modes == shape.rank
        else np.repeat(values, np.diff(OperandShapes.splits_under(shape, modes)))
    )


def _call_rows(
    ufunc: np.ufunc,
    operands: list[Operand],
    reference: "TensorBase[Any]",
    outs: "tuple[Out, ...]",
    where: "Operand | bool",
    options: dict[str, Any],
) -> object:
    name = ufunc.__name__
    flats = flat_operands(operands, reference, name)
    shape = rows_of_result(operands, reference, name)
    targets = [_target(out, shape, name) for out in outs]
    if where is not True:
        options["where"] = flat_operands([cast("Operand", where)], reference, name)[0]
    with refusals(name):
        results = _computed(ufunc, flats, targets, options)
    found = _several(results)
    made = [
        out if out is not None else over_rows(array, shape, reference)
        for out, array in zip(outs, found, strict=True)
    ]
    return _given_back(made, outs, targets, shape, operands)


def over_rows(flat: Array, shape: Shape[Any], reference: "TensorBase[Any]") -> "TensorBase[Any]":
    """Return the tensor of flat results; over the layout of the reference, if that is packed."""
    check_dtype(flat.dtype)
    layout = reference.layout
    implementation = layout.implementation
    if implementation.tiled is not None:
        implementation = cast("TiledStrided", implementation.unnamed())
        box = reference._make(
            packed_layout(implementation.under.shape),
            Dense(cast("Any", np.empty(len(flat), flat.dtype))),
        )
        tiled = _tiled(box, implementation, shape)
        tiled.assign(reference._make(packed_layout(shape.flatten()), Dense(cast("Any", flat))))
        return tiled
    if shape is not reference.shape or implementation.offset or not implementation.is_contiguous:
        layout = packed_layout(shape)
    return reference._make(layout, Dense(cast("Any", flat)))


def _tiled(box: "TensorBase[Any]", implementation: TiledStrided, shape: Shape[Any]) -> "TensorBase[Any]":
    """Return a box seen through tiles, which lie where the reference has them, under the names of a shape."""
    under = cast("Strided", box.layout.implementation)
    tiles = TiledStrided(implementation.tiling, under, implementation.grid_origin)
    return box._make(wrap_layout(tiles, names_of(shape)), box.buffer)


def _under_tiles(
    operands: Sequence[Operand], reference: "TensorBase[Any]", implementation: TiledStrided, name: str
) -> "list[Any] | None":
    """Return operands as arrays over the box that is tiled; None where only row by row will do."""
    arrays: list[Any] = []
    r = reference.shape.rank // 2
    for operand in operands:
        if isinstance(operand, TensorBase) and operand.layout.is_tiled:
            own = cast("TiledStrided", operand.layout.implementation.unnamed())
            memory = operand.buffer.memory_of(own.under)
            if (
                own.tiling != implementation.tiling
                or own.under.shape != implementation.under.shape
                or memory is None
            ):
                return None
            arrays.append(memory)
        elif not np.ndim(operand) if not isinstance(operand, TensorBase) else not operand.shape.rank:
            arrays.append(np.asarray(operand) if isinstance(operand, TensorBase) else operand)
        else:
            modes = leading_modes(operand, reference.shape.flatten(), name)
            if modes > r:
                return None
            values = array_of(operand)
            values = values.reshape(values.shape[:modes] + (1,) * (r - modes))
            for mode in range(modes):
                marks = implementation.tiling.partitions[mode].starts
                values = values.repeat(np.diff(marks), axis=mode)
            arrays.append(values)
    return arrays


def _call_tiled(
    ufunc: np.ufunc,
    reference: "TensorBase[Any]",
    implementation: TiledStrided,
    shape: Shape[Any],
    arrays: list[Any],
    options: dict[str, Any],
) -> object:
    with refusals(ufunc.__name__):
        results = ufunc(*arrays, **options)
    found = _several(results)
    made = [
        _tiled(over_array(array, implementation.under.shape, [reference]), implementation, shape)
        for array in found
    ]
    return made[0] if len(made) == 1 else tuple(made)
