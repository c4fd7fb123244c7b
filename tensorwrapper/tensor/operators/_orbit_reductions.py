"""Reductions of symmetric tensors by stored elements and their multiplicities, or part by part."""

import math
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import Dense, Symmetric
from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape import Operation, Shape
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.operators._stored_reductions import modes_that_go, shape_with_kept_modes
from tensorwrapper.tensor.rows._reduce import fit_initial
from tensorwrapper.typing import Array

_REPEATABLE: Final = frozenset(
    (
        *("maximum", "minimum", "fmax", "fmin"),
        *("logical_or", "logical_and", "bitwise_or", "bitwise_and"),
    )
)
"""Ufuncs that are independent of multiplicities."""
_ANY_ORDER: Final = _REPEATABLE | {"add", "multiply", "logical_xor", "bitwise_xor"}
"""Ufuncs that may reduce parts first."""
_PART: Final = 1 << 22
"""Elements that are unpacked at a time."""


def reduce_orbits(
    ufunc: np.ufunc, tensor: TensorBase[Any], over: Shape[Any], options: dict[str, Any], name: str
) -> TensorBase[Any]:
    """Return the reduction of the modes that ``axis=`` names, dense.

    A sum, a maximum and the like over all modes use the stored elements alone, O(stored). Else elements are
    unpacked part by part.

    Parameters
    ----------
    ufunc
        The ufunc.
    tensor
        A symmetric tensor or a part of one.
    over
        The indices of the result.
    options
        Those of ``reduce``.
    name
        Its name in errors.

    Raises
    ------
    ConversionError
        If `where` is given.
    """
    if options.pop("where", True) is not True:
        raise ConversionError(
            f"{name} of a symmetric tensor takes no where=: `t.to_dense()` has all elements"
        )
    axis, dtype = options.pop("axis", 0), options.pop("dtype", None)
    initial = options.pop("initial", None)
    keepdims = options.pop("keepdims", False)
    if options:
        raise ConversionError(f"{name} does not know {', '.join(map(repr, options))}")
    shape = tensor.shape.flatten()
    gone = modes_that_go(shape, axis) if shape.rank else set[int]()
    with refusals(name):
        neutral = None
        if initial is not None:
            made = ufunc.reduce(np.zeros(1, tensor.dtype), dtype=dtype)
            neutral = fit_initial(initial, made.dtype)[()]
        found = _of_stored(ufunc, tensor, dtype) if len(gone) == shape.rank and shape.size else None
        if found is None and not shape.size:
            array: Any = np.zeros(shape.extents, tensor.dtype)
            result = np.asarray(
                ufunc.reduce(array, axis=tuple(gone), dtype=dtype)
                if neutral is None
                else ufunc.reduce(array, axis=tuple(gone), dtype=dtype, initial=neutral)
            )
        else:
            result = _by_parts(ufunc, tensor._flat(), gone, dtype) if found is None else found
            result = result if neutral is None else np.asarray(ufunc(result, neutral))
    if keepdims:
        over = shape_with_kept_modes(shape, axis)
    return tensor._make(packed_layout(over), Dense(cast("Any", result.reshape(-1))))


def _of_stored(ufunc: np.ufunc, tensor: TensorBase[Any], dtype: "npt.DTypeLike | None") -> Array | None:
    """Return the reduction of all elements from the stored ones; None if not possible."""
    packed = tensor.buffer.pack(tensor.layout.implementation, own=False)
    if not isinstance(packed, Symmetric) or packed.symmetry.is_zero:
        return None
    values, operations = packed.values, packed.symmetry.operations
    if ufunc.__name__ in _REPEATABLE:
        kinds = {(own.sign, own.conjugate) for own in operations}
        images = [_image(values, sign, conjugate=conjugate) for sign, conjugate in sorted(kinds)]
        # The zeros that the symmetry forces.
        zero = np.zeros(int(_count_zeros(packed) > 0), values.dtype)
        elements: Array = np.concatenate([*images, zero])
        return cast("Array", np.asarray(ufunc.reduce(elements, dtype=dtype)))
    if ufunc.__name__ != "add" or (values.dtype.kind in "fc" and not np.isfinite(values).all()):
        return None
    reduce_sums: Callable[..., Array] = np.add.reduce
    kind: np.dtype[Any] = reduce_sums(np.zeros(1, values.dtype), dtype=dtype).dtype
    if any(own.sign < 0 and not own.conjugate for own in operations):
        return np.zeros((), kind)
    values = _own_conjugate(values, operations)
    counts = packed.symmetry.multiplicities(packed.extents)
    weights = counts if kind.kind == "m" else counts.astype(kind)
    return np.asarray(np.add.reduce(np.multiply(values, weights), dtype=dtype))


def _own_conjugate(values: Array, operations: tuple[Operation, ...]) -> Array:
    """Return the means of elements and their equally frequent conjugates."""
    conjugated = next((own for own in operations if own.conjugate), None)
    if conjugated is None:
        return values
    both: Array = np.add(values, _image(values, conjugated.sign, conjugate=True)) / 2
    return both


def _image(values: Array, sign: int, *, conjugate: bool) -> Array:
    own = values if sign > 0 else np.negative(values)
    return np.conjugate(own) if conjugate else own


def _count_zeros(packed: Symmetric[Any]) -> int:
    return packed.size - int(packed.symmetry.multiplicities(packed.extents).sum())


def _by_parts(
    ufunc: np.ufunc, tensor: TensorBase[Any], gone: set[int], dtype: "npt.DTypeLike | None"
) -> Array:
    """Return the reduction of some modes of a box; a large box is halved recursively."""
    extents: tuple[int, ...] = tensor.shape.extents
    modes = [mode for mode, n in enumerate(extents) if n > 1]
    kept = [mode for mode in modes if mode not in gone]
    if ufunc.__name__ not in _ANY_ORDER:
        modes = kept
    if math.prod(extents) <= _PART or not modes:
        array: Array = tensor.elements().reshape(extents)
        return np.asarray(ufunc.reduce(array, axis=tuple(gone), dtype=dtype))
    mode = max(kept or modes, key=extents.__getitem__)
    before = (slice(None),) * mode
    start: int = tensor.shape.origin[mode]
    middle = start + extents[mode] // 2
    whole: Any = tensor
    halves: list[Any] = [whole[(*before, slice(middle))], whole[(*before, slice(middle, None))]]
    parts = [_by_parts(ufunc, half, gone, dtype) for half in halves]
    if mode in gone:
        return np.asarray(ufunc(*parts, dtype=parts[0].dtype))
    return np.concatenate(parts, axis=mode - sum(other < mode for other in gone))
