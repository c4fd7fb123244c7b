"""One rule for operands: which shapes fit one another in a call by elements, and the shape of its result.

Tensors, views, NumPy's protocols, Dask and servers all ask here. Boxes broadcast as NumPy does, from the last
mode on. Beside a jagged or tiled shape, the *reference*, an operand has its extents, or those of its first
modes: then it is one number per row, cell or tile.
"""

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, TypeAlias, cast, final

import numpy as np

from tensorwrapper._error_text import counted
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ExtentMismatchError, LayerError, ModeNameError
from tensorwrapper.shape._shape import Shape, unnamed_shape, wrap
from tensorwrapper.shape._shape_base import names_of
from tensorwrapper.shape.boxes._smooth import make_smooth
from tensorwrapper.shape.facade._cells import rows_under
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.typing import Extents, Index, IntArray


@final
@frozen
class UnplacedShape:
    """A shape of rows that lie nowhere, as lists and arrays of other libraries do."""

    shape: Shape[Any]


GivenShape: TypeAlias = "Shape[Any] | UnplacedShape | Extents"
"""The shape of an operand; of an array, a list or a number only extents, since these lie nowhere."""

_compared: "tuple[Callable[[], object], Callable[[], object], bool]" = (bool, bool, False)
"""The two shapes that met last, and whether they are the same: in a chain of calls they meet again."""


def fit_operands(given: Sequence[GivenShape], what: str) -> "tuple[Shape[Any], list[int] | None]":
    """Return the shape of a result, and for each operand how many modes it shares with it.

    Parameters
    ----------
    given
        The shapes of the operands.
    what
        The call, for errors.

    Returns
    -------
    shape
        With the origin, the names and the layers that the operands agree on.
    modes
        The rank of the result for an operand of all its elements, less for one number per prefix of so many
        indices, 0 for a single number. None if all operands are boxes, which broadcast.

    Raises
    ------
    ExtentMismatchError
        If the extents do not fit, or operands lie elsewhere.
    LayerError, ModeNameError
        If layers or names differ.

    Examples
    --------
    >>> fit_operands([Shape.jagged([2, 0]), (2,), ()], "add")
    (Shape.jagged([2, 0]), [2, 1, 0])
    """
    number = reference_among(given)
    if number is None:
        return fit_box(given, what), None
    first = given[number]
    flat = unnamed_shape(_shape_of(first)).flatten()
    modes: list[int] = []
    for own in given:
        if own is first:
            modes.append(flat.rank)
        else:
            modes.append(fit_leading_modes(own, flat, what) if _rank_of(own) else 0)
    return shape_of_rows(given, number, what), modes


def fit_into(given: GivenShape, target: Shape[Any], what: str) -> "int | None":
    """Return how many modes an operand of ``accumulate_into`` shares with its target, as `fit_operands`.

    The target is not stretched: it has the shape of the result. None if both are boxes.

    Raises
    ------
    ExtentMismatchError
        If the extents or origins do not fit, or the operand has elements outside of the target.
    LayerError, ModeNameError
        If layers or names differ.

    Examples
    --------
    >>> fit_into((2,), Shape.jagged([2, 0]), "add"), fit_into((3,), Shape(2, 3), "add")
    (1, None)
    """
    result, modes = fit_operands([target, given], what)
    if modes is None:
        fits = result.extents == target.extents
    else:
        # Beside rows, a box is the target only if the rows have the same extents.
        fits = modes[0] == result.rank and target.rank == result.rank
    if not fits:
        raise ExtentMismatchError(
            f"{what}: {_as_shape(given)!r} does not go into {target!r}, which is stretched to nothing"
        )
    return None if modes is None else modes[1]


def _as_shape(given: GivenShape) -> Shape[Any]:
    return Shape(*given) if isinstance(given, tuple) else _shape_of(given)


def reference_among(given: Sequence[GivenShape]) -> int | None:
    """Return the number of the jagged or tiled operand of highest rank, the first of several; else None."""
    found, highest = None, (0, True)
    for number, own in enumerate(given):
        if not isinstance(own, tuple):
            shape = _shape_of(own)
            # If two have the same number of modes, the one with an origin determines that of the result.
            order = shape.rank, isinstance(own, Shape)
            if order > highest and not shape.flatten().is_box:
                found, highest = number, order
    return found


def _shape_of(given: GivenShape) -> Shape[Any]:
    return given.shape if isinstance(given, UnplacedShape) else cast("Shape[Any]", given)


def _rank_of(given: GivenShape) -> int:
    return len(given) if isinstance(given, tuple) else _shape_of(given).rank


# Boxes.


def fit_box(given: Sequence[GivenShape], what: str) -> Shape[Any]:
    """Return the box that boxes broadcast to, with the origin, names and layers that they agree on.

    Raises
    ------
    ExtentMismatchError
        If extents do not broadcast, or a mode starts elsewhere in two operands.
    LayerError, ModeNameError
        If layers or names differ.
    """
    shapes = [own for own in given if isinstance(own, Shape) and own.rank]
    if shapes and len(shapes) == len(given) and all(own is shapes[0] for own in shapes):
        return shapes[0]
    all_extents = [own if isinstance(own, tuple) else _shape_of(own).extents for own in given]
    extents = _broadcast(all_extents, what)
    origin: list[int | None] = [None] * len(extents)
    for shape in shapes:
        behind = len(extents) - shape.rank
        for mode, (extent, start) in enumerate(zip(shape.extents, shape.origin, strict=True), behind):
            if extent != extents[mode]:
                continue  # stretched: its one index stands for all
            if origin[mode] not in (None, start):
                raise _other_origin(what, mode, cast("int", origin[mode]), start)
            origin[mode] = start
    result = wrap(make_smooth(extents, tuple([start or 0 for start in origin])))
    # Numbers in layers without modes are what they are beside other numbers.
    facts = [_shape_of(own) for own in given if not isinstance(own, tuple) and (_rank_of(own) or not extents)]
    return _with_facts(result, facts, what) if facts else result


def _broadcast(given: Sequence[Extents], what: str) -> Extents:
    # Most are alike, beside numbers: NumPy makes an array of each.
    distinct = {*given, ()}
    if len(distinct) <= 2:
        return max(distinct, key=len)
    try:
        return np.broadcast_shapes(*given)
    except ValueError as error:
        raise ExtentMismatchError(f"{what}: extents {list(given)} do not broadcast, as {_ALIGNED}") from error


def _with_facts(shape: Shape[Any], shapes: Sequence[Shape[Any]], what: str) -> Shape[Any]:
    """Return a shape with the names and the layers of the operands, of which it is the result."""
    names: list[str | None] = [None] * shape.rank
    layers: tuple[int, ...] | None = None
    for own in shapes:
        if names_of(own) is not None:
            for mode, label in enumerate(own.names, shape.rank - own.rank if shape.is_box else 0):
                if label is not None and names[mode] not in (None, label):
                    raise ModeNameError(
                        f"{what}: mode {mode} is {names[mode]!r} in one operand and {label!r} in another"
                    )
                names[mode] = label or names[mode]
        if own.has_layers:
            if own.rank != shape.rank or layers not in (None, own.layers):
                raise LayerError(
                    f"{what}: the layers of {own} are not those of "
                    f"{shape if own.rank != shape.rank else layers}; flatten() drops them"
                )
            layers = own.layers
    if layers is not None:
        shape = Shape.nested(shape, layers=layers)
    return shape.named(*names) if any(label is not None for label in names) else shape


def _other_origin(what: str, mode: int, one: int, other: int) -> ExtentMismatchError:
    return ExtentMismatchError(
        f"{what}: mode {mode} starts at {one} in one operand and at {other} in another; "
        "t[...] of each starts at zero and combines by position"
    )


# Rows, cells and tiles.


def shape_of_rows(given: Sequence[GivenShape], number: int, what: str) -> Shape[Any]:
    """Return the shape of the reference, an operand by its number, with the names and layers of all."""
    shape = _shape_of(given[number])
    shapes = [_shape_of(own) for own in given if not isinstance(own, tuple)]
    if all(own is shape for own in shapes):
        return shape
    if not any(names_of(own) is not None or own.has_layers for own in (shape, *shapes)):
        return shape
    return _with_facts(unnamed_shape(shape).flatten(), [own for own in shapes if own.rank], what)


def fit_leading_modes(given: GivenShape, reference: Shape[Any], what: str) -> int:
    """Return of how many modes of the reference an operand has the shape; its rank for the whole of it.

    Modes of extent 1 behind the first ones mean the same as none, as in NumPy's ``x[:, None]``.

    Raises
    ------
    ExtentMismatchError
        If it has another shape.
    """
    if isinstance(given, tuple):
        shape, extents, origin = None, given, None
    else:
        shape = unnamed_shape(_shape_of(given)).flatten()
        placed = not isinstance(given, UnplacedShape)
        rank, most = shape.rank, reference.rank
        if rank <= most:
            leading = reference if rank == most else reference.leading(rank)
            if has_same_rows(shape, leading, placed=placed):
                return rank
        if not shape.is_box:
            raise _no_prefix(shape, reference, what)
        extents, origin = shape.extents, shape.origin if placed else None
    rank = len(extents)
    if rank <= reference.rank:
        if _has_extents(reference if rank == reference.rank else reference.leading(rank), extents, origin):
            return rank
        modes = rank
        while rank == reference.rank and modes > 1 and extents[modes - 1] == 1:
            modes -= 1
        if modes < rank and _has_extents(reference.leading(modes), extents[:modes], origin):
            return modes
    raise _no_prefix(Shape(*extents) if shape is None else shape, reference, what)


def check_same_rows(shape: Shape[Any], reference: Shape[Any], what: str) -> None:
    """Raise unless a shape has the extents and origins of the reference at every prefix.

    Raises
    ------
    ExtentMismatchError
        If it has other extents or origins.
    """
    own, wanted = [unnamed_shape(given).flatten() for given in (shape, reference)]
    if not has_same_rows(own, wanted):
        raise _no_prefix(own, wanted, what)


def has_same_rows(shape: Shape[Any], reference: Shape[Any], *, placed: bool = True) -> bool:
    """Tell whether a shape has the extents of the reference at every prefix, and if it is placed its origins.

    O(1) for one object, and for the pair that was compared last; else their rows are compared.
    """
    if shape is reference:
        return True
    global _compared  # noqa: PLW0603 - what threads overwrite for one another is found again
    one, other, found = _compared
    if placed and one() is shape and other() is reference:
        return found
    if shape.rank != reference.rank or shape.size != reference.size or shape.is_box != reference.is_box:
        return False
    if not placed:
        return shape.is_congruent(reference)
    found = shape == unnamed_shape(reference)
    _compared = weakref.ref(shape), weakref.ref(reference), found
    return found


def _has_extents(shape: Shape[Any], extents: Extents, origin: Index | None) -> bool:
    """Tell whether a shape is a box of these extents, or has rows that are all alike, at an origin if any."""
    bounds = [shape.extent_bounds(mode) for mode in range(shape.rank)]
    if any(not low == high == extent for (low, high), extent in zip(bounds, extents, strict=True)):
        return False
    if origin is None:
        return True
    box = shape.as_smooth()
    return bool(box.origin == origin[: shape.rank] and box.extents == tuple(extents))


def element_splits(shape: Shape[Any], modes: int) -> IntArray:
    """Return where the elements under each prefix of `modes` indices begin, and after them all the size."""
    shape = shape.flatten()
    if shape.is_box:
        outer, inner = math.prod(shape.extents[:modes]), math.prod(shape.extents[modes:])
        even: IntArray = np.arange(outer + 1, dtype=np.int64)
        even *= inner
        return even
    rows = shape.as_jagged()
    splits: IntArray = rows.splits(modes)
    for mode in range(modes + 1, shape.rank):
        splits = rows.splits(mode)[splits]
    return splits


_ALIGNED: Final = "they are aligned at their ends: `t[:, None]` adds a mode, `t.permute(1, 0)` reorders modes"


def _advice_of_tiles(*shapes: Shape[Any]) -> str:
    """Return what combines tensors in tiles: cells that are paired by number would be of other places."""
    if all(isinstance(shape.implementation, Tiled) for shape in shapes):
        return "`u.retiled(t.tiling)` cuts one as the other, tw.contract() sums over modes that are cut alike"
    if any(_are_apart(shape) for shape in shapes):
        return "keep_tiles() in place of select_tiles() keeps the grid, in which tiles of one number meet"
    return ""


def _are_apart(shape: Shape[Any]) -> bool:
    """Tell whether the cells of a shape have different origins, as selected tiles do."""
    if shape.is_box or shape.has_layers or isinstance(shape.implementation, Tiled):
        return False
    stored = rows_under(shape).columns.leaf_origins
    if all(isinstance(own, int) for own in stored):
        # One origin for all cells, which are not listed then.
        return len(stored) > 1 and any(stored)
    origins = shape.cell_table().origins
    # All rows of one place may have been moved as a whole.
    return bool((origins != (origins[:1] if origins.shape[1] < 2 else 0)).any())


def _no_prefix(given: Shape[Any], reference: Shape[Any], what: str) -> ExtentMismatchError:
    if given.rank == reference.rank:
        if given.is_congruent(reference) and given.zero_based() != reference.zero_based():
            return ExtentMismatchError(
                f"{what}: {given!r} and {reference!r} have empty cells of other extents, which count; "
                "`tw.from_buffer(t.elements(), u.shape)` has those of u"
            )
        tiles = _advice_of_tiles(given, reference)
        if given.is_congruent(reference):
            return ExtentMismatchError(
                f"{what}: {given!r} lies elsewhere than {reference!r}; "
                + (tiles or "`t[...]` of each starts at zero and combines by position")
            )
        return ExtentMismatchError(
            f"{what}: {given!r} is not {reference!r}, nor that of its first modes; "
            + (tiles or "`tw.align(r, r)` finds what both have, `r.to_padded()` is a box")
        )
    if not 0 < given.rank < reference.rank:
        return ExtentMismatchError(
            f"{what}: {given!r} has more modes than {reference!r}, which nothing is stretched to"
        )
    return ExtentMismatchError(
        f"{what}: one number per prefix of {counted(given.rank, 'mode')} has the shape "
        f"{reference.leading(given.rank)!r}, not {given!r}; numbers stand along the first modes of a jagged "
        "tensor, as in `r * [1, 10]`"
    )


@final
class OperandShapes:
    """The rule for operands, for the floors above: its functions under one name."""

    __slots__ = ()

    Given: TypeAlias = GivenShape
    Unplaced: TypeAlias = UnplacedShape

    fit: ClassVar[Callable[[Sequence[GivenShape], str], "tuple[Shape[Any], list[int] | None]"]] = (
        staticmethod(fit_operands)
    )
    into: ClassVar[Callable[[GivenShape, Shape[Any], str], int | None]] = staticmethod(fit_into)
    reference: ClassVar[Callable[[Sequence[GivenShape]], int | None]] = staticmethod(reference_among)
    box: ClassVar[Callable[[Sequence[GivenShape], str], Shape[Any]]] = staticmethod(fit_box)
    rows: ClassVar[Callable[[Sequence[GivenShape], int, str], Shape[Any]]] = staticmethod(shape_of_rows)
    leading_modes: ClassVar[Callable[[GivenShape, Shape[Any], str], int]] = staticmethod(fit_leading_modes)
    with_facts: ClassVar[Callable[[Shape[Any], Sequence[Shape[Any]], str], Shape[Any]]] = staticmethod(
        _with_facts
    )
    are_same: ClassVar[Callable[[Shape[Any], Shape[Any]], bool]] = staticmethod(has_same_rows)
    check_same: ClassVar[Callable[[Shape[Any], Shape[Any], str], None]] = staticmethod(check_same_rows)
    splits_under: ClassVar[Callable[[Shape[Any], int], IntArray]] = staticmethod(element_splits)
