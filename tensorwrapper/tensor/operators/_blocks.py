"""Ufuncs of block-sparse tensors, applied to the fills and to tiles present in any operand.

A product with zero is zero if the other side is finite. So a product has the tiles of both sides, and those
of one side with an element that is not finite. Results equal those of dense arrays.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import different
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import Blocks, BufferCommon
from tensorwrapper.buffer.lowlevel import (
    PresentTiles,
    as_dense,
    check_dtype,
    is_fill,
    make_symmetric_blocks,
    put_tiles,
    volume_of_tiles,
)
from tensorwrapper.errors import ConversionError, ExtentMismatchError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import BlockPattern, Shape
from tensorwrapper.shape.lowlevel import has_tiles, make_block_pattern, names_of
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._operand import Operand
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.operators._shapes import leading_modes, shape_of
from tensorwrapper.tensor.rows._tile_blocks import elements_of_tiles
from tensorwrapper.typing import Array, IntArray

if TYPE_CHECKING:
    from tensorwrapper.shape import Symmetry

_ABSORBING: Final = frozenset(("multiply", "logical_and", "bitwise_and"))
"""Ufuncs that are zero where one operand is zero and the other finite."""

_QUOTIENTS: Final = frozenset(("divide", "floor_divide", "remainder", "fmod"))
"""Ufuncs that are zero where the first side is zero, unless the second is zero or not finite."""


@final
@frozen(eq=False)
class _Side:
    """An operand: a number, or an object with elements for any tiles of the result."""

    number: Any = None
    tiles: PresentTiles[Any] | None = None
    per_tile: Array | None = None
    """One number for each tile of the grid."""
    dense: TensorBase[Any] | None = None
    """A tensor that has all tiles."""

    def at(self, pattern: BlockPattern[Any]) -> Any:  # noqa: ANN401 - an array, or a number as it is
        """Return the concatenated elements of a pattern's tiles."""
        if self.tiles is not None:
            return self.tiles.at(pattern)
        if self.per_tile is not None:
            return np.repeat(self.per_tile[pattern.ordinals()], pattern.volumes())
        if self.dense is not None:
            return elements_of_tiles(self.dense, pattern)
        return self.number

    def fill(self) -> Any:  # noqa: ANN401 - a number
        """Return the element of absent tiles; of an operand with all tiles a one, for its type."""
        if self.tiles is not None:
            return self.tiles.fill
        known = self.per_tile if self.dense is None else self.dense
        return self.number if known is None else np.ones((), known.dtype)

    def has_all(self) -> bool:
        """Return True if it has an element everywhere."""
        return self.per_tile is not None or self.dense is not None


def compute_blocks(
    function: Any,  # noqa: ANN401 - any function of arrays
    operands: list[Operand],
    name: str,
) -> "tuple[TensorBase[Any], ...] | None":
    """Return the block-sparse tensors of a ufunc, or of a function that goes element by element as one does.

    None if this goes by elements that are stored, as of sparse tensors.

    That is if an operand is sparse, or one in blocks is stretched. Linear in the elements of the result's
    tiles.

    Raises
    ------
    ExtentMismatchError
        If two operands are cut into other tiles.
    ConversionError
        If a dense operand would make all tiles of the result present.
    """
    seen = [_tiles_of(own) for own in operands]
    cuts = [own for own in seen if own is not None]
    if not cuts or any(map(_is_sparse, operands, seen)):
        return None
    _check_tilings(cuts, name)
    _check_boxes(operands, seen, name)
    shape, rows = shape_of(operands, name)
    reference = cuts[0]
    if any((own.first is not None) != (rows is not None) for own in cuts) or any(
        own.pattern.tiling.elements.extents != reference.pattern.tiling.elements.extents for own in cuts
    ):
        return None
    if rows is None and shape.extents != reference.pattern.tiling.elements.extents:
        return None
    make = next(own for own in operands if isinstance(own, TensorBase) and own.shape.rank)._make
    sides = [
        _side(own, tiles, reference, shape, make, (name, number))
        for number, (own, tiles) in enumerate(zip(operands, seen, strict=True))
    ]
    with refusals(name):
        # The function is called with zeros to find the tiles of the result.
        pattern = _pattern_of(function, name, sides, reference)
    kept = _kept_symmetry(operands, seen, name)
    with refusals(name):
        with np.errstate(all="ignore"):
            # The fill of absent tiles shall not warn of 0 / 0.
            fills = _several(function(*[own.fill() for own in sides]))
        if kept is not None:
            kept = _for_types(kept, fills)
        if kept is not None:
            pattern = pattern.unique(kept)
        results = _results(function, sides, pattern)
    layout = reference.over(pattern).layout(names_of(shape))
    return tuple([make(layout, _blocks(pattern, *own, kept)) for own in zip(results, fills, strict=True)])


def _several(found: Any) -> "tuple[Array, ...]":  # noqa: ANN401 - one array or more
    return tuple(map(np.asarray, cast("Iterable[Any]", found if isinstance(found, tuple) else (found,))))


def _results(
    function: Any,  # noqa: ANN401
    sides: list[_Side],
    pattern: BlockPattern[Any],
) -> "tuple[Array, ...]":
    """Return the results of a function of operands in the tiles of a pattern."""
    cuts = [own.tiles for own in sides if own.tiles is not None]
    # For tiles of several sizes the masks cost more than the memory: twice the time in tiles of 1, 3 and 5.
    if volume_of_tiles(pattern) and len(sides) == 2 == len(cuts) and cuts[0].pattern != cuts[1].pattern:
        return _merged(function, cuts[0], cuts[1], pattern)
    return _several(function(*[own.at(pattern) for own in sides]))


def _merged(
    function: Any,  # noqa: ANN401
    one: PresentTiles[Any],
    other: PresentTiles[Any],
    pattern: BlockPattern[Any],
) -> "tuple[Array, ...]":
    """Return the results of a function of two operands of other tiles: of each alone, and where both are.

    Expanding each side to all tiles would double the memory traffic, which dominates the time.
    """
    sides = [(own, has_tiles(pattern, own.pattern)) for own in (one, other)]
    results: tuple[Array, ...] = ()
    for wanted in ((True, True), (True, False), (False, True)):
        chosen = (sides[0][1] == wanted[0]) & (sides[1][1] == wanted[1])
        parts = [
            own.values_of(_among(own.pattern, pattern, chosen)) if there else own.fill
            for (own, _), there in zip(sides, wanted, strict=True)
        ]
        found = _several(
            function(*parts, **_into_copy(function, parts, sides[wanted.index(True)][0], wanted, results))
        )
        results = results or tuple([np.empty(pattern.elements, own.dtype) for own in found])
        for result, own in zip(results, found, strict=True):
            put_tiles(result, chosen, own, pattern)
    return results


def _into_copy(
    function: Any,  # noqa: ANN401
    parts: "list[Any]",
    side: PresentTiles[Any],
    wanted: tuple[bool, bool],
    results: "tuple[Array, ...]",
) -> dict[str, Any]:
    """Return the option of a ufunc that writes into a part that is a copy already: half of a sum's time."""
    part = parts[wanted.index(True)]
    fits = len(results) == 1 and isinstance(function, partial) and part.dtype == results[0].dtype
    # Views without elements share no memory, and may be read-only.
    own = fits and part.flags.writeable and not np.may_share_memory(part, side.held.flat)
    return {"out": part} if own else {}


def _among(
    own: BlockPattern[Any], pattern: BlockPattern[Any], chosen: "npt.NDArray[np.bool_]"
) -> "npt.NDArray[np.bool_]":
    """Return for each tile of a pattern whether it is among the chosen ones of another."""
    return has_tiles(own, make_block_pattern(pattern.tiling, pattern.ordinals()[chosen]))


def _kept_symmetry(
    operands: list[Operand], seen: "Sequence[PresentTiles[Any] | None]", name: str
) -> "Symmetry | None":
    """Return the symmetry of a result; None unless all operands with modes are symmetric."""
    tensors = [own for own in operands if isinstance(own, TensorBase) and own.shape.rank]
    if not all(own.buffer.stores_orbits for own in tensors) or any(
        np.ndim(cast("Any", own)) for own in operands if not isinstance(own, TensorBase)
    ):
        return None
    known = [own.buffer.symmetry_of(own.layout.implementation) for own in tensors]
    symmetries = [own for own in known if own is not None]
    if len(symmetries) < len(tensors) or len({own.rank for own in symmetries}) > 1:
        return None
    # Loaded here: few tensors are symmetric.
    from tensorwrapper.tensor.operators._symmetric import surviving  # noqa: PLC0415

    def is_finite() -> bool:
        return all(np.isfinite(own.values()).all() for own in seen if own is not None)

    kept = surviving(name, operands, tensors, symmetries, is_finite)
    return None if kept.is_trivial or kept.is_zero else kept


def _for_types(kept: "Symmetry", fills: "tuple[Array, ...]") -> "Symmetry | None":
    """Return the symmetry that results of some types keep, or None."""
    if not all(own.dtype.kind == "c" for own in fills):
        kept = kept.real
    if not all(own.dtype.kind in "ifcm" for own in fills):
        kept = kept.positive
    return None if kept.is_trivial or kept.is_zero else kept


def _blocks(
    pattern: BlockPattern[Any], result: Array, fill: Array, kept: "Symmetry | None" = None
) -> BufferCommon[Any]:
    check_dtype(result.dtype)
    if kept is not None:
        return make_symmetric_blocks(pattern, result, kept, fill.astype(result.dtype))
    return Blocks(pattern, result, fill_value=fill.astype(result.dtype))


def _tiles_of(operand: Operand) -> PresentTiles[Any] | None:
    if not isinstance(operand, TensorBase) or not operand.shape.rank:
        return None
    return operand.buffer.tiles_of(operand.layout.implementation)


def _is_sparse(operand: Operand, tiles: PresentTiles[Any] | None) -> bool:
    return isinstance(operand, TensorBase) and tiles is None and operand.buffer.fill_value is not None


def _check_tilings(cuts: Sequence[PresentTiles[Any]], name: str) -> None:
    """Raise if boxes of the same extents have different tilings."""
    one = cuts[0].pattern.tiling
    for other in [own.pattern.tiling for own in cuts[1:]]:
        if one.elements.extents != other.elements.extents:
            continue
        for mode, (mine, theirs) in enumerate(zip(one.partitions, other.partitions, strict=True)):
            if not mine.is_congruent(theirs):
                at, ends = _first_odd(mine.starts, theirs.starts)
                raise ExtentMismatchError(
                    f"{name}: the tiles of mode {mode} differ at boundary {at}, which is {ends}: "
                    "retiled(tiling) cuts one as the other"
                )


def _check_boxes(operands: list[Operand], seen: "Sequence[PresentTiles[Any] | None]", name: str) -> None:
    """Raise if one operand is tiled, and another is the box of such tiles."""
    first, tiled = next((n, own) for n, own in enumerate(seen) if own is not None)
    elements, grid = tiled.pattern.tiling.elements.extents, tiled.pattern.grid.extents
    for number, own in enumerate(operands):
        given = own.shape if isinstance(own, TensorBase) else None
        if (
            tiled.first is not None
            and given is not None
            and given.is_box
            and given.extents == elements != grid
        ):
            raise ExtentMismatchError(
                f"{name}: operand {first} is tiled, and operand {number} the box of {elements}: t.untiled() "
                f"of the one, or tiled(tiling) of the other. Numbers for tiles have the extents {grid}"
            )


def _first_odd(one: IntArray, other: IntArray) -> tuple[int, str]:
    """Return the number of the first boundary that differs, and both values there."""
    common = min(len(one), len(other))
    odd = np.flatnonzero(one[:common] != other[:common])
    at = int(odd[0]) if len(odd) else common
    ends = [str(int(own[at])) if at < len(own) else "none" for own in (one, other)]
    return at, " and ".join(ends)


def _side(
    operand: Operand,
    tiles: PresentTiles[Any] | None,
    reference: PresentTiles[Any],
    shape: Shape[Any],
    make: "Callable[[Layout[Any], BufferCommon[Any]], TensorBase[Any]]",
    where: tuple[str, int],
) -> _Side:
    """Return an operand aligned with the tiles of the reference, which has the result's shape."""
    if tiles is not None:
        return _Side(tiles=tiles)
    if not (operand.shape.rank if isinstance(operand, TensorBase) else np.ndim(operand)):
        return _Side(number=np.asarray(operand) if isinstance(operand, TensorBase) else operand)
    tiling = reference.pattern.tiling
    if reference.first is not None:
        modes, rank = leading_modes(operand, shape.flatten(), where[0]), tiling.rank
        if modes <= rank:
            numbers = np.asarray(operand._flat() if isinstance(operand, TensorBase) else operand)
            grid = tiling.grid.extents
            whole = np.broadcast_to(numbers.reshape(grid[:modes] + (1,) * (rank - modes)), grid)
            return _Side(per_tile=whole.reshape(-1))
        if modes == 2 * rank and isinstance(operand, TensorBase):
            return _Side(dense=operand)
        raise _has_all_tiles(*where)
    if (
        isinstance(operand, TensorBase)
        and operand.buffer.stores_orbits
        and operand.shape.extents == shape.extents
    ):
        # Packed elements are found tile by tile, and are not unpacked for it.
        box: Any = operand._flat()
        return _Side(dense=box.translate_to(tiling.origin).tiled(tiling))
    array = np.asarray(operand._flat() if isinstance(operand, TensorBase) else operand)
    buffer, strides, offset = as_dense(np.broadcast_to(array, shape.extents))
    layout: Layout[Any] = Layout(Shape(*shape.extents), strides=strides, offset=offset)
    return _Side(dense=make(layout.translate_to(tiling.origin).as_tiled(tiling), buffer))


def _has_all_tiles(name: str, number: int) -> ConversionError:
    return ConversionError(
        f"{name}: operand {number} is dense, and would make all tiles of the result present; beside tensors "
        "in blocks a dense one is a factor or a divisor: to_dense() has all elements of the others, and "
        "keep_tiles(pattern) of a dense tensor in tiles has few of this one"
    )


def _pattern_of(
    function: Any,  # noqa: ANN401
    name: str,
    sides: list[_Side],
    reference: PresentTiles[Any],
) -> BlockPattern[Any]:
    """Return the present tiles of a result; all others are the function of the fills."""
    tiling = reference.pattern.tiling
    patterns = [
        make_block_pattern(tiling, own.tiles.pattern.ordinals()) for own in sides if own.tiles is not None
    ]
    union = patterns[0]
    for pattern in patterns[1:]:
        union = union | pattern
    zeros = not any(own.tiles.fill.any() for own in sides if own.tiles is not None)
    everywhere = [own for own in sides if own.has_all()]
    if everywhere:
        quotient = name in _QUOTIENTS and not sides[0].has_all()
        if not zeros or not (name in _ABSORBING or quotient):
            raise _has_all_tiles(name, sides.index(everywhere[0]))
        return union | _not_zero(function, sides, everywhere[0], union)
    if name not in _ABSORBING or not zeros or len(patterns) < 2:
        return union
    common = patterns[0] & patterns[1]
    for own in sides:
        if own.tiles is not None and own.tiles.pattern.count > len(common):
            common = common | _not_absorbed(function, sides, own.tiles, common)
    return common


def _not_absorbed(
    function: Any,  # noqa: ANN401
    sides: list[_Side],
    tiles: PresentTiles[Any],
    common: BlockPattern[Any],
) -> BlockPattern[Any]:
    """Return the tiles of only one side that stay nonzero when multiplied by zero; O(elements)."""
    alone = ~has_tiles(tiles.pattern, common)
    values = tiles.values_of(alone)
    pattern = make_block_pattern(common.tiling, tiles.pattern.ordinals()[alone])
    if values.dtype.kind in "biu":
        return pattern - pattern
    with np.errstate(all="ignore"):
        made = np.asarray(function(*[values if own.tiles is tiles else own.fill() for own in sides]))
    odd = np.flatnonzero(~is_fill(made, np.zeros((), made.dtype)))
    slots = different(np.searchsorted(pattern.offsets(), odd, "right") - 1)
    return make_block_pattern(common.tiling, pattern.ordinals()[slots])


def _not_zero(
    function: Any,  # noqa: ANN401
    sides: list[_Side],
    side: _Side,
    union: BlockPattern[Any],
) -> BlockPattern[Any]:
    """Return the other tiles of a dense operand that stay nonzero when multiplied by zero."""
    elements: Array = side.dense.elements() if side.dense is not None else cast("Array", side.per_tile)
    with np.errstate(all="ignore"):
        made = np.asarray(function(*[elements if own is side else own.fill() for own in sides]))
    odd = np.flatnonzero(~is_fill(made, np.zeros((), made.dtype)))
    if side.dense is not None and len(odd):
        # The elements of a tiled shape are ordered tile by tile.
        odd = different(np.searchsorted(BlockPattern(union.tiling).offsets(), odd, "right") - 1)
    return (make_block_pattern(union.tiling, odd) - union).nonempty()
