"""Ufuncs of symmetric tensors, computed on packed elements if the result is symmetric.

The rules say which operations survive. Where none does, and beside a dense operand, the result is dense.
"""

from collections.abc import Callable
from typing import Any, TypeGuard, cast

import numpy as np

from tensorwrapper.buffer import Symmetric
from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.shape import Symmetry
from tensorwrapper.shape.lowlevel import ufunc_symmetry
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._operand import Operand
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.typing import Array, Extents


def compute_symmetric(
    ufunc: np.ufunc, operands: list[Operand], options: dict[str, Any]
) -> "tuple[TensorBase[Any], ...] | None":
    """Return the packed tensors of a ufunc of symmetric tensors of one shape and of numbers; most have one.

    None if an operand has all its elements, shapes differ, no symmetry survives, or the result is zero.
    O(stored).
    """
    tensors = [own for own in operands if _has_modes(own)]
    known = [own.buffer.symmetry_of(own.layout.implementation) for own in tensors]
    shape = tensors[0].shape
    if any(own.shape != shape for own in tensors) or any(
        np.ndim(cast("Any", own)) for own in operands if not isinstance(own, TensorBase)
    ):
        return None
    symmetries = [own for own in known if own is not None]
    if len(symmetries) < len(tensors):
        return None
    extents = shape.flatten().extents
    pairs = list(zip(tensors, symmetries, strict=True))
    kept = surviving(
        ufunc.__name__,
        operands,
        tensors,
        symmetries,
        lambda: all(np.isfinite(_at(t, s, s, extents)).all() for t, s in pairs),
    )
    if kept.is_trivial or kept.is_zero:
        return None
    found = iter([_at(own, symmetry, kept, extents) for own, symmetry in pairs])
    values = [next(found) if _has_modes(own) else _number(own) for own in operands]
    with refusals(ufunc.__name__):
        results = ufunc(*values, **options)
    arrays = cast("tuple[Array, ...]", results if isinstance(results, tuple) else (results,))
    made = [_packed(own, kept, extents) for own in arrays]
    if any(own is None for own in made):
        return None
    make = tensors[0]._make
    return tuple([make(packed_layout(shape), cast("Symmetric[Any]", own)) for own in made])


def surviving(
    name: str,
    operands: list[Operand],
    tensors: "list[TensorBase[Any]]",
    symmetries: list[Symmetry],
    is_finite: "Callable[[], bool]",
) -> Symmetry:
    """Return the symmetry of a result, restricted to sign 1 where a forced zero times infinity is NaN."""
    own = iter(symmetries)
    if any(tensor.dtype.kind == "c" for tensor in tensors):
        # A real element is its own conjugate.
        rank = symmetries[0].rank
        real = Symmetry(rank, [(range(rank), 1, True)])
        # Nothing is joined to a group of zeros.
        pairs = zip(symmetries, tensors, strict=True)
        own = iter([s if t.dtype.kind == "c" or s.is_zero else s | real for s, t in pairs])
    given = [
        next(own) if _has_modes(one) else cast("complex", np.asarray(_number(one))[()]) for one in operands
    ]
    kept = ufunc_symmetry(name, given)
    if name == "multiply" and len(tensors) > 1 and kept.positive != kept and not is_finite():
        return kept.positive
    return kept


def _has_modes(operand: Operand) -> TypeGuard[TensorBase[Any]]:
    return isinstance(operand, TensorBase) and bool(operand.shape.rank)


def _number(operand: Operand) -> Any:  # noqa: ANN401 - a number of Python has no type of its own beside others
    return np.asarray(operand) if isinstance(operand, TensorBase) else operand


def _at(tensor: TensorBase[Any], own: Symmetry, kept: Symmetry, extents: Extents) -> Array:
    """Return the elements of a tensor at the canonical indices of a symmetry."""
    held = tensor.layout.implementation
    packed = tensor.buffer.packed_of(held) if own == kept else None
    if packed is not None:
        return packed
    ordinals = kept.ordinals(extents)
    return tensor.buffer.read(tensor._flat().layout.offsets_of_ordinals(ordinals))


def _packed(values: Array, kept: Symmetry, extents: Extents) -> "Symmetric[Any] | None":
    """Return the buffer of results; None if elements of their type have not the symmetry."""
    own = kept if values.dtype.kind == "c" else kept.real
    if own.is_zero or (own.positive != own and values.dtype.kind not in "ifcm"):
        return None
    if own.count(extents) != len(values):
        return None
    return Symmetric(cast("Any", values), own, extents)
