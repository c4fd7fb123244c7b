"""Custom layouts, and parts of them: all methods by visiting elements, all parts by ordinals.

A selection from a layout without rules still has a rule for its elements. So a part is the original layout
with a second layout (strided, separable, packed or of cells), whose offsets are the ordinals of the elements.
Operations on the part change the second layout.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, SupportsIndex, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array
from tensorwrapper._integers import MAX_INT64, to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout.axes._axis import AxisMap, Table
from tensorwrapper.layout.axes._values import too_many
from tensorwrapper.layout.boxes._common import (
    LayoutCommon,
    ModeOperation,
    check_int64,
    no_element,
    search_injective,
    to_inside,
)
from tensorwrapper.layout.boxes._separable import over_box
from tensorwrapper.layout.boxes._strided import row_major
from tensorwrapper.layout.cells._blocked import make_blocked
from tensorwrapper.layout.cells._padded import contiguous, rows_in_box
from tensorwrapper.layout.cells._parts import rows_of
from tensorwrapper.layout.operations._addresses import bounds_of_batches, search_contiguous
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.typing import Index, IntArray, PositionalKey

_BATCH = 1 << 16  # elements looked at in one step


class CustomLayout(LayoutCommon, ABC):
    """Abstract: `shape`, a box or a jagged shape, and `offset_of`.

    Base class of your own layouts. All other methods have defaults: without a rule they visit every index. So
    implement `offsets_of` (for many indices at once), `bounds`, `is_injective`, `is_contiguous` and
    `index_of` if there is a rule. Parts, permutations and gathers are layouts of the same elements.
    `as_layout` wraps it in `Layout`.

    Examples
    --------
    >>> import attrs
    >>> from tensorwrapper import Shape
    >>> from tensorwrapper.layout import CustomLayout, as_layout
    >>> @attrs.frozen
    ... class Diagonal(CustomLayout):
    ...     shape = Shape(3, 3)
    ...     def offset_of(self, index):
    ...         i, j = index
    ...         return (j - i) % 3 * 3 + i
    >>> layout = as_layout(Diagonal())
    >>> layout.to_numpy().tolist(), layout[1:, ::2].permute(1, 0).to_numpy().tolist()
    ([[0, 3, 6], [7, 1, 4], [5, 8, 2]], [[7, 5], [4, 2]])
    """

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> Shape[Any]:
        """The shape whose indices have places: a box or a jagged shape."""

    @abstractmethod
    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        """Return the place of the element at an absolute index; it raises for one outside."""

    @property
    def offset(self) -> int:
        return self.offset_of(self.shape.index(0)) if self.shape.size else 0

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        array = to_inside(indices, self.shape)
        rows = array.reshape(-1, self.shape.rank) if array.size else np.empty((0, 0), dtype=np.int64)
        if not self.shape.rank:
            return np.full(array.shape[:-1], self.offset, dtype=np.int64)
        found = np.fromiter((self.offset_of(tuple(row)) for row in rows.tolist()), np.int64, len(rows))
        return found.reshape(array.shape[:-1])

    def _batches(self) -> Iterator[IntArray]:
        """Return an iterator over the offsets of all elements in row-major order, some at a time."""
        for batch in self.shape.indices().batches(_BATCH):
            yield self.offsets_of(batch)

    def bounds(self) -> tuple[int, int]:
        return bounds_of_batches(self._batches())

    @property
    def is_contiguous(self) -> bool:
        return search_contiguous(self, self._batches())

    @property
    def is_injective(self) -> bool:
        return search_injective(self, 0)

    def index_of(self, offset: SupportsIndex) -> Index:
        wanted = to_int(offset, "an offset")
        for index in self._indices_of(wanted):
            return index
        raise no_element(self.shape, wanted)

    def indices_of(self, offset: int, limit: int) -> list[Index]:
        found = list(islice(self._indices_of(offset), limit + 1))
        if not found:
            raise no_element(self.shape, offset)
        if len(found) > limit:
            raise too_many(limit)
        return found

    def _indices_of(self, offset: int) -> Iterator[Index]:
        start = 0
        for batch in self._batches():
            # Compared with a number beyond 64 bits, NumPy would raise.
            same = batch == offset if -MAX_INT64 <= offset <= MAX_INT64 else batch[:0]
            for place in np.flatnonzero(same).tolist():
                yield self.shape.index(start + place)
            start += len(batch)

    def indices_at(self, offsets: IntArray) -> IntArray:
        places, firsts = np.unique(self.to_numpy().ravel(), return_index=True)
        near = np.minimum(np.searchsorted(places, offsets), max(len(places) - 1, 0))
        wrong = places[near] != offsets if len(places) else np.ones(len(offsets), dtype=np.bool_)
        if wrong.any():
            raise OutOfBoundsError(f"no element of {self.shape} lies at offset {int(offsets[wrong][0])}")
        return self.shape.indices_at(firsts[near])

    def to_numpy(self) -> IntArray:
        offsets: IntArray = np.empty(self.shape.size, dtype=np.int64)
        start = 0
        for batch in self._batches():
            offsets[start : start + len(batch)] = batch
            start += len(batch)
        return offsets.reshape(self.shape.extents) if self.shape.is_box else offsets

    # Other layouts of the same memory.

    def _whole(self) -> "PartLayout":
        return PartLayout(self, contiguous(self.shape, 0))

    def at(self, key: PositionalKey) -> LayoutCommon:
        return self._whole().at(key)

    def window(self, region: Shape[Any]) -> LayoutCommon:
        return self._whole().window(region)

    def permute(self, order: Iterable[SupportsIndex]) -> LayoutCommon:
        return self._whole().permute(order)

    def reverse(self, modes: Iterable[int]) -> LayoutCommon:
        return self._whole().reverse(modes)

    def change(self, operation: ModeOperation) -> LayoutCommon:
        return self._whole().change(operation)

    def cell(self, number: int) -> LayoutCommon:
        rows = rows_of(self.shape)
        leaf = rows.leaves[0] + number
        prefix = rows.prefix_of(leaf)
        starts = [self.shape.origin_at(prefix[:mode]) for mode in range(len(prefix))]
        part = self.at(tuple([i - start for i, start in zip(prefix, starts, strict=True)]))
        return part.moved_to(wrap(make_smooth(*rows.columns.leaf_box(leaf))))

    def moved_to(self, shape: Shape[Any]) -> LayoutCommon:
        return self._whole().moved_to(shape)

    def expression(self) -> str:
        return f"as_layout({self!r})"


@final
@frozen
class PartLayout(CustomLayout):
    """Elements of `under`: that at an index is the one whose ordinal `ordinals` has there."""

    under: LayoutCommon
    ordinals: LayoutCommon

    @property
    def shape(self) -> Shape[Any]:
        return self.ordinals.shape

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        return self.under.offset_of(self.under.shape.index(self.ordinals.offset_of(index)))

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        return self._places(self.ordinals.offsets_of(indices))

    def _places(self, numbers: IntArray) -> IntArray:
        """Return the places of elements of `under` by their ordinals."""
        under = self.under
        if not under.has_mode_maps or not under.shape.size:
            return under.offsets_of(under.shape.indices_at(numbers))
        check_int64(under, under.offset)
        base, axes = under.mode_maps("a part")
        places = np.full(numbers.shape, base, dtype=np.int64)
        for axis, at in zip(axes, np.unravel_index(numbers, under.shape.extents), strict=True):
            places += axis.offsets_at(at.astype(np.int64, copy=False))
        return places

    def places_between(self, first: int, last: int) -> Iterator[IntArray] | None:
        if not self.ordinals.is_packed or not self.under.has_mode_maps:
            return None
        return self._runs(self.ordinals.offset + first, self.ordinals.offset + last)

    def _runs(self, first: int, last: int) -> Iterator[IntArray]:
        """Return an iterator over the places of a run of elements of a box, some rows of it at a time."""
        width = max(math.prod(self.under.shape.extents[1:]), 1)
        rows = max(_BATCH // width, 1)
        while first < last:
            row = first // width
            stop = min((row + rows) * width, last)
            part = self.under.at((slice(row, -(-stop // width)),)).to_numpy().reshape(-1)
            yield part[first - row * width : stop - row * width]
            first = stop

    def _batches(self) -> Iterator[IntArray]:
        return self.places_between(0, self.shape.size) or super()._batches()

    def to_numpy(self) -> IntArray:
        if self.ordinals.is_packed or not self.under.has_mode_maps:
            return super().to_numpy()
        return self._places(self.ordinals.to_numpy())

    def copy_form(self) -> LayoutCommon:
        if self.shape.is_box or not self.under.has_mode_maps:
            return super().copy_form()
        return make_blocked(
            self.shape, frozen_array(self.to_numpy()), np.empty((self.shape.size, 0), dtype=np.int64)
        )

    @property
    def is_contiguous(self) -> bool:
        if self.under.is_contiguous:
            return self.ordinals.is_contiguous
        return search_contiguous(self, self._batches())

    @property
    def is_injective(self) -> bool:
        if not self.ordinals.is_injective:
            # An element that is there twice, or too many to look at.
            return False
        return self.under.is_injective or search_injective(self, 0)

    def _part(self, ordinals: LayoutCommon) -> LayoutCommon:
        under = self.under
        whole = ordinals.shape == under.shape and ordinals == contiguous(under.shape, 0)
        part = PartLayout(under, ordinals)
        return under if whole else part._as_box() or part

    def _as_box(self) -> LayoutCommon | None:
        """Return a part of a box that is a box again as a layout with one rule for each mode, if any."""
        shape = self.shape
        if not shape.is_box or not shape.size or not self.under.has_mode_maps:
            return None
        places = self.to_numpy()
        first = places[(0,) * shape.rank]
        found, total, axes = int(first), first, list[AxisMap]()
        for mode in range(shape.rank):
            line = places[tuple([slice(None) if m == mode else 0 for m in range(shape.rank)])] - first
            start, axis = Table(line).simplify()
            found += start
            total = np.add.outer(total, line)
            axes.append(axis)
        same = np.array_equal(total, places)
        return over_box(shape.extents, shape.origin, found, tuple(axes)) if same else None

    def at(self, key: PositionalKey) -> LayoutCommon:
        return self._part(self.ordinals.at(key))

    def window(self, region: Shape[Any]) -> LayoutCommon:
        return self._part(self.ordinals.window(region))

    def permute(self, order: Iterable[SupportsIndex]) -> LayoutCommon:
        return self._part(self.ordinals.permute(order))

    def reverse(self, modes: Iterable[int]) -> LayoutCommon:
        return self._part(self.ordinals.reverse(modes))

    def change(self, operation: ModeOperation) -> LayoutCommon:
        return self._part(self.ordinals.change(operation))

    def moved_to(self, shape: Shape[Any]) -> LayoutCommon:
        return self._part(self.ordinals.moved_to(shape))

    def expression(self) -> str:
        return (
            f"<Layout of {self.shape!r}: elements {self.ordinals.expression()} of {self.under.expression()}>"
        )


def rows_of_box(whole: LayoutCommon, region: Shape[Any]) -> LayoutCommon:
    """Return the layout of rows, cells or tiles inside a box of any layout, as `rows_in_box`."""
    found = rows_in_box(whole, region)
    if found is None:
        hull = region.as_smooth().copy()
        ordinals = cast("LayoutCommon", rows_in_box(row_major(hull, 0), region))
        found = PartLayout(whole.window(hull), ordinals)
    return found
