"""The plan of a contraction: the tiles of two patterns that meet, the tiles of the result, and the cost."""

import math
from collections.abc import Callable
from typing import Any, Final, Literal, Protocol, SupportsFloat, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import (
    ArrayState,
    array_of_state,
    array_state,
    digest_of,
    frozen_array,
    same_values,
    shown_array,
)
from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._memory import memory_for
from tensorwrapper._value_class import token_of, value_class
from tensorwrapper.errors import ConversionError, RankError
from tensorwrapper.shape.contractions._join import joined, order_of
from tensorwrapper.shape.contractions._labels import (
    ContractionLabels,
    check_tilings,
    equation_of,
    read_labels,
)
from tensorwrapper.shape.patterns._block_pattern import BlockPattern, make_block_pattern
from tensorwrapper.shape.patterns._making import to_threshold
from tensorwrapper.shape.patterns._ordinals import columns_of, numbers_of
from tensorwrapper.shape.patterns._queries import check_grid
from tensorwrapper.shape.symmetry._operations import MOST_RANK
from tensorwrapper.shape.symmetry._rules import symmetry_left
from tensorwrapper.shape.symmetry._symmetry import Symmetry, orientations
from tensorwrapper.shape.tilings._tiling import make_tiling
from tensorwrapper.typing import Extents, IntArray

_FLOPS_PER_PRODUCT: Final = 100_000
"""The cost of a product of blocks beside its arithmetic: 2.5 microseconds, at 40 operations a nanosecond."""
_ITEMSIZE: Final = 8


class HasPattern(Protocol):
    """Has a block pattern: a tensor in tiles, or the plan of one."""

    @property
    def pattern(self) -> "BlockPattern":
        """The present tiles."""
        ...


TilesLike: TypeAlias = "BlockPattern[Any] | HasPattern"
"""An operand of a plan."""


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Contraction:
    """The plan of a sum of products over labels, for tensors in tiles; made by `contraction`.

    It has no elements, so that one plan serves all tensors of these patterns. It is hashable and pickles.
    Two are equal if they have the same labels, patterns and triples.
    """

    labels: ContractionLabels
    """One label per mode: of the left operand, of the right one, and of the result."""
    left: BlockPattern
    """The pattern of the left operand."""
    right: BlockPattern
    """The pattern of the right operand."""
    pattern: BlockPattern
    """The pattern of the result: the tiles that a product of blocks reaches, and those of their orbits."""
    stored_pattern: BlockPattern
    """The tiles of the result that are computed: of a symmetric result one of each orbit, else all."""
    symmetry: Symmetry | None
    """The symmetry of the result, of plans of tensors with one; else None."""
    error_bound: float
    """The norms that `screen` dropped: the sum of the products of norms; 0.0 of a whole plan."""
    _columns: IntArray
    _whole: bool

    def __init__(
        self,
        labels: ContractionLabels,
        left: BlockPattern[Any],
        right: BlockPattern[Any],
        pattern: BlockPattern[Any],
        columns: IntArray,
        error_bound: float = 0.0,
        *,
        whole: bool = True,
        symmetry: Symmetry | None = None,
    ) -> None:
        own = {
            "labels": labels,
            "left": left,
            "right": right,
            "pattern": pattern if symmetry is None else pattern.closure(symmetry),
            "stored_pattern": pattern,
            "symmetry": symmetry,
            "error_bound": error_bound,
            "_columns": frozen_array(columns),
            "_whole": whole,
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    @property
    def equation(self) -> str:
        """The labels as text, as `contraction` reads it."""
        return equation_of(self.labels)

    @property
    def count(self) -> int:
        """The number of products of two blocks, and of triples."""
        return len(self._columns[0])

    @property
    def nbytes(self) -> int:
        """The memory of the result's stored elements, in bytes, at 8 for each."""
        return _ITEMSIZE * self.stored_pattern.elements

    @property
    def flops(self) -> int:
        """The number of additions and multiplications: of each triple twice the product of all extents.

        O(count).
        """
        left, right, _ = self.labels
        alone = [mode for mode, label in enumerate(right) if label not in left]
        ones = _volumes(self.left, range(self.left.rank))[self._columns[0]]
        others = _volumes(self.right, alone)[self._columns[1]]
        if not len(ones):
            return 0
        if int(ones.max()) * int(others.max()) * len(ones) > MAX_INT64:
            ones = ones.astype(np.object_)
        return 2 * int((ones * others).sum())

    @property
    def dense_flops(self) -> int:
        """The number of additions and multiplications with all tiles: twice the product of all extents."""
        sides = zip(self.labels[:2], (self.left, self.right), strict=True)
        extents = {
            label: partition.extent
            for labels, pattern in sides
            for label, partition in zip(labels, pattern.tiling.partitions, strict=True)
        }
        return 2 * math.prod(extents.values())

    @property
    def advice(self) -> Literal["blocks", "dense"]:
        """The faster way, by estimate: products of blocks, or one product of the dense boxes.

        A product of blocks is taken to cost 2.5 microseconds beside its arithmetic, and a nanosecond to do
        40 operations. The memory of dense boxes does not count.
        """
        blocks = self.flops + _FLOPS_PER_PRODUCT * self.count
        return "dense" if self.dense_flops < blocks else "blocks"

    def triples(self) -> IntArray:
        """Return which block of the left, times which of the right, adds to which of the result.

        Returns
        -------
        numpy.ndarray
            (count, 3) int64, read-only: slots in `left`, `right` and `stored_pattern`. They ascend by the
            slot of the result, then by that of the left, then of the right: the order of the sums.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling, contraction
        >>> cut = Tiling([1, 2], [1, 2])
        >>> p = BlockPattern(cut, [(0, 0), (0, 1), (1, 1)])
        >>> contraction("ij,jk->ik", p, p).triples().tolist()
        [[0, 0, 0], [0, 1, 1], [1, 2, 1], [2, 2, 2]]
        """
        return self._columns.T

    def screen(
        self, left_norms: npt.ArrayLike, right_norms: npt.ArrayLike, threshold: SupportsFloat
    ) -> "Contraction":
        """Return the plan without the products of blocks whose norms have a product below a threshold.

        With Frobenius norms, the norm of the difference is at most `error_bound`, because the norm of a
        product is at most the product of the norms. NaN is not below anything, and stays. O(count).

        Parameters
        ----------
        left_norms, right_norms
            A number for each tile of the grid, as `tile_norms()` has them, or for each present tile.
        threshold
            0 or more.

        Raises
        ------
        PatternError
            If the threshold is below 0, or NaN.
        RankError
            If there are neither as many norms as tiles, nor as present tiles.
        ConversionError
            If they are not real numbers.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling, contraction
        >>> cut = Tiling([1, 2], [1, 2])
        >>> p = BlockPattern(cut, [(0, 0), (0, 1), (1, 1)])
        >>> plan = contraction("ij,jk->ik", p, p).screen([2.0, 0.25, 1.0], [[2.0, 0.25], [0.0, 1.0]], 0.5)
        >>> plan.triples().tolist(), plan.error_bound
        ([[0, 0, 0], [0, 1, 1], [2, 2, 2]], 0.25)
        """
        least = to_threshold(threshold)
        sides = ((left_norms, self.left, "left"), (right_norms, self.right, "right"))
        ones, others = [_norms_of(norms, pattern, which) for norms, pattern, which in sides]
        with np.errstate(all="ignore"):
            products = ones[self._columns[0]] * others[self._columns[1]]
            gone = products < least
            lost = products[gone]
            if self.symmetry is not None:
                # What one tile loses, all tiles of its orbit do.
                lost = lost * self._orbit_sizes(self.symmetry)[self._columns[2][gone]]
            bound = self.error_bound + float(lost.sum())
        if not gone.any():
            return self
        columns = self._columns[:, ~gone]
        begins = _begins(columns[2])
        stored = self.stored_pattern
        pattern = make_block_pattern(stored.tiling, stored.ordinals()[columns[2][begins]])
        columns[2] = np.cumsum(begins) - 1
        return Contraction(
            self.labels, self.left, self.right, pattern, columns, bound, whole=False, symmetry=self.symmetry
        )

    def _orbit_sizes(self, symmetry: Symmetry) -> IntArray:
        """Return how many tiles each computed tile stands for."""
        chosen = orientations(symmetry, self.pattern.tiles()).indices
        return np.bincount(self.stored_pattern.slots(chosen), minlength=self.stored_pattern.count)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Contraction):
            return NotImplemented
        if self._facts() != other._facts():
            return False
        return self._whole or all(map(same_values, self._columns[:2], other._columns[:2]))

    def __hash__(self) -> int:
        return hash((*self._facts(), self.count))

    def _facts(self) -> tuple[object, ...]:
        return self.labels, self.left, self.right, self.error_bound, self._whole, self.symmetry

    def __dask_tokenize__(self) -> object:
        return token_of("tensorwrapper.Contraction", *self._facts(), digest_of(self._columns))

    def __repr__(self) -> str:
        dropped = f", error at most {self.error_bound:.3g}" if self.error_bound else ""
        kept = "" if self.symmetry is None else f", symmetry {self.symmetry}"
        return (
            f"<Contraction {self.equation!r}: {self.count} products of blocks to {self.stored_pattern.count} "
            f"tiles, {self.flops} flops{dropped}{kept}>"
        )

    def __reduce__(self) -> "tuple[Callable[..., Contraction], tuple[object, ...]]":
        # The triples of a whole plan are found again: the patterns are all there is to know.
        kept = None if self._whole else tuple([array_state(column) for column in self._columns[:2]])
        return _restore, (self.labels, self.left, self.right, kept, self.error_bound, self.symmetry)


def contraction(equation: str, left: TilesLike, right: TilesLike) -> Contraction:
    """Return the plan of a sum of products of two tensors in tiles: what it gives, and what it costs.

    Labels in both operands and not in the result are summed. Those in all three are batches. Those of one
    operand alone are in the result. It reads patterns alone. O(triples).

    Of tensors in tiles with a symmetry the plan has the symmetry that the result keeps. Then it computes one
    tile of each orbit: `stored_pattern`, `triples`, `flops` and `nbytes` are of these tiles.

    Parameters
    ----------
    equation
        As of `einsum_shape`, for two operands (``"ij,jk->ik"``, ``"atom,j * j,k -> atom,k"``). It has one
        label for each mode of the box, not of its tiles.
    left, right
        Block patterns, or what has a `pattern`: tensors in tiles, their boxes, or plans.

    Raises
    ------
    LabelError
        If the equation cannot be read, or a side has a label twice, or a label is in one operand alone or in
        the result alone.
    RankError
        If there are not two operands, or not as many labels as modes.
    ExtentMismatchError
        If modes with one label are cut in different ways; the text names the label and the boundary.
    ConversionError
        If an operand has no pattern.
    SizeOverflowError
        If the grid of the result has 2^63 tiles or more, or the triples are more than memory holds.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> cut = tw.Tiling([1, 2, 3], [2, 4])
    >>> p = tw.BlockPattern.from_mask(cut, [[1, 0], [0, 1], [1, 1]])
    >>> q = tw.BlockPattern.from_mask(cut, [[0, 0], [1, 1], [0, 1]])
    >>> plan = tw.contraction("ij,ik->jk", p, q)
    >>> plan
    <Contraction 'ij,ik->jk': 4 products of blocks to 3 tiles, 240 flops>
    >>> list(plan.pattern), plan.dense_flops, plan.advice
    ([(0, 1), (1, 0), (1, 1)], 432, 'dense')
    """
    ours, theirs = _pattern_of(left), _pattern_of(right)
    labels = read_labels(equation, (ours.rank, theirs.rank))
    check_tilings(labels, ours.tiling, theirs.tiling, equation)
    plan = _planned(labels, ours, theirs)
    kept = _kept(labels, left, right)
    return plan if kept is None else with_symmetry(plan, kept)


def restricted(
    plan: Contraction,
    pattern: BlockPattern[Any],
    symmetry: Symmetry | None = None,
    *,
    whole: bool = False,
) -> Contraction:
    """Return the plan of some tiles of the result."""
    slots = pattern.slots_of_ordinals(plan.stored_pattern.ordinals())[plan.triples()[:, 2]]
    columns = plan.triples().T[:, slots >= 0]
    columns[2] = slots[slots >= 0]
    return Contraction(
        plan.labels,
        plan.left,
        plan.right,
        pattern,
        columns,
        plan.error_bound,
        whole=whole,
        symmetry=symmetry,
    )


def with_symmetry(plan: Contraction, symmetry: Symmetry) -> Contraction:
    """Return the plan of one tile of each orbit of the result, of a plan of all tiles."""
    every = plan.pattern
    pattern = every - every if symmetry.is_zero else every.unique(symmetry)
    return restricted(plan, pattern, symmetry, whole=plan._whole)


def _kept(labels: ContractionLabels, left: object, right: object) -> Symmetry | None:
    """Return the symmetry that the result of two operands keeps, if any."""
    sides: list[Any] = [left, right]
    known = [getattr(own, "symmetry", None) for own in sides]
    if known == [None, None] or not labels[2] or max(map(len, labels)) > MOST_RANK:
        return None
    dtypes: list[np.dtype[Any]] = [getattr(own, "dtype", np.dtype(np.float64)) for own in sides]
    ranks = zip(known, labels, strict=False)
    own = [Symmetry(len(names)) if found is None else found for found, names in ranks]
    kept = symmetry_left(own, dtypes, labels, np.result_type(*dtypes), same=left is right)
    return None if kept.is_trivial else kept


def _pattern_of(operand: object) -> BlockPattern:
    if isinstance(operand, BlockPattern):
        return cast("BlockPattern", operand)
    given: Any = operand
    found: object = getattr(given, "pattern", None)
    if not isinstance(found, BlockPattern):
        raise ConversionError(
            "a contraction is of block patterns, or of tensors in tiles as `t.tiled(tw.Tiling([2], [3]))`, "
            f"not of {brief(operand)} ({type(operand).__name__})"
        )
    return cast("BlockPattern", found)


def _planned(labels: ContractionLabels, left: BlockPattern[Any], right: BlockPattern[Any]) -> Contraction:
    shared = [label for label in labels[0] if label in labels[1]]
    extents = tuple([left.grid.extents[labels[0].index(label)] for label in shared])
    keys = [
        _numbers(pattern, own, shared, extents) for own, pattern in zip(labels, (left, right), strict=False)
    ]
    ones, others = joined(keys[0], keys[1], math.prod(extents))
    return _of_pairs(labels, left, right, ones, others)


def _of_pairs(
    labels: ContractionLabels,
    left: BlockPattern[Any],
    right: BlockPattern[Any],
    ones: IntArray,
    others: IntArray,
    error_bound: float = 0.0,
    *,
    whole: bool = True,
) -> Contraction:
    """Return the plan of these products of blocks, which come by the slot of the left, then of the right."""
    partitions = {
        label: partition
        for own, pattern in ((labels[1], right), (labels[0], left))
        for label, partition in zip(own, pattern.tiling.partitions, strict=True)
    }
    tiling = make_tiling(tuple([partitions[label] for label in labels[2]]))
    extents = check_grid(tiling)
    count = len(ones)
    with memory_for(3 * count, "numbers of tiles that meet"):
        numbers = _numbers(left, labels[0], labels[2], extents)[ones]
        alone = [label if label not in labels[0] else "" for label in labels[2]]
        numbers += _numbers(right, labels[1], alone, extents)[others]
        columns = np.empty((3, count), dtype=np.int64)
        order = order_of(numbers, math.prod(extents))
        if order is None:
            columns[0], columns[1] = ones, others
        else:
            for column, values in zip(columns, (ones, others), strict=False):
                np.take(values, order, out=column)
            numbers = numbers[order]
        begins = _begins(numbers)
        np.cumsum(begins, out=columns[2])
        columns[2] -= 1
        pattern = make_block_pattern(tiling, numbers[begins])
    return Contraction(labels, left, right, pattern, columns, error_bound, whole=whole)


def _numbers(
    pattern: BlockPattern[Any], own: tuple[str, ...], labels: "list[str] | tuple[str, ...]", extents: Extents
) -> IntArray:
    """Return for each present tile its number in the grid of some labels: 0 along those that it has not."""
    columns = columns_of(pattern.ordinals(), pattern.grid.extents)
    nothing = np.zeros((), dtype=np.int64)
    chosen = [columns[own.index(label)] if label in own else nothing for label in labels]
    return numbers_of(chosen, extents, (pattern.count,))


def _begins(numbers: IntArray) -> npt.NDArray[np.bool_]:
    """Return for each of some numbers, equal ones side by side, whether it differs from the one before."""
    begins = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=begins[1:])
    return begins


def _volumes(pattern: BlockPattern[Any], modes: "range | list[int]") -> npt.NDArray[Any]:
    """Return the product of some extents of each present tile: of int64, or of Python integers."""
    sizes, columns = pattern.tiling.sizes, columns_of(pattern.ordinals(), pattern.grid.extents)
    largest = math.prod([max(int(sizes[mode].max(initial=0)), 1) for mode in modes])
    volumes: npt.NDArray[Any] = np.ones(pattern.count, dtype=np.int64 if largest <= MAX_INT64 else np.object_)
    for mode in modes:
        volumes = volumes * sizes[mode][columns[mode]]
    return volumes


def _norms_of(norms: npt.ArrayLike, pattern: BlockPattern[Any], which: str) -> npt.NDArray[np.float64]:
    """Return a norm for each present tile, of as many or of one for each tile of the grid."""
    given = shown_array(norms)
    if given.dtype.kind not in "iufb":
        raise ConversionError(f"norms are real numbers, not {given.dtype}")
    values = given.astype(np.float64, copy=False)
    if values.shape == (pattern.count,):
        return values
    if values.shape != pattern.grid.extents:
        raise RankError(
            f"norms of the {which} operand are one for each of {pattern.count} present tiles, or of the "
            f"extents {pattern.grid.extents} of the grid, not of {values.shape}"
        )
    return values.reshape(-1)[pattern.ordinals()]


def _restore(
    labels: ContractionLabels,
    left: BlockPattern[Any],
    right: BlockPattern[Any],
    kept: "tuple[ArrayState, ArrayState] | None",
    error_bound: float,
    symmetry: Symmetry | None = None,
) -> Contraction:
    if kept is None:
        plan = _planned(labels, left, right)
        return plan if symmetry is None else with_symmetry(plan, symmetry)
    ones, others = [array_of_state(state, 0) for state in kept]
    plan = _of_pairs(labels, left, right, ones, others, error_bound, whole=False)
    return plan if symmetry is None else restricted(plan, plan.pattern, symmetry)
