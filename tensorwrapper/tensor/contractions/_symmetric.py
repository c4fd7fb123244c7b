"""Contractions of symmetric boxes as matrix products over one index per orbit.

Operations that move only the summed labels, in both operands alike, leave one product of each orbit, counted
as often as it comes. Those that move only labels of one operand leave one row or column of each orbit.
"""

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, cast

import numpy as np

from tensorwrapper._arrays import numpy_kind
from tensorwrapper._memory import memory_for
from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.buffer.lowlevel import (
    convert_elements,
    make_symmetric,
    pack_box,
    packed_buffer,
    packed_layout,
    project_conjugates,
)
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError
from tensorwrapper.shape import Operation, Shape, Symmetry
from tensorwrapper.shape.lowlevel import (
    columns_of,
    fold_columns,
    make_smooth,
    read_labels,
    symmetry_left,
    without_conjugation,
    wrap,
)
from tensorwrapper.tensor._tensor import Tensor
from tensorwrapper.tensor.operators._promotion import promoted
from tensorwrapper.typing import Array

_SIDES = ("left", "right")


def contract_symmetric(equation: str, left: Tensor[Any], right: Tensor[Any]) -> Tensor[Any]:
    """Return the sum of products of two boxes, of which one is symmetric at least; packed if the result is.

    Raises
    ------
    LabelError, RankError
        As `read_labels`; or if there are over 8 modes.
    ExtentMismatchError
        If modes with one label have other extents or origins.
    ConversionError
        If an operand is not a box, or is sparse or in tiles.
    DTypeError
        If elements are neither numbers nor truth values.
    """
    sides = (left, right)
    shapes = [_box_of(tensor, which) for tensor, which in zip(sides, _SIDES, strict=True)]
    labels = read_labels(equation, (shapes[0].rank, shapes[1].rank))
    extents, origins = _modes_of(labels[:2], shapes, equation)
    dtype = promoted([tensor.dtype for tensor in sides], "contract")
    if numpy_kind(dtype) not in "biufc":
        raise DTypeError(f"contract multiplies and adds numbers or truth values, not {dtype}")
    result = labels[2]
    symmetries = [_symmetry_of(tensor, shape.rank) for tensor, shape in zip(sides, shapes, strict=True)]
    kept = symmetry_left(symmetries, (left.dtype, right.dtype), labels, dtype, same=are_same(left, right))
    plain = [without_conjugation(own) if not own.is_zero else Symmetry(own.rank) for own in symmetries]
    shared = [label for label in labels[0] if label in labels[1]]
    batches = [label for label in result if label in shared]
    summed = [label for label in shared if label not in batches]
    rows, columns = [
        [label for label in result if label in own and label not in batches] for own in labels[:2]
    ]
    own_rows, own_columns = (
        _within(plain[0], labels[0], rows),
        _within(plain[1], labels[1], columns),
    )
    inner = [_within(own, names, summed) for own, names in zip(plain, labels, strict=False)]
    negates = any(own.positive != own for own in (kept, own_rows, own_columns, *inner))
    if negates and not all(_is_finite(tensor) for tensor in sides):
        # Zero times infinity is NaN, where the symmetry has zeros.
        kept = without_conjugation(kept.positive)
        own_rows, own_columns = own_rows.positive, own_columns.positive
        inner = [own.positive for own in inner]
    if kept.is_zero and result:
        nothing = make_symmetric(np.zeros(0, dtype), kept, tuple([extents[label] for label in result]))
        return _over(nothing, result, extents, origins, left)
    free = Symmetry(len(batches))
    groups = [(batches, free), (rows, own_rows), (columns, own_columns)]
    products = _multiplied(sides, labels, groups, (summed, inner), extents, dtype)
    order = [*batches, *rows, *columns]
    if kept.is_trivial:
        box = products.reshape([extents[label] for label in order])
        flat = box.transpose([order.index(label) for label in result]).reshape(-1)
        return _over(Dense(cast("Any", flat)), result, extents, origins, left)
    whole = tuple([extents[label] for label in result])
    found = dict(zip(result, columns_of(kept.ordinals(whole), whole), strict=True))
    places = tuple(
        [
            fold_columns(
                own, tuple([found[label] for label in group]), tuple([extents[label] for label in group])
            ).offsets
            for group, own in groups
        ]
    )
    values: Array = np.asarray(products[places]).reshape(-1)
    project_conjugates(values, kept, whole)
    return _over(make_symmetric(values, kept, whole), result, extents, origins, left)


def _box_of(tensor: Tensor[Any], which: str) -> Shape[Any]:
    """Return the box of an operand, without layers."""
    shape: Shape[Any] = tensor.shape.flatten()
    if not shape.is_box or tensor.buffer.fill_value is not None or tensor.buffer.nullable:
        raise ConversionError(
            f"contract: the {which} operand beside a symmetric box is a box with all its elements, not "
            f"{tensor.shape}: to_dense() and untiled() make one"
        )
    tensor.buffer.require_numbers("contract")
    return shape


def _modes_of(
    labels: "tuple[tuple[str, ...], ...]", shapes: list[Shape[Any]], equation: str
) -> tuple[dict[str, int], dict[str, int]]:
    """Return extent and origin of each label."""
    found: dict[str, tuple[int, int]] = {}
    for own, shape in zip(labels, shapes, strict=True):
        for label, mode in zip(own, zip(shape.extents, shape.origin, strict=True), strict=True):
            first = found.setdefault(label, mode)
            if first != mode:
                (extent, start), (other, begin) = first, mode
                raise ExtentMismatchError(
                    f"the label {label!r} of {equation!r} has {extent} indices from {start} in the left "
                    f"operand, and {other} from {begin} in the right one"
                )
    return {label: own[0] for label, own in found.items()}, {label: own[1] for label, own in found.items()}


def _symmetry_of(tensor: Tensor[Any], rank: int) -> Symmetry:
    found: Symmetry | None = tensor.buffer.symmetry_of(tensor.layout.implementation)
    return Symmetry(rank) if found is None else found


def are_same(left: Tensor[Any], right: Tensor[Any]) -> bool:
    """Return True if two operands are the same."""
    return left is right or (left.buffer is right.buffer and left.layout == right.layout)


def _is_finite(tensor: Tensor[Any]) -> bool:
    if tensor.dtype.kind not in "fc":
        return True
    values = tensor.buffer.packed_of(tensor.layout.implementation)
    return bool(np.isfinite(tensor.elements() if values is None else values).all())


def _within(symmetry: Symmetry, labels: Sequence[str], group: Sequence[str]) -> Symmetry:
    """Return the operations that move only labels of a group, in the order of the group."""
    chosen = [slice(None) if label in group else mode for mode, label in enumerate(labels)]
    kept = [label for label in labels if label in group]
    return symmetry.select(*chosen).permute([kept.index(label) for label in group])


def _multiplied(
    sides: tuple[Tensor[Any], Tensor[Any]],
    labels: tuple[tuple[str, ...], ...],
    groups: list[tuple[list[str], Symmetry]],
    inner: tuple[list[str], list[Symmetry]],
    extents: dict[str, int],
    dtype: "np.dtype[Any]",
) -> Array:
    """Return the sums over some labels for the canonical indices of batches, rows and columns."""
    left, right = sides
    summed, (one, two) = inner[0], _inner(inner[1], left=left.shape.size >= right.shape.size)
    batches, rows, columns = groups
    ours = _matrix(left, labels[0], (batches, rows, (summed, one)), extents, dtype)
    theirs = _matrix(right, labels[1], (batches, (summed, two), columns), extents, dtype)
    sizes = tuple([extents[label] for label in summed])
    if one != two:
        if two.is_trivial:
            theirs = _orbit_sums(theirs, one, sizes)
        else:
            ours = _orbit_sums(ours.swapaxes(1, 2), two, sizes).swapaxes(1, 2)
    elif not one.is_trivial:
        np.multiply(theirs, one.multiplicities(sizes).astype(dtype)[:, None], out=theirs)
    with memory_for(math.prod(ours.shape[:2]) * theirs.shape[2], "elements of the result"):
        products: Array = np.matmul(ours, theirs)
    return products


def _inner(groups: list[Symmetry], *, left: bool) -> list[Symmetry]:
    """Return how the operands pack the summed labels: both alike, or only the larger one."""
    both = groups[0] & groups[1]
    larger = groups[0 if left else 1]
    if both == larger:
        return [both, both]
    none = Symmetry(both.rank)
    return [larger, none] if left else [none, larger]


def _orbit_sums(matrix: Array, symmetry: Symmetry, extents: tuple[int, ...]) -> Array:
    """Return the sums of rows of one orbit, with the signs that the other operand has."""
    places = fold_columns(symmetry, columns_of(np.arange(int(matrix.shape[1])), extents), extents)
    found: Array = np.zeros((matrix.shape[0], symmetry.count(extents), matrix.shape[2]), matrix.dtype)
    kept = np.ones(matrix.shape[1], np.bool_) if places.zero is None else ~places.zero
    for negative in (False, True):
        own = kept & (np.bool_(False) if places.negative is None else places.negative)
        chosen = np.flatnonzero(own if negative else kept & ~own)
        add: Any = np.subtract if negative else np.add
        if len(chosen):
            add.at(found, (slice(None), places.offsets[chosen]), matrix[:, chosen])
    return found


def _beside(groups: Sequence[Symmetry]) -> Symmetry:
    """Return the symmetry of concatenated groups of modes."""
    total = sum(own.rank for own in groups)
    generators: list[Operation] = []
    for own, (start, stop) in zip(
        groups, pairwise(accumulate([own.rank for own in groups], initial=0)), strict=True
    ):
        for step in own.generators:
            moved = [*range(start), *[start + mode for mode in step.permutation], *range(stop, total)]
            generators.append(Operation(tuple(moved), step.sign))
    return Symmetry(total, generators)


def _matrix(
    tensor: Tensor[Any],
    labels: Sequence[str],
    groups: Sequence[tuple[list[str], Symmetry]],
    extents: dict[str, int],
    dtype: "np.dtype[Any]",
) -> Array:
    """Return a tensor as an array of rank 3: a mode for each group of labels, of which it packs orbits."""
    order = [labels.index(label) for group, _ in groups for label in group]
    counts = [own.count([extents[label] for label in group]) for group, own in groups]
    turned = tensor._flat().permute(order)
    symmetry = _beside([own for _, own in groups])
    with memory_for(math.prod(counts), "elements of an operand"):
        if 2 * math.prod(counts) > turned.shape.size:
            # Unpacking the whole tensor is faster than locating each element.
            box: Array = np.asarray(tensor._flat().to_dense()).transpose(order)
            flat = pack_box(box, symmetry)
        else:
            flat = packed_buffer(turned.buffer, turned.layout.implementation, symmetry, 0.0).values
    # The right operand is multiplied in place.
    return convert_elements(flat, dtype, checked=False).reshape(counts)


def _over(
    buffer: BufferCommon[Any],
    labels: Sequence[str],
    extents: dict[str, int],
    origins: dict[str, int],
    like: Tensor[Any],
) -> Tensor[Any]:
    sizes = tuple([extents[label] for label in labels])
    shape = wrap(make_smooth(sizes, tuple([origins[label] for label in labels])))
    made: Tensor[Any] = like._make(packed_layout(shape), buffer)
    return made
