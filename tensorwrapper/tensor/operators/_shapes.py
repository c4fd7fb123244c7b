"""The shape of a result: how extents, origins, names and layers of several operands become one shape.

Boxes are broadcast as NumPy does, from the last mode on. Beside a jagged or tiled tensor, the *reference*,
an operand has its shape, or that of its first modes: then it is one number per row, cell or tile.
"""

import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import numpy as np

from tensorwrapper.errors import ExtentMismatchError, LayerError, ModeNameError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import check_names, make_smooth, unnamed_shape, wrap
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._operand import Operand
from tensorwrapper.typing import Extents, IntArray

_compared: "tuple[Callable[[], object], Callable[[], object], bool]" = (bool, bool, False)
"""The two shapes that met last, and whether they have the same indices: in a chain they meet again."""

__all__ = [
    "box_of_result",
    "check_out",
    "extents_of",
    "is_same",
    "prefix_of",
    "reference_of",
    "splits_below",
    "with_facts",
]


def extents_of(operand: Operand) -> Extents:
    """Return the extents of a box, an array or a number."""
    return operand.shape.extents if isinstance(operand, TensorBase) else np.shape(operand)


def reference_of(operands: Sequence[Operand]) -> "TensorBase[Any] | None":
    """Return the jagged or tiled operand of highest rank, the first of several; None if all are boxes."""
    found: TensorBase[Any] | None = None
    highest = 0
    for operand in operands:
        if not isinstance(operand, TensorBase):
            continue
        shape = operand.shape
        rank = shape.rank
        if rank > highest and not shape.flatten().is_box:
            found, highest = operand, rank
    return found


def box_of_result(operands: Sequence[Operand], name: str) -> Shape[Any]:
    """Return the box that operands broadcast to, with the origin, names and layers that they agree on.

    Raises
    ------
    ExtentMismatchError
        If extents do not broadcast, or a mode starts elsewhere in two tensors.
    LayerError, ModeNameError
        If layers or names differ.
    """
    tensors = [operand for operand in operands if isinstance(operand, TensorBase) and operand.shape.rank]
    if tensors and len(tensors) == len(operands) and all(t.shape is tensors[0].shape for t in tensors):
        return tensors[0].shape
    given = [extents_of(operand) for operand in operands]
    try:
        extents = np.broadcast_shapes(*given)
    except ValueError as error:
        raise ExtentMismatchError(f"{name}: extents {given} do not broadcast, as {_ALIGNED}") from error
    if not extents:
        # Numbers in layers without modes are what they are beside other numbers.
        tensors = [operand for operand in operands if isinstance(operand, TensorBase)]
    origin: list[int | None] = [None] * len(extents)
    for tensor in tensors:
        shape = tensor.shape
        behind = len(extents) - shape.rank
        for mode, (extent, start) in enumerate(zip(shape.extents, shape.origin, strict=True), behind):
            if extent != extents[mode]:
                continue  # stretched: its one index stands for all
            if origin[mode] not in (None, start):
                raise _other_origin(name, mode, cast("int", origin[mode]), start)
            origin[mode] = start
    result = wrap(make_smooth(extents, tuple([start or 0 for start in origin])))
    return with_facts(result, tensors, name)


def with_facts(shape: Shape[Any], tensors: "Sequence[TensorBase[Any]]", name: str) -> Shape[Any]:
    """Return a shape with the names and the layers of the tensors, of which it is the result."""
    names: list[str | None] = [None] * shape.rank
    layers: tuple[int, ...] | None = None
    for tensor in tensors:
        own = tensor.shape
        for mode, label in enumerate(own.names, shape.rank - own.rank if shape.is_box else 0):
            if label is not None and names[mode] not in (None, label):
                raise ModeNameError(
                    f"{name}: mode {mode} is {names[mode]!r} in one tensor and {label!r} in another"
                )
            names[mode] = label or names[mode]
        if own.has_layers:
            if own.rank != shape.rank or layers not in (None, own.layers):
                raise LayerError(
                    f"{name}: the layers of {own} are not those of "
                    f"{shape if own.rank != shape.rank else layers}; flatten() drops them"
                )
            layers = own.layers
    if layers is not None:
        shape = Shape.nested(shape, layers=layers)
    return shape.named(*names) if any(label is not None for label in names) else shape


def _other_origin(name: str, mode: int, one: int, other: int) -> ExtentMismatchError:
    return ExtentMismatchError(
        f"{name}: mode {mode} starts at {one} in one tensor and at {other} in another; t[...] of each starts "
        "at zero and combines by position"
    )


def check_out(out: TensorCommon[Any], shape: Shape[Any], name: str) -> None:
    """Raise unless a result of a shape goes into ``out=``, which keeps its own names of modes.

    Raises
    ------
    ExtentMismatchError
        If it has another shape.
    ModeNameError
        If a mode has another name.
    """
    if out.shape != shape:
        check_names(out.shape, shape, f"{name}: out=")
        if unnamed_shape(out.shape) != unnamed_shape(shape):
            raise ExtentMismatchError(f"{name}: out= has the shape {out.shape!r}, the result {shape!r}")


def is_same(shape: Shape[Any], reference: Shape[Any]) -> bool:
    """Tell whether a shape has just the indices of the reference, in whatever representation.

    O(1) for one object, and for the pair that was compared last; else their rows are compared.
    """
    if shape is reference:
        return True
    if shape.rank != reference.rank:
        return False
    global _compared  # noqa: PLW0603 - what threads overwrite for one another is found again
    one, other, found = _compared
    if one() is shape and other() is reference:
        return found
    found = shape.same_elements(reference)
    _compared = weakref.ref(shape), weakref.ref(reference), found
    return found


def prefix_of(operand: Operand, reference: Shape[Any], name: str) -> int:
    """Return of how many modes of the reference an operand has the shape; its rank for the whole of it.

    Modes of extent 1 behind the first ones mean the same as none, as in NumPy's ``x[:, None]``.

    Raises
    ------
    ExtentMismatchError
        If it has another shape.
    """
    if isinstance(operand, TensorBase):
        shape = operand.shape.flatten()
        if is_same(shape, reference):
            return reference.rank
        if shape.rank < reference.rank and is_same(shape, reference.leading(shape.rank)):
            return shape.rank
        given = shape
        extents = shape.extents if shape.is_box else ()
        origin: tuple[int, ...] | None = shape.origin if shape.is_box else None
    else:
        extents, origin = np.shape(operand), None
        given = Shape(*extents)
        if _has_extents(reference, extents):
            return reference.rank
        if len(extents) < reference.rank and _has_extents(reference.leading(len(extents)), extents):
            return len(extents)
    if len(extents) == reference.rank:
        modes = len(extents)
        while modes > 1 and extents[modes - 1] == 1:
            modes -= 1
        leading = reference.leading(modes)
        if (
            modes < reference.rank
            and _has_extents(leading, extents[:modes])
            and (origin is None or leading.origin == origin[:modes])
        ):
            return modes
    raise _no_prefix(given, reference, name)


def _has_extents(shape: Shape[Any], extents: Extents) -> bool:
    """Tell whether a shape is a box of these extents, or jagged with rows that are all alike."""
    if shape.rank != len(extents):
        return False
    bounds = [shape.extent_bounds(mode) for mode in range(shape.rank)]
    return all(low == high == extent for (low, high), extent in zip(bounds, extents, strict=True))


_ALIGNED: Final = (
    "they are aligned at their ends: `t[:, None]` has a mode more, `t.permute(1, 0)` others last"
)


def _no_prefix(given: Shape[Any], reference: Shape[Any], name: str) -> ExtentMismatchError:
    if given.rank == reference.rank:
        if given.is_congruent(reference):
            return ExtentMismatchError(
                f"{name}: {given!r} lies elsewhere than {reference!r}; `t[...]` of each starts at zero and "
                "combines by position"
            )
        return ExtentMismatchError(
            f"{name}: {given!r} is not {reference!r}, nor that of its first modes; "
            "`tw.align(r, r)` finds what both have, `r.to_padded()` is a box"
        )
    if not 0 < given.rank < reference.rank:
        return ExtentMismatchError(
            f"{name}: {given!r} has more modes than {reference!r}, which nothing is stretched to"
        )
    return ExtentMismatchError(
        f"{name}: one number per prefix of {given.rank} modes has the shape {reference.leading(given.rank)!r}"
        f", not {given!r}; numbers stand along the first modes of a jagged tensor, as in "
        "`r * [1, 10]`"
    )


def splits_below(shape: Shape[Any], modes: int) -> IntArray:
    """Return where the elements under each prefix of `modes` indices begin, and where the last ones end."""
    splits = shape.splits(modes)
    for mode in range(modes + 1, shape.rank):
        splits = shape.splits(mode)[splits]
    return splits
