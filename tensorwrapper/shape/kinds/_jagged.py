"""Jagged shapes: the extents of a mode may depend on the indices before it.

`Jagged` owns its columns; `JaggedView` is a run of rows of another shape's columns, made in O(1) at any size.
Both use `Rows`. Other representations (such as `Tiled`) implement `rows`, and override methods with faster
ones.
"""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import to_int, to_ints
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import OutOfBoundsError, TensorWrapperError
from tensorwrapper.shape.boxes._common import ShapeCommon, to_index, to_index_array, to_ordinal_array
from tensorwrapper.shape.boxes._keys import (
    WHOLE,
    Bounds,
    Entry,
    check_ascending,
    chip_entries,
    mode_count,
    mode_of,
    slice_entries,
)
from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon, SmoothView, make_smooth, to_permutation
from tensorwrapper.shape.rows._canonical import token_of
from tensorwrapper.shape.rows._columns import columns_of_state
from tensorwrapper.shape.rows._compare import same_rows, unroll
from tensorwrapper.shape.rows._dependencies import dependencies_of, extent_bounds
from tensorwrapper.shape.rows._locate import contains, find, find_cells, indices_at, walk
from tensorwrapper.shape.rows._rearrange import check_permutation, move_rows, permute_rows
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.shape.rows._select import select_rows, slice_rows
from tensorwrapper.typing import Extents, Index, IntArray, Kind, Order


class JaggedCommon(ShapeCommon):
    """Abstract: `rows`, the shape as a window on columns. Everything else follows, for values and views."""

    __slots__ = ()

    keeps_rows: ClassVar[bool] = False
    """True if `rows` are stored: other classes compute them on access, and there may be too many."""

    @property
    @abstractmethod
    def rows(self) -> Rows:
        """The shape as a window on columns."""

    @property
    def rows_tell_all(self) -> bool:
        """Return True if `rows` have all stored extents, even without a prefix: true except for tiles."""
        return True

    @property
    def kind(self) -> Kind:
        return "jagged"

    @property
    def rank(self) -> int:
        return self.rows.rank

    @property
    def outer_rank(self) -> int:
        """The number of unrolled modes; the modes after them form smooth leaves."""
        return self.rows.outer_rank

    @property
    def size(self) -> int:
        return self.rows.size

    @property
    def origin(self) -> Index:
        return self.rows.uniform_origin()

    def bounding_box(self, prefix: Index = ()) -> tuple[Extents, Index]:
        return self.rows.box_under(prefix) if prefix else self.rows.box()

    def extent_at(self, prefix: Iterable[SupportsIndex]) -> int:
        return self.rows.range_under(to_ints(prefix, "a prefix"))[0]

    def origin_at(self, prefix: Iterable[SupportsIndex]) -> int:
        return self.rows.range_under(to_ints(prefix, "a prefix"))[1]

    def extent_bounds(self, mode: SupportsIndex) -> tuple[int, int]:
        return extent_bounds(self.rows, mode_of(mode, self.rank))

    def is_uniform(self, mode: SupportsIndex) -> bool:
        least, greatest = self.extent_bounds(mode)
        return least == greatest

    def dependencies(self, mode: SupportsIndex) -> tuple[int, ...]:
        return dependencies_of(self.rows, mode_of(mode, self.rank))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JaggedCommon):
            return NotImplemented
        return self is other or (
            self._may_agree(other)
            and self.rows_tell_all
            and other.rows_tell_all
            and same_rows(self.rows, other.rows, origins=True)
        )

    def token(self) -> tuple[object, ...]:
        return token_of(self.rows)

    def _may_agree(self, other: "JaggedCommon") -> bool:
        """Tell whether rank and extent of mode 0 agree: a representation may have too many rows to make."""
        return self.rank == other.rank and self.extent_at(()) == other.extent_at(())

    def __hash__(self) -> int:
        # Defining __eq__ takes the inherited hash away.
        return ShapeCommon.__hash__(self)

    def is_congruent(self, other: ShapeCommon) -> bool:
        return (
            isinstance(other, JaggedCommon)
            and self._may_agree(other)
            and same_rows(self.rows, other.rows, origins=False)
        )

    def __contains__(self, index: object) -> bool:
        if self._plain_ordinal(index) is not None:
            return True
        if not isinstance(index, Iterable):
            return False
        try:
            self.ordinal(cast("Iterable[SupportsIndex]", index))
        except TensorWrapperError:
            return False
        return True

    def contains(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        array = to_index_array(indices, self.rank)
        return contains(self.rows, array.reshape(-1, self.rank)).reshape(array.shape[:-1])

    def ordinal(self, index: Iterable[SupportsIndex]) -> int:
        plain = self._plain_ordinal(index)
        if plain is not None:
            return plain
        return self.rows.ordinal(to_index(index, self.rank))

    def index(self, ordinal: SupportsIndex) -> Index:
        return self.rows.index(to_int(ordinal, "an ordinal"))

    def _plain_ordinal(self, index: object) -> int | None:
        """Return the ordinal of plain integers in rows that start alike; None if it is not such."""
        if type(index) is not tuple or not self.keeps_rows:
            return None
        pair = cast("tuple[object, ...]", index)
        rows = self.rows
        columns, start = rows.columns, rows.start
        leaf = columns.leaf
        if len(pair) != 2 or leaf.ndim != 1 or rows.depth + 1 < len(columns.origins):
            return None
        row, place = pair
        if type(row) is not int or type(place) is not int or type(columns.leaf_origins[0]) is not int:
            return None
        node = start + row - rows.first
        if not start <= node < rows.stop:
            return None
        before = leaf.item(node)
        place -= columns.leaf_origins[0]
        return before + place - leaf.item(start) if 0 <= place < leaf.item(node + 1) - before else None

    def ordinals(self, indices: npt.ArrayLike) -> IntArray:
        array = to_index_array(indices, self.rank)
        flat = array.reshape(-1, self.rank)
        inside, ordinals = find(self.rows, flat)
        if not inside.all():
            raise OutOfBoundsError(
                f"index {tuple(flat[int(np.argmin(inside))].tolist())} is not in this shape"
            )
        return ordinals.reshape(array.shape[:-1])

    def find_cells(self, indices: IntArray) -> tuple[npt.NDArray[np.bool_], IntArray, list[IntArray]]:
        """Return a mask of the (n, rank) indices inside, their leaves, and their places in each leaf mode.

        Indices outside have an arbitrary leaf and place, for layouts that store a cell per leaf.
        """
        return find_cells(self.rows, indices)

    def indices_at(self, ordinals: npt.ArrayLike) -> IntArray:
        # First what the shape is: an ordinal beyond 64 bits may well be in it.
        self.rows.check_ordinals()
        numbers = to_ordinal_array(ordinals)
        return indices_at(self.rows, numbers.reshape(-1)).reshape(*numbers.shape, self.rank)

    def walk(self, order: Order) -> Iterator[Index]:
        if order == "C":
            return walk(self.rows)
        box = self.one_box()
        if box is not None:
            return box.walk(order)
        start, stop = self.rows.leaves
        from tensorwrapper.shape.rows._f_order import walk_f_order  # noqa: PLC0415 - few go in F order

        return walk_f_order(self, stop - start)

    def one_box(self) -> Smooth | None:
        """Return the box of the same indices, if it is known without work."""
        return None

    def in_rows(self) -> "JaggedCommon":
        """Return the same shape in a form of which a run of rows can be cut without making all of them."""
        return self

    def select(self, entries: tuple[Entry, ...], *, clip: bool = False) -> "SmoothCommon | JaggedCommon":
        rows = self.rows
        pins: list[int] = []
        outer = rows.outer_rank
        for entry in entries:
            if type(entry) is not int or len(pins) == outer:
                break
            pins.append(entry)
        lead, rest = tuple(pins), entries[len(pins) :]
        open_modes = rest.count(WHOLE)
        if open_modes < len(rest):
            check_ascending(entries)
        under = rows.under(lead)
        if isinstance(under, int):
            leaf = SmoothView(self, lead)
            return leaf if open_modes == len(rest) else leaf.select(rest, clip=clip, lead=lead)
        rows = under
        if open_modes >= len(rest) - (rest[0] != WHOLE):
            return JaggedView(self, slice_rows(rows, cast("Bounds", rest[0]), lead, clip=clip))
        chosen = select_rows(rows, rest, lead, clip=clip)
        if not isinstance(chosen, Rows):
            return make_smooth(*chosen)
        return Jagged(chosen) if chosen.is_whole else JaggedView(self, chosen)

    def slice(
        self, first: Iterable[SupportsIndex], last: Iterable[SupportsIndex], *, clip: bool = False
    ) -> "JaggedCommon":
        # Without a pin every mode stays, so the result is jagged.
        return cast("JaggedCommon", self.select(slice_entries(first, last, self.rank), clip=clip))

    def chip(self, *leading: SupportsIndex) -> "SmoothCommon | JaggedCommon":
        return self.select(chip_entries(leading, self.rank))

    def outer(self) -> "SmoothCommon | JaggedCommon":
        """Return the shape of the unrolled modes alone, whose indices number the cells."""
        return self.leading(self.outer_rank)

    def leading(self, modes: SupportsIndex) -> "SmoothCommon | JaggedCommon":
        count = mode_count(modes, self.rank)
        if count == self.rank:
            return self
        if count < 2:
            return make_smooth((self.extent_at(()),)[:count], (self.origin_at(()),)[:count])
        return JaggedView(self, self.rows.leading(count))

    def as_smooth(self) -> SmoothView:
        """Return the bounding box as a view; padding needs memory only when elements are copied."""
        return SmoothView.of_box(self)

    def translate_by(self, offset: Iterable[SupportsIndex]) -> "JaggedCommon":
        moves = to_index(offset, self.rank, "an offset")
        return Jagged(move_rows(self.rows, moves)) if any(moves) else self

    def zero_based(self) -> "JaggedCommon":
        """Return the shape with the same extents and every origin 0, those of single cells included."""
        return JaggedView(self, self.rows.at_zero())

    def cut_rows(self, start: int, stop: int) -> "tuple[int, JaggedCommon]":
        """Return the number of elements before a run of rows, and its shape with all origins 0.

        Rows are counted from 0, whatever the origin of the shape.
        """
        rows = self.rows
        first = rows.start
        before = Rows(rows.columns, rows.depth, first, first + start, 0).size if start else 0
        cut = Rows(rows.columns, rows.depth, first + start, first + stop, 0)
        return before, JaggedView(self, cut.at_zero())

    def translate_to(self, origin: Iterable[SupportsIndex]) -> "JaggedCommon":
        target = to_index(origin, self.rank, "an origin")
        return self.translate_by([new - old for new, old in zip(target, self.origin, strict=True)])

    def permute(self, order: Iterable[SupportsIndex]) -> "JaggedCommon":
        modes = to_permutation(order, self.rank)
        if modes == tuple(range(self.rank)):
            return self
        needs = [self.dependencies(mode) for mode in range(self.rank)]
        check_permutation(modes, needs)
        return Jagged(permute_rows(self.rows, modes, needs))


def same_elements(left: ShapeCommon, right: ShapeCommon) -> bool:
    """Tell whether two shapes of any kind hold the same set of indices; O(leaves that are not empty)."""
    if left.rank != right.rank or left.size != right.size:
        return False
    owners = (Jagged, JaggedView)
    if type(left) in owners and type(right) in owners:
        mine, theirs = cast("JaggedCommon", left).rows, cast("JaggedCommon", right).rows
        if _start_alike(mine, theirs):
            return same_rows(mine, theirs, origins=False)
    # Equal ones need no tables, which a triangle of any size has no room for.
    if not left.size or left == right:
        return True
    # As many elements as the box of one has: the other fills the same box or differs.
    if isinstance(left, SmoothCommon):
        return left.bounding_box() == _hull_of(right)
    if isinstance(right, SmoothCommon):
        return right.bounding_box() == _hull_of(left)
    mine, theirs = cast("JaggedCommon", left).rows, cast("JaggedCommon", right).rows
    outer = max(mine.outer_rank, theirs.outer_rank)
    return all(
        np.array_equal(a, b)
        for a, b in zip(_filled(unroll(mine, outer)), _filled(unroll(theirs, outer)), strict=True)
    )


def _start_alike(mine: Rows, theirs: Rows) -> bool:
    """Tell whether both have one row of elements for each of the same indices, all from the same place on."""
    if not mine.rank == theirs.rank == 2 or mine.outer_rank != theirs.outer_rank:
        return False
    if mine.first != theirs.first or mine.count != theirs.count:
        return False
    one, other = mine.stored_origin(1), theirs.stored_origin(1)
    return isinstance(one, int) and isinstance(other, int) and one == other


def _hull_of(shape: ShapeCommon) -> tuple[Extents, Index]:
    """Return the smallest box around the elements: a bounding box also covers empty rows."""
    if isinstance(shape, SmoothCommon):
        return shape.bounding_box()
    prefixes, extents, starts = _filled(cast("JaggedCommon", shape).rows)
    low = np.concatenate([prefixes, starts], axis=1).min(axis=0)
    high = np.concatenate([prefixes + 1, starts + extents], axis=1).max(axis=0)
    return tuple((high - low).tolist()), tuple(low.tolist())


def _filled(rows: Rows) -> tuple[IntArray, IntArray, IntArray]:
    """Return prefixes, extents and origins of the leaves that have elements."""
    a, b = rows.leaves
    extents = rows.columns.leaf_extents(a, b)
    filled = (extents > 0).all(axis=1)
    starts = rows.columns.leaf_starts(a, b)
    return rows.prefixes(rows.outer_rank)[filled], extents[filled], starts[filled]


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Jagged(JaggedCommon):
    """A jagged shape that owns its columns.

    Users make one by ``Shape.jagged``, ``Shape.from_cells`` and by slicing.
    """

    keeps_rows: ClassVar[bool] = True

    rows: Rows

    if TYPE_CHECKING:

        def __init__(self, rows: Rows) -> None: ...

    def one_box(self) -> Smooth | None:
        return _one_box(self.rows)

    def __repr__(self) -> str:
        return f"Jagged({self.rows!r})"

    def __eq__(self, other: object) -> bool:
        # The common case, without the price of an isinstance check on an abstract class.
        if type(other) is Jagged:
            return self is other or same_rows(self.rows, other.rows, origins=True)
        return JaggedCommon.__eq__(self, other)

    def __hash__(self) -> int:
        # Defining __eq__ takes the inherited hash away.
        return ShapeCommon.__hash__(self)

    def __reduce__(self) -> tuple[Callable[..., "Jagged"], tuple[object, ...]]:
        rows = self.rows.packed()
        return jagged_of_state, rows.columns.state(rows.first)


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class JaggedView(JaggedCommon):
    """A run of rows of a parent's columns; ``copy()`` detaches it.

    It keeps the parent alive. A pickled view takes only its own rows along.
    """

    keeps_rows: ClassVar[bool] = True

    _parent: JaggedCommon = attrs.field(alias="parent")
    rows: Rows

    if TYPE_CHECKING:

        def __init__(self, parent: JaggedCommon, rows: Rows) -> None: ...

    def one_box(self) -> Smooth | None:
        return _one_box(self.rows)

    def copy(self) -> Jagged:
        """Return the rows as a value with separate columns; O(rows)."""
        return Jagged(self.rows.compact())

    def __repr__(self) -> str:
        return f"JaggedView({self.rows!r})"

    def __reduce__(self) -> tuple[Callable[..., "JaggedView"], tuple[object, ...]]:
        rows = self.rows.packed()
        return _jagged_view, rows.columns.state(rows.first)


def _one_box(rows: Rows) -> Smooth | None:
    return make_smooth(*rows.box()) if rows.is_one_box else None


def jagged_of_state(*state: Any) -> Jagged:  # noqa: ANN401 - what Columns.state returns
    """Return an unpickled shape."""
    return Jagged(Rows.whole(columns_of_state(*state)))


def _jagged_view(*state: Any) -> JaggedView:  # noqa: ANN401 - what Columns.state returns
    """Return a view of a new value, which a pickled view becomes."""
    parent = jagged_of_state(*state)
    return JaggedView(parent, parent.rows)
