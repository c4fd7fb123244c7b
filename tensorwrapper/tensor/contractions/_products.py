"""Sums of products of blocks, computed one by one or in batches of one size."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorwrapper._arrays import ranked
from tensorwrapper.buffer.lowlevel import assign_indexed, index_elements
from tensorwrapper.tensor.contractions._matrices import Matrices, Stacks
from tensorwrapper.typing import Array, IntArray

_UNIFORM: Final = 4096, 32
"""Products with at most this many multiplications are batched, if more than this many have one size.

The first number is a product of 16 x 16 by 16 x 16, the second the cost of a batch beside its products.
"""
_MIXED: Final = 512, 64
"""The same where tiles differ in size, and are copied side by side before."""
_STEP: Final = 1 << 16
"""Products whose numbers Python has at a time."""
_CHUNK: Final = 1 << 16
"""Elements of operands and results in a batch: they stay in cache."""


def add_products(
    left: Matrices, right: Matrices, result: Matrices, triples: IntArray, *, summed: bool
) -> None:
    """Write the sums of products of tiles: (3, n) slots, those of the result ascend and are all there.

    A tile gets its large products first, then its small ones, each in the order given.

    Parameters
    ----------
    left, right, result
        The tiles: the columns of the left are the rows of the right.
    triples
        Slots of the left, of the right, and of the result.
    summed
        Whether columns and rows have labels: else there is one of each.
    """
    matrices = (left, right, result)
    batched = bool((left.sizes[:, 0] != 1).any() or (right.sizes[:, 0] != 1).any())
    multiply: Callable[..., Any] = np.matmul if summed else np.multiply
    most, few = _UNIFORM if all(own.is_uniform for own in matrices) else _MIXED
    volumes = left.sizes.prod(axis=1)[triples[0]] * right.sizes[:, 2][triples[1]]
    small = np.flatnonzero(volumes <= most)
    kinds: list[IntArray] = []
    batches: list[IntArray] = []
    if len(small) > few:
        kinds = [own.kinds() for own in matrices]
        batches = _batches(kinds, triples, small, few)
    if batches:
        result.flat.fill(0)
    alone = np.ones(len(volumes), dtype=np.bool_)
    for batch in batches:
        alone[batch] = False
    _add_one_by_one(
        np.dot if summed and not batched else multiply,
        matrices,
        triples[:, alone] if batches else triples,
        batched=batched,
    )
    if batches:
        together = triples[:, ~alone]
        stacks = [Stacks(*own) for own in zip(matrices, kinds, together, strict=True)]
        for batch in batches:
            _add_together(multiply, stacks, triples[:, batch])
        stacks[2].write_back()


def _batches(kinds: list[IntArray], triples: IntArray, small: IntArray, few: int) -> list[IntArray]:
    """Return batches of small products of one size, each for a different result tile."""
    targets = triples[2]
    begins = np.flatnonzero(np.append(True, targets[1:] != targets[:-1]))
    counts = np.diff(np.append(begins, len(targets)))
    groups = (np.arange(len(targets)) - np.repeat(begins, counts))[small]
    for own, slots in zip(kinds[:2], triples, strict=False):
        if own.any():
            _, groups = ranked(groups * (int(own.max()) + 1) + own[slots[small]])
    # NumPy sorts short integers in a tenth of the time.
    order = np.argsort(groups.astype(np.uint16) if groups.max() < 2**16 else groups, kind="stable")
    ends = np.cumsum(np.bincount(groups)).tolist()
    runs = zip([0, *ends], ends, strict=False)
    return [small[order[start:stop]] for start, stop in runs if stop - start > few]


def _add_together(multiply: Callable[..., Any], stacks: list[Stacks], triples: IntArray) -> None:
    """Add many products of one size, each to another tile."""
    kinds = [int(own.kinds[slots[0]]) for own, slots in zip(stacks, triples, strict=True)]
    left, right, result = stacks
    target = result.stack(kinds[2])
    volume = sum(stack.stack(kind).shape[1] for stack, kind in zip(stacks, kinds, strict=True))
    step = max(1, _CHUNK // max(volume, 1))
    for start in range(0, triples.shape[1], step):
        ones, others, slots = triples[:, start : start + step]
        products: Array = multiply(left.chosen(kinds[0], ones), right.chosen(kinds[1], others))
        rows = result.rows[slots]
        sums = index_elements(target, (rows,))
        np.add(sums, products.reshape(sums.shape), out=sums)
        assign_indexed(target, (rows,), sums)


def _add_one_by_one(
    multiply: Callable[..., Any],
    matrices: tuple[Matrices, Matrices, Matrices],
    triples: IntArray,
    *,
    batched: bool,
) -> None:
    """Add products of any sizes: the first product of a tile is written directly, others through an array."""
    count = triples.shape[1]
    if not count:
        return
    columns: list[tuple[list[Array], IntArray]] = []
    for own, slots in zip(matrices, triples, strict=True):
        distinct, ranks = ranked(slots)
        columns.append((own.views(distinct, batched=batched), ranks))
    spaces: dict[tuple[int, ...], Array] = {}
    last: Array = np.empty(0)
    add: Callable[..., Any] = np.add
    tile: Array
    for start in range(0, count, _STEP):
        parts = [map(views.__getitem__, ranks[start : start + _STEP].tolist()) for views, ranks in columns]
        for left, right, tile in zip(*parts, strict=True):
            if tile is not last:
                multiply(left, right, out=tile)
                last = tile
                continue
            space = spaces.get(tile.shape)
            if space is None:
                space = spaces[tile.shape] = np.empty_like(tile)
            multiply(left, right, out=space)
            add(tile, space, out=tile)
