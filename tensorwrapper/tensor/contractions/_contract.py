"""Contractions of two tensors in tiles: planned by their patterns, run by products of blocks."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any, SupportsFloat, cast

import numpy as np

from tensorwrapper._arrays import numpy_kind
from tensorwrapper._error_text import brief
from tensorwrapper._hints import answered
from tensorwrapper._memory import memory_for
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import PresentTiles, make_symmetric_blocks, project_tiles, row_major_table
from tensorwrapper.errors import ConversionError, DTypeError, PatternError
from tensorwrapper.shape import Contraction, Symmetry, contraction
from tensorwrapper.shape.lowlevel import MOST_RANK, symmetry_left, with_symmetry, without_conjugation
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._tensor import Tensor, make_tensor
from tensorwrapper.tensor.contractions._matrices import Matrices, matrices_of
from tensorwrapper.tensor.contractions._products import add_products
from tensorwrapper.tensor.creation._convert import as_tensor
from tensorwrapper.tensor.creation._of_pattern import tensor_of_pattern
from tensorwrapper.tensor.operators._promotion import promoted
from tensorwrapper.tensor.rows._tile_blocks import norms_of
from tensorwrapper.tensor.tiles._operations import present
from tensorwrapper.typing import Array, IntArray

_SIDES = ("left", "right")


def contract(
    equation: str | Contraction,
    left: TensorCommon[Any],
    right: TensorCommon[Any],
    threshold: SupportsFloat | None = None,
) -> Tensor[Any]:
    """Return the sum of products of two tensors in tiles over labels, as `numpy.einsum` of the dense ones.

    Only tiles that are present are multiplied, by NumPy: absent ones count as zero, also beside NaN and
    infinity. The result has all tiles of the plan, also those whose products cancel; `screened` drops them.
    Sums are made in the order of the plan, so that equal operands give equal bits. O(triples), and the
    arithmetic of their products.

    Parameters
    ----------
    equation
        As of `contraction`, or its plan. One label for each mode of the box, also of tiled tensors.
    left, right
        Tensors in blocks, their boxes, views of these by slices and permutations, or dense tiled tensors. Or
        boxes, of which one is symmetric at least. Views are computed first.
    threshold
        Products of blocks are left out whose Frobenius norms have a product below it, as
        `Contraction.screen` does; its `error_bound` says how much is lost at most.

    Returns
    -------
    Tensor
        In blocks, over the tiles of the result: a box if both operands are boxes, else tiled. It has the type
        that NumPy promotes both to. A dense tensor of rank 0 if there are no labels in the result. The result
        of symmetric boxes is packed if a symmetry remains, else dense.

    Raises
    ------
    LabelError
        If the equation cannot be read, or a side has a label twice, or a label is in one operand alone or in
        the result alone.
    RankError
        If there are not two operands, or not as many labels as modes.
    ExtentMismatchError
        If modes with one label are cut in different ways; the text names the label and the boundary.
    PatternError
        If a fill is not zero, a plan is of other patterns, or a threshold is below 0.
    LayoutError
        If an operand has no tiles.
    ConversionError
        If an operand is not a tensor, or not a box with all elements beside a symmetric one.
    DTypeError
        If elements are neither numbers nor truth values.
    SizeOverflowError
        If the triples, or the result, are more than memory holds.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> cut = tw.Tiling([1, 2], [1, 2])
    >>> t = tw.blocks({(0, 0): [[2.0]], (1, 1): [[1.0, 2.0], [3.0, 4.0]]}, cut)
    >>> u = tw.blocks({(0, 1): [[1.0, -1.0]]}, cut)
    >>> product = tw.contract("ij,jk->ik", t, u)
    >>> list(product.pattern), product.tile((0, 1)).tolist()
    ([(0, 1)], [[2.0, -2.0]])
    >>> tw.contract("ij,ij->", t, t).item()
    34.0
    """
    one = _computed(left, _SIDES[0])
    other = one if right is left else _computed(right, _SIDES[1])
    operands = (one, other)
    if any(map(_stores_orbits, operands)):
        return _of_orbits(equation, one, other, threshold)
    sides = [_tiles_of(operand, which) for operand, which in zip(operands, _SIDES, strict=True)]
    dtype = promoted([tiles.held.dtype for tiles in sides], "contract")
    if numpy_kind(dtype) not in "biufc":
        raise DTypeError(f"contract multiplies and adds numbers or truth values, not {dtype}")
    plan = _plan_of(equation, sides)
    if threshold is not None:
        sides = [_packed(tiles) for tiles in sides]
        norms = [norms_of(tiles.held.flat, tiles.pattern.offsets(), "fro") for tiles in sides]
        plan = plan.screen(norms[0], norms[1], threshold)
    plan = _in_orbits(plan, _kept(plan, one, other, sides, dtype) if plan.pattern.rank else None)
    kept = plan.symmetry
    values = _run(plan, sides, dtype)
    if not plan.pattern.rank:
        return as_tensor(values.reshape(()) if len(values) else np.zeros((), dtype))
    made = tensor_of_pattern(plan.stored_pattern, values)
    if kept is not None and not kept.is_zero:
        # Sums in another order differ in the last bits, so diagonal tiles copy the elements of one side.
        values = project_tiles(plan.stored_pattern, values, kept)
        buffer = make_symmetric_blocks(plan.stored_pattern, values, kept, np.zeros((), dtype))
        made = make_tensor(made.layout, buffer)
    return made.untiled() if all(tiles.first is None for tiles in sides) else made


def _kept(
    plan: Contraction,
    left: Tensor[Any],
    right: Tensor[Any],
    sides: list[PresentTiles[Any]],
    dtype: "np.dtype[Any]",
) -> "Symmetry | None":
    """Return the symmetry of a result that stores one tile per orbit; None if it stores all tiles."""
    known = [own.buffer.symmetry_of(own.layout.implementation) for own in (left, right)]
    if known == [None, None] or max(len(own) for own in plan.labels) > MOST_RANK:
        return None
    # Loaded here: few tensors are symmetric.
    from tensorwrapper.tensor.contractions._symmetric import are_same  # noqa: PLC0415

    def is_finite() -> bool:
        return all(np.isfinite(own.held.flat).all() for own in sides if own.held.dtype.kind in "fc")

    symmetries = [
        Symmetry(len(labels)) if own is None else own for own, labels in zip(known, plan.labels, strict=False)
    ]
    kept = symmetry_left(
        symmetries, (left.dtype, right.dtype), plan.labels, dtype, same=are_same(left, right)
    )
    if kept.positive != kept and not is_finite():
        kept = without_conjugation(kept.positive)
    return None if kept.is_trivial else kept


def _in_orbits(plan: Contraction, kept: "Symmetry | None") -> Contraction:
    """Return the plan of one tile per orbit, for a result with a symmetry."""
    if plan.symmetry == kept:
        return plan
    if plan.symmetry is None:
        return with_symmetry(plan, cast("Symmetry", kept))
    if kept is not None and plan.symmetry <= kept:
        return plan
    # Elements that are not finite leave fewer operations; a plan that drops products cannot be changed.
    if plan.error_bound or (kept is not None and not kept <= plan.symmetry):
        raise PatternError(
            f"contract: the plan is of operands whose result has the symmetry {plan.symmetry}, and these "
            f"leave {kept}: contraction({plan.equation!r}, t, u) makes a plan of these"
        )
    every = contraction(plan.equation, plan.left, plan.right)
    return every if kept is None else with_symmetry(every, kept)


def _of_orbits(
    equation: str | Contraction, left: Tensor[Any], right: Tensor[Any], threshold: SupportsFloat | None
) -> Tensor[Any]:
    """Return the contraction of two boxes, at least one of them symmetric."""
    from tensorwrapper.tensor.contractions._symmetric import contract_symmetric  # noqa: PLC0415 - few are

    if threshold is not None or isinstance(equation, Contraction):
        raise PatternError("contract: plans and thresholds are for tensors in tiles, not for symmetric boxes")
    return contract_symmetric(equation, left, right)


def _stores_orbits(tensor: Tensor[Any]) -> bool:
    buffer = tensor.buffer
    return buffer.stores_orbits and not buffer.in_tiles and tensor.shape.flatten().is_box


def _computed(operand: object, which: str) -> Tensor[Any]:
    """Return an operand; for a view its computed tensor."""
    given: Any = operand
    is_view = isinstance(operand, TensorCommon) and not isinstance(operand, Tensor)
    found = cast("object", given._as_operand() if is_view else given)
    if not isinstance(found, Tensor):
        raise ConversionError(
            f"contract: the {which} operand is a tensor in tiles, not {brief(given)} "
            f"({type(given).__name__}): `tw.as_tensor(x).tiled(tw.Tiling([1, 1], [3]))` is one"
        )
    return cast("Tensor[Any]", found)


def _tiles_of(operand: Tensor[Any], which: str) -> PresentTiles[Any]:
    tiles: PresentTiles[Any] = present(operand, "contract")
    if tiles.fill.any():
        raise PatternError(
            f"contract: the absent tiles of the {which} operand have the fill {tiles.fill[()]}, not zero: "
            "to_dense() has all tiles"
        )
    return tiles


def _plan_of(equation: str | Contraction, sides: list[PresentTiles[Any]]) -> Contraction:
    if not isinstance(equation, Contraction):
        return contraction(equation, sides[0].pattern, sides[1].pattern)
    for pattern, tiles, which in zip((equation.left, equation.right), sides, _SIDES, strict=True):
        if pattern != tiles.pattern:
            raise PatternError(
                f"contract: the {which} operand has other tiles than the plan: {tiles.pattern}, not "
                f"{pattern}; contraction(plan.equation, t, u) makes a plan of these"
            )
    return equation


def _packed(tiles: PresentTiles[Any]) -> PresentTiles[Any]:
    """Return the concatenated tiles, each row-major."""
    held: Dense[Any] = Dense(tiles.values())
    return PresentTiles(tiles.pattern, held, tiles.fill, tiles.first, None)


def _run(plan: Contraction, sides: list[PresentTiles[Any]], dtype: "np.dtype[Any]") -> Array:
    """Return the concatenated elements of the result's tiles."""
    labels, columns = list(plan.labels[:2]), plan.triples().T
    result = list(plan.labels[2])
    batches = [label for label in result if label in labels[0] and label in labels[1]]
    alone = [[label for label in result if label in own and label not in batches] for own in labels]
    if result != [*batches, *alone[0], *alone[1]] and result == [*batches, *alone[1], *alone[0]]:
        # Compute right times left, whose products have the memory order of the result.
        sides, labels, alone, columns = sides[::-1], labels[::-1], alone[::-1], columns[[1, 0, 2]]
    most = labels[int(sides[1].pattern.elements > sides[0].pattern.elements)]
    summed = [label for label in most if label in labels[0] and label in labels[1] and label not in batches]
    chosen = [_used(tiles, slots) for tiles, slots in zip(sides, columns, strict=False)]
    groups = ((batches, alone[0], summed), (batches, summed, alone[1]))
    left, right = [
        matrices_of(tiles, own, group, dtype)
        for (tiles, _), own, group in zip(chosen, labels, groups, strict=True)
    ]
    target, tiles = _target(plan, [*batches, *alone[0], *alone[1]], batches, alone[0], dtype)
    if plan.count:
        triples = np.stack([chosen[0][1], chosen[1][1], columns[2]])
        add_products(left, right, target, triples, summed=bool(summed))
    return tiles.values()


def _used(tiles: PresentTiles[Any], slots: IntArray) -> tuple[PresentTiles[Any], IntArray]:
    """Return the tiles of some slots without copying others, and the slots among them."""
    used = np.zeros(tiles.pattern.count, dtype=np.bool_)
    used[slots] = True
    if tiles.table is None or used.all():
        return tiles, slots
    return tiles.take(np.flatnonzero(used)), (np.cumsum(used) - 1)[slots]


def _target(
    plan: Contraction, order: list[str], batches: list[str], rows: list[str], dtype: "np.dtype[Any]"
) -> tuple[Matrices, PresentTiles[Any]]:
    """Return memory for the result as matrices, with the modes in an order, and as tiles of the result."""
    pattern, labels = plan.stored_pattern, plan.labels[2]
    size = pattern.elements
    with memory_for(size * dtype.itemsize // 8, f"words of 8 bytes, for {size} elements of the result"):
        flat: Array = np.empty(size, dtype)
    extents = pattern.tile_extents()[:, [labels.index(label) for label in order]]
    ends = (0, len(batches), len(batches) + len(rows), len(order))
    sizes = [extents[:, start:stop].prod(axis=1) for start, stop in pairwise(ends)]
    starts = pattern.offsets()[:-1]
    held: Dense[Any] = Dense(flat)
    zero = np.zeros((), dtype)
    table = None
    if order != list(labels):
        table = (starts, row_major_table(extents)[:, [order.index(label) for label in labels]])
    tiles = PresentTiles(pattern, held, zero, None, table)
    return Matrices(flat, starts, np.stack(sizes, axis=1), turned=False), tiles


if not TYPE_CHECKING:
    contract = answered(contract)
